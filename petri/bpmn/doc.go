// SPDX-License-Identifier: Apache-2.0

// Package bpmn reads the processes of BPMN 2.0 files (ISO/IEC 19510) as nets.
//
// [Read] returns a [File]: a net for each process that has flow nodes, the
// [Element] list of what each element became, and the sequence flows as a
// [Graph]. It works in three steps: the XML becomes a tree (parser), the tree
// becomes checked flow nodes and flows (document), and each process becomes a net
// (builder). Places and transitions have the ids of the elements: a sequence flow
// is a place, an activity or an event is a transition.
//
// docs/design/bpmn.md has the net of every element, the rules of expressions, and
// what is refused or left out.
//
// Invariant: Read refuses a construct that it does not build, by its name and with
// file:line:column, and never reads it as something else. It reports all refusals
// of a file together, and then returns no net. [Limits] bound the memory that a
// file can make it use.
package bpmn
