// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pnagent/pnagent/collector/alarm/alarmtest"
)

// office is a Coordinator with recipients, after its rules have settled.
type office struct{ *desk }

// team repeats, and escalates to manager, who escalates to director; pager gets what is critical.
func team() []Recipient {
	return []Recipient{
		{Name: "team", Repeat: 4 * time.Hour, EscalateAfter: time.Hour, EscalateTo: "manager"},
		{Name: "manager", Repeat: 3 * time.Hour, EscalateAfter: time.Hour, EscalateTo: "director"},
		{Name: "director"},
		{Name: "pager", Severity: Critical},
		{Name: "other", Net: "other*"},
	}
}

func newOffice(t *testing.T, saved Saved) *office {
	o := &office{newDesk(t, saved, newNotes(10))}
	o.reminds = newReminders(team())
	return o
}

// says takes a step at a time in minutes, and returns which recipients get what.
func (o *office) says(minute int64, stuck ...int) (out []string) {
	o.t.Helper()
	now := t0 + minute*60e6
	changes := o.machine.Step(alarmtest.ViewOf(stuckAt(stuck...)), now)
	o.record(now)
	o.notes.expire(now)
	for _, n := range o.Notify(changes, now) {
		what := "clear"
		switch {
		case n.Reminder.Escalated:
			what = "escalated"
		case n.Reminder.Due != 0:
			what = fmt.Sprintf("reminder of minute %d", (n.Reminder.Due-t0)/60e6)
		case n.Raise:
			what = "raise"
		}
		if n.Reminder == (Reminder{}) {
			o.machine.Confirm(n.Alarm.Index, n.Raise)
		}
		out = append(out, fmt.Sprintf("%s %d to %s", what, n.Alarm.Index, strings.Join(n.To, "+")))
	}
	return out
}

func (o *office) ack(index uint32, minute int64, withdrawn bool) {
	o.t.Helper()
	if err := o.Acknowledge([]uint32{index}, Ack{At: t0 + minute*60e6, By: "ada"}, withdrawn); err != nil {
		o.t.Fatal(err)
	}
}

func told(t *testing.T, what string, want, got []string) {
	t.Helper()
	if !slices.Equal(want, got) {
		t.Errorf("%s: %q; want %q", what, got, want)
	}
}

func TestWhatNobodyAcknowledgedIsRepeatedAndEscalated(t *testing.T) {
	o := newOffice(t, Saved{Last: 10})
	told(t, "nothing", nil, o.says(0))
	told(t, "the raise", []string{"raise 11 to team"}, o.says(1, 0))
	told(t, "before its time", nil, o.says(60, 0))
	told(t, "an hour later", []string{"escalated 11 to manager"}, o.says(61, 0))
	told(t, "an hour after that", []string{"escalated 11 to director"}, o.says(121, 0))
	told(t, "four hours after the raise, and three after the escalation", []string{"reminder of minute 241 to team", "reminder of minute 241 to manager"}, withoutIndex(o.says(241, 0)))
	told(t, "once", nil, o.says(242, 0))
	told(t, "a late one is the last that was due", []string{"reminder of minute 961 to team", "reminder of minute 961 to manager"}, withoutIndex(o.says(1000, 0)))
	o.ack(11, 1001, false)
	told(t, "acknowledged", nil, o.says(5000, 0))
	told(t, "the clear is for all that know it", []string{"clear 11 to team+manager+director"}, o.says(5001))
}

// withoutIndex leaves out the index.
func withoutIndex(said []string) (out []string) {
	for _, s := range said {
		out = append(out, strings.Replace(s, " 11 to", " to", 1))
	}
	return out
}

func TestAnAcknowledgementStopsAnEscalation(t *testing.T) {
	o := newOffice(t, Saved{Last: 10})
	o.says(0)
	o.says(1, 0)
	o.ack(11, 30, false)
	told(t, "acknowledged", nil, o.says(300, 0))
	o.ack(11, 301, true)
	told(t, "withdrawn", []string{"reminder of minute 241 11 to team", "escalated 11 to manager", "escalated 11 to director"}, o.says(302, 0))
	told(t, "and no clear for who was not told", []string{"raise 12 to team"}, o.says(303, 0, 1))
	told(t, "clears", []string{"clear 12 to team"}, o.says(310, 0))
}

func TestASilenceHoldsBackRemindersAndStartsThemAnew(t *testing.T) {
	o := newOffice(t, Saved{Last: 10})
	o.says(0)
	told(t, "the raise", []string{"raise 11 to team"}, o.says(1, 0))
	o.silence("a", "p*", 10*60, 600*60)
	told(t, "silenced", nil, o.says(599, 0))
	told(t, "its end", nil, o.says(600, 0))
	told(t, "an hour after it", []string{"escalated 11 to manager"}, o.says(660, 0))
	o.silence("b", "p*", 661*60, 700*60)
	told(t, "silenced again", nil, o.says(699, 0))
	told(t, "its end", nil, o.says(700, 0))
	told(t, "what is escalated stays so", nil, o.says(761, 0))
	told(t, "its next link does not", []string{"escalated 11 to director"}, o.says(820, 0))
}

// Of two processes the one that stands by counts what the other one sends. An escalation that waited at
// the other one when it ended is sent again.
func TestAStandbyGoesOnWhereTheOtherOneStopped(t *testing.T) {
	const manager, director = "escalated 11 to manager", "escalated 11 to director"
	for _, c := range []struct {
		from  int64    // when the other process may have ended, in minutes
		taken []string // recipients that took its escalations
		want  []string
	}{
		{200, []string{"manager", "director"}, nil},
		{200, []string{"manager"}, []string{director}},
		{200, nil, []string{manager, director}},
		{110, []string{"manager"}, []string{director}},
		{110, []string{"manager", "director"}, nil}, // it ended later
		{50, nil, []string{manager, director}},
	} {
		first := newOffice(t, Saved{Last: 10})
		first.says(0)
		first.says(1, 0)
		saved := first.Saved()

		o := newOffice(t, Saved{})
		o.Turn(Duty{Shared: true}, t0)
		o.Fold(&saved, t0+60e6)
		for minute := range int64(131) {
			told(t, "a standby", nil, o.says(minute+1, 0))
		}
		for _, to := range c.taken {
			if news, again := o.ConfirmEscalation(Escalated{11, to}), o.ConfirmEscalation(Escalated{11, to}); !news || again {
				t.Errorf("%s: news %t, and again %t; want it once", to, news, again)
			}
		}
		if got := o.Escalations(); len(got) != len(c.taken) {
			t.Errorf("got %v; want %v", got, c.taken)
		}
		if o.ConfirmEscalation(Escalated{11, "nobody"}) || o.ConfirmEscalation(Escalated{99, "manager"}) {
			t.Error("an escalation of no recipient, or of no alarm, is news")
		}
		now := int64(132)
		o.Turn(Duty{On: true, From: t0 + c.from*60e6}, t0+now*60e6)
		told(t, fmt.Sprintf("after a take-over, %+v", c), c.want, o.says(now, 0))
		told(t, "once", nil, o.says(now+1, 0))
	}
}

// Other recipients get what is due from now on; one that stays the same continues.
func TestOtherRecipientsGetNothingOfBefore(t *testing.T) {
	o := newOffice(t, Saved{Last: 10})
	o.says(0)
	told(t, "the raise", []string{"raise 11 to team"}, o.says(1, 0))
	told(t, "an escalation", []string{"escalated 11 to manager"}, o.says(61, 0))
	to := append(team(), Recipient{Name: "new", Repeat: time.Hour})
	to[1].Repeat = 0 // manager
	o.reminds = o.reminds.with(to, t0+90*60e6)
	told(t, "at once", nil, o.says(90, 0))
	told(t, "the next of each", []string{"escalated 11 to director", "reminder of minute 121 11 to new"}, o.says(121, 0))
	told(t, "what is new", []string{"raise 12 to team+new"}, o.says(122, 0, 1))
}

// A process that starts again makes due again what it may have sent: the queue of a sink knows it.
func TestARestartMissesNoEscalation(t *testing.T) {
	first := newOffice(t, Saved{Last: 10})
	first.says(0)
	first.says(1, 0)
	o := newOffice(t, first.Saved())
	told(t, "until it has settled", nil, o.says(100, 0))
	told(t, "then", []string{"escalated 11 to manager"}, o.says(101, 0))
}

func TestARecipientGetsItsSeveritiesAndNets(t *testing.T) {
	o := newOffice(t, Saved{Last: 10})
	a := Alarm{Index: 5, Kind: TokenStuck, Net: "others", Severity: Critical}
	for _, c := range []struct {
		n    Notification
		want []string
	}{
		{Notification{Change: Change{a, true}}, []string{"team", "pager", "other"}},
		{Notification{Change: Change{Alarm{Index: 6, Severity: Major}, true}}, []string{"team"}},
		{Notification{Change: Change{Alarm{Index: 6, Severity: Critical, Raised: t0}, false}}, []string{"team", "manager", "director", "pager"}}, // another process may have escalated it
		{Notification{Suppressed: 3}, []string{"team", "pager", "other"}},
	} {
		told(t, fmt.Sprintf("%+v", c.n), c.want, o.reminds.recipients(&c.n, t0+360_000*1_000_000))
	}
}

// A storm of reminders leaves room for raises.
func TestRemindersWaitForRoom(t *testing.T) {
	o := newOffice(t, Saved{Last: 10})
	o.says(0)
	o.says(1, 0, 1, 2, 3)
	now := t0 + 61*60e6
	o.limiter.level, o.limiter.filled, o.limiter.begun = reserve+2*token, now, true
	if got := o.says(61, 0, 1, 2, 3); len(got) != 2 {
		t.Errorf("%q; want two, for which there is room", got)
	}
	if due := o.Due(now); due <= now || due > now+60e6 {
		t.Errorf("the next are due after %d µs; want within a minute", due-now)
	}
	if got := o.says(62, 0, 1, 2, 3); len(got) != 2 {
		t.Errorf("%q; want the other two", got)
	}
}
