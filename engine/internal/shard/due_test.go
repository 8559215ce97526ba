// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"cmp"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Entries that are planned, moved and dropped are due in the order of time, and
// entries of the same time in the order of their instances, and those of one instance
// in the order of Before. The entry id is of the instance id%3.
func TestDueIsInTheOrderOfTime(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		d := &Due{Before: func(a, b int32) bool { return a > b }}
		want := map[int32]int64{}
		for range 300 {
			switch id := r.Int32N(30); r.IntN(5) {
			case 0:
				d.Drop(id)
				delete(want, id)
			case 1:
				now := r.Int64N(20)
				if d.Due(now) {
					delete(want, takeFirst(t, d, want))
				}
			default:
				at := r.Int64N(20)
				d.Plan(id, id%3, at)
				want[id] = at
			}
			for id := range int32(40) {
				if _, planned := want[id]; planned != d.Planned(id) {
					t.Fatalf("seed %d: %d is planned: %v", seed, id, !planned)
				}
			}
		}
		for len(want) > 0 {
			delete(want, takeFirst(t, d, want))
		}
		if _, ok := d.Next(); ok || d.Due(100) {
			t.Fatal("an entry is due that was not planned")
		}
	}
}

// Within returns the first due time, and a time up to which nothing is later than it may be;
// of few entries the latest such time.
func TestNothingIsLaterThanItMayBe(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 2))
		d := &Due{Before: func(a, b int32) bool { return a < b }}
		if _, _, ok := d.Within(nil); ok {
			t.Fatal("something is due that was not planned")
		}
		n := 1 + r.IntN(1000)
		ats, lates := make([]int64, n), make([]int64, n)
		first, want := int64(math.MaxInt64), int64(math.MaxInt64)
		for id := range ats {
			ats[id], lates[id] = r.Int64N(1+r.Int64N(1e6)), r.Int64N(1+r.Int64N(5000))
			d.Plan(int32(id), 0, ats[id])
			first, want = min(first, ats[id]), min(want, ats[id]+lates[id])
		}
		got, latest, ok := d.Within(func(id int32) int64 { return lates[id] })
		if !ok || got != first || latest < first || latest > want || n <= levels && latest != want {
			t.Fatalf("seed %d, %d entries: due from %d on, at most until %d; want %d and %d", seed, n, got, latest, first, want)
		}
		if latest < want { // not all were read; an entry of the last level has all above it before it
			if due := len(slices.DeleteFunc(ats, func(at int64) bool { return at > latest })); due < 8 {
				t.Fatalf("seed %d: %d of %d entries are due within the time", seed, due, n)
			}
		}
	}
}

// Late is 1 % of a delay, at most 5 ms.
func TestLateIsAPartOfTheDelay(t *testing.T) {
	for delay, want := range map[int64]int64{-5: 0, 0: 0, 99: 0, 10_000: 100, 100_000: 1000, 500_000: 5000, 3_600_000_000: 5000} {
		if got := Late(delay); got != want {
			t.Errorf("after a delay of %d µs: %d µs; want %d", delay, got, want)
		}
	}
}

// takeFirst takes the first entry and compares it with the map.
func takeFirst(t *testing.T, d *Due, want map[int32]int64) int32 {
	t.Helper()
	var ids []int32
	for id := range want {
		ids = append(ids, id)
	}
	first := slices.MinFunc(ids, func(a, b int32) int {
		return cmp.Or(cmp.Compare(want[a], want[b]), cmp.Compare(a%3, b%3), cmp.Compare(b, a))
	})
	at, ok := d.Next()
	if got := d.Take(); got != first || at != want[first] || !ok {
		t.Fatalf("%d is due first, at %d; want %d at %d", got, at, first, want[first])
	}
	return first
}

// Number and Index are inverse. A number between those of the instances is not
// found.
func TestNumbersOfMembersAreFound(t *testing.T) {
	for name, m := range map[string]Members{
		"in steps": MembersOf(3, 4, 5, nil), "all": MembersOf(0, 1, 9, nil), "listed": MembersOf(0, 1, 0, []int32{2, 3, 11}), "none": MembersOf(7, 2, 0, nil),
	} {
		if err := m.check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		at := map[int]int{}
		for i := range m.Count {
			at[m.Number(i)] = i
		}
		for number := -2; number < 30; number++ {
			i, err := m.Index(number)
			if want, ok := at[number]; ok != (err == nil) || ok && i != want || !ok && !errors.Is(err, ErrNoInstance) {
				t.Errorf("%s: instance %d has index %d, %v; want %d %v", name, number, i, err, want, ok)
			}
			if from := m.from(number); from < m.Count && m.Number(from) < number || from > 0 && m.Number(from-1) >= number {
				t.Errorf("%s: the first instance from %d on has index %d", name, number, from)
			}
		}
	}
	for _, m := range []Members{MembersOf(-1, 1, 1, nil), MembersOf(0, 0, 1, nil), MembersOf(0, 1, -1, nil), MembersOf(0, 1, 0, []int32{1, 1}), MembersOf(0, 1, 0, []int32{-1})} {
		if err := m.check(); err == nil {
			t.Errorf("%+v is accepted", m)
		}
	}
}
