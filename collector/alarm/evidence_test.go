// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/collector/alarm/alarmtest"
	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/stats"
)

// engineA is a View with one stuck token in each of these places, all of the engine a, which
// is in a state; of the engine b there is none.
func engineA(state merge.SourceState, forgottenAt int64, places ...int) *merge.View {
	net := stuckAt(places...)
	a := merge.Source{Name: "a", Net: "n", State: state, LastMessage: t0, Columns: stats.AllColumns, Forgotten: forgottenAt != 0}
	if state != merge.Up {
		r := &merge.Remnant{Source: "a", Left: forgottenAt, Columns: stats.AllColumns}
		for i := range net.Rows.Places {
			if row := &net.Rows.Places[i]; row.Oldest != 0 || forgottenAt != 0 {
				r.Places = append(r.Places, merge.RemnantPlace{Place: i, Tokens: row.Tokens, Oldest: t0 - 60e6})
			}
		}
		net.Remnants = []*merge.Remnant{r}
	}
	v := alarmtest.ViewOf(net)
	v.Sources = []merge.Source{a, {Name: "b", Net: "n", State: merge.Up, LastMessage: t0, Columns: stats.AllColumns}}
	return v
}

// sent takes a step of a desk, and returns what is sent.
func (d *desk) sent(v *merge.View, second int64) []string {
	now := t0 + second*1e6
	var sent []Change
	for _, n := range d.Notify(append(d.machine.Step(v, now), d.closed...), now) {
		d.machine.Confirm(n.Alarm.Index, n.Raise)
		sent = append(sent, n.Change)
	}
	d.closed = nil
	return texts(sent)
}

//promise:evidence kill
func TestWhatFollowsFromALostSourceIsNotSentBeforeItIsBack(t *testing.T) {
	d := newDesk(t, Saved{Last: 10}, newNotes(10))
	wants(t, "before", []string{"raise 11 p0"}, d.sent(engineA(merge.Up, 0, 0), 0))
	wants(t, "the engine hangs", []string{"raise 12 a"}, d.sent(engineA(merge.Stale, 0, 0), 3))
	wants(t, "its tokens become old", nil, d.sent(engineA(merge.Stale, 0, 0, 1, 2, 3), 4))
	state := d.machine.State(0)
	var follow []string
	for _, a := range state.Active {
		if a.Follows != "" {
			follow = append(follow, a.Subject)
		}
	}
	wants(t, "they are shown", []string{"p1", "p2", "p3"}, follow)
	if got := state.BySeverity(); got[Minor] != 1 || got[Major] != 1 {
		t.Errorf("counted by severity: %v; want the first token and the source", got)
	}
	wants(t, "one moves before the engine is back", nil, d.sent(engineA(merge.Stale, 0, 0, 1, 2), 5))
	back := d.sent(engineA(merge.Up, 0, 0, 1), 6)
	wants(t, "the engine is back, and one token still stuck", []string{"raise 13 p1"}, back)
	wants(t, "nothing is sent of the others", nil, d.sent(engineA(merge.Up, 0, 0, 1), 7))
	if got := d.skipped(); got.Follows != 5 || got.Silenced != 0 {
		t.Errorf("skipped %+v; want three raises and two clears that follow", got)
	}
}

func TestNothingIsSentAboutWhatIsForgotten(t *testing.T) {
	d := newDesk(t, Saved{Last: 10}, newNotes(10))
	d.sent(engineA(merge.Up, 0, 0), 0)
	d.sent(engineA(merge.Stale, 0, 0), 3)
	gone := func(now int64) *merge.View { return engineA(merge.Gone, t0+now*1e6) }
	wants(t, "forgotten", nil, d.sent(gone(900), 900))
	wants(t, "an hour later", nil, d.sent(gone(900), 4500))
	wants(t, "both are shown", []string{"11 p0", "12 a"}, shown(d.machine))
	// a reload, the file, and a page for the other sidecar keep the reason
	d.machine = d.machine.With(pairRules(t))
	wants(t, "after a reload", nil, d.sent(gone(900), 4501))
	saved := d.machine.Saved()
	read, err := ParseSaved(saved.Text())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&Origins{{"a", ""}}, read.Alarms[0].Lost); diff != "" {
		t.Errorf("the file has the source (-want +got): %s", diff)
	}
	after := newDesk(t, read, newNotes(10))
	alone := alarmtest.ViewOf(stuckAt()) // the source is not known any more
	wants(t, "after a restart", nil, after.sent(alone, 5000))
	wants(t, "after Settle", nil, after.sent(alone, 6000))
	other := quick(t)
	other.Follow()
	page, err := ParsePage(d.All()[0])
	if err != nil {
		t.Fatal(err)
	}
	other.Fold(&page, t0+5000e6)
	other.Step(alone, t0+5001e6)
	wants(t, "a sidecar that takes over", nil, texts(other.Lead(0, t0+5002e6)))
	wants(t, "sends no end", nil, texts(other.Step(alone, t0+6000e6)))
	wants(t, "and shows both", []string{"11 p0", "12 a"}, shown(other))
	for _, a := range other.State(0).Active {
		if a.Unknown == "" || !a.Outdated {
			t.Errorf("alarm %d is not unknown: %s", a.Index, a.Text)
		}
	}
}

func TestASidecarThatFollowsClosesForThePair(t *testing.T) {
	leads, follows := quick(t), quick(t)
	follows.Follow()
	leads.Step(engineA(merge.Up, 0, 0, 1), t0)
	share := func(from *Machine, to *Machine, at int64) []Change {
		page := from.part(sortedKeys(from.book.entries))
		changes, _ := to.Fold(&page, t0+at)
		return changes
	}
	for _, m := range []*Machine{leads, follows} {
		m.Step(engineA(merge.Stale, 0, 0, 1), t0+3e6)
	}
	for _, index := range []uint32{11, 12, 13} { // the raises were sent
		leads.Confirm(index, true)
	}
	share(leads, follows, 4e6)
	for _, m := range []*Machine{leads, follows} {
		m.Step(engineA(merge.Gone, t0+900e6), t0+900e6)
	}
	closable, holding := follows.closable(&Selection{Source: "*"})
	if diff := cmp.Diff([]uint32{11, 12, 13}, closable); diff != "" || holding != nil {
		t.Errorf("closable, and holding %v (-want +got): %s", holding, diff)
	}
	closed, changes, err := follows.Close([]uint32{11, 13}, "closed by ada", t0+901e6)
	if err != nil || changes != nil || len(closed) != 2 {
		t.Errorf("closed %v, changes %v, error %v", closed, changes, err)
	}
	share(follows, leads, 902e6)
	wants(t, "the one on duty shows", []string{"12 p1"}, shown(leads))
	var sent []Change
	for at := int64(903e6); at < 910e6; at += 1e6 {
		sent = append(sent, leads.Step(engineA(merge.Gone, t0+900e6), t0+at)...)
	}
	wants(t, "and sends the ends", []string{"clear 11 p0", "clear 13 a"}, texts(sent))
	if len(sent) > 0 && sent[0].Alarm.Text == "" {
		t.Error("the end has no text")
	}
	if _, _, err := leads.Close([]uint32{11}, "closed by ada", t0+911e6); !errors.Is(err, ErrNoAlarm) {
		t.Errorf("closing it again: %v", err)
	}
}

func TestOriginsAreBoundedAndEndTogether(t *testing.T) {
	m := quick(t)
	stuck := stuckAt(0)
	m.Step(alarmtest.ViewOf(stuck), t0)
	lost, back := stuckAt(), stuckAt()
	view, after := alarmtest.ViewOf(lost), alarmtest.ViewOf(back)
	for i := range maxLost + 50 {
		name := fmt.Sprintf("e%03d", i)
		lost.Remnants = append(lost.Remnants, &merge.Remnant{Source: name, Left: t0 + 1e6, Places: []merge.RemnantPlace{{Place: 0, Tokens: 1, Oldest: t0 - 60e6}}})
		view.Sources = append(view.Sources, merge.Source{Name: name, Net: "n", State: merge.Gone, Forgotten: true, LastMessage: t0})
		after.Sources = append(after.Sources, merge.Source{Name: name, Net: "n", State: merge.Up, Columns: stats.AllColumns})
	}
	m.Step(view, t0+1e6)
	if got := len(m.State(0).Active[0].Lost.All()); got != maxLost+1 {
		t.Errorf("%d origins; want %d and one for the others", got, maxLost)
	}
	wants(t, "all are back", []string{"clear 11 p0"}, texts(append(m.Step(after, t0+2e6), m.Step(after, t0+3e6)...)))
}

func TestAChangeOfSeverityNeitherClearsNorForgetsAWindow(t *testing.T) {
	rules := func(severity Severity) *Rules {
		r := &Rules{}
		r.base[TransitionLoop] = Rule{On: true, Severity: severity, Above: 9, Window: 60e9, ClearAfter: 1e9}
		return r
	}
	m := NewMachine(rules(Minor), Saved{Last: 10}, forgetAfter)
	net := alarmtest.Wide("n", 1, 0)
	var all []Change
	for s := range int64(300) {
		if s == 100 || s == 200 {
			m = m.With(rules(map[int64]Severity{100: Critical, 200: Warning}[s]))
		}
		net = alarmtest.Moved(net, 0)
		net.Rows.Transitions[0].Firings = uint64(s) * 10
		all = append(all, m.Step(alarmtest.ViewOf(net), t0+s*1e6)...)
	}
	wants(t, "the alarm is raised once and stays", []string{"raise 11 t0"}, texts(all))
	if got := m.State(0).Active[0].Severity; got != Warning {
		t.Errorf("severity %s; want that of the rules now", got)
	}
}

//promise:evidence stop
func TestARestartDoesNotClearWhatItHasNotSeenForAWindow(t *testing.T) {
	rules := &Rules{Settle: 1e6}
	rules.base[FailureRatio] = Rule{On: true, Above: 0.5, Runs: 20, Window: 60e9, ClearAfter: 1e9}
	m := NewMachine(rules, Saved{Last: 11, Alarms: in(Raised, Alarm{Index: 11, Kind: FailureRatio, Net: "n", Subject: "t0", Raised: t0, Text: "x"})}, forgetAfter)
	net := alarmtest.Wide("n", 1, 0)
	var all []string
	for s := range int64(90) {
		for _, c := range m.Step(alarmtest.ViewOf(alarmtest.Moved(net, 0)), t0+s*1e6) {
			all = append(all, fmt.Sprint(s, texts([]Change{c})))
		}
	}
	wants(t, "nothing failed for a window", []string{"61 [clear 11 t0]"}, all)
}
