// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/collector/alarm/alarmtest"
	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/stats"
)

const minute = hour / 60

// job is a token that waits for a reason.
type job struct {
	age    int64 // µs
	reason stats.Reason
	until  int64 // from now; 0 for none
}

// jobsNet returns a net with one place that holds jobs. Without grouped its source does not report why they wait.
func jobsNet(now int64, grouped bool, jobs ...job) *merge.NetView {
	n := alarmtest.Wide("n", 1, 1)
	row := &n.Rows.Places[0]
	*row = stats.Place{Tokens: uint64(len(jobs))}
	n.Rows.Columns = stats.ColTokens | stats.ColOldest | stats.ColStuck
	for i, j := range jobs {
		w := stats.Wait{Reason: j.reason, Place: stats.NoPlace, What: "job " + fmt.Sprint(i)}
		if j.until != 0 {
			w.Until = now + j.until
		}
		t := stats.Token{Instance: fmt.Sprint("i", i), Injected: now - j.age, Waits: []stats.Wait{w}}
		row.Oldest = stats.Earlier(row.Oldest, t.Injected)
		row.Stuck = stats.MergeStuck(row.Stuck, []stats.Token{t})
		if grouped && j.reason != stats.ReasonUnknown {
			n.Rows.Columns |= stats.ColGroups
			row.Groups = stats.MergeGroups(row.Groups, []stats.Group{{Reason: j.reason, Tokens: 1, Due: t.Due(), Oldest: t}})
		}
	}
	return n
}

const reasonRules = `defaults:
  stuck:
    - {after: 10m}
    - {reason: incident, after: 0s, severity: critical}
    - {reason: noWorker, after: 1m, severity: major}
    - {reason: delayed, after: due + 5m}
    - {reason: manual, after: off}
`

func TestARuleSelectsTokensByWhyTheyWait(t *testing.T) {
	running, manual, delayed := stats.ReasonRunning, stats.ReasonManual, stats.ReasonDelayed
	for name, c := range map[string]struct {
		jobs []job
		want []string // reason, severity, how many, instance
	}{
		"nothing waits":                               {nil, nil},
		"an incident is one at once":                  {[]job{{1, stats.ReasonIncident, 0}}, []string{"incident critical 1 i0"}},
		"a timer that is due tomorrow is none":        {[]job{{3 * hour, delayed, 24 * hour}}, nil},
		"a timer that was due 4 minutes ago is none":  {[]job{{3 * hour, delayed, -4 * minute}}, nil},
		"a timer that was due 6 minutes ago":          {[]job{{3 * hour, delayed, -6 * minute}}, []string{"delayed minor 1 i0"}},
		"the timer that is due first, not the oldest": {[]job{{3 * hour, delayed, hour}, {2 * hour, delayed, -6 * minute}}, []string{"delayed minor 2 "}},
		"a lost worker is one soon":                   {[]job{{61_000_000, stats.ReasonNoWorker, 0}, {59_000_000, stats.ReasonNoWorker, 0}}, []string{"noWorker major 2 i0"}},
		"a lost worker is none before":                {[]job{{59_000_000, stats.ReasonNoWorker, 0}}, nil},
		"a rule that is off hides no other":           {[]job{{9 * hour, manual, 0}, {11 * minute, running, 0}}, []string{"unknown minor 1 i1"}},
		"a rule that is off":                          {[]job{{9 * hour, manual, 0}}, nil},
		"every other reason has the rule without one": {[]job{{11 * minute, running, 0}, {12 * minute, stats.ReasonEnabled, 0}}, []string{"unknown minor 2 i1"}},
		"a reason that is not known has it, too":      {[]job{{11 * minute, stats.ReasonUnknown, 0}, {3 * hour, delayed, hour}}, []string{"unknown minor 1 i0"}},
		"a young incident behind an old job": {[]job{{5 * hour, running, 0}, {3, stats.ReasonIncident, 0}, {2, stats.ReasonIncident, 0}},
			[]string{"unknown minor 1 i0", "incident critical 2 i1"}},
	} {
		rules, err := ReadRules(strings.NewReader(reasonRules), "alarms.yaml")
		if err != nil {
			t.Fatal(err)
		}
		m := NewMachine(rules, Saved{}, time.Hour)
		m.Step(alarmtest.ViewOf(jobsNet(t0, true, c.jobs...)), t0)
		var got []string
		for _, a := range m.State(0).Active {
			got = append(got, fmt.Sprint(a.Selects, " ", a.Severity, " ", a.Affected, " ", a.Why.Instance))
			if a.Why.Instance != "" && !strings.Contains(a.Text, fmt.Sprintf("; instance %q: job ", a.Why.Instance)) {
				t.Errorf("%s: %s", name, a.Text)
			}
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

//promise:evidence none
func TestAnAlarmByReasonEndsByEvidence(t *testing.T) {
	incident, running := job{hour, stats.ReasonIncident, 0}, job{hour, stats.ReasonRunning, 0}
	for name, c := range map[string]struct {
		then  *merge.NetView
		state string
	}{
		"the token runs again":               {jobsNet(t0, true, running), "over"},
		"the token left":                     {jobsNet(t0, true), "over"},
		"it is still there":                  {jobsNet(t0, true, incident, running), "holds"},
		"no source reports why tokens wait":  {jobsNet(t0, false, running), "unknown: " + untoldReason},
		"an old token of an unknown reason":  {jobsNet(t0, true, running, job{hour, stats.ReasonUnknown, 0}), "unknown: " + untoldReason},
		"a young token of an unknown reason": {jobsNet(t0, true, running, job{9_000_000 - 2*minute, stats.ReasonUnknown, 0}), "over"},
	} {
		rules, err := ReadRules(strings.NewReader(reasonRules), "alarms.yaml")
		if err != nil {
			t.Fatal(err)
		}
		m := NewMachine(rules, Saved{}, time.Hour)
		m.Step(alarmtest.ViewOf(jobsNet(t0, true, incident)), t0)
		m.Step(alarmtest.ViewOf(c.then), t0+1)
		m.Step(alarmtest.ViewOf(c.then), t0+2*minute)
		state := "over"
		for _, a := range m.State(0).Active {
			switch {
			case a.Selects != stats.ReasonIncident:
			case a.Unknown != "":
				state = "unknown: " + a.Unknown
			default:
				state = "holds"
			}
		}
		if state != c.state {
			t.Errorf("%s: %s, want %s", name, state, c.state)
		}
	}
}

func TestAnAlarmByReasonOutlivesARestartAndARuleThatGoes(t *testing.T) {
	rules, err := ReadRules(strings.NewReader(reasonRules), "alarms.yaml")
	if err != nil {
		t.Fatal(err)
	}
	view := alarmtest.ViewOf(jobsNet(t0, true, job{hour, stats.ReasonIncident, 0}, job{hour, stats.ReasonRunning, 0}))
	m := NewMachine(rules, Saved{}, time.Hour)
	m.Step(view, t0)
	saved := m.book.saved([]uint32{1, 2})
	read, err := ParseSaved(saved.Text())
	if err != nil {
		t.Fatal(err)
	}
	next := NewMachine(rules, read, time.Hour)
	if changes := next.Step(view, t0+1e6); slices.ContainsFunc(changes, func(c Change) bool { return c.Alarm.Index > 2 }) {
		t.Errorf("after a restart: %+v", changes)
	}
	if active := next.State(0).Active; len(active) != 2 || active[1].Selects != stats.ReasonIncident || active[1].Severity != Critical {
		t.Fatalf("after a restart: %+v", active)
	}
	next = next.With(DefaultRules())
	changes := next.Step(view, t0+2e6)
	if len(changes) != 1 || changes[0].Raise || changes[0].Alarm.Selects != stats.ReasonIncident || !strings.HasSuffix(changes[0].Alarm.Text, ruleOff) {
		t.Errorf("without its rule: %+v", changes)
	}
}

func TestTheRuleOfAReasonIsMoreSpecificThanThatOfAPlace(t *testing.T) {
	rules, err := ReadRules(strings.NewReader(`
defaults: {stuck: [{after: 10m}, {reason: incident, after: 0s, severity: critical}]}
overrides:
  - {place: slow, stuck: {after: 2h, clear_after: 5s}}
  - {place: rests, stuck: off}
  - {place: "*s*", stuck: {reason: incident, severity: major}}
  - {place: ignored, stuck: [off, {reason: incident, after: off}, {reason: delayed, after: due}]}
`), "alarms.yaml")
	if err != nil {
		t.Fatal(err)
	}
	incident := func(s Severity, clear time.Duration) Rule {
		return Rule{On: true, Reason: stats.ReasonIncident, Severity: s, ClearAfter: clear}
	}
	for place, want := range map[string][]Rule{
		"other":   {{On: true, Severity: Minor, After: 10 * time.Minute, ClearAfter: time.Minute}, incident(Critical, time.Minute)},
		"slow":    {{On: true, Severity: Minor, After: 2 * time.Hour, ClearAfter: 5 * time.Second}, incident(Major, 5*time.Second)},
		"rests":   {{Severity: Minor, After: 10 * time.Minute, ClearAfter: time.Minute}, incident(Major, time.Minute)},
		"ignored": {{Severity: Minor, After: 10 * time.Minute, ClearAfter: time.Minute}, {Reason: stats.ReasonIncident, Severity: Critical, ClearAfter: time.Minute}, {On: true, Reason: stats.ReasonDelayed, Due: true, Severity: Minor, ClearAfter: time.Minute}},
	} {
		net := rules.net("n")
		if d := cmp.Diff(want, net.stuck(place)); d != "" {
			t.Errorf("%s (-want +got):\n%s", place, d)
		}
	}
}

// A source of an earlier version, which does not report why all tokens wait, beside one that does.
func TestAnOldSourceNeitherRaisesNorHidesByReason(t *testing.T) {
	rules, err := ReadRules(strings.NewReader("defaults: {stuck: [{after: 10m}, {reason: delayed, after: off}]}"), "alarms.yaml")
	if err != nil {
		t.Fatal(err)
	}
	grouped := jobsNet(t0, true, job{5 * hour, stats.ReasonDelayed, hour})
	ungrouped := jobsNet(t0, false, job{hour, stats.ReasonUnknown, 0})
	grouped.Rows.Merge(ungrouped.Rows)
	m := NewMachine(rules, Saved{}, time.Hour)
	m.Step(alarmtest.ViewOf(grouped), t0)
	if active := m.State(0).Active; len(active) != 1 || active[0].Since != t0-hour || active[0].Affected != 1 {
		t.Errorf("%+v", active)
	}
}
