// SPDX-License-Identifier: Apache-2.0

package history

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/stats"
)

// oldest returns a View of one place with the given oldest tokens.
func oldest(at int64, tokens ...stats.Token) *merge.View {
	rows := stats.NewRows(2, 1)
	rows.Places[1].Stuck = tokens
	return &merge.View{At: at, Nets: []*merge.NetView{(&merge.NetView{Name: "n", Rows: rows}).Sum()}}
}

func waiting(instance string, injected int64, reason stats.Reason) stats.Token {
	return stats.Token{Instance: instance, Injected: injected, Waits: []stats.Wait{{Place: stats.NoPlace, Reason: reason}}}
}

func TestAnInstanceIsSeenAmongTheOldestUntilItIsGone(t *testing.T) {
	s := New(Config{})
	s.Add(oldest(noon, waiting("a", noon-5*second, stats.ReasonMissing)), nil)
	s.Add(oldest(noon+second, waiting("a", noon-5*second, stats.ReasonMissing), waiting("b", noon-second, stats.ReasonMissing)), nil)
	s.Add(oldest(noon+2*second, waiting("a", noon-5*second+200, stats.ReasonGuarded), waiting("b", noon-second, stats.ReasonMissing)), nil)
	s.Add(oldest(noon+3*second, waiting("b", noon-second, stats.ReasonMissing), waiting("a", noon+2*second, stats.ReasonMissing)), nil)
	want := []Sighting{
		{Place: 1, Injected: noon - 5*second, FirstSeen: noon, LastSeen: noon + 2*second, Gone: true, Waits: waiting("", 0, stats.ReasonGuarded).Waits},
		{Place: 1, Injected: noon + 2*second, FirstSeen: noon + 3*second, LastSeen: noon + 3*second, Waits: waiting("", 0, stats.ReasonMissing).Waits},
	}
	if d := cmp.Diff(want, s.Sightings("n", "a")); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if got := s.Sightings("n", "c"); got != nil {
		t.Errorf("sightings of an unknown instance: %v", got)
	}
	if got := s.Sightings("m", "a"); got != nil {
		t.Errorf("sightings in another net: %v", got)
	}
}

func TestSightingsAreBounded(t *testing.T) {
	s := New(Config{Sightings: 50})
	for i := range int64(500) {
		s.Add(oldest(noon+i*second, waiting(fmt.Sprint("i", i), noon+i*second, stats.ReasonMissing), waiting("stays", noon, stats.ReasonMissing)), nil)
		if n := s.Counters(); n.Sightings > 50 {
			t.Fatalf("%d sightings", n.Sightings)
		}
	}
	n := s.Counters()
	if seen := s.Sightings("n", "stays"); len(seen) != 1 || seen[0].Gone || n.Forgotten < 440 {
		t.Errorf("%v, %+v; want the sightings that are gone dropped first", seen, n)
	}
	if seen := s.Sightings("n", "i499"); len(seen) != 1 {
		t.Errorf("the latest sighting was not recorded")
	}
}

// With many tokens only some Views are searched. No token counts as gone
// meanwhile.
func TestManyTokensAreLookedAtLessOften(t *testing.T) {
	s := New(Config{Sightings: 10})
	var many []stats.Token
	for i := range 35 {
		many = append(many, waiting(fmt.Sprint("i", i), noon, stats.ReasonMissing))
	}
	for i, want := range []int64{0, 0, 0, 3, 3, 3, 6} {
		s.Add(oldest(noon+int64(i)*second, many...), nil)
		if got := s.Sightings("n", "i1"); len(got) != 1 || got[0].LastSeen != noon+want*second || got[0].Gone {
			t.Errorf("at %d s: %v, want it last seen at %d s", i, got, want)
		}
	}
}

func TestSightingsAreForgottenAfterTheSpan(t *testing.T) {
	s := New(Config{})
	s.Add(oldest(noon, waiting("a", noon, stats.ReasonMissing)), nil)
	for i := range int64(3700) {
		s.Add(oldest(noon+(i+1)*second), nil)
	}
	if got := s.Sightings("n", "a"); got != nil {
		t.Errorf("after an hour there is %v", got)
	}
}
