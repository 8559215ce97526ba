// SPDX-License-Identifier: Apache-2.0

// Package cursor walks a graph edge by edge and writes down the order: the
// linear trace of a history that branches.
//
// A [Graph] has nodes, which are where things happen, and edges, on which
// tokens travel. A [Cursor] keeps its threads, one for each token under way, in
// a ring with a pointer, and a step does this:
//
//   - The edge at the pointer is taken.
//   - If every edge into its target has been taken, the edges out of the target
//     replace it in the ring; else its thread ends there and waits.
//   - The pointer becomes 1 if it stood at the end of the ring; else it moves on
//     by as many edges as came in; it is 0 when the ring is empty.
//
// So every thread moves in turn, and the same graph gives the same trace. Edges
// that were taken are counted, and the count is used up when the target goes
// on: round a cycle, a join waits for new tokens. A node that is a choice waits
// for nothing and goes on by one of its edges, which the caller chooses; it is
// also how branches come together without waiting.
//
// Each step says which step put its edge into the ring, so the history is a
// tree where it branched. A cursor keeps its last [MaxHistory] steps, and a
// [Writer] writes every step as CSV:
//
//	step,edge,threads,pointer,parent,who,when
//	0,-,1,1,-,clerk,2026-03-01T09:00:00.000000Z
//	1,1,2 3,1,0,clerk,2026-03-01T09:00:00.000000Z
//	2,2,4 5 3,3,1,clerk,2026-03-01T09:00:00.000000Z
//
// [FromTables] makes the graph of a net whose tokens have no choice but at
// places that are for it; [Run] does the whole. When a cursor has no threads
// and [Cursor.Waiting] names a node, the history did not end there, it is
// deadlocked.
//
// The package is pure: times are passed in.
package cursor
