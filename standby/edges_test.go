// SPDX-License-Identifier: Apache-2.0

package standby

import (
	"testing"
	"time"
)

// lone is a roster to which messages come at once.
type lone struct {
	*Roster
	t   *testing.T
	now time.Time
}

func newLone(t *testing.T, self Message) *lone {
	now := time.Unix(1e9, 0)
	return &lone{NewRoster(self, 0, now), t, now}
}

// pass lets so much time pass, and then has messages come.
func (l *lone) pass(d time.Duration, heard ...Message) State {
	l.t.Helper()
	l.now = l.now.Add(d)
	for _, m := range heard {
		if _, err := l.Hear(m, l.now); err != nil {
			l.t.Fatal(err)
		}
	}
	l.Step(true, l.now)
	return l.State()
}

func TestOneThatWasStoppedListensBeforeItIsOnDutyAgain(t *testing.T) {
	me := Message{ID: "me"}
	for what, first := range map[string][]Message{"it looks first": nil, "it reads first": {me}} {
		l := newLone(t, me)
		for range 8 {
			l.pass(Interval, me)
		}
		if !l.State().OnDuty {
			t.Fatal("alone it is not on duty")
		}
		if s := l.pass(Silent, first...); s.OnDuty {
			t.Errorf("%s: on duty at once", what)
		}
		for range (Silent - Interval) / Interval {
			if s := l.pass(Interval, me); s.OnDuty {
				t.Errorf("%s: on duty before it has listened", what)
			}
		}
		if s := l.pass(Interval, me); !s.OnDuty {
			t.Errorf("%s: not on duty when it has listened for %v", what, Silent)
		}
	}
}

func TestOneThatIsBackReplacesItsEarlierLifeAlone(t *testing.T) {
	me := Message{ID: "me", Priority: 50}
	l := newLone(t, me)
	l.pass(Interval, me, Message{ID: "b1", Name: "b"}, Message{ID: "c1", Name: "c"}, Message{ID: "d1", Name: "d"})
	for range Silent / Interval {
		l.pass(Interval, me, Message{ID: "d1", Name: "d"})
	}
	s := l.pass(Interval, me, Message{ID: "b2", Name: "b"}, Message{ID: "d2", Name: "d"})
	if s.Live != 3 || s.Known != 4 { // c is gone, and two of one name are there
		t.Errorf("%+v", s)
	}
}

// What another one on duty tells is believed to cover changes once it was heard for
// Interval without a break: one that was stopped has not looked yet.
func TestOneThatWasSilentForTwoIntervalsCoversNothingAtOnce(t *testing.T) {
	me, other := Message{ID: "me", Priority: 127}, Message{ID: "other", Priority: 1, Up: true, Ready: true, OnDuty: true}
	for gap, covers := range map[time.Duration]bool{2*Interval - 1: true, 2 * Interval: false} {
		l := newLone(t, me)
		for range 10 {
			l.pass(Interval, me, other)
		}
		last := l.now
		l.pass(gap, me, other)
		if covers {
			last = l.now
		}
		gone := other
		gone.Bye, gone.OnDuty = true, false
		if s := l.pass(stepEvery, me, gone); !s.OnDuty || !s.From.Equal(last.Add(-Margin)) {
			t.Errorf("after a gap of %v: on duty %v, from %v after the last word that counts", gap, s.OnDuty, s.From.Sub(last))
		}
	}
}

func TestOneThatDoesNotHearItselfForSilentIsNotReady(t *testing.T) {
	me := Message{ID: "me"}
	l := newLone(t, me)
	for range 10 {
		l.pass(Interval, me)
	}
	l.pass(Interval)
	l.pass(Silent - Interval - 1)
	if !l.self.Ready {
		t.Error("it is not ready before that")
	}
	if l.pass(1); l.self.Ready {
		t.Error("it is ready")
	}
}

func TestAlarmsAreAskedForAgainOnceTheyDifferForThreeIntervals(t *testing.T) {
	me, other := Message{ID: "me", Priority: 127}, Message{ID: "other", Priority: 1, Up: true, Ready: true, OnDuty: true, Digest: "x"}
	l := newLone(t, me)
	l.Know("y")
	l.pass(Interval, me, other)
	if !l.Ask(l.now) {
		t.Error("at first it does not ask")
	}
	l.Know("x")
	for range 2 * AskEvery / Interval {
		l.pass(Interval, me, other)
	}
	l.Know("y")
	l.pass(Interval, me, other)
	if l.Ask(l.now) || l.Ask(l.now.Add(3*Interval-1)) {
		t.Error("it asks while a change may be under way")
	}
	if !l.Ask(l.now.Add(3 * Interval)) {
		t.Error("it does not ask")
	}
}
