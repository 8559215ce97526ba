// SPDX-License-Identifier: Apache-2.0

package history

import (
	"math"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
)

// The numbers of a whole net, in the column colNet: those of countsOf, and of ratesOf after its oldest token.
const (
	netOldest      = 8
	netOldestPlace = 9 // its index
	netRates       = 10
	netNumbers     = netRates + 5
)

func countsOf(n *merge.NetView) [netOldest]*uint64 {
	r := &n.Rows.Net
	return [...]*uint64{&r.Created, &r.Finished, &r.Failed, &r.Active, &r.Deadlocked, &n.Tokens, &n.Firings, &n.Rows.Waiting}
}

func ratesOf(n *merge.NetView) [netNumbers - netRates]*float64 {
	f := &n.Rates.Firings
	return [...]*float64{&n.Rates.Finished, &f.Now, &f.Min1, &f.Min5, &f.Min15}
}

// gatherNet writes the numbers of a whole net.
func gatherNet(n *merge.NetView, alarms *alarm.ActiveSet, into []uint64) {
	for i, count := range countsOf(n) {
		into[i] = *count
	}
	oldest, place := alarms.Oldest(n)
	into[netOldest], into[netOldestPlace] = uint64(oldest), uint64(place)
	for i, rate := range ratesOf(n) {
		into[netRates+i] = packRate(*rate)
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
		n.Rows.Columns, n.OldestSince, n.OldestPlace = v.columns, int64(v.n[netOldest]), int(v.n[netOldestPlace])
		for i, count := range countsOf(n) {
			*count = v.n[i]
		}
		for i, rate := range ratesOf(n) {
			*rate = unpackRate(v.n[netRates+i])
		}
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
