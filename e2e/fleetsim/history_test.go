// SPDX-License-Identifier: Apache-2.0

package fleetsim

import (
	"math"
	"math/rand/v2"

	"github.com/pnagent/pnagent/stats"
)

// history is what sources did before the simulation: templates of dwell
// histograms.
type history struct {
	busy, idle []stats.Histogram
}

const (
	templates = 32
	// The number of durations in the histogram of a busy place, which fill some 25
	// buckets, and of an idle one.
	busyCount, idleCount = 400, 4
	oldest               = 2 * 24 * 3600 // the greatest age of a token, in seconds
)

func newHistory(rng *rand.Rand) *history {
	h := &history{}
	for range templates {
		h.busy = append(h.busy, lognormal(rng, busyCount, math.Exp(rng.Float64()*4), 0.6))
		h.idle = append(h.idle, lognormal(rng, rng.IntN(2*idleCount), 60, 1))
	}
	return h
}

// lognormal returns a histogram of n durations with a median in seconds.
func lognormal(rng *rand.Rand, n int, median, sigma float64) (h stats.Histogram) {
	for range n {
		h.Observe(int64(median * math.Exp(sigma*rng.NormFloat64()) * float64(second)))
	}
	return h
}

// dwell returns a histogram for a place; two of five places are busy.
func (h *history) dwell(place int, rng *rand.Rand) *stats.Histogram {
	if place%5 < 2 {
		return &h.busy[rng.IntN(templates)]
	}
	return &h.idle[rng.IntN(templates)]
}

// age returns the age of a token in microseconds: most are young, some are days
// old.
func (h *history) age(rng *rand.Rand) int64 {
	return int64(math.Exp(rng.Float64()*math.Log(oldest)) * float64(second))
}
