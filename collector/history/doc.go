// SPDX-License-Identifier: Apache-2.0

// Package history keeps the last hour of Views, in bounded memory.
//
// A [Store] receives every View and keeps one per [Store.Step]: for each net a
// frame of tokens, oldest injection, instances and arrivals by place, of firings,
// enabled, running, blocked and failures by transition, and of the net's totals. A
// frame is stored as its differences to the previous one, and every 16th as a
// whole, so an idle place costs nothing.
//
// Of all nets together it keeps moments: alarms, silences, connections, the state
// of each source, and the definitions in use. These change rarely, so a log holds
// them as of the newest moment, and what each was before each of its changes;
// [Store.Moment] undoes the later changes. A value that never changes takes no
// memory for a moment. The time of the last message and the position of a source
// change with each View and are left out. Moments begin with the process: alarms
// that the state file has are in the first one, with their times of before.
//
// The memory for an hour is estimated from that of the latest frames and changes.
// If it exceeds the budget, the step becomes coarser, from a second up to a
// minute. If that is not enough, the oldest frames are dropped before their hour is
// over, and the moments before them. The step, the time of the oldest frame, and
// the number of Views that were left out, and of frames and moments that were
// dropped, are reported.
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
