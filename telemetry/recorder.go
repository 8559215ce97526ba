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
	in     *sums        // of tokens injected, not yet seen by the source
	out    *sums        // of tokens taken
	ready  []enabledNow // by transition

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
	injectEvent = iota + 1
	takeEvent
	fireEvent
	enabledEvent

	kindBits = 3
)

// enabledNow is what was said last about a transition.
type enabledNow struct {
	n     uint32
	since int64
	said  uint64 // the number of the event; 0 for never
}

func newRecorder(places, transitions int) *Recorder {
	r := &Recorder{places: uint32(places), transitions: uint32(transitions)}
	for i := range r.halves {
		h := &r.halves[i]
		h.tally, h.in, h.out = stats.NewRecorder(places, transitions), newSums(places), newSums(places)
		h.ready = make([]enabledNow, transitions)
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
	r.tell(event{injected: injected, n: uint32(n), what: uint32(place)<<kindBits | injectEvent})
}

// Take tells that a firing took n tokens, injected at one time, out of a place at
// now. It is seen with the Inject or Fire that follows. A token that was never
// injected at that time is a stray: its departure counts, and no other token
// leaves in its stead.
func (r *Recorder) Take(place, n int, injected, now int64) {
	if uint(place) >= uint(r.places) || uint(n-1) >= maxTokens {
		r.strays.Add(1)
		return
	}
	r.note(event{injected: injected, now: now, n: uint32(n), what: uint32(place)<<kindBits | takeEvent})
}

// Remove is Take without a firing: it is seen at once.
func (r *Recorder) Remove(place, n int, injected, now int64) {
	r.Take(place, n, injected, now)
	r.half.tail.Store(r.at)
}

// Fire tells that a transition fired at now. It comes last, after Take and Inject
// of the tokens that it took and put.
func (r *Recorder) Fire(transition int, now int64) {
	if uint(transition) >= uint(r.transitions) {
		r.strays.Add(1)
		return
	}
	r.tell(event{now: now, what: uint32(transition)<<kindBits | fireEvent})
}

// Enabled tells in how many of the instances that this goroutine runs a
// transition is enabled now, and since when in the one that waits longest. It
// replaces what this Recorder said about the transition before. The column is
// absent until some transition was said to be enabled.
func (r *Recorder) Enabled(transition, n int, since int64) {
	if uint(transition) >= uint(r.transitions) || uint(n) > maxTokens {
		r.strays.Add(1)
		return
	}
	r.tell(event{now: since, n: uint32(n), what: uint32(transition)<<kindBits | enabledEvent})
}

// maxTokens is how many tokens one event may be about.
const maxTokens = 1<<32 - 1

// note writes an event that the next one makes visible.
func (r *Recorder) note(e event) {
	r.half.log[r.at%logSize] = e
	if r.at++; r.at == logSize {
		r.turn()
	}
}

// tell writes an event and makes it visible, and those before it.
func (r *Recorder) tell(e event) {
	h := r.half
	h.log[r.at%logSize] = e
	r.at++
	h.tail.Store(r.at)
	if r.at == logSize {
		r.turn()
	}
}

// turn counts what is in the full log, and empties it. If somebody reads this
// half now, it goes on with the other one, which nobody reads then.
func (r *Recorder) turn() {
	r.half.tail.Store(logSize)
	r.before += logSize
	r.at = 0
	other := &r.halves[0]
	if r.half == other {
		other = &r.halves[1]
	}
	for !r.half.restart(r.before) {
		if other.restart(r.before) {
			r.half = other
			return
		}
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
			h.in.add(index, sane(e.injected), uint64(e.n))
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
			h.ready[index] = enabledNow{e.n, sane(e.now), h.before + uint64(i) + 1}
		}
	}
	h.folded = tail
}

// sane returns a time that the wire takes.
func sane(t int64) int64 { return min(max(t, 1), MaxTime) }
