// SPDX-License-Identifier: Apache-2.0

package mib

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/mib/smi"
	"github.com/pnagent/pnagent/stats"
)

// benchView is a View of ten nets with 10,000 places and some transitions.
func benchView(transitions int) *merge.View {
	r := rand.New(rand.NewPCG(1, 1))
	var nets []*merge.NetView
	for i := range 10 {
		def := sizedNet(string(rune('a'+i)), 1000, transitions/10)
		nets = append(nets, netOf(def, randomRows(r, def, stats.AllColumns)))
	}
	return viewOf(nets...)
}

// BenchmarkBuild lays out a View of 10,000 places, without transitions and with
// as many: a tick with the same rows as before (values), one whose values are all read
// (read), one in which a row of stuckTable came or went (rows), and one with a new
// definition (nets). The base is fresh memory filled with as many numbers.
func BenchmarkBuild(b *testing.B) {
	for _, transitions := range []int{0, 10_000} {
		b.Run(fmt.Sprintf("places=10000/transitions=%d", transitions), func(b *testing.B) {
			benchmarkBuild(b, benchView(transitions))
		})
	}
}

func benchmarkBuild(b *testing.B, view *merge.View) {
	builder, err := NewBuilder(testRoot(b), "", Agent{})
	if err != nil {
		b.Fatal(err)
	}
	build := func(b *testing.B) *smi.Table {
		table, err := builder.Build(view, nil, now0)
		if err != nil {
			b.Fatal(err)
		}
		return table
	}
	n := build(b).Len()
	b.Run("base=memory", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			values := make([]smi.Value, n)
			for i := range values {
				values[i] = smi.Counter64(uint64(i))
			}
		}
	})
	b.Run("values", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			build(b)
		}
		b.ReportMetric(float64(n), "variables")
	})
	b.Run("read", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			readValues(build(b))
		}
	})
	place := &view.Nets[0].Rows.Places[0]
	stuck := append([]stats.Token{{Instance: "x", Injected: 1}}, place.Stuck...)
	b.Run("rows", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			place.Stuck = stuck[i%2:]
			build(b)
		}
	})
	b.Run("nets", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			def := *view.Nets[0].Def
			view.Nets[0].Def = &def
			build(b)
		}
	})
}

// readValues reads every value.
func readValues(table *smi.Table) {
	for i := range table.Len() {
		table.Value(i)
	}
}

// held is the bytes of the heap that what keep returns keeps alive.
func held(keep func() any) uint64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	kept := keep()
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(kept)
	return after.HeapAlloc - before.HeapAlloc
}

// maxHeld is the bytes that a variable may take, its name and value, and all
// that the Builder keeps to make the next table: 200 for a row of eight.
const maxHeld = 25

// tableHeld is the bytes a variable that a Builder and its table keep alive,
// beside the View, of 10,000 places and as many transitions.
func tableHeld(tb testing.TB) (bytes float64, variables int) {
	tb.Helper()
	view := benchView(10_000)
	var table *smi.Table
	n := held(func() any {
		builder, err := NewBuilder(testRoot(tb), "", Agent{})
		if err != nil {
			tb.Fatal(err)
		}
		if table, err = builder.Build(view, nil, now0); err != nil {
			tb.Fatal(err)
		}
		readValues(table)
		return []any{builder, table}
	})
	return float64(n) / float64(table.Len()), table.Len()
}

func TestAVariableTakesAtMost25Bytes(t *testing.T) {
	if bytes, n := tableHeld(t); bytes > maxHeld {
		t.Errorf("%.0f bytes each of %d variables", bytes, n)
	}
}

// BenchmarkHeld measures the bytes a variable that a table keeps; the base is a
// value alone.
func BenchmarkHeld(b *testing.B) {
	b.Run("base=value", func(b *testing.B) {
		const n = 1 << 20
		var bytes float64
		for b.Loop() {
			bytes = float64(held(func() any { return make([]smi.Value, n) })) / n
		}
		b.ReportMetric(bytes, "B/variable")
	})
	b.Run("table", func(b *testing.B) {
		var bytes float64
		var n int
		for b.Loop() {
			bytes, n = tableHeld(b)
		}
		b.ReportMetric(bytes, "B/variable")
		b.ReportMetric(float64(n), "variables")
	})
}
