// SPDX-License-Identifier: Apache-2.0

// Package sound judges whether a net is sound: every instance can end (option to
// complete), an end leaves no tokens behind (proper completion), every transition can
// fire, and no place grows without bound. It considers a visit of package explore with its graph and,
// if the visit is not complete, the coverability tree.
//
// What an end is depends on the net, see [EndsOf]. For a workflow net the definition is that
// of W. M. P. van der Aalst (The Application of Petri Nets to Workflow Management, JCSC 8(1),
// 1998).
//
// A [Verdict] is Undecided if the visit ended before it was decided. Guards, priorities
// and times are ignored: every choice that they leave open is followed. [Ignored] returns
// which of them a net has. Then these verdicts hold for any data and any times: that transitions
// never fire, that places are bounded, and that no end leaves tokens behind. The other
// ones are about the net without them.
package sound
