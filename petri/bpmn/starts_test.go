// SPDX-License-Identifier: Apache-2.0

package bpmn_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pnagent/pnagent/engine"
	"github.com/pnagent/pnagent/engine/journal"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/bpmn"
	"github.com/pnagent/pnagent/stats"
)

// started is a process whose instances begin as they do in an engine, and what becomes of them.
type started struct {
	rule, xml        string
	instances, spare int
	steps            string // such as "+1h", "0:task", "message go" and "signal go", with ", " between
	want             string // the markings of the instances, with " | " between; "…" repeats the one before
	counts           string // of instances: created and finished
}

// run plays the process, with or without a new engine from the journal before each step.
func (s started) run(t *testing.T, restarts bool) {
	f, err := bpmn.Read(strings.NewReader(s.xml), "f", bpmn.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	tables, err := petri.Compile(f.Nets[0])
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		var p *player
		var stop func()
		start := func() {
			log, _, err := journal.Open(dir, journal.Options{Mode: journal.SyncNone})
			if err != nil {
				t.Fatal(err)
			}
			e, err := engine.New(engine.Config{Source: "s", Nets: []engine.NetConfig{{Tables: tables}}, Instances: s.instances, Spare: s.spare, Workers: 2, Journal: log})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() { done <- e.Run(ctx) }()
			synctest.Wait()
			p, stop = &player{e, []string{f.Nets[0].ID}}, func() {
				cancel()
				if err := <-done; err != nil {
					t.Fatal(err)
				}
				if err := log.Close(); err != nil {
					t.Fatal(err)
				}
			}
		}
		start()
		for step := range strings.SplitSeq(s.steps, ", ") {
			if restarts {
				stop()
				start()
			}
			if err := p.stepOf(t.Context(), step); err != nil {
				t.Errorf("%s: %v", step, err)
			}
			synctest.Wait()
		}
		if got := p.markings(t.Context(), t, s.instances); got != s.want {
			t.Errorf("after %s:\n%s\nwant\n%s", s.steps, got, s.want)
		}
		rows := stats.NewRows(tables.Places(), tables.Transitions())
		if err := p.Rows(t.Context(), 0, 1, rows); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%d %d", rows.Net.Created, rows.Net.Finished); got != s.counts {
			t.Errorf("instances created and finished: %s, want %s", got, s.counts)
		}
		stop()
	})
}

// stepOf is step in an instance.
func (p *player) stepOf(ctx context.Context, step string) error {
	if name, is := strings.CutPrefix(step, "message "); is {
		_, err := p.Message(ctx, name, "", nil)
		return err
	}
	if name, is := strings.CutPrefix(step, "signal "); is {
		_, err := p.Signal(ctx, name, nil)
		return err
	}
	in, id, is := strings.Cut(step, ":")
	if !is {
		return p.step(ctx, step)
	}
	number, err := strconv.Atoi(in)
	if err != nil {
		return err
	}
	return p.Fire(ctx, p.nets[0], number, id)
}

// markings returns the markings of all instances.
func (p *player) markings(ctx context.Context, t *testing.T, instances int) string {
	var out []string
	for i := range instances {
		in, err := p.Instance(ctx, p.nets[0], p.InstanceName(i))
		if err != nil {
			t.Fatal(err)
		}
		var places []string
		for _, tok := range in.Tokens {
			places = append(places, tok.Place)
		}
		slices.Sort(places)
		out = append(out, strings.Join(places, " "))
	}
	var short []string
	for i, m := range out {
		if i == 0 || m != out[i-1] {
			short = append(short, m)
		} else if short[len(short)-1] != "…" {
			short = append(short, "…")
		}
	}
	return strings.Join(short, " | ")
}

// Each beginning is an instance of its own (BPMN 2.0, 10.5.2), and a timer is the process', not that
// of each instance, as in Camunda and Zeebe.
func TestEachStartIsAnInstance(t *testing.T) {
	at := func(kind, text string) string {
		return `<startEvent id="t"><timerEventDefinition><` + kind + `>` + text + `</` + kind + `></timerEventDefinition></startEvent>`
	}
	const none, task = `<startEvent id="s"/>`, `<userTask id="a"/><endEvent id="e"/>`
	events := strings.Replace(process(none+`<startEvent id="m1"><messageEventDefinition messageRef="m"/></startEvent>`+
		`<startEvent id="g1"><signalEventDefinition signalRef="g"/></startEvent>`+task, "s>a m1>a g1>a a>e"), `<process`, `<message id="m" name="go"/><signal id="g" name="all"/><process`, 1)
	beside := process(none+at("timeCycle", "R/PT1H")+task, "s>a t>a a>e")
	inside := strings.Replace(sub("w", `<startEvent id="c"><signalEventDefinition signalRef="x"/></startEvent><userTask id="h"/>`, "c>h"), ">", ` triggeredByEvent="true">`, 1)
	for _, s := range []started{
		{"a timer beside a none start begins one each time", beside, 102, 2, "+150m", "a/in | …", "102 0"},
		{"and none before", beside, 102, 2, "+90m", "a/in | … | ", "101 0"},
		{"and waits until one is free", beside, 3, 1, "+210m, 1:a", "a/in | a/in e/end | a/in", "4 1"},
		{"the times that pass meanwhile are one", beside, 3, 1, "+5h, 1:a, 0:a", "e/end | a/in e/end | a/in", "4 2"},
		{"it begins again at its next time", beside, 3, 1, "+330m, 1:a, 0:a, +30m", "a/in e/end | … | a/in", "5 2"},
		{"all that have begun end", beside, 2, 1, "+1h, 0:a, 1:a", "e/end | …", "2 2"},
		{"without a none start nothing begins before it", process(at("timeCycle", "R/PT1H")+task, "t>a a>e"), 3, 0, "+59m", " | …", "3 0"},
		{"a cycle with a number ends", process(at("timeCycle", "R2/PT1H")+task, "t>a a>e"), 3, 0, "+9h", "t-a | … | ", "3 0"},
		{"a duration is once", process(at("timeDuration", "PT1H")+task, "t>a a>e"), 3, 0, "+9h", "t-a |  | …", "3 0"},
		{"a date is once", process(at("timeDate", "2000-01-01T02:00:00Z")+task, "t>a a>e"), 3, 0, "+1h, +9h", "t-a |  | …", "3 0"},
		{"months have the length of the calendar", process(at("timeCycle", "R/P1M")+task, "t>a a>e"), 3, 0, "+743h, +1h, +695h", "t-a |  | …", "3 0"},
		{"and the next one too", process(at("timeCycle", "R/P1M")+task, "t>a a>e"), 3, 0, "+744h, +696h", "t-a | … | ", "3 0"},
		{"an expression gives the time", process(at("timeCycle", `= "R/PT" + string(2) + "H"`)+task, "t>a a>e"), 3, 0, "+5h", "t-a | … | ", "3 0"},
		{"a value that is not a time begins nothing", process(at("timeDuration", "${soon}")+task, "t>a a>e"), 3, 0, "+9h", " | …", "3 0"},
		{"but by hand", process(at("timeDuration", "${soon}")+task, "t>a a>e"), 3, 0, "0:t, +9h", "t-a |  | …", "3 0"},
		{"an event of Flowable begins by its name", process(`<startEvent id="t"><extensionElements><x:eventType xmlns:x="http://flowable.org/bpmn">arrived</x:eventType></extensionElements></startEvent>`+task, "t>a a>e"),
			2, 0, "0:t", "t-a | ", "2 0"},
		{"a beginning by hand counts as one", process(at("timeCycle", "R2/PT1H")+task, "t>a a>e"), 3, 0, "0:t, +9h", "t-a | … | ", "3 0"},
		{"a message and a signal begin one each", events, 4, 2, "message go, signal all", "a/in | …", "4 0"},
		{"not in one that begins by itself", events, 3, 1, "message go", "a/in | …", "3 0"},
		{"an event sub-process belongs to one", process(at("timeCycle", "R2/PT1H")+task+inside, "t>a a>e"), 3, 0, "+9h, 0:c", "c-h p/active | c/armed p/active t-a | ", "3 0"},
	} {
		t.Run(s.rule, func(t *testing.T) {
			s.run(t, false)
			s.run(t, true)
		})
	}
}

// Of a timer the engine says when it is due next. While no instance is free that is past.
func TestATimerThatBeginsInstancesIsDueNext(t *testing.T) {
	const cycle, twice = "R/PT1H", "R2/PT1H"
	for _, c := range []struct {
		rule, cycle string
		step        string
		due, last   time.Duration // since the engine began; 0 for none
	}{
		{"before the first time", cycle, "+59m", time.Hour, 0},
		{"after it", cycle, "+61m", 2 * time.Hour, time.Hour},
		{"while no instance is free", cycle, "+190m", 3 * time.Hour, 2 * time.Hour},
		{"once one is", cycle, "+190m, 0:a, +1m", 4 * time.Hour, 190 * time.Minute},
		{"after the last one", twice, "+150m", 0, 2 * time.Hour},
	} {
		f, err := bpmn.Read(strings.NewReader(process(`<startEvent id="t"><timerEventDefinition><timeCycle>`+c.cycle+`</timeCycle></timerEventDefinition></startEvent><userTask id="a"/><endEvent id="e"/>`, "t>a a>e")), "f", bpmn.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		tables, err := petri.Compile(f.Nets[0])
		if err != nil {
			t.Fatal(err)
		}
		synctest.Test(t, func(t *testing.T) {
			e, err := engine.New(engine.Config{Source: "s", Nets: []engine.NetConfig{{Tables: tables}}, Instances: 2, Workers: 1})
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() { done <- e.Run(ctx) }()
			p := &player{e, []string{f.Nets[0].ID}}
			for step := range strings.SplitSeq(c.step, ", ") {
				synctest.Wait()
				if err := p.stepOf(t.Context(), step); err != nil {
					t.Errorf("%s: %s: %v", c.rule, step, err)
				}
			}
			synctest.Wait()
			rows := stats.NewRows(tables.Places(), tables.Transitions())
			if err := e.Rows(t.Context(), 0, time.Now().UnixMicro(), rows); err != nil {
				t.Fatal(err)
			}
			since := func(micros int64) time.Duration {
				if micros == 0 {
					return 0
				}
				return time.UnixMicro(micros).Sub(began).Round(time.Second)
			}
			row := rows.Transitions[slices.IndexFunc(f.Nets[0].Transitions, func(tr petri.Transition) bool { return tr.Trigger.Begins })]
			if due, last := since(row.NextDue), since(row.LastFiring); !rows.Columns.Has(stats.ColNextDue) || due != c.due || last != c.last {
				t.Errorf("%s: due after %v, last after %v; want %v and %v", c.rule, due, last, c.due, c.last)
			}
			cancel()
			if err := <-done; err != nil {
				t.Fatal(err)
			}
		})
	}
}
