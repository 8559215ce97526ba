// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"fmt"
	"math"
	"testing"

	"github.com/pnagent/pnagent/petri"
)

// intoFull returns a net in which "event" takes a token of "in" and puts weight tokens into "goal" and into "full",
// by ordinary arcs or as the branches of a split; "next" takes from "goal". "goal" comes first in the net, so that it
// has its tokens when those of "full" are added.
func intoFull(t *testing.T, kind petri.ArcKind, weight uint32) *petri.Tables {
	t.Helper()
	n := &petri.Net{ID: "full", Places: []petri.Place{{ID: "goal"}, {ID: "full"}, {ID: "in"}, {ID: "end"}},
		Transitions: []petri.Transition{{ID: "event"}, {ID: "next"}, {ID: "drain"}},
		Arcs: []petri.Arc{{Source: "in", Target: "event"}, {Source: "event", Target: "goal", Kind: kind}, {Source: "event", Target: "full", Kind: kind},
			{Source: "goal", Target: "next"}, {Source: "next", Target: "end"}, {Source: "full", Target: "drain"}}}
	for k := range n.Arcs {
		n.Arcs[k].ID, n.Arcs[k].Weight = fmt.Sprint("arc ", k), 1
	}
	n.Arcs[2].Weight = weight
	tables, err := petri.Compile(n)
	if err != nil {
		t.Fatal(err)
	}
	return tables
}

// A place holds fewer than 2^32 tokens. A firing that would put more is refused
// and moves no token. So is a firing of a split that might put more.
func TestAFiringThatWouldOverflowAPlaceMovesNothing(t *testing.T) {
	for _, c := range []struct {
		kind     petri.ArcKind
		full     int64
		weight   uint32
		overflow bool
	}{
		{petri.Normal, math.MaxUint32 - 1, 1, false}, {petri.Normal, math.MaxUint32, 1, true},
		{petri.Normal, math.MaxUint32 - 5, 5, false}, {petri.Normal, math.MaxUint32 - 4, 5, true},
		{petri.Branch, math.MaxUint32 - 2, 1, false}, {petri.Branch, math.MaxUint32, 1, true},
		{petri.Branch, math.MaxUint32 - 10, 5, false}, {petri.Branch, math.MaxUint32 - 4, 5, true},
	} {
		r := New(Config{Tables: intoFull(t, c.kind, c.weight), Limit: 1, EndsByEvent: true})
		r.Put([]byte("a"), 2, 1, 10)
		r.Put([]byte("a"), 1, c.full, 20)
		if !r.Fire([]byte("a"), 0, 30) {
			t.Errorf("%+v: the marking allowed the firing", c)
		}
		got, want := r.all[0].runs, []run{{30, 0, 1}, {20, 1, uint32(c.full)}, {30, 1, c.weight}}
		refused := uint64(0)
		if c.overflow {
			want, refused = []run{{10, 2, 1}, {20, 1, uint32(c.full)}}, 1
		}
		if !sameRuns(got, want) || r.Counts.Refused != refused || r.Counts.Unfit != 0 || r.Counts.Events != 3 {
			t.Errorf("%+v: holds %v, want %v; %+v", c, got, want, r.Counts)
		}
	}
}

// sameRuns compares the content of two instances, in any order of places.
func sameRuns(a, b []run) bool {
	count := map[run]int{}
	for _, q := range a {
		count[q]++
	}
	for _, q := range b {
		count[q]--
	}
	for _, n := range count {
		if n != 0 {
			return false
		}
	}
	return true
}

// A search for silent transitions fills a place up to half of 2^32 tokens. A
// silent firing that would put more is not part of a solution.
func TestASilentFiringThatWouldOverfillAPlaceHelpsNoEvent(t *testing.T) {
	const most = math.MaxUint32 / 2
	for _, kind := range []petri.ArcKind{petri.Normal, petri.Branch} {
		for full, fits := range map[int64]bool{most - 6: true, most - 5: true, most - 4: false, most: false} {
			r := New(Config{Tables: intoFull(t, kind, 5), Silent: []bool{true, false, false}, Limit: 1, EndsByEvent: true, Search: 100})
			r.Put([]byte("a"), 2, 1, 10)
			r.Put([]byte("a"), 1, full, 20)
			fit := r.Fire([]byte("a"), 1, 30)
			want := Counts{Events: 3, Produced: uint64(full) + 2, Missing: 1, Unfit: 1, Consumed: 1}
			if fits {
				want = Counts{Events: 3, Produced: uint64(full) + 8, Silent: 1, Consumed: 2}
			}
			if fit != fits || r.Counts != want {
				t.Errorf("kind %v, %d tokens: fit is %v, %+v; want %+v", kind, full, fit, r.Counts, want)
			}
		}
	}
}
