// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// randomSlowest returns no instance now and then, and often one of a few similar
// ones.
func randomSlowest(r *rand.Rand) Slowest {
	if r.IntN(4) == 0 {
		return Slowest{}
	}
	return Slowest{Instance: fmt.Sprint(r.IntN(3)), Micros: r.Int64N(4), At: now0 - r.Int64N(3)}
}

func slowestOf(all ...Slowest) (s Slowest) {
	for _, o := range all {
		s.Merge(o)
	}
	return s
}

// Any order, any grouping, any repetition: the same one.
func TestSlowestMergeIsASemilattice(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	for range 3000 {
		a, b, c := randomSlowest(r), randomSlowest(r), randomSlowest(r)
		want := slowestOf(a, b, c)
		for name, got := range map[string]Slowest{
			"reversed": slowestOf(c, b, a), "rotated": slowestOf(b, c, a), "grouped": slowestOf(a, slowestOf(b, c)),
			"repeated": slowestOf(a, b, c, b, a), "with empty ones": slowestOf(Slowest{}, a, b, Slowest{}, c),
		} {
			if got != want {
				t.Fatalf("%s of %v %v %v: got %v; want %v", name, a, b, c, got, want)
			}
		}
	}
}

func TestSlowestKeepsTheOneThatTookLongest(t *testing.T) {
	for rule, c := range map[string]struct{ a, b, want Slowest }{
		"the longer":                   {Slowest{"a", 5, 100}, Slowest{"b", 6, 50}, Slowest{"b", 6, 50}},
		"of equally long ones the new": {Slowest{"b", 5, 100}, Slowest{"a", 5, 101}, Slowest{"a", 5, 101}},
		"any one before none":          {Slowest{}, Slowest{"", 0, 1}, Slowest{"", 0, 1}},
	} {
		if got := slowestOf(c.a, c.b); got != c.want {
			t.Errorf("%s: got %v, want %v", rule, got, c.want)
		}
	}
}

func taken(rec *Recorder) *Rows {
	rows := NewRows(2, 2)
	rec.TakeSlowest(strconv.Itoa, rows)
	return rows
}

func TestRecorderNamesTheSlowestSinceTheLastTime(t *testing.T) {
	rec := NewRecorder(2, 2)
	rec.Left(0, 7, 100, 300)
	rec.Left(0, 8, 100, 400)
	rec.LeftMany(0, 9, 250, 500, 3)
	rec.Ran(1, 4, 100, 150)
	rec.Ran(1, 5, 100, 149)
	want := NewRows(2, 2)
	want.Places[0].Slowest = Slowest{"8", 300, 400}
	want.Transitions[1].Slowest = Slowest{"4", 50, 150}
	if d := cmp.Diff(want, taken(rec)); d != "" {
		t.Errorf("at first (-want +got):\n%s", d)
	}
	if d := cmp.Diff(NewRows(2, 2), taken(rec)); d != "" {
		t.Errorf("nothing since then (-want +got):\n%s", d)
	}
	rec.LeftMany(0, 9, 500, 501, 1)
	rec.LeftMany(0, 3, 500, 502, 1)
	rec.Ran(1, 6, 500, 501)
	want.Places[0].Slowest = Slowest{"3", 2, 502}
	want.Transitions[1].Slowest = Slowest{"6", 1, 501}
	if d := cmp.Diff(want, taken(rec)); d != "" {
		t.Errorf("less slow ones later (-want +got):\n%s", d)
	}
}

// What took no time, or less because a clock went back, is no example of
// anything.
func TestRecorderNamesNoInstanceThatTookNoTime(t *testing.T) {
	rec := NewRecorder(2, 2)
	rec.Left(0, 1, 100, 100)
	rec.LeftMany(1, 1, 200, 100, 2)
	rec.Ran(0, 1, 100, 100)
	if d := cmp.Diff(NewRows(2, 2), taken(rec)); d != "" {
		t.Error(d)
	}
}

func TestRowsThatNameAnotherInstanceAreNotEqual(t *testing.T) {
	a, b := Place{Slowest: Slowest{"a", 1, 2}}, Place{}
	c, d := Transition{Slowest: Slowest{"a", 1, 2}}, Transition{}
	if a.Equal(&b) || c.Equal(&d) || !a.Equal(&a) || !c.Equal(&c) {
		t.Error("Slowest does not count")
	}
}
