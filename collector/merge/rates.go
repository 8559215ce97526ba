// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"math"
	"slices"
	"time"

	"github.com/pnagent/pnagent/stats"
)

// UnknownRate is a rate that is not known because there is no earlier View to
// compare with.
const UnknownRate = -1

// Rate is how often something happens a second.
type Rate struct {
	// Now is over the last 5 seconds, or over two intervals of the net's slowest
	// source if that is longer, with four digits. It may be UnknownRate.
	Now float64
	// These are damped exponentially over 1, 5 and 15 minutes, as a load average
	// is, with three decimals. They start at 0.
	Min1, Min5, Min15 float64
}

// Rates are the rates of a net as of a View.
type Rates struct {
	Firings     Rate      // of all transitions
	Finished    float64   // instances that finish a second, as Rate.Now
	Transitions []Rate    // firings, by transition
	Arrivals    []float64 // by place, as Rate.Now
	Departures  []float64
}

// unknownRates returns the rates of a net of which no earlier View is known.
func unknownRates(places, transitions int) *Rates {
	unknown := Rate{Now: UnknownRate}
	return &Rates{Firings: unknown, Finished: UnknownRate, Transitions: slices.Repeat([]Rate{unknown}, transitions),
		Arrivals: slices.Repeat([]float64{UnknownRate}, places), Departures: slices.Repeat([]float64{UnknownRate}, places)}
}

// Rate.Now is over minWindow, or twice the interval of the slowest source if that
// is longer: a single interval contains one snapshot or two, by chance.
const (
	minWindow     = int64(5 * time.Second / time.Microsecond)
	maxWindow     = int64(2 * time.Minute / time.Microsecond)
	windowSamples = 8 // in a window, approximately
)

// counted holds the counters of a net at one moment from which rates are made.
type counted struct {
	at                            int64
	finished                      uint64
	arrivals, departures, firings []uint64
}

func countedOf(n *NetView, at int64) counted {
	c := counted{at: at, finished: n.Rows.Net.Finished, arrivals: make([]uint64, len(n.Rows.Places)),
		departures: make([]uint64, len(n.Rows.Places)), firings: make([]uint64, len(n.Rows.Transitions))}
	for i := range n.Rows.Places {
		c.arrivals[i], c.departures[i] = n.Rows.Places[i].Arrivals, n.Rows.Places[i].Departures
	}
	for i := range n.Rows.Transitions {
		c.firings[i] = n.Rows.Transitions[i].Firings
	}
	return c
}

// speed makes the rates of one net from successive Views.
type speed struct {
	last     counted   // of the previous View
	since    int64     // when its counters began
	recalled bool      // it showed sources that sent nothing since the start
	samples  []counted // of the window, by time
	damped   []damped  // by transition
	total    damped
	shown    *Rates
	rows     *stats.Rows // of the previous View: if they are the same, no counter changed
	still    bool        // all rates are 0
}

// update returns the rates as of a View. Counters that start again, that fell, or
// that include counts from before the start, are a new base and no rate.
func (s *speed) update(n *NetView, at, window int64) *Rates {
	interval := at - s.last.at
	if s.shown != nil && interval == 0 {
		return s.sized(n)
	}
	steady := s.shown != nil && interval > 0 && n.Since == s.since && !s.recalled && n.Recalled == 0
	if steady && s.still {
		// No counter changed in the whole window, so its youngest sample may stand for its oldest.
		s.samples = s.samples[len(s.samples)-1:]
		s.samples[0].at = at - window
		if s.rows == n.Rows {
			s.last.at = at
			return s.shown
		}
	}
	now, shown := countedOf(n, at), unknownRates(len(n.Rows.Places), len(n.Rows.Transitions))
	if n.Recalled > 0 || n.Since != s.since || interval < 0 {
		s.samples = nil
	}
	for len(s.samples) > 1 && s.samples[1].at <= at-window {
		s.samples = s.samples[1:]
	}
	if len(s.samples) > 0 {
		shown.between(&s.samples[0], &now)
	}
	if k := len(s.samples); n.Recalled == 0 && (k == 0 || at-s.samples[k-1].at >= window/windowSamples) {
		s.samples = append(s.samples, now)
	}
	s.damp(&now, steady, shown)
	s.last = now
	s.since = n.Since
	s.recalled = n.Recalled > 0
	s.rows = n.Rows
	s.shown = shown
	s.still = shown.still()
	return shown
}

// sized returns the rates of the previous View for a net that may have more rows
// now.
func (s *speed) sized(n *NetView) *Rates {
	if len(s.shown.Arrivals) < len(n.Rows.Places) || len(s.shown.Transitions) < len(n.Rows.Transitions) {
		shown := unknownRates(len(n.Rows.Places), len(n.Rows.Transitions))
		shown.Firings, shown.Finished = s.shown.Firings, s.shown.Finished
		copy(shown.Transitions, s.shown.Transitions)
		copy(shown.Arrivals, s.shown.Arrivals)
		copy(shown.Departures, s.shown.Departures)
		s.shown, s.still = shown, false
	}
	return s.shown
}

// between fills in the rates of the window.
func (r *Rates) between(before, now *counted) {
	seconds := float64(now.at-before.at) / 1e6
	r.Finished = perSecond(before.finished, now.finished, seconds)
	sum := 0.0
	for i := range min(len(before.firings), len(now.firings)) {
		r.Transitions[i].Now = perSecond(before.firings[i], now.firings[i], seconds)
		sum += max(r.Transitions[i].Now, 0)
	}
	r.Firings.Now = rounded(sum)
	for i := range min(len(before.arrivals), len(now.arrivals)) {
		r.Arrivals[i] = perSecond(before.arrivals[i], now.arrivals[i], seconds)
		r.Departures[i] = perSecond(before.departures[i], now.departures[i], seconds)
	}
}

// still reports whether every rate is 0.
func (r *Rates) still() bool {
	return r.Firings == Rate{} && r.Finished == 0 &&
		!slices.ContainsFunc(r.Transitions, func(r Rate) bool { return r != Rate{} }) &&
		!slices.ContainsFunc(r.Arrivals, func(r float64) bool { return r != 0 }) &&
		!slices.ContainsFunc(r.Departures, func(r float64) bool { return r != 0 })
}

// damped is a rate over 1, 5 and 15 minutes.
type damped [3]float64

// damp adds the firings since the previous View.
func (s *speed) damp(now *counted, steady bool, shown *Rates) {
	interval := float64(now.at - s.last.at)
	var share damped // how much of each rate the interval replaces
	for i, minutes := range [3]float64{1, 5, 15} {
		share[i] = -math.Expm1(-interval / (minutes * 60e6))
	}
	for len(s.damped) < len(now.firings) {
		s.damped = append(s.damped, damped{})
	}
	var sum uint64
	for i := range s.damped {
		if steady && i < len(s.last.firings) && now.firings[i] >= s.last.firings[i] {
			delta := now.firings[i] - s.last.firings[i]
			sum += delta
			s.damped[i].add(share, float64(delta)*1e6/interval)
		}
		s.damped[i].show(&shown.Transitions[i])
	}
	if steady {
		s.total.add(share, float64(sum)*1e6/interval)
	}
	s.total.show(&shown.Firings)
}

func (d *damped) add(share damped, perSecond float64) {
	for i := range d {
		d[i] += share[i] * (perSecond - d[i])
	}
}

func (d *damped) show(r *Rate) {
	r.Min1, r.Min5, r.Min15 = math.Round(d[0]*1e3)/1e3, math.Round(d[1]*1e3)/1e3, math.Round(d[2]*1e3)/1e3
}

// perSecond returns the rate of a counter, or UnknownRate if it fell.
func perSecond(before, now uint64, seconds float64) float64 {
	if now < before || seconds <= 0 {
		return UnknownRate
	}
	return rounded(float64(now-before) / seconds)
}

// RateBetween returns the rate of a counter with two values, some microseconds
// apart, or UnknownRate if it fell.
func RateBetween(before, now uint64, micros int64) float64 {
	return perSecond(before, now, float64(micros)/1e6)
}

// rounded rounds a rate to four digits, so that a tick that is a millisecond late
// does not change every row of a steady net.
func rounded(r float64) float64 {
	if r <= 0 {
		return 0
	}
	digits := 3 - int(math.Floor(math.Log10(r)))
	if digits < 0 {
		unit := math.Pow10(-digits)
		return math.Round(r/unit) * unit
	}
	scale := math.Pow10(digits)
	return math.Round(r*scale) / scale
}

// sample is a counter at one moment.
type sample struct {
	at int64
	n  uint64
}

// messageRate returns how many messages arrive per second.
func (m *Merger) messageRate(now int64) float64 {
	if k := len(m.recent); k > 0 && m.recent[k-1].at > now { // the clock was set back
		m.recent = nil
	}
	for len(m.recent) > 1 && m.recent[1].at <= now-minWindow {
		m.recent = m.recent[1:]
	}
	rate := float64(UnknownRate)
	if len(m.recent) > 0 {
		rate = RateBetween(m.recent[0].n, m.traffic.Messages, now-m.recent[0].at)
	}
	if k := len(m.recent); k == 0 || m.recent[k-1].at < now {
		m.recent = append(m.recent, sample{now, m.traffic.Messages})
	}
	return rate
}
