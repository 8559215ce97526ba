// SPDX-License-Identifier: Apache-2.0

package region

import (
	"maps"
	"math"
	"slices"
	"sync"
	"time"
)

// A member is suspected when it is silent for longer than beats are late these
// days: on machines that have too much to do, a suspicion would only give them
// more.
const (
	// suspectAfter is how long at least nothing may be heard of an owner.
	suspectAfter = 200 * time.Millisecond
	// lateTimes is how many times the longest gap between two beats of any one
	// member, of those that were heard lately, nothing may be heard of an owner.
	lateTimes = 4
	// lateHalf is after how long a gap counts for half. Machines that have too much
	// to do are late again and again; one cut of the network that has healed must
	// not slow the take-overs after it.
	lateHalf = 750 * time.Millisecond
	// hearsItself is for how long one beat of this member that came back counts as
	// time in which it was able to hear the others.
	hearsItself = 2 * beatEvery
	// goneTimes is how many times as long a member is silent until the others
	// share out what it has, and until partitions move to one that has come.
	goneTimes = 5
	// forgetAfter is how long a member is remembered that is gone.
	forgetAfter = time.Minute
)

// roster is who is there: the last beat of every member. It may be used by
// several goroutines; times are passed in.
//
// Whether another member is late is measured in present time, which passes only
// while this member hears its own beats. While it is cut off from NATS, or its
// process is stopped, it hears nothing of the others, and that says nothing about
// them.
type roster struct {
	mu      sync.Mutex
	self    string // this member
	members map[string]*member
	passed  time.Duration // present time up to the last beat of this member
	late    time.Duration // the longest gap, as it counted at
	lateAt  time.Time
}

type member struct {
	beat    *Beat
	since   time.Time // it is there without a break
	heard   time.Time
	present time.Duration // when it was heard, in present time
	byParts map[string]*BeatPart
}

func newRoster(self string) *roster { return &roster{self: self, members: map[string]*member{}} }

// hear takes a beat.
func (r *roster) hear(b *Beat, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	m := r.members[b.Source]
	present := r.presentAt(now)
	switch {
	case m == nil || m.beat.Started != b.Started:
		m = &member{since: now}
		r.members[b.Source] = m
	case now.Sub(m.heard) > r.goneAfter(now): // it was away, not late
		m.since = now
	case b.Source != r.self:
		if gap := present - m.present; gap > r.lateness(now) {
			r.late, r.lateAt = gap, now
		}
	}
	if b.Source == r.self {
		r.passed = present
	}
	m.beat, m.heard, m.present, m.byParts = b, now, present, make(map[string]*BeatPart, len(b.Parts))
	for i := range b.Parts {
		m.byParts[b.Parts[i].Part] = &b.Parts[i]
	}
	for name, m := range r.members {
		if now.Sub(m.heard) > forgetAfter && name != r.self {
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
	return r.passed + min(max(now.Sub(me.heard), 0), hearsItself)
}

// present returns the time of a clock that stands still while this member does
// not hear itself.
func (r *roster) present(now time.Time) time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return time.Unix(0, int64(r.presentAt(now)))
}

// lateness is the longest gap that was heard lately; the caller holds mu.
func (r *roster) lateness(now time.Time) time.Duration {
	return time.Duration(float64(r.late) * math.Exp2(-now.Sub(r.lateAt).Seconds()/lateHalf.Seconds()))
}

// patience is how long nothing may be heard of an owner.
func (r *roster) patience(now time.Time) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.patient(now)
}

func (r *roster) patient(now time.Time) time.Duration {
	return max(suspectAfter, lateTimes*r.lateness(now))
}

// goneAfter is how long a member may be silent until it is gone; the caller
// holds mu.
func (r *roster) goneAfter(now time.Time) time.Duration { return goneTimes * r.patient(now) }

// offers returns who may play a part and stays, in any order.
func (r *roster) offers(part string, now time.Time) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []string
	for name, m := range r.members {
		if now.Sub(m.heard) <= r.goneAfter(now) && !m.beat.Leaves && m.byParts[part] != nil {
			out = append(out, name)
		}
	}
	return out
}

// said is what a member last said of a part.
type said struct {
	BeatPart
	Source string
	Since  time.Time // the member is there
	Heard  time.Time
}

// of returns what all members last said of a part, by name.
func (r *roster) of(part string, now time.Time) []said {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []said
	for _, name := range slices.Sorted(maps.Keys(r.members)) {
		m := r.members[name]
		if p := m.byParts[part]; p != nil && now.Sub(m.heard) <= r.goneAfter(now) {
			out = append(out, said{BeatPart: *p, Source: name, Since: m.since, Heard: m.heard})
		}
	}
	return out
}

// owner returns what the owner of a part with the highest epoch last said.
func (r *roster) owner(part string, now time.Time) (best said, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for name, m := range r.members {
		p := m.byParts[part]
		if p == nil || p.Role != Owner || p.Epoch <= best.Epoch || now.Sub(m.heard) > r.goneAfter(now) {
			continue // only one member can own a part in one epoch
		}
		best = said{BeatPart: *p, Source: name, Since: m.since, Heard: m.heard}
	}
	return best, best.Epoch > 0
}

// heard returns when a member was last heard; zero if it never was.
func (r *roster) heard(source string) (at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if m := r.members[source]; m != nil {
		at = m.heard
	}
	return at
}

// hears reports whether a member is there.
func (r *roster) hears(source string, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	m := r.members[source]
	return m != nil && now.Sub(m.heard) <= r.goneAfter(now)
}
