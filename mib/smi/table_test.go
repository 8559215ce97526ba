// SPDX-License-Identifier: Apache-2.0

package smi_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/mib/smi"
)

// small is two scalars and a column of three rows.
func small(t *testing.T) *smi.Table {
	t.Helper()
	layout, err := smi.NewLayout(
		[]smi.OID{{1, 3, 1, 0}, {1, 3, 2, 0}, {1, 3, 5, 1, 2, 1}, {1, 3, 5, 1, 2, 2}, {1, 3, 5, 1, 2, 10}},
		[]smi.OID{{1, 3, 1}, {1, 3, 2}, {1, 3, 5, 1, 2}, {1, 3, 5, 1, 3}})
	if err != nil {
		t.Fatal(err)
	}
	return smi.NewTable(layout, []smi.Value{
		smi.Integer(1), smi.Integer(2), smi.Integer(3), smi.Integer(4), smi.Integer(5)})
}

func TestGetGivesTheValueOrTheRightException(t *testing.T) {
	table := small(t)
	for _, c := range []struct {
		rule string
		name smi.OID
		want smi.Value
	}{
		{"first", smi.OID{1, 3, 1, 0}, smi.Integer(1)},
		{"last", smi.OID{1, 3, 5, 1, 2, 10}, smi.Integer(5)},
		{"a row that is not there", smi.OID{1, 3, 5, 1, 2, 3}, smi.NoSuchInstance()},
		{"a scalar's other instance", smi.OID{1, 3, 1, 1}, smi.NoSuchInstance()},
		{"the object itself", smi.OID{1, 3, 1}, smi.NoSuchInstance()},
		{"a column without rows", smi.OID{1, 3, 5, 1, 3, 1}, smi.NoSuchInstance()},
		{"below an instance", smi.OID{1, 3, 1, 0, 0}, smi.NoSuchInstance()},
		{"no such column", smi.OID{1, 3, 5, 1, 4, 1}, smi.NoSuchObject()},
		{"above an object", smi.OID{1, 3, 5, 1}, smi.NoSuchObject()},
		{"before all", smi.OID{1, 2}, smi.NoSuchObject()},
		{"after all", smi.OID{1, 4}, smi.NoSuchObject()},
		{"the null name", nil, smi.NoSuchObject()},
	} {
		if got := table.Get(c.name); got != c.want {
			t.Errorf("%s: Get(%v) = %v, want %v", c.rule, c.name, got, c.want)
		}
	}
}

func TestNextWalksEveryVariableOnceInOrder(t *testing.T) {
	table := small(t)
	var walked []string
	name := smi.OID(nil)
	for {
		next, ok := table.Next(name)
		if !ok {
			break
		}
		walked = append(walked, next.String())
		name = next.Name
	}
	want := []string{"1.3.1.0 = INTEGER: 1", "1.3.2.0 = INTEGER: 2", "1.3.5.1.2.1 = INTEGER: 3",
		"1.3.5.1.2.2 = INTEGER: 4", "1.3.5.1.2.10 = INTEGER: 5"}
	if diff := cmp.Diff(want, walked); diff != "" {
		t.Fatal(diff)
	}
}

func TestAnEmptyTableHasNothing(t *testing.T) {
	layout, err := smi.NewLayout(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	table := smi.NewTable(layout, nil)
	if _, ok := table.Next(nil); ok || table.Len() != 0 {
		t.Error("found something")
	}
	if got := table.Get(smi.OID{1}); got != smi.NoSuchObject() {
		t.Error(got)
	}
}

func TestALayoutRefuses(t *testing.T) {
	tooLong := make(smi.OID, 129)
	for _, c := range []struct {
		rule           string
		names, objects []smi.OID
		naming         []string
	}{
		{"unsorted names", []smi.OID{{1, 2}, {1, 1}}, nil, []string{"1.2", "1.1"}},
		{"a duplicate name", []smi.OID{{1, 2}, {1, 2}}, nil, []string{"name 1.2", "after 1.2"}},
		{"unsorted objects", nil, []smi.OID{{1, 7}, {1, 6}}, []string{"1.7", "1.6"}},
		{"an object below an object", nil, []smi.OID{{1, 7}, {1, 7, 1}}, []string{"1.7 ", "1.7.1"}},
		{"an empty name", []smi.OID{{}}, nil, []string{"name 0"}},
		{"a name of 129", []smi.OID{tooLong}, nil, []string{"129"}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			_, err := smi.NewLayout(c.names, c.objects)
			if !errors.Is(err, smi.ErrLayout) {
				t.Fatalf("error %v, want ErrLayout", err)
			}
			for _, want := range c.naming {
				if !strings.Contains(err.Error()+" ", want) {
					t.Errorf("%q does not name %q", err, want)
				}
			}
		})
	}
}

func TestALayoutTakesTheLongestNames(t *testing.T) {
	longest := make(smi.OID, smi.MaxSubIdentifiers)
	layout, err := smi.NewLayout([]smi.OID{longest}, nil)
	if err != nil {
		t.Fatal(err)
	}
	table := smi.NewTable(layout, []smi.Value{smi.Integer(7)})
	if got := table.Get(longest); got != smi.Integer(7) {
		t.Errorf("got %v", got)
	}
}

func TestALayoutCopiesItsNames(t *testing.T) {
	names := []smi.OID{{1, 3, 1}, {1, 3, 2}}
	layout, err := smi.NewLayout(names, nil)
	if err != nil {
		t.Fatal(err)
	}
	names[0][2] = 9
	if got := layout.Name(0).String(); got != "1.3.1" {
		t.Fatalf("name 0 became %s", got)
	}
	_ = append(layout.Name(0), 77)
	if got := layout.Name(1).String(); got != "1.3.2" {
		t.Fatalf("appending to a view wrote over its neighbour: %s", got)
	}
}

func TestATableNeedsAValueForEachName(t *testing.T) {
	layout, err := smi.NewLayout([]smi.OID{{1}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if recover() == nil {
			t.Fatal("no panic")
		}
	}()
	smi.NewTable(layout, nil)
}

// linear is the reference: look at every name in turn.
func linear(names []smi.OID, name smi.OID, include bool) int {
	for i, n := range names {
		if c := n.Compare(name); c > 0 || c == 0 && include {
			return i
		}
	}
	return len(names)
}

func TestSearchAgreesWithALinearSearch(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	random := func() smi.OID {
		oid := make(smi.OID, 1+rng.IntN(5))
		for i := range oid {
			oid[i] = uint32(rng.IntN(3))
		}
		return oid
	}
	for round := range 500 {
		prefix := make(smi.OID, rng.IntN(4))
		var names []smi.OID
		for range rng.IntN(30) {
			names = append(names, prefix.Append(random()...))
		}
		slices.SortFunc(names, smi.OID.Compare)
		names = slices.CompactFunc(names, func(a, b smi.OID) bool { return a.Compare(b) == 0 })
		layout, err := smi.NewLayout(names, nil)
		if err != nil {
			t.Fatal(err)
		}
		table := smi.NewTable(layout, make([]smi.Value, len(names)))
		for range 200 {
			ask := random()
			if rng.IntN(2) == 0 {
				ask = prefix.Append(ask...)
			}
			include := rng.IntN(2) == 0
			if got, want := table.Search(ask, include), linear(names, ask, include); got != want {
				t.Fatalf("round %d: search %v (include %v) in %v: %d, want %d", round, ask, include, names, got, want)
			}
		}
	}
}
