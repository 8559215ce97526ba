// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
)

// Of several explanations of an event the cheapest is taken: that with the fewest missing and remaining tokens, with
// regard to the events that follow.
func TestTheCheapestExplanation(t *testing.T) {
	for _, c := range []struct {
		rule, net, labels, log string
		fired                  string
		missing, greedy        uint64
		search                 int
	}{
		{"the candidate that is enabled", "a1: start* -> p; a2: q -> end; b: p -> q", "a=a1,a2", "a b a", "a1 b a2", 0, 0, 100},
		{"the candidate that the next event needs", "a1: start* -> p; a2: start -> q; b: p -> end; c: q -> end", "a=a1,a2", "a c", "a2 c", 0, 0, 100},
		{"that only the event after the next needs", "a1: start* -> p; a2: start -> q; b1: p -> p2; b2: q -> q2; c: p2 -> end; d: q2 -> end", "a=a1,a2 b=b1,b2", "a b d", "a2 b2 d", 0, 0, 100},
		{"that the end needs", "a1: start* -> p; a2: start -> end; b: p -> end", "a=a1,a2", "a", "a2", 0, 0, 100},
		{"the silent transition that the next event needs", "tau l: start* -> p x; tau r: start -> p y; a: p -> q; b: q x -> end; c: q y -> end", "", "a c", "tau r,a c", 0, 0, 100},
		{"the candidate that lacks less", "a1: p q -> end; a2: start* r -> end", "a=a1,a2", "a", "a2", 1, 0, 100},
		{"the first of equal ones", "a1: start* -> end; a2: start -> end", "a=a1,a2", "a", "a1", 0, 0, 100},
		{"beyond the bound the first that is enabled", "a1: start* -> p; a2: start -> q; b: p -> end; c: q -> end", "a=a1,a2", "a c", "a1 c", 1, 1, 2},
	} {
		t.Run(c.rule, func(t *testing.T) {
			r, next := labelled(t, c.net, c.labels, c.log, c.search)
			for k := range next[:len(next)-1] {
				r.FireLabel([]byte("i"), next[k], next[k+1:], int64(k+1))
			}
			r.End([]byte("i"), 100)
			if got := firedBy(r); got != sorted(c.fired) || r.Counts.Missing != c.missing || r.Counts.Greedy != c.greedy {
				t.Errorf("fired %s, want %s; %+v", got, sorted(c.fired), r.Counts)
			}
		})
	}
}

// labelled returns a replay of a net with labels, "a=a1,a2 b=b1,b2", and the labels of a log behind which the instance ends.
func labelled(t *testing.T, net, labels, log string, search int) (*Replay, []int32) {
	t.Helper()
	tables, err := petri.Compile(netOf(net))
	if err != nil {
		t.Fatal(err)
	}
	cfg := Config{Tables: tables, Limit: 1, Search: search, EndsByEvent: true}
	byName := map[string]int32{}
	for i, tr := range tables.Net.Transitions {
		cfg.Silent = append(cfg.Silent, strings.HasPrefix(tr.ID, "tau "))
		byName[tr.ID] = int32(i)
	}
	for _, l := range strings.Fields(labels) {
		name, ids, _ := strings.Cut(l, "=")
		byName[name] = int32(tables.Transitions() + len(cfg.Labels))
		var several []int32
		for id := range strings.SplitSeq(ids, ",") {
			several = append(several, byName[id])
		}
		cfg.Labels = append(cfg.Labels, several)
	}
	var out []int32
	for _, name := range strings.Fields(log) {
		out = append(out, byName[name])
	}
	return New(cfg), append(out, EndsNext)
}

// firedBy lists the transitions that fired.
func firedBy(r *Replay) string {
	rows := stats.NewRows(r.tables.Places(), r.tables.Transitions())
	r.Look(1000, rows)
	var out []string
	for i, tr := range r.tables.Net.Transitions {
		for range rows.Transitions[i].Firings {
			out = append(out, tr.ID)
		}
	}
	slices.Sort(out)
	return strings.Join(out, ",")
}

// sorted sorts "tau r,a c": names between commas and spaces, of which a silent one has a space.
func sorted(fired string) string {
	out := strings.FieldsFunc(strings.ReplaceAll(fired, "tau ", "tau_"), func(c rune) bool { return c == ' ' || c == ',' })
	for k := range out {
		out[k] = strings.ReplaceAll(out[k], "tau_", "tau ")
	}
	slices.Sort(out)
	return strings.Join(out, ",")
}

// A random tree of sequences, choices, parallel parts and skips as a net, with labels that several transitions share,
// fits all of its own runs: what is played is explained without a missing or remaining token.
func TestWhatANetPlayedFits(t *testing.T) {
	shared, greedy := 0, uint64(0)
	for seed := range uint64(300) {
		rnd := rand.New(rand.NewPCG(seed, 21))
		b := &treeNet{rnd: rnd, net: &petri.Net{ID: "tree"}}
		b.net.Places = []petri.Place{{ID: "in", Initial: 1}, {ID: "out"}}
		b.part("in", "out", 3)
		tables, err := petri.Compile(b.net)
		if err != nil {
			t.Fatal(err)
		}
		cfg := Config{Tables: tables, Silent: b.silent, Limit: 1, Search: 100_000, EndsByEvent: true}
		labels := map[string]int32{}
		for i, l := range b.labels {
			if k, known := labels[l]; known {
				cfg.Labels[k] = append(cfg.Labels[k], int32(i))
				shared++
			} else if l != "" {
				labels[l] = int32(len(cfg.Labels))
				cfg.Labels = append(cfg.Labels, []int32{int32(i)})
			}
		}
		r := New(cfg)
		var trace []int32
		for _, tr := range play(rnd, tables) {
			if l := b.labels[tr]; l != "" {
				trace = append(trace, int32(tables.Transitions())+labels[l])
			}
		}
		if len(trace) == 0 || len(trace) > Ahead+1 {
			continue // beyond what is looked ahead the best may be missed
		}
		trace = append(trace, EndsNext)
		for k := range trace[:len(trace)-1] {
			r.FireLabel([]byte("i"), trace[k], trace[k+1:], int64(k+1))
		}
		r.End([]byte("i"), 1000)
		if r.Counts.Fitness() != 1 || r.Counts.Unfit > 0 {
			t.Errorf("seed %d: %+v\nnet %+v\nlabels %v, trace %v", seed, r.Counts, b.net, b.labels, trace)
		}
		greedy += r.Counts.Greedy
	}
	if shared < 50 || greedy > 0 {
		t.Errorf("%d labels are shared, %d events were beyond the bound", shared, greedy)
	}
}

// treeNet builds a net from parts between two places.
type treeNet struct {
	rnd    *rand.Rand
	net    *petri.Net
	silent []bool
	labels []string // by transition; "" for a silent one
}

func (b *treeNet) place() string {
	id := fmt.Sprint("p", len(b.net.Places))
	b.net.Places = append(b.net.Places, petri.Place{ID: id})
	return id
}

func (b *treeNet) transition(label string, before, after []string) {
	id := fmt.Sprint("t", len(b.net.Transitions))
	b.net.Transitions = append(b.net.Transitions, petri.Transition{ID: id})
	b.silent, b.labels = append(b.silent, label == ""), append(b.labels, label)
	for _, p := range before {
		b.net.Arcs = append(b.net.Arcs, petri.Arc{Source: p, Target: id, Weight: 1})
	}
	for _, p := range after {
		b.net.Arcs = append(b.net.Arcs, petri.Arc{Source: id, Target: p, Weight: 1})
	}
}

func (b *treeNet) part(from, to string, depth int) {
	kind := b.rnd.IntN(5)
	switch {
	case depth == 0 || kind == 0:
		b.transition(string(rune('a'+b.rnd.IntN(4))), []string{from}, []string{to})
	case kind == 1: // one after the other
		between := b.place()
		b.part(from, between, depth-1)
		b.part(between, to, depth-1)
	case kind == 2: // one of the two
		b.part(from, to, depth-1)
		b.part(from, to, depth-1)
	case kind == 3: // both
		l, r, l2, r2 := b.place(), b.place(), b.place(), b.place()
		b.transition("", []string{from}, []string{l, r})
		b.part(l, l2, depth-1)
		b.part(r, r2, depth-1)
		b.transition("", []string{l2, r2}, []string{to})
	default: // or nothing
		b.part(from, to, depth-1)
		b.transition("", []string{from}, []string{to})
	}
}

// play plays a net at random until nothing is enabled.
func play(rnd *rand.Rand, t *petri.Tables) (fired []int) {
	r := New(Config{Tables: t, Limit: 1})
	tokens := slices.Clone(t.Initial)
	for {
		var enabled []int
		for tr := range t.Transitions() {
			if r.tables.EnabledIn(tokens, tr) {
				enabled = append(enabled, tr)
			}
		}
		if len(enabled) == 0 {
			return fired
		}
		tr := enabled[rnd.IntN(len(enabled))]
		r.apply(tokens, step{transition: int32(tr)})
		fired = append(fired, tr)
	}
}
