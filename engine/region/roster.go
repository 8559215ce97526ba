// SPDX-License-Identifier: Apache-2.0

package region

import (
	"maps"
	"math"
	"slices"
	"sync"
	"time"
)

// A member is suspected when it is silent for longer than beats are late at
// present. On overloaded machines a suspicion would only add load.
const (
	// suspectAfter is the shortest silence after which an owner is suspected.
	suspectAfter = 200 * time.Millisecond
	// lateTimes is how many times the longest recent gap between two beats of
	// any member an owner may be silent.
	lateTimes = 4
	// lateHalf is the time after which a gap counts for half. Beats of
	// overloaded machines are late repeatedly; one healed cut of the network
	// must not slow down later take-overs.
	lateHalf = 750 * time.Millisecond
	// receiving is how long, after one of its own beats came back, this member
	// counts as able to receive those of others.
	receiving = 2 * beatEvery
	// goneTimes is how many times as long a member must be silent until its
	// parts are assigned to others, and stay until partitions move to it.
	goneTimes = 5
	// forgetAfter is how long a member that is gone is remembered.
	forgetAfter = time.Minute
)

// roster holds the last beat of every member. It is safe for concurrent use;
// times are passed in.
//
// Lateness of other members is measured in present time, which passes only
// while this member receives its own beats. While it is cut off from NATS or
// its process is stopped, it receives no beats, which is no sign that the
// others are late.
type roster struct {
	changed func(*Beat) // called with each beat, without the lock

	mu      sync.Mutex
	self    string // this member
	again   bool   // this member accepts logs that have lost commits
	members map[string]*member
	known   map[string]Known // by part; see known.go
	passed  time.Duration    // present time up to the last beat of this member
	late    time.Duration    // the longest gap, as it counted at
	lateAt  time.Time
}

type member struct {
	beat    *Beat
	since   time.Time     // alive without a break since then
	last    time.Time     // of the last beat
	present time.Duration // of the last beat, in present time
	byParts map[string]*BeatPart
}

func newRoster(self string, again bool) *roster {
	return &roster{changed: func(*Beat) {}, self: self, again: again, members: map[string]*member{}, known: map[string]Known{}}
}

// receive records a beat.
func (r *roster) receive(b *Beat, now time.Time) {
	r.record(b, now)
	r.changed(b)
}

func (r *roster) record(b *Beat, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	m := r.members[b.Source]
	present := r.presentAt(now)
	switch {
	case m == nil || m.beat.Started != b.Started:
		m = &member{since: now}
		r.members[b.Source] = m
	case now.Sub(m.last) > r.goneAfter(now): // it was away, not late
		m.since = now
	case b.Source != r.self:
		if gap := present - m.present; gap > r.lateness(now) {
			r.late, r.lateAt = gap, now
		}
	}
	if b.Source == r.self {
		r.passed = present
	}
	m.beat, m.last, m.present, m.byParts = b, now, present, make(map[string]*BeatPart, len(b.Parts))
	for i := range b.Parts {
		m.byParts[b.Parts[i].Part] = &b.Parts[i]
	}
	r.learn(b)
	for name, m := range r.members {
		if now.Sub(m.last) > forgetAfter && name != r.self {
			delete(r.members, name)
		}
	}
}

// presentAt returns how much present time has passed; the caller holds mu.
func (r *roster) presentAt(now time.Time) time.Duration {
	me := r.members[r.self]
	if me == nil {
		return r.passed
	}
	return r.passed + min(max(now.Sub(me.last), 0), receiving)
}

// present returns the time of a clock that stops while this member does not
// receive its own beats.
func (r *roster) present(now time.Time) time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return time.Unix(0, int64(r.presentAt(now)))
}

// lateness returns the longest recent gap; the caller holds mu.
func (r *roster) lateness(now time.Time) time.Duration {
	return time.Duration(float64(r.late) * math.Exp2(-now.Sub(r.lateAt).Seconds()/lateHalf.Seconds()))
}

// silenceLimit returns how long an owner may be silent.
func (r *roster) silenceLimit(now time.Time) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.limit(now)
}

func (r *roster) limit(now time.Time) time.Duration {
	return max(suspectAfter, lateTimes*r.lateness(now))
}

// goneAfter returns how long a member may be silent until it counts as gone; the
// caller holds mu.
func (r *roster) goneAfter(now time.Time) time.Duration { return goneTimes * r.limit(now) }

// offers returns the members that may play a part, are not leaving and can read
// its log, in any order.
func (r *roster) offers(part string, now time.Time) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []string
	for name, m := range r.members {
		p := m.byParts[part]
		if p == nil || m.beat.Leaves || now.Sub(m.last) > r.goneAfter(now) || p.Role == Away && p.Stopped != "" && name != r.self {
			continue
		}
		out = append(out, name)
	}
	return out
}

// status is what a member last published about a part.
type status struct {
	BeatPart
	Source   string
	Since    time.Time // the member is alive since then
	LastBeat time.Time
}

// of returns what all members last published about a part, by name.
func (r *roster) of(part string, now time.Time) []status {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []status
	for _, name := range slices.Sorted(maps.Keys(r.members)) {
		m := r.members[name]
		if p := m.byParts[part]; p != nil && now.Sub(m.last) <= r.goneAfter(now) {
			out = append(out, status{BeatPart: *p, Source: name, Since: m.since, LastBeat: m.last})
		}
	}
	return out
}

// owner returns the last status of the owner of a part in the highest epoch.
func (r *roster) owner(part string, now time.Time) (best status, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ownerLocked(part, now)
}

func (r *roster) ownerLocked(part string, now time.Time) (best status, ok bool) {
	for name, m := range r.members {
		p := m.byParts[part]
		if p == nil || p.Role != Owner || p.Epoch <= best.Epoch || now.Sub(m.last) > r.goneAfter(now) {
			continue // only one member can own a part in one epoch
		}
		best = status{BeatPart: *p, Source: name, Since: m.since, LastBeat: m.last}
	}
	return best, best.Epoch > 0
}

// lastBeat returns the time of the last beat of a member; zero if there is none.
func (r *roster) lastBeat(source string) (at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if m := r.members[source]; m != nil {
		at = m.last
	}
	return at
}

// alive reports whether a member is not gone.
func (r *roster) alive(source string, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	m := r.members[source]
	return m != nil && now.Sub(m.last) <= r.goneAfter(now)
}
