// SPDX-License-Identifier: Apache-2.0

package top

import (
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/pnagent/pnagent/web/api"
)

func TestWhatTheServerWritesIsShown(t *testing.T) {
	text, err := os.ReadFile("../web/testdata/view.json")
	if err != nil {
		t.Fatal(err)
	}
	v, err := api.Decode[api.View](strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	m := New(Options{Tab: Places, Now: begun()})
	m.Update(v, nil, begun())
	if shown := m.Plain(); !strings.Contains(shown, "p0") || !strings.Contains(shown, "11m41s") {
		t.Errorf("got %s; want place p0 with an age of 11m41s", shown)
	}
}

func TestRatesThatAreNotKnownAreShownAsUnknown(t *testing.T) {
	v := scripted(0)
	v.Nets[0].Transitions = v.Nets[0].Transitions[:1]
	v.Nets = v.Nets[:1]
	for want, rate := range map[string]*float64{unknown: nil, "2.50": age64(2.5), "0": age64(0)} {
		v.Nets[0].Transitions[0].Rate = rate
		m := New(Options{Tab: Transitions, Now: begun()})
		m.Update(v, nil, begun())
		if fields := strings.Fields(strings.Split(m.Plain(), "\n")[1]); fields[2] != want {
			t.Errorf("a rate is shown as %q, want %q", fields[2], want)
		}
	}
}

func TestFiguresFitTheirColumns(t *testing.T) {
	for _, f := range []struct {
		write func(float64) string
		value float64
		want  string
	}{
		{formatAge, 0, "0.0s"}, {formatAge, 9.99, "9.9s"}, {formatAge, 59.9, "59s"}, {formatAge, 60, "1m00s"}, {formatAge, 3599, "59m59s"},
		{formatAge, 7384, "2h03m"}, {formatAge, 86400*5 + 7200, "5d02h"}, {formatAge, 86400 * 400, "400d"}, {formatAge, 1e300, "∞"}, {formatAge, -5, "0.0s"},
		{formatDuration, 0, "0s"}, {formatDuration, 0.00085, "850µs"}, {formatDuration, 0.0129, "12ms"}, {formatDuration, 1.26, "1.2s"}, {formatDuration, -0.25, "-250ms"},
		{formatCount, 0, "0"}, {formatCount, 9999999, "9999999"}, {formatCount, 12345678, "12.3M"}, {formatCount, math.MaxUint64, "18.4E"},
		{formatRate, 0, "0"}, {formatRate, 0.001, "<0.01"}, {formatRate, 9.999, "10.0"}, {formatRate, 999.99, "1000"}, {formatRate, 123456, "123k"},
	} {
		if got := f.write(f.value); got != f.want {
			t.Errorf("%v is written %q, want %q", f.value, got, f.want)
		}
	}
}

func TestColourIsByAgeAndOnlyWhereWanted(t *testing.T) {
	for _, colour := range []bool{false, true} {
		m := New(Options{Tab: Places, Colour: colour, Now: begun()})
		m.Update(scripted(0), nil, begun())
		frame := m.Frame()
		for _, code := range []string{"31m", ";31m", "38;5;", "33m"} {
			if strings.Contains(frame, code) && !colour {
				t.Errorf("without colours there is %q", code)
			}
		}
		if hot := "7;31m"; strings.Contains(frame, hot) != colour {
			t.Errorf("colour %t: a place stuck for over an hour is hot: %t", colour, !colour)
		}
	}
}

func TestTheMeanAgeOfFinishedWorkHasNoColour(t *testing.T) {
	tokens := uint64(3)
	v := &api.View{Nets: []api.Net{{NetTotals: api.NetTotals{ID: "n"}, Places: []api.Place{{ID: "end", Final: true, MeanAge: age64(86400), PlaceNow: api.PlaceNow{Tokens: &tokens}}}}}}
	mean := (&sample{view: v}).places().rows[0].cells[4]
	if got, want := (column{kind: kindAge}).show(mean, clock{}), formatAge(86400); got != want || heat(mean.num) != normal {
		t.Errorf("got %q with style %v; want %q without one", got, heat(mean.num), want)
	}
}

// A silence and another severity change the row of an active alarm, which stays selected and
// counted: neither says that it is over.
func TestASilencedAlarmIsActive(t *testing.T) {
	m := New(Options{Tab: AlarmList, Now: begun()})
	m.Resize(110, 10)
	alarms := scriptedAlarms(0)
	alarms.Active[1].SilencedUntil = 0
	m.Update(scripted(0), alarms, begun())
	m.Press("j")
	alarms = scriptedAlarms(1)
	alarms.Active[1].Severity, alarms.Active[1].SilencedUntil = "warning", timeOf(begun().Add(time.Hour))
	m.Update(scripted(1), alarms, begun().Add(time.Second))
	lines := strings.Split(ansi.Strip(m.Frame()), "\n")
	if !strings.Contains(lines[1], "[5 Alarms]2 active ") {
		t.Errorf("the tabs are %q; want 2 active alarms", lines[1])
	}
	if row := strings.Join(strings.Fields(lines[4])[:5], " "); row != "›sourceLost warning osaka 5.0s 1" || !strings.Contains(lines[4], " silenced ") {
		t.Errorf("the selected row is %q; want that of the silenced alarm with its new severity", lines[4])
	}
}

func TestASidecarWithTooMuchWorkSaysSo(t *testing.T) {
	m := New(Options{Tab: Places, Now: begun()})
	m.Resize(200, 10)
	v := scripted(0)
	v.Pace = 5
	m.Update(v, nil, begun())
	if head := strings.Split(ansi.Strip(m.Frame()), "\n")[0]; !strings.Contains(head, "too much work: engines publish each 5.0s") {
		t.Errorf("the head is %q", head)
	}
}

func TestAProcessIsShownInItsOwnWords(t *testing.T) {
	v := scripted(0)
	p := &v.Nets[0].Places[0]
	p.Called = &api.Called{Kind: "user task", Name: "Approve"}
	v.Nets[0].Transitions[0].Called = p.Called
	v.Nets[0].Transitions[1].Called = &api.Called{Kind: "timer boundary event", Name: "Nobody"}
	p.Stuck = &[]api.Token{{Instance: "a/1", Age: 60, Waits: []api.Wait{{Transition: v.Nets[0].Transitions[0].ID, Reason: "manual"}, {Transition: v.Nets[0].Transitions[1].ID, Reason: "missing", Place: p.ID, Count: 1}}}}
	m := New(Options{Tab: Places, Now: begun()})
	m.Update(v, nil, begun())
	if shown := m.Plain(); !strings.Contains(shown, `user task "Approve"`) || !strings.Contains(shown, `  a person to complete it; timer boundary event "Nobody": 1 missing in user task "Approve"`) {
		t.Errorf("the table of places has no user task:\n%s", shown)
	}
	if shown := lineText(m.placePage(&v.Nets[0], p)[0]); shown != "user task Approve  "+p.ID+"  of net "+v.Nets[0].ID {
		t.Errorf("the page of the place begins with %q", shown)
	}
	m = New(Options{Tab: AlarmList, Now: begun()})
	m.Resize(200, 30)
	m.Update(v, &api.Alarms{Active: []api.Alarm{{Index: 1, Alarm: "tokenStuck", Net: v.Nets[0].ID, Place: p.ID, Called: p.Called}}}, begun())
	if shown := m.Plain(); !strings.Contains(shown, `user task "Approve"`) {
		t.Errorf("the table of alarms has no user task:\n%s", shown)
	}
}

// lineText is a line without its styles.
func lineText(l line) (text string) {
	for _, s := range l {
		text += s.text
	}
	return text
}
