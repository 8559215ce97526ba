// SPDX-License-Identifier: Apache-2.0

package roster

import (
	"testing"
	"time"
)

// A new member of a lower priority number takes the duty once it has the alarms of the
// member on duty, and that one has released it.
func TestANewMemberTakesTheDutyOnceItHasTheAlarms(t *testing.T) {
	now := time.Unix(1e9, 0)
	r := New(Message{ID: "me", Priority: 1}, 0, now)
	r.SetDigest("mine")
	holder := Message{Version: Version, ID: "holder", Priority: 100, Up: true, Ready: true, OnDuty: true, Digest: "theirs"}
	asks := 0
	pass := func(d time.Duration) {
		for range d / stepEvery {
			now = now.Add(stepEvery)
			for _, m := range []Message{{ID: "me"}, holder} {
				if _, err := r.Receive(m, now); err != nil {
					t.Fatal(err)
				}
			}
			r.Step(true, now)
			if r.Ask(now) {
				asks++
			}
		}
	}
	pass(Settle + AskEvery)
	if s := r.State(); s.OnDuty || r.self.Ready || asks != 3 {
		t.Errorf("without the alarms of the other: %+v, ready %v, asked %d times", s, r.self.Ready, asks)
	}
	r.SetDigest("theirs")
	pass(time.Second)
	if s := r.State(); s.OnDuty || !r.self.Ready {
		t.Errorf("before the other has released the duty: %+v, ready %v", s, r.self.Ready)
	}
	holder.OnDuty = false
	pass(stepEvery)
	if !r.State().OnDuty {
		t.Error("not on duty after the other has released it")
	}
	if asks != 3 {
		t.Errorf("it asks again: %d", asks)
	}
}

func TestAMemberWithoutAnswersTakesTheDutyAfterPatience(t *testing.T) {
	for _, c := range []struct {
		digest string
		after  time.Duration
	}{{"", Settle}, {"theirs", Settle + Patience}} {
		now := time.Unix(1e9, 0)
		began := now
		r := New(Message{ID: "me", Priority: 1}, 0, now)
		r.SetDigest("mine")
		for !r.self.Ready && now.Sub(began) < time.Hour {
			now = now.Add(stepEvery)
			for _, m := range []Message{{ID: "me"}, {ID: "old", Priority: 100, Up: true, Ready: true, OnDuty: true, Digest: c.digest}} {
				if _, err := r.Receive(m, now); err != nil {
					t.Fatal(err)
				}
			}
			r.Step(true, now)
		}
		if took := now.Sub(began); took != c.after {
			t.Errorf("beside one of digest %q it is ready after %v, want %v", c.digest, took, c.after)
		}
		if s := r.State(); s.Shared != (c.digest != "") {
			t.Errorf("beside one of digest %q: %+v", c.digest, s)
		}
	}
}

func TestIndicesAreLeftOutWhileAMemberIsOutOfSync(t *testing.T) {
	now := time.Unix(1e9, 0)
	r := New(Message{ID: "me", Priority: 100}, 0, now)
	r.SetDigest("x")
	other := Message{ID: "other", Priority: 127, Up: true, OnDuty: true, Digest: "y"}
	step := func(d time.Duration, received ...Message) State {
		now = now.Add(d)
		for _, m := range received {
			if _, err := r.Receive(m, now); err != nil {
				t.Fatal(err)
			}
		}
		r.Step(true, now)
		return r.State()
	}
	first := step(Interval, Message{ID: "me"}, other)
	if first.Skip < 4*101 || first.Skip > 4*101+3 {
		t.Errorf("after its start it leaves out %d", first.Skip)
	}
	other.Digest = "x"
	if s := step(Interval, Message{ID: "me"}, other); s.Skip != 0 {
		t.Errorf("in sync it leaves out %d", s.Skip)
	}
	other.Digest = "y"
	cut := step(2 * Interval)
	if cut.Skip < 4*101 || cut.Skip > 4*101+3 {
		t.Errorf("without own messages it leaves out %d", cut.Skip)
	}
	if s := step(Interval, Message{ID: "me"}, other); s.Skip != cut.Skip || s.Unsync != cut.Unsync {
		t.Errorf("while the digests differ it leaves out %+v, before %+v", s, cut)
	}
	other.Digest = "x"
	if s := step(Interval, Message{ID: "me"}, other); s.Skip != 0 {
		t.Errorf("in sync again it leaves out %d", s.Skip)
	}
	b := New(Message{ID: "me", Priority: 127}, 0, now)
	b.Step(true, now.Add(2*Interval))
	if s := b.State(); s.Skip <= cut.Skip+64 {
		t.Errorf("a member of another priority leaves out %d, and this one %d", s.Skip, cut.Skip)
	}
}

// The member on duty is gone without a word: it may have given indices of which nothing arrived. One that
// releases the duty has given none.
//
//promise:clears kill
func TestAMemberThatTakesOverFromOneThatVanishedLeavesOutIndices(t *testing.T) {
	for bye, skips := range map[bool]bool{false: true, true: false} {
		me, other := Message{ID: "1", Digest: "d"}, Message{ID: "0", Name: "other", OnDuty: true, Ready: true, Digest: "d"}
		l := newLone(t, me)
		for range 10 {
			l.pass(Interval, other, me)
		}
		if s := l.State(); s.OnDuty || s.Skip != 0 {
			t.Fatalf("beside the other one: %+v", s)
		}
		other.Bye = bye
		s := l.pass(Interval, other, me)
		for range 20 {
			if !s.OnDuty {
				s = l.pass(Interval, me)
			}
		}
		if !s.OnDuty || (s.Skip > 0) != skips {
			t.Errorf("bye: %t: on duty: %t, and leaves out %d", bye, s.OnDuty, s.Skip)
		}
	}
}
