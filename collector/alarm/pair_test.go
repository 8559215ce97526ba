// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/collector/alarm/alarmtest"
	"github.com/pnagent/pnagent/collector/merge"
)

// quick rules raise an alarm at once, and clear it at once.
func quick(t *testing.T) *Machine {
	return NewMachine(pairRules(t), Saved{Last: 10}, forgetAfter)
}

// stuckAt returns a net with stuck tokens in these places.
func stuckAt(places ...int) *merge.NetView {
	net := alarmtest.Moved(alarmtest.Wide("n", 4, 0), 0)
	for _, i := range places {
		net.Rows.Places[i].Oldest = t0 - 60e6
	}
	return net
}

func texts(changes []Change) (out []string) {
	for _, c := range changes {
		what := "clear"
		if c.Raise {
			what = "raise"
		}
		out = append(out, fmt.Sprintf("%s %d %s", what, c.Alarm.Index, c.Alarm.Subject))
	}
	return out
}

func shown(m *Machine) (out []string) {
	for _, a := range m.State(0).Active {
		out = append(out, fmt.Sprintf("%d %s", a.Index, a.Subject))
	}
	return out
}

func wants(t *testing.T, what string, want, got []string) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got): %s", what, d)
	}
}

func TestAFollowerShowsSharedAlarmsAndNotifiesNothing(t *testing.T) {
	m := quick(t)
	m.Follow()
	wants(t, "a raise", nil, texts(m.Step(alarmtest.ViewOf(stuckAt(0, 1)), t0)))
	wants(t, "without an index", nil, shown(m))
	page := Saved{Last: 30, Alarms: []Entry{{Alarm{Index: 20, Kind: TokenStuck, Net: "n", Subject: "p0", Raised: t0, Text: "x"}, Raising},
		{Alarm{Index: 21, Kind: TokenStuck, Net: "n", Subject: "p3", Raised: t0, Text: "y"}, Raised}}}
	changes, folded := m.Fold(&page, t0+1)
	wants(t, "a page", nil, texts(changes))
	wants(t, "with indices", []string{"20 p0", "21 p3"}, shown(m))
	if again, _ := m.Fold(&page, t0+1); folded != 2 || again != nil {
		t.Errorf("%d folded, then %v", folded, again)
	}
	wants(t, "what is over here and not there", nil, texts(m.Step(alarmtest.ViewOf(stuckAt(1)), t0+60e6)))
	wants(t, "stays", []string{"20 p0", "21 p3"}, shown(m))
	m.Fold(&Saved{Last: 30, Cleared: []uint32{21}, Alarms: in(Clearing, Alarm{Index: 20, Kind: TokenStuck, Net: "n", Subject: "p0"})}, t0+61e6)
	wants(t, "what is over there", nil, shown(m))
	m.Fold(&page, t0+62e6)
	wants(t, "an old page brings nothing back", nil, shown(m))
	wants(t, "Lead notifies alarms without an index", []string{"raise 31 p1"}, texts(m.Lead(0, t0+63e6)))
	wants(t, "and what was begun and is not confirmed", []string{"clear 20 p0"}, texts(m.Step(alarmtest.ViewOf(stuckAt(1)), t0+65e6)))
	wants(t, "once", nil, texts(m.Step(alarmtest.ViewOf(stuckAt(1)), t0+67e6)))
}

func TestAnAlarmThatOnlyTheOtherSawIsClearedUnderItsIndex(t *testing.T) {
	m := quick(t)
	m.Follow()
	m.Step(alarmtest.ViewOf(stuckAt()), t0)
	m.Fold(&Saved{Last: 20, Alarms: in(Raised, Alarm{Index: 20, Kind: TokenStuck, Net: "n", Subject: "p2", Raised: t0})}, t0+1)
	m.Step(alarmtest.ViewOf(stuckAt()), t0+20e6)
	wants(t, "at the take-over", nil, texts(m.Lead(0, t0+21e6)))
	wants(t, "at the next View", []string{"clear 20 p2"}, texts(m.Step(alarmtest.ViewOf(stuckAt()), t0+22e6)))
	m.Confirm(20, false)
	if d := cmp.Diff(Saved{Last: 20, LastChange: t0 + 22e6, Cleared: []uint32{20}}, m.Saved()); d != "" {
		t.Error(d)
	}
}

// A process has saved an alarm and ended before it shared it, so the one that took over gave its
// index to another alarm.
func TestAnIndexIsThatOfOneAlarmAlsoAfterACrashBeforeItWasShared(t *testing.T) {
	first := quick(t)
	wants(t, "the first process", []string{"raise 11 p0"}, texts(first.Step(alarmtest.ViewOf(stuckAt(0)), t0)))
	saved := first.Saved()
	second := quick(t)
	wants(t, "the second one", []string{"raise 11 p1"}, texts(second.Step(alarmtest.ViewOf(stuckAt(1)), t0+5e6)))
	for _, confirmed := range []bool{false, true} {
		if confirmed {
			second.Confirm(11, true)
		}
		page := second.Saved()
		again := NewMachine(pairRules(t), saved, forgetAfter)
		again.Follow()
		again.Step(alarmtest.ViewOf(stuckAt(0, 1)), t0+9e6)
		again.Fold(&page, t0+10e6)
		wants(t, "the first one again", []string{"11 p1"}, shown(again))
		if a, b := again.book.digest(), second.book.digest(); a != b {
			t.Errorf("the digests are %s and %s; want the same", a, b)
		}
		again.Step(alarmtest.ViewOf(stuckAt(0, 1)), t0+11e6)
		wants(t, "it takes the duty", []string{"raise 12 p0"}, texts(again.Lead(0, t0+12e6)))
		wants(t, "and shows", []string{"11 p1", "12 p0"}, shown(again))
	}
	page := Saved{Last: 11, Alarms: in(Raised, Alarm{Index: 11, Kind: TokenStuck, Net: "n", Subject: "p3", Raised: t0})}
	second.Fold(&page, t0+20e6)
	wants(t, "the process on duty keeps its own", []string{"11 p1"}, shown(second))
}

func TestAlarmsThatBeganAndEndedWhileNoneLedAreNotified(t *testing.T) {
	for _, c := range []struct {
		rule string
		from int64
		lead int64
		want []string
	}{
		{"since nothing was sent", 0, t0 + 10e6, []string{"raise 11 p0", "clear 11 p0"}},
		{"since before it began", t0, t0 + 10e6, []string{"raise 11 p0", "clear 11 p0"}},
		{"since it began", t0 + 1, t0 + 10e6, nil},
		{"too long ago", 0, t0 + 1e6 + keepFor + 1, nil},
	} {
		m := quick(t)
		m.Follow()
		m.Step(alarmtest.ViewOf(stuckAt(0)), t0)
		m.Step(alarmtest.ViewOf(stuckAt()), t0+1e6)
		wants(t, c.rule, c.want, texts(m.Lead(c.from, c.lead)))
		wants(t, c.rule+", again", nil, texts(m.Lead(c.from, c.lead)))
	}
}

func TestOfTwoIndicesTheLargerIsClearedAfterItsRaise(t *testing.T) {
	m := quick(t)
	wants(t, "raised", []string{"raise 11 p0"}, texts(m.Step(alarmtest.ViewOf(stuckAt(0)), t0)))
	m.Confirm(11, true)
	other := Saved{Last: 90, Alarms: []Entry{{Alarm{Index: 5, Kind: TokenStuck, Net: "n", Subject: "p0", Raised: t0 - 5e6}, Raised}, {Alarm{Index: 90, Kind: TokenStuck, Net: "n", Subject: "p0", Raised: t0}, Raising}}}
	m.Fold(&other, t0+1e6)
	wants(t, "the smallest stays", []string{"5 p0"}, shown(m))
	wants(t, "the one that was sent is cleared", []string{"clear 11 p0"}, texts(m.Step(alarmtest.ViewOf(stuckAt(0)), t0+1e6)))
	wants(t, "the other is sent first", []string{"raise 90 p0", "clear 90 p0"}, texts(m.Step(alarmtest.ViewOf(stuckAt(0)), t0+3e6)))
	wants(t, "the smallest is shown", []string{"5 p0"}, shown(m))
}

func TestIndicesAreLeftOutOncePerOutage(t *testing.T) {
	d := Coordinator{machine: quick(t), notes: newNotes(DefaultHistory)}
	at := t0
	raise := func(duty Duty, places ...int) string {
		at += 1e6
		d.Turn(duty, at)
		return strings.Join(texts(d.machine.Step(alarmtest.ViewOf(stuckAt(places...)), at)), " ")
	}
	unsynced := Duty{On: true, Skip: 100, Unsync: 1}
	for i, c := range []struct {
		duty Duty
		want string
	}{{Duty{On: true}, "raise 11 p0"}, {unsynced, "raise 112 p1"}, {unsynced, "raise 113 p2"}, {Duty{On: true, Skip: 100, Unsync: 2}, "raise 214 p3"}} {
		if got := raise(c.duty, []int{0, 1, 2, 3}[:i+1]...); got != c.want {
			t.Errorf("%+v: %s, want %s", c.duty, got, c.want)
		}
	}
	b := newBook(maxIndex - 3)
	b.skip = 50
	if a := (Alarm{}); !b.number(&a) || a.Index != maxIndex-2 {
		t.Errorf("where there is no room to leave out any the index is %d", a.Index)
	}
}

func TestMergedBooksHaveTheSameDigestInAnyOrder(t *testing.T) {
	a, b := quick(t), quick(t)
	a.Step(alarmtest.ViewOf(stuckAt(0, 1)), t0)
	b.book.skip = 100
	b.Step(alarmtest.ViewOf(stuckAt(2)), t0)
	a.Confirm(11, true)
	if a.book.digest() == b.book.digest() {
		t.Error("two that know other alarms have one digest")
	}
	of := func(m *Machine) (out []Saved) {
		for _, page := range m.pages(append(sortedKeys(m.book.entries), m.book.cleared...)) {
			s, err := ParsePage(page)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, s)
		}
		return out
	}
	toA, toB := of(b), of(a)
	a.Fold(&toA[0], t0)
	b.Fold(&toB[0], t0)
	if a.book.digest() != b.book.digest() || len(a.book.entries) != 3 {
		t.Errorf("%s and %s", a.book.digest(), b.book.digest())
	}
	before := a.book.digest()
	a.Confirm(11, true)
	if a.book.digest() != before {
		t.Error("what is confirmed twice changes the digest")
	}
	a.Step(alarmtest.ViewOf(stuckAt()), t0+60e6)
	a.Confirm(11, false)
	if a.book.digest() == before {
		t.Error("a clear does not change the digest")
	}
}

func TestPagesAreBounded(t *testing.T) {
	m := NewMachine(DefaultRules(), Saved{}, forgetAfter)
	m.Step(alarmtest.ViewOf(alarmtest.Wide("n", 2000, t0)), t0+601e6)
	pages := m.pages(sortedKeys(m.book.entries))
	n := 0
	for _, page := range pages {
		s, err := ParsePage(page)
		if err != nil || len(page) > MaxPage/2 {
			t.Fatalf("%d bytes, %v", len(page), err)
		}
		n += len(s.Alarms)
	}
	if n != 2000 || len(pages) < 4 || len(pages) > 20 {
		t.Errorf("%d alarms on %d pages", n, len(pages))
	}
	if _, err := ParsePage(make([]byte, MaxPage+1)); !errors.Is(err, ErrState) {
		t.Errorf("a large page gives %v", err)
	}
}

func TestClearedIndicesAreRememberedUpToABound(t *testing.T) {
	b := newBook(0)
	for i := range uint32(maxCleared + 2) {
		b.remove(i + 1)
	}
	b.remove(maxCleared) // again
	if len(b.cleared) != maxCleared || b.cleared[0] != 3 || b.gone[2] || !b.gone[3] || len(b.gone) != maxCleared {
		t.Errorf("%d cleared from %d on, %d known", len(b.cleared), b.cleared[0], len(b.gone))
	}
}

func TestCountersThatFallOrRestartBeginANewWindow(t *testing.T) {
	base := sample{at: t0, firings: 100, failures: 50}
	for what, c := range map[string]struct {
		next  sample
		since int64
	}{
		"firings fall":  {sample{t0 + 1e6, 99, 60}, 1},
		"failures fall": {sample{t0 + 1e6, 120, 49}, 1},
		"time falls":    {sample{t0 - 1, 120, 60}, 1},
		"they restart":  {sample{t0 + 1e6, 120, 60}, 2},
	} {
		var w window
		w.count(10e6, base, 1)
		if firings, failures, over := w.count(10e6, c.next, c.since); firings != 0 || failures != 0 || over != 10e6 {
			t.Errorf("%s: %d firings, %d failures over %d", what, firings, failures, over)
		}
		next := c.next
		next.at, next.firings, next.failures = next.at+1e6, next.firings+3, next.failures+2
		if firings, failures, _ := w.count(10e6, next, c.since); firings != 3 || failures != 2 {
			t.Errorf("%s, then: %d firings, %d failures", what, firings, failures)
		}
	}
	var w window
	w.count(10e6, base, 1)
	if firings, failures, _ := w.count(10e6, sample{t0 + 1e6, 101, 52}, 1); firings != 1 || failures != 2 {
		t.Errorf("counters that continue: %d firings, %d failures", firings, failures)
	}
}

// If an alarm is over before its raise was sent, the process that takes over sends both:
// a station ignores a clear whose raise it did not receive.
func TestAnAlarmThatEndsBeforeItsRaiseIsSentIsSentWhole(t *testing.T) {
	first := quick(t)
	first.Step(alarmtest.ViewOf(stuckAt(0, 1)), t0)
	first.Confirm(12, true)
	wants(t, "two that are over", []string{"clear 11 p0", "clear 12 p1"}, texts(first.Step(alarmtest.ViewOf(stuckAt()), t0+1e6)))
	saved := first.Saved()
	back, err := ParseSaved(saved.Text())
	if d := cmp.Diff(saved, back); err != nil || d != "" {
		t.Fatalf("the file: %v %s", err, d)
	}
	next := NewMachine(pairRules(t), back, forgetAfter)
	next.Lead(0, t0+2e6)
	want := []string{"raise 11 p0", "clear 11 p0", "clear 12 p1"}
	wants(t, "the next process", want, texts(next.Step(alarmtest.ViewOf(stuckAt()), t0+4e6)))
	next.Confirm(11, true)
	if s := next.Saved(); len(s.Alarms) != 2 || s.Alarms[0].Phase != Clearing || s.Alarms[1].Phase != Clearing {
		t.Errorf("when the raise is sent: %+v", s)
	}
	next.Confirm(11, false)
	next.Confirm(12, false)
	if s := next.Saved(); len(s.Alarms) != 0 || len(s.Cleared) != 2 {
		t.Errorf("when all is sent: %+v", s)
	}
	other := NewMachine(pairRules(t), Saved{Last: 10}, forgetAfter)
	other.Follow()
	other.Fold(&back, t0+2e6)
	other.Lead(0, t0+3e6)
	wants(t, "the other sidecar", want, texts(other.Step(alarmtest.ViewOf(stuckAt()), t0+5e6)))
}

// An alarm that this process raised while it stood by, and that the one on duty has not
// announced, counts after AnnounceWithin.
func TestAlarmsThatTheProcessOnDutyDoesNotAnnounce(t *testing.T) {
	type step struct {
		after int64 // microseconds since the first step
		duty  Duty
		stuck []int
		page  *Saved // of the process on duty
		want  int
	}
	standby, alone := Duty{Shared: true}, Duty{}
	announced := &Saved{Last: 20, Alarms: in(Raised, Alarm{Index: 20, Kind: TokenStuck, Net: "n", Subject: "p0", Raised: t0})}
	for rule, steps := range map[string][]step{
		"it counts after 30 s": {{0, standby, []int{0}, nil, 0}, {AnnounceWithin - 1, standby, []int{0}, nil, 0}, {AnnounceWithin, standby, []int{0}, nil, 1}},
		"each counts by itself": {{0, standby, []int{0}, nil, 0}, {1e6, standby, []int{0, 1}, nil, 0}, {AnnounceWithin, standby, []int{0, 1}, nil, 1},
			{AnnounceWithin + 1e6, standby, []int{0, 1}, nil, 2}},
		"announced":         {{0, standby, []int{0}, nil, 0}, {1e6, standby, []int{0}, announced, 0}, {AnnounceWithin, standby, []int{0}, nil, 0}},
		"announced late":    {{0, standby, []int{0}, nil, 0}, {AnnounceWithin, standby, []int{0}, nil, 1}, {AnnounceWithin + 1, standby, []int{0}, announced, 0}},
		"over":              {{0, standby, []int{0}, nil, 0}, {AnnounceWithin, standby, nil, nil, 0}},
		"on duty itself":    {{0, Duty{On: true}, []int{0}, nil, 0}, {AnnounceWithin, Duty{On: true}, []int{0}, nil, 0}},
		"takes the duty":    {{0, standby, []int{0}, nil, 0}, {AnnounceWithin, Duty{On: true}, []int{0}, nil, 0}, {AnnounceWithin + 1, standby, []int{0}, nil, 0}},
		"nothing is shared": {{0, alone, []int{0}, nil, 0}, {AnnounceWithin - 1, alone, []int{0}, nil, 0}, {AnnounceWithin, alone, []int{0}, nil, 1}},
		"notified before it stands by": {{0, Duty{On: true}, []int{0}, nil, 0}, {1e6, alone, []int{0}, nil, 0},
			{1e6 + AnnounceWithin, alone, []int{0}, nil, 0}},
		"nothing is shared, for the second time": {{0, alone, []int{0}, nil, 0}, {1e6, Duty{On: true}, []int{0}, nil, 0}, {2e6, alone, []int{0}, nil, 0},
			{2e6 + AnnounceWithin, alone, []int{0}, nil, 0}},
	} {
		d := Coordinator{machine: quick(t), notes: newNotes(DefaultHistory)}
		for i, s := range steps {
			now := t0 + s.after
			d.Turn(s.duty, now)
			if s.page != nil {
				d.Fold(s.page, now)
			}
			d.machine.Step(alarmtest.ViewOf(stuckAt(s.stuck...)), now)
			if got := d.Unannounced(now); got != s.want {
				t.Errorf("%s, step %d: got %d; want %d", rule, i, got, s.want)
			}
		}
	}
}
