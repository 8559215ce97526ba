// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
)

// looped is a net with a task that runs several times: a place before it, its run, and two places
// beside that.
func looped() *petri.Net {
	return &petri.Net{ID: "n",
		Places:      []petri.Place{{ID: "f"}, {ID: "a/active", Role: petri.RoleState}, {ID: "a/list", Role: petri.RoleData}, {ID: "a/run"}, {ID: "e"}},
		Transitions: []petri.Transition{{ID: "a/begin", Role: petri.RoleState}, {ID: "a"}},
		Arcs: []petri.Arc{{Source: "f", Target: "a/begin", Weight: 1}, {Source: "a/begin", Target: "a/active", Weight: 1}, {Source: "a/begin", Target: "a/list", Weight: 1},
			{Source: "a/begin", Target: "a/run", Weight: 3}, {Source: "a/run", Target: "a", Weight: 1}, {Source: "a", Target: "e", Weight: 1}}}
}

func loopedStory(t *testing.T, rules Rules) *story {
	s := playing(t, rules)
	s.defs["d1"] = looped()
	s.report("good", "d1", 2*time.Minute, 2*time.Minute, time.Second, "f tokens=1 oldest=90s | a/active tokens=2 oldest=95s | a/list tokens=2 oldest=95s | a/run tokens=6 oldest=60s | a/begin firings=2 | a firings=5")
	return s
}

// What is not work is in no sum and in no row that is shown. Nothing of it is lost in the View
// that a collector above receives, and no counter of the net falls.
//
//promise:work none
func TestSumsAndFacesHaveWork(t *testing.T) {
	for _, tt := range []struct {
		name  string
		rules Rules
		want  []string
	}{
		{"by default", Rules{}, []string{"f", "a/run", "e", "a"}},
		{"with the bookkeeping", Rules{Bookkeeping: true}, []string{"f", "a/active", "a/list", "a/run", "e", "a/begin", "a"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := loopedStory(t, tt.rules)
			view, _ := s.m.Tick(s.now)
			n := view.Present().Nets[0]
			var ids []string
			for i := range n.Def.Places {
				ids = append(ids, n.Def.Places[i].ID)
			}
			for i := range n.Def.Transitions {
				ids = append(ids, n.Def.Transitions[i].ID)
			}
			if d := cmp.Diff(tt.want, ids); d != "" {
				t.Error(d)
			}
			for _, v := range []*View{view, view.All(), view.Present(), view.All().Present()} {
				n := v.Nets[0]
				if n.Tokens != 7 || n.Firings != 7 || n.Def.Places[n.OldestPlace].ID != "f" {
					t.Errorf("%d tokens, %d firings, the oldest in %s; want 7, 7 and f", n.Tokens, n.Firings, n.Def.Places[n.OldestPlace].ID)
				}
			}
			above := stats.NewRows(5, 2)
			if err := view.FillRows("n", above); err != nil || above.Places[1].Tokens != 2 {
				t.Errorf("a collector above gets %+v, %v", above.Places, err)
			}
			if all := view.All().Nets[0]; len(all.Def.Places) != 5 || all.Rows.Places[1].Tokens != 2 {
				t.Errorf("a drawing has %+v", all.Rows.Places)
			}
		})
	}
}

// A token that waits for a step on the way to a task waits for the task.
func TestATokenWaitsForTheElementOfAStep(t *testing.T) {
	def := looped()
	rows := stats.NewRows(5, 2)
	rows.Places[0].Stuck = []stats.Token{{Instance: "x", Injected: 1, Waits: []stats.Wait{{Transition: 0, Place: stats.NoPlace, Reason: stats.ReasonIncident}, {Transition: 0, Place: 1, Reason: stats.ReasonMissing}}}}
	rows.Places[0].Groups = []stats.Group{{Reason: stats.ReasonIncident, Tokens: 1, Due: 1, Oldest: rows.Places[0].Stuck[0]}}
	rows.Blocks = []stats.Block{{Transition: 0, Place: 2}}
	n := (&NetView{Name: "n", Def: def, Final: def.FinalPlaces(), Rows: rows}).Sum()
	v := visible{work: true}
	got := v.view(n)
	want := []stats.Wait{{Transition: 0, Place: stats.NoPlace, Reason: stats.ReasonIncident}, {Transition: 0, Place: stats.NoPlace, Reason: stats.ReasonMissing}}
	place := &got.Rows.Places[0]
	if d := cmp.Diff([][]stats.Wait{want, want}, [][]stats.Wait{place.Stuck[0].Waits, place.Groups[0].Oldest.Waits}); d != "" || len(got.Rows.Blocks) != 0 || got.Def.Transitions[0].ID != "a" {
		t.Errorf("%s\nblocks %v", d, got.Rows.Blocks)
	}
	if again := v.view(n); again != got {
		t.Error("the same net is made twice")
	}
}
