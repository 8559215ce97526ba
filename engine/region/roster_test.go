// SPDX-License-Identifier: Apache-2.0

package region

import (
	"slices"
	"testing"
	"time"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func after(d time.Duration) time.Time { return start.Add(d) }

func beatOf(source string, role Role, epoch uint64) *Beat {
	return &Beat{Source: source, Parts: []BeatPart{{Part: "p", Role: role, Epoch: epoch}}}
}

func TestTheOwnerIsTheOneInTheHighestEpoch(t *testing.T) {
	r := newRoster("", false)
	if _, ok := r.owner("p", start); ok {
		t.Error("a part in no beat has an owner")
	}
	r.receive(beatOf("old", Owner, 3), start)
	r.receive(beatOf("new", Owner, 4), start)
	r.receive(beatOf("standby", Standby, 9), start)
	if o, ok := r.owner("p", start); !ok || o.Source != "new" || o.Epoch != 4 {
		t.Errorf("owner %+v; want new in epoch 4", o)
	}
	r.receive(beatOf("new", Away, 4), start)
	if o, _ := r.owner("p", start); o.Source != "old" {
		t.Errorf("owner %+v; want old, since new has released the part", o)
	}
}

func TestAMemberIsAliveUntilItIsSilentForASecond(t *testing.T) {
	r := newRoster("", false)
	r.receive(beatOf("a", Owner, 1), start)
	r.receive(beatOf("b", Standby, 1), after(500*time.Millisecond))
	for at, want := range map[time.Duration][]string{0: {"a", "b"}, time.Second: {"a", "b"}, 1001 * time.Millisecond: {"b"}, 2 * time.Second: nil} {
		if got := slices.Sorted(slices.Values(r.offers("p", after(at)))); !slices.Equal(got, want) {
			t.Errorf("after %v: %q; want %q", at, got, want)
		}
	}
}

func TestAMemberThatLeavesIsGivenNothing(t *testing.T) {
	r := newRoster("", false)
	b := beatOf("a", Owner, 1)
	b.Leaves = true
	r.receive(b, start)
	if got := r.offers("p", start); len(got) != 0 {
		t.Errorf("%q; want no member", got)
	}
	if o, ok := r.owner("p", start); !ok || o.Source != "a" {
		t.Errorf("owner %+v; want a, which has not released the part", o)
	}
}

func TestAMemberThatComesBackIsThereSinceThen(t *testing.T) {
	r := newRoster("", false)
	r.receive(beatOf("a", Standby, 1), start)
	r.receive(beatOf("a", Standby, 1), after(50*time.Millisecond))
	if s := r.of("p", after(time.Second)); len(s) != 1 || !s[0].Since.Equal(start) {
		t.Errorf("%+v; want since the first beat", s)
	}
	r.receive(beatOf("b", Standby, 1), after(3*time.Second)) // a is forgotten
	r.receive(beatOf("a", Standby, 1), after(4*time.Second))
	if s := r.of("p", after(4*time.Second)); len(s) != 2 || !s[0].Since.Equal(after(4*time.Second)) {
		t.Errorf("%+v; want a since its return", s)
	}
}

func TestSilenceIsTheTimeWithoutBeatsInWhichTheMemberChecked(t *testing.T) {
	w := &watch{}
	at := func(ms int) time.Time { return after(time.Duration(ms) * time.Millisecond) }
	steps := []struct {
		rule   string
		now    int
		beat   int
		commit bool
		want   time.Duration
	}{
		{rule: "the first check starts it", now: 0, want: 0},
		{rule: "time passes", now: 10, want: 10 * time.Millisecond},
		{rule: "and more", now: 20, want: 20 * time.Millisecond},
		{rule: "a beat ends it", now: 30, beat: 25, want: 0},
		{rule: "the same beat does not", now: 40, beat: 25, want: 10 * time.Millisecond},
		{rule: "a commit ends it", now: 50, beat: 25, commit: true, want: 0},
		{rule: "a process that was stopped has not checked", now: 10_000, beat: 25, want: lateAfter + checkEvery},
		{rule: "nor if a beat was late already", now: 20_000, beat: 25, want: lateAfter + 3*checkEvery},
	}
	for _, s := range steps {
		w.commit.Store(s.commit)
		beat := time.Time{}
		if s.beat > 0 {
			beat = at(s.beat)
		}
		if got := w.look(beat, at(s.now)); got != s.want {
			t.Errorf("%s: silent for %v; want %v", s.rule, got, s.want)
		}
	}
}

// beats records beats of a member at the given times, in milliseconds, and
// between them beats of "me", the member whose roster it is.
func beats(r *roster, source string, at ...int) {
	own := at[0]
	for _, ms := range at {
		for ; own <= ms; own += 50 {
			r.receive(beatOf("me", Away, 0), after(time.Duration(own)*time.Millisecond))
		}
		r.receive(beatOf(source, Owner, 1), after(time.Duration(ms)*time.Millisecond))
	}
}

func TestTheSilenceLimitIsFourTimesTheLongestRecentGap(t *testing.T) {
	for _, c := range []struct {
		rule  string
		beats func(*roster)
		at    int // milliseconds
		least time.Duration
		most  time.Duration
	}{
		{"where beats are in time it is 200 ms", func(r *roster) { beats(r, "a", 0, 50, 100, 150) }, 150, suspectAfter, suspectAfter},
		{"where one was late it is longer", func(r *roster) { beats(r, "a", 0, 50, 200) }, 200, 600 * time.Millisecond, 600 * time.Millisecond},
		{"also if the next ones are in time", func(r *roster) { beats(r, "a", 0, 50, 200, 250) }, 250, 570 * time.Millisecond, 600 * time.Millisecond},
		{"after three quarters of a second it is half as long", func(r *roster) { beats(r, "a", 0, 200) }, 950, 399 * time.Millisecond, 401 * time.Millisecond},
		{"as long as beats are late it stays long", func(r *roster) { beats(r, "a", 0, 200, 400, 600, 800, 1000) }, 1000, 800 * time.Millisecond, 800 * time.Millisecond},
		{"it is never shorter than 200 ms", func(r *roster) { beats(r, "a", 0, 200) }, 60_000, suspectAfter, suspectAfter},
		{"a member that was gone was not late", func(r *roster) { beats(r, "a", 0, 9000) }, 9000, suspectAfter, suspectAfter},
		{"silence that has not ended is no gap", func(r *roster) { beats(r, "a", 0, 50) }, 900, suspectAfter, suspectAfter},
		{"the longest of all members counts", func(r *roster) { beats(r, "a", 0, 300); beats(r, "b", 300, 350) }, 350, 1140 * time.Millisecond, 1200 * time.Millisecond},
		{"a process that was started again was not late", func(r *roster) {
			beats(r, "a", 0)
			b := beatOf("a", Owner, 1)
			b.Started = 1
			r.receive(b, after(900*time.Millisecond))
		}, 900, suspectAfter, suspectAfter},
	} {
		r := newRoster("me", false)
		c.beats(r)
		if got := r.silenceLimit(after(time.Duration(c.at) * time.Millisecond)); got < c.least || got > c.most {
			t.Errorf("%s: %v; want %v to %v", c.rule, got, c.least, c.most)
		}
	}
}
