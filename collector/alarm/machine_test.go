// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/collector/alarm/alarmtest"
	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/internal/seeds"
	"github.com/pnagent/pnagent/stats"
)

func TestAThousandPlacesStuckAtOnceAreOneBurstAndOneReport(t *testing.T) {
	m := NewMachine(DefaultRules(), Saved{}, forgetAfter)
	var s limiter
	net := alarmtest.Wide("n", 1000, t0)
	var raised, sent, reports, cleared int
	step := func(at int64, net *merge.NetView) {
		for _, n := range s.pass(m.Step(alarmtest.ViewOf(net), t0+at), t0+at) {
			switch {
			case n.Suppressed != 0:
				reports++
			case n.Raise:
				sent++
			default:
				cleared++
			}
		}
		raised = int(m.Tally().Raised[TokenStuck])
	}
	for at := int64(590e6); at <= 640e6; at += 1e6 {
		step(at, net)
	}
	if raised != 1000 || sent != burst || reports != 1 || s.suppressed != 1000-burst {
		t.Errorf("%d raised, %d sent, %d suppressed in %d reports", raised, sent, s.suppressed, reports)
	}
	if state := m.State(s.suppressed); len(state.Active) != 1000 || state.Active[999].Index != 1000 || state.Suppressed != 950 {
		t.Errorf("%d are active, %d suppressed", len(state.Active), state.Suppressed)
	}
	net = alarmtest.Moved(net, t0+640e6)
	for at := int64(641e6); at <= 720e6; at += 1e6 {
		step(at, net)
	}
	if state := m.State(0); len(state.Active) != 0 || m.Tally().Cleared[TokenStuck] != 1000 {
		t.Errorf("after they moved %d are active, %d cleared", len(state.Active), m.Tally().Cleared[TokenStuck])
	}
	if cleared != burst || reports != 2 || s.suppressed != 1900 {
		t.Errorf("%d sent of as cleared, %d suppressed in %d reports", cleared, s.suppressed, reports)
	}
}

func TestPlacesWhoseStuckTokensAnOverrideAllowsRest(t *testing.T) {
	for rules, want := range map[string]map[string][]string{
		"{}": {},
		"overrides: [{net: a, place: p1, stuck: off}]":                                                          {"a": {"p1"}},
		"overrides: [{place: p?, stuck: off}, {place: p2, stuck: {after: 1h}}, {net: b, place: p0, stuck: on}]": {"a": {"p0", "p1"}, "b": {"p1"}},
		"defaults: {stuck: off}": {}, // nothing is watched, so nothing is known about tokens
	} {
		r, err := ReadRules(strings.NewReader(rules), "alarms.yaml")
		if err != nil {
			t.Fatal(err)
		}
		m := NewMachine(r, Saved{}, time.Hour)
		a, b := alarmtest.Wide("a", 3, 1), alarmtest.Wide("b", 3, 1)
		m.Step(alarmtest.ViewOf(a, b), 1_000_000)
		got := m.State(0).Resting
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: want -, got +\n%s", rules, diff)
		}
		m.Step(alarmtest.ViewOf(a), 2_000_000)
		if now := m.State(0).Resting; now["b"] != nil || !slices.Equal(now["a"], want["a"]) {
			t.Errorf("%s: %v of a net that is gone, want %v of the other", rules, now, want["a"])
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: an earlier state changed: want -, got +\n%s", rules, diff)
		}
	}
}

func TestALongStormIsReportedEveryTenSeconds(t *testing.T) {
	var s limiter
	var reports []int64
	sent := 0
	for at := range int64(60) {
		for _, n := range s.pass(raises(30), t0+at*1e6) {
			if n.Suppressed != 0 {
				reports = append(reports, at)
			} else {
				sent++
			}
		}
	}
	if d := cmp.Diff([]int64{12, 22, 32, 42, 52}, reports); d != "" {
		t.Error(d)
	}
	if want := burst + 59*perSecond; sent != want || s.suppressed != uint64(60*30-want) {
		t.Errorf("%d were sent, want %d; %d suppressed", sent, want, s.suppressed)
	}
	if got := s.pass(nil, t0+60e6); len(got) != 0 {
		t.Errorf("less than ten seconds after the last word there are %v", got)
	}
	if got := s.pass(nil, t0+62e6); len(got) != 1 || got[0].Suppressed != s.suppressed {
		t.Errorf("when it is over there are %v", got)
	}
	if got := s.pass(nil, t0+90e6); got != nil {
		t.Errorf("when all is sent there are %v", got)
	}
}

//promise:clears clock
func TestAClockThatIsSetBackFillsNoBucket(t *testing.T) {
	var s limiter
	s.pass(raises(burst), t0)
	if got := s.pass(raises(1), t0-3600e6); len(got) != 0 {
		t.Errorf("%d pass", len(got))
	}
	if got := s.pass(raises(2*perSecond), t0-3600e6+1e6); len(got) != perSecond {
		t.Errorf("%d pass a second later", len(got))
	}
}

// reference is a slow reference implementation: it derives alarms from how long each
// condition has or has not held.
type reference struct {
	wrong, well map[string]int64 // since when
	active      map[string]bool
}

func (r *reference) step(now int64, places map[string]bool, hold, clearAfter int64) {
	for id, wrong := range places {
		if wrong {
			delete(r.well, id)
			if _, ok := r.wrong[id]; !ok {
				r.wrong[id] = now
			}
			if now-r.wrong[id] >= hold {
				r.active[id] = true
			}
			continue
		}
		delete(r.wrong, id)
		if _, ok := r.well[id]; !ok {
			r.well[id] = now
		}
		if now-r.well[id] >= clearAfter {
			delete(r.active, id)
		}
	}
}

func TestRandomStoriesWithRestartsMatchTheReference(t *testing.T) {
	for seed := range seeds.Of(5, 200, 14, 47, 154) {
		rng := rand.New(rand.NewPCG(seed, 1))
		hold, clearAfter := rng.Int64N(5)*1e6, rng.Int64N(5)*1e6
		rules := &Rules{}
		rules.base[TokenStuck] = Rule{On: true, After: 10 * time.Second, For: time.Duration(hold) * 1000, ClearAfter: time.Duration(clearAfter) * 1000}
		m := NewMachine(rules, Saved{}, forgetAfter)
		ref := reference{map[string]int64{}, map[string]int64{}, map[string]bool{}}
		net := alarmtest.Wide("n", 5, 0)
		used := map[uint32]bool{}
		for now := t0; now < t0+300e6; now += 1e6 + rng.Int64N(2)*1e6 {
			places := map[string]bool{}
			net = alarmtest.Moved(net, 0)
			for i := range net.Rows.Places {
				wrong := rng.IntN(4) > 0 == (now/20e6%2 == 0)
				places[net.Def.Places[i].ID] = wrong
				if wrong {
					net.Rows.Places[i].Oldest = now - 11e6
				}
			}
			for _, c := range m.Step(alarmtest.ViewOf(net), now) {
				if c.Raise && used[c.Alarm.Index] {
					t.Fatalf("seed %d: index %d is used again", seed, c.Alarm.Index)
				}
				used[c.Alarm.Index] = true
			}
			ref.step(now, places, hold, clearAfter)
			got := map[string]bool{}
			for _, a := range m.State(0).Active {
				got[a.Subject] = true
			}
			if d := cmp.Diff(ref.active, got); d != "" {
				t.Fatalf("seed %d, hold %d, clear after %d, at %d: %s", seed, hold, clearAfter, now-t0, d)
			}
			if rng.IntN(50) == 0 { // a restart: what was pending starts again
				m = NewMachine(rules, m.Saved(), forgetAfter)
				ref.wrong, ref.well = map[string]int64{}, map[string]int64{}
			}
		}
	}
}

func TestTheSameViewsAtTheSameTimesGiveTheSameAlarms(t *testing.T) {
	run := func() (all []Change) {
		m := NewMachine(DefaultRules(), Saved{}, forgetAfter)
		view := alarmtest.ViewOf(alarmtest.Wide("a", 50, t0), alarmtest.Wide("b", 50, t0))
		for i := range 30 {
			view.Sources = append(view.Sources, merge.Source{Name: fmt.Sprint(i), State: merge.Stale, LastMessage: t0})
		}
		all = append(all, m.Step(view, t0+601e6)...)
		idle := alarmtest.ViewOf(alarmtest.Wide("a", 50, 0), alarmtest.Wide("b", 50, 0))
		for i := range 30 {
			idle.Sources = append(idle.Sources, merge.Source{Name: fmt.Sprint(i), State: merge.Up, LastMessage: t0 + 602e6})
		}
		all = append(all, m.Step(idle, t0+602e6)...)
		return append(all, m.Step(idle, t0+700e6)...)
	}
	if d := cmp.Diff(run(), run()); d != "" || len(run()) != 260 {
		t.Errorf("%d changes %s", len(run()), d)
	}
}

func TestIndicesEndAtTheLargestOfSNMP(t *testing.T) {
	m := NewMachine(DefaultRules(), Saved{Last: maxIndex - 1}, forgetAfter)
	m.Step(alarmtest.ViewOf(alarmtest.Wide("n", 3, t0)), t0+601e6)
	if state := m.State(0); len(state.Active) != 1 || state.Active[0].Index != maxIndex || m.Tally().Dropped != 2 {
		t.Errorf("%+v, %d dropped", state.Active, m.Tally().Dropped)
	}
}

func TestTheFirstIndexIsBeyondOneAlarmASecond(t *testing.T) {
	for now, want := range map[int64]uint32{0: 0, (epoch + 7) * 1e6: 7, 1 << 62: maxIndex / 2} {
		if got := FirstIndex(now); got != want {
			t.Errorf("at %d it is %d, want %d", now, got, want)
		}
	}
}

// The windows of the machine and one that remembers every sample agree to the
// step of a window.
func TestAWindowCountsWhatHappenedInIt(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const length = 60e6
	var w window
	var all []sample
	now := sample{at: t0}
	for range 5000 {
		now.at += 1 + rng.Int64N(3e6)
		now.firings += rng.Uint64N(5)
		now.failures += rng.Uint64N(2)
		all = append(all, now)
		firings, failures, over := w.count(length, now, 1)
		var most, least sample // since length and a tenth ago, and since length ago
		most, least = all[0], now
		for _, s := range all {
			if now.at-s.at >= length+length/windowSteps+3e6 {
				most = s
			}
			if now.at-s.at >= length {
				least = s
			}
		}
		if now.at-all[0].at < length {
			least = all[0]
		}
		if firings > now.firings-most.firings || firings < now.firings-least.firings ||
			failures > now.failures-most.failures || failures < now.failures-least.failures || over < length {
			t.Fatalf("after %d: %d firings, %d failures over %d; at least %+v, at most %+v, now %+v", now.at-t0, firings, failures, over, least, most, now)
		}
	}
}

// A step over 10,000 places and as many transitions of which nothing is wrong,
// with every rule on, beside just reading their rows.
func BenchmarkStep(b *testing.B) {
	rules := DefaultRules()
	for k := range rules.base {
		rules.base[k].On = true
	}
	net := alarmtest.Wide("n", 10_000, t0)
	for i := range net.Rows.Transitions {
		net.Rows.Transitions[i] = stats.Transition{Enabled: 1, EnabledSince: t0, LastFiring: t0, Firings: 5}
	}
	view := alarmtest.ViewOf(net)
	b.Run("base", func(b *testing.B) {
		var sum int64
		for range b.N {
			for i := range net.Rows.Places {
				sum += net.Rows.Places[i].Oldest
			}
			for i := range net.Rows.Transitions {
				sum += max(net.Rows.Transitions[i].EnabledSince, net.Rows.Transitions[i].LastFiring) + int64(net.Rows.Transitions[i].Firings)
			}
		}
		if sum == 0 {
			b.Fatal("nothing was read")
		}
	})
	for _, c := range []struct {
		name  string
		rules *Rules
		at    int64
	}{{"quiet", DefaultRules(), t0}, {"all rules", rules, t0}, {"all stuck", DefaultRules(), t0 + 700e6}} {
		b.Run(c.name, func(b *testing.B) {
			m := NewMachine(c.rules, Saved{}, forgetAfter)
			m.Step(view, c.at)
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				m.Step(view, c.at+int64(i))
			}
		})
	}
}

// The text of a state file of 10,000 alarms, beside copying the alarms.
func BenchmarkSavedText(b *testing.B) {
	m := NewMachine(DefaultRules(), Saved{}, forgetAfter)
	m.Step(alarmtest.ViewOf(alarmtest.Wide("n", 10_000, t0)), t0+601e6)
	b.Run("base", func(b *testing.B) {
		for range b.N {
			m.Saved()
		}
	})
	b.Run("text", func(b *testing.B) {
		for range b.N {
			s := m.Saved()
			b.SetBytes(int64(len(s.Text())))
		}
	})
}
