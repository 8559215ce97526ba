// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"math"
	"testing"

	"github.com/pnagent/pnagent/engine/plain"
	"github.com/pnagent/pnagent/petri"
)

// Units of the models in these tests.
const minute = 60 * second

func exponential(mean float64) Sampler { return plain.Delay{Shape: plain.Exponential, A: mean} }

// line returns a net: arrive puts tokens into the first place, serve1 takes them from there and
// puts them into the second one, and so on; the last one is done.
func line(t testing.TB, places int, more ...petri.Arc) *petri.Tables {
	t.Helper()
	n := &petri.Net{ID: "line"}
	add := func(from, to string) { n.Arcs = append(n.Arcs, petri.Arc{Source: from, Target: to, Weight: 1}) }
	n.Transitions = append(n.Transitions, petri.Transition{ID: "arrive"})
	last := "arrive"
	for k := range places {
		place, serve := "queue"+string(rune('1'+k)), "serve"+string(rune('1'+k))
		n.Places = append(n.Places, petri.Place{ID: place})
		n.Transitions = append(n.Transitions, petri.Transition{ID: serve})
		add(last, place)
		add(place, serve)
		last = serve
	}
	n.Places = append(n.Places, petri.Place{ID: "done"})
	add(last, "done")
	n.Arcs = append(n.Arcs, more...)
	tables, err := petri.Compile(n)
	if err != nil {
		t.Fatal(err)
	}
	return tables
}

// queues returns the model of a line: the time between arrivals, then that of each service, in a
// pool if sizes has one for it.
func queues(tables *petri.Tables, arrivals Sampler, services []Sampler, sizes []int) *Model {
	m := &Model{Tables: tables, Instances: 1}
	delayed := func(s Sampler) Transition {
		t := Transition{Delay: s, Pool: NoPool}
		t.Binding.Mode.Kind = plain.Delayed
		return t
	}
	m.Transitions = append(m.Transitions, delayed(arrivals))
	for k, s := range services {
		t := delayed(s)
		if k < len(sizes) {
			t.Pool = len(m.Pools)
			m.Pools = append(m.Pools, Pool{Name: "clerks" + string(rune('1'+k)), Size: sizes[k]})
		}
		m.Transitions = append(m.Transitions, t)
	}
	return m
}

func options() Options {
	return Options{Start: 1e15, For: 50 * hour, Warmup: Auto, Runs: 40, Seed: 1, Confidence: 0.999, Stuck: 10 * minute}
}

func played(t testing.TB, m *Model, o Options) *Summary {
	t.Helper()
	s, err := Study(m, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// holds checks that an interval has the exact value, and is no longer than a share of it.
func holds(t *testing.T, what string, e Estimate, exact, share float64) {
	t.Helper()
	if !(e.Low <= exact && exact <= e.High) || !(e.Half() <= share*exact) {
		t.Errorf("%s: %.5g, from %.5g to %.5g; exactly %.5g", what, e.Mean, e.Low, e.High, exact)
	}
}

func TestAQueueWithOneServerIsAsItsFormula(t *testing.T) {
	const rho = 0.8
	for _, c := range []struct {
		name    string
		service Sampler
		scv     float64 // variance of the service divided by the square of its mean
		pool    []int
	}{
		{"M/M/1, plain", exponential(rho * minute), 1, nil},
		{"M/M/1, a pool of one", exponential(rho * minute), 1, []int{1}},
		{"M/D/1, plain", plain.Delay{A: rho * minute}, 0, nil},
		{"M/D/1, a pool of one", plain.Delay{A: rho * minute}, 0, []int{1}},
		{"M/U/1", plain.Delay{Shape: plain.Uniform, B: 2 * rho * minute}, 1.0 / 3, nil},
		{"M/G/1 of measured times", Sample{0.4 * rho * minute, 1.6 * rho * minute}, 0.36, nil},
	} {
		s := played(t, queues(line(t, 1), exponential(minute), []Sampler{c.service}, c.pool), options())
		wait := rho * rho * minute / second * (1 + c.scv) / 2 / (1 - rho) // Pollaczek and Khinchin
		q := s.Places[0]
		holds(t, c.name+": time in the queue and in service", q.Stay, wait+rho*60, 0.18)
		holds(t, c.name+": tokens", q.Held, (wait+rho*60)/60, 0.18)
		holds(t, c.name+": throughput", q.Out, 60, 0.03)
		if c.scv == 1 && c.pool == nil { // the time is exponential, too
			holds(t, c.name+": median", q.Median, (wait+rho*60)*math.Ln2, 0.25)
			holds(t, c.name+": p95", q.High, (wait+rho*60)*math.Log(20), 0.25)
		}
		if len(s.Pools) > 0 {
			holds(t, c.name+": busy", s.Pools[0].Busy, rho, 0.03)
			holds(t, c.name+": wait", s.Pools[0].Stay, wait, 0.225)
			holds(t, c.name+": at once", s.Pools[0].AtOnce, 1-rho, 0.15)
		}
		if q.Growing || s.Places[1].Growing {
			t.Errorf("%s: it is said to grow", c.name)
		}
	}
}

// erlangC returns the probability that a request waits for one of c servers, if a servers are
// busy on average.
func erlangC(c int, a float64) float64 {
	term, sum := 1.0, 0.0
	for k := range c {
		sum += term
		term *= a / float64(k+1)
	}
	last := term / (1 - a/float64(c))
	return last / (sum + last)
}

func TestAPoolOfSeveralIsAsErlangC(t *testing.T) {
	for _, c := range []struct {
		size int
		a    float64
	}{{2, 1.5}, {3, 2.5}, {8, 6}} {
		s := played(t, queues(line(t, 1), exponential(minute), []Sampler{exponential(c.a * minute)}, []int{c.size}), options())
		waits, p := erlangC(c.size, c.a), s.Pools[0]
		wait := waits * c.a * 60 / (float64(c.size) - c.a)
		holds(t, "waits at all", Estimate{1 - p.AtOnce.Mean, 1 - p.AtOnce.High, 1 - p.AtOnce.Low, 1}, waits, 0.15)
		holds(t, "wait", p.Stay, wait, 0.3)
		holds(t, "waiting", p.Held, wait/60, 0.3)
		holds(t, "busy", p.Busy, c.a/float64(c.size), 0.03)
		holds(t, "time in the place", s.Places[0].Stay, wait+c.a*60, 0.15)
	}
}

func TestATandemIsTwoQueues(t *testing.T) {
	for _, pools := range [][]int{nil, {1, 1}} {
		s := played(t, queues(line(t, 2), exponential(minute), []Sampler{exponential(0.5 * minute), exponential(0.7 * minute)}, pools), options())
		holds(t, "first", s.Places[0].Stay, 60, 0.075)
		holds(t, "second", s.Places[1].Stay, 140, 0.12)
		holds(t, "left the second", s.Places[1].Out, 60, 0.03)
	}
}

// An inhibitor arc that lets nothing in when there are 4 makes an M/M/1/4: what would arrive
// then is lost, since its clock stops.
func TestAQueueWithABoundIsAsItsFormula(t *testing.T) {
	const rho, k = 0.9, 4
	s := played(t, queues(line(t, 1, petri.Arc{Source: "queue1", Target: "arrive", Kind: petri.Inhibitor, Weight: k}), exponential(minute), []Sampler{exponential(rho * minute)}, nil), options())
	norm, mean := 0.0, 0.0
	for n := range k + 1 {
		norm += math.Pow(rho, float64(n))
		mean += float64(n) * math.Pow(rho, float64(n))
	}
	accepted := 1 - math.Pow(rho, k)/norm
	holds(t, "tokens", s.Places[0].Held, mean/norm, 0.045)
	holds(t, "throughput", s.Places[0].Out, 60*accepted, 0.045)
	holds(t, "stay", s.Places[0].Stay, mean/norm/accepted*60, 0.045)
}

func TestAQueueWithoutEnoughServersGrows(t *testing.T) {
	for _, c := range []struct {
		size    int
		growing bool
	}{{1, true}, {2, true}, {3, false}} {
		s := played(t, queues(line(t, 1), exponential(minute), []Sampler{exponential(2.2 * minute)}, []int{c.size}), options())
		if got := s.Pools[0].Growing; got != c.growing || s.Places[0].Growing != c.growing {
			t.Errorf("%d members: growing %v, by %.3g a day from %.3g", c.size, got, s.Pools[0].Growth.Mean, s.Pools[0].Growth.Low)
		}
	}
}

// Of 200 studies of 10 runs, about 95 % have an interval that holds the exact value.
func TestIntervalsHoldTheExactValueAsOftenAsTheySay(t *testing.T) {
	if testing.Short() {
		t.Skip("many studies")
	}
	const studies = 200
	m := queues(line(t, 1), exponential(minute), []Sampler{exponential(0.5 * minute)}, nil)
	held := 0
	for seed := range uint64(studies) {
		o := options()
		o.Runs = 10
		o.Seed = seed
		o.Confidence = 0.95
		o.Warmup = hour
		o.For = 8 * hour
		e := played(t, m, o).Places[0].Held
		if e.Low <= 1 && 1 <= e.High {
			held++
		}
	}
	// The standard deviation of the number is 3.1.
	if held < 0.95*studies-10 || held > 0.95*studies+9 {
		t.Errorf("%d of %d intervals hold the exact value; want about %g", held, studies, 0.95*studies)
	}
}
