// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"cmp"
	"errors"
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
