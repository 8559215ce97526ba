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
	// lateMost is what a longer gap counts for, and lateHalf after how long it
	// counts for half.
	lateMost = time.Second
	lateHalf = 10 * time.Second
	// goneTimes is how many times as long a member is silent until the others
	// share out what it has, and until partitions move to one that has come.
	goneTimes = 5
	// forgetAfter is how long a member is remembered that is gone.
	forgetAfter = time.Minute
)

// roster is who is there: the last beat of every member. It may be used by
// several goroutines; times are passed in.
type roster struct {
	mu      sync.Mutex
	members map[string]*member
	late    time.Duration // the longest gap, as it counted at
	lateAt  time.Time
}

type member struct {
	beat    *Beat
	since   time.Time // it is there without a break
	heard   time.Time
	byParts map[string]*BeatPart
}

func newRoster() *roster { return &roster{members: map[string]*member{}} }

// hear takes a beat.
func (r *roster) hear(b *Beat, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	m := r.members[b.Source]
	switch {
	case m == nil || m.beat.Started != b.Started:
		m = &member{since: now}
		r.members[b.Source] = m
	case now.Sub(m.heard) > r.goneAfter(now):
		m.since = now
		fallthrough
	default:
		if gap := min(now.Sub(m.heard), lateMost); gap > r.lateness(now) {
			r.late, r.lateAt = gap, now
		}
	}
	m.beat, m.heard, m.byParts = b, now, make(map[string]*BeatPart, len(b.Parts))
	for i := range b.Parts {
		m.byParts[b.Parts[i].Part] = &b.Parts[i]
	}
	for name, m := range r.members {
		if now.Sub(m.heard) > forgetAfter {
			delete(r.members, name)
		}
	}
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

// offers returns who may play a part and stays, sorted.
func (r *roster) offers(part string, now time.Time) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []string
	for name, m := range r.members {
		if now.Sub(m.heard) <= r.goneAfter(now) && !m.beat.Leaves && m.byParts[part] != nil {
			out = append(out, name)
		}
	}
	slices.Sort(out)
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
