// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/pnagent/pnagent/engine/plain"
	"github.com/pnagent/pnagent/engine/ready"
	"github.com/pnagent/pnagent/petri"
)

// Values of printed tables, as of Abramowitz and Stegun, table 26.10.
func TestStudentsTIsAsInTables(t *testing.T) {
	for _, c := range []struct {
		q       float64
		freedom int
		want    float64
	}{{0.975, 1, 12.706}, {0.975, 2, 4.303}, {0.975, 9, 2.262}, {0.995, 5, 4.032}, {0.95, 30, 1.697}, {0.975, 120, 1.980}, {0.975, 100_000, 1.960}, {0.9995, 1, 636.619}} {
		if got := studentT(c.q, c.freedom); math.Abs(got-c.want) > 0.0006*max(1, c.want/10) {
			t.Errorf("quantile %g with %d degrees of freedom: %.4f, want %.3f", c.q, c.freedom, got, c.want)
		}
	}
}

func TestWhatIsUnknownIsNoNumber(t *testing.T) {
	var none, one moments
	none.add(math.NaN())
	one.add(3)
	for want, e := range map[string]Estimate{
		`{"mean":null,"low":null,"high":null,"runs":0}`: none.estimate(0.95),
		`{"mean":3,"low":null,"high":null,"runs":1}`:    one.estimate(0.95),
	} {
		if got, err := json.Marshal(e); string(got) != want || err != nil {
			t.Errorf("%s, %v; want %s", got, err, want)
		}
	}
	if got := number(none.estimate(0.95)); got != "-" {
		t.Errorf("a figure that no run had is shown as %q", got)
	}
}

func TestTheBeginOfASeriesIsLeftOutUntilItSettles(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, c := range []struct {
		name    string
		at      func(k int) float64
		least   int
		most    int
		settled bool
	}{
		{"level from the start", func(int) float64 { return 0 }, 0, 20, true},
		{"low for 20 of 100", func(k int) float64 { return -10 * max(0, 1-float64(k)/20) }, 10, 35, true},
		{"rising without end", func(k int) float64 { return float64(k) }, 50, 50, false},
	} {
		series := make([]float64, 100)
		for k := range series {
			series[k] = c.at(k) + r.NormFloat64()
		}
		if n, settled := truncation(series); n < c.least || n > c.most || settled != c.settled {
			t.Errorf("%s: %d are left out, settled %v", c.name, n, settled)
		}
	}
}

// A queue of 8 that starts empty: the warm-up is not 0, so the mean is not too low.
func TestRunsThatBeginEmptyHaveAWarmUp(t *testing.T) {
	o := options()
	o.For, o.Runs = 4*hour, 20
	s := played(t, queues(line(t, 1), exponential(minute), []Sampler{exponential(8 * minute)}, []int{20}), o)
	if s.Warmup < 300 || s.Warmup > 2*3600 || !s.Settled {
		t.Errorf("the warm-up is %g s, settled %v", s.Warmup, s.Settled)
	}
	holds(t, "held", s.Places[0].Held, 8, 0.15)
}

// The same seed gives the same numbers, in whatever order and on however many goroutines runs are
// made; another seed gives others.
func TestTheSameSeedGivesTheSameNumbers(t *testing.T) {
	m := queues(line(t, 2), exponential(minute), []Sampler{exponential(0.5 * minute), exponential(1.5 * minute)}, []int{1, 2})
	o := options()
	o.For, o.Runs = 2*hour, 70
	text := func(o Options) string {
		out, err := json.Marshal(played(t, m, o))
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	first := text(o)
	o.Each = func(n int, do func(i int)) {
		var all sync.WaitGroup
		for i := range n {
			all.Go(func() { do(n - 1 - i) })
		}
		all.Wait()
	}
	if text(o) != first {
		t.Error("runs on goroutines give other numbers")
	}
	o.Seed++
	if text(o) == first {
		t.Error("another seed gives the same numbers")
	}
}

// randomModel returns a net of places and delayed transitions with one or two inputs and outputs,
// some of them with a pool, and a source.
func randomModel(t *testing.T, seed uint64) *Model {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 7))
	n := &petri.Net{ID: fmt.Sprint("random", seed)}
	places := 3 + r.IntN(6)
	for p := range places {
		n.Places = append(n.Places, petri.Place{ID: fmt.Sprint("p", p), Initial: r.Uint32N(3)})
	}
	m := &Model{Instances: 1 + r.IntN(3), Pools: []Pool{{"a", 1 + r.IntN(3)}, {"b", 1}}}
	for k := range 3 + r.IntN(8) {
		id := fmt.Sprint("t", k)
		n.Transitions = append(n.Transitions, petri.Transition{ID: id})
		tr := Transition{Delay: exponential(minute * (1 + 5*r.Float64())), Pool: NoPool}
		tr.Binding.Mode.Kind = plain.Delayed
		if k > 0 {
			for range 1 + r.IntN(2) {
				n.Arcs = append(n.Arcs, petri.Arc{Source: fmt.Sprint("p", r.IntN(places)), Target: id, Weight: 1})
			}
			if r.IntN(2) == 0 {
				tr.Pool = r.IntN(2)
			}
		}
		for range r.IntN(3) {
			n.Arcs = append(n.Arcs, petri.Arc{Source: id, Target: fmt.Sprint("p", r.IntN(places)), Weight: 1})
		}
		m.Transitions = append(m.Transitions, tr)
	}
	tables, err := petri.Compile(n)
	if err != nil {
		t.Fatal(err)
	}
	m.Tables = tables
	return m
}

// What enters a place leaves it or is still there; members work or are free; a request waits or
// was begun.
func TestTokensAndMembersBalance(t *testing.T) {
	for seed := range uint64(40) {
		m, o := randomModel(t, seed), options()
		if err := o.check(); err != nil {
			t.Fatal(err)
		}
		r, err := newRun(m, &o, seed)
		if err != nil {
			t.Fatal(err)
		}
		for at := o.Start; at < o.Start+2*hour; at += hour / 4 {
			if err := r.until(at, o.Stop); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			now := r.mark()
			for p, place := range now.places {
				if place.in != place.out+place.tokens {
					t.Fatalf("seed %d, place %d: %d came, %d left, %d are there", seed, p, place.in, place.out, place.tokens)
				}
				if place.stays.Count() != place.out {
					t.Fatalf("seed %d, place %d: %d left after %d stays", seed, p, place.out, place.stays.Count())
				}
			}
			working := make([]int, len(r.pools))
			for _, p := range r.working {
				working[p]++
			}
			for k := range r.pools {
				p := &r.pools[k]
				if working[k] != p.level.n || p.free+p.level.n != m.Pools[k].Size || p.queue.n != len(p.waiting) || p.free > 0 && p.queue.n > 0 {
					t.Fatalf("seed %d, pool %d: %d of %d work, %d are free, %d of %d wait", seed, k, working[k], p.level.n, p.free, len(p.waiting), p.queue.n)
				}
			}
		}
	}
}

// caseModel has cases: each is served by a pool and then ends.
func caseModel(t *testing.T, service float64, size int) *Model {
	t.Helper()
	n := &petri.Net{ID: "case", Places: []petri.Place{{ID: "open", Initial: 1}, {ID: "end"}}, Transitions: []petri.Transition{{ID: "serve"}},
		Arcs: []petri.Arc{{Source: "open", Target: "serve", Weight: 1}, {Source: "serve", Target: "end", Weight: 1}}}
	tables, err := petri.Compile(n)
	if err != nil {
		t.Fatal(err)
	}
	return &Model{Tables: tables, Arrivals: exponential(minute), Pools: []Pool{{"clerks", size}},
		Transitions: []Transition{{Delay: exponential(service), Pool: 0}}}
}

func TestCasesAreServedAsErlangCSays(t *testing.T) {
	s := played(t, caseModel(t, 2.5*minute, 3), options())
	wait := erlangC(3, 2.5) * 2.5 * 60 / 0.5
	holds(t, "time of a case", s.Cases.Stay, wait+150, 0.225)
	holds(t, "in progress", s.Cases.Held, (wait+150)/60, 0.225)
	holds(t, "ended an hour", s.Cases.Out, 60, 0.045)
	if s.Cases.Growing || s.Instances.Deadlocked.Mean != 0 || s.Instances.Failed.Mean != 0 {
		t.Errorf("%+v", s.Instances)
	}
}

// Cases that wait when a run ends are counted, with their age.
func TestStaysThatHaveNotEndedCount(t *testing.T) {
	o := options()
	o.For, o.Warmup, o.Runs = 10*hour, 0, 10
	s := played(t, caseModel(t, 1000*hour, 1), o)
	c := s.Cases
	if c.Out.Mean > 0.1 || math.Abs(c.In.Mean-60) > 5 || math.Abs(c.Left.Mean-600) > 30 || math.Abs(c.Oldest.Mean-36_000) > 200 || !c.AtLeast || !c.Growing {
		t.Errorf("%+v", c)
	}
	if c.Median.Mean < 4*3600 || c.Median.Mean > 6*3600 {
		t.Errorf("half of the stays are shorter than %g s; want about 5 h", c.Median.Mean)
	}
}

// Quantiles are read from buckets: the interval has the true value also where all runs agree.
func TestTheIntervalOfAQuantileHasTheWidthOfItsBucket(t *testing.T) {
	m := caseModel(t, minute, 1000)
	m.Transitions[0].Delay = plain.Delay{A: second}
	s := played(t, m, options())
	holds(t, "median", s.Cases.Median, 1, 0.06)
	holds(t, "p95", s.Cases.High, 1, 0.06)
}

// Cases of a higher priority overtake others in a queue (Cobham): half of them have it.
func TestMembersTakeTheHighestPriorityFirst(t *testing.T) {
	m := caseModel(t, 0.8*minute, 1)
	asked := map[ready.Priority]int{}
	m.Priority = func(number int) ready.Priority {
		p := ready.Priority(number % 2)
		asked[p]++
		return p
	}
	o := options()
	if err := o.check(); err != nil {
		t.Fatal(err)
	}
	r, err := newRun(m, &o, 3)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.until(o.Start+400*hour, o.Stop); err != nil {
		t.Fatal(err)
	}
	if asked[0] == 0 || asked[1] == 0 {
		t.Fatalf("priorities were asked %v times", asked)
	}
	low, high := r.pools[0].queues[0], r.pools[0].queues[1]
	if len(high.all)-high.head > len(low.all)-low.head {
		t.Errorf("%d of high priority wait, and %d of low", len(high.all)-high.head, len(low.all)-low.head)
	}
}

// A choice is made in proportion to the weights.
func TestChoicesFollowWeights(t *testing.T) {
	n := &petri.Net{ID: "choice", Places: []petri.Place{{ID: "open", Initial: 1}, {ID: "end"}}}
	m := &Model{Arrivals: exponential(minute)}
	for id, weight := range []float64{1, 3, 0} { // 0 counts as 1
		name := fmt.Sprint("t", id)
		n.Transitions = append(n.Transitions, petri.Transition{ID: name})
		n.Arcs = append(n.Arcs, petri.Arc{Source: "open", Target: name, Weight: 1}, petri.Arc{Source: name, Target: "end", Weight: 1})
		m.Transitions = append(m.Transitions, Transition{Pool: NoPool, Weight: weight})
	}
	var err error
	m.Tables, err = petri.Compile(n)
	if err != nil {
		t.Fatal(err)
	}
	s := played(t, m, options())
	for k, want := range []float64{12, 36, 12} {
		holds(t, n.Transitions[k].ID, s.Transitions[k].Firings, want, 0.075)
	}
}

func TestRunsAreBounded(t *testing.T) {
	m := queues(line(t, 1), exponential(minute), []Sampler{exponential(minute)}, nil)
	loop := queues(line(t, 1), plain.Delay{}, []Sampler{exponential(minute)}, nil)
	for _, c := range []struct {
		name   string
		m      *Model
		change func(*Options)
		want   string
		is     error
	}{
		{"firings", m, func(o *Options) { o.Limits.Firings = 100 }, "more than 100 firings", ErrLimit},
		{"tokens", queues(line(t, 1), exponential(second/100), []Sampler{exponential(hour)}, nil), func(o *Options) { o.Limits.Tokens = 1000 }, `most of them in place "queue1"`, ErrLimit},
		{"a loop without time", loop, func(*Options) {}, "while no time passes", ErrLimit},
		{"stopped", queues(line(t, 1), exponential(second/100), []Sampler{exponential(second / 200)}, nil), func(o *Options) { o.Stop = func() bool { return true } }, "stopped", ErrStopped},
		{"no runs", m, func(o *Options) { o.Runs = 0 }, "0 runs", ErrModel},
		{"warm-up", m, func(o *Options) { o.Warmup = o.For }, "warm-up", ErrModel},
		{"confidence", m, func(o *Options) { o.Confidence = 1 }, "confidence of 1", ErrModel},
		{"pool", queues(line(t, 1), exponential(minute), []Sampler{exponential(minute)}, []int{0}), func(*Options) {}, `pool "clerks1" has 0 members`, ErrModel},
	} {
		o := options()
		c.change(&o)
		if _, err := Study(c.m, o); !errors.Is(err, c.is) || !strings.Contains(fmt.Sprint(err), c.want) {
			t.Errorf("%s: %v; want %q", c.name, err, c.want)
		}
	}
}

func TestTheSmallestSufficientSizeIsFound(t *testing.T) {
	o := options()
	o.Runs = 20
	v, err := Vary(caseModel(t, 2.2*minute, 1), 0, 1, 5, o)
	if err != nil {
		t.Fatal(err)
	}
	// With 3 members 1.49 wait on average, with 4 it is 0.28.
	if v.Stable != 3 || v.Gone != 4 || v.Best().Pools[0].Size != 4 {
		t.Errorf("stable with %d, gone with %d", v.Stable, v.Gone)
	}
	if want := "clerks: its queue does not grow with 3; it is gone with 4 (less than one request waits on average, with 99.9 % confidence)"; v.Answer() != want {
		t.Errorf("%s\nwant %s", v.Answer(), want)
	}
	rows := v.Table().Rows
	if len(rows) != 5 || !strings.HasPrefix(rows[1][7], "grows by ") || rows[2][7] != "does not grow" || rows[3][7] != "gone" {
		t.Errorf("%q", rows)
	}
	o.Limits.Firings = 1000
	if v, err = Vary(caseModel(t, minute, 1), 0, 1, 1, o); err != nil || v.Best() != nil || !strings.Contains(v.Table().Rows[0][7], "more than 1000 firings") {
		t.Errorf("%v, %+v", err, v)
	}
}
