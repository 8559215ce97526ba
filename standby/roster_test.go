// SPDX-License-Identifier: Apache-2.0

package standby

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// space is a subject space in which time is made: sidecars that hear each other
// at once, unless they are cut off or stopped.
type space struct {
	t       *testing.T
	now     time.Time
	members []*simulated // in the order of their starts
	starts  int
}

type simulated struct {
	name                    string
	roster                  *Roster
	dead, cut, down, paused bool
	waiting                 []Message // while it is stopped

	// What package alarm does: changes by when this sidecar sees them.
	due  map[int]time.Time
	kept map[int]time.Time
	told map[int]bool
	good time.Time // since when nothing is wrong with it; in the far future while something is
}

func newSpace(t *testing.T) *space { return &space{t: t, now: time.Unix(1e9, 0)} }

func (s *space) start(name string, priority int, settle time.Duration) {
	s.starts++
	id := fmt.Sprintf("%04d-%s", s.starts, name)
	s.members = append(s.members, &simulated{name: name, good: s.now, due: map[int]time.Time{}, kept: map[int]time.Time{}, told: map[int]bool{},
		roster: NewRoster(Message{ID: id, Name: name, Priority: uint8(priority)}, settle, s.now)})
}

// member is the one of a name that lives.
func (s *space) member(name string) *simulated {
	for _, m := range s.members {
		if m.name == name && !m.dead {
			return m
		}
	}
	s.t.Fatalf("there is no sidecar %s", name)
	return nil
}

func (s *space) publish(from *simulated, msg *Message) {
	if msg == nil || from.cut {
		return
	}
	for _, m := range s.members {
		switch {
		case m.dead || m.cut:
		case m.paused:
			m.waiting = append(m.waiting, *msg)
		default:
			s.hear(m, *msg)
		}
	}
}

func (s *space) hear(m *simulated, msg Message) {
	isNew, err := m.roster.Hear(msg, s.now)
	if err != nil {
		s.t.Fatal(err)
	}
	if isNew {
		s.publish(m, m.roster.Speak(s.now))
	}
	s.publish(m, m.roster.Step(!m.down, s.now))
}

// run lets time pass.
func (s *space) run(d time.Duration) {
	for end := s.now.Add(d); s.now.Before(end); {
		s.now = s.now.Add(stepEvery)
		for _, m := range s.members {
			if m.dead || m.paused {
				continue
			}
			if len(m.waiting) > 0 { // a ticker may come before what waits
				s.publish(m, m.roster.Step(!m.down, s.now))
				for _, msg := range m.waiting {
					s.hear(m, msg)
				}
				m.waiting = nil
			}
			s.publish(m, m.roster.Step(!m.down, s.now))
			s.tell(m)
		}
	}
}

// tell does what package alarm does.
func (s *space) tell(m *simulated) {
	for change, at := range m.due {
		if !m.cut && !at.After(s.now) {
			m.kept[change] = s.now
			delete(m.due, change)
		}
	}
	state := m.roster.State()
	if !state.OnDuty {
		return
	}
	for change, at := range m.kept {
		delete(m.kept, change)
		if fresh := at.Equal(s.now); !m.down && (fresh || !at.Before(state.From) && s.now.Sub(at) <= 30*time.Second) {
			m.told[change] = true
		}
	}
}

func (s *space) duty() string {
	var on []string
	for _, m := range s.members {
		if !m.dead && !m.paused && m.roster.State().OnDuty {
			on = append(on, m.name)
		}
	}
	if on == nil {
		return "nobody"
	}
	return strings.Join(on, " and ")
}

// do is one sentence of a story.
func (s *space) do(sentence string) {
	words := strings.Fields(sentence)
	switch verb := words[0]; verb {
	case "start":
		priority, err := strconv.Atoi(words[2])
		if err != nil {
			s.t.Fatal(err)
		}
		s.start(words[1], priority, 30*time.Second)
	case "after":
		d, err := time.ParseDuration(words[1])
		if err != nil {
			s.t.Fatal(err)
		}
		s.run(d)
		if want := strings.Join(words[2:], " "); s.duty() != want {
			s.t.Errorf("%s: %s", sentence, s.duty())
		}
	default:
		s.befall(s.member(words[1]), verb)
	}
}

// befall is what happens to a sidecar.
func (s *space) befall(m *simulated, what string) {
	switch what {
	case "kill":
		m.dead = true
	case "stop":
		s.publish(m, m.roster.Bye())
		m.dead = true
	case "cut":
		m.cut = true
	case "heal":
		m.cut = false
	case "down":
		m.down = true
	case "up":
		m.down = false
	case "pause":
		m.paused = true
	case "resume":
		m.paused = false
	default:
		s.t.Fatalf("what is %q?", what)
	}
	m.good = s.now
	if m.dead || m.cut || m.down || m.paused {
		m.good = s.now.Add(1e6 * time.Hour)
	}
}

func TestWhoIsOnDuty(t *testing.T) {
	for _, c := range []struct{ rule, story string }{
		{"one alone listens first",
			"start a 100; after 2.9s nobody; after 700ms a"},
		{"of those that start together the one that started first is on duty, and then the lower number",
			"start b 127; start a 100; after 5s b; after 24s b; after 2s a; after 1m a"},
		{"of equal numbers the one that started first",
			"start a 100; start b 100; after 5s a; kill a; after 4s b; start a 100; after 1m b"},
		{"one that is silent is replaced",
			"start a 100; start b 127; after 5s a; kill a; after 2.4s nobody; after 1.5s b"},
		{"one that ends hands over at once",
			"start a 100; start b 127; after 5s a; stop a; after 100ms b"},
		{"a primary that returns waits until it has settled",
			"start a 100; start b 127; after 5s a; kill a; after 5s b; start a 100; after 29s b; after 1100ms a"},
		{"a stand-by that starts first keeps the duty until the primary has settled",
			"start b 127; after 10s b; start a 100; after 29s b; after 1100ms a; after 1m a"},
		{"one whose faces are down hands over at once, and takes back at once",
			"start a 100; start b 127; after 5s a; down a; after 100ms b; up a; after 100ms a"},
		{"of those whose faces are down the first is better than nobody",
			"start a 100; start b 127; after 5s a; down a; after 100ms b; down b; after 200ms a"},
		{"of three the next one follows",
			"start a 1; start b 2; start c 3; after 5s a; kill a; after 4s b; stop b; after 100ms c"},
		{"NATS down for some seconds changes nothing while it is down",
			"start a 100; start b 127; after 1m a; cut a; cut b; after 9s a; heal a; heal b; after 4s a; after 1m a"},
		{"who hears nothing for longer cannot know",
			"start a 100; start b 127; after 1m a; cut a; cut b; after 11s a and b; heal a; heal b; after 4s a"},
		{"a stand-by that is cut off alone waits, and then cannot know",
			"start a 100; start b 127; after 1m a; cut b; after 9s a; after 2s a and b; heal b; after 1s a; after 1m a"},
		{"a primary that is cut off alone does not know that it is replaced",
			"start a 100; start b 127; after 1m a; cut a; after 4s a and b; heal a; after 1s b; after 28s b; after 2s a"},
		{"without NATS from the start one is on duty in the end",
			"start a 100; cut a; after 9s nobody; after 2s a; heal a; after 100ms a; after 3s a"},
		{"one that hears nothing for some seconds keeps the duty without a break",
			"start a 100; start b 127; after 1m a; cut a; cut b; after 9s a; heal a; heal b; after 100ms a; after 1s a"},
		{"of two that could not know one keeps the duty without a break",
			"start a 100; start b 127; after 1m a; cut a; cut b; after 11s a and b; heal a; heal b; after 600ms a; after 1m a"},
		{"one that was stopped and goes on does not take its own pause for the others' silence",
			"start a 100; start b 127; after 1m a; pause b; after 20s a; resume b; after 100ms a; after 10s a"},
		{"a primary that was stopped and goes on is replaced until it has settled again",
			"start a 100; start b 127; after 1m a; pause a; after 4s b; resume a; after 100ms b; after 29s b; after 2s a"},
		{"a pause that is shorter than what counts as silence changes nothing",
			"start a 100; start b 127; after 1m a; pause b; after 2s a; resume b; after 100ms a; after 5s a"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			s := newSpace(t)
			for sentence := range strings.SplitSeq(c.story, ";") {
				s.do(sentence)
			}
		})
	}
}

func TestWhatATakeOverTells(t *testing.T) {
	from := func(story string) (time.Duration, bool) {
		s := newSpace(t)
		for sentence := range strings.SplitSeq(story, ";") {
			s.do(sentence)
		}
		state := s.members[len(s.members)-1].roster.State()
		return s.now.Sub(state.From), state.From.IsZero()
	}
	if _, all := from("start b 127; after 4s b"); !all {
		t.Error("with nobody before not everything is told")
	}
	if _, all := from("start a 100; down a; start b 127; after 5s b"); !all {
		t.Error("what one had to tell whose faces were down is not told")
	}
	// Killed, it spoke last at most Interval before.
	if d, all := from("start a 100; start b 127; after 1m a; kill a; after 3.5s b"); all || d < 3500*time.Millisecond+Margin || d > 3500*time.Millisecond+Margin+Interval {
		t.Errorf("at a take-over it tells of the last %v", d)
	}
	if d, all := from("start a 100; start b 127; after 1m a; stop a; after 100ms b"); all || d != Margin+stepEvery {
		t.Errorf("at a hand-over it tells of the last %v", d)
	}
}

func TestWhoStandsIn(t *testing.T) {
	s := newSpace(t)
	stands := func(name string, want bool, known, live int) {
		t.Helper()
		if got := s.member(name).roster.State(); got.StandsIn != want || got.Known != known || got.Live != live {
			t.Errorf("%s: %+v, want %v of %d known and %d there", name, got, want, known, live)
		}
	}
	for _, sentence := range []string{"start a 10", "start b 50", "after 5s a"} {
		s.do(sentence)
	}
	stands("a", false, 1, 1)
	stands("b", true, 1, 1)
	s.do("kill a")
	s.do("after 1m b")
	stands("b", true, 1, 0) // for one that is gone
	s.do("start a 60")      // given another number
	s.do("after 1m b")
	stands("b", false, 1, 1)
	s.do("kill a")
	s.do("after 24h b")
	s.do("after 1m b")
	stands("b", false, 0, 0)
}

// Whatever befalls whom, of what one sees with which nothing is wrong for long
// enough nothing is lost, and in the end one is on duty.
func TestNothingIsLostWhateverHappens(t *testing.T) {
	for seed := range uint64(120) {
		r := rand.New(rand.NewPCG(seed, 1))
		s := newSpace(t)
		names := []string{"a", "b", "c"}
		for i, name := range names {
			s.start(name, 100+i, time.Duration(r.IntN(30))*time.Second)
		}
		changes := map[int]time.Time{}
		pending := func() { // those that must be told by now, because one good sidecar was there
			for change, at := range changes {
				told, must := false, false
				for _, m := range s.members {
					told = told || m.told[change]
					must = must || !m.dead && m.good.Before(at.Add(-Silent)) && s.now.Sub(at) > 25*time.Second
				}
				if must && !told {
					t.Fatalf("seed %d: nobody was told what happened %v ago", seed, s.now.Sub(at))
				}
				if told || s.now.Sub(at) > time.Minute {
					delete(changes, change)
				}
			}
		}
		for i := range 300 {
			changes[i] = s.now
			for _, m := range s.members {
				m.due[i] = s.now.Add(time.Duration(r.IntN(1000)) * time.Millisecond)
			}
			if name := names[r.IntN(len(names))]; r.IntN(4) == 0 {
				s.randomly(name, r)
			}
			s.run(time.Duration(r.IntN(15)+1) * stepEvery)
			pending()
		}
		for _, m := range s.members {
			m.cut, m.down, m.paused = false, false, false
		}
		s.start("d", 200, 0)
		s.run(45 * time.Second)
		if on := s.duty(); !slices.Contains(append(names, "d"), on) {
			t.Fatalf("seed %d: %s on duty in the end", seed, on)
		}
	}
}

// randomly lets something happen to a sidecar, or has it return.
func (s *space) randomly(name string, r *rand.Rand) {
	for _, m := range s.members {
		if m.name != name || m.dead {
			continue
		}
		switch {
		case m.cut:
			s.befall(m, "heal")
		case m.down:
			s.befall(m, "up")
		case m.paused:
			s.befall(m, "resume")
		default:
			s.befall(m, []string{"kill", "stop", "cut", "down", "pause"}[r.IntN(5)])
		}
		return
	}
	s.start(name, 100+int(name[0]-'a'), time.Duration(r.IntN(30))*time.Second)
}

func TestSidecarsBeyondTheBoundAreRefusedUntilOneIsGone(t *testing.T) {
	now := time.Unix(1e9, 0)
	r := NewRoster(Message{ID: "me"}, 0, now)
	hear := func(i int) error {
		_, err := r.Hear(Message{ID: strconv.Itoa(i), Name: strconv.Itoa(i)}, now)
		return err
	}
	for i := range MaxPeers {
		if err := hear(i); err != nil {
			t.Fatal(err)
		}
	}
	if isNew, err := r.Hear(Message{ID: "x"}, now); isNew || !errors.Is(err, TooMany) {
		t.Errorf("one more: %v, %v", isNew, err)
	}
	if _, err := r.Hear(Message{ID: "7", Name: "7", Bye: true}, now); err != nil {
		t.Fatal(err)
	}
	if err := hear(MaxPeers); err != nil {
		t.Errorf("after one has left: %v", err)
	}
}
