// SPDX-License-Identifier: Apache-2.0

package mib

import (
	"math"

	"github.com/pnagent/pnagent/collector"
	"github.com/pnagent/pnagent/smi"
)

// rate is a number of firings a second, damped exponentially over 1, 5 and 15
// minutes, as a load average is.
type rate [3]float64

// value is the rate as PetrinetRate, in thousandths.
func (r *rate) value(i int) smi.Value {
	return smi.Gauge32(uint32(min(math.Round(r[i]*1e3), math.MaxUint32)))
}

// damping is how much of a rate an interval replaces.
type damping [3]float64

func newDamping(micros int64) damping {
	var d damping
	for i, minutes := range [3]float64{1, 5, 15} {
		d[i] = -math.Expm1(-float64(micros) / (minutes * 60e6))
	}
	return d
}

func (r *rate) damp(d damping, perSecond float64) {
	for i := range r {
		r[i] += d[i] * (perSecond - r[i])
	}
}

// netRates are the rates of one net and of its transitions, in the order of
// the definition, with the counters that they were last taken from.
type netRates struct {
	at          int64 // of the View, microseconds
	since       int64 // the counters' beginning
	recalled    bool  // some sources were not heard since the start: what they did meanwhile comes at once
	firings     []uint64
	transitions []rate
	total       rate
}

// update takes in the counters of a View. The same View twice changes
// nothing; a counter that began anew, that fell, or that takes in what was done
// before the start, only sets a new base.
func (n *netRates) update(net *collector.Net, at int64) {
	interval := at - n.at
	if n.at != 0 && interval <= 0 {
		return
	}
	steady := n.at != 0 && net.Since == n.since && !n.recalled
	d := newDamping(interval)
	var sum uint64
	for i := range net.Rows.Transitions {
		now := net.Rows.Transitions[i].Firings
		if i == len(n.firings) {
			n.firings = append(n.firings, now)
			n.transitions = append(n.transitions, rate{})
			continue
		}
		if steady && now >= n.firings[i] {
			delta := now - n.firings[i]
			sum += delta
			n.transitions[i].damp(d, float64(delta)*1e6/float64(interval))
		}
		n.firings[i] = now
	}
	if steady {
		n.total.damp(d, float64(sum)*1e6/float64(interval))
	}
	n.at, n.since, n.recalled = at, net.Since, net.Recalled > 0
}
