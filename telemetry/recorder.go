// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"sync"
	"sync/atomic"

	"github.com/pnagent/pnagent/stats"
)

// Recorder records the tokens and firings of one goroutine of an engine. A call
// writes one event into a log in memory: a few nanoseconds, no lock, no
// allocation, no system call, no wait. A token may be injected by one Recorder
// and taken by another, if Inject is called before the token can be taken.
//
// Places and transitions are indices as [Source.Place] and [Source.Transition]
// return them; times are microseconds since the Unix epoch. An invalid event
// (an index outside of the net, no tokens) changes nothing and counts as a
// stray.
//
// A Recorder belongs to one goroutine at a time. It takes about 7 kB a place,
// so use one for each goroutine that fires, not one for each instance.
type Recorder struct {
	places, transitions uint32

	// Used by the goroutine that records.
	half   *half
	at     uint32 // events in its log
	before uint64 // events in earlier logs

	strays atomic.Uint64
	halves [2]half
}

// half is a log and the counts from earlier logs. The goroutine that records
// writes into the log of one half; the reader holds the lock of at most one
// half. So when a log is full, the goroutine always finds a half to continue
// with: it tries locks, and never waits for one.
type half struct {
	tail atomic.Uint32 // events in the log; written by the goroutine that records

	mu     sync.Mutex
	folded uint32 // events of the log that are already counted
	before uint64
	tally  *stats.Recorder
	in     *sums        // of injected tokens that the source has not read
	out    *sums        // of taken tokens
	ready  []enabledNow // by transition

	log [logSize]event
}

// logSize keeps two logs within the first-level caches, and makes a change of logs rare.
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

// enabledNow is the last report about a transition.
type enabledNow struct {
	n     uint32
	since int64
	event uint64 // its number; 0 for never
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

// Inject records that n tokens were put into a place, at a time. Record tokens
// that were there before the engine started with the time of their arrival.
func (r *Recorder) Inject(place, n int, injected int64) {
	if uint(place) >= uint(r.places) || uint(n-1) >= maxTokens {
		r.strays.Add(1)
		return
	}
	r.publish(event{injected: injected, n: uint32(n), what: uint32(place)<<kindBits | injectEvent})
}

// Take records that a firing took n tokens, injected at one time, out of a
// place at now. It becomes visible with the Inject or Fire that follows. A
// token that was never injected at that time is a stray: its departure counts,
// and no other token is removed for it.
func (r *Recorder) Take(place, n int, injected, now int64) {
	if uint(place) >= uint(r.places) || uint(n-1) >= maxTokens {
		r.strays.Add(1)
		return
	}
	r.note(event{injected: injected, now: now, n: uint32(n), what: uint32(place)<<kindBits | takeEvent})
}

// Remove is Take without a firing: it becomes visible at once.
func (r *Recorder) Remove(place, n int, injected, now int64) {
	r.Take(place, n, injected, now)
	r.half.tail.Store(r.at)
}

// Fire records that a transition fired at now. Call it last, after Take and
// Inject of the tokens that it took and put.
func (r *Recorder) Fire(transition int, now int64) {
	if uint(transition) >= uint(r.transitions) {
		r.strays.Add(1)
		return
	}
	r.publish(event{now: now, what: uint32(transition)<<kindBits | fireEvent})
}

// Enabled records in how many of this goroutine's instances a transition is
// enabled, and since when in the instance that waits longest. It replaces this
// Recorder's last report about the transition. The column is absent until a
// transition is reported as enabled.
func (r *Recorder) Enabled(transition, n int, since int64) {
	if uint(transition) >= uint(r.transitions) || uint(n) > maxTokens {
		r.strays.Add(1)
		return
	}
	r.publish(event{now: since, n: uint32(n), what: uint32(transition)<<kindBits | enabledEvent})
}

// maxTokens is the largest number of tokens in one event.
const maxTokens = 1<<32 - 1

// note writes an event that the next one makes visible.
func (r *Recorder) note(e event) {
	r.half.log[r.at%logSize] = e
	if r.at++; r.at == logSize {
		r.turn()
	}
}

// publish writes an event and makes it and those before it visible.
func (r *Recorder) publish(e event) {
	h := r.half
	h.log[r.at%logSize] = e
	r.at++
	h.tail.Store(r.at)
	if r.at == logSize {
		r.turn()
	}
}

// turn counts the events of the full log and empties it. If the source is
// reading this half, it continues with the other one, which is then not being
// read.
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

// restart empties the log of a half, unless the source is reading it.
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

// fold counts the events that are not counted yet. The caller holds the lock.
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

// sane returns t, limited to the times that the wire allows.
func sane(t int64) int64 { return min(max(t, 1), MaxTime) }
