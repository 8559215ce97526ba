// SPDX-License-Identifier: Apache-2.0

package standby

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pnagent/pnagent/collector/standby/roster"
	"github.com/pnagent/pnagent/internal/natstest"
)

// pad is a fake of notes: a set of words that only grows.
type pad struct {
	mu     sync.Mutex
	words  []string
	all    int // times that it was asked for all
	member *Member
}

func (p *pad) text() string { p.mu.Lock(); defer p.mu.Unlock(); return strings.Join(p.words, "-") }

func (p *pad) notes() *Shared {
	return &Shared{
		Digest: p.text,
		Fold: func(page []byte) error {
			if string(page) == "bad" {
				return errors.New("bad")
			}
			p.mu.Lock()
			defer p.mu.Unlock()
			p.words = append(p.words, strings.Split(string(page), "-")...)
			slices.Sort(p.words)
			p.words = slices.Compact(p.words)
			return nil
		},
		ShareAll: func(bool) {
			p.mu.Lock()
			p.all++
			p.mu.Unlock()
			go p.member.ShareNotes([][]byte{[]byte(p.text())})
		},
	}
}

// note adds a word, and shares it.
func (p *pad) note(word string) {
	p.mu.Lock()
	p.words = append(p.words, word)
	slices.Sort(p.words)
	p.mu.Unlock()
	p.member.ShareNotes([][]byte{[]byte(word)})
}

func (p *pad) has(want string) func() error {
	return func() error {
		if got := p.text(); got != want {
			return fmt.Errorf("notes %q; want %q", got, want)
		}
		return nil
	}
}

func TestMembersShareNotesUntilTheyHaveTheSame(t *testing.T) {
	for name, keys := range map[string]Keys{"without keys": nil, "with a key": {[]byte(strings.Repeat("k", MinKey))}} {
		t.Run(name, func(t *testing.T) {
			natstest.Bubble(t, func(t *testing.T) {
				connect := startNATS(t)
				start := func(name string, words ...string) *pad {
					p := &pad{words: words}
					p.mu.Lock()
					defer p.mu.Unlock()
					p.member, _ = run(t, Config{Conn: connect(), Subject: "petrinet.v1.sidecars.test", Name: name, Keys: keys, Notes: p.notes()})
					return p
				}
				a, b := start("a", "early", "kept"), start("b", "other")
				until(t, "what each had before", a.has("early-kept-other"))
				until(t, "what each had before", b.has("early-kept-other"))
				time.Sleep(2 * roster.AskEvery)
				a.mu.Lock()
				all := a.all
				a.mu.Unlock()
				a.note("new")
				until(t, "a change is shared at once", b.has("early-kept-new-other"))
				b.mu.Lock()
				b.words = append(b.words, "unsent")
				b.mu.Unlock()
				until(t, "a change whose page was lost", a.has("early-kept-new-other-unsent"))
				time.Sleep(2 * roster.AskEvery)
				a.mu.Lock()
				defer a.mu.Unlock()
				if all != 1 || a.all > 2 {
					t.Errorf("all notes were sent %d times at the start, and %d times in all; want only where they differ", all, a.all)
				}
			})
		})
	}
}

func TestAPageOfNotesThatCannotBeReadIsCounted(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		connect := startNATS(t)
		p := &pad{}
		m, _ := run(t, Config{Conn: connect(), Subject: "petrinet.v1.sidecars.test", Notes: p.notes()})
		nc := connect()
		for _, page := range []string{"no line", `{"version":1,"id":"x"}` + "\nbad", `{"version":1,"id":"x"}` + "\ngood"} {
			publish(t, nc, "petrinet.v1.sidecars.test-notes", []byte(page))
		}
		until(t, "what can be read is taken", p.has("good"))
		if k := m.Counters().Rejected; k[roster.NotJSON] != 1 || k[roster.BadPage] != 1 {
			t.Errorf("rejected %v; want one of each", k)
		}
	})
}

func TestNotesAreSentWhereAnotherMemberHasOthersForLonger(t *testing.T) {
	now := time.UnixMicro(1)
	r := roster.New(roster.Message{ID: "a"}, 0, now)
	r.SetNotes("one")
	peer := func(notes string, after time.Duration) bool {
		now = now.Add(after)
		for _, m := range []roster.Message{{ID: "a"}, {ID: "b", Notes: notes}} {
			if _, err := r.Receive(m, now); err != nil {
				t.Fatal(err)
			}
		}
		r.Step(true, now)
		return r.NotesDiffer(now)
	}
	for i, c := range []struct {
		notes string
		after time.Duration
		want  bool
	}{
		{"one", roster.Interval, false},
		{"two", roster.Interval, false},
		{"two", roster.Interval, false},
		{"one", roster.Interval, false},
		{"two", roster.Interval, false},
		{"two", 3 * roster.Interval, true},
		{"two", roster.Interval, false},
		{"two", roster.AskEvery - roster.Interval, true},
		{"", roster.AskEvery, false},
	} {
		for rest := c.after; rest > roster.Interval; rest -= roster.Interval { // no pause
			now, c.after = now.Add(roster.Interval), c.after-roster.Interval
			r.Step(true, now)
		}
		if got := peer(c.notes, c.after); got != c.want {
			t.Errorf("message %d: %v; want %v", i, got, c.want)
		}
	}
}
