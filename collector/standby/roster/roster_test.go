// SPDX-License-Identifier: Apache-2.0

package roster

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pnagent/pnagent/internal/seeds"
)

// stepEvery is the time between two steps of simulated members.
const stepEvery = 100 * time.Millisecond

// space is a simulated subject space: members receive each other's messages without
// delay, unless they are cut off or paused.
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
	waiting                 []Message // while it is paused

	// The work of package alarm: changes, by the time at which this member sees them.
	due      map[int]time.Time
	kept     map[int]time.Time
	notified map[int]bool
	good     time.Time // since when it has no fault; in the far future while it has one
}

func newSpace(t *testing.T) *space { return &space{t: t, now: time.Unix(1e9, 0)} }

func (s *space) start(name string, priority int, settle time.Duration) {
	s.starts++
	id := fmt.Sprintf("%04d-%s", s.starts, name)
	s.members = append(s.members, &simulated{name: name, good: s.now, due: map[int]time.Time{}, kept: map[int]time.Time{}, notified: map[int]bool{},
		roster: New(Message{ID: id, Name: name, Priority: uint8(priority)}, settle, s.now)})
}

// member returns the running member of a name.
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
			s.receive(m, *msg)
		}
	}
}

func (s *space) receive(m *simulated, msg Message) {
	isNew, err := m.roster.Receive(msg, s.now)
	if err != nil {
		s.t.Fatal(err)
	}
	if isNew {
		s.publish(m, m.roster.Announce(s.now))
	}
	s.publish(m, m.roster.Step(!m.down, s.now))
}

// run advances the time.
func (s *space) run(d time.Duration) {
	for end := s.now.Add(d); s.now.Before(end); {
		s.now = s.now.Add(stepEvery)
		for _, m := range s.members {
			if m.dead || m.paused {
				continue
			}
			if len(m.waiting) > 0 { // a ticker may come before what waits
				s.publish(m, s.step(m))
				for _, msg := range m.waiting {
					s.receive(m, msg)
				}
				m.waiting = nil
			}
			s.publish(m, s.step(m))
			s.notify(m)
		}
	}
}

// step takes a step of a member. One before Next must change nothing, unless a message has
// arrived, or the member is able to notify and was not.
func (s *space) step(m *simulated) *Message {
	r := m.roster
	early := s.now.Before(r.Next()) && r.self.Up == !m.down
	state, self := r.State(), r.self
	msg := r.Step(!m.down, s.now)
	after := r.State()
	after.At = state.At
	if early && (msg != nil || after != state || r.self != self) {
		s.t.Fatalf("%s: a step before it is due changes\n%+v to\n%+v", m.name, state, after)
	}
	return msg
}

// notify simulates package alarm.
func (s *space) notify(m *simulated) {
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
			m.notified[change] = true
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
		return "none"
	}
	return strings.Join(on, " and ")
}

// do runs one sentence of a story.
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
			s.t.Errorf("%s: got %q; want %q", sentence, s.duty(), want)
		}
	default:
		s.inject(s.member(words[1]), verb)
	}
}

// inject applies a fault to a member, or repairs it.
func (s *space) inject(m *simulated, what string) {
	switch what {
	case "kill":
		m.dead = true
	case "stop":
		s.publish(m, m.roster.Leave())
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
		s.t.Fatalf("unknown fault %q", what)
	}
	m.good = s.now
	if m.dead || m.cut || m.down || m.paused {
		m.good = s.now.Add(1e6 * time.Hour)
	}
}

func TestTheMemberOnDuty(t *testing.T) {
	for _, c := range []struct{ rule, story string }{
		{"a lone member listens first",
			"start a 100; after 2.9s none; after 700ms a"},
		{"of members that start together the first is on duty, and later the lower number",
			"start b 127; start a 100; after 5s b; after 24s b; after 2s a; after 1m a"},
		{"of equal numbers the first that started",
			"start a 100; start b 100; after 5s a; kill a; after 4s b; start a 100; after 1m b"},
		{"a silent member is replaced",
			"start a 100; start b 127; after 5s a; kill a; after 2.4s none; after 1.5s b"},
		{"a member that ends hands over at once",
			"start a 100; start b 127; after 5s a; stop a; after 100ms b"},
		{"a primary that returns waits until it has settled",
			"start a 100; start b 127; after 5s a; kill a; after 5s b; start a 100; after 29s b; after 1100ms a"},
		{"a standby that starts first keeps the duty until the primary has settled",
			"start b 127; after 10s b; start a 100; after 29s b; after 1100ms a; after 1m a"},
		{"a member unable to notify hands over at once, and takes back at once",
			"start a 100; start b 127; after 5s a; down a; after 100ms b; up a; after 100ms a"},
		{"if no member is able to notify the first one is on duty",
			"start a 100; start b 127; after 5s a; down a; after 100ms b; down b; after 200ms a"},
		{"of three the next one follows",
			"start a 1; start b 2; start c 3; after 5s a; kill a; after 4s b; stop b; after 100ms c"},
		{"NATS down for some seconds changes nothing while it is down",
			"start a 100; start b 127; after 1m a; cut a; cut b; after 9s a; heal a; heal b; after 4s a; after 1m a"},
		{"both are on duty after a longer outage of NATS",
			"start a 100; start b 127; after 1m a; cut a; cut b; after 11s a and b; heal a; heal b; after 4s a"},
		{"a standby that is cut off alone waits, and then goes on duty",
			"start a 100; start b 127; after 1m a; cut b; after 9s a; after 2s a and b; heal b; after 1s a; after 1m a"},
		{"a primary that is cut off alone stays on duty while it is replaced",
			"start a 100; start b 127; after 1m a; cut a; after 4s a and b; heal a; after 1s b; after 28s b; after 2s a"},
		{"without NATS from the start one is on duty in the end",
			"start a 100; cut a; after 9s none; after 2s a; heal a; after 100ms a; after 3s a"},
		{"a member that receives nothing for some seconds keeps the duty without a break",
			"start a 100; start b 127; after 1m a; cut a; cut b; after 9s a; heal a; heal b; after 100ms a; after 1s a"},
		{"of two on duty one keeps the duty without a break",
			"start a 100; start b 127; after 1m a; cut a; cut b; after 11s a and b; heal a; heal b; after 600ms a; after 1m a"},
		{"a member that was paused does not take its own pause for the others' silence",
			"start a 100; start b 127; after 1m a; pause b; after 20s a; resume b; after 100ms a; after 10s a"},
		{"a primary that was paused is replaced until it has settled again",
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

func TestThePeriodThatATakeOverNotifies(t *testing.T) {
	from := func(story string) (time.Duration, bool) {
		s := newSpace(t)
		for sentence := range strings.SplitSeq(story, ";") {
			s.do(sentence)
		}
		state := s.members[len(s.members)-1].roster.State()
		return s.now.Sub(state.From), state.From.IsZero()
	}
	if _, all := from("start b 127; after 4s b"); !all {
		t.Error("without an earlier duty it does not notify everything")
	}
	if _, all := from("start a 100; down a; start b 127; after 5s b"); !all {
		t.Error("it does not notify the changes of a member that was unable to")
	}
	// Its last message was at most Interval before the kill.
	if d, all := from("start a 100; start b 127; after 1m a; kill a; after 3.5s b"); all || d < 3500*time.Millisecond+Margin || d > 3500*time.Millisecond+Margin+Interval {
		t.Errorf("a take-over notifies the last %v", d)
	}
	if d, all := from("start a 100; start b 127; after 1m a; stop a; after 100ms b"); all || d != Margin+stepEvery {
		t.Errorf("a hand-over notifies the last %v", d)
	}
}

func TestStandsIn(t *testing.T) {
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
	stands("b", true, 1, 0) // for a member that is gone
	s.do("start a 60")      // given another number
	s.do("after 1m b")
	stands("b", false, 1, 1)
	s.do("kill a")
	s.do("after 24h b")
	s.do("after 1m b")
	stands("b", false, 0, 0)
}

// Under random faults, each change that a member without a fault saw is notified, and
// at the end a member is on duty.
//
//promise:clears none cut pause
func TestNoChangeIsLostUnderRandomFaults(t *testing.T) {
	for seed := range seeds.Of(5, 120, 6, 18, 20) {
		r := rand.New(rand.NewPCG(seed, 1))
		s := newSpace(t)
		names := []string{"a", "b", "c"}
		for i, name := range names {
			s.start(name, 100+i, time.Duration(r.IntN(30))*time.Second)
		}
		changes := map[int]time.Time{}
		pending := func() { // changes that must be notified by now, because a member had no fault
			for change, at := range changes {
				notified, must := false, false
				for _, m := range s.members {
					notified = notified || m.notified[change]
					must = must || !m.dead && m.good.Before(at.Add(-Silent)) && s.now.Sub(at) > 25*time.Second
				}
				if must && !notified {
					t.Fatalf("seed %d: a change %v ago was not notified", seed, s.now.Sub(at))
				}
				if notified || s.now.Sub(at) > time.Minute {
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

// randomly applies a random fault to a member, or repairs or restarts it.
func (s *space) randomly(name string, r *rand.Rand) {
	for _, m := range s.members {
		if m.name != name || m.dead {
			continue
		}
		switch {
		case m.cut:
			s.inject(m, "heal")
		case m.down:
			s.inject(m, "up")
		case m.paused:
			s.inject(m, "resume")
		default:
			s.inject(m, []string{"kill", "stop", "cut", "down", "pause"}[r.IntN(5)])
		}
		return
	}
	s.start(name, 100+int(name[0]-'a'), time.Duration(r.IntN(30))*time.Second)
}

func TestMembersBeyondTheBoundAreRejectedUntilOneIsGone(t *testing.T) {
	now := time.Unix(1e9, 0)
	r := New(Message{ID: "me"}, 0, now)
	receive := func(i int) error {
		_, err := r.Receive(Message{ID: strconv.Itoa(i), Name: strconv.Itoa(i)}, now)
		return err
	}
	for i := range MaxPeers {
		if err := receive(i); err != nil {
			t.Fatal(err)
		}
	}
	if isNew, err := r.Receive(Message{ID: "x"}, now); isNew || !errors.Is(err, TooMany) {
		t.Errorf("one more: %v, %v", isNew, err)
	}
	if _, err := r.Receive(Message{ID: "7", Name: "7", Bye: true}, now); err != nil {
		t.Fatal(err)
	}
	if err := receive(MaxPeers); err != nil {
		t.Errorf("after one has left: %v", err)
	}
}
