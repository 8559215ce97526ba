// SPDX-License-Identifier: Apache-2.0

package history

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
)

// noon is when the tests begin.
const noon = 1_772_366_400_000_000

const second = 1_000_000

// world makes Views of nets that change at random.
type world struct {
	random *rand.Rand
	at     int64
	nets   []*merge.NetView
	busy   float64 // share of the rows that change
}

func newWorld(seed uint64, busy float64, sizes ...int) *world {
	w := &world{random: rand.New(rand.NewPCG(seed, 1)), at: noon, busy: busy}
	for i, n := range sizes {
		net := &merge.NetView{Name: fmt.Sprintf("net-%d", i), Rows: stats.NewRows(0, 0)}
		net.Rows.Columns = stats.AllColumns
		w.nets = append(w.nets, net)
		w.grow(i, n, n)
	}
	return w
}

// grow gives a net more places and transitions.
func (w *world) grow(net, places, transitions int) {
	old := w.nets[net]
	rows := stats.NewRows(len(old.Rows.Places)+places, len(old.Rows.Transitions)+transitions)
	copy(rows.Places, old.Rows.Places)
	copy(rows.Transitions, old.Rows.Transitions)
	rows.Columns = old.Rows.Columns
	w.nets[net] = &merge.NetView{Name: old.Name, Rows: rows, Def: &petri.Net{ID: old.Name,
		Places: make([]petri.Place, len(rows.Places)), Transitions: make([]petri.Transition, len(rows.Transitions))}}
}

// tick advances the clock and returns the View.
func (w *world) tick(d time.Duration) *merge.View {
	w.at += d.Microseconds()
	v := &merge.View{At: w.at}
	for i, old := range w.nets {
		n := *old
		n.Rows = w.changed(old.Rows)
		w.nets[i] = &n
		v.Nets = append(v.Nets, n.Sum())
	}
	return v
}

func (w *world) changed(old *stats.Rows) *stats.Rows {
	rows := stats.NewRows(0, 0)
	rows.Columns = old.Columns
	rows.Places, rows.Transitions = slices.Clone(old.Places), slices.Clone(old.Transitions)
	for i := range rows.Places {
		if p := &rows.Places[i]; w.random.Float64() < w.busy {
			p.Tokens, p.Instances = w.random.Uint64N(2000), w.random.Uint64N(500)
			p.Oldest = w.at - w.random.Int64N(100*second)
			p.Arrivals += w.random.Uint64N(1000)
		}
	}
	for i := range rows.Transitions {
		if t := &rows.Transitions[i]; w.random.Float64() < w.busy {
			t.Firings += w.random.Uint64N(1000)
			t.Enabled, t.EnabledSince = w.random.Uint64N(100), w.at-w.random.Int64N(10*second)
			t.Running, t.Failures = w.random.Uint64N(8), t.Failures+w.random.Uint64N(2)
			rows.Blocks = append(rows.Blocks, stats.Block{Transition: int32(i), Place: 0, Reason: stats.ReasonMissing, Instances: w.random.Uint64N(9)},
				stats.Block{Transition: int32(i), Place: 0, Reason: stats.ReasonInhibited, Instances: w.random.Uint64N(9)})
		}
	}
	return rows
}

// plain returns the frame of a net, made in the simplest way.
func plain(n *merge.NetView, at int64) *Frame {
	f := &Frame{at, &merge.NetView{Rows: stats.NewRows(len(n.Rows.Places), len(n.Rows.Transitions))}}
	f.Rows.Columns, f.Blocked = n.Rows.Columns, make([]uint64, len(n.Rows.Transitions))
	for i, p := range n.Rows.Places {
		f.Rows.Places[i] = stats.Place{Tokens: p.Tokens, Oldest: p.Oldest, Instances: p.Instances, Arrivals: p.Arrivals}
	}
	for i, t := range n.Rows.Transitions {
		for _, b := range n.Rows.Blocks {
			if int(b.Transition) == i {
				f.Blocked[i] = max(f.Blocked[i], b.Instances)
			}
		}
		f.Rows.Transitions[i] = stats.Transition{Firings: t.Firings, Enabled: t.Enabled, EnabledSince: t.EnabledSince, Running: t.Running, Failures: t.Failures}
	}
	return f
}

// reference is a store that keeps complete frames.
type reference map[string][]*Frame

func (r reference) add(v *merge.View) {
	for _, n := range v.Nets {
		r[n.Name] = append(r[n.Name], plain(n, v.At))
	}
}

func (r reference) at(net string, at int64) (f, before *Frame) {
	for _, k := range r[net] {
		if k.At <= at {
			f, before = k, f
		}
	}
	return f, before
}

// withRates returns a frame with rates since the frame before it.
func withRates(f, before *Frame) *Frame {
	if f == nil {
		return nil
	}
	out := &Frame{f.At, new(*f.NetView)}
	out.Rates = &merge.Rates{Arrivals: []float64{}, Transitions: []merge.Rate{}}
	for i, p := range f.Rows.Places {
		rate := float64(merge.UnknownRate)
		if before != nil && i < len(before.Rows.Places) && p.Arrivals >= before.Rows.Places[i].Arrivals {
			rate = merge.RateBetween(0, p.Arrivals-before.Rows.Places[i].Arrivals, f.At-before.At)
		}
		out.Rates.Arrivals = append(out.Rates.Arrivals, rate)
	}
	for i, t := range f.Rows.Transitions {
		rate := float64(merge.UnknownRate)
		if before != nil && i < len(before.Rows.Transitions) && t.Firings >= before.Rows.Transitions[i].Firings {
			rate = merge.RateBetween(0, t.Firings-before.Rows.Transitions[i].Firings, f.At-before.At)
		}
		out.Rates.Transitions = append(out.Rates.Transitions, merge.Rate{Now: rate})
	}
	return out
}

// The frames equal those of the reference, also for nets that grow.
func TestWhatIsKeptIsWhatWas(t *testing.T) {
	for seed := range uint64(15) {
		w := newWorld(seed, float64(seed%4)/3, 5, 0, 12)
		s, ref := New(Config{}), reference{}
		for i := range 150 {
			if w.random.IntN(20) == 0 {
				w.grow(w.random.IntN(3), w.random.IntN(3), w.random.IntN(3))
			}
			if i == 70 {
				w.nets[2].Rows.Columns = stats.ColTokens | stats.ColFirings
			}
			v := w.tick(time.Second + time.Duration(w.random.IntN(3000))*time.Millisecond)
			s.Add(v, nil)
			ref.add(v)
		}
		for range 200 {
			net, at := fmt.Sprintf("net-%d", w.random.IntN(4)), noon+w.random.Int64N(w.at-noon+2*second)
			want, before := ref.at(net, at)
			if d := cmp.Diff(withRates(want, before), s.Past(net).At(at), cmpopts.EquateEmpty()); d != "" {
				t.Fatalf("seed %d, %s at %d (-want +got):\n%s", seed, net, at-noon, d)
			}
		}
		for net, frames := range ref {
			checkSeries(t, s.Past(net), frames)
		}
	}
}

// checkSeries checks that each point equals one of the frames, that times
// ascend, and that the youngest frame is included.
func checkSeries(t *testing.T, p *Past, frames []*Frame) {
	t.Helper()
	if len(frames[0].Rows.Places) == 0 {
		return
	}
	points, runs := p.Place(0), p.Transition(0)
	if len(points) > MaxPoints || len(points) == 0 || points[len(points)-1].At != frames[len(frames)-1].At {
		t.Fatalf("%d points of %d frames, the last at %d", len(points), len(frames), points[len(points)-1].At)
	}
	if len(frames) < MaxPoints && len(points) != len(frames) {
		t.Fatalf("%d points of %d frames", len(points), len(frames))
	}
	k := 0
	for i, x := range points {
		for k < len(frames) && frames[k].At < x.At {
			k++
		}
		want := PlacePoint{frames[k].At, frames[k].Rows.Columns, frames[k].Rows.Places[0].Tokens, frames[k].Rows.Places[0].Oldest}
		fired := TransitionPoint{want.At, want.Columns, frames[k].Rows.Transitions[0].Firings, frames[k].Rows.Transitions[0].Running, merge.UnknownRate}
		if i > 0 && fired.Firings >= runs[i-1].Firings {
			fired.Rate = merge.RateBetween(0, fired.Firings-runs[i-1].Firings, fired.At-runs[i-1].At)
		}
		if x != want || runs[i] != fired {
			t.Fatalf("point %d is %v and %v, want %v and %v", i, x, runs[i], want, fired)
		}
	}
}

// Series of several hours have few points.
func TestALongPastHasFewPoints(t *testing.T) {
	w := newWorld(1, 0.5, 3)
	s, ref := New(Config{}), reference{}
	for range 4500 {
		v := w.tick(time.Second)
		s.Add(v, nil)
		ref.add(v)
	}
	p := s.Past("net-0")
	checkSeries(t, p, ref["net-0"])
	if n := len(p.Place(0)); n < MaxPoints/2 {
		t.Errorf("%d points of an hour", n)
	}
	if from, to := s.Extent(); to != w.at || w.at-from < 3600*second || w.at-from > 3600*second+16*second {
		t.Errorf("kept from %d s to %d s before the last", (w.at-from)/second, (w.at-to)/second)
	}
}

// After every View the store is within its budget, for nets of all sizes, and
// it counts what it leaves out.
func TestTheBudgetIsKept(t *testing.T) {
	for name, c := range map[string]struct {
		budget int64
		sizes  []int
	}{
		"small nets": {1 << 20, []int{10, 3, 20}}, "one is large": {200 << 10, []int{100, 2}}, "hopeless": {60 << 10, []int{200}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(7, 0.7, c.sizes...)
			s := New(Config{Budget: c.budget})
			last := s.Step()
			for range 2500 {
				s.Add(w.tick(time.Second), nil)
				n := s.Counters()
				if n.Bytes > c.budget {
					t.Fatalf("%d bytes are held, of at most %d", n.Bytes, c.budget)
				}
				if held := heldBytes(s); held != n.Bytes {
					t.Fatalf("%d bytes are held, but the counter is %d", held, n.Bytes)
				}
				last = max(last, s.Step())
			}
			n := s.Counters()
			t.Logf("step %v, at most %v, %+v", s.Step(), last, n)
			if n.Passed == 0 || last == time.Second {
				t.Errorf("the step did not become coarser: %v", last)
			}
			if name == "hopeless" && (n.Dropped == 0 || last != time.Minute) {
				t.Errorf("step up to %v, %+v", last, n)
			}
		})
	}
}

// heldBytes returns the size of all rings by adding up their blocks, and that of moments by
// adding up their changes.
func heldBytes(s *Store) int64 {
	m := &s.moments
	n := int64(8*cap(m.times)) + heldLog(&m.nets) + heldLog(&m.sources) + heldLog(&m.links) + heldLog(&m.alarms) + heldLog(&m.silences)
	for _, r := range s.nets {
		for _, b := range r.blocks {
			n += int64(cap(b.text)) + blockOverhead
		}
		n += r.fixed()
	}
	return n
}

func heldLog[T any](l *log[T]) int64 {
	n := l.fixed() + int64(cap(l.changes))*int64(reflect.TypeFor[change[T]]().Size())
	for i := range l.changes {
		n += int64(l.texts(&l.changes[i].was))
	}
	return n
}

// The step becomes finer again when a net changes less.
func TestTheStepBecomesFinerAgain(t *testing.T) {
	w := newWorld(3, 1, 50)
	s := New(Config{Budget: 2 << 20})
	for range 100 {
		s.Add(w.tick(time.Second), nil)
	}
	coarse := s.Step()
	w.busy = 0.01
	for range 2 * 3600 {
		s.Add(w.tick(time.Second), nil)
	}
	if coarse <= time.Second || s.Step() != time.Second {
		t.Errorf("the step went from %v to %v", coarse, s.Step())
	}
}

func TestAPastThatWasTakenStays(t *testing.T) {
	w := newWorld(5, 1, 4)
	s := New(Config{})
	for range 40 {
		s.Add(w.tick(time.Second), nil)
	}
	p, at := s.Past("net-0"), w.at
	want := p.At(at)
	for range 4000 {
		s.Add(w.tick(time.Second), nil)
	}
	if got := p.At(w.at); cmp.Diff(want, got) != "" || got.At != at {
		t.Errorf("the result changed:\n%s", cmp.Diff(want, got))
	}
}

func TestAViewThatGoesBackInTimeIsPassedOver(t *testing.T) {
	w := newWorld(5, 1, 2)
	s := New(Config{})
	s.Add(w.tick(time.Second), nil)
	w.at -= 10 * second
	s.Add(w.tick(time.Second), nil)
	if n := s.Counters(); n.Frames != 1 || n.Passed != 1 {
		t.Errorf("got %+v; want one frame kept and one passed over", n)
	}
}

func TestANetThatIsGoneIsForgottenAfterTheSpan(t *testing.T) {
	w := newWorld(5, 1, 2, 2)
	s := New(Config{Span: time.Minute})
	s.Add(w.tick(time.Second), nil)
	w.nets = w.nets[:1]
	for range 62 {
		s.Add(w.tick(time.Second), nil)
	}
	if f := s.Past("net-1").At(w.at); f != nil || len(s.nets) != 1 {
		t.Errorf("%d nets are kept; of the removed one %v", len(s.nets), f)
	}
}

// Frames of a net are dropped if rows have left it, since others have their indices now.
func TestFramesEndWhereRowsLeave(t *testing.T) {
	net := func(ids ...string) *merge.NetView {
		n := &merge.NetView{Name: "n", Def: &petri.Net{ID: "n"}, Rows: stats.NewRows(len(ids), 0)}
		for i, id := range ids {
			n.Def.Places = append(n.Def.Places, petri.Place{ID: id})
			n.Rows.Places[i] = stats.Place{Tokens: uint64(10 + i), Oldest: 1, Stuck: []stats.Token{{Instance: "i", Injected: 1}}}
		}
		n.Rows.Columns = stats.ColTokens | stats.ColStuck
		return n.Sum()
	}
	s := New(Config{})
	for i, step := range []struct {
		places            []string
		frames, sightings int
	}{
		{[]string{"p", "q"}, 1, 2},
		{[]string{"p", "q", "r"}, 2, 3},
		{[]string{"p", "r"}, 1, 2},
		{[]string{"p", "q", "r"}, 1, 3},
	} {
		s.Add(&merge.View{At: noon + int64(i)*second, Nets: []*merge.NetView{net(step.places...)}}, nil)
		if f, seen := s.Past("n").frames, len(s.Sightings("n", "i")); f != step.frames || seen != step.sightings {
			t.Errorf("with places %v: %d frames and %d sightings; want %d and %d", step.places, f, seen, step.frames, step.sightings)
		}
	}
}
