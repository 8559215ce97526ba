// SPDX-License-Identifier: Apache-2.0

// Package trace walks a graph edge by edge and records the order: the linear trace
// of a history with branches.
//
// A [Graph] has nodes and edges, on which tokens travel. A [Cursor] keeps its
// threads, one for each travelling token, in a ring with a pointer. A step does
// this:
//
//   - It takes the edge at the pointer.
//   - If every edge into the target has been taken, the target fires: the edges out
//     of it replace the edge in the ring. Otherwise the thread ends and the target
//     waits.
//   - The pointer becomes 1 if it was at the end of the ring. Otherwise it advances
//     by the number of added edges. It is 0 if the ring is empty.
//
// So every thread moves in turn, and the same graph gives the same trace. Taken
// edges are counted, and a node that fires resets the counts of its incoming edges:
// in a cycle, a join waits for new tokens. A node that is a choice does not wait and
// fires on one edge, which the caller chooses. It also merges branches without
// waiting.
//
// Each step has the number of the step that added its edge to the ring, so that the
// history is a tree. A cursor keeps its last step, and a [Writer] writes every step
// as CSV:
//
//	step,edge,threads,pointer,parent,who,when
//	0,-,1,1,-,clerk,2026-03-01T09:00:00.000000Z
//	1,1,2 3,1,0,clerk,2026-03-01T09:00:00.000000Z
//	2,2,4 5 3,3,1,clerk,2026-03-01T09:00:00.000000Z
//
// [FromTables] makes the graph of a net, and [Run] walks a graph to its end. If a
// cursor has no threads and [Cursor.Waiting] names a node, the history is
// deadlocked.
//
// Invariant: the package is pure; times are parameters.
package trace
