// SPDX-License-Identifier: Apache-2.0

package web

import (
	"time"

	"github.com/pnagent/pnagent/collector"
)

// Rates are over this time, or twice the interval of the net's slowest source
// if that is longer: a single interval holds one snapshot or two, by chance.
const (
	minWindow = 5 * time.Second
	maxWindow = 2 * time.Minute
)

// windowSamples is how many samples of a window are kept, about.
const windowSamples = 8

// window remembers the counters of one net for rates.
type window struct {
	samples []sample // by time
	spare   []uint64 // memory of a sample that is gone
}

// sample holds arrivals by place, then firings by transition.
type sample struct {
	at       int64 // microseconds since the Unix epoch
	places   int
	counters []uint64
}

// widths returns how long the window of each net should be that needs a longer
// one than minWindow.
func widths(view *collector.View) map[string]time.Duration {
	out := map[string]time.Duration{}
	for i := range view.Sources {
		if s := &view.Sources[i]; s.State == collector.Up && 2*s.Interval > max(minWindow, out[s.Net]) {
			out[s.Net] = min(2*s.Interval, maxWindow)
		}
	}
	return out
}

// rates returns arrivals by place and firings by transition in a second since
// the youngest sample that is at least as old as the window, or the oldest that
// there is, and remembers the counters of now. It returns nil without an
// earlier sample. A row that is newer than the sample has unknownRate. While
// sources are recalled there are none: what they did before the start would
// count as done in a second.
func (w *window) rates(n *collector.Net, now int64, width time.Duration) []rate {
	if n.Recalled > 0 {
		w.samples = nil
		return nil
	}
	w.forget(now - width.Microseconds())
	places, transitions := n.Rows.Places, n.Rows.Transitions
	var out []rate
	if len(w.samples) > 0 && now > w.samples[0].at {
		s := &w.samples[0]
		seconds := float64(now-s.at) / 1e6
		out = make([]rate, len(places)+len(transitions))
		for i := range places {
			out[i] = s.rate(i, i < s.places, places[i].Arrivals, seconds)
		}
		for i := range transitions {
			out[len(places)+i] = s.rate(s.places+i, s.places+i < len(s.counters), transitions[i].Firings, seconds)
		}
	}
	if k := len(w.samples); k == 0 || now-w.samples[k-1].at >= width.Microseconds()/windowSamples {
		w.keep(n, now)
	}
	return out
}

func (s *sample) rate(i int, known bool, counter uint64, seconds float64) rate {
	if !known || counter < s.counters[i] {
		return unknownRate
	}
	return rounded(float64(counter-s.counters[i]) / seconds)
}

// forget drops the samples before the youngest that is at least as old as since.
func (w *window) forget(since int64) {
	for len(w.samples) > 1 && w.samples[1].at <= since {
		w.spare = w.samples[0].counters
		w.samples = append(w.samples[:0], w.samples[1:]...)
	}
}

func (w *window) keep(n *collector.Net, now int64) {
	s := sample{at: now, places: len(n.Rows.Places), counters: w.spare[:0]}
	w.spare = nil
	for i := range n.Rows.Places {
		s.counters = append(s.counters, n.Rows.Places[i].Arrivals)
	}
	for i := range n.Rows.Transitions {
		s.counters = append(s.counters, n.Rows.Transitions[i].Firings)
	}
	w.samples = append(w.samples, s)
}
