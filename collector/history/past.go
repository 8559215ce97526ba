// SPDX-License-Identifier: Apache-2.0

package history

import (
	"slices"
	"sort"

	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/stats"
)

// MaxPoints is the largest number of points in a series.
const MaxPoints = 360

// Past is what was kept of one net at the time of the call of Store.Past. It is
// immutable: reading it needs no lock on the Store.
type Past struct {
	blocks []block
	frames int
}

// Past returns what is kept of a net; it is empty for an unknown net. It copies at
// most a few hundred headers.
func (s *Store) Past(net string) *Past {
	r := s.nets[net]
	if r == nil {
		return &Past{}
	}
	return &Past{blocks: slices.Clone(r.blocks), frames: r.frames}
}

// At returns the newest frame at or before a time, with its rates; nil if there is none.
func (p *Past) At(at int64) *Frame {
	k := p.blockOf(at)
	if k < 0 {
		return nil
	}
	end := 0 // frames of the block up to at
	for d := p.blocks[k].reader(0); d.next() && d.at <= at; {
		end++
	}
	d := p.blocks[k].reader(everything)
	var before counted
	for i := range end {
		if i > 0 && i == end-1 {
			before = d.counted()
		}
		d.next()
	}
	if end == 1 && k > 0 {
		before = p.blocks[k-1].youngest()
	}
	return d.frame(before)
}

// Until returns the frames up to a time.
func (p *Past) Until(at int64) *Past {
	k := p.blockOf(at)
	if k < 0 {
		return &Past{}
	}
	out := &Past{blocks: slices.Clone(p.blocks[:k+1])}
	last := &out.blocks[k]
	last.frames = 0
	for d := last.reader(0); d.next() && d.at <= at; {
		last.frames++
		last.to = d.at
	}
	for i := range out.blocks {
		out.frames += out.blocks[i].frames
	}
	return out
}

// blockOf returns the index of the block with the newest frame at or before a time; -1 if
// there is none.
func (p *Past) blockOf(at int64) int {
	return sort.Search(len(p.blocks), func(i int) bool { return p.blocks[i].from > at }) - 1
}

// NetPoint is the oldest token of a whole net at one moment, outside of places in which tokens stay
// on purpose.
type NetPoint struct {
	At      int64 // microseconds since the Unix epoch
	Columns stats.Columns
	Oldest  int64 // as in stats.Place
}

// Net returns what is kept of the whole net, as Place does.
func (p *Past) Net() []NetPoint {
	var out []NetPoint
	p.walk(1<<colNet, func(d *reader) {
		if v := d.values[colNet]; len(v) > netOldest {
			out = append(out, NetPoint{d.at, d.columns, int64(v[netOldest])})
		}
	})
	return out
}

// PlacePoint is a place at one moment.
type PlacePoint struct {
	At      int64 // microseconds since the Unix epoch
	Columns stats.Columns
	Tokens  uint64
	Oldest  int64 // as in stats.Place
}

// TransitionPoint is a transition at one moment.
type TransitionPoint struct {
	At      int64
	Columns stats.Columns
	Firings uint64
	Running uint64
	Rate    float64 // of firings since the point before, a second; may be merge.UnknownRate
}

// Place returns what is kept of a place by its index: at most MaxPoints, spread
// evenly, including the youngest. Before a place was added to the net it has no
// points.
func (p *Past) Place(place int) []PlacePoint {
	var out []PlacePoint
	p.walk(1<<colTokens|1<<colOldest, func(d *reader) {
		if v := &d.values; place < len(v[colTokens]) {
			out = append(out, PlacePoint{d.at, d.columns, v[colTokens][place], int64(v[colOldest][place])})
		}
	})
	return out
}

// Transition returns what is kept of a transition, as Place does.
func (p *Past) Transition(transition int) []TransitionPoint {
	var out []TransitionPoint
	p.walk(1<<colFirings|1<<colRunning, func(d *reader) {
		if v := &d.values; transition < len(v[colFirings]) {
			x := TransitionPoint{d.at, d.columns, v[colFirings][transition], v[colRunning][transition], merge.UnknownRate}
			if last := len(out) - 1; last >= 0 {
				x.Rate = merge.RateBetween(out[last].Firings, x.Firings, x.At-out[last].At)
			}
			out = append(out, x)
		}
	})
	return out
}

// walk calls show for one frame of every 1, 2, 4, … up to blockFrames of each
// block. So of a long past only the first frames of blocks are read; of a still
// longer one some blocks are skipped. The youngest frame is always shown.
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

// points returns how many frames walk shows, without the youngest.
func points(blocks []block, every, skip int) int {
	n := 0
	for k := 0; k < len(blocks); k += skip {
		n += (blocks[k].frames + every - 1) / every
	}
	return n
}
