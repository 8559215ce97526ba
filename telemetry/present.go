// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/pnagent/pnagent/stats"
)

// bucketBits is how many bits the number of a bucket of stats.SlotWidth takes.
const bucketBits = 37

// sum counts the tokens of a place that were injected within one bucket of
// stats.SlotWidth, and sums up their injection times relative to its start. So
// the mean time of a bucket is exact, and each time is exact if the tokens of
// the bucket were injected at once.
type sum struct {
	key       uint64 // place and bucket, plus 1; 0 for an empty cell
	n, beyond uint64
}

func (s *sum) place() int    { return int((s.key - 1) >> bucketBits) }
func (s *sum) bucket() int64 { return int64((s.key - 1) & (1<<bucketBits - 1)) }

// sums counts tokens by place and bucket. It keeps the last bucket of each
// place apart, since the next token usually falls into it too. The others are
// in a hash table with open addressing, at most half full.
type sums struct {
	runs  []run // by place
	cells []sum
	used  int
	shift uint
}

// run is the bucket of the last token of a place.
type run struct {
	start     int64 // microseconds
	n, beyond uint64
	last      int64 // the latest time of all
}

const fewSums = 64

func newSums(places int) *sums {
	s := &sums{runs: make([]run, places)}
	s.resize(fewSums)
	return s
}

func (s *sums) resize(cells int) {
	s.cells, s.used, s.shift = make([]sum, cells), 0, uint(64-bits.TrailingZeros(uint(cells)))
}

// add counts tokens of a place.
func (s *sums) add(place int, injected int64, n uint64) {
	r := &s.runs[place]
	r.last = max(r.last, injected)
	beyond := uint64(injected - r.start)
	if beyond >= stats.SlotWidth {
		s.put(place, r)
		beyond = uint64(injected) % stats.SlotWidth
		r.start, r.n, r.beyond = injected-int64(beyond), 0, 0
	}
	r.n += n
	r.beyond += beyond * n
}

// put moves a run into the table.
func (s *sums) put(place int, r *run) {
	if r.n > 0 {
		s.addSum(sum{uint64(place)<<bucketBits | uint64(r.start/stats.SlotWidth) + 1, r.n, r.beyond})
		r.n, r.beyond = 0, 0
	}
}

func (s *sums) addSum(one sum) {
	mask := uint64(len(s.cells) - 1)
	for i := one.key * 0x9e3779b97f4a7c15 >> s.shift; ; i++ {
		c := &s.cells[i&mask]
		if c.key == one.key {
			c.n += one.n
			c.beyond += one.beyond
			return
		}
		if c.key == 0 {
			*c = one
			break
		}
	}
	if s.used++; 2*s.used > len(s.cells) {
		s.grow()
	}
}

func (s *sums) grow() {
	old := s.cells
	s.resize(2 * len(old))
	for _, c := range old {
		if c.key != 0 {
			s.addSum(c)
		}
	}
}

// drain appends all sums to into and clears the table. It halves a table that is mostly empty.
func (s *sums) drain(into []sum) []sum {
	for i := range s.runs {
		s.put(i, &s.runs[i])
	}
	for _, c := range s.cells {
		if c.key != 0 {
			into = append(into, c)
		}
	}
	if len(s.cells) > fewSums && 8*s.used < len(s.cells) {
		s.resize(len(s.cells) / 2)
		return into
	}
	clear(s.cells)
	s.used = 0
	return into
}

// present holds the tokens that are present, by place and bucket: injected less taken.
type present struct {
	places [][]bucket // rising; n is never 0
	lost   uint64     // strays whose bucket is no longer kept
}

// bucket counts the tokens of one bucket. It is negative if more tokens were
// taken than injected so far.
type bucket struct {
	slot      int64 // start / stats.SlotWidth
	n, beyond int64
}

// maxStrays bounds the buckets of a place that are kept although more tokens
// were taken than injected: an engine may report the injection late or never.
const maxStrays = 1024

// change adds what was injected and subtracts what was taken.
func (p *present) change(in, out []sum) {
	all := make([]change, 0, len(in)+len(out))
	for i := range in {
		all = append(all, change{in[i].place(), bucket{in[i].bucket(), int64(in[i].n), int64(in[i].beyond)}})
	}
	for i := range out {
		all = append(all, change{out[i].place(), bucket{out[i].bucket(), -int64(out[i].n), -int64(out[i].beyond)}})
	}
	slices.SortFunc(all, func(a, b change) int {
		return cmp.Or(cmp.Compare(a.place, b.place), cmp.Compare(a.slot, b.slot))
	})
	for len(all) > 0 {
		place, n := all[0].place, 1
		for n < len(all) && all[n].place == place {
			n++
		}
		p.places[place] = mergeBuckets(p.places[place], all[:n])
		p.forget(place)
		all = all[n:]
	}
}

type change struct {
	place int
	bucket
}

func mergeBuckets(old []bucket, changes []change) []bucket {
	out := make([]bucket, 0, len(old)+len(changes))
	add := func(h bucket) {
		if k := len(out) - 1; k >= 0 && out[k].slot == h.slot {
			out[k].n += h.n
			out[k].beyond += h.beyond
		} else {
			if k >= 0 && out[k].n == 0 {
				out = out[:k]
			}
			out = append(out, h)
		}
	}
	for len(old)+len(changes) > 0 {
		if len(changes) == 0 || len(old) > 0 && old[0].slot <= changes[0].slot {
			add(old[0])
			old = old[1:]
		} else {
			add(changes[0].bucket)
			changes = changes[1:]
		}
	}
	if k := len(out) - 1; k >= 0 && out[k].n == 0 {
		out = out[:k]
	}
	return out
}

// forget drops the earliest strays beyond maxStrays.
func (p *present) forget(place int) {
	strays := 0
	for _, h := range p.places[place] {
		if h.n < 0 {
			strays++
		}
	}
	if strays <= maxStrays {
		return
	}
	kept := p.places[place][:0]
	for _, h := range p.places[place] {
		if h.n < 0 && strays > maxStrays {
			strays--
			p.lost += uint64(-h.n)
			continue
		}
		kept = append(kept, h)
	}
	p.places[place] = kept
}

// addTo adds the tokens to rows as of now, and returns the number of strays.
func (p *present) addTo(now int64, rows *stats.Rows) (strays uint64) {
	rungs, strays := stats.NewRungs(now), p.lost
	counts := make([]uint64, rungs.Len())
	for i, buckets := range p.places {
		row := &rows.Places[i]
		for _, h := range buckets {
			if h.n < 0 {
				strays += uint64(-h.n)
				continue
			}
			start := h.slot * stats.SlotWidth
			if row.Oldest == 0 {
				row.Oldest = start + min(max(h.beyond/h.n, 0), stats.SlotWidth-1)
			}
			row.Tokens += uint64(h.n)
			row.Injected.Merge(timesFrom(start, uint64(h.n), uint64(max(h.beyond, 0))))
			counts[rungs.Index(start)] += uint64(h.n)
		}
		if row.Tokens > 0 {
			row.Ages = rungs.Ladder(counts)
			clear(counts)
		}
		row.Arrivals += row.Tokens // added to the departed tokens
	}
	return strays
}

// timesFrom returns the sum of n times: n × start + beyond.
func timesFrom(start int64, n, beyond uint64) stats.TimeSum {
	micro := uint64(start)%1e6*n + beyond
	return stats.TimeSum{Sec: uint64(start)/1e6*n + micro/1e6, Micro: micro % 1e6}
}
