// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"runtime"
	"slices"
	"testing"

	"github.com/pnagent/pnagent/petri/petritest"
)

// work is what the shard does for one of a number of runs of a scope that are open at once.
type work struct {
	asked, changed float64 // guards; frames that are looked at again
	bytes          float64 // that are allocated
	agenda         int     // the most transitions among which it has chosen
}

// workOf plays an instance in which a number of runs of a scope are open at once.
func workOf(t *testing.T, places, transitions, arcs string, runs int) (w work) {
	t.Helper()
	n := build(places, transitions, arcs)
	yes := Binding{Guard: func([]Placed, int64) Verdict { w.asked++; return Verdict{OK: true} }}
	s := newShard(t, Config{Tables: petritest.Compile(t, n), Bindings: append([]Binding{{}}, slices.Repeat([]Binding{yes}, len(n.Transitions)-1)...)})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := s.Inject(0, 0, nil, uint32(runs), now0); err != nil {
		t.Fatal(err)
	}
	for range runs { // all runs open
		s.Step(1, now0)
	}
	for s.Step(1, now0) > 0 {
		w.agenda = max(w.agenda, len(s.frames[0].agenda))
		w.changed += float64(len(s.frames[0].changed))
	}
	runtime.ReadMemStats(&after)
	if len(s.frames[0].open) > 0 || s.TokensIn(0, 1) != uint32(runs) {
		t.Fatalf("%d runs are open and %d are over; expected 0 and %d", len(s.frames[0].open), s.TokensIn(0, 1), runs)
	}
	return work{w.asked / float64(runs), w.changed / float64(runs), float64(after.TotalAlloc-before.TotalAlloc) / float64(runs), w.agenda}
}

// What the shard does for a run of a scope does not depend on how many runs are open beside it.
func TestTheWorkForARunIsTheSameForAnyNumberOfRuns(t *testing.T) {
	for name, net := range map[string][3]string{
		"steps":         {"p done a@s b@s", "enter^1 step end", "p>enter enter>a a>step step>b b>end end>done"},
		"a scope in it": {"p done a@s b@s c@s.i", "enter^1 in out end", "p>enter enter>a a>in in>c c>out out>b b>end c|end end>done"},
		"two ways":      {"p done a@s b@s", "enter^1 left right end", "p>enter enter>a a>left a>right left>b right>b b>end end>done"},
		"it is emptied": {"p done a@s b@s c@s.i", "enter^1 in end", "p>enter enter>a a>in in>b in>c b>end c#end end>done"},
	} {
		t.Run(name, func(t *testing.T) {
			few, many := workOf(t, net[0], net[1], net[2], 20), workOf(t, net[0], net[1], net[2], 2000)
			if many.asked > 1.1*few.asked || many.changed > 1.1*few.changed || many.agenda > few.agenda || many.bytes > 2*few.bytes {
				t.Errorf("for each of 2,000 runs %+v; expected as much as for each of 20: %+v", many, few)
			}
			t.Logf("%+v, %+v", few, many)
		})
	}
}

// A run that is over leaves those beside it where they are, whether it is among the oldest or the youngest: only
// those on the shorter side move.
func TestARunThatIsOverMovesFewOthers(t *testing.T) {
	frames := make([]*frame, 100)
	for k := range frames {
		frames[k] = &frame{extent: &extent{number: uint32(k + 1)}}
	}
	for _, k := range []int{0, 1, 49, 50, 98, 99} {
		all := slices.Clone(frames)
		left, moved := remove(all, frames[k]), 0
		for at := range all {
			if all[at] != frames[at] {
				moved++
			}
		}
		if moved > min(k, 99-k)+1 || !slices.Equal(left, slices.Delete(slices.Clone(frames), k, k+1)) {
			t.Errorf("without run %d of 100, %d have moved; expected at most %d", k+1, moved, min(k, 99-k)+1)
		}
	}
}

// Of timers that are due at once, the one that fires is the first of a list. One that stops leaves it.
func TestTimersThatAreDueAtOnceAreInTheirOrder(t *testing.T) {
	const runs = 50
	w := newWorld(t, build("p done stopped a@s", "enter^1 late stop", "p>enter enter>a a>late late>done a>stop stop>stopped"), Binding{}, after(100), manual)
	w.inject("p", slices.Repeat([]string{"x"}, runs)...)
	w.s.expire(w.now + 200)
	if err := w.s.FireIn(0, 2, runs, nil, w.now+200); err != nil {
		t.Fatal(err)
	}
	for k := range runs - 1 {
		all := w.s.frames[0].ripe
		if len(all) != runs-1-k || w.s.notes.all[all[0]].frame != uint32(k+1) {
			t.Fatalf("%d timers are due, the first of run %d; expected %d and run %d", len(all), w.s.notes.all[all[0]].frame, runs-1-k, k+1)
		}
		w.s.Step(1, w.now+200)
	}
}
