// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"
	"math/rand/v2"

	"github.com/pnagent/pnagent/stats"
)

// past is what sources did before they are first heard: dwell histograms to
// take copies of.
type past struct {
	busy, idle []stats.Histogram
}

const (
	templates = 32
	// Durations in a histogram of a busy place, which fill some 25 buckets, and
	// of an idle one.
	busyCount, idleCount = 400, 4
	oldest               = 2 * 24 * 3600 // seconds that a token may be there already
)

func newPast(rng *rand.Rand) *past {
	p := &past{}
	for range templates {
		p.busy = append(p.busy, lognormal(rng, busyCount, math.Exp(rng.Float64()*4), 0.6))
		p.idle = append(p.idle, lognormal(rng, rng.IntN(2*idleCount), 60, 1))
	}
	return p
}

// lognormal returns n durations with a median, in seconds.
func lognormal(rng *rand.Rand, n int, median, sigma float64) (h stats.Histogram) {
	for range n {
		h.Observe(int64(median * math.Exp(sigma*rng.NormFloat64()) * float64(second)))
	}
	return h
}

// dwell returns the histogram of a place: two of five are busy.
func (p *past) dwell(place int, rng *rand.Rand) *stats.Histogram {
	if place%5 < 2 {
		return &p.busy[rng.IntN(templates)]
	}
	return &p.idle[rng.IntN(templates)]
}

// age returns how old a token is: most are young, some are there for days.
func (p *past) age(rng *rand.Rand) int64 {
	return int64(math.Exp(rng.Float64()*math.Log(oldest)) * float64(second))
}
