// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"fmt"
	"testing"

	"github.com/pnagent/pnagent/collector/alarm/alarmtest"
)

// desk is a Coordinator whose notifications are sent at once.
type desk struct {
	Coordinator
	t *testing.T
}

func newDesk(t *testing.T, saved Saved, n *notes) *desk {
	d := &desk{Coordinator: Coordinator{machine: NewMachine(pairRules(t), saved, forgetAfter), notes: n}, t: t}
	d.Turn(Duty{On: true}, t0)
	return d
}

// at takes a step, and returns what is sent.
func (d *desk) at(second int64, stuck ...int) []string {
	now := t0 + second*1e6
	changes := d.machine.Step(alarmtest.ViewOf(stuckAt(stuck...)), now)
	d.record(now)
	d.notes.expire(now)
	var sent []Change
	for _, n := range d.Notify(changes, now) {
		d.machine.Confirm(n.Alarm.Index, n.Raise)
		sent = append(sent, n.Change)
	}
	return texts(sent)
}

// silence begins a silence of a place.
func (d *desk) silence(id, place string, from, until int64) {
	d.t.Helper()
	s := Silence{ID: id, From: t0 + from*1e6, Until: t0 + until*1e6, By: "ada", Selection: Selection{Place: place}}
	if err := d.notes.silence(s); err != nil {
		d.t.Fatal(err)
	}
}

func TestASilenceHoldsBackWhatIsRaisedDuringIt(t *testing.T) {
	d := newDesk(t, Saved{Last: 10}, newNotes(10))
	d.silence("a", "p*", 0, 20)
	wants(t, "a raise", nil, d.at(1, 0, 1, 2))
	wants(t, "is shown", []string{"11 p0", "12 p1", "13 p2"}, shown(d.machine))
	wants(t, "one is over", nil, d.at(5, 0, 1))
	wants(t, "still", nil, d.at(19, 0, 1))
	wants(t, "at its end what is active is sent", []string{"raise 11 p0", "raise 12 p1"}, d.at(20, 0, 1))
	wants(t, "once", nil, d.at(21, 0, 1))
	wants(t, "and its clear", []string{"clear 11 p0"}, d.at(22, 1))
	if got := d.skipped().Silenced; got != 4 {
		t.Errorf("%d notifications were held back; want three raises and a clear", got)
	}
	if len(d.notes.cleared) != 2 {
		t.Errorf("%d cleared alarms; want also the silenced one", len(d.notes.cleared))
	}
}

func TestTheClearOfARaiseThatWasSentIsSentDuringASilence(t *testing.T) {
	d := newDesk(t, Saved{Last: 10}, newNotes(10))
	wants(t, "before the silence", []string{"raise 11 p0"}, d.at(1, 0))
	d.silence("a", "p0", 2, 60)
	wants(t, "nothing", nil, d.at(3, 0))
	wants(t, "the clear", []string{"clear 11 p0"}, d.at(4))
	wants(t, "the next raise", nil, d.at(5, 0))
	wants(t, "and its clear", nil, d.at(6))
	wants(t, "at the end", nil, d.at(60))
}

func TestARaiseIsHeldBackUntilTheLastSilenceIsOver(t *testing.T) {
	d := newDesk(t, Saved{Last: 10}, newNotes(10))
	d.silence("a", "p0", 0, 10)
	d.silence("b", "p?", 0, 20)
	wants(t, "both", nil, d.at(1, 0))
	wants(t, "one", nil, d.at(11, 0))
	if err := d.notes.unsilence("b", "eve", t0+12e6); err != nil {
		t.Fatal(err)
	}
	wants(t, "none", []string{"raise 11 p0"}, d.at(12, 0))
}

// The next process has the alarms and the silences, and nothing else.
func TestTheNextProcessHoldsBackAndSendsWhatThePreviousOneHeldBack(t *testing.T) {
	for _, c := range []struct {
		what  string
		after func(*desk) []string
		want  []string
	}{
		{"the silence goes on, then ends", func(d *desk) []string { return append(d.at(8, 0), d.at(20, 0)...) }, []string{"raise 11 p0"}},
		{"the silence ended between", func(d *desk) []string { return append(d.at(20, 0), d.at(22, 0)...) }, []string{"raise 11 p0"}},
		{"the alarm is over during the silence", func(d *desk) []string {
			return append(append(append(d.at(8, 0), d.at(9)...), d.at(15)...), d.at(21)...)
		}, nil},
	} {
		first := newDesk(t, Saved{Last: 10}, newNotes(10))
		first.silence("a", "p0", 0, 20)
		wants(t, c.what, nil, first.at(1, 0))
		wants(t, c.what, nil, first.at(5, 0))
		saved, err := ParseSaved(savedText(first.machine))
		if err != nil {
			t.Fatal(err)
		}
		kept := newNotes(10)
		kept.merge(first.notes.all(), t0+6e6, always)
		second := newDesk(t, saved, kept)
		wants(t, c.what, c.want, c.after(second))
		var clear []string
		if c.want != nil {
			clear = []string{"clear 11 p0"}
		}
		wants(t, c.what+": when it is over", clear, second.at(40))
	}
}

func savedText(m *Machine) []byte {
	s := m.Saved()
	return s.Text()
}

// A raise that another process had begun before the silence may have been sent: a clear
// alone would be as wrong as none.
func TestARaiseThatMayHaveBeenSentIsSentBeforeItsClear(t *testing.T) {
	for _, c := range []struct {
		what         string
		raised, from int64 // seconds
		want         []string
	}{
		{"raised before the silence", 0, 1, []string{"raise 11 p0", "clear 11 p0"}},
		{"raised during the silence", 2, 1, nil},
	} {
		a := Alarm{Index: 11, Kind: TokenStuck, Net: "n", Subject: "p0", Raised: t0 + c.raised*1e6}
		d := newDesk(t, Saved{Last: 11, Alarms: in(Raising, a)}, newNotes(10))
		d.silence("a", "p0", c.from, 100)
		wants(t, c.what+": while it is active", nil, append(d.at(3, 0), d.at(5, 0)...))
		wants(t, c.what+": when it is over", c.want, d.at(15))
		wants(t, c.what+": at the end", nil, d.at(100))
	}
}

// A sidecar that stands by holds nothing back, as it sends nothing.
func TestAStandbyReleasesNothing(t *testing.T) {
	d := newDesk(t, Saved{Last: 10}, newNotes(10))
	d.silence("a", "p0", 0, 10)
	wants(t, "held back", nil, d.at(1, 0))
	d.Turn(Duty{Shared: true}, t0+2e6)
	wants(t, "after the end", nil, d.at(11, 0))
	d.Turn(Duty{On: true, From: t0 + 11e6}, t0+12e6)
	wants(t, "on duty again", nil, d.at(12, 0))
	wants(t, "it is sent", []string{"raise 11 p0"}, d.at(14, 0))
}

// A sidecar that stands by notes what the other one clears, whichever page comes first.
func TestAStandbyNotesWhatTheOtherClears(t *testing.T) {
	a := Alarm{Index: 20, Kind: TokenStuck, Net: "n", Subject: "p0", Raised: t0, Text: "stuck"}
	over := a
	over.Text = "over"
	for _, c := range []struct {
		what  string
		pages []Saved
		want  string
	}{
		{"a clear", []Saved{{Last: 20, Alarms: in(Raised, a)}, {Last: 20, Alarms: in(Clearing, over)}, {Last: 20, Cleared: []uint32{20}}}, "20 over minor"},
		{"only its confirmation", []Saved{{Last: 20, Alarms: in(Raised, a)}, {Last: 20, Cleared: []uint32{20}}}, "20 stuck minor"},
		{"a clear without its raise", []Saved{{Last: 20, Alarms: in(Clearing, over)}}, "20 over minor"},
		{"a confirmation alone", []Saved{{Last: 20, Cleared: []uint32{20}}}, ""},
	} {
		d := newDesk(t, Saved{Last: 10}, newNotes(10))
		d.Turn(Duty{Shared: true}, t0)
		for i := range c.pages {
			d.Fold(&c.pages[i], t0+1e6)
			d.record(t0 + 1e6)
		}
		got := ""
		for _, e := range d.notes.cleared {
			got += fmt.Sprintf("%d %s %s", e.Index, e.Text, e.Severity)
		}
		if got != c.want {
			t.Errorf("%s: noted %q; want %q", c.what, got, c.want)
		}
	}
}

// A storm of raises at the end of a silence is bounded as any other.
func TestTheLimitOfNotificationsHoldsAtTheEndOfASilence(t *testing.T) {
	d := newDesk(t, Saved{Last: 10}, newNotes(10))
	d.silence("a", "*", 0, 10)
	d.notes.expire(t0 + 1e6)
	net := alarmtest.Wide("n", 100, t0-60e6)
	changes := d.machine.Step(alarmtest.ViewOf(net), t0+1e6)
	if due := d.Notify(changes, t0+1e6); len(changes) != 100 || due != nil {
		t.Fatalf("%d changes, %d due", len(changes), len(due))
	}
	d.notes.expire(t0 + 10e6)
	due := d.Notify(nil, t0+10e6)
	if len(due) != burst || d.limiter.suppressed != 100-burst {
		t.Errorf("%d due and %d suppressed; want %d and the rest", len(due), d.limiter.suppressed, burst)
	}
	if got := fmt.Sprint(due[0].Alarm.Severity); got != "minor" {
		t.Errorf("the severity is %s", got)
	}
}

// A Machine without NATS cannot know whether the process that began a notification continues: it may have ended
// the alarm since then, or hold its raise back.
//
//promise:clears dark
func TestWithoutNATSNothingThatAnotherProcessBeganIsSentAgain(t *testing.T) {
	m := quick(t)
	m.Follow()
	m.Fold(&Saved{Last: 20, Alarms: in(Raising, Alarm{Index: 20, Kind: TokenStuck, Net: "n", Subject: "p0", Raised: t0})}, t0)
	wants(t, "at the take-over", nil, texts(m.Lead(0, t0+1e6)))
	cut := alarmtest.ViewOf(stuckAt(0))
	cut.Interrupted = true
	wants(t, "without NATS", nil, texts(m.Step(cut, t0+5e6)))
	wants(t, "with it", []string{"raise 20 p0"}, texts(m.Step(alarmtest.ViewOf(stuckAt(0)), t0+9e6)))
}

// A raise is held back here, and the other sidecar may have sent it meanwhile. Its clear is sent then, after the
// raise where that is in doubt.
//
//promise:clears cut
func TestARaiseThatIsHeldBackMayBeSentByTheOtherSidecar(t *testing.T) {
	for name, test := range map[string]struct {
		happens func(*desk)
		want    []string
	}{
		"nothing happens": {func(*desk) {}, nil},
		"the other one says that it has": {func(d *desk) {
			d.Fold(&Saved{Last: 11, Alarms: in(Raised, Alarm{Index: 11, Kind: TokenStuck, Net: "n", Subject: "p0", Raised: t0 + 1e6})}, t0+3e6)
		}, []string{"clear 11 p0"}},
		"both could have the duty for a while": {func(d *desk) { d.Turn(Duty{On: true, Skip: 512, Unsync: t0 + 2e6}, t0+3e6) }, []string{"raise 11 p0", "clear 11 p0"}},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, Saved{Last: 10}, newNotes(10))
			d.silence("a", "p0", 0, 20)
			wants(t, "held back", nil, d.at(1, 0))
			test.happens(d)
			wants(t, "at its end", test.want, d.at(6))
		})
	}
}

// The other sidecar gave the alarm a smaller index. The larger one, whose raise was held back, ends without a
// word: no station knows it.
func TestAnIndexThatWasNeverSentEndsWithoutAWord(t *testing.T) {
	d := newDesk(t, Saved{Last: 10}, newNotes(10))
	d.silence("a", "p0", 0, 20)
	wants(t, "held back", nil, d.at(1, 0))
	now := t0 + 2e6
	d.Notify(d.Fold(&Saved{Last: 11, Alarms: in(Raised, Alarm{Index: 5, Kind: TokenStuck, Net: "n", Subject: "p0", Raised: t0})}, now), now)
	d.notes.version++ // what is held back is looked at again
	d.Notify(nil, now)
	wants(t, "then", nil, d.at(3, 0))
}

// An alarm was ended without a word while the other sidecar, which could not be reached, sent its raise.
//
//promise:clears cut
func TestAnAlarmThatEndedWithoutAWordIsClearedIfTheOtherSidecarSentIt(t *testing.T) {
	d := newDesk(t, Saved{Last: 10}, newNotes(10))
	d.silence("a", "p0", 0, 20)
	wants(t, "held back", nil, d.at(1, 0))
	wants(t, "ended", nil, d.at(6))
	page := Saved{Last: 11, Alarms: in(Raised, Alarm{Index: 11, Kind: TokenStuck, Net: "n", Subject: "p0", Raised: t0 + 1e6})}
	wants(t, "the other one has sent it", []string{"clear 11 p0"}, texts(d.Fold(&page, t0+7e6)))
	wants(t, "again", nil, texts(d.Fold(&page, t0+8e6)))
}

// This sidecar could not reach the other one, and sent a raise. The other one has ended the alarm, before that or
// without a word. So this one sends the clear, although the other one may have the duty now.
//
//promise:clears cut
func TestAnAlarmThatWasRaisedWithoutTheOtherSidecarEndsHere(t *testing.T) {
	for name, test := range map[string]struct {
		raised, learns Duty
		late           bool // the receiver confirms the raise after the page of the other one
		want           []string
	}{
		"alone, and it has the duty":     {Duty{On: true, Skip: 512}, Duty{On: true, Skip: 512}, false, []string{"clear 11 p0"}},
		"alone, and the other one leads": {Duty{On: true, Skip: 512}, Duty{Shared: true, Elsewhere: true, Skip: 512}, false, []string{"clear 11 p0"}},
		"alone, and confirmed late":      {Duty{On: true, Skip: 512}, Duty{On: true, Skip: 512}, true, []string{"clear 11 p0"}},
		"alone, and both agree since":    {Duty{On: true, Skip: 512}, Duty{On: true}, false, nil},
		"beside the other one":           {Duty{On: true}, Duty{Shared: true, Elsewhere: true}, false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, Saved{Last: 10}, newNotes(10))
			wants(t, "raised", []string{"raise 11 p0"}, d.at(1, 0))
			d.Turn(test.raised, t0+1e6)
			now := t0 + 2e6
			ends := func() []Change { return d.Fold(&Saved{Last: 11, Cleared: []uint32{11}}, now) }
			var changes []Change
			if test.late {
				changes = ends()
			}
			d.Confirm(Change{Alarm: Alarm{Index: 11, Kind: TokenStuck, Net: "n", Subject: "p0"}, Raise: true})
			d.Turn(test.learns, now)
			if !test.late {
				changes = ends()
			}
			var sent []Change
			for _, n := range d.Notify(changes, now) {
				sent = append(sent, n.Change)
			}
			wants(t, "the other one has ended it", test.want, texts(sent))
			wants(t, "then it is over", nil, shown(d.machine))
		})
	}
}
