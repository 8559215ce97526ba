// SPDX-License-Identifier: Apache-2.0

package ready

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func quoted(t testing.TB, q Quotes) Discipline {
	t.Helper()
	d, err := Quoted(q)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// alike returns quotes with the same number for every priority.
func alike(n uint32) Quotes { return Quotes{n, n, n, n, n, n, n, n} }

// An example of a round robin over priorities: quote 4 for all, and e31 and e32 of p7 arrive
// after e15 was served.
func TestQuotedRoundRobinCycleTable(t *testing.T) {
	q := NewQueue(quoted(t, alike(4)))
	push := func(p Priority, from, to int32) {
		for e := from; e <= to; e++ {
			q.Push(e, p, 0)
		}
	}
	push(7, 1, 6)
	push(6, 7, 8)
	push(5, 9, 11)
	push(4, 12, 18)
	push(3, 19, 19)
	push(2, 20, 24)
	push(1, 25, 30)
	want := []int32{
		1, 2, 3, 4, 7, 8, 9, 10, 11, 12, 13, 14, 15, 19, 20, 21, 22, 23, 25, 26, 27, 28, // cycle 1
		5, 6, 31, 32, 16, 17, 18, 24, 29, 30, // cycle 2
	}
	var got []int32
	for e, ok := q.Pop(0); ok; e, ok = q.Pop(0) {
		got = append(got, e)
		if e == 15 {
			push(7, 31, 32)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

// gateRow is a row of the gate table: first an event of the given priority is
// served while the queue is empty otherwise, then a gate runs while others are
// queued.
type gateRow struct {
	alone string // "" for none
	gate  Priority
	queue []string // pushed while the gate runs: digits are priorities
	order string
}

var gateTable = []gateRow{
	{"", 7, []string{"77777", "55", "3333"}, "g 77 55 333 777 3"},
	{"", 3, []string{"777", "333", "1"}, "g 3 1 777 33"},
	{"3", 3, []string{"77", "33", "0"}, "3 g 33 0 77"},
	{"3", 7, []string{"777", "3"}, "3 g 77 3 7"},
}

// With quote 3. The turn, and what is left of it, continue from row to row.
func TestQuotedRoundRobinGateTable(t *testing.T) {
	q := NewQueue(quoted(t, alike(3)))
	const gate = 'g'
	for i, row := range gateTable {
		var got strings.Builder
		serve := func() int32 {
			e, ok := q.Pop(0)
			if ok {
				got.WriteRune(e)
			}
			return e
		}
		push := func(digits string) {
			for _, d := range digits {
				q.Push(d, Priority(d-'0'), 0)
			}
		}
		push(row.alone)
		for q.Present() != 0 {
			serve()
		}
		q.Push(gate, row.gate, 0)
		if e := serve(); e != gate {
			t.Fatalf("row %d: %c was served before the gate", i+1, e)
		}
		for _, digits := range row.queue {
			push(digits)
		}
		for q.Present() != 0 {
			serve()
		}
		if want := strings.ReplaceAll(row.order, " ", ""); got.String() != want {
			t.Errorf("row %d: order %s, want %s", i+1, got.String(), want)
		}
	}
}

func TestStrictServesTheHighestFirstAndInOrderInsideOne(t *testing.T) {
	q := NewQueue(Strict())
	for i, p := range []Priority{0, 3, 7, 3, 0, 7} {
		q.Push(int32(i), p, 0)
	}
	var got []int32
	for e, ok := q.Pop(0); ok; e, ok = q.Pop(0) {
		got = append(got, e)
		if e == 1 {
			q.Push(6, 5, 0) // arrives while p3 is served: served before the rest of p3
		}
	}
	if diff := cmp.Diff([]int32{2, 5, 1, 6, 3, 0, 4}, got); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

func TestFIFOIgnoresPriorities(t *testing.T) {
	q := NewQueue(FIFO())
	for i, p := range []Priority{0, 3, 7, 3} {
		q.Push(int32(i), p, 0)
	}
	for want := range int32(4) {
		if e, ok := q.Pop(0); e != want || !ok {
			t.Errorf("served %d, %v, want %d", e, ok, want)
		}
	}
	if got := q.Stats().Priorities[0].Served; got != 4 {
		t.Errorf("%d counted as p0, want all 4", got)
	}
}

func TestAQuoteOfZeroIsRefused(t *testing.T) {
	for p := range Priorities {
		q := alike(2)
		q[p] = 0
		if _, err := Quoted(q); !errors.Is(err, ErrQuote) || !strings.Contains(err.Error(), Priority(p).String()) {
			t.Errorf("quote 0 for p%d: %v", p, err)
		}
	}
}

func TestAPriorityAboveTheHighestPanics(t *testing.T) {
	for _, d := range []Discipline{FIFO(), Strict()} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%v: p8 was accepted", d.Policy())
				}
			}()
			NewQueue(d).Push(1, 8, 0)
		}()
	}
}

// slowQueue implements the disciplines literally: it walks from list to list.
type slowQueue struct {
	policy  Policy
	quotes  Quotes
	lists   [Priorities][]int32
	current int
	used    uint32
}

func (q *slowQueue) pop() (int32, bool) {
	n := 0
	for _, l := range q.lists {
		n += len(l)
	}
	if n == 0 {
		return 0, false
	}
	switch q.policy {
	case PolicyFIFO, PolicyStrict:
		q.current = 7
		for len(q.lists[q.current]) == 0 {
			q.current--
		}
	case PolicyQuoted:
		for len(q.lists[q.current]) == 0 {
			q.lower()
		}
	}
	l := &q.lists[q.current]
	e := (*l)[0]
	*l = (*l)[1:]
	if q.used++; q.policy == PolicyQuoted && q.used == q.quotes[q.current] {
		q.lower()
	}
	return e, true
}

func (q *slowQueue) lower() {
	q.used = 0
	if q.current--; q.current < 0 {
		q.current = 7
	}
}

// disciplines returns the disciplines for random tests.
func disciplines(t testing.TB) []Discipline {
	return []Discipline{FIFO(), Strict(), quoted(t, alike(1)), quoted(t, alike(3)), quoted(t, Quotes{1, 2, 3, 4, 5, 6, 7, 8})}
}

func TestQueueEqualsTheSlowQueue(t *testing.T) {
	for i, d := range disciplines(t) {
		t.Run(fmt.Sprintf("%d_%v", i, d.Policy()), func(t *testing.T) {
			for seed := range uint64(20) {
				rnd := rand.New(rand.NewPCG(seed, 7))
				fast, slow := NewQueue(d), &slowQueue{policy: d.policy, quotes: d.quotes, current: 7}
				bias := 1 + rnd.IntN(9)
				for n := range int32(2000) {
					if rnd.IntN(10) < bias {
						p := Priority(rnd.IntN(Priorities))
						fast.Push(n, p, int64(n))
						if d.policy == PolicyFIFO {
							p = 0
						}
						slow.lists[p] = append(slow.lists[p], n)
						continue
					}
					want, wantOK := slow.pop()
					if got, ok := fast.Pop(int64(n)); got != want || ok != wantOK {
						t.Fatalf("seed %d, step %d: served %d %v, want %d %v", seed, n, got, ok, want, wantOK)
					}
				}
			}
		})
	}
}

func TestStatsOfAQueue(t *testing.T) {
	q := NewQueue(quoted(t, Quotes{1, 1, 1, 1, 1, 1, 1, 2}))
	q.Push(1, 7, 100)
	q.Push(2, 7, 110)
	q.Push(3, 7, 120)
	q.Push(4, 0, 130)
	pop := func(now int64) { q.Pop(now) }
	check := func(p Priority, want PriorityStats) {
		t.Helper()
		if diff := cmp.Diff(want, q.Stats().Priorities[p]); diff != "" {
			t.Errorf("%v (-want +got):\n%s", p, diff)
		}
	}
	check(7, PriorityStats{Length: 3, OldestSince: 100, UnservedSince: 100})
	check(0, PriorityStats{Length: 1, OldestSince: 130, UnservedSince: 130})
	pop(200)
	check(7, PriorityStats{Length: 2, OldestSince: 110, UnservedSince: 200, Served: 1})
	pop(210) // uses up the quote of p7
	check(7, PriorityStats{Length: 1, OldestSince: 120, UnservedSince: 210, Served: 2, QuoteSwitches: 1})
	pop(220) // p0
	check(0, PriorityStats{Served: 1, QuoteSwitches: 1})
	pop(230)
	check(7, PriorityStats{Served: 3, QuoteSwitches: 1})
	q.Push(5, 7, 300)
	check(7, PriorityStats{Length: 1, OldestSince: 300, UnservedSince: 300, Served: 3, QuoteSwitches: 1})
}

// OldestSince is that of the head, whether several events share a time or not.
// The queue keeps room for only few more times than it ever had instances.
func TestOldestSinceIsThatOfTheHead(t *testing.T) {
	for seed := range uint64(50) {
		rnd := rand.New(rand.NewPCG(seed, 4))
		q := NewQueue(FIFO())
		var times []int64
		now, longest := int64(0), 1
		bias := 4 + rnd.IntN(3)
		for step := range 5000 {
			now += int64(rnd.IntN(10) / (9 - int(seed%9)))
			if rnd.IntN(10) < bias {
				q.Push(1, 0, now)
				times = append(times, now)
			} else if _, ok := q.Pop(now); ok {
				times = times[1:]
			}
			longest = max(longest, len(times))
			want := PriorityStats{}
			if len(times) > 0 {
				want.OldestSince = times[0]
			}
			if got := q.Stats().Priorities[0]; got.OldestSince != want.OldestSince || got.Length != len(times) {
				t.Fatalf("seed %d, step %d: %+v, want %d of them since %d", seed, step, got, len(times), want.OldestSince)
			}
			if since, ok := q.SinceOf(0); since != want.OldestSince || ok != (len(times) > 0) {
				t.Fatalf("seed %d, step %d: ready since %d %v", seed, step, since, ok)
			}
		}
		if n := cap(q.lists[0].times); n > 4*longest+16 {
			t.Errorf("seed %d: room for %d times, and at most %d instances were ready", seed, n, longest)
		}
	}
}

func TestNamesOfPoliciesAndPriorities(t *testing.T) {
	got := fmt.Sprint(PolicyFIFO, PolicyStrict, PolicyQuoted, PolicyDedicated, Policy(9), Priority(0), Highest)
	if want := "fifo strict quoted dedicated policy 9 p0 p7"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestAWarmQueueDoesNotAllocate(t *testing.T) {
	q := NewQueue(Strict())
	turn := func() {
		for n := range int32(100) {
			q.Push(n, Priority(n%Priorities), 1)
		}
		for q.Present() != 0 {
			q.Pop(2)
		}
	}
	turn()
	if n := testing.AllocsPerRun(10, turn); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
