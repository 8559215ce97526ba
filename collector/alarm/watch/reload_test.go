// SPDX-License-Identifier: Apache-2.0

package watch

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/collector/alarm/alarmtest"
)

// shelf is the queue of a recipient. It confirms what it gets unless it is away.
type shelf struct {
	name string
	away bool
	mu   sync.Mutex
	got  []string
	on   bool
}

func (s *shelf) Deliver(n alarm.Notification, done func(error)) {
	what := "clear"
	switch {
	case n.Reminder.Escalated:
		what = "escalated"
	case n.Raise:
		what = "raise"
	}
	s.mu.Lock()
	s.got = append(s.got, what)
	s.mu.Unlock()
	if !s.away {
		done(nil)
	}
}

func (s *shelf) Duty(on, _ bool) { s.on = on }

func (s *shelf) Counters() alarm.SinkCounters { return alarm.SinkCounters{Name: s.name} }

func (s *shelf) has() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.got)
}

func (s *shelf) sink() Sink { return Sink{Name: s.name, Queue: s} }

func rulesOf(t *testing.T, sinks string) *alarm.Rules {
	t.Helper()
	rules, err := alarm.ReadRules(strings.NewReader("settle: 0s\ndefaults:\n  stuck: {after: 20s, clear_after: 5s}\nsinks:\n"+sinks), "rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

func TestAReloadReplacesTheQueuesOfSinks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{net: alarmtest.Wide("n", 1, time.Now().UnixMicro())}
		stays, leaves, comes := &shelf{name: "stays"}, &shelf{name: "leaves"}, &shelf{name: "comes"}
		watcher := New(Config{Views: w.view.Subscribe(), Rules: rulesOf(t, "  stays: {}\n  leaves: {}\n"), Sinks: []Sink{stays.sink(), leaves.sink()}})
		time.AfterFunc(10*time.Second, func() { watcher.Reload(rulesOf(t, "  stays: {}\n  comes: {}\n"), stays.sink(), comes.sink()) })
		w.run(t, watcher, time.Minute)
		if len(stays.has()) != 1 || len(comes.has()) != 1 || len(leaves.has()) != 0 || !comes.on {
			t.Errorf("stays %v, comes %v (on duty %t), leaves %v; want the raise for the first two", stays.has(), comes.has(), comes.on, leaves.has())
		}
		if c := watcher.Counters().Sinks; len(c) != 2 || c[0].Name != "stays" || c[1].Name != "comes" {
			t.Errorf("counters of %+v", c)
		}
	})
}

// An escalation waits at the queue of one process, and is taken by that of another, which says so.
func TestEscalationsThatAreTakenAreSharedWithThePair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rules := rulesOf(t, "  team: {escalate: {after: 1m, to: boss}}\n  boss: {}\n")
		var pages [][]byte
		run := func(boss *shelf) *Watcher {
			w := &world{net: alarmtest.Wide("n", 1, time.Now().UnixMicro())}
			watcher := New(Config{Views: w.view.Subscribe(), Rules: rules, Sinks: []Sink{(&shelf{name: "team"}).sink(), boss.sink()}, ShareSent: func(p []byte) { pages = append(pages, p) }})
			w.run(t, watcher, 3*time.Minute)
			if got := boss.has(); !slices.Equal(got, []string{"escalated"}) {
				t.Errorf("boss has %v; want the escalation", got)
			}
			return watcher
		}
		run(&shelf{name: "boss", away: true})
		if len(pages) != 0 {
			t.Errorf("shared %s; want nothing while it waits", pages)
		}
		first := run(&shelf{name: "boss"})
		if len(pages) != 1 || !strings.Contains(string(pages[0]), `"to":"boss"`) {
			t.Fatalf("shared %s; want that boss has it", pages)
		}
		if got := first.core.Escalations(); len(got) != 1 || got[0].To != "boss" {
			t.Errorf("got %+v", got)
		}
		other := New(Config{Rules: rules})
		if err := other.FoldSent(pages[0]); err != nil {
			t.Error(err)
		}
		for _, bad := range []string{"no page", strings.Repeat("[", maxSent+1)} {
			if err := other.FoldSent([]byte(bad)); !errors.Is(err, alarm.ErrState) {
				t.Errorf("%.20s: got %v; want that it is damaged", bad, err)
			}
		}
	})
}
