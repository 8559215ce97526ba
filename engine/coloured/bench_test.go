// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/pnagent/pnagent/engine/plain"
	"github.com/pnagent/pnagent/petri/petritest"
)

// BenchmarkPlainGame is the base: package plain plays the same ring.
func BenchmarkPlainGame(b *testing.B) {
	s, err := plain.New(plain.Config{Tables: petritest.Compile(b, petritest.Ring(100)), Stride: 1, Count: 1}, now0)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.ResetTimer()
	play(b.N, s.Step)
}

// play plays a number of firings. The clock advances once per batch.
func play(firings int, step func(int, int64) int) {
	now := now0
	for left := firings; left > 0; left -= 4096 {
		now += 37
		step(min(left, 4096), now)
	}
}

func ring(b *testing.B, binding Binding, instances int) *Shard {
	n := petritest.Ring(100)
	bindings := make([]Binding, 100)
	for t := range bindings {
		bindings[t] = binding
	}
	return newShard(b, Config{Tables: petritest.Compile(b, n), Bindings: bindings, Count: instances})
}

func BenchmarkPlainRing100(b *testing.B) {
	s := ring(b, Binding{}, 1)
	b.ReportAllocs()
	b.ResetTimer()
	play(b.N, s.Step)
}

func BenchmarkPlainRandom100k(b *testing.B) {
	s := ring(b, Binding{}, 100_000)
	s.quota = 1
	b.ReportAllocs()
	b.ResetTimer()
	play(b.N, s.Step)
}

func BenchmarkLoggedRing100(b *testing.B) {
	s := ring(b, Binding{}, 1)
	s.log.on = true
	b.ReportAllocs()
	b.ResetTimer()
	play(b.N, func(budget int, now int64) int {
		n := s.Step(budget, now)
		s.Ready()
		return n
	})
}

func BenchmarkGuardedRing100(b *testing.B) {
	s := ring(b, Binding{Guard: func(tokens []Placed, _ int64) Verdict { return Verdict{OK: len(tokens) == 1} }}, 1)
	b.ReportAllocs()
	b.ResetTimer()
	play(b.N, s.Step)
}

// act plays a ring in which every transition is an action that completes at
// once.
func act(b *testing.B, instances int, binding Binding, logged bool) {
	s := ring(b, binding, instances)
	s.log.on = logged
	b.ReportAllocs()
	b.ResetTimer()
	now := now0
	for fired := 0; fired < b.N; {
		now += 37
		s.Step(256, now)
		for _, st := range s.Ready().Starts {
			if err := s.Done(st.Run, Outcome{}, now); err != nil {
				b.Fatal(err)
			}
			fired++
		}
	}
}

func BenchmarkActionsAtOnce(b *testing.B)     { act(b, 1000, Binding{Action: true}, false) }
func BenchmarkActionsAtOnce100k(b *testing.B) { act(b, 100_000, Binding{Action: true}, false) }
func BenchmarkLoggedActions(b *testing.B)     { act(b, 1000, Binding{Action: true}, true) }
func BenchmarkActionsWithTimeLimit(b *testing.B) {
	act(b, 1000, Binding{Action: true, Timeout: 1e9}, false)
}

// BenchmarkIdleInstance measures how many bytes an instance costs in total:
// with one token that no transition needs, and with one that waits for a
// person.
func BenchmarkIdleInstance(b *testing.B) {
	for name, kind := range map[string]plain.Kind{"AtEnd": plain.Immediate, "WaitsForAPerson": plain.Manual} {
		b.Run(name, func(b *testing.B) { idle(b, Binding{Mode: plain.Mode{Kind: kind}}) })
	}
}

func idle(b *testing.B, binding Binding) {
	const count = 1_000_000
	var s *Shard
	var before, after runtime.MemStats
	cfg := Config{Tables: petritest.Compile(b, build("p:1 q", "t", "p>t t>q")), Bindings: []Binding{binding}, Count: count}
	runtime.GC()
	runtime.ReadMemStats(&before)
	for b.Loop() {
		s = newShard(b, cfg)
		for s.Step(4096, now0) > 0 || s.Present() != 0 {
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/count, "bytes/instance")
	runtime.KeepAlive(s)
}

func BenchmarkLook100k(b *testing.B) {
	s := ring(b, Binding{}, 100_000)
	s.Step(1_000_000, now0)
	for b.Loop() {
		rowsOf(s, now0+5e6)
	}
}

// BenchmarkRunsOfAScope plays an instance in which each of a number of runs of a scope fires
// three transitions and is gone.
func BenchmarkRunsOfAScope(b *testing.B) {
	for _, runs := range []int{10, 1000, 10_000} {
		b.Run(fmt.Sprint(runs), func(b *testing.B) {
			n := build("p n a@s b@s c@s", "each one two three end", "p>each each>a a>one one>b b>two two>c c>three three>n a|end b|end c|end p|end n>end*"+fmt.Sprint(runs))
			s := newShard(b, Config{Tables: petritest.Compile(b, n)})
			now, fired := now0, 0
			b.ResetTimer()
			for fired < b.N {
				now++
				if err := s.Inject(0, 0, nil, uint32(runs), now); err != nil {
					b.Fatal(err)
				}
				for k := -1; k != 0; fired += k {
					k = s.Step(4096, now)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(fired), "ns/firing")
		})
	}
}
