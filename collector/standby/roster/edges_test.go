// SPDX-License-Identifier: Apache-2.0

package roster

import (
	"testing"
	"time"
)

// lone is a roster that receives messages without delay.
type lone struct {
	*Roster
	t   *testing.T
	now time.Time
}

func newLone(t *testing.T, self Message) *lone {
	now := time.Unix(1e9, 0)
	return &lone{New(self, 0, now), t, now}
}

// pass advances the time, and then receives messages.
func (l *lone) pass(d time.Duration, received ...Message) State {
	l.t.Helper()
	l.now = l.now.Add(d)
	for _, m := range received {
		if _, err := l.Receive(m, l.now); err != nil {
			l.t.Fatal(err)
		}
	}
	l.Step(true, l.now)
	return l.State()
}

//promise:clears pause
func TestAPausedMemberListensBeforeItIsOnDutyAgain(t *testing.T) {
	me := Message{ID: "me"}
	for what, first := range map[string][]Message{"Step before Receive": nil, "Receive before Step": {me}} {
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

func TestARestartedMemberReplacesOnlyItsEarlierProcess(t *testing.T) {
	me := Message{ID: "me", Priority: 50}
	l := newLone(t, me)
	l.pass(Interval, me, Message{ID: "b1", Name: "b"}, Message{ID: "c1", Name: "c"}, Message{ID: "d1", Name: "d"})
	for range Silent / Interval {
		l.pass(Interval, me, Message{ID: "d1", Name: "d"})
	}
	s := l.pass(Interval, me, Message{ID: "b2", Name: "b"}, Message{ID: "d2", Name: "d"})
	if s.Live != 3 || s.Known != 4 { // c is gone, and two of one name are there
		t.Errorf("got %+v; want 4 known members, 3 of them alive", s)
	}
}

// A member on duty covers changes once it has sent messages for Interval without a
// break: a member that was paused has not seen the changes yet.
func TestAMemberSilentForTwoIntervalsCoversNothingAtOnce(t *testing.T) {
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
			t.Errorf("after a gap of %v: on duty %v, from %v after the last message that counts", gap, s.OnDuty, s.From.Sub(last))
		}
	}
}

func TestAMemberWithoutOwnMessagesForSilentIsNotReady(t *testing.T) {
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
	l.pass(1)
	if l.self.Ready {
		t.Error("it is ready")
	}
}

func TestAlarmsAreAskedForAgainOnceTheyDifferForThreeIntervals(t *testing.T) {
	me, other := Message{ID: "me", Priority: 127}, Message{ID: "other", Priority: 1, Up: true, Ready: true, OnDuty: true, Digest: "x"}
	l := newLone(t, me)
	l.SetDigest("y")
	l.pass(Interval, me, other)
	if !l.Ask(l.now) {
		t.Error("at first it does not ask")
	}
	l.SetDigest("x")
	for range 2 * AskEvery / Interval {
		l.pass(Interval, me, other)
	}
	l.SetDigest("y")
	l.pass(Interval, me, other)
	if l.Ask(l.now) || l.Ask(l.now.Add(3*Interval-1)) {
		t.Error("it asks while a change may be under way")
	}
	if !l.Ask(l.now.Add(3 * Interval)) {
		t.Error("it does not ask")
	}
}

// A member that did not receive its own messages for Silent missed those of the others
// too.
func TestAMemberWithoutOwnMessagesForSilentListensAgain(t *testing.T) {
	me, other := Message{ID: "me", Priority: 127}, Message{ID: "other", Priority: 1, Up: true, Ready: true, OnDuty: true}
	gone := other
	gone.Bye, gone.OnDuty = true, false
	for gap, listens := range map[time.Duration]bool{Silent - 1: false, Silent: true} {
		l := newLone(t, me)
		for range 10 {
			l.pass(Interval, me, other)
		}
		l.pass(Interval)
		l.pass(gap-Interval, me, gone)
		for waited := time.Duration(0); waited < Silent; waited += Interval {
			if s := l.State(); s.OnDuty == listens {
				t.Errorf("%v after a gap of %v: on duty %v", waited, gap, s.OnDuty)
			}
			l.pass(Interval, me)
		}
		if !l.State().OnDuty {
			t.Errorf("not on duty %v after a gap of %v", Silent, gap)
		}
	}
}

func TestWhichSendersAreNew(t *testing.T) {
	l := newLone(t, Message{ID: "me"})
	for i, c := range []struct {
		m     Message
		isNew bool
	}{
		{Message{ID: "me"}, false},
		{Message{ID: "a", Bye: true}, false},
		{Message{ID: "a"}, true},
		{Message{ID: "a"}, false},
		{Message{ID: "a", Bye: true}, false},
		{Message{ID: "a"}, false},
		{Message{ID: "b"}, true},
	} {
		if isNew, err := l.Receive(c.m, l.now); isNew != c.isNew || err != nil {
			t.Errorf("message %d: new %v, %v", i, isNew, err)
		}
	}
	if s := l.State(); s.Known != 2 || s.Live != 2 {
		t.Errorf("got %+v; want two members, both alive", s)
	}
	if l.Awaits("a") || l.Awaits("unknown") {
		t.Error("it awaits sources that it did not request")
	}
	l.Fetched("unknown")
	if l.Awaits("unknown") {
		t.Error("it awaits sources of an unknown member")
	}
}

// The digest of the member on duty counts; while none is on duty, those of all members.
func TestWhoseAlarmsAreAskedFor(t *testing.T) {
	duty := func(digest string) Message {
		return Message{ID: "duty", Priority: 1, Up: true, Ready: true, OnDuty: true, Digest: digest}
	}
	third := func(digest string) Message { return Message{ID: "third", Priority: 2, Up: true, Digest: digest} }
	bye := third("y")
	bye.Bye = true
	for what, c := range map[string]struct {
		mine     string
		received []Message
		asks     bool
	}{
		"duty equal":                   {"x", []Message{duty("x")}, false},
		"duty differs":                 {"x", []Message{duty("y")}, true},
		"duty equal, third differs":    {"x", []Message{duty("x"), third("y")}, false},
		"duty differs, third equal":    {"x", []Message{duty("y"), third("x")}, true},
		"duty has none, third differs": {"x", []Message{duty(""), third("y")}, false},
		"no duty, one differs":         {"x", []Message{third("y")}, true},
		"no duty, all equal":           {"x", []Message{third("x")}, false},
		"no duty, one has none":        {"x", []Message{third("")}, false},
		"a leaving member differs":     {"x", []Message{third("x"), bye}, false},
		"this member has none":         {"", []Message{duty("y")}, false},
		"no duty, differed, now equal": {"x", []Message{third("y"), third("x")}, false},
	} {
		l := newLone(t, Message{ID: "me", Priority: 127})
		l.SetDigest(c.mine)
		l.pass(Interval, append([]Message{{ID: "me"}}, c.received...)...)
		if asks := l.Ask(l.now); asks != c.asks {
			t.Errorf("%s: it asks %v", what, asks)
		}
		if l.Ask(l.now.Add(AskEvery-1)) || l.Ask(l.now.Add(AskEvery)) != c.asks {
			t.Errorf("%s: it asks again before, or not when, AskEvery is over", what)
		}
	}
	l := newLone(t, Message{ID: "z"}) // the one on duty is gone
	l.SetDigest("x")
	l.pass(Interval, Message{ID: "z"}, duty("x"), third("x"))
	for range Silent / Interval {
		l.pass(Interval, Message{ID: "z"}, third("x"))
	}
	l.pass(stepEvery, third("y"))
	if !l.Ask(l.now) {
		t.Error("it does not ask a third one when the one on duty is gone")
	}
}

// NewRoster ignores the state fields of self; each message returned is a copy.
func TestAMemberThatStartsIsNotReady(t *testing.T) {
	now := time.Unix(1e9, 0)
	want := Message{Version: Version, ID: "me", Name: "n", Priority: 3, Started: 7, Sources: true}
	self := want
	self.Version = 9
	self.Up = true
	self.Ready = true
	self.OnDuty = true
	self.Bye = true
	r := New(self, 0, now)
	if got := *r.Announce(now); got != want {
		t.Errorf("got announcement %+v; want %+v", got, want)
	}
	if s := r.State(); s.OnDuty || s.Live != 0 || s.Known != 0 || !s.Shared || !s.At.Equal(now) || !s.Unsync.Equal(now) {
		t.Errorf("got %+v; want the state of a member that listens since %v", s, now)
	}
	r.self.OnDuty = true
	if bye := *r.Leave(); !bye.Bye || !bye.OnDuty || r.self.Bye || r.State().OnDuty {
		t.Errorf("%+v, and then %+v", bye, r.self)
	}
}
