// SPDX-License-Identifier: Apache-2.0

package top

import (
	"math"
	"time"
)

// rateWindow is the time over which a rate is taken. Sources publish about
// once a second and so do polls; over a few of both, the difference of their
// phases does not show.
const rateWindow = 5 * time.Second

// rates are how fast a View's counters grow, a second; NaN where not known.
type rates struct {
	messages float64
	nets     []netRates // as View.Nets
}

type netRates struct {
	fired, finished float64
	in, out         []float64 // as Net.Places
	firings         []float64 // as Net.Transitions
}

// history is the last Views, oldest first, none older than the window but one.
type history struct{ views []*View }

// add takes a View and returns its rates. A sidecar that was started again
// counts from there.
func (h *history) add(v *View) rates {
	if n := len(h.views); n > 0 {
		switch last := h.views[n-1]; {
		case v.Generation == last.Generation && v.At.Equal(last.At):
			h.views[n-1] = v
		case v.Generation <= last.Generation || !v.At.After(last.At):
			h.views = []*View{v}
		default:
			h.views = append(h.views, v)
		}
	} else {
		h.views = []*View{v}
	}
	for len(h.views) > 2 && v.At.Sub(h.views[1].At) >= rateWindow {
		h.views = h.views[1:]
	}
	return ratesBetween(h.views[0], v)
}

func ratesBetween(before, v *View) rates {
	seconds := v.At.Sub(before.At).Seconds()
	earlier := make(map[string]*Net, len(before.Nets))
	for i := range before.Nets {
		earlier[before.Nets[i].ID] = &before.Nets[i]
	}
	r := rates{messages: rate(&before.Traffic.Messages, &v.Traffic.Messages, seconds), nets: make([]netRates, len(v.Nets))}
	for i := range v.Nets {
		n := &v.Nets[i]
		b := earlier[n.ID]
		if b == nil || !b.Since.Equal(n.Since) {
			b = &Net{}
		}
		r.nets[i] = netRatesBetween(b, n, seconds)
	}
	return r
}

// netRatesBetween relies on what the sidecar promises, that no row of a net
// ever moves; a row elsewhere has no rate.
func netRatesBetween(b, n *Net, seconds float64) netRates {
	r := netRates{finished: math.NaN(), in: make([]float64, len(n.Places)), out: make([]float64, len(n.Places)),
		firings: make([]float64, len(n.Transitions))}
	if b.Instances != nil && n.Instances != nil {
		r.finished = rate(&b.Instances.Finished, &n.Instances.Finished, seconds)
	}
	for i := range n.Places {
		r.in[i], r.out[i] = math.NaN(), math.NaN()
		if i < len(b.Places) && b.Places[i].ID == n.Places[i].ID {
			r.in[i] = rate(b.Places[i].Arrivals, n.Places[i].Arrivals, seconds)
			r.out[i] = rate(b.Places[i].Departures, n.Places[i].Departures, seconds)
		}
	}
	for i := range n.Transitions {
		r.firings[i] = math.NaN()
		if i < len(b.Transitions) && b.Transitions[i].ID == n.Transitions[i].ID {
			r.firings[i] = rate(b.Transitions[i].Firings, n.Transitions[i].Firings, seconds)
		}
		r.fired += r.firings[i]
	}
	if len(n.Transitions) == 0 {
		r.fired = math.NaN()
	}
	return r
}

func rate(before, now *uint64, seconds float64) float64 {
	if before == nil || now == nil || *now < *before || seconds <= 0 {
		return math.NaN()
	}
	return float64(*now-*before) / seconds
}
