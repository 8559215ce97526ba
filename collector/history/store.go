// SPDX-License-Identifier: Apache-2.0

package history

import (
	"cmp"
	"time"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/collector/merge"
)

// The defaults of Config.
const (
	DefaultSpan      = time.Hour
	DefaultBudget    = 64 << 20
	DefaultSightings = 20_000
)

// Steps returns the possible times between two frames, from fine to coarse.
func Steps() []time.Duration {
	const s = time.Second
	return []time.Duration{s, 2 * s, 5 * s, 10 * s, 15 * s, 30 * s, 60 * s}
}

// Config bounds a Store.
type Config struct {
	Span      time.Duration // how long frames are kept; 0 is DefaultSpan
	Budget    int64         // bytes of frames over all nets; 0 is DefaultBudget
	Sightings int           // over all nets; 0 is DefaultSightings
}

// Counters counts what a Store keeps, and what it left out.
type Counters struct {
	Bytes     int64  // of frames and moments, now
	Frames    int    // over all nets, now
	Passed    uint64 // Views of a net that arrived before a step was over
	Dropped   uint64 // frames dropped before the span was over, for lack of room
	Moments   int    // now
	Lost      uint64 // moments dropped before the span was over, for lack of room
	Sightings int    // now
	Forgotten uint64 // sightings dropped early or not recorded, for lack of room
}

// Store keeps the frames and moments of the last hour. Its methods may be called by one
// goroutine, or by many readers while none calls Add.
type Store struct {
	cfg      Config
	steps    []time.Duration
	step     int // index of steps
	nets     map[string]*ring
	now      int64 // of the last View
	kept     int64 // of the last View that was kept
	adds     int
	calm     int // frames in a row for which a finer step would fit
	counters Counters
	seen     sightings
	moments  moments
}

// New returns an empty Store.
func New(cfg Config) *Store {
	cfg.Span = cmp.Or(max(cfg.Span, 0), DefaultSpan)
	cfg.Budget = cmp.Or(max(cfg.Budget, 0), DefaultBudget)
	cfg.Sightings = cmp.Or(max(cfg.Sightings, 0), DefaultSightings)
	return &Store{cfg: cfg, steps: Steps(), nets: map[string]*ring{}, seen: newSightings(cfg.Sightings), moments: newMoments()}
}

// Step returns the time between two frames that are kept from now on.
func (s *Store) Step() time.Duration { return s.steps[s.step] }

// Extent returns the times of the oldest and the youngest frame of any net, in
// microseconds since the Unix epoch; 0 if there is none.
func (s *Store) Extent() (from, to int64) {
	for _, r := range s.nets {
		if len(r.blocks) == 0 {
			continue
		}
		if first := r.blocks[0].from; from == 0 || first < from {
			from = first
		}
		to = max(to, r.at)
	}
	return from, to
}

// Counters returns the current counters.
func (s *Store) Counters() Counters {
	c := s.counters
	c.Bytes, c.Moments = s.moments.bytes(), len(s.moments.times)
	for _, r := range s.nets {
		c.Bytes += r.bytes()
		c.Frames += r.frames
	}
	c.Sightings, c.Forgotten = len(s.seen.all), s.seen.forgotten
	return c
}

// early is how long before the end of a step a View is still kept: ticks are not
// exact to the microsecond.
const early = 100_000

// Add adds a View. Its time is view.At, and must rise; a View that is too early is
// left out. The alarms have the places in which tokens may stay.
func (s *Store) Add(view *merge.View, alarms *alarm.ActiveSet) {
	if s.kept != 0 && view.At < s.kept+s.Step().Microseconds()-early {
		s.counters.Passed += uint64(len(view.Nets))
		s.now = max(s.now, view.At)
		return
	}
	s.now, s.kept = view.At, view.At
	for _, n := range view.Nets {
		r := s.nets[n.Name]
		if r == nil || !extends(n, &r.rows) {
			if r != nil {
				s.seen.drop(n.Name)
			}
			r = &ring{}
			s.nets[n.Name] = r
		}
		r.rows.Def = n.Def
		r.add(n, alarms, view.At, s.cfg.Span.Microseconds()/spanBlocks)
	}
	s.moments.add(view)
	s.seen.look(view)
	s.pace()
	s.forget()
}

// Note sets the active alarms and the silences of the last View, if it was kept.
func (s *Store) Note(set *alarm.ActiveSet) {
	if s.kept != 0 && s.kept == s.now {
		s.moments.note(set)
		s.forget()
	}
}

// extends reports whether a net has all rows of another one at their indices. It does not
// if rows left the View, or came back.
func extends(n, last *merge.NetView) bool {
	def, before := n.Def, last.Def
	if def == before {
		return true
	}
	if len(def.Places) < len(before.Places) || len(def.Transitions) < len(before.Transitions) {
		return false
	}
	for i := range before.Places {
		if def.Places[i].ID != before.Places[i].ID {
			return false
		}
	}
	for i := range before.Transitions {
		if def.Transitions[i].ID != before.Transitions[i].ID {
			return false
		}
	}
	return true
}

// spanBlocks is the least number of blocks in the span. Frames older than the span
// are dropped by blocks, so up to one block more is kept.
const spanBlocks = 16

// forget drops what is older than the span, and then what exceeds the budget.
func (s *Store) forget() {
	since := s.now - s.cfg.Span.Microseconds()
	total := s.moments.bytes()
	for name, r := range s.nets {
		r.forget(since)
		if len(r.blocks) == 0 {
			delete(s.nets, name)
			continue
		}
		total += r.bytes()
	}
	if s.adds++; s.seen.full || s.adds%blockFrames == 0 {
		s.seen.sweep(since)
	}
	if from, _ := s.Extent(); from != 0 {
		since = min(since, from) // a block has frames from before the span
	}
	total -= s.moments.bytes()
	s.moments.forget(since)
	total += s.moments.bytes()
	for total > s.cfg.Budget {
		freed := s.drop()
		if freed == 0 {
			break
		}
		total -= freed
	}
}

// drop drops the oldest block of frames and what the moments before it need, and returns
// how many bytes it freed.
func (s *Store) drop() (freed int64) {
	freed = s.moments.bytes()
	from := s.now
	if name, oldest := s.oldest(); oldest != nil {
		freed += oldest.bytes()
		s.counters.Dropped += uint64(oldest.drop())
		if len(oldest.blocks) == 0 {
			delete(s.nets, name)
		} else {
			freed -= oldest.bytes()
		}
		from, _ = s.Extent()
	}
	s.counters.Lost += uint64(s.moments.forget(from))
	return freed - s.moments.bytes()
}

// oldest returns the net with the oldest frame; of several, the first by name.
func (s *Store) oldest() (name string, r *ring) {
	for n, o := range s.nets {
		if r == nil || o.blocks[0].from < r.blocks[0].from || o.blocks[0].from == r.blocks[0].from && n < name {
			name, r = n, o
		}
	}
	return name, r
}

// calmFrames is how many frames in a row must fit a finer step before it is
// chosen.
const calmFrames = 8 * blockFrames

// pace makes the step coarser if a span of frames like the latest would not fit,
// and finer if it would fit easily.
func (s *Store) pace() {
	switch {
	case s.step < len(s.steps)-1 && s.need(s.step) > s.cfg.Budget:
		s.step++
		s.calm = 0
	case s.step > 0 && s.need(s.step-1) < s.cfg.Budget/2:
		if s.calm++; s.calm >= calmFrames {
			s.step--
			s.calm = 0
		}
	default:
		s.calm = 0
	}
}

// need returns the number of bytes of a span of frames like the latest, at a step.
func (s *Store) need(step int) int64 {
	perBlock := min(blockFrames, max(1, int(s.cfg.Span/spanBlocks/s.steps[step])))
	var frame, fixed int64
	for _, r := range s.nets {
		frame += r.average(perBlock)
		fixed += r.fixed()
	}
	frames := int64(s.cfg.Span / s.steps[step])
	// The first moments have many changes: sources appear. They are spread over a quarter of the span.
	changes := s.moments.differences() / max(int64(len(s.moments.times)), frames/4, 1)
	return (frame+changes)*frames + fixed + s.moments.fixed()
}
