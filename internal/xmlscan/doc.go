// SPDX-License-Identifier: Apache-2.0

// Package xmlscan reads the tokens of an XML document that somebody else wrote:
// it knows where each begins, holds bounds on bytes, token length and depth,
// understands every charset that IANA names, expands no entity and fetches
// nothing. It also collects what readers of such documents find: [Faults] and
// [Warnings], which print as file:line:column. Lines and columns count from 1;
// columns count bytes of the text in UTF-8, a byte order mark left out.
//
// The packages that read a format of Petri nets are built on it.
package xmlscan
