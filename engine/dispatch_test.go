// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/engine/action"
	"github.com/pnagent/pnagent/engine/coloured"
	"github.com/pnagent/pnagent/engine/ready"
	"github.com/pnagent/pnagent/petri/petritest"
	"github.com/pnagent/pnagent/stats"
)

// ranked are a plain and a coloured net, whose instances have these priorities.
func ranked(t *testing.T, of []ready.Priority) []NetConfig {
	priority := func(i int) ready.Priority { return of[i] }
	unguarded, guarded := working(t, "plain", 1, Transition{}), working(t, "guarded", 1, Transition{Guard: always})
	unguarded.Priority, guarded.Priority = priority, priority
	return []NetConfig{unguarded, guarded}
}

// orderOf returns in which order the instances fire, each once: it plays one
// firing, two, and so on.
func orderOf(t *testing.T, d *Dispatch, of []ready.Priority) []string {
	var order []string
	seen := map[string]bool{}
	for n := range 2 * len(of) {
		e := newEngine(t, Config{Source: "s", Nets: ranked(t, of), Instances: len(of), Workers: 1, Firings: n + 1, Dispatch: d})
		runToEnd(t, e)
		var fired []string
		for _, net := range []string{"plain", "guarded"} {
			for i := range of {
				if name := fmt.Sprintf("p%d %s %d", of[i], net, i); markingOf(t, e, net, i)[1] == 1 && !seen[name] {
					fired, seen[name] = append(fired, name), true
				}
			}
		}
		if len(fired) != 1 {
			t.Fatalf("firing %d is of %v", n+1, fired)
		}
		order = append(order, fired...)
	}
	return order
}

func quotes(n uint32) *Dispatch {
	d := &Dispatch{Policy: ready.PolicyQuoted}
	for p := range d.Quotes {
		d.Quotes[p] = n
	}
	return d
}

// A worker's instances of all nets are in one order.
func TestDispatchersOrderInstancesOverAllNets(t *testing.T) {
	of := []ready.Priority{0, 7, 3, 7, 0, 3, 7}
	for _, c := range []struct {
		name string
		d    *Dispatch
		want string
	}{
		{"first come, first served", &Dispatch{},
			"p0 plain 0, p7 plain 1, p3 plain 2, p7 plain 3, p0 plain 4, p3 plain 5, p7 plain 6, p0 guarded 0, p7 guarded 1, p3 guarded 2, p7 guarded 3, p0 guarded 4, p3 guarded 5, p7 guarded 6"},
		{"strictly by priority", &Dispatch{Policy: ready.PolicyStrict},
			"p7 plain 1, p7 plain 3, p7 plain 6, p7 guarded 1, p7 guarded 3, p7 guarded 6, p3 plain 2, p3 plain 5, p3 guarded 2, p3 guarded 5, p0 plain 0, p0 plain 4, p0 guarded 0, p0 guarded 4"},
		{"two of each priority in turn", quotes(2),
			"p7 plain 1, p7 plain 3, p3 plain 2, p3 plain 5, p0 plain 0, p0 plain 4, p7 plain 6, p7 guarded 1, p3 guarded 2, p3 guarded 5, p0 guarded 0, p0 guarded 4, p7 guarded 3, p7 guarded 6"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d := cmp.Diff(strings.Split(c.want, ", "), orderOf(t, c.d, of)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// diary is an action that notes whose it is. With room for one action at a time
// that is the order in which they were started.
type diary struct {
	mu      sync.Mutex
	entries []string
}

func (d *diary) write(_ context.Context, r *action.Run) (coloured.Outcome, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.entries = append(d.entries, fmt.Sprint(r.Net, " ", r.Start.Instance))
	return coloured.Outcome{}, nil
}

// of returns the entries of the instances with a priority.
func (d *diary) of(priorities []ready.Priority, p ready.Priority) (out []string) {
	for _, e := range d.entries {
		var net string
		var i int
		fmt.Sscan(e, &net, &i)
		if priorities[i] == p {
			out = append(out, e)
		}
	}
	return out
}

// As long as something of a higher priority is ready, actions of a lower one
// are not started, also when that became ready later.
func TestStrictStartsNoActionWhileAHigherPriorityIsReady(t *testing.T) {
	var d diary
	of := []ready.Priority{0, 5, 2, 5, 7, 0, 2, 7}
	var nets []NetConfig
	for _, id := range []string{"a", "b"} {
		n := working(t, id, 3, Transition{Action: d.write})
		n.Priority = func(i int) ready.Priority { return of[i] }
		nets = append(nets, n)
	}
	e := newEngine(t, Config{Source: "s", Nets: nets, Instances: len(of), Workers: 1, Actions: 1, Firings: 1000, Dispatch: &Dispatch{Policy: ready.PolicyStrict}})
	runToEnd(t, e)
	var got []ready.Priority
	for _, entry := range d.entries {
		got = append(got, of[entry[len(entry)-1]-'0'])
	}
	if runs := slices.Compact(slices.Clone(got)); len(got) != 2*3*len(of) || !slices.Equal(runs, []ready.Priority{7, 5, 2, 0}) {
		t.Errorf("%d actions, by priority %v", len(got), got)
	}
}

// The dedicated dispatcher has a worker for each priority in use, whatever
// number of workers is asked for, which keeps the order inside it.
func TestDedicatedHasAWorkerForEachPriority(t *testing.T) {
	var d diary
	of := []ready.Priority{6, 1, 6, 1, 4, 6, 1}
	var nets []NetConfig
	for _, id := range []string{"a", "b"} {
		n := working(t, id, 1, Transition{Action: d.write})
		n.Priority = func(i int) ready.Priority { return of[i] }
		nets = append(nets, n)
	}
	e := newEngine(t, Config{Source: "s", Nets: nets, Instances: len(of), Workers: 1, Actions: 1, Firings: 1000, Dispatch: &Dispatch{Policy: ready.PolicyDedicated}})
	if len(e.workers) != 3 {
		t.Errorf("%d workers, want 3", len(e.workers))
	}
	runToEnd(t, e)
	for p, want := range map[ready.Priority][]string{
		1: {"a 1", "a 3", "a 6", "b 1", "b 3", "b 6"}, 4: {"a 4", "b 4"}, 6: {"a 0", "a 2", "a 5", "b 0", "b 2", "b 5"},
	} {
		if diff := cmp.Diff(want, d.of(of, p)); diff != "" {
			t.Errorf("p%d (-want +got):\n%s", p, diff)
		}
	}
	for i := range of {
		if m := markingOf(t, e, "a", i); m[1] != 1 {
			t.Errorf("instance %d: %v", i, m)
		}
	}
}

// Instances of a net without priorities, beside one with some, are at p0.
func TestDedicatedPlaysNetsWithoutPriorities(t *testing.T) {
	of := []ready.Priority{5, 2, 5, 2}
	nets := append(ranked(t, of), working(t, "other", 1, Transition{}), working(t, "other guarded", 1, Transition{Guard: always}))
	e := newEngine(t, Config{Source: "s", Nets: nets, Instances: len(of), Workers: 1, Firings: 1000, Dispatch: &Dispatch{Policy: ready.PolicyDedicated}})
	runToEnd(t, e)
	r, err := e.Report(t.Context())
	if err != nil || r.Firings != 16 || len(e.workers) != 3 {
		t.Errorf("%v, %d firings by %d workers; expected 16 by 3", err, r.Firings, len(e.workers))
	}
}

// served is what is known of the queues, without times.
func served(rows *stats.Rows) (out []string) {
	for _, q := range rows.Queues {
		out = append(out, fmt.Sprintf("p%d: %d ready, %d served", q.Priority, q.Ready, q.Served))
	}
	return append(out, fmt.Sprint(rows.Waiting, " waiting"))
}

// Each instance is counted once where it waits and once when it was served,
// whichever worker plays it.
func TestQueuesAreCountedOnceOverAllWorkers(t *testing.T) {
	of := []ready.Priority{0, 7, 3, 7, 0, 3, 7, 7}
	ranks, one := []string{"p0: 2 ready, 0 served", "p3: 2 ready, 0 served", "p7: 4 ready, 0 served"}, []string{"p0: 8 ready, 0 served"}
	for _, c := range []struct {
		name string
		d    *Dispatch
		want []string
	}{{"fifo", &Dispatch{}, one}, {"strict", &Dispatch{Policy: ready.PolicyStrict}, ranks}, {"quoted", quotes(2), ranks}, {"dedicated", &Dispatch{Policy: ready.PolicyDedicated}, ranks}} {
		for _, workers := range []int{1, 3} {
			t.Run(fmt.Sprint(c.name, " ", workers), func(t *testing.T) {
				cfg := Config{Source: "s", Nets: ranked(t, of), Instances: len(of), Workers: workers, Firings: 1000, Dispatch: c.d, Clock: func() int64 { return 1_000_000 }}
				idle, e := ended(t, newEngine(t, cfg)), newEngine(t, cfg)
				runToEnd(t, e)
				for k, waiting := range []string{"0 waiting", "8 waiting"} { // pieces of work are those of coloured nets
					before, after := rowsOf(t, idle, k), rowsOf(t, e, k)
					if d := cmp.Diff(append(slices.Clone(c.want), waiting), served(before)); d != "" {
						t.Errorf("net %d before (-want +got):\n%s", k, d)
					}
					for _, q := range before.Queues {
						if q.OldestSince != 1_000_000 || q.UnservedSince != 1_000_000 {
							t.Errorf("net %d: %+v; expected it to wait since the beginning", k, q)
						}
					}
					var want []string
					for _, line := range c.want {
						var p, n int
						fmt.Sscanf(line, "p%d: %d ready", &p, &n)
						want = append(want, fmt.Sprintf("p%d: 0 ready, %d served", p, n))
					}
					if d := cmp.Diff(append(want, "0 waiting"), served(after)); d != "" {
						t.Errorf("net %d after (-want +got):\n%s", k, d)
					}
					if !after.Columns.Has(stats.ColQueues | stats.ColWaiting) {
						t.Errorf("net %d: columns %b", k, after.Columns)
					}
				}
			})
		}
	}
}

// A turn that ends because the quote is used up is counted for the net whose
// event was the last.
func TestQuoteSwitchesAreCountedOnceOverNets(t *testing.T) {
	of := []ready.Priority{0, 7, 7, 7, 7, 0}
	e := newEngine(t, Config{Source: "s", Nets: ranked(t, of), Instances: len(of), Workers: 1, Firings: 1000, Dispatch: quotes(2)})
	runToEnd(t, e)
	sum := map[uint8]uint64{}
	for k := range 2 {
		for _, q := range rowsOf(t, e, k).Queues {
			sum[q.Priority] += q.QuoteSwitches
		}
	}
	if d := cmp.Diff(map[uint8]uint64{0: 2, 7: 4}, sum); d != "" {
		t.Error(d)
	}
}

// Without a dispatcher plain nets count nothing, coloured ones their work.
func TestWithoutADispatcherPlainNetsHaveNoQueues(t *testing.T) {
	of := []ready.Priority{0, 7, 3}
	e := newEngine(t, Config{Source: "s", Nets: ranked(t, of), Instances: len(of), Workers: 2, Firings: 1000})
	runToEnd(t, e)
	if rows := rowsOf(t, e, 0); rows.Queues != nil || rows.Columns.Has(stats.ColQueues) {
		t.Errorf("plain: %+v", rows.Queues)
	}
	if d := cmp.Diff([]string{"p0: 0 ready, 3 served", "0 waiting"}, served(rowsOf(t, e, 1))); d != "" {
		t.Errorf("guarded: %s", d)
	}
}

// everyDispatch are all orders in which instances can be played.
func everyDispatch() map[string]*Dispatch {
	return map[string]*Dispatch{"in turn": nil, "fifo": {}, "strict": {Policy: ready.PolicyStrict}, "quoted": quotes(3), "dedicated": {Policy: ready.PolicyDedicated}}
}

// Many callers bring tokens while the workers play: each is accepted and played
// once, or refused because its instance is full, and not played.
//
//promise:refused load none
func TestNothingIsLostOrPlayedTwiceUnderAnyDispatch(t *testing.T) {
	const callers, each = 4, 1000
	of := []ready.Priority{0, 7, 3, 7, 0, 3, 7}
	for name, d := range everyDispatch() {
		t.Run(name, func(t *testing.T) {
			nets := ranked(t, of)
			nets[1].Bound = 3
			e := newEngine(t, Config{Source: "s", Nets: nets, Instances: len(of), Workers: 3, Dispatch: d})
			stop := start(t, e)
			var accepted [callers][2][7]uint32
			var calling sync.WaitGroup
			for c := range callers {
				calling.Go(func() {
					for n := range each {
						k, i := n&1, (n/2+c)%len(of)
						switch err := e.Inject(t.Context(), nets[k].Tables.Net.ID, i, "in", 1); {
						case err == nil:
							accepted[c][k][i]++
						case !errors.Is(err, ready.ErrFull):
							t.Error(err)
						}
					}
				})
			}
			calling.Wait()
			for k, want := range [2]int{callers * each / 2, 0} {
				for i := range of {
					sum := uint32(1) // of the initial marking
					for c := range callers {
						sum += accepted[c][k][i]
					}
					m := markingOf(t, e, nets[k].Tables.Net.ID, i)
					for m[0] > 0 {
						time.Sleep(time.Millisecond)
						m = markingOf(t, e, nets[k].Tables.Net.ID, i)
					}
					if m[1] != sum {
						t.Errorf("net %d, instance %d: %v, want %d at the end", k, i, m, sum)
					}
					want -= int(sum) - 1
				}
				if k == 0 && want != 0 {
					t.Errorf("%d tokens of the net without a bound were refused", want)
				}
			}
			stop()
		})
	}
}

// With strict priorities, a high one that always has work starves a lower one,
// and the rows show that. With quotes the lower one is served, and in turn none
// starves.
func TestStarvationIsVisible(t *testing.T) {
	for name, d := range everyDispatch() {
		if name == "dedicated" { // see TestDedicatedLetsNoPriorityWaitForAnother
			continue
		}
		t.Run(name, func(t *testing.T) {
			busy := NetConfig{Tables: petritest.Compile(t, petritest.Ring(3)), Priority: func(int) ready.Priority { return 7 }}
			low := working(t, "low", 1, Transition{})
			now := int64(1_000_000)
			e := newEngine(t, Config{Source: "s", Nets: []NetConfig{busy, low}, Instances: 1, Workers: 1, Firings: 10_000, Dispatch: d,
				Clock: func() int64 { now++; return now }})
			runToEnd(t, e)
			starves := markingOf(t, e, "low", 0)[0] == 1
			if starves != (d != nil && d.Policy == ready.PolicyStrict) {
				t.Errorf("p0 starves: %v", starves)
			}
			if !starves {
				return
			}
			rows := rowsOf(t, e, 1).Queues
			if len(rows) != 1 || rows[0].Served != 0 || rows[0].Ready != 1 || rows[0].UnservedSince != rows[0].OldestSince || now-rows[0].UnservedSince < 5 {
				t.Errorf("at %d the queue of p0 is %+v; expected it to wait since the start", now, rows)
			}
		})
	}
}

// While something of one priority lasts, the others are played.
func TestDedicatedLetsNoPriorityWaitForAnother(t *testing.T) {
	begun, played := make(chan struct{}), make(chan struct{})
	wait := func(c chan struct{}) coloured.Verdict {
		select {
		case <-c:
		case <-time.After(patience):
			t.Error("one priority waits for another")
		}
		return coloured.Verdict{OK: true}
	}
	high := working(t, "high", 1, Transition{Guard: func([]coloured.Placed, int64) coloured.Verdict { close(begun); return wait(played) }})
	high.Priority = func(int) ready.Priority { return 7 }
	low := working(t, "low", 1, Transition{Guard: func([]coloured.Placed, int64) coloured.Verdict { defer close(played); return wait(begun) }})
	e := newEngine(t, Config{Source: "s", Nets: []NetConfig{high, low}, Instances: 1, Workers: 1, Firings: 2, Dispatch: &Dispatch{Policy: ready.PolicyDedicated}})
	runToEnd(t, e)
	for _, net := range []string{"high", "low"} {
		if m := markingOf(t, e, net, 0); m[1] != 1 {
			t.Errorf("%s: %v", net, m)
		}
	}
}

func TestBadConfigurationsAreRefused(t *testing.T) {
	high := func(int) ready.Priority { return 8 }
	for name, change := range map[string]func(*Config){
		"a quote of 0":            func(c *Config) { c.Dispatch = &Dispatch{Policy: ready.PolicyQuoted} },
		"a priority, dedicated":   func(c *Config) { c.Dispatch, c.Nets[0].Priority = &Dispatch{Policy: ready.PolicyDedicated}, high },
		"a priority, strict":      func(c *Config) { c.Dispatch, c.Nets[0].Priority = &Dispatch{Policy: ready.PolicyStrict}, high },
		"a priority of the other": func(c *Config) { c.Nets[1].Priority = high },
		"actions":                 func(c *Config) { c.Actions = -1 },
		"firings":                 func(c *Config) { c.Firings = -1 },
		"instances":               func(c *Config) { c.Instances = 0 },
		"workers":                 func(c *Config) { c.Workers = 0 },
		"no nets":                 func(c *Config) { c.Nets = nil },
		"a net twice":             func(c *Config) { c.Nets[1] = c.Nets[0] },
		"a bound":                 func(c *Config) { c.Nets[1].Bound = -1 },
	} {
		cfg := Config{Source: "s", Instances: 2, Workers: 1, Nets: ranked(t, []ready.Priority{0, 0})}
		change(&cfg)
		if _, err := New(cfg); err == nil {
			t.Errorf("%s: it is taken", name)
		}
	}
}
