// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pnagent/pnagent/collector/alarm/alarmtest"
	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/internal/seeds"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
)

// The texts of all kinds, with every number that the row has too.
var (
	dates    = regexp.MustCompile(`since (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)`)
	affected = regexp.MustCompile(`: (\d+)(?: of \d+)?(?:, |$)`)
	rate     = regexp.MustCompile(`fires (\S+) times a second`)
	measured = regexp.MustCompile(`: \d+ of (\d+)$|fires (\S+) times a second`)
	limits   = regexp.MustCompile(`for more than (\S+):|in (\S+): \d+ of|a second over (\S+); expected at most (\S+)`)
)

// contradiction compares the numbers of an alarm's text with its row. An alarm whose
// condition does not hold has a text without numbers of the row, or text and row are of
// the last moment at which it held.
func contradiction(a *Alarm) error {
	for _, date := range dates.FindAllStringSubmatch(a.Text, -1) {
		if want := time.UnixMicro(a.Since).UTC().Format(time.RFC3339); date[1] != want {
			return fmt.Errorf("the text has %s, the row %s: %s", date[1], want, a.Text)
		}
	}
	for _, n := range affected.FindAllStringSubmatch(a.Text, -1) {
		if n[1] != strconv.FormatUint(a.Affected, 10) {
			return fmt.Errorf("the text has %s, the row %d: %s", n[1], a.Affected, a.Text)
		}
	}
	for _, r := range rate.FindAllStringSubmatch(a.Text, -1) {
		if v, err := strconv.ParseFloat(r[1], 64); err != nil || v > float64(a.Affected)/10+1e-3 || v < float64(a.Affected)/14-1e-3 {
			return fmt.Errorf("the text has %s a second, the row %d over 10 s to 14 s: %s", r[1], a.Affected, a.Text)
		}
	}
	return contradictionOfRule(a)
}

// contradictionOfRule compares the numbers of an alarm's text with those of its rule, and with the
// number that the rule compares.
func contradictionOfRule(a *Alarm) error {
	for _, m := range measured.FindAllStringSubmatch(a.Text, -1) {
		if got := fmt.Sprintf("%.6g", a.Measured); !a.Outdated && got != m[1]+m[2] {
			return fmt.Errorf("the text has %s, the row %s: %s", m[1]+m[2], got, a.Text)
		}
	}
	for _, m := range limits.FindAllStringSubmatch(a.Text, -1) {
		if m[1] != "" && m[1] != span(a.After) || m[2]+m[3] != "" && m[2]+m[3] != span(a.Window) || m[4] != "" && m[4] != fmt.Sprintf("%.6g", a.Above) {
			return fmt.Errorf("the row has %v, %v and %v: %s", a.After, a.Window, a.Above, a.Text)
		}
	}
	if says := strings.HasPrefix(a.Text, "unknown whether") || strings.HasPrefix(a.Text, "alarm "); says && !a.Outdated {
		return fmt.Errorf("outdated is %v: %s", a.Outdated, a.Text)
	}
	return nil
}

func TestTextsMatchTheirRowsInRandomStories(t *testing.T) {
	rules, err := ReadRules(strings.NewReader(`settle: 5s
defaults:
  stuck: {after: 5s, clear_after: 4s}
  starved: {after: 5s, clear_after: 4s}
  lost: {clear_after: 3s}
  deadlocked: {for: 1s, clear_after: 4s}
  failures: {above: 30%, runs: 5, window: 10s, clear_after: 3s}
  loop: {above: 2/s, window: 10s, clear_after: 3s}
`), "rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	seen, current := map[Kind]int{}, 0
	for seed := range seeds.Of(5, 60, 13, 28, 7, 17, 22, 34, 45) {
		rng := rand.New(rand.NewPCG(seed, 17))
		m := NewMachine(rules, Saved{}, time.Minute)
		net := alarmtest.Wide("n", 3, 0)
		for now := t0; now < t0+120e6; now += 1e6 {
			net = randomly(net, rng, now)
			view := alarmtest.ViewOf(net)
			if rng.IntN(10) == 0 {
				view = alarmtest.ViewOf()
			}
			for i := range 3 {
				if rng.IntN(3) == 0 {
					view.Sources = append(view.Sources, merge.Source{Name: "s", Net: strconv.Itoa(i), State: merge.Stale, LastMessage: now - rng.Int64N(20e6)})
				}
			}
			for _, c := range m.Step(view, now) {
				if c.Raise {
					seen[c.Alarm.Kind]++
				}
			}
			for i, a := range m.State(0).Active {
				if !a.Outdated {
					current++
				}
				if err := contradiction(&a); err != nil {
					t.Fatalf("seed %d after %d s, alarm %d: %v", seed, (now-t0)/1e6, i, err)
				}
				missing := len(view.Nets) == 0 && a.Net != ""
				if unknown := strings.HasPrefix(a.Text, "unknown whether"); missing && !unknown && a.Raised < now {
					t.Fatalf("seed %d after %d s: of what is not in the View there is %q", seed, (now-t0)/1e6, a.Text)
				}
			}
			if rng.IntN(40) == 0 {
				m = m.With(rules)
			}
		}
	}
	if current == 0 {
		t.Error("the numbers of every alarm are outdated")
	}
	for _, k := range []Kind{TokenStuck, TransitionStarved, SourceLost, NetDeadlocked, FailureRatio, TransitionLoop} {
		if seen[k] == 0 {
			t.Errorf("no story raises %s", k)
		}
	}
}

// randomly is the net a second later.
func randomly(n *merge.NetView, rng *rand.Rand, now int64) *merge.NetView {
	next := *n
	next.Rows = stats.NewRows(len(n.Def.Places), len(n.Def.Transitions))
	next.Rows.Columns = stats.AllColumns
	if rng.IntN(8) == 0 {
		next.Rows.Columns = 0
	}
	next.Rows.Net.Deadlocked = rng.Uint64N(3)
	for i := range next.Rows.Places {
		p := stats.Place{Tokens: rng.Uint64N(9), Oldest: now - rng.Int64N(30e6)}
		p.Ages.Add(p.Oldest, now, p.Tokens)
		next.Rows.Places[i] = p
	}
	for i := range next.Rows.Transitions {
		tr := n.Rows.Transitions[i]
		tr.Enabled, tr.EnabledSince = rng.Uint64N(4), now-rng.Int64N(30e6)
		tr.Firings, tr.Failures = tr.Firings+rng.Uint64N(8), tr.Failures+rng.Uint64N(4)
		next.Rows.Transitions[i] = tr
	}
	return &next
}

// An alarm about a process of BPMN names what its author drew, also the place that blocks it.
func TestTextsSpeakTheLanguageOfTheModel(t *testing.T) {
	n := alarmtest.Wide("leave", 2, t0-hour)
	n.Def.Model = &petri.Model{Kind: petri.ModelBPMN}
	n.Def.Places[0].Called = petri.Called{Kind: "user task", Name: "Approve the request"}
	n.Def.Places[1].Called = petri.Called{Kind: "sequence flow", Name: "Ask → both"}
	n.Def.Transitions[0].Called = n.Def.Places[0].Called
	n.Rows.Places[0].Stuck = []stats.Token{{Instance: "a/1", Injected: t0 - hour, Waits: []stats.Wait{{Reason: stats.ReasonMissing, Place: 1, Count: 1}}}}
	m := NewMachine(DefaultRules(), Saved{}, time.Hour)
	m.Step(alarmtest.ViewOf(n), t0)
	want := `tokens in user task "Approve the request" of process "leave" for more than 10m: 1, the oldest since ` + date(t0-hour) +
		`; instance "a/1": waits for a token in sequence flow "Ask → both"`
	active := m.State(0).Active
	if len(active) == 0 || active[0].Text != want {
		t.Fatalf("got %+v, want %s", active, want)
	}
	a := active[0]
	if got, want := m.subject(&a), `user task "Approve the request" of process "leave"`; got != want {
		t.Errorf("the alarm is about %s, want %s", got, want)
	}
	a.Net = "gone"
	if got, want := m.subject(&a), `place "p0" of net "gone"`; got != want {
		t.Errorf("without its net the alarm is about %s, want %s", got, want)
	}
}
