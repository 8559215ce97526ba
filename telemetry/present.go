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

// sum is how many tokens of a place were injected within one bucket of
// stats.SlotWidth, and the sum of their injection times beyond its start. That
// makes the time exact where the tokens of a bucket came at once, and the mean
// exact always.
type sum struct {
	key       uint64 // place and bucket, plus 1; 0 for an empty cell
	n, beyond uint64
}

func (s *sum) place() int    { return int((s.key - 1) >> bucketBits) }
func (s *sum) bucket() int64 { return int64((s.key - 1) & (1<<bucketBits - 1)) }

// sums counts tokens by place and bucket. Of each place it has the bucket of the
// token before at hand, which as a rule is that of the next one too; the others
// are in a hash table: open addressing, at most half full.
type sums struct {
	runs  []run // by place
	cells []sum
	used  int
	shift uint
}

// run is the bucket that was counted in last.
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

// drain appends all sums and forgets them. A table that was large once does not
// stay so.
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

// present are the tokens that are there, by place and bucket: what was injected
// less what was taken.
type present struct {
	places [][]heap // by bucket, rising; n is never 0
	lost   uint64   // strays of which the bucket is not kept any more
}

// heap is the tokens of one bucket. It is negative where tokens were taken that
// nobody injected then, or not yet.
type heap struct {
	bucket    int64
	n, beyond int64
}

// maxStrays is of how many buckets of a place it is remembered that tokens were
// taken which nobody injected: an engine may tell so late, or never.
const maxStrays = 1024

// change adds what was injected and subtracts what was taken.
func (p *present) change(in, out []sum) {
	all := make([]change, 0, len(in)+len(out))
	for i := range in {
		all = append(all, change{in[i].place(), heap{in[i].bucket(), int64(in[i].n), int64(in[i].beyond)}})
	}
	for i := range out {
		all = append(all, change{out[i].place(), heap{out[i].bucket(), -int64(out[i].n), -int64(out[i].beyond)}})
	}
	slices.SortFunc(all, func(a, b change) int {
		return cmp.Or(cmp.Compare(a.place, b.place), cmp.Compare(a.bucket, b.bucket))
	})
	for len(all) > 0 {
		place, n := all[0].place, 1
		for n < len(all) && all[n].place == place {
			n++
		}
		p.places[place] = mergeHeaps(p.places[place], all[:n])
		p.forget(place)
		all = all[n:]
	}
}

type change struct {
	place int
	heap
}

func mergeHeaps(old []heap, changes []change) []heap {
	out := make([]heap, 0, len(old)+len(changes))
	add := func(h heap) {
		if k := len(out) - 1; k >= 0 && out[k].bucket == h.bucket {
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
		if len(changes) == 0 || len(old) > 0 && old[0].bucket <= changes[0].bucket {
			add(old[0])
			old = old[1:]
		} else {
			add(changes[0].heap)
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

// addTo adds the tokens to rows as of now, and returns how many are strays.
func (p *present) addTo(now int64, rows *stats.Rows) (strays uint64) {
	rungs, strays := stats.NewRungs(now), p.lost
	counts := make([]uint64, rungs.Len())
	for i, heaps := range p.places {
		row := &rows.Places[i]
		for _, h := range heaps {
			if h.n < 0 {
				strays += uint64(-h.n)
				continue
			}
			start := h.bucket * stats.SlotWidth
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
		row.Arrivals += row.Tokens // beside those of tokens that left
	}
	return strays
}

// timesFrom is the sum of n times, each at start or so much beyond it in all.
func timesFrom(start int64, n, beyond uint64) stats.TimeSum {
	micro := uint64(start)%1e6*n + beyond
	return stats.TimeSum{Sec: uint64(start)/1e6*n + micro/1e6, Micro: micro % 1e6}
}
