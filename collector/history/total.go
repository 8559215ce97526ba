// SPDX-License-Identifier: Apache-2.0

package history

import (
	"math"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
)

// The numbers of a whole net, in the column colNet.
const (
	netCreated = iota
	netFinished
	netFailed
	netActive
	netDeadlocked
	netTokens
	netFirings
	netWaiting
	netOldest
	netOldestPlace // its index
	netFinishedRate
	netRate
	netRate1
	netRate5
	netRate15
	netNumbers
)

// gatherNet writes the numbers of a whole net.
func gatherNet(n *merge.NetView, alarms *alarm.ActiveSet, into []uint64) {
	r := n.Rows.Net
	into[netCreated], into[netFinished], into[netFailed], into[netActive], into[netDeadlocked] = r.Created, r.Finished, r.Failed, r.Active, r.Deadlocked
	into[netTokens], into[netFirings], into[netWaiting] = n.Tokens, n.Firings, n.Rows.Waiting
	oldest, place := alarms.Oldest(n)
	into[netOldest], into[netOldestPlace] = uint64(oldest), uint64(place)
	f := n.Rates.Firings
	for i, rate := range []float64{n.Rates.Finished, f.Now, f.Min1, f.Min5, f.Min15} {
		into[netFinishedRate+i] = packRate(rate)
	}
}

// packRate returns a rate as millionths a second and 1, so that a rate that stays takes no
// memory; 0 for merge.UnknownRate.
func packRate(r float64) uint64 {
	if r == merge.UnknownRate {
		return 0
	}
	return uint64(math.Round(r*1e6)) + 1
}

func unpackRate(n uint64) float64 {
	if n == 0 {
		return merge.UnknownRate
	}
	return float64(n-1) / 1e6
}

// netAt returns a net with its numbers of one moment and without rows. If its frame of that
// moment is not kept, no number is known.
func (s *Store) netAt(name string, moment int64) *merge.NetView {
	n := &merge.NetView{Name: name, Rows: &stats.Rows{}, Rates: &merge.Rates{}}
	r := s.nets[name]
	if r == nil {
		n.Def = &petri.Net{ID: name}
		return n
	}
	n.Def = r.rows.Def
	if v := (&Past{blocks: r.blocks}).net(moment); v != nil {
		n.Rows.Columns, n.Rows.Waiting = v.columns, v.n[netWaiting]
		n.Rows.Net = stats.NetRow{Created: v.n[netCreated], Finished: v.n[netFinished], Failed: v.n[netFailed], Active: v.n[netActive], Deadlocked: v.n[netDeadlocked]}
		n.Totals = merge.Totals{Tokens: v.n[netTokens], Firings: v.n[netFirings], OldestSince: int64(v.n[netOldest]), OldestPlace: int(v.n[netOldestPlace])}
		n.Rates.Finished = unpackRate(v.n[netFinishedRate])
		n.Rates.Firings = merge.Rate{Now: unpackRate(v.n[netRate]), Min1: unpackRate(v.n[netRate1]), Min5: unpackRate(v.n[netRate5]), Min15: unpackRate(v.n[netRate15])}
	}
	return n
}

// netValues are the numbers of a whole net at a moment.
type netValues struct {
	columns stats.Columns
	n       []uint64
}

// net returns the numbers of a moment; nil if its frame is not kept.
func (p *Past) net(moment int64) *netValues {
	k := p.blockOf(moment)
	if k < 0 {
		return nil
	}
	for d := p.blocks[k].reader(1 << colNet); d.next() && d.at <= moment; {
		if d.at == moment {
			return &netValues{d.columns, d.values[colNet]}
		}
	}
	return nil
}
