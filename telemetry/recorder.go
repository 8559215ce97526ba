// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"sync"
	"sync/atomic"

	"github.com/pnagent/pnagent/stats"
)

// Recorder is what one goroutine of an engine tells of its tokens and firings.
// A call writes one event into a log in memory: a few nanoseconds, no lock, no
// allocation, no system call, and nothing to wait for, whatever NATS does. A
// token may be injected by one Recorder and taken by another, so long as Inject
// was called before the token can be taken.
//
// Places and transitions are indices as [Source.Place] and [Source.Transition]
// return them, times are microseconds since the Unix epoch. What makes no
// sense (an index outside of the net, no tokens) changes nothing and is counted
// as a stray.
//
// A Recorder belongs to one goroutine at a time. It takes about 7 kB a place, so
// there is one for each goroutine that fires, not one for each instance.
type Recorder struct {
	places, transitions uint32

	// Of the goroutine that records.
	half   *half
	at     uint32 // events in its log
	before uint64 // events in the logs before
	full   chan<- struct{}

	strays atomic.Uint64
	halves [2]half
}

// half is a log and what was counted from former logs. The owner of the Recorder
// writes into the log of one half; who reads holds the lock of at most one. So
// the owner, when its log is full, always finds a half that it can go on with:
// it tries locks, and never waits for one.
type half struct {
	tail atomic.Uint32 // events in the log; written by the owner

	mu     sync.Mutex
	folded uint32 // events of the log that are counted already
	before uint64
	tally  *stats.Recorder
	in     *sums // of tokens injected, not yet seen by the source
	out    *sums // of tokens taken
	last   []int64
	idle   []enabledNow // by transition; nil before the first

	log [logSize]event
}

// logSize keeps two logs within the first-level caches, and makes changing from
// one to the other rare enough to cost nothing.
const logSize = 512

type event struct {
	injected, now int64
	n             uint32
	what          uint32 // kind in the low bits, then the index
}

const (
	injectEvent = iota
	takeEvent
	fireEvent
	enabledEvent

	kindBits = 2
)

// enabledNow is what was said last about a transition.
type enabledNow struct {
	n     uint32
	since int64
	said  uint64 // the number of the event; 0 for never
}

func newRecorder(places, transitions int, full chan<- struct{}) *Recorder {
	r := &Recorder{places: uint32(places), transitions: uint32(transitions), full: full}
	for i := range r.halves {
		h := &r.halves[i]
		h.tally, h.in, h.out, h.last = stats.NewRecorder(places, transitions), newSums(), newSums(), make([]int64, places)
	}
	r.half = &r.halves[0]
	return r
}

// Inject tells that n tokens were put into a place, at a time. Tokens that were
// there before the engine started are told with the time when they came.
func (r *Recorder) Inject(place, n int, injected int64) {
	if uint(place) >= uint(r.places) || uint(n-1) >= maxTokens {
		r.strays.Add(1)
		return
	}
	r.put(event{injected: injected, n: uint32(n), what: uint32(place)<<kindBits | injectEvent})
}

// Take tells that n tokens, injected at one time, were taken out of a place at
// now. A token that was never injected at that time is a stray: its departure
// counts, and no other token leaves in its stead.
func (r *Recorder) Take(place, n int, injected, now int64) {
	if uint(place) >= uint(r.places) || uint(n-1) >= maxTokens {
		r.strays.Add(1)
		return
	}
	r.put(event{injected: injected, now: now, n: uint32(n), what: uint32(place)<<kindBits | takeEvent})
}

// Fire tells that a transition fired at now. The tokens that it took and put are
// told with Take and Inject.
func (r *Recorder) Fire(transition int, now int64) {
	if uint(transition) >= uint(r.transitions) {
		r.strays.Add(1)
		return
	}
	r.put(event{now: now, what: uint32(transition)<<kindBits | fireEvent})
}

// Enabled tells in how many of the instances that this goroutine runs a
// transition is enabled now, and since when in the one that waits longest. It
// replaces what this Recorder said about the transition before. The column is
// shown once any Recorder has said anything.
func (r *Recorder) Enabled(transition, n int, since int64) {
	if uint(transition) >= uint(r.transitions) || uint(n) > maxTokens {
		r.strays.Add(1)
		return
	}
	r.put(event{now: since, n: uint32(n), what: uint32(transition)<<kindBits | enabledEvent})
}

// maxTokens is how many tokens one event may be about.
const maxTokens = 1<<32 - 1

func (r *Recorder) put(e event) {
	h := r.half
	h.log[r.at%logSize] = e
	r.at++
	h.tail.Store(r.at)
	if r.at == logSize {
		r.turn()
	}
}

// turn gives the owner an empty log: that of the other half, if nobody reads it,
// else its own. As a rule the other one was counted already, by the source.
func (r *Recorder) turn() {
	r.before += logSize
	other := &r.halves[0]
	if r.half == other {
		other = &r.halves[1]
	}
	for !other.restart(r.before) {
		if r.half.restart(r.before) {
			r.at = 0
			return
		}
	}
	r.half, r.at = other, 0
	select {
	case r.full <- struct{}{}:
	default:
	}
}

// restart empties the log of a half, unless somebody reads it.
func (h *half) restart(before uint64) bool {
	if !h.mu.TryLock() {
		return false
	}
	defer h.mu.Unlock()
	h.fold()
	h.folded, h.before = 0, before
	h.tail.Store(0)
	return true
}

// fold counts what is in the log and not counted yet. The caller has the lock.
func (h *half) fold() {
	tail := h.tail.Load()
	for i := h.folded; i < tail; i++ {
		e := &h.log[i]
		switch index := int(e.what >> kindBits); e.what & (1<<kindBits - 1) {
		case injectEvent:
			t := sane(e.injected)
			h.last[index] = max(h.last[index], t)
			h.in.add(index, t, uint64(e.n))
		case takeEvent:
			t := sane(e.injected)
			if e.n == 1 {
				h.tally.Left(index, 0, t, sane(e.now))
			} else {
				h.tally.LeftMany(index, 0, t, sane(e.now), uint64(e.n))
			}
			h.out.add(index, t, uint64(e.n))
		case fireEvent:
			h.tally.Fired(index, sane(e.now))
		case enabledEvent:
			h.enabled(index, enabledNow{e.n, sane(e.now), h.before + uint64(i) + 1})
		}
	}
	h.folded = tail
}

func (h *half) enabled(transition int, now enabledNow) {
	if h.idle == nil {
		h.idle = make([]enabledNow, cap(h.idle))
	}
	h.idle[transition] = now
}

// sane returns a time that the wire takes.
func sane(t int64) int64 { return min(max(t, 1), MaxTime) }
