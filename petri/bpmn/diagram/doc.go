// SPDX-License-Identifier: Apache-2.0

// Package diagram has the pictures of BPMN 2.0 files: what their authors drew, and a
// layout of those that have no drawing.
//
// [Read] returns a [File], whose Diagrams are those of the file, as BPMN Diagram
// Interchange has them: shapes with bounds and edges with way points, together with what
// the model says of each element that a picture shows. [File.Layout] makes diagrams of the
// model alone, and [File.Complete] adds these to a file, so that a viewer can draw it.
// [Diagram.SVG] writes a self-contained picture, with the state of a process as an
// [Overlay].
//
// Invariants: the package is pure, the same file gives the same bytes, and [bpmn.Limits]
// bound the memory that a file can make it use. It reads files of which no net can be made,
// too: it checks nothing that a picture does not need.
package diagram
