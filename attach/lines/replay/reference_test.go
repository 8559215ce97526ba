// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/petritest"
	"github.com/pnagent/pnagent/stats"
)

// reference replays the events one after another on the arcs of the net, with a
// list of times for each place of each instance. It is slow and simple, and has
// no silent transitions.
type reference struct {
	net       *petri.Net
	instances map[string]map[string][]int64 // by name and place: injection times, oldest first
	last      map[string]int64
	firings   map[string]uint64
	dwell     map[string]*stats.Histogram // by place
	departed  map[string]uint64
	arrived   map[string]uint64
	injected  map[string]int64           // by place: the latest time
	fired     map[string]int64           // by transition: the latest time
	left      map[string][]stats.Slowest // by place: all that left
	ends      bool                       // some place is final
	workflow  bool                       // one token should end in the one final place

	unfit, late, produced, consumed, missing, remaining, finished uint64
}

func newReference(n *petri.Net) *reference {
	r := &reference{net: n, instances: map[string]map[string][]int64{}, last: map[string]int64{}, firings: map[string]uint64{},
		dwell: map[string]*stats.Histogram{}, departed: map[string]uint64{}, arrived: map[string]uint64{},
		injected: map[string]int64{}, fired: map[string]int64{}, left: map[string][]stats.Slowest{}}
	initial, finals := 0, 0
	for _, p := range n.Places {
		initial += int(p.Initial)
		if petritest.NewReference(n).Final(p.ID) {
			finals++
		}
		r.dwell[p.ID] = &stats.Histogram{}
	}
	r.ends, r.workflow = finals > 0, initial == 1 && finals == 1
	return r
}

func (r *reference) put(held map[string][]int64, place string, at int64) {
	held[place] = append(held[place], at)
	r.arrived[place]++
	r.injected[place] = max(r.injected[place], at)
}

// weight returns the sum of the arcs of a kind between two nodes.
func (r *reference) weight(kind petri.ArcKind, from, to string) int {
	n := 0
	for _, a := range r.net.Arcs {
		if a.Kind == kind && a.Source == from && a.Target == to {
			n += int(a.Weight)
		}
	}
	return n
}

func (r *reference) fire(name, transition string, at int64) {
	held := r.instances[name]
	if held == nil {
		held = map[string][]int64{}
		r.instances[name], r.last[name] = held, at
		for _, p := range r.net.Places {
			for range p.Initial {
				r.put(held, p.ID, at)
				r.produced++
			}
		}
	}
	if at < r.last[name] {
		r.late++
		at = r.last[name]
	}
	r.last[name] = at
	r.repair(held, transition)
	for _, p := range r.net.Places {
		take := r.weight(petri.Normal, p.ID, transition)
		for _, a := range r.net.Arcs {
			if a.Kind == petri.Reset && a.Source == p.ID && a.Target == transition {
				take = len(held[p.ID])
			}
		}
		for range take {
			if held[p.ID][0] == repaired {
				r.consumed++
				held[p.ID] = held[p.ID][1:]
				continue
			}
			r.dwell[p.ID].Observe(at - held[p.ID][0])
			r.left[p.ID] = append(r.left[p.ID], stats.Slowest{Instance: name, Micros: at - held[p.ID][0], At: at})
			r.departed[p.ID]++
			r.consumed++
			held[p.ID] = held[p.ID][1:]
		}
	}
	for _, p := range r.net.Places {
		for k, since := range held[p.ID] { // tokens that were missing, and were only read
			if since == repaired {
				held[p.ID] = held[p.ID][:k]
				r.put(held, p.ID, at)
			}
		}
		for range r.weight(petri.Normal, transition, p.ID) {
			r.put(held, p.ID, at)
			r.produced++
		}
	}
	r.firings[transition]++
	r.fired[transition] = max(r.fired[transition], at)
	if newSlow(r.net, held).atEnd() {
		r.close(name)
	}
}

// repaired is the time of a token that was missing.
const repaired = -1

// repair adds what is missing and counts an event that does not fit.
func (r *reference) repair(held map[string][]int64, transition string) {
	fits := true
	for _, p := range r.net.Places {
		for _, a := range r.net.Arcs {
			if a.Kind == petri.Inhibitor && a.Source == p.ID && a.Target == transition && len(held[p.ID]) >= int(a.Weight) {
				fits = false
			}
		}
		need := max(r.weight(petri.Normal, p.ID, transition), r.weight(petri.Read, p.ID, transition))
		for len(held[p.ID]) < need {
			fits = false
			held[p.ID] = append(held[p.ID], repaired)
			r.missing++
		}
	}
	if !fits {
		r.unfit++
	}
}

func (r *reference) close(name string) {
	came := uint64(0)
	for _, tokens := range r.instances[name] {
		came += uint64(len(tokens))
	}
	if came == 0 && r.ends {
		r.missing++
		came = 1
	}
	if r.workflow && came > 1 {
		r.remaining += came - 1
		came = 1
	}
	r.consumed += came
	r.finished++
	delete(r.instances, name)
}

func TestAReplayAgreesWithTheReference(t *testing.T) {
	for seed := range uint64(150) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		n := petritest.RandomNet(rnd)
		tables, err := petri.Compile(n)
		if err != nil {
			t.Fatal(err)
		}
		ref, r := newReference(n), New(Config{Tables: tables, Limit: 100})
		now, back := int64(1_000_000_000), seed%2*100 // with odd seeds some events are late
		for range 200 {
			now += (int64(rnd.IntN(1000)) - int64(back)) * 10_000
			name, tr := fmt.Sprint("instance ", rnd.IntN(5)), rnd.IntN(len(n.Transitions))
			ref.fire(name, n.Transitions[tr].ID, now)
			r.Fire([]byte(name), tr, now)
			if rnd.IntN(50) == 0 {
				send(t, r)
			}
		}
		compare(t, seed, ref, r, now, back == 0)
	}
}

// send marks all counts as published and checks that none is left.
func send(t *testing.T, r *Replay) {
	t.Helper()
	r.Sent()
	left := stats.NewRows(r.tables.Places(), r.tables.Transitions())
	r.Unsent(left)
	if d := cmp.Diff(stats.NewRows(r.tables.Places(), r.tables.Transitions()), left); d != "" {
		t.Fatalf("unpublished counts after Sent:\n%s", d)
	}
}

func compare(t *testing.T, seed uint64, ref *reference, r *Replay, now int64, ordered bool) {
	t.Helper()
	c := r.Counts
	got := []uint64{c.Events, c.Unfit, c.Late, c.Produced, c.Consumed, c.Missing, c.Remaining}
	wanted := []uint64{200, ref.unfit, ref.late, ref.produced, ref.consumed, ref.missing, ref.remaining}
	if d := cmp.Diff(wanted, got); d != "" {
		t.Fatalf("seed %d: net %+v:\n%s", seed, ref.net, d)
	}
	rows := stats.NewRows(len(ref.net.Places), len(ref.net.Transitions))
	r.Look(now, rows)
	want := slowLook(ref.net, ref.instances, now)
	want.Columns = Columns
	want.Net.Created, want.Net.Finished = ref.finished+uint64(len(ref.instances)), ref.finished
	for i, tr := range ref.net.Transitions {
		want.Transitions[i].Firings, want.Transitions[i].LastFiring = ref.firings[tr.ID], ref.fired[tr.ID]
		if !ordered {
			want.Transitions[i].LastFiring = rows.Transitions[i].LastFiring
		}
	}
	for i, p := range ref.net.Places {
		row := &want.Places[i]
		row.Arrivals, row.Departures, row.LastInjection, row.Dwell = ref.arrived[p.ID], ref.departed[p.ID], ref.injected[p.ID], *ref.dwell[p.ID]
		if !ordered {
			row.LastInjection = rows.Places[i].LastInjection
		}
	}
	if d := cmp.Diff(want, rows); d != "" {
		t.Fatalf("seed %d: net %+v (-want +got):\n%s", seed, ref.net, d)
	}
	compareSlowest(t, ref, r)
}

// compareSlowest checks that the slowest tokens are among the latest of those
// with the longest time, and that they are reported once.
func compareSlowest(t *testing.T, ref *reference, r *Replay) {
	t.Helper()
	rows, again := stats.NewRows(len(ref.net.Places), len(ref.net.Transitions)), stats.NewRows(len(ref.net.Places), len(ref.net.Transitions))
	r.TakeSlowest(rows)
	r.TakeSlowest(again)
	for i, p := range ref.net.Places {
		got := rows.Places[i].Slowest
		if again.Places[i].Slowest != (stats.Slowest{}) {
			t.Fatalf("%+v is reported twice", got)
		}
		var most stats.Slowest
		for _, s := range ref.left[p.ID] {
			if s.Micros > 0 && (s.Micros > most.Micros || s.Micros == most.Micros && s.At > most.At) {
				most = s
			}
		}
		if got.Micros != most.Micros || got.At != most.At || got.Micros > 0 && !slices.Contains(ref.left[p.ID], got) {
			t.Fatalf("place %s: slowest %+v, want one such as %+v", p.ID, got, most)
		}
	}
}

// A Replay with a loaded state continues exactly as the original one.
func TestAStateContinues(t *testing.T) {
	for seed := range uint64(100) {
		rnd := rand.New(rand.NewPCG(seed, 2))
		tables, err := petri.Compile(petritest.RandomNet(rnd))
		if err != nil {
			t.Fatal(err)
		}
		one := New(Config{Tables: tables, Limit: 4})
		two := New(Config{Tables: tables, Limit: 4})
		for k := range 100 {
			name, tr, at := []byte{'a' + byte(rnd.IntN(6))}, rnd.IntN(tables.Transitions()), int64(1_000_000+k)
			one.Fire(name, tr, at)
			two.Fire(name, tr, at)
			if k%10 == 9 {
				unsent := stats.NewRows(tables.Places(), tables.Transitions())
				two.Unsent(unsent)
				state := two.AppendState(nil)
				two = New(Config{Tables: tables, Limit: 4})
				if err := two.LoadState(state); err != nil {
					t.Fatal(err)
				}
				two.Resume(unsent)
			}
		}
		rows, again := stats.NewRows(tables.Places(), tables.Transitions()), stats.NewRows(tables.Places(), tables.Transitions())
		one.Look(2_000_000, rows)
		two.Look(2_000_000, again)
		if d := cmp.Diff(rows, again); d != "" || one.Counts != two.Counts {
			t.Fatalf("seed %d: %+v and %+v\n%s", seed, one.Counts, two.Counts, d)
		}
	}
}

func FuzzLoadState(f *testing.F) {
	tables, err := petri.Compile(netOf("open: start* -> p; take: p -> q; done: q -> end"))
	if err != nil {
		f.Fatal(err)
	}
	r := New(Config{Tables: tables, Limit: 10})
	r.Fire([]byte("a"), 0, 1)
	r.Fire([]byte("b"), 1, 2)
	f.Add(r.AppendState(nil))
	f.Fuzz(func(_ *testing.T, b []byte) {
		r := New(Config{Tables: tables, Limit: 10})
		if r.LoadState(b) != nil {
			return
		}
		r.Fire([]byte("a"), 1, 5)
		r.Look(10, stats.NewRows(tables.Places(), tables.Transitions()))
	})
}

// Memory is bounded by the instances that are open, whatever happens to them.
//
//promise:bounds load
func TestMemoryIsThatOfOpenInstances(t *testing.T) {
	tables, err := petri.Compile(netOf("open: start* -> p; take: p -> q; done: q -> end"))
	if err != nil {
		t.Fatal(err)
	}
	r := New(Config{Tables: tables, Limit: 1000})
	for k := range 200_000 {
		name := []byte(fmt.Sprint(k))
		for tr := range 3 {
			r.Fire(name, tr, int64(k))
		}
		if k%3 == 0 { // this one starts again and gets no more events
			r.Fire(name, 0, int64(k))
		}
	}
	if r.Open() > 1000 || len(r.all) > 1001 || len(r.free) > 1001 || r.Counts.Evicted == 0 {
		t.Errorf("%d open, %d slots, %d free, %d evicted", r.Open(), len(r.all), len(r.free), r.Counts.Evicted)
	}
}

// With gateways and silent transitions, no token appears without a cause, and
// the firings of silent transitions follow the rules of the token game.
func TestTokensAreConserved(t *testing.T) {
	for seed := range uint64(100) {
		rnd := rand.New(rand.NewPCG(seed, 3))
		tables, err := petri.Compile(petritest.RandomGateways(rnd))
		if err != nil {
			t.Fatal(err)
		}
		silent := make([]bool, tables.Transitions())
		for i := range silent {
			silent[i] = rnd.IntN(2) == 0
		}
		r := New(Config{Tables: tables, Silent: silent, Limit: 100, Search: 50, EndsByEvent: rnd.IntN(2) == 0})
		for k := range 200 {
			name, at := []byte{'a' + byte(rnd.IntN(4))}, int64(1_000_000+k)
			switch rnd.IntN(10) {
			case 0:
				r.End(name, at)
			case 1:
				r.Put(name, rnd.IntN(tables.Places()), int64(rnd.IntN(5))-2, at)
			default:
				r.Fire(name, rnd.IntN(tables.Transitions()), at)
			}
			rows := stats.NewRows(tables.Places(), tables.Transitions())
			r.Look(at, rows)
			in, out := r.Counts.Produced+r.Counts.Missing, r.Counts.Consumed+r.Counts.Remaining
			for p := range rows.Places {
				out += rows.Places[p].Tokens
				if r.marking[p] != 0 {
					t.Fatalf("seed %d: Replay.marking still has tokens in place %d", seed, p)
				}
			}
			if in != out {
				t.Fatalf("seed %d: %d tokens arrived, but the counts have %d: %+v", seed, in, out, r.Counts)
			}
		}
	}
}

// An event that needs more search than allowed is unfit, and takes no more
// memory.
func TestASearchIsBounded(t *testing.T) {
	net := "goal: deep -> end; begin: start* -> a"
	for k := range 12 { // independent steps: 4096 markings
		net += fmt.Sprintf("; open%d: a -> x%d; tau %d: x%d -> y%d", k, k, k, k, k)
	}
	net += "; tau all: y0 y1 y2 y3 y4 y5 y6 y7 y8 y9 y10 y11 -> deep"
	tables, err := petri.Compile(netOf(net))
	if err != nil {
		t.Fatal(err)
	}
	silent := make([]bool, tables.Transitions())
	for i, tr := range tables.Net.Transitions {
		silent[i] = tr.ID[:3] == "tau"
	}
	for search, want := range map[int]bool{100: false, 10_000: true} {
		r := New(Config{Tables: tables, Silent: silent, Limit: 1, Search: search})
		for k := range 12 {
			p, _ := tables.PlaceIndex(fmt.Sprintf("x%d", k))
			r.Put([]byte("i"), p, 1, 1)
		}
		goal, _ := tables.TransitionIndex("goal")
		if fit := r.Fire([]byte("i"), goal, 2); fit != want {
			t.Errorf("with %d markings: fit is %v", search, fit)
		}
	}
}
