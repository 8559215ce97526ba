// SPDX-License-Identifier: Apache-2.0

// Package pnml reads and writes place/transition nets in PNML, the Petri Net
// Markup Language of ISO/IEC 15909-2, in the dialects that tools really write.
//
// [Read] returns the nets of a file, each already checked with
// [petri.Net.Validate], and what it passed over as warnings. Every fault and
// warning is a [petri.Fault] and prints as file:line:column, what was found,
// what was expected. Lines and columns count from 1; columns count bytes of
// the text in UTF-8, a byte order mark left out.
//
// # What is read alike
//
//   - Elements are known by their local names, in any namespace that the
//     document uses for PNML, with a prefix or without. Pages may be missing
//     or nested; their nodes join one net. Reference places and transitions
//     are replaced by what they refer to, over any number of steps.
//   - A label's value is its <text>, its <value>, its value attribute or the
//     bare text. A marking may be an attribute of the place, a weight of the
//     arc. White space around a value does not count.
//   - PIPE's "Class,3" is three tokens as long as one class is used in a net.
//   - An arc's kind is <type value="…"/>, <type><text>…, <arctype><text>… or
//     the attribute type: normal, inhibitor (inhibit, tapnInhibitor, prohibit),
//     read (test) or reset (flush), in any letter case; join and branch are what
//     Write calls the arcs of inclusive gateways.
//   - The attribute spellings tapnInhibitor and prohibit on an arc into a place
//     mean an ordinary output, with a warning: the editors that write them mark
//     arcs so, and Perpetuum plays them so. Any other inhibitor from a
//     transition is refused.
//   - UTF-8, UTF-16 and every charset that IANA names and golang.org/x/text
//     knows, with or without a byte order mark.
//
// # What is refused
//
// High-level (coloured) nets, place capacities, nets joined by shared places,
// numbers that are not integers in range, ids given twice or not at all, arcs
// and references to nowhere, XML that is not well-formed, and a DOCTYPE with an
// internal subset: no entity is ever expanded and nothing is ever fetched.
// [Limits] bound bytes, token length, depth, nodes and nets. The file is read
// as a stream of tokens, so memory is what the nets need and one token.
//
// # What is passed over
//
// Drawings and <toolspecific> sections of other tools in silence; every other element or
// attribute with a warning that gives its first position and how often it
// occurs. That includes times and rates: a timed net is read as the untimed
// net underneath. A second arc with an id that an arc already has is a warning
// only, because nothing refers to arcs.
//
// [Write] writes one net in one canonical form, which Read reads back to the
// same net. What PNML has no words for is in <toolspecific tool="pnagent"
// version="1"> of a transition (<guard value>, <trigger kind name micros>,
// <alternative>, <preempts>) or of a branch arc (<guard value>, <default>).
package pnml
