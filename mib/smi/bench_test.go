// SPDX-License-Identifier: Apache-2.0

package smi_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sort"
	"testing"

	"github.com/pnagent/pnagent/mib/smi"
)

// benchColumns is how many columns a conceptual row of these benchmarks has.
const benchColumns = 8

// conceptual is a table like that of a place: n rows of eight columns, two of
// them texts, indexed by net and place.
func conceptual(tb testing.TB, n int) *smi.Table {
	tb.Helper()
	subs := make([]uint32, 0, 2*n)
	for row := range uint32(n) {
		subs = append(subs, 1+row/1000, 1+row%1000)
	}
	rows := mustRows(tb, 2, subs...)
	entry := smi.OID{1, 3, 6, 1, 4, 1, 8072, 9999, 9999, 1, 1, 3, 1}
	var blocks []smi.Block
	for column := range uint32(benchColumns) {
		blocks = append(blocks, smi.Block{Prefix: entry.Append(column + 2), Rows: rows})
	}
	columns := mustRows(tb, 1, 2, 3, 4, 5, 6, 7, 8, 9)
	return fill(compose(tb, blocks, []smi.Block{{Prefix: entry, Rows: columns}}), n)
}

// fill makes a tick of a conceptual table.
func fill(layout *smi.Layout, n int) *smi.Table {
	d := smi.NewDraft(layout)
	for row := range n {
		d.Set(0, row, smi.OctetString("awaitingPayment"))
		d.Set(1, row, smi.OctetString("Awaiting payment"))
		for column := 2; column < benchColumns; column++ {
			d.Set(column, row, smi.Counter64(uint64(row+column)))
		}
	}
	return d.Table()
}

// wholeTable is the same with its names in full: in one array, each with the
// place where it ends, and a Value beside each.
type wholeTable struct {
	subs   []uint32
	ends   []uint32
	values []smi.Value
}

func whole(table *smi.Table) *wholeTable {
	w := &wholeTable{}
	for i := range table.Len() {
		v := table.At(i)
		w.subs = append(w.subs, v.Name...)
		w.ends = append(w.ends, uint32(len(w.subs)))
		w.values = append(w.values, v.Value)
	}
	return &wholeTable{slices.Clip(slices.Clone(w.subs)), slices.Clip(slices.Clone(w.ends)), slices.Clip(slices.Clone(w.values))}
}

// held is the bytes of the heap that what keep returns keeps alive.
func held(keep func() any) float64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	kept := keep()
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(kept)
	return float64(after.HeapAlloc) - float64(before.HeapAlloc)
}

// maxRow is the bytes that a conceptual row of eight columns may take, its
// names and values together.
const maxRow = 200

func TestAConceptualRowTakesAtMost200Bytes(t *testing.T) {
	for _, n := range []int{10_000, 100_000} {
		if bytes := held(func() any { return conceptual(t, n) }) / float64(n); bytes > maxRow {
			t.Errorf("%.0f bytes each of %d rows", bytes, n)
		}
	}
}

func TestSearchAllocatesNothing(t *testing.T) {
	table := conceptual(t, 1000)
	names := namesOf(table)
	var scratch []uint32
	i := 0
	if n := testing.AllocsPerRun(100, func() {
		name := names[i%len(names)]
		table.Get(name)
		if k := table.Search(name, false); k < table.Len() {
			scratch, _ = table.AppendAt(scratch[:0], k)
		}
		i += 37
	}); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}

func namesOf(table *smi.Table) []smi.OID {
	names := make([]smi.OID, table.Len())
	for i := range names {
		names[i] = table.Layout().Name(i)
	}
	return names
}

// BenchmarkRow shows the bytes that a conceptual row of eight columns takes,
// its names and values together. The base has its names in full.
func BenchmarkRow(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		table := conceptual(b, n)
		for name, keep := range map[string]func() any{
			"layout":          func() any { return conceptual(b, n) },
			"base=full-names": func() any { return whole(table) },
		} {
			b.Run(fmt.Sprintf("%s/rows=%d", name, n), func(b *testing.B) {
				var bytes float64
				for b.Loop() {
					bytes = held(keep)
				}
				b.ReportMetric(bytes/float64(n), "B/row")
			})
		}
	}
}

// asked is how many names are asked for over and over, all over the table: few
// enough that reading the questions costs the same from tables of all sizes.
const asked = 4096

// BenchmarkNext finds the successors of random names, with their values. The
// bases are a linear search (it grows with the table) and sort.Search over one
// slice for each name.
func BenchmarkNext(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		table := conceptual(b, n)
		names := namesOf(table)
		order := make([]smi.OID, asked)
		rng := rand.New(rand.NewPCG(1, 2))
		for i := range order {
			order[i] = slices.Clone(names[rng.IntN(len(names))])
		}
		b.Run(fmt.Sprintf("layout/rows=%d", n), func(b *testing.B) {
			var scratch []uint32
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if k := table.Search(order[i%asked], false); k < table.Len() {
					scratch, _ = table.AppendAt(scratch[:0], k)
				}
			}
		})
		b.Run(fmt.Sprintf("base=slices/rows=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				name := order[i%asked]
				sort.Search(len(names), func(j int) bool { return names[j].Compare(name) > 0 })
			}
		})
		b.Run(fmt.Sprintf("base=linear/rows=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				linear(names, order[i%asked], false)
			}
		})
	}
}

// BenchmarkStep reads the variables in order, as a GetBulk does.
func BenchmarkStep(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		table := conceptual(b, n)
		b.Run(fmt.Sprintf("layout/rows=%d", n), func(b *testing.B) {
			var scratch []uint32
			for i := 0; b.Loop(); i++ {
				scratch, _ = table.AppendAt(scratch[:0], i%table.Len())
			}
		})
	}
}

// BenchmarkDraft is a tick: new values over the names that are there. The base
// is fresh memory filled with as many numbers.
func BenchmarkDraft(b *testing.B) {
	const n = 10_000
	layout := conceptual(b, n).Layout()
	b.Run("values", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			fill(layout, n)
		}
	})
	b.Run("base=memory", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			values := make([]smi.Value, layout.Len())
			for i := range values {
				values[i] = smi.Counter64(uint64(i))
			}
		}
	})
}
