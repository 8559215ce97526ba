// SPDX-License-Identifier: Apache-2.0

// Package explore visits the markings that a net can reach, breadth first and
// up to a bound. [Visit] returns the most tokens of each place, the number of dead
// markings, in which no transition is enabled, and of proper ends. A proper end is a
// dead marking with tokens only in places from which no transition takes them. Visit
// also returns a shortest path to a dead marking that is not a proper end.
//
// Visit follows every enabled transition, including source transitions, for any
// priority or timing: a dead marking is dead for every scheduler. Only while a transition of
// petri.Urgent is enabled that fires for any data, it follows urgent transitions alone, see
// [Precedence]. A net with a source
// transition and an unbounded net have infinitely many markings; the result is then
// not complete. A firing that would overflow a place is not followed and makes the
// result incomplete, too.
//
// Guards are not evaluated, because tokens have no data here. A transition with a
// guard is followed as if it had none. An inclusive split is followed with every set
// of branches that some data could choose: those without a guard and any of those
// with one, or the default alone. So Visit may find markings that the data rules out.
// A marking that it does not find is unreachable, if the result is complete. A dead
// marking is dead for any data. A marking in which every enabled transition has a
// guard may be stuck for its data; it is not counted as dead. Triggers and preemption
// are ignored.
//
// All runs of a scope (see petri.Scope) are taken together, and an arc for each element of a
// list puts its tokens once. This is exact while no scope has two runs at one time.
// Otherwise the result is not complete and names the scope: a marking is then a sum over
// runs, and what inhibitor and reset arcs of single runs do is not seen.
//
// A split with more than [MaxGuarded] guarded branches is followed with each of them
// alone and with all of them. The result is then not complete and names the split.
//
// [Explore] is Visit with [Options]: a bound for the memory, a callback for progress and
// interruption, one for each marking, and a reduction by stubborn sets, with which it
// visits only the markings that are needed to find every dead one. Markings are stored in
// a tree of tables: in the nets that were measured, each takes 13 to 35 bytes. A path is found
// again by firing.
//
// [Invariants] returns the weighted sums of tokens that no firing changes.
package explore
