// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/petritest"
	"github.com/pnagent/pnagent/stats"
)

// slowLook computes the result of a Look at open instances from its definition.
// The input is, by name and place, the injection times of the tokens, oldest
// first. It sets only the columns about present tokens.
func slowLook(n *petri.Net, instances map[string]map[string][]int64, now int64) *stats.Rows {
	rows := stats.NewRows(len(n.Places), len(n.Transitions))
	rows.Net.Active = uint64(len(instances))
	blocks := map[stats.Block]uint64{}
	for _, name := range slices.Sorted(maps.Keys(instances)) {
		in := newSlow(n, instances[name])
		if in.dead() {
			rows.Net.Deadlocked++
		}
		for t, tr := range n.Transitions {
			old := slices.ContainsFunc(n.Places, func(p petri.Place) bool {
				return !in.Final(p.ID) && in.needs(tr.ID, p.ID) && len(in.held[p.ID]) > 0 && now-in.held[p.ID][0] >= stats.BlockedAfter
			})
			switch {
			case in.fires(tr.ID):
				rows.Transitions[t].Enabled++
				rows.Transitions[t].EnabledSince = stats.Earlier(rows.Transitions[t].EnabledSince, in.since(tr.ID))
			case old:
				for _, w := range in.why(t) {
					blocks[stats.Block{Transition: w.Transition, Place: w.Place, Reason: w.Reason}]++
				}
			}
		}
		for p := range n.Places {
			in.look(&rows.Places[p], p, name, now)
		}
	}
	for b, count := range blocks {
		b.Instances = count
		rows.Blocks = append(rows.Blocks, b)
	}
	slices.SortFunc(rows.Blocks, stats.Block.Compare)
	for p := range rows.Places {
		row := &rows.Places[p]
		slices.SortStableFunc(row.Stuck, func(a, b stats.Token) int {
			return cmp.Or(cmp.Compare(a.Injected, b.Injected), cmp.Compare(a.Instance, b.Instance))
		})
		row.Stuck = row.Stuck[:min(len(row.Stuck), stats.MaxStuck)]
	}
	return rows
}

// slow is one instance.
type slow struct {
	*petritest.Reference
	held map[string][]int64
}

func newSlow(n *petri.Net, held map[string][]int64) *slow {
	in := &slow{petritest.NewReference(n), held}
	for _, p := range n.Places {
		in.Marking[p.ID] = uint64(len(held[p.ID]))
	}
	return in
}

// weight returns the sum of the arcs of a kind from a place to a transition.
func (in *slow) weight(kind petri.ArcKind, place, transition string) int {
	n := 0
	for _, a := range in.Net.Arcs {
		if a.Kind == kind && a.Source == place && a.Target == transition {
			n += int(a.Weight)
		}
	}
	return n
}

func (in *slow) needs(transition, place string) bool {
	return in.weight(petri.Normal, place, transition)+in.weight(petri.Read, place, transition)+in.weight(petri.Join, place, transition) > 0
}

// fires reports whether a transition can fire for a token of the instance. One
// that needs no token does not belong to any instance.
func (in *slow) fires(transition string) bool {
	return in.Enabled(transition) && slices.ContainsFunc(in.Net.Places, func(p petri.Place) bool {
		return in.Marking[p.ID] > 0 && in.needs(transition, p.ID)
	})
}

// dead reports whether nothing can fire although a token is in a place that is
// not final.
func (in *slow) dead() bool { return in.still() && !in.atEnd() }

// atEnd reports whether nothing can fire and all tokens are in final places.
func (in *slow) atEnd() bool {
	return in.still() && !slices.ContainsFunc(in.Net.Places, func(p petri.Place) bool { return in.Marking[p.ID] > 0 && !in.Final(p.ID) })
}

// still reports whether nothing can fire.
func (in *slow) still() bool {
	return !slices.ContainsFunc(in.Net.Transitions, func(t petri.Transition) bool { return in.fires(t.ID) })
}

// since returns when the last token arrived that an enabled transition needs.
func (in *slow) since(transition string) (since int64) {
	for _, p := range in.Net.Places {
		n := max(in.weight(petri.Normal, p.ID, transition), in.weight(petri.Read, p.ID, transition))
		if in.weight(petri.Join, p.ID, transition) > 0 && len(in.held[p.ID]) > 0 {
			n = max(n, 1)
		}
		if n > 0 {
			since = max(since, in.held[p.ID][n-1])
		}
	}
	return since
}

// why returns the unmet conditions of a transition: by place, then those of its
// join.
func (in *slow) why(t int) (out []stats.Wait) {
	id := in.Net.Transitions[t].ID
	for p, place := range in.Net.Places {
		have, need, below := len(in.held[place.ID]), max(in.weight(petri.Normal, place.ID, id), in.weight(petri.Read, place.ID, id)), 0
		for _, a := range in.Net.Arcs {
			if a.Kind == petri.Inhibitor && a.Source == place.ID && a.Target == id && (below == 0 || int(a.Weight) < below) {
				below = int(a.Weight)
			}
		}
		switch {
		case have < need:
			out = append(out, stats.Wait{Transition: int32(t), Reason: stats.ReasonMissing, Place: int32(p), Count: uint32(need - have)})
		case below > 0 && have >= below:
			out = append(out, stats.Wait{Transition: int32(t), Reason: stats.ReasonInhibited, Place: int32(p), Count: uint32(have - below + 1)})
		}
	}
	for p, place := range in.Net.Places {
		if slices.Contains(in.Awaits(id), place.ID) {
			out = append(out, stats.Wait{Transition: int32(t), Reason: stats.ReasonMissing, Place: int32(p), Count: 1})
		}
	}
	return out
}

// waits returns what a token of a place waits for.
func (in *slow) waits(place string, dead bool) (out []stats.Wait) {
	for t, tr := range in.Net.Transitions {
		if !in.needs(tr.ID, place) {
			continue
		}
		if dead {
			out = append(out, stats.Wait{Transition: int32(t), Reason: stats.ReasonDead, Place: stats.NoPlace})
		}
		if in.Enabled(tr.ID) {
			out = append(out, stats.Wait{Transition: int32(t), Reason: stats.ReasonEnabled, Place: stats.NoPlace})
		}
		out = append(out, in.why(t)...)
	}
	return out[:min(len(out), stats.MaxWaits)]
}

func (in *slow) look(row *stats.Place, p int, name string, now int64) {
	id := in.Net.Places[p].ID
	for _, at := range in.held[id] {
		row.Tokens++
		row.Oldest = stats.Earlier(row.Oldest, at)
		row.Injected.Add(at)
		row.Ages.Add(at, now, 1)
		token := stats.Token{Instance: name, Injected: at, Waits: in.waits(id, in.dead())}
		row.Stuck = append(row.Stuck, token)
		if w := stats.Foremost(token.Waits); w.Reason != stats.ReasonUnknown && at <= now-stats.BlockedAfter {
			row.Groups = stats.MergeGroups(row.Groups, []stats.Group{{Reason: w.Reason, Tokens: 1, Due: at, Oldest: token}})
		}
	}
	if len(in.held[id]) > 0 {
		row.Instances++
	}
}

// seen returns the columns of a Look that slowLook computes.
func seen(rows *stats.Rows) *stats.Rows {
	out := stats.NewRows(len(rows.Places), len(rows.Transitions))
	out.Net.Active, out.Net.Deadlocked, out.Blocks = rows.Net.Active, rows.Net.Deadlocked, rows.Blocks
	for p := range rows.Places {
		o := &rows.Places[p]
		out.Places[p] = stats.Place{Tokens: o.Tokens, Instances: o.Instances, Oldest: o.Oldest, Injected: o.Injected, Ages: o.Ages, Stuck: o.Stuck, Groups: o.Groups}
	}
	for t := range rows.Transitions {
		out.Transitions[t] = stats.Transition{Enabled: rows.Transitions[t].Enabled, EnabledSince: rows.Transitions[t].EnabledSince}
	}
	return out
}

// heldBy returns the tokens of all instances of a Replay.
func heldBy(r *Replay) map[string]map[string][]int64 {
	out := map[string]map[string][]int64{}
	for name, i := range r.byName {
		held := map[string][]int64{}
		for _, q := range r.all[i].runs {
			id := r.tables.Net.Places[q.place].ID
			for range q.n {
				held[id] = append(held[id], q.injected)
			}
		}
		out[name] = held
	}
	return out
}

// The nets also have inclusive joins. The content of the instances comes from
// the Replay; other tests compare that with references.
func TestALookSeesWhatInstancesHoldAndWaitFor(t *testing.T) {
	var joins, blocks, dead uint64
	for seed := range uint64(400) {
		rnd := rand.New(rand.NewPCG(seed, 4))
		n := petritest.RandomGateways(rnd)
		if seed%4 == 0 {
			n = petritest.RandomNet(rnd)
		}
		tables, err := petri.Compile(n)
		if err != nil {
			t.Fatal(err)
		}
		r := New(Config{Tables: tables, Limit: 100, EndsByEvent: true})
		now := int64(1_790_000_000_000_000)
		for range rnd.IntN(12) {
			now += rnd.Int64N(6e6)
			name := []byte{'a' + byte(rnd.IntN(3))}
			if rnd.IntN(3) == 0 {
				r.Put(name, rnd.IntN(tables.Places()), 1+rnd.Int64N(4), now)
			} else {
				r.Fire(name, rnd.IntN(tables.Transitions()), now)
			}
		}
		now += rnd.Int64N(3) * stats.BlockedAfter / 2 // some tokens are exactly old enough to count
		rows := stats.NewRows(tables.Places(), tables.Transitions())
		r.Look(now, rows)
		if d := gocmp.Diff(slowLook(n, heldBy(r), now), seen(rows)); d != "" {
			t.Fatalf("seed %d: net %+v (-want +got):\n%s", seed, n, d)
		}
		for tr := range rows.Transitions {
			if tables.Join(tr) != nil {
				joins += rows.Transitions[tr].Enabled
			}
		}
		blocks, dead = blocks+uint64(len(rows.Blocks)), dead+rows.Net.Deadlocked
		checkHeld(t, r, n)
		checkFound(t, r, n)
	}
	if joins < 20 || blocks < 100 || dead < 20 {
		t.Errorf("only %d joins were enabled, %d conditions blocked, %d instances dead", joins, blocks, dead)
	}
}

// checkHeld compares Held for each instance.
func checkHeld(t *testing.T, r *Replay, n *petri.Net) {
	t.Helper()
	for name, held := range heldBy(r) {
		in := newSlow(n, held)
		var want []stats.Held
		for p, place := range n.Places {
			for _, at := range held[place.ID] {
				one := stats.Held{Place: int32(p), Tokens: 1, Injected: at, Waits: in.waits(place.ID, false)}
				if k := len(want) - 1; k >= 0 && want[k].Compare(&one) == 0 {
					want[k].Tokens++
				} else {
					want = append(want, one)
				}
			}
		}
		slices.SortFunc(want, func(a, b stats.Held) int { return a.Compare(&b) })
		got, leftOut, open := r.Held(name, 1000)
		if d := gocmp.Diff(want, got); d != "" || leftOut != 0 || !open {
			t.Fatalf("instance %s is open: %v, %d tokens left out (-want +got):\n%s", name, open, leftOut, d)
		}
	}
	if held, leftOut, open := r.Held("never", 10); held != nil || leftOut != 0 || open {
		t.Fatal("an unknown instance holds tokens")
	}
	for p, m := range r.marking {
		if m != 0 {
			t.Fatalf("Replay.marking still has %[2]d tokens in place %[1]d", p, m)
		}
	}
}

// checkFound compares the tokens that are found in each place with those of all instances.
func checkFound(t *testing.T, r *Replay, n *petri.Net) {
	t.Helper()
	all := heldBy(r)
	for p, place := range n.Places {
		var want []stats.FoundToken
		for _, name := range slices.Sorted(maps.Keys(all)) {
			in := newSlow(n, all[name])
			for _, at := range all[name][place.ID] {
				want = append(want, stats.FoundToken{Token: stats.Token{Instance: name, Injected: at, Waits: in.waits(place.ID, in.dead())}, N: 1})
			}
		}
		slices.SortStableFunc(want, func(a, b stats.FoundToken) int { return a.Compare(&b) })
		var got []stats.FoundToken
		for _, token := range r.Find(int32(p), &stats.Query{Limit: 1000}).Tokens {
			for n := token.N; n > 0; n-- {
				token.N = 1
				got = append(got, token)
			}
		}
		if d := gocmp.Diff(want, got); d != "" {
			t.Fatalf("place %s (-want +got):\n%s", place.ID, d)
		}
	}
}

// The conditions of a token count from the age stats.BlockedAfter on.
func TestConditionsAreCountedFromBlockedAfterOn(t *testing.T) {
	tables, err := petri.Compile(netOf("open: start* -> p; take: p lack -> q"))
	if err != nil {
		t.Fatal(err)
	}
	for age, want := range map[int64]int{9_999_999: 0, 10_000_000: 1} {
		r := New(Config{Tables: tables, Limit: 10})
		r.Fire([]byte("a"), 0, 100)
		rows := stats.NewRows(tables.Places(), tables.Transitions())
		r.Look(100+age, rows)
		if len(rows.Blocks) != want {
			t.Errorf("after %d µs: %v", age, rows.Blocks)
		}
	}
}

// The reasons of one token are bounded to 16, as in all sources.
func TestWaitsOfATokenAreBounded(t *testing.T) {
	const most = 16
	net := "open: start* -> p"
	for k := range most + 3 {
		net += fmt.Sprintf("; t%d: p lack%d -> q", k, k)
	}
	tables, err := petri.Compile(netOf(net))
	if err != nil {
		t.Fatal(err)
	}
	r := New(Config{Tables: tables, Limit: 10})
	r.Fire([]byte("a"), 0, 100)
	held, _, _ := r.Held("a", 10)
	if len(held) != 1 || len(held[0].Waits) != most || held[0].Waits[most-1].Transition != most {
		t.Errorf("%+v", held)
	}
	rows := stats.NewRows(tables.Places(), tables.Transitions())
	r.Look(200, rows)
	if p, _ := tables.PlaceIndex("p"); len(rows.Places[p].Stuck) != 1 || len(rows.Places[p].Stuck[0].Waits) != most {
		t.Errorf("of a dead instance: %+v", rows.Places[p].Stuck)
	}
}
