// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/petritest"
)

// sums are the numbers of tokens of a token replay.
type sums struct{ produced, consumed, missing, remaining uint64 }

// tokenReplay replays a log of traces of transition ids by the definition of Rozinat and van der Aalst, trace by trace,
// with a number for each place: the initial marking is produced, what an input lacks is missing, and at the end the final
// marking is consumed and the rest remains. The final marking of a trace is the one of the declared that differs least.
func tokenReplay(n *petri.Net, log [][]string) (s sums) {
	for _, trace := range log {
		tokens := map[string]uint64{}
		for _, p := range n.Places {
			tokens[p.ID] = uint64(p.Initial)
			s.produced += uint64(p.Initial)
		}
		for _, transition := range trace {
			before, after := map[string]uint64{}, map[string]uint64{}
			for _, a := range n.Arcs {
				switch {
				case a.Target == transition && a.Kind == petri.Normal:
					before[a.Source] += uint64(a.Weight)
				case a.Source == transition:
					after[a.Target] += uint64(a.Weight)
				}
			}
			for p, weight := range before {
				if tokens[p] < weight {
					s.missing += weight - tokens[p]
					tokens[p] = weight
				}
				tokens[p] -= weight
				s.consumed += weight
			}
			for p, weight := range after {
				tokens[p] += weight
				s.produced += weight
			}
		}
		end := sums{missing: 1 << 60}
		for _, final := range n.FinalMarkings {
			var here sums
			for _, p := range n.Places {
				want, got := uint64(final[p.ID]), tokens[p.ID]
				here.consumed += want
				here.missing += want - min(want, got)
				here.remaining += got - min(want, got)
			}
			if here.missing+here.remaining < end.missing+end.remaining {
				end = here
			}
		}
		s.consumed, s.missing, s.remaining = s.consumed+end.consumed, s.missing+end.missing, s.remaining+end.remaining
	}
	return s
}

func (s sums) fitness() float64 {
	return 0.5*(1-float64(s.missing)/float64(s.consumed)) + 0.5*(1-float64(s.remaining)/float64(s.produced))
}

// randomFinals returns one to three final markings with a token or more each.
func randomFinals(rnd *rand.Rand, n *petri.Net) (out []petri.Marking) {
	for range 1 + rnd.IntN(3) {
		m := petri.Marking{n.Places[rnd.IntN(len(n.Places))].ID: 1}
		for range rnd.IntN(3) {
			m[n.Places[rnd.IntN(len(n.Places))].ID] += uint32(rnd.IntN(3))
		}
		out = append(out, m)
	}
	return out
}

// plainArcs removes all arcs but those that take and put tokens, and adds a token to the initial marking.
func plainArcs(n *petri.Net) {
	var plain []petri.Arc
	for _, a := range n.Arcs {
		if a.Kind == petri.Normal {
			plain = append(plain, a)
		}
	}
	n.Arcs = plain
	n.Places[0].Initial++
}

func TestFitnessIsThatOfTokenReplay(t *testing.T) {
	unfit, perfect := 0, 0
	for seed := range uint64(500) {
		rnd := rand.New(rand.NewPCG(seed, 11))
		n := petritest.RandomNet(rnd)
		plainArcs(n)
		n.FinalMarkings = randomFinals(rnd, n)
		tables, err := petri.Compile(n)
		if err != nil {
			t.Fatal(err)
		}
		r := New(Config{Tables: tables, Limit: 1, EndsByEvent: true})
		var log [][]string
		for k := range 1 + rnd.IntN(5) {
			var trace []string
			name, at := []byte(fmt.Sprint(k)), int64(1000)
			for range 1 + rnd.IntN(6) {
				tr := rnd.IntN(len(n.Transitions))
				trace = append(trace, n.Transitions[tr].ID)
				r.Fire(name, tr, at)
				at++
			}
			r.End(name, at)
			log = append(log, trace)
		}
		want, c := tokenReplay(n, log), r.Counts
		if got := (sums{c.Produced, c.Consumed, c.Missing, c.Remaining}); got != want || c.Fitness() != want.fitness() {
			t.Fatalf("seed %d: %+v, fitness %v, want %+v, %v\nnet %+v\nlog %v", seed, got, c.Fitness(), want, want.fitness(), n, log)
		}
		if c.Unfit > 0 {
			unfit++
		}
		if want.fitness() > 0.9 {
			perfect++
		}
	}
	if unfit < 100 || perfect < 5 {
		t.Errorf("%d logs did not fit, and %d nearly", unfit, perfect)
	}
}

// A net without a declared final marking has one if it is a workflow net; the surplus there remains.
func TestFinalMarkings(t *testing.T) {
	const workflow = "split: start* -> a b; left: a -> end; right: b -> end"
	for _, c := range []struct {
		rule, net string
		declared  []petri.Marking
		anyEnd    bool
		fire      string
		want      sums
		finished  uint64
	}{
		{"a workflow net ends with one token", workflow, nil, false, "split left right", sums{5, 4, 0, 1}, 1},
		{"a process ends with any", workflow, nil, true, "split left right", sums{5, 5, 0, 0}, 1},
		{"a net says with how many", workflow, []petri.Marking{{"end": 2}}, false, "split left right", sums{5, 5, 0, 0}, 1},
		{"too few", workflow, []petri.Marking{{"end": 3}}, false, "split left right", sums{5, 6, 1, 0}, 1},
		{"the one that is nearest", workflow, []petri.Marking{{"end": 3}, {"a": 1, "b": 1}}, false, "split", sums{3, 3, 0, 0}, 1},
		{"elsewhere", workflow, nil, false, "split left", sums{4, 3, 0, 1}, 0},
		{"with two final places, any tokens in them", "yes: start* -> won; no: start* -> lost", nil, false, "yes", sums{2, 2, 0, 0}, 1},
	} {
		t.Run(c.rule, func(t *testing.T) {
			n := netOf(c.net)
			n.FinalMarkings = c.declared
			tables, err := petri.Compile(n)
			if err != nil {
				t.Fatal(err)
			}
			r := New(Config{Tables: tables, Limit: 1, EndsByEvent: true, AnyEnd: c.anyEnd})
			for k, id := range strings.Fields(c.fire) {
				tr, _ := tables.TransitionIndex(id)
				r.Fire([]byte("a"), tr, int64(k))
			}
			r.End([]byte("a"), 100)
			if got := (sums{r.Counts.Produced, r.Counts.Consumed, r.Counts.Missing, r.Counts.Remaining}); got != c.want || r.rec.Net.Finished != c.finished {
				t.Errorf("%+v, %d finished, want %+v, %d", got, r.rec.Net.Finished, c.want, c.finished)
			}
		})
	}
}
