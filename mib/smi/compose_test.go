// SPDX-License-Identifier: Apache-2.0

package smi_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/mib/smi"
)

func mustRows(tb testing.TB, width int, subs ...uint32) *smi.Rows {
	tb.Helper()
	rows, err := smi.NewRows(width, subs)
	if err != nil {
		tb.Fatal(err)
	}
	return rows
}

func compose(tb testing.TB, blocks, objects []smi.Block) *smi.Layout {
	tb.Helper()
	layout, err := smi.Compose(blocks, objects)
	if err != nil {
		tb.Fatal(err)
	}
	return layout
}

// numbered gives the values 0, 1, 2 and so on to all names but those of blocks
// that mirror.
func numbered(layout *smi.Layout) *smi.Table {
	values := make([]smi.Value, layout.Len())
	for i := range values {
		values[i] = smi.Integer(int32(i))
	}
	return smi.NewTable(layout, values)
}

func walked(table *smi.Table) []string {
	var lines []string
	for v, ok := table.Next(nil); ok; v, ok = table.Next(v.Name) {
		lines = append(lines, v.String())
	}
	return lines
}

func TestBlocksShareTheirRows(t *testing.T) {
	rows := mustRows(t, 2, 1, 1, 1, 7, 4, 1)
	scalars := mustRows(t, 1, 1, 2)
	table := numbered(compose(t, []smi.Block{
		{Prefix: smi.OID{1, 3, 1}, Rows: scalars, Scalar: true},
		{Prefix: smi.OID{1, 3, 2, 1, 2}, Rows: rows},
		{Prefix: smi.OID{1, 3, 2, 1, 3}},
		{Prefix: smi.OID{1, 3, 2, 1, 4}, Rows: rows},
	}, []smi.Block{{Prefix: smi.OID{1, 3, 1}, Rows: scalars}, {Prefix: smi.OID{1, 3, 2, 1}, Rows: mustRows(t, 1, 2, 3, 4)}}))
	want := []string{"1.3.1.1.0 = INTEGER: 0", "1.3.1.2.0 = INTEGER: 1",
		"1.3.2.1.2.1.1 = INTEGER: 2", "1.3.2.1.2.1.7 = INTEGER: 3", "1.3.2.1.2.4.1 = INTEGER: 4",
		"1.3.2.1.4.1.1 = INTEGER: 5", "1.3.2.1.4.1.7 = INTEGER: 6", "1.3.2.1.4.4.1 = INTEGER: 7"}
	if diff := cmp.Diff(want, walked(table)); diff != "" {
		t.Error(diff)
	}
	for _, c := range []struct {
		rule string
		name smi.OID
		want smi.Value
	}{
		{"a scalar", smi.OID{1, 3, 1, 2, 0}, smi.Integer(1)},
		{"a scalar's other instance", smi.OID{1, 3, 1, 2, 1}, smi.NoSuchInstance()},
		{"a cell", smi.OID{1, 3, 2, 1, 4, 1, 7}, smi.Integer(6)},
		{"half an index", smi.OID{1, 3, 2, 1, 4, 1}, smi.NoSuchInstance()},
		{"a column without rows", smi.OID{1, 3, 2, 1, 3, 1, 1}, smi.NoSuchInstance()},
		{"no such column", smi.OID{1, 3, 2, 1, 5, 1, 1}, smi.NoSuchObject()},
		{"no such scalar", smi.OID{1, 3, 1, 3, 0}, smi.NoSuchObject()},
	} {
		if got := table.Get(c.name); got != c.want {
			t.Errorf("%s: Get(%v) = %v, want %v", c.rule, c.name, got, c.want)
		}
	}
}

func TestABlockThatMirrorsShowsColumnsRowByRow(t *testing.T) {
	rows := mustRows(t, 1, 5, 6, 7)
	table := numbered(compose(t, []smi.Block{
		{Prefix: smi.OID{1, 1}, Rows: rows}, // variables 0 to 2
		{Prefix: smi.OID{1, 2}, Rows: rows}, // variables 3 to 5
		{Prefix: smi.OID{2}, Rows: mustRows(t, 2, 6, 1, 6, 2, 7, 1, 7, 2), Scalar: true, Mirror: []int{1, 4}},
	}, nil))
	want := []string{"2.6.1.0 = INTEGER: 1", "2.6.2.0 = INTEGER: 4", "2.7.1.0 = INTEGER: 2", "2.7.2.0 = INTEGER: 5"}
	if diff := cmp.Diff(want, walked(table)[6:]); diff != "" {
		t.Error(diff)
	}
	if got := table.Get(smi.OID{2, 7, 1, 0}); got != smi.Integer(2) {
		t.Error(got)
	}
}

func TestARefusalNamesWhatIsOutOfOrder(t *testing.T) {
	one, two := mustRows(t, 1, 1), mustRows(t, 1, 1, 2)
	long := make(smi.OID, smi.MaxSubIdentifiers)
	for rule, c := range map[string]struct {
		blocks, objects []smi.Block
		naming          []string
	}{
		"blocks out of order":   {[]smi.Block{{Prefix: smi.OID{1, 4}, Rows: two}, {Prefix: smi.OID{1, 3}, Rows: one}}, nil, []string{"name 1.3.1 ", "after 1.4.2"}},
		"a name twice":          {[]smi.Block{{Prefix: smi.OID{1, 4}, Rows: two}, {Prefix: smi.OID{1}, Rows: mustRows(t, 2, 4, 2)}}, nil, []string{"name 1.4.2 ", "after 1.4.2"}},
		"blocks that interlace": {[]smi.Block{{Prefix: smi.OID{1}, Rows: mustRows(t, 2, 2, 1, 4, 1)}, {Prefix: smi.OID{1, 3}, Rows: one}}, nil, []string{"name 1.3.1 ", "after 1.4.1"}},
		"an object below another": {nil, []smi.Block{{Prefix: smi.OID{1}, Rows: two}, {Prefix: smi.OID{1, 2}, Rows: one}},
			[]string{"object 1.2.1 ", "object 1.2"}},
		"a name of 129":          {[]smi.Block{{Prefix: long, Rows: one}}, nil, []string{"129"}},
		"a null name":            {[]smi.Block{{}}, nil, []string{"0 sub-identifiers"}},
		"a mirror of nothing":    {[]smi.Block{{Prefix: smi.OID{1}, Rows: two}, {Prefix: smi.OID{2}, Rows: two, Mirror: []int{1}}}, nil, []string{"variable 1 "}},
		"a mirror of itself":     {[]smi.Block{{Prefix: smi.OID{2}, Rows: two, Mirror: []int{0, 0}}}, nil, []string{"variable 0 "}},
		"a mirror before all":    {[]smi.Block{{Prefix: smi.OID{1}, Rows: two}, {Prefix: smi.OID{2}, Rows: two, Mirror: []int{-1, 0}}}, nil, []string{"variable -1 "}},
		"half a row of a mirror": {[]smi.Block{{Prefix: smi.OID{1}, Rows: two}, {Prefix: smi.OID{2}, Rows: one, Mirror: []int{0, 0}}}, nil, []string{"1 names"}},
	} {
		_, err := smi.Compose(c.blocks, c.objects)
		if !errors.Is(err, smi.ErrLayout) {
			t.Fatalf("%s: error %v, want ErrLayout", rule, err)
		}
		for _, want := range c.naming {
			if !strings.Contains(err.Error()+" ", want) {
				t.Errorf("%s: %q does not name %q", rule, err, want)
			}
		}
	}
}

func TestRowsRefuse(t *testing.T) {
	for rule, c := range map[string]struct {
		width  int
		subs   []uint32
		naming []string
	}{
		"unsorted rows":        {2, []uint32{1, 2, 1, 1}, []string{"row 1.1 (at 1)", "row 1.2"}},
		"a row twice":          {1, []uint32{7, 7}, []string{"row 7 (at 1)", "row 7"}},
		"half a row":           {2, []uint32{1, 2, 3}, []string{"3 sub-identifiers for rows of 2"}},
		"rows without a width": {0, nil, []string{"rows of 0"}},
	} {
		_, err := smi.NewRows(c.width, c.subs)
		if !errors.Is(err, smi.ErrLayout) {
			t.Fatalf("%s: error %v, want ErrLayout", rule, err)
		}
		for _, want := range c.naming {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %q does not name %q", rule, err, want)
			}
		}
	}
}

func TestRowsTellWhetherTheyAreTheSame(t *testing.T) {
	rows := mustRows(t, 2, 1, 2, 3, 4)
	for _, c := range []struct {
		rows  *smi.Rows
		width int
		subs  []uint32
		want  bool
	}{
		{rows, 2, []uint32{1, 2, 3, 4}, true}, {rows, 1, []uint32{1, 2, 3, 4}, false},
		{rows, 2, []uint32{1, 2, 3, 5}, false}, {nil, 2, nil, false}, {mustRows(t, 2), 2, nil, true},
	} {
		if got := c.rows.Equal(c.width, c.subs); got != c.want {
			t.Errorf("%v of %d: %v, want %v", c.subs, c.width, got, c.want)
		}
	}
}

// Values of all kinds in one block come back as they were put in.
func TestATableGivesBackEveryValue(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	kinds := []smi.Value{{}, smi.Integer(-5), smi.Integer(0), smi.OctetString(""), smi.OctetString("a\x00"), smi.Null(),
		smi.ObjectID(smi.OID{1, 3}), smi.IPAddress([4]byte{127, 0, 0, 1}), smi.Counter32(7), smi.Gauge32(math.MaxUint32),
		smi.TimeTicks(0), smi.Opaque("x"), smi.Counter64(math.MaxUint64), smi.NoSuchObject(), smi.NoSuchInstance(), smi.EndOfMibView()}
	for range 300 {
		values := make([]smi.Value, rng.IntN(40))
		few := 1 + rng.IntN(len(kinds))
		subs := make([]uint32, len(values))
		for i := range values {
			values[i], subs[i] = kinds[rng.IntN(few)], uint32(i)
		}
		layout := compose(t, []smi.Block{{Prefix: smi.OID{1}, Rows: mustRows(t, 1, subs...)}}, nil)
		d := smi.NewDraft(layout)
		for _, i := range rng.Perm(len(values)) {
			d.Set(0, i, values[i])
		}
		drafted, copied := d.Table(), smi.NewTable(layout, values)
		for i, want := range values {
			if got := drafted.At(i).Value; got != want {
				t.Fatalf("drafted %v, want %v of %v", got, want, values)
			}
			if got := copied.At(i).Value; got != want {
				t.Fatalf("copied %v, want %v of %v", got, want, values)
			}
		}
	}
}

func TestABlockIsFilledOnceAndWhenItIsRead(t *testing.T) {
	layout := compose(t, []smi.Block{
		{Prefix: smi.OID{1, 3, 1}, Rows: mustRows(t, 1, 1, 2, 3)},
		{Prefix: smi.OID{1, 3, 2}, Rows: mustRows(t, 1, 7)},
		{Prefix: smi.OID{1, 3, 3}, Rows: mustRows(t, 1, 1, 2, 3), Mirror: []int{0}},
	}, nil)
	var filled [2]atomic.Int64
	draft := smi.NewDraft(layout)
	draft.SetLater(0, new(sync.Once), func(set func(int, smi.Value)) {
		filled[0].Add(1)
		for _, row := range []int{2, 0, 1} {
			set(row, smi.Gauge32(uint32(row)+10))
		}
	})
	draft.SetLater(1, new(sync.Once), func(func(int, smi.Value)) { filled[1].Add(1) })
	table := draft.Table()
	if filled[0].Load() != 0 {
		t.Error("a block was filled before it was read")
	}
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for i, want := range []uint32{10, 11, 12} {
				if got := table.Value(i); got != smi.Gauge32(want) || table.Value(4+i) != got || table.Get(smi.OID{1, 3, 1, uint32(i + 1)}) != got {
					t.Errorf("variable %d is %v, want %d", i, got, want)
				}
			}
		})
	}
	readers.Wait()
	if filled[0].Load() != 1 || filled[1].Load() != 0 {
		t.Errorf("the blocks were filled %d and %d times; want once, and not at all", filled[0].Load(), filled[1].Load())
	}
}

func TestADraftNeedsAllItsValues(t *testing.T) {
	d := smi.NewDraft(compose(t, []smi.Block{{Prefix: smi.OID{1}, Rows: mustRows(t, 1, 1, 2)}}, nil))
	d.Set(0, 1, smi.Integer(1))
	defer func() {
		if recover() == nil {
			t.Fatal("no panic")
		}
	}()
	d.Table()
}

// list is the reference: whole names with their values in one sorted list, and
// object types likewise, looked through from the beginning.
type list struct {
	variables []smi.Variable
	objects   []smi.OID
}

func (l *list) search(name smi.OID, include bool) int {
	for i, v := range l.variables {
		if c := v.Name.Compare(name); c > 0 || c == 0 && include {
			return i
		}
	}
	return len(l.variables)
}

func (l *list) get(name smi.OID) smi.Value {
	if i := l.search(name, true); i < len(l.variables) && l.variables[i].Name.Compare(name) == 0 {
		return l.variables[i].Value
	}
	if slices.ContainsFunc(l.objects, func(object smi.OID) bool { return name.HasPrefix(object) }) {
		return smi.NoSuchInstance()
	}
	return smi.NoSuchObject()
}

// listed is a block with its rows one by one.
type listed struct {
	smi.Block
	rows []smi.OID
}

func newListed(tb testing.TB, prefix smi.OID, scalar bool, width int, rows []smi.OID) listed {
	tb.Helper()
	return listed{smi.Block{Prefix: prefix, Rows: mustRows(tb, width, slices.Concat(rows...)...), Scalar: scalar}, rows}
}

// names are the block's names in full.
func (l *listed) names() (names []smi.OID) {
	for _, row := range l.rows {
		name := l.Prefix.Append(row...)
		if l.Scalar {
			name = name.Append(0)
		}
		names = append(names, name)
	}
	return names
}

func blocksOf(all []listed) (blocks []smi.Block) {
	for _, l := range all {
		blocks = append(blocks, l.Block)
	}
	return blocks
}

// randomRows are up to ten rows of few different numbers.
func randomRows(rng *rand.Rand, width int) []smi.OID {
	var all []smi.OID
	for range rng.IntN(10) {
		row := make(smi.OID, width)
		for i := range row {
			row[i] = []uint32{0, 1, 2, math.MaxUint32}[rng.IntN(4)]
		}
		all = append(all, row)
	}
	slices.SortFunc(all, smi.OID.Compare)
	all = slices.CompactFunc(all, func(a, b smi.OID) bool { return a.Compare(b) == 0 })
	return all
}

// randomTable is scalars, tables whose rows are of different widths and shared
// by some of their columns, nested and other names, and a block that mirrors;
// and the reference of all that, made of whole names.
func randomTable(tb testing.TB, rng *rand.Rand) (*smi.Table, *list) {
	tb.Helper()
	var blocks, objects []listed
	root := make(smi.OID, rng.IntN(3))
	for sub := range uint32(1 + rng.IntN(6)) {
		at := root.Append(2 * sub)
		width := 1 + rng.IntN(3)
		rows := randomRows(rng, width)
		if rng.IntN(3) == 0 {
			blocks = append(blocks, newListed(tb, at, rng.IntN(2) == 0, width, rows))
			objects = append(objects, newListed(tb, at, false, width, rows))
			continue
		}
		if rng.IntN(4) > 0 {
			objects = append(objects, newListed(tb, at.Append(1), false, 1, []smi.OID{{1}, {2}, {3}}))
		}
		shared := newListed(tb, nil, false, width, rows)
		for column := range uint32(3) {
			shared.Prefix = at.Append(1, column+1)
			if rng.IntN(4) == 0 {
				width = 1 + rng.IntN(3)
				shared = newListed(tb, shared.Prefix, false, width, randomRows(rng, width))
			}
			blocks = append(blocks, shared)
		}
	}
	if n := len(blocks[0].rows); n > 0 {
		blocks = append(blocks, mirror(tb, rng, root.Append(99), n))
	}
	table := numbered(compose(tb, blocksOf(blocks), blocksOf(objects)))
	reference := &list{}
	for _, b := range blocks {
		for row, name := range b.names() {
			value := smi.Integer(int32(len(reference.variables)))
			if b.Mirror != nil {
				value = smi.Integer(int32(b.Mirror[row%2] + row/2))
			}
			reference.variables = append(reference.variables, smi.Variable{Name: name, Value: value})
		}
	}
	for _, b := range objects {
		reference.objects = append(reference.objects, b.names()...)
	}
	return table, reference
}

// mirror shows the rows of a first block of n variables from some row on, twice
// each.
func mirror(tb testing.TB, rng *rand.Rand, prefix smi.OID, n int) listed {
	tb.Helper()
	from := rng.IntN(n)
	var rows []smi.OID
	for k := range uint32(n - from) {
		rows = append(rows, smi.OID{k, 0}, smi.OID{k, 5})
	}
	l := newListed(tb, prefix, rng.IntN(2) == 0, 2, rows)
	l.Mirror = []int{from, from}
	return l
}

func TestATableAgreesWithAPlainList(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for round := range 400 {
		table, want := randomTable(t, rng)
		agreeWithList(t, rng, round, table, want)
		// The same names one by one.
		var names []smi.OID
		var values []smi.Value
		for _, v := range want.variables {
			names, values = append(names, v.Name), append(values, v.Value)
		}
		layout, err := smi.NewLayout(names, want.objects)
		if err != nil {
			t.Fatal(err)
		}
		agreeWithList(t, rng, round, smi.NewTable(layout, values), want)
	}
}

func agreeWithList(t *testing.T, rng *rand.Rand, round int, table *smi.Table, want *list) {
	t.Helper()
	if table.Len() != len(want.variables) {
		t.Fatalf("round %d: %d variables, want %d", round, table.Len(), len(want.variables))
	}
	var arena []uint32
	for i, v := range want.variables {
		start := len(arena)
		var value smi.Value
		arena, value = table.AppendAt(arena, i)
		got := smi.Variable{Name: arena[start:], Value: value}
		if diff := cmp.Diff(v, got); diff != "" {
			t.Fatalf("round %d: %s", round, diff)
		}
		run := table.Run(i)
		row, scalar := run.Tail(i)
		name := run.Prefix().Append(row...)
		if scalar {
			name = name.Append(0)
		}
		if !run.Has(i) || run.Value(i) != v.Value || name.Compare(v.Name) != 0 || smi.OID(run.AppendName(nil, i)).Compare(name) != 0 {
			t.Fatalf("round %d: in its stretch %v is %v with the value %v", round, v, name, run.Value(i))
		}
		if run.Has(i+1) && !want.variables[i+1].Name.HasPrefix(run.Prefix()) {
			t.Fatalf("round %d: %v is in a stretch below %v", round, want.variables[i+1], run.Prefix())
		}
		if table.Layout().Name(i).Compare(v.Name) != 0 || table.Value(i) != v.Value {
			t.Fatalf("round %d: %v, want %v", round, table.At(i), v)
		}
	}
	for range 150 {
		name := probe(rng, want)
		for _, include := range []bool{false, true} {
			if got, want := table.Search(name, include), want.search(name, include); got != want {
				t.Fatalf("round %d: search %v (include %v): %d, want %d", round, name, include, got, want)
			}
		}
		if got, want := table.Get(name), want.get(name); got != want {
			t.Fatalf("round %d: get %v: %v, want %v", round, name, got, want)
		}
		next, ok := table.Next(name)
		if i := want.search(name, false); ok != (i < len(want.variables)) || ok && next.String() != want.variables[i].String() {
			t.Fatalf("round %d: after %v: %v %v", round, name, next, ok)
		}
	}
}

// probe is a name to ask for: one there is, one above, below or beside it, or
// any.
func probe(rng *rand.Rand, l *list) smi.OID {
	if len(l.variables) == 0 || rng.IntN(6) == 0 {
		name := make(smi.OID, rng.IntN(6))
		for i := range name {
			name[i] = uint32(rng.IntN(4))
		}
		return name
	}
	name := slices.Clone(l.variables[rng.IntN(len(l.variables))].Name)
	switch rng.IntN(5) {
	case 0:
		return name
	case 1:
		return name[:rng.IntN(len(name)+1)]
	case 2:
		return append(name, rng.Uint32()>>rng.IntN(32))
	case 3:
		name[rng.IntN(len(name))]++ // also over the largest number
	case 4:
		name[rng.IntN(len(name))]--
	}
	return name
}
