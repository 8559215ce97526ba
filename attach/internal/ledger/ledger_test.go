// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/stats"
)

const minute = 60_000_000

// sums is what a simple count makes of a place.
type sums struct {
	Tokens, Instances, Arrivals, Departures uint64
	Oldest                                  int64
	Stuck                                   []string
}

func TestRowsAreTheSumsOfTokensAndFlow(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 7))
		n := NewDefinition("n", "")
		l := New(n, Presence|Flow|Instances)
		now, ahead := int64(1000*minute), r.Int64N(minute)-minute/2
		want, firings := make([]sums, 1+r.IntN(5)), make([]uint64, 3)
		for p := range want {
			n.Place(fmt.Sprint("p", p), "")
		}
		for i := range firings {
			n.Transition(fmt.Sprint("t", i), "")
		}
		for range r.IntN(60) {
			p, i := r.IntN(len(want)), r.IntN(len(firings))
			l.Arrive(p, now)
			l.Depart(p, r.Int64N(minute))
			l.Fire(i, now)
			l.Create()
			l.Finish(p == 0)
			want[p].Arrivals++
			want[p].Departures++
			firings[i]++
		}
		tokens := make([]Token, r.IntN(40))
		inside, all := make([]map[string]bool, len(want)), map[string]bool{}
		for i := range tokens {
			tokens[i] = Token{ID: fmt.Sprint(i), Place: r.IntN(len(want)), Instance: fmt.Sprint("i", r.IntN(9)), Since: 1 + r.Int64N(now)}
			w, k := &want[tokens[i].Place], tokens[i].Place
			if inside[k] == nil {
				inside[k] = map[string]bool{}
			}
			inside[k][tokens[i].Instance], all[tokens[i].Instance] = true, true
			w.Tokens, w.Instances = w.Tokens+1, uint64(len(inside[k]))
			if at := tokens[i].Since - ahead; w.Oldest == 0 || at < w.Oldest {
				w.Oldest = at
			}
		}
		for p := range want {
			want[p].Stuck = oldest(tokens, p, ahead)
		}
		l.Present(tokens)
		rows := l.publish(now, ahead).rows
		net := stats.NetRow{Failed: want[0].Arrivals, Active: uint64(len(all))}
		for p, w := range want {
			net.Created += w.Arrivals
			if p > 0 {
				net.Finished += w.Arrivals
			}
		}
		if rows.Net != net {
			t.Fatalf("seed %d: instances %+v; expected %+v", seed, rows.Net, net)
		}
		for p, w := range want {
			row := &rows.Places[p]
			got := sums{Tokens: row.Tokens, Instances: row.Instances, Arrivals: row.Arrivals, Departures: row.Departures, Oldest: row.Oldest}
			for _, s := range row.Stuck {
				got.Stuck = append(got.Stuck, fmt.Sprint(s.Instance, s.Injected))
			}
			if d := cmp.Diff(w, got); d != "" {
				t.Fatalf("seed %d, place %d:\n%s", seed, p, d)
			}
			if row.Dwell.Count() != w.Departures {
				t.Fatalf("seed %d, place %d: %d dwell times; expected %d", seed, p, row.Dwell.Count(), w.Departures)
			}
		}
		for i, n := range firings {
			if got := rows.Transitions[i].Firings; got != n {
				t.Fatalf("seed %d, transition %d: %d firings; expected %d", seed, i, got, n)
			}
		}
	}
}

// oldest names the ten oldest tokens of a place, by sorting all.
func oldest(tokens []Token, place int, ahead int64) (out []string) {
	all := slices.DeleteFunc(slices.Clone(tokens), func(t Token) bool { return t.Place != place })
	slices.SortFunc(all, func(a, b Token) int {
		return (&stats.Token{Injected: a.Since, Instance: a.Instance}).Compare(&stats.Token{Injected: b.Since, Instance: b.Instance})
	})
	for _, t := range all[:min(len(all), stats.MaxStuck)] {
		out = append(out, fmt.Sprint(t.Instance, t.Since-ahead))
	}
	return out
}

// grown returns a ledger with a token that waits for a transition and a place that
// came later than those of a smaller publisher.
func grown() *Ledger {
	n := NewDefinition("n", "")
	l := New(n, Presence)
	waits := []stats.Wait{{Transition: int32(n.Transition("old", "")), Place: stats.NoPlace, Reason: stats.ReasonManual, What: "user task"},
		{Transition: int32(n.Transition("new", "")), Place: stats.NoPlace, Reason: stats.ReasonManual},
		{Transition: 0, Place: int32(n.Place("p", "") + 1), Reason: stats.ReasonMissing}}
	n.Place("q", "")
	l.Present([]Token{{ID: "1", Place: 0, Instance: "i", Label: "order 7", Since: minute, Waits: waits}})
	return l
}

func TestRowsFitAPublisherOfAnotherSize(t *testing.T) {
	from := grown().publish(3*minute, 0)
	for _, c := range []struct {
		rule                               string
		places, transitions, waits, blocks int
	}{
		{"a publisher of the same size gets all", 2, 2, 3, 3},
		{"a larger one, too", 3, 3, 3, 3},
		{"one without the new transition does not name it", 2, 1, 2, 2},
		{"one without the new place does not name it", 1, 2, 2, 2},
	} {
		into := stats.NewRows(c.places, c.transitions)
		from.copyTo(into)
		if stuck := into.Places[0].Stuck; len(stuck) != 1 || len(stuck[0].Waits) != c.waits || len(into.Blocks) != c.blocks {
			t.Errorf("%s: %d blocks, and waits %v", c.rule, len(into.Blocks), stuck)
		}
	}
	if waits := from.rows.Places[0].Stuck[0].Waits; len(waits) != 3 {
		t.Errorf("copying changed the rows: %v", waits)
	}
}

func TestAnInstanceIsFoundByItsIDAndItsName(t *testing.T) {
	p := grown().publish(3*minute, minute)
	for _, name := range []string{"i", "order 7 (i)"} {
		found := p.instance(name, nil, 9)
		if found == nil || len(found.Tokens) != 1 || found.Tokens[0].Injected != 0 || found.Tokens[0].Waits[0].What != "user task" {
			t.Errorf("%s: %+v", name, found)
		}
	}
	if found := p.instance("order 7", nil, 9); found != nil {
		t.Errorf("the label alone: %+v", found)
	}
}

func TestANetGrowsByWhatItLacks(t *testing.T) {
	n := NewDefinition("n", "")
	if a, b, again := n.Place("a", ""), n.Place("b", ""), n.Place("a", "other"); a != 0 || b != 1 || again != 0 {
		t.Errorf("places %d, %d, %d", a, b, again)
	}
	n.Transition("t", "")
	n.Arc("a", "t")
	n.Arc("a", "t")
	if len(n.Def.Arcs) != 1 || !n.HasArc("a", "t") || n.HasArc("t", "a") {
		t.Errorf("arcs %v", n.Def.Arcs)
	}
	for i := range MaxRows {
		n.Place(fmt.Sprint(i), "")
		n.Transition(fmt.Sprint(i), "")
	}
	if n.Place("one more", "") != -1 || n.Transition("one more", "") != -1 || n.FindPlace("one more") != -1 {
		t.Error("a net without room grows")
	}
}

// A place of which only the oldest tokens are listed has as many as there are. The others count
// with age 0.
func TestTheTotalOfAPlace(t *testing.T) {
	d := NewDefinition("n", "")
	l := New(d, Presence)
	p := d.Place("p", "")
	l.Present([]Token{{Place: p, Instance: "a", Since: 10_000_000}, {Place: p, Instance: "b", Since: 20_000_000}})
	for _, c := range []struct{ total, tokens, mean uint64 }{{5, 5, 66}, {1, 2, 15}, {0, 2, 15}} {
		l.Total(p, c.total)
		row := l.rows(100_000_000, 0).Places[p]
		if mean := uint64(row.Injected.Mean(row.Tokens)) / 1e6; row.Tokens != c.tokens || row.Instances != c.tokens || mean != c.mean || row.Oldest != 10_000_000 || len(row.Stuck) != 2 {
			t.Errorf("with %d: %d tokens of %d instances with the mean %d, %d stuck, oldest %d; expected %+v", c.total, row.Tokens, row.Instances, mean, len(row.Stuck), row.Oldest, c)
		}
	}
}
