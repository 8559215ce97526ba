// SPDX-License-Identifier: Apache-2.0

// Package history keeps the last hour of Views, in bounded memory.
//
// A [Store] takes every View and keeps one of each [Store.Step]: per net a
// frame of tokens, oldest injection, instances and arrivals by place, and of
// firings, enabled, running, blocked and failures by transition. A frame is
// kept as what differs from the one before, and every 16th as a whole, so a
// quiet place costs nothing. What an hour takes is estimated from what the
// latest frames took: where that is more than the budget, the step becomes
// coarser, from a second up to a minute. Were it more even so, the oldest
// frames go before their hour is over. Nothing of this is hidden: the step, the
// time from which there are frames, and how many Views were passed over or
// dropped are told.
//
// Counters are kept, not rates: a rate is the difference of two frames that
// were kept by the time between them.
//
// Beside the frames a Store remembers sightings: which instances were among the
// oldest tokens of which place, when first and last, and what they waited for.
// Their number is bounded too; a sighting takes about 300 bytes beside the budget.
//
// The package is pure: time is that of the Views.
package history
