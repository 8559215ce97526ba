// SPDX-License-Identifier: Apache-2.0

package history

import (
	"slices"
	"sort"

	"github.com/pnagent/pnagent/stats"
)

// MaxPoints is how many points a series has at most.
const MaxPoints = 360

// Past is what was kept of one net up to the moment when it was asked for. It
// is immutable: reading it needs no lock on the Store.
type Past struct {
	blocks []block
	frames int
}

// Past returns what is kept of a net: nothing for one that is not known. It
// costs a copy of a few hundred headers.
func (s *Store) Past(net string) *Past {
	r := s.nets[net]
	if r == nil {
		return &Past{}
	}
	return &Past{blocks: slices.Clone(r.blocks), frames: r.frames}
}

// At returns the newest frame at or before a time, and the one before it, for
// rates; nil where there is none.
func (p *Past) At(at int64) (f, before *Frame) {
	k := sort.Search(len(p.blocks), func(i int) bool { return p.blocks[i].from > at }) - 1
	if k < 0 {
		return nil, nil
	}
	end := 0 // frames of the block up to at
	for d := p.blocks[k].reader(0); d.next() && d.at <= at; {
		end++
	}
	d := p.blocks[k].reader(everything)
	for i := range end {
		if i > 0 && i == end-1 {
			before = d.frame()
		}
		d.next()
	}
	if end == 1 && k > 0 {
		before = p.blocks[k-1].youngest()
	}
	return d.frame(), before
}

// PlacePoint is a place at one moment. Of Place only Tokens and Oldest are set.
type PlacePoint struct {
	At      int64 // microseconds since the Unix epoch
	Columns stats.Columns
	Place
}

// TransitionPoint is a transition at one moment. Of Transition only Firings and
// Running are set.
type TransitionPoint struct {
	At      int64
	Columns stats.Columns
	Transition
}

// Place returns what was kept of a place, by its index: at most MaxPoints,
// spread evenly, the youngest among them. A place that the net got later has
// no points before that.
func (p *Past) Place(place int) []PlacePoint {
	var out []PlacePoint
	p.walk(1<<colTokens|1<<colOldest, func(d *reader) {
		if v := &d.values; place < len(v[colTokens]) {
			out = append(out, PlacePoint{d.at, d.columns, Place{Tokens: v[colTokens][place], Oldest: int64(v[colOldest][place])}})
		}
	})
	return out
}

// Transition is Place of a transition.
func (p *Past) Transition(transition int) []TransitionPoint {
	var out []TransitionPoint
	p.walk(1<<colFirings|1<<colRunning, func(d *reader) {
		if v := &d.values; transition < len(v[colFirings]) {
			out = append(out, TransitionPoint{d.at, d.columns, Transition{Firings: v[colFirings][transition], Running: v[colRunning][transition]}})
		}
	})
	return out
}

// walk shows one frame of every 1, 2, 4, … up to blockFrames of each block, so
// that of a long past only the first ones of blocks are read; of a still longer
// one not every block. The youngest frame is always shown.
func (p *Past) walk(want uint16, show func(*reader)) {
	every, skip := 1, 1
	for every < blockFrames && points(p.blocks, every, 1) >= MaxPoints {
		every *= 2
	}
	for points(p.blocks, every, skip) >= MaxPoints {
		skip++
	}
	for k := range p.blocks {
		b, last, within := &p.blocks[k], k == len(p.blocks)-1, k%skip == 0
		if !within && !last {
			continue
		}
		end := (b.frames - 1) / every * every
		if last {
			end = b.frames - 1
		}
		d := b.reader(want)
		for i := range end + 1 {
			d.next()
			if within && i%every == 0 || last && i == end {
				show(d)
			}
		}
	}
}

// points is how many frames walk shows, but for the youngest.
func points(blocks []block, every, skip int) int {
	n := 0
	for k := 0; k < len(blocks); k += skip {
		n += (blocks[k].frames + every - 1) / every
	}
	return n
}
