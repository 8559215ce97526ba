// SPDX-License-Identifier: Apache-2.0

// Package diagram makes nets of the BPMN diagrams of an engine that plays them, and
// finds what the engine's own rows are on them. [New] reads a diagram, and [NewTasks]
// takes the tasks of an engine that has none. The adapter
// then adds, with the ids of the diagram's nodes,
//
//   - where instances are now, and what each waits for: Begin, Add for each, End;
//   - the activity instances that started and ended: Started and Ended, once each by
//     a [Cursor].
//
// The net is a picture of the diagram, with one transition and one place for each
// node; see [Process]. Package petri/bpmn makes nets that can be played instead, whose
// branches and joins have transitions that no row of an engine counts.
package diagram
