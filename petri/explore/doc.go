// SPDX-License-Identifier: Apache-2.0

// Package explore visits the markings that a net can reach, breadth first and
// up to a bound, and says what can be seen from them: how many tokens a place
// ever holds, in how many markings nothing is enabled (they are dead), how many
// of these are a proper end, with tokens only in places that no transition takes
// them from, and the shortest way to a dead marking that is no proper end.
//
// Every enabled transition is followed, source transitions included, whatever
// its priority or timing: what is found dead is dead for every way of playing
// the net. A net with a source transition, or one that is not bounded, has no
// end of markings; the answer then says that it is not complete. A firing that
// would overflow a place is not followed and makes the answer incomplete too.
//
// Guards are not evaluated, since the tokens here carry no data. A transition
// with a guard is followed as if it had none, and an inclusive split with every
// set of its branches that some data could choose: those without a guard, and
// any of those with one; the default when it is alone. So markings may be found
// that the data rules out, and a marking that is not found cannot be reached,
// if the answer is complete. A marking that is found dead is dead whatever the
// data; one in which everything enabled has a guard can be stuck besides, for
// its data, and is not counted. Triggers and preemption do not matter: what
// waits for an event or for work may get it.
//
// A split with more than [MaxGuarded] branches that have guards is followed
// with each of them alone and with all of them; the answer then is not complete
// and names it.
//
// [Invariants] finds the weighted sums of tokens that never change.
package explore
