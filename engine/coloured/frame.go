// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"cmp"
	"iter"
	"math"
	"slices"

	"github.com/pnagent/pnagent/petri"
)

// frame is one run of a scope of the net in an instance, with its tokens. It is open while
// it, or a frame inside of it, holds a token. The instance itself is the outermost frame.
type frame struct {
	piles piles
	*extent
	notes int32 // the first note of a transition that acts in it; none if there is none
	index int32 // of the instance, in the shard
}

// extent is what a frame is in its instance. All instances of a net that has no scopes and shares no
// variables have the same empty one.
type extent struct {
	up     *frame // nil of an instance
	number uint32 // in the order of opening; 0 of an instance
	scope  int32
	inside []*frame // the open frames that have it as up, oldest first
	closed bool

	changed, unsettled bool // it is in the list of frames that has this name

	loop  *series // of which its runs are inside; nil if there is none
	turn  int     // of a run of a loop: its number, from 0
	ended bool    // it is a run of a loop that is over, and is kept for compensation
	own   []byte  // the variables that it owns, as JSON: see scopes.view. It is never changed, only replaced
}

// newFrame returns a frame of a scope in another one, which holds nothing.
func newFrame(up *frame, scope int32, number uint32) *frame {
	f := &struct {
		frame
		extent extent
	}{frame{notes: none, index: up.index}, extent{up: up, scope: scope, number: number}}
	f.frame.extent = &f.extent
	return &f.frame
}

// frames are the open frames of an instance. What is done in an instance costs what changes in it,
// not what is open: thousands of runs of a loop may wait.
type frames struct {
	open      []*frame // oldest first
	changed   []*frame // those in which something may have become enabled since the last choice
	agenda    []activations
	unsettled []*frame // those in which a clock may have to start, see settle
	ripe      []int32  // notes of transitions that are held and whose time has come, the earliest first
	last      uint32   // the number of the latest
	noted     int32    // how many notes there are, of the instance and of all frames
	loud      int32    // how many of them are not clocks which run
}

// activations are the frames in which an immediate transition may be enabled, oldest first. One in
// which it is not leaves them until something changes in it.
type activations struct {
	t  int32
	in []*frame
}

// scopes are the runs of scopes of all instances, with their tokens and their variables.
type scopes struct {
	texts
	tables *petri.Tables
	frames []frames // by instance; nil if the net has no scopes
	shared bool     // the data of tokens are variables: see petri.Net.Shared
}

// maxFrames bounds the frames that an instance opens during its life.
const maxFrames = math.MaxUint32

// spot is a place in a frame.
type spot struct {
	place int32
	frame uint32
}

// opened returns the open frames of an instance.
func (s *scopes) opened(in *instance) []*frame {
	if s.frames == nil {
		return nil
	}
	return s.frames[in.index].open
}

// frame returns the open frame with a number, or the instance if none is open.
func (s *scopes) frame(in *instance, number uint32) *frame {
	if number != 0 {
		open := s.opened(in)
		if k, ok := find(open, number); ok {
			return open[k]
		}
	}
	return &in.frame
}

// find returns the index of the frame with a number in some, oldest first, or where it would be.
func find(frames []*frame, number uint32) (at int, ok bool) {
	return slices.BinarySearchFunc(frames, number, func(f *frame, n uint32) int { return cmp.Compare(f.number, n) })
}

// around returns the innermost frame, f or one around it, whose scope encloses that of a
// place. If both scopes are the same, the frame has the place for what happens in f;
// otherwise the frames of the place's scope inside of it have.
func (s *scopes) around(f *frame, place int32) *frame {
	for !s.tables.Encloses(f.scope, s.tables.ScopeOf(place)) {
		f = f.up
	}
	return f
}

// remove removes a frame from some. It moves those before it or those after it, whichever are fewer.
func remove(frames []*frame, f *frame) []*frame {
	k, _ := find(frames, f.number)
	if k < len(frames)/2 {
		copy(frames[1:], frames[:k])
		frames[0] = nil
		return frames[1:]
	}
	return slices.Delete(frames, k, k+1)
}

// within reports whether a frame is another one or inside of it.
func (f *frame) within(outer *frame) bool {
	for f != outer && f.up != nil {
		f = f.up
	}
	return f == outer
}

// actors yields the frames in which a transition can act, oldest first.
func (s *scopes) actors(in *instance, t int) iter.Seq[*frame] {
	scope := s.tables.ActsIn(t)
	return func(yield func(*frame) bool) {
		if scope == 0 {
			yield(&in.frame)
			return
		}
		for _, f := range s.opened(in) {
			if f.scope == scope && !yield(f) {
				return
			}
		}
	}
}

// each yields all frames of an instance, oldest first.
func (s *scopes) each(in *instance) iter.Seq[*frame] {
	return func(yield func(*frame) bool) {
		if !yield(&in.frame) {
			return
		}
		for _, f := range s.opened(in) {
			if !yield(f) {
				return
			}
		}
	}
}

// filled yields the piles of an instance with their frames, oldest frame first.
func (s *scopes) filled(in *instance) iter.Seq2[*frame, *pile] {
	return func(yield func(*frame, *pile) bool) {
		for f := range s.each(in) {
			for k := range f.piles {
				if !yield(f, &f.piles[k]) {
					return
				}
			}
		}
	}
}

// sees reports whether a transition that acts in f sees a spot.
func (s *scopes) sees(in *instance, f *frame, at spot) bool {
	return s.frames == nil || s.frame(in, at.frame).within(s.around(f, at.place))
}

// amount returns the number of tokens of a place that can be taken, and of all that a
// transition sees which acts in f.
func (s *scopes) amount(in *instance, f *frame, place int32) (available, total uint32) {
	if s.frames == nil {
		return in.piles.count(place)
	}
	home, scope := s.around(f, place), s.tables.ScopeOf(place)
	if home.scope == scope {
		return home.piles.count(place)
	}
	for g := range home.all {
		if g.scope == scope {
			a, n := g.piles.count(place)
			available, total = add(available, a), add(total, n)
		}
	}
	return available, total
}

// add adds numbers of tokens; the sum is at most the largest number.
func add(a, b uint32) uint32 { return uint32(min(uint64(a)+uint64(b), math.MaxUint32)) }

// pile returns the pile of a place of the scope of f, or of a scope around; nil if it holds no token.
func (s *scopes) pile(f *frame, place int32) *pile { return s.around(f, place).piles.pile(place) }

// marked yields the places that hold a token in f or inside of it.
func (f *frame) marked(yield func(place int32) bool) {
	for g := range f.all {
		for k := range g.piles {
			if !yield(g.piles[k].place) {
				return
			}
		}
	}
}

// aim returns the number of the frame into which a firing in f puts tokens of a place. It
// opens frames of scopes that f is not in; all tokens of a firing share them.
func (x *change) aim(f *frame, place int32) uint32 {
	if x.s.frames == nil {
		return 0
	}
	return x.enter(x.s.around(f, place), x.s.Tables.ScopeOf(place)).number
}

// enter returns the run of a scope that is another run, or that was entered from there; if there is
// none, it enters a new one.
func (x *change) enter(from *frame, scope int32) *frame {
	if from.scope == scope {
		return from
	}
	for _, f := range x.entered {
		if f.scope == scope {
			return f
		}
	}
	f := x.openFrame(x.enter(from, x.s.Tables.ScopeParent(scope)), scope, 0)
	x.entered = append(x.entered, f)
	return f
}

// openFrame opens a frame of a scope in another frame. turn is the number of the run if it is one of a loop.
func (x *change) openFrame(up *frame, scope int32, turn int) *frame {
	all := &x.s.frames[x.in.index]
	all.last++
	f := newFrame(up, scope, all.last)
	all.open = append(all.open, f)
	up.inside = append(up.inside, f)
	if q := f.of(); q != nil {
		f.turn = turn
		q.begun = max(q.begun, turn+1)
		if !x.s.isApart(scope) {
			f.own = q.own(turn, q.list).data()
		}
	}
	x.s.log.open(x.i, f)
	x.opens = append(x.opens, f)
	return f
}

// leave closes a frame without tokens, and those around that held nothing else.
func (s *Shard) leave(in *instance, f *frame) {
	for f.up != nil && !f.closed && len(f.piles) == 0 && len(f.inside) == 0 {
		f.closed = true
		for f.notes != none {
			s.notes.dropNote(in, f.notes)
		}
		all := &s.frames[in.index]
		all.open, f.up.inside = remove(all.open, f), remove(f.up.inside, f)
		f = f.up
	}
}

// framesLeft reports whether an instance can open the frames for a number of tokens.
func (s *scopes) framesLeft(in *instance, tokens uint64) bool {
	return s.frames == nil || tokens*uint64(s.tables.Scopes()) <= maxFrames-uint64(s.frames[in.index].last)
}

// unsettle has choose and settle look at a frame.
func (s *scopes) unsettle(in *instance, f *frame) {
	if f.up != nil && !f.changed {
		f.changed = true
		all := &s.frames[in.index]
		all.changed = append(all.changed, f)
	}
}

// activate puts the immediate transitions on the agenda that may have become enabled in frames of an
// instance, and returns that agenda. It has settle look at these frames.
func (s *Shard) activate(in *instance) []activations {
	all := &s.frames[in.index]
	for _, f := range all.changed {
		f.changed = false
		for k := range f.piles {
			for _, t := range s.Triggered[f.piles[k].place] {
				all.activate(t, f)
			}
		}
		if s.Timed && !f.unsettled {
			f.unsettled = true
			all.unsettled = append(all.unsettled, f)
		}
	}
	all.changed = all.changed[:0]
	all.agenda = slices.DeleteFunc(all.agenda, func(a activations) bool { return len(a.in) == 0 })
	return all.agenda
}

func (all *frames) activate(t int32, f *frame) {
	k := slices.IndexFunc(all.agenda, func(a activations) bool { return a.t == t })
	if k < 0 {
		k = len(all.agenda)
		all.agenda = append(all.agenda, activations{t: t})
	}
	a := &all.agenda[k]
	if at, ok := find(a.in, f.number); !ok {
		a.in = slices.Insert(a.in, at, f)
	}
}

// all yields a frame and those inside of it.
func (f *frame) all(yield func(*frame) bool) { f.walk(yield) }

func (f *frame) walk(yield func(*frame) bool) bool {
	return yield(f) && !slices.ContainsFunc(f.inside, func(g *frame) bool { return !g.walk(yield) })
}

// related calls do once for each frame in which a transition acts that may see a token which has
// changed, or a variable: the frames of these, and those around and inside. It reports false, and
// calls nothing, if it can be any frame.
func (x *change) related(do func(*frame)) bool {
	loud := !x.s.notes.quiet(x.in)
	of := make([]*frame, 0, 16)
	for _, at := range x.touched {
		f := x.s.frame(x.in, at.frame)
		switch inward := loud || x.s.inward[at.place]; {
		case x.s.wide[at.place] || inward && f.up == nil:
			return false
		case inward:
			of = slices.AppendSeq(of, f.all)
		}
		for ; f.up != nil; f = f.up {
			of = append(of, f)
		}
	}
	for _, w := range x.rewritten {
		if loud || x.s.asks {
			of = slices.AppendSeq(of, w.f.all)
		}
	}
	slices.SortFunc(of, func(f, g *frame) int { return cmp.Compare(f.number, g.number) })
	do(&x.in.frame)
	for _, f := range slices.Compact(of) {
		if f.up != nil {
			do(f)
		}
	}
	return true
}
