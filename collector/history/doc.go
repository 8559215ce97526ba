// SPDX-License-Identifier: Apache-2.0

// Package history keeps the last hour of Views, in bounded memory.
//
// A [Store] receives every View and keeps one per [Store.Step]: for each net a
// frame of tokens, oldest injection, instances and arrivals by place, and of
// firings, enabled, running, blocked and failures by transition. A frame is stored
// as its differences to the previous one, and every 16th as a whole, so an idle
// place costs nothing.
//
// The memory for an hour is estimated from that of the latest frames. If it
// exceeds the budget, the step becomes coarser, from a second up to a minute. If
// that is not enough, the oldest frames are dropped before their hour is over. The
// step, the time of the oldest frame, and the number of Views that were left out
// or dropped are reported.
//
// Counters are kept, not rates. What [Past] returns has rates: the difference of two
// frames divided by the time between them.
//
// Besides frames a Store keeps sightings: which instances were among the oldest
// tokens of which place, when first and last, and what they waited for. Their
// number is bounded too; a sighting takes about 300 bytes outside the budget.
//
// The package is pure: time is that of the Views.
package history
