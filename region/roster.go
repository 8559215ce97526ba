// SPDX-License-Identifier: Apache-2.0

package region

import (
	"maps"
	"slices"
	"sync"
	"time"
)

// goneAfter is how long a member may be silent before the others share out
// what it has.
const goneAfter = time.Second

// roster is who is there: the last beat of every member. It may be used by
// several goroutines; times are passed in.
type roster struct {
	mu      sync.Mutex
	members map[string]*member
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
	if m == nil {
		m = &member{since: now}
		r.members[b.Source] = m
	}
	m.beat, m.heard, m.byParts = b, now, make(map[string]*BeatPart, len(b.Parts))
	for i := range b.Parts {
		m.byParts[b.Parts[i].Part] = &b.Parts[i]
	}
	for name, m := range r.members {
		if now.Sub(m.heard) > goneAfter {
			delete(r.members, name)
		}
	}
}

// offers returns who may play a part and stays, sorted.
func (r *roster) offers(part string, now time.Time) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []string
	for name, m := range r.members {
		if now.Sub(m.heard) <= goneAfter && !m.beat.Leaves && m.byParts[part] != nil {
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
		if p := m.byParts[part]; p != nil && now.Sub(m.heard) <= goneAfter {
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
		if p == nil || p.Role != Owner || p.Epoch <= best.Epoch || now.Sub(m.heard) > goneAfter {
			continue // only one member can own a part in one epoch
		}
		best = said{BeatPart: *p, Source: name, Since: m.since, Heard: m.heard}
	}
	return best, best.Epoch > 0
}

// hears reports whether a member is there.
func (r *roster) hears(source string, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	m := r.members[source]
	return m != nil && now.Sub(m.heard) <= goneAfter
}
