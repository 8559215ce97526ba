// SPDX-License-Identifier: Apache-2.0

// Package pnml reads and writes place/transition nets in PNML, the Petri Net
// Markup Language of ISO/IEC 15909-2, in the dialects that tools write.
//
// [Read] returns a [File]: the nets of the file, and warnings for what it ignored.
// Every fault and warning is a [petri.Fault] and prints as file:line:column, what
// was found, what was expected. Lines and columns count from 1; columns count
// bytes of the text in UTF-8, without a byte order mark. [Write] writes one net in
// one canonical form.
//
// Read refuses high-level nets and what the token game does not have. It ignores
// drawings, and the rest with a warning. docs/design/pnml.md lists the dialects,
// and what is refused and ignored.
//
// Invariants: each net of Read passes [petri.Net.Validate]. Read returns the same
// net for what Write wrote, without what Write leaves out. Read handles the file as a stream of tokens within
// [Limits], so that its memory is that of the nets and one token; it expands no
// entity and fetches nothing.
package pnml
