// SPDX-License-Identifier: Apache-2.0

package plain

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/engine/ready"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/petritest"
	"github.com/pnagent/pnagent/stats"
)

func quoted(t testing.TB, quote uint32) *ready.Discipline {
	t.Helper()
	var q ready.Quotes
	for p := range q {
		q[p] = quote
	}
	d, err := ready.Quoted(q)
	if err != nil {
		t.Fatal(err)
	}
	return &d
}

func strict() *ready.Discipline { d := ready.Strict(); return &d }
func fifo() *ready.Discipline   { d := ready.FIFO(); return &d }

// waitingShard returns a shard with one instance for each given priority. They
// are at rest without a token, fire once for each injected token, and were not
// played yet.
func waitingShard(t testing.TB, d *ready.Discipline, first int, priorities ...ready.Priority) *Shard {
	t.Helper()
	s := newShard(t, Config{Tables: petritest.Compile(t, chain(petri.Normal, 1, 0)), First: first, Stride: 1, Count: len(priorities), Log: true,
		Dispatch: d, Priority: func(number int) ready.Priority { return priorities[number-first] }})
	s.Step(1, now0)
	s.dispatch.queue = ready.NewQueue(*d)
	return s
}

// inject makes instances ready, one after another.
func inject(t testing.TB, s *Shard, now *int64, numbers ...int) {
	t.Helper()
	for _, number := range numbers {
		i, err := s.Index(number)
		if err != nil {
			t.Fatal(err)
		}
		*now++
		if err := s.Inject(i, 0, 1, *now); err != nil {
			t.Fatal(err)
		}
	}
}

// played returns the numbers of the instances that fired since its last call,
// in order.
func played(t testing.TB, s *Shard) (numbers []int) {
	t.Helper()
	log := s.Ready().Log
	next := func() uint64 {
		v, n := binary.Uvarint(log)
		log = log[n:]
		return v
	}
	for len(log) > 0 {
		head, what := next(), next()
		switch {
		case head&1 == opInject || what == uint64(len(s.rules)+opFail):
			next()
		case what == uint64(len(s.rules)+opRun):
			for next() > 0 {
				numbers = append(numbers, int(head>>1))
			}
		case what < uint64(len(s.rules)):
			numbers = append(numbers, int(head>>1))
		}
	}
	return numbers
}

func upTo(from, to int) (out []int) {
	for i := from; i <= to; i++ {
		out = append(out, i)
	}
	return out
}

func TestStrictPlaysInstancesOfHighPriorityFirst(t *testing.T) {
	s := waitingShard(t, strict(), 0, 0, 3, 7, 3, 0, 7, 5)
	now := now0
	inject(t, s, &now, 0, 1, 2, 3, 4, 5)
	s.Step(3, now)
	inject(t, s, &now, 6) // arrives while p3 is played: played before the rest of p3
	s.Step(100, now)
	if d := difference([]int{2, 5, 1, 6, 3, 0, 4}, played(t, s)); d != "" {
		t.Error(d)
	}
}

// cycles returns an example of a round robin over priorities: the quote is 4,
// and e31 and e32 of p7 arrive after e15 was played. Instance 0 is in no event.
func cycles() (priorities []ready.Priority, order []int) {
	priorities = make([]ready.Priority, 33)
	for p, span := range map[ready.Priority][2]int{7: {1, 6}, 6: {7, 8}, 5: {9, 11}, 4: {12, 18}, 3: {19, 19}, 2: {20, 24}, 1: {25, 30}} {
		for e := span[0]; e <= span[1]; e++ {
			priorities[e] = p
		}
	}
	priorities[31], priorities[32] = 7, 7
	return priorities, []int{
		1, 2, 3, 4, 7, 8, 9, 10, 11, 12, 13, 14, 15, 19, 20, 21, 22, 23, 25, 26, 27, 28, // cycle 1
		5, 6, 31, 32, 16, 17, 18, 24, 29, 30, // cycle 2
	}
}

func TestQuotedPlaysTheCycleTable(t *testing.T) {
	priorities, want := cycles()
	s := waitingShard(t, quoted(t, 4), 0, priorities...)
	now := now0
	inject(t, s, &now, upTo(1, 30)...)
	s.Step(13, now) // up to e15
	inject(t, s, &now, 31, 32)
	s.Step(100, now)
	if d := difference(want, played(t, s)); d != "" {
		t.Error(d)
	}
}

// With quote 3. The turn, and what is left of it, continue from row to row.
func TestQuotedPlaysTheGateTable(t *testing.T) {
	const each = 6 // instances of a priority; the last one is the gate
	var priorities []ready.Priority
	for p := range ready.Priorities {
		for range each {
			priorities = append(priorities, ready.Priority(p))
		}
	}
	s := waitingShard(t, quoted(t, 3), 0, priorities...)
	now := now0
	queue := func(digits string) {
		used := map[rune]int{}
		for _, d := range digits {
			inject(t, s, &now, int(d-'0')*each+used[d])
			used[d]++
		}
	}
	for _, row := range []struct {
		alone        string
		gate         int
		queued, want string
	}{
		{"", 7, "77777553333", "g 77 55 333 777 3"},
		{"", 3, "7773331", "g 3 1 777 33"},
		{"3", 3, "77330", "3 g 33 0 77"},
		{"3", 7, "7773", "3 g 77 3 7"},
	} {
		queue(row.alone)
		s.Step(100, now)
		inject(t, s, &now, row.gate*each+each-1)
		s.Step(1, now) // the gate runs
		queue(row.queued)
		s.Step(100, now)
		var got strings.Builder
		for _, number := range played(t, s) {
			if number%each == each-1 {
				got.WriteByte('g')
				continue
			}
			fmt.Fprint(&got, number/each)
		}
		if want := strings.ReplaceAll(row.want, " ", ""); got.String() != want {
			t.Errorf("gate p%d, queued %s: order %s, want %s", row.gate, row.queued, got.String(), want)
		}
	}
}

// playOne serves one event of several shards in turn, as their owner does.
func playOne(turn *ready.Turn, shards []*Shard, now int64) bool {
	present := uint8(0)
	for _, s := range shards {
		s.Expire(now)
		present |= s.Present()
	}
	p, ok := turn.Next(present)
	if !ok {
		return false
	}
	var next *Shard
	var oldest int64
	for _, s := range shards {
		if since, has := s.ReadySince(p); has && (next == nil || since < oldest) {
			next, oldest = s, since
		}
	}
	next.StepOne(p, 1000, now)
	_ = turn.Served(p)
	return true
}

func TestATurnOverSeveralShardsPlaysTheCycleTable(t *testing.T) {
	priorities, want := cycles()
	d := quoted(t, 4)
	shards := []*Shard{waitingShard(t, d, 0, priorities[:10]...), waitingShard(t, d, 10, priorities[10:21]...), waitingShard(t, d, 21, priorities[21:]...)}
	arrive := func(now *int64, numbers ...int) {
		for _, n := range numbers {
			for _, s := range shards {
				if _, err := s.Index(n); err == nil {
					inject(t, s, now, n)
				}
			}
		}
	}
	now := now0
	arrive(&now, upTo(1, 30)...)
	turn := ready.NewTurn(*d)
	var got []int
	for playOne(turn, shards, now) {
		for _, s := range shards {
			got = append(got, played(t, s)...)
		}
		if got[len(got)-1] == 15 {
			arrive(&now, 31, 32)
		}
	}
	if d := difference(want, got); d != "" {
		t.Error(d)
	}
}

// The end of a delay makes an instance ready; it does not overtake others.
func TestAnInstanceWhoseDelayIsOverWaitsForItsTurn(t *testing.T) {
	s := newShard(t, Config{Tables: petritest.Compile(t, chain(petri.Normal, 1, 1)), Modes: []Mode{{Kind: Delayed, Delay: Delay{A: 1e6}}}, Stride: 1, Count: 4, Log: true,
		Dispatch: strict(), Priority: func(number int) ready.Priority { return ready.Priority(number % 2) }})
	s.Step(100, now0)
	if s.Present() != 0 {
		t.Error("an instance is ready before its time")
	}
	s.Expire(now0 + 3e6)
	if since, ok := s.ReadySince(1); since != now0+1e6 || !ok || s.Present() != 3 {
		t.Errorf("ready since %d %v, present %b", since-now0, ok, s.Present())
	}
	if n := s.Step(100, now0+3e6); n != 4 {
		t.Errorf("%d firings", n)
	}
	if d := difference([]int{1, 3, 0, 2}, played(t, s)); d != "" {
		t.Error(d)
	}
}

// At rest, instances are the same for every discipline.
func TestADisciplineChangesNoMarkingAndNoRowAtRest(t *testing.T) {
	const instances = 6
	r := rand.New(rand.NewPCG(51, 1))
	for range 100 {
		tables := petritest.Compile(t, petritest.RandomNet(r))
		cfg := Config{Tables: tables, Modes: restful(r, tables), Stride: 1, Count: instances, Seed: r.Uint64(), Shuffle: r.IntN(2) == 0,
			Priority: func(number int) ready.Priority { return ready.Priority(number * 5 % 8) }}
		shards := []*Shard{newShard(t, cfg)}
		for _, d := range []*ready.Discipline{fifo(), strict(), quoted(t, 2)} {
			cfg.Dispatch = d
			shards = append(shards, newShard(t, cfg))
		}
		byOne := []*Shard{newShard(t, cfg), nil}
		byOne[1], cfg.Numbers, cfg.Dispatch = newShard(t, cfg), []int32{1, 3, 4}, nil // without a discipline, one after the other
		byOne[1] = newShard(t, cfg)
		cfg.Numbers, cfg.Dispatch = []int32{0, 2, 5}, strict()
		byOne[0] = newShard(t, cfg)
		turn, now := ready.NewTurn(ready.Strict()), now0
		for k := range 40 {
			now += r.Int64N(1e6)
			act(t, r, r.IntN(instances), append(shards, byOne...), now)
			for _, s := range shards {
				for budget := 1 + r.IntN(20); s.Step(budget, now) == budget; {
				}
			}
			for playOne(turn, byOne, now) {
			}
			if k%10 < 9 {
				continue
			}
			want := rowsOf(shards[0], now)
			for k, s := range shards[1:] {
				if d := difference(want, rowsOf(s, now)); d != "" {
					t.Fatalf("discipline %d (-plain +dispatched):\n%s", k, d)
				}
			}
			sum := rowsOf(byOne[0], now)
			byOne[1].Look(now, name, sum)
			if d := difference(want, sum); d != "" {
				t.Fatalf("two shards, event by event (-plain +dispatched):\n%s", d)
			}
		}
	}
}

func TestQueueStatsCountVisits(t *testing.T) {
	s := waitingShard(t, quoted(t, 2), 0, 7, 7, 7, 2)
	now := now0
	inject(t, s, &now, 0, 1, 2, 3)
	s.Step(2, now+5)
	got, ok := s.Queue()
	want := ready.Stats{Policy: ready.PolicyQuoted}
	want.Priorities[7] = ready.PriorityStats{Length: 1, OldestSince: now0 + 3, UnservedSince: now + 5, Served: 2, QuoteSwitches: 1}
	want.Priorities[2] = ready.PriorityStats{Length: 1, OldestSince: now0 + 4, UnservedSince: now0 + 4}
	if d := difference(want, got); d != "" || !ok {
		t.Errorf("%v\n%s", ok, d)
	}
	if since, ok := s.ReadySince(2); since != now0+4 || !ok {
		t.Errorf("p2 is ready since %d %v", since-now0, ok)
	}
}

func TestWithoutADisciplineEverythingIsP0(t *testing.T) {
	s := newShard(t, Config{Tables: petritest.Compile(t, chain(petri.Normal, 1, 1)), Stride: 1, Count: 2, Priority: func(int) ready.Priority { return 9 }})
	if _, ok := s.Queue(); ok {
		t.Error("a ring has statistics")
	}
	if since, ok := s.ReadySince(0); since != 0 || !ok || s.Present() != 1 {
		t.Errorf("ready since %d %v, present %b", since, ok, s.Present())
	}
	if n := s.StepOne(0, 10, now0); n != 1 || s.StepOne(1, 10, now0) != 0 || s.StepOne(0, 0, now0) != 0 {
		t.Errorf("%d firings", n)
	}
	s.Step(10, now0)
	if _, ok := s.ReadySince(0); ok || s.Present() != 0 {
		t.Error("an instance at rest is ready")
	}
	if _, ok := s.ReadySince(0); ok || s.StepOne(0, 10, now0) != 0 {
		t.Error("an instance at rest is played")
	}
}

func TestNumbersNameTheInstances(t *testing.T) {
	s := newShard(t, Config{Tables: petritest.Compile(t, chain(petri.Normal, 1, 1)), Numbers: []int32{2, 3, 40}})
	for i, number := range []int{2, 3, 40} {
		if got, err := s.Index(number); got != i || err != nil || s.Number(i) != number {
			t.Errorf("instance %d has index %d, %v; the instance with that index is %d", number, got, err, s.Number(i))
		}
	}
	for _, number := range []int{-1, 0, 4, 41, 1 << 40} {
		if _, err := s.Index(number); !errors.Is(err, ErrNoInstance) {
			t.Errorf("instance %d: %v", number, err)
		}
	}
	if s.Count != 3 || s.Step(10, now0) != 3 {
		t.Errorf("%d instances", s.Count)
	}
}

func TestConfigsThatCannotBeAreRefused(t *testing.T) {
	tables := petritest.Compile(t, chain(petri.Normal, 1, 1))
	for want, cfg := range map[string]Config{
		"net \"chain\": instance 3 after 3; expected rising numbers from 0":   {Tables: tables, Numbers: []int32{1, 3, 3}},
		"net \"chain\": instance -1 after -1; expected rising numbers from 0": {Tables: tables, Numbers: []int32{-1}},
		"instance 4 has the priority p8; expected at most p7":                 {Tables: tables, First: 4, Stride: 1, Count: 1, Dispatch: strict(), Priority: func(int) ready.Priority { return 8 }},
	} {
		if _, err := New(cfg, now0); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// A failed instance does not change any more: its delays do not continue.
func TestDelaysOfAFailedInstanceDoNotElapse(t *testing.T) {
	n := &petri.Net{ID: "n",
		Places:      []petri.Place{{ID: "p"}, {ID: "full", Initial: 1<<32 - 1}, {ID: "a", Initial: 1}, {ID: "b"}},
		Transitions: []petri.Transition{{ID: "fails"}, {ID: "late"}},
		Arcs: []petri.Arc{{ID: "1", Source: "p", Target: "fails", Weight: 1}, {ID: "2", Source: "fails", Target: "full", Weight: 1},
			{ID: "3", Source: "a", Target: "late", Weight: 1}, {ID: "4", Source: "late", Target: "b", Weight: 1}}}
	for _, d := range []*ready.Discipline{nil, strict()} {
		s := newShard(t, Config{Tables: petritest.Compile(t, n), Modes: []Mode{{}, {Kind: Delayed, Delay: Delay{A: 1e6}}}, Stride: 1, Count: 1, Dispatch: d})
		s.Step(10, now0)
		if err := s.Inject(0, 0, 1, now0); err != nil {
			t.Fatal(err)
		}
		s.Step(10, now0)
		if n := s.Step(10, now0+5e6); n != 0 {
			t.Errorf("%d firings", n)
		}
		if d := difference(stats.NetRow{Created: 1, Failed: 1}, rowsOf(s, now0).Net); d != "" {
			t.Error(d)
		}
	}
}
