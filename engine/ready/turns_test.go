// SPDX-License-Identifier: Apache-2.0

package ready

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// next serves one event of several queues in turn: among the heads of the
// priority that has the turn, the one that has been ready for longest.
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
			if r.IntN(2) == 0 { // each event at its own time
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
		sum, want := Stats{Policy: d.Policy()}, one.Stats()
		for p := range sum.Priorities {
			row := &sum.Priorities[p]
			row.QuoteSwitches = switches[p]
			for _, q := range queues {
				part := q.Stats().Priorities[p]
				row.Served += part.Served
				if row.Length == 0 || part.Length > 0 && part.OldestSince < row.OldestSince {
					row.OldestSince = part.OldestSince
				}
				row.Length += part.Length
			}
		}
		for p := range want.Priorities { // a list that is empty in one queue starts to wait again there
			sum.Priorities[p].UnservedSince, want.Priorities[p].UnservedSince = 0, 0
		}
		if diff := cmp.Diff(want, sum); diff != "" {
			t.Errorf("%v: counted (-one +several):\n%s", d.Policy(), diff)
		}
	}
}

// StartOf is for pools what PopOf is for queues.
func TestStartOfTakesTheFirstOfOnePriority(t *testing.T) {
	p := NewPool(Strict(), 3, 0)
	if _, ok := p.StartOf(3, 1); ok || p.Present() != 0 {
		t.Error("an empty pool starts an instance")
	}
	for i, priority := range []Priority{3, 7, 3} {
		p.Rank(i, priority)
		p.Deliver(i, int64(10+i))
		p.Deliver(i, int64(10+i))
	}
	since, ok := p.SinceOf(3)
	if p.Present() != 1<<3|1<<7 || since != 10 || !ok {
		t.Errorf("present %b, p3 since %d %v", p.Present(), since, ok)
	}
	for _, want := range []int{0, 2} {
		if i, ok := p.StartOf(3, 20); i != want || !ok || p.Waiting(i) != 1 {
			t.Errorf("started %d %v, with %d left; want %d with one piece of work", i, ok, p.Waiting(i), want)
		}
	}
	if _, ok := p.SinceOf(3); ok || p.Present() != 1<<7 {
		t.Error("p3 still has a ready instance")
	}
	rows, waiting := p.Stats()
	if served := rows.Priorities[3].Served; served != 2 || waiting != 4 {
		t.Errorf("%d pieces of p3 served, %d wait; want 2 and 4", served, waiting)
	}
}

func TestTheFirstOfAPriorityIsWhatPopTakes(t *testing.T) {
	q := NewQueue(Strict())
	if _, ok := q.SinceOf(0); ok || q.Present() != 0 || len(q.AheadOf(0, 9)) != 0 {
		t.Error("an empty queue reports a ready event")
	}
	for i, p := range []Priority{2, 5, 5} {
		q.Push(int32(i), p, int64(10+i))
	}
	for _, want := range []struct {
		p     Priority
		since int64
	}{{5, 11}, {5, 12}, {2, 10}} {
		since, ok := q.SinceOf(want.p)
		if since != want.since || !ok {
			t.Errorf("%v is ready since %d %v; want %+v", want.p, since, ok, want)
		}
		ahead := q.AheadOf(want.p, 1)[0]
		if got, _ := q.Pop(20); got != ahead {
			t.Errorf("served %d, ahead was %d", got, ahead)
		}
	}
	if _, ok := q.PopOf(5, 20); ok {
		t.Error("PopOf served an event of an empty list")
	}
}

func TestAheadIsWhatComesNextIfNothingArrives(t *testing.T) {
	q := NewQueue(Strict())
	for i := range int32(100) { // past the end of the ring
		q.Push(i, 3, 0)
		if i < 40 {
			q.Pop(0)
		}
	}
	for q.Present() != 0 {
		next := q.AheadOf(3, 16)
		if len(next) == 0 || len(next) > 16 {
			t.Fatalf("an event is ready, ahead are %v", next)
		}
		for _, want := range next {
			if got, _ := q.Pop(0); got != want {
				t.Fatalf("served %d, ahead was %d", got, want)
			}
		}
	}
	if len(q.AheadOf(3, 1)) != 0 {
		t.Error("an empty queue reports events ahead")
	}
}
