// SPDX-License-Identifier: Apache-2.0

// Package xmlscan reads the tokens of untrusted XML documents. A [Scanner] returns
// each token with its position and bounds bytes, token length and depth. A [Tree]
// reads elements with what is inside them. The Scanner
// decodes every charset that IANA names. [Faults] and [Warnings] collect the
// messages of a reader; they print as file:line:column. Lines and columns count
// from 1; columns count bytes of the text in UTF-8, without a byte order mark.
//
// The Scanner reads tokens in place, as nearly all are written. A token that is rare,
// such as an XML declaration, or that is not well-formed goes to encoding/xml, which
// accepts it or says what is wrong. So the tokens and messages of both are the same,
// which tests hold.
//
// Invariant: a Scanner expands no entity, fetches nothing, and ends with io.EOF, a
// fault or a limit.
package xmlscan
