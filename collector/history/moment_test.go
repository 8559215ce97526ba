// SPDX-License-Identifier: Apache-2.0

package history

import (
	order "cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/internal/seeds"
	"github.com/pnagent/pnagent/telemetry/natslink"
)

// town is a world in which sources, alarms, silences and connections change at random too.
type town struct {
	*world
	sources  []merge.Source
	alarms   []alarm.Alarm
	silences []alarm.Silence
	links    links
	index    uint32
}

func newTown(seed uint64, sizes ...int) *town {
	return &town{world: newWorld(seed, 0.3, sizes...), index: 1000}
}

// tick returns the View and the alarms of the next moment. Most of what was stays.
func (w *town) tick(d time.Duration) (*merge.View, *alarm.ActiveSet) {
	v, r := w.world.tick(d), w.random
	for _, n := range v.Nets {
		n.Since = int64(r.IntN(2))
		n.Digests = []merge.Digest{{Digest: "abc", Sources: r.IntN(2)}}
		n.Up, n.Stale = r.IntN(2), r.IntN(2)
		n.Rows.Net.Created, n.Rows.Net.Active, n.Rows.Waiting = r.Uint64N(3), r.Uint64(), r.Uint64N(9)
		n.Rates.Finished, n.Rates.Firings = float64(r.IntN(3))-1, merge.Rate{Now: 0.0123, Min1: float64(r.IntN(9)), Min5: 0.125, Min15: 1e5}
		n.Sum()
	}
	if r.IntN(8) == 0 {
		v.Nets = v.Nets[1:] // it has left the View for this moment
	}
	w.changeSources(r)
	w.changeAlarms(r)
	if r.IntN(9) == 0 {
		w.links = links{&natslink.ConnState{Connected: r.IntN(2) == 0, Since: w.at, Reason: "EOF"}, nil, r.IntN(2) == 0}
	}
	v.Sources, v.NATS, v.Up, v.Interrupted = slices.Clone(w.sources), w.links.nats, w.links.up, w.links.interrupted
	for i := range v.Sources {
		v.Sources[i].Seq, v.Sources[i].LastMessage = r.Uint64(), w.at-second // as of each View
		if s := v.Sources[i].State; s == merge.Stale || s == merge.Gone {
			v.Sources[i].LastMessage = int64(v.Sources[i].Fence)
		}
	}
	return v, &alarm.ActiveSet{Active: slices.Clone(w.alarms), Silences: slices.Clone(w.silences)}
}

func (w *town) changeSources(r *rand.Rand) {
	if r.IntN(4) == 0 {
		i := len(w.sources)
		w.sources = append(w.sources, merge.Source{Net: fmt.Sprint("net-", i%2), Name: fmt.Sprint("host-", r.IntN(1000), "-", i), Region: "north"})
		slices.SortFunc(w.sources, func(a, b merge.Source) int {
			return slices.Compare([]string{a.Net, a.Name}, []string{b.Net, b.Name})
		})
	}
	for i := 0; i < len(w.sources); i++ {
		switch s := &w.sources[i]; r.IntN(30) {
		case 0:
			w.sources = slices.Delete(w.sources, i, i+1)
		case 1:
			s.State, s.Fence = merge.SourceState(r.IntN(5)), r.Uint64N(1e6)
		case 2:
			s.Gaps++
		case 3:
			s.Standbys, s.RegionStopped = new(r.Uint64N(3)), fmt.Sprint("disk ", r.IntN(9))
		}
	}
}

func (w *town) changeAlarms(r *rand.Rand) {
	if r.IntN(3) == 0 {
		w.index++
		w.alarms = append(w.alarms, alarm.Alarm{Index: w.index, Kind: alarm.TokenStuck, Net: "net-0", Subject: fmt.Sprint("p", r.IntN(5)), Severity: alarm.Minor, Raised: w.at, Since: w.at - 9, Text: "stuck"})
		w.silences = append(w.silences, alarm.Silence{ID: fmt.Sprint(w.index), From: w.at, Until: w.at + r.Int64N(9), By: "ada"})
	}
	for i := 0; i < len(w.alarms); i++ {
		switch a := &w.alarms[i]; r.IntN(20) {
		case 0:
			w.alarms = slices.Delete(w.alarms, i, i+1)
		case 1:
			a.Affected, a.Text = a.Affected+1, fmt.Sprint("stuck: ", a.Affected)
		case 2:
			a.Ack, a.SilencedUntil = &alarm.Ack{At: w.at, By: "kim"}, w.at+5
		case 3:
			a.Outdated = !a.Outdated
		}
	}
	if len(w.silences) > 3 {
		w.silences = slices.Delete(w.silences, 1, 1+r.IntN(2))
	}
}

// was is what Store.Moment is to return, made in the simplest way.
type was struct {
	View   *merge.View
	Alarms *alarm.ActiveSet
}

// wasOf keeps of a View what history keeps.
func wasOf(v *merge.View, set *alarm.ActiveSet) was {
	out := &merge.View{At: v.At, NATS: v.NATS, Up: v.Up, Interrupted: v.Interrupted, States: merge.StatesOf(v.Sources)}
	for _, s := range v.Sources {
		s.Seq, s.Position, s.Lag = 0, nil, nil
		if s.State != merge.Stale && s.State != merge.Gone {
			s.LastMessage = 0
		}
		out.Sources = append(out.Sources, s)
	}
	for _, n := range v.Nets {
		kept := *n
		rows := *n.Rows
		rows.Places, rows.Transitions, rows.Blocks = nil, nil, nil
		kept.Rows, kept.Blocked = &rows, nil
		kept.Rates = &merge.Rates{Finished: n.Rates.Finished, Firings: n.Rates.Firings}
		out.Nets = append(out.Nets, &kept)
	}
	silences := slices.Clone(set.Silences)
	slices.SortFunc(silences, func(a, b alarm.Silence) int {
		return order.Or(order.Compare(a.Until, b.Until), strings.Compare(a.ID, b.ID))
	})
	return was{out, &alarm.ActiveSet{Active: set.Active, Silences: silences}}
}

// compare compares a moment with what was; nil for nothing.
func compare(want *was, v *merge.View, set *alarm.ActiveSet) string {
	if want == nil {
		want = &was{}
	}
	return cmp.Diff(*want, was{v, set}, cmp.AllowUnexported(merge.View{}), cmpopts.EquateEmpty())
}

// Moments equal those of a store that keeps everything as a whole.
func TestAMomentIsWhatWas(t *testing.T) {
	for seed := range seeds.Of(2, 8) {
		w, s := newTown(seed, 4, 0, 7), New(Config{})
		var all []was
		for i := range 120 {
			v, set := w.tick(time.Second + time.Duration(w.random.IntN(3000))*time.Millisecond)
			s.Add(v, nil)
			if w.random.IntN(3) == 0 {
				s.Note(&alarm.ActiveSet{Active: []alarm.Alarm{{Index: uint32(i)}}}) // is replaced for the same moment
			}
			s.Note(set)
			all = append(all, wasOf(v, set))
		}
		for range 60 {
			at := noon + w.random.Int64N(w.at-noon+2*second)
			var want *was
			for i := range all {
				if all[i].View.At <= at {
					want = &all[i]
				}
			}
			v, set := s.Moment(at)
			if d := compare(want, v, set); d != "" {
				t.Fatalf("seed %d, at %d (-want +got):\n%s", seed, at-noon, d)
			}
		}
	}
}

// The budget holds while every alarm and every source changes with every View. The step
// becomes coarser, moments that are dropped are counted, and those that are kept are whole.
func TestTheBudgetIsKeptWhereEverythingChanges(t *testing.T) {
	const budget = 1 << 20
	w, s := newTown(3, 5), New(Config{Budget: budget})
	last, oldest := s.Step(), int64(0)
	var all []was
	for i := range 4000 {
		v, set := w.tick(time.Second)
		set.Active, v.Sources = nil, nil
		for k := range 100 {
			set.Active = append(set.Active, alarm.Alarm{Index: uint32(k), Text: fmt.Sprintf("%100d", i)})
			v.Sources = append(v.Sources, merge.Source{Net: "net-0", Name: fmt.Sprintf("host-%03d", k), Gaps: uint64(i)})
		}
		s.Add(v, nil)
		s.Note(set)
		all = append(all, wasOf(v, set))
		n := s.Counters()
		if held := heldBytes(s); n.Bytes > budget || held != n.Bytes {
			t.Fatalf("after %d Views: %d bytes are held, and the counter is %d; at most %d", i, held, n.Bytes, budget)
		}
		last = max(last, s.Step())
		oldest = s.moments.times[0]
	}
	n := s.Counters()
	t.Logf("step up to %v, %+v", last, n)
	if n.Lost == 0 || n.Moments < 5 || last != time.Minute {
		t.Errorf("got a step up to %v and %+v; want moments that were dropped, some that are kept, and a minute", last, n)
	}
	for _, k := range all {
		v, set := s.Moment(k.View.At)
		if v == nil != (k.View.At < oldest) {
			t.Fatalf("at %d: %v; the oldest moment is %d", k.View.At-noon, v, oldest-noon)
		}
		if v != nil && v.At == k.View.At {
			if d := compare(&k, v, set); d != "" {
				t.Fatalf("at %d (-want +got):\n%s", k.View.At-noon, d)
			}
		}
	}
}

// What never changes takes no memory for each moment.
func TestAQuietFleetCostsNothing(t *testing.T) {
	w, s := newTown(3, 5), New(Config{})
	w.busy = 0
	v, set := w.tick(time.Second)
	for k := range 1000 {
		v.Sources = append(v.Sources, merge.Source{Net: "net-0", Name: fmt.Sprintf("host-%03d", k)})
	}
	var hour int64
	for range 1000 {
		next := *v
		next.At, v = v.At+second, &next
		s.Add(v, nil)
		s.Note(set)
		hour = s.moments.differences()
	}
	if perMoment := hour / int64(len(s.moments.times)); perMoment > 32 {
		t.Errorf("%d bytes for each moment", perMoment)
	}
}

// Without nets there are moments too, and they end with the span.
func TestMomentsEndWithTheSpan(t *testing.T) {
	s := New(Config{Span: time.Minute})
	for i := range int64(100) {
		s.Add(&merge.View{At: noon + i*second}, nil)
	}
	if v, _ := s.Moment(noon + 38*second); v != nil {
		t.Errorf("a moment of %d s ago is kept", (noon+99*second-v.At)/second)
	}
	if v, _ := s.Moment(noon + 39*second + 1); v == nil || v.At != noon+39*second {
		t.Errorf("the oldest moment of the span is %v", v)
	}
}
