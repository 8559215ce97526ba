// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// next serves one event of several queues by a turn: of the priority whose turn
// it is, the head that is ready for longest.
func next(turn *Turn, queues []*Queue, switches *[Priorities]uint64, now int64) (event int32, ok bool) {
	present := uint8(0)
	for _, q := range queues {
		present |= q.Present()
	}
	p, ok := turn.Next(present)
	if !ok {
		return 0, false
	}
	var from *Queue
	var oldest int64
	for _, q := range queues {
		if since, has := q.SinceOf(p); has && (from == nil || since < oldest) {
			from, oldest = q, since
		}
	}
	if turn.Served(p) {
		switches[p]++
	}
	return from.PopOf(p, now)
}

// Events in several queues are served as if they were in one.
func TestATurnOverSeveralQueuesServesAsOneQueue(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 1))
	for _, d := range []Discipline{FIFO(), Strict(), quoted(t, alike(1)), quoted(t, alike(4)), quoted(t, Quotes{1, 2, 3, 4, 5, 6, 7, 8})} {
		one, turn := NewQueue(d), NewTurn(d)
		var switches [Priorities]uint64
		queues := []*Queue{NewQueue(d), NewQueue(d), NewQueue(d)}
		for now := range int64(20_000) {
			if r.IntN(2) == 0 { // each event at a time of its own
				p := Priority(r.IntN(Priorities))
				one.Push(int32(now), p, now)
				queues[r.IntN(3)].Push(int32(now), p, now)
				continue
			}
			want, wantOK := one.Pop(now)
			if got, ok := next(turn, queues, &switches, now); got != want || ok != wantOK {
				t.Fatalf("%v: served %d %v, want %d %v", d.Policy(), got, ok, want, wantOK)
			}
		}
		sum := Stats{Policy: d.Policy()}
		for _, q := range queues {
			sum = sum.Add(q.Stats())
		}
		want := one.Stats()
		for p, n := range switches {
			sum.Priorities[p].QuoteSwitches = n
		}
		for p := range want.Priorities { // a list that is empty in one queue begins to wait anew there
			sum.Priorities[p].UnservedSince, want.Priorities[p].UnservedSince = 0, 0
		}
		if diff := cmp.Diff(want, sum); diff != "" {
			t.Errorf("%v: counted (-one +several):\n%s", d.Policy(), diff)
		}
	}
}

// What PopOf is for queues StartOf is for pools.
func TestStartOfTakesTheFirstOfOnePriority(t *testing.T) {
	p := New[string](Strict())
	if _, _, ok := p.StartOf(3, nil, 1); ok || p.Present() != 0 {
		t.Error("an empty pool has something to start")
	}
	for i, priority := range []Priority{3, 7, 3} {
		c, err := p.Register(int32(i), priority, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range []string{"first", "second"} {
			if err := p.Deliver(c, w, int64(10+i)); err != nil {
				t.Fatal(err)
			}
		}
	}
	since, ok := p.SinceOf(3)
	if p.Present() != 1<<3|1<<7 || since != 10 || !ok {
		t.Errorf("present %b, p3 since %d %v", p.Present(), since, ok)
	}
	for _, want := range []int32{0, 2} {
		run, works, ok := p.StartOf(3, nil, 20)
		if !ok || run.Channel.Index != want || len(works) != 1 || works[0] != "first" {
			t.Errorf("started %d with %q %v; want %d with one piece of work", run.Channel.Index, works, ok, want)
		}
	}
	if _, ok := p.SinceOf(3); ok || p.Present() != 1<<7 {
		t.Error("p3 still has a ready channel")
	}
	if served := p.Stats().Ready.Priorities[3].Served; served != 2 {
		t.Errorf("%d pieces of p3 served; want 2", served)
	}
}

func TestHeadIsWhatPopTakes(t *testing.T) {
	q := NewQueue(Strict())
	if _, _, ok := q.Head(); ok || q.Present() != 0 {
		t.Error("an empty queue has a head")
	}
	for i, p := range []Priority{2, 5, 5} {
		q.Push(int32(i), p, int64(10+i))
	}
	for _, want := range []struct {
		p     Priority
		since int64
	}{{5, 11}, {5, 12}, {2, 10}} {
		p, since, ok := q.Head()
		of, okOf := q.SinceOf(p)
		ahead := q.AheadOf(p, 1)[0]
		if p != want.p || since != want.since || !ok || of != since || !okOf {
			t.Errorf("head %v since %d %v, of its priority %d %v; want %+v", p, since, ok, of, okOf, want)
		}
		if got, _ := q.Pop(20); got != ahead {
			t.Errorf("served %d, ahead was %d", got, ahead)
		}
	}
	if _, ok := q.PopOf(5, 20); ok {
		t.Error("served of an empty list")
	}
	if _, ok := q.SinceOf(5); ok {
		t.Error("an empty list has a head")
	}
}
