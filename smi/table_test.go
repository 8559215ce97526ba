// SPDX-License-Identifier: Apache-2.0

package smi_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/smi"
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

// A layout in parts must answer as the same names in one.
func TestAJoinedLayoutAnswersAsOne(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	random := func() smi.OID {
		oid := smi.OID{1, 3}
		for range 1 + rng.IntN(4) {
			oid = append(oid, uint32(rng.IntN(3)))
		}
		return oid
	}
	for range 300 {
		var names []smi.OID
		for range rng.IntN(40) {
			names = append(names, random())
		}
		slices.SortFunc(names, smi.OID.Compare)
		names = slices.CompactFunc(names, func(a, b smi.OID) bool { return a.Compare(b) == 0 })
		var parts []*smi.Layout
		objects := []smi.OID{{1, 3, 0}, {1, 3, 2}}
		for rest := names; len(parts) < 3 || len(rest) > 0; {
			n := rng.IntN(len(rest) + 1)
			part, err := smi.NewLayout(rest[:n], objects[min(len(parts), 2):min(len(parts)+1, 2)])
			if err != nil {
				t.Fatal(err)
			}
			parts, rest = append(parts, part), rest[n:]
		}
		whole, err := smi.NewLayout(names, objects)
		if err != nil {
			t.Fatal(err)
		}
		joined, err := smi.Join(parts...)
		if err != nil {
			t.Fatal(err)
		}
		values := make([]smi.Value, len(names))
		for i := range values {
			values[i] = smi.Integer(int32(i))
		}
		want, got := smi.NewTable(whole, values), smi.NewTable(joined, values)
		for i := range names {
			if diff := cmp.Diff(want.At(i), got.At(i)); diff != "" {
				t.Fatal(diff)
			}
		}
		for range 100 {
			ask := random()
			for _, include := range []bool{false, true} {
				if w, g := want.Search(ask, include), got.Search(ask, include); w != g {
					t.Fatalf("search %v (include %v): %d, want %d", ask, include, g, w)
				}
			}
			if want.Get(ask) != got.Get(ask) {
				t.Fatalf("get %v: %v, want %v", ask, got.Get(ask), want.Get(ask))
			}
		}
	}
}

func TestJoinRefusesLayoutsOutOfOrder(t *testing.T) {
	a, err := smi.NewLayout([]smi.OID{{1, 3}, {1, 5}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := smi.NewLayout([]smi.OID{{1, 5}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := smi.Join(a, b); !errors.Is(err, smi.ErrLayout) {
		t.Fatalf("got %v, want ErrLayout", err)
	}
}

// rows lays out a table like that of 10,000 places: ten columns, index at the end.
func rows(tb testing.TB, n int) ([]smi.OID, *smi.Table) {
	tb.Helper()
	entry := smi.OID{1, 3, 6, 1, 4, 1, 8072, 9999, 9999, 1, 1, 3, 1}
	var names, objects []smi.OID
	for column := range uint32(10) {
		objects = append(objects, entry.Append(column+1))
		for row := range uint32(n / 10) {
			names = append(names, entry.Append(column+1, 1+row/100, 1+row%100))
		}
	}
	layout, err := smi.NewLayout(names, objects)
	if err != nil {
		tb.Fatal(err)
	}
	values := make([]smi.Value, len(names))
	for i := range values {
		values[i] = smi.Counter64(uint64(i))
	}
	return names, smi.NewTable(layout, values)
}

func TestSearchAllocatesNothing(t *testing.T) {
	names, table := rows(t, 1000)
	i := 0
	if n := testing.AllocsPerRun(100, func() {
		table.Next(names[i%len(names)])
		table.Get(names[i%len(names)])
		i += 37
	}); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}

// BenchmarkNext finds the successor of random names. The bases are a linear
// search (over 1,000 names; it grows with the table) and sort.Search over one
// slice for each name.
func BenchmarkNext(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		names, table := rows(b, n)
		order := rand.New(rand.NewPCG(1, 2)).Perm(len(names))
		b.Run(fmt.Sprintf("layout/rows=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				table.Next(names[order[i%len(order)]])
			}
		})
		b.Run(fmt.Sprintf("base=slices/rows=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				name := names[order[i%len(order)]]
				sort.Search(len(names), func(j int) bool { return names[j].Compare(name) > 0 })
			}
		})
		b.Run(fmt.Sprintf("base=linear/rows=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				linear(names, names[order[i%len(order)]], false)
			}
		})
	}
}

// BenchmarkNewTable is a tick: new values over the names that are there. It
// reports what a row costs, its name included.
func BenchmarkNewTable(b *testing.B) {
	_, table := rows(b, 100_000)
	layout := table.Layout()
	subs := 0
	for i := range layout.Len() {
		subs += len(layout.Name(i))
	}
	b.ReportAllocs()
	for b.Loop() {
		values := make([]smi.Value, layout.Len())
		for i := range values {
			values[i] = smi.Counter64(uint64(i))
		}
		smi.NewTable(layout, values)
	}
	b.ReportMetric(float64(4*(subs+layout.Len())+32*layout.Len())/float64(layout.Len()), "B/row")
}
