// SPDX-License-Identifier: Apache-2.0

package region

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

func partNames(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("p%d", i)
	}
	return names
}

func memberNames(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("host-%d", i)
	}
	return names
}

func everywhere(members []string) func(string) []string {
	return func(string) []string { return members }
}

func TestEveryPartHasEveryMemberOnceInItsOrder(t *testing.T) {
	members := memberNames(5)
	for part, order := range assign(partNames(64), everywhere(members)) {
		sorted := slices.Sorted(slices.Values(order))
		if !slices.Equal(sorted, members) {
			t.Errorf("part %q: %q; want all of %q", part, order, members)
		}
	}
}

func TestNoMemberOwnsMoreThanOnePartAboveItsShare(t *testing.T) {
	for members := 1; members <= 12; members++ {
		for _, parts := range []int{1, 7, 16, 64, 100} {
			load := map[string]int{}
			for _, order := range assign(partNames(parts), everywhere(memberNames(members))) {
				load[order[0]]++
			}
			share := (parts + members - 1) / members
			for m, n := range load {
				if n > share {
					t.Errorf("%d parts, %d members: %q owns %d; want at most %d", parts, members, m, n, share)
				}
			}
		}
	}
}

func TestTheOrderIsTheSameForAllWithTheSameMembers(t *testing.T) {
	members := memberNames(7)
	want := assign(partNames(32), everywhere(members))
	r := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		shuffled := slices.Clone(members)
		r.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		for part, order := range assign(partNames(32), everywhere(shuffled)) {
			if !slices.Equal(order, want[part]) {
				t.Fatalf("part %q: %q; want %q", part, order, want[part])
			}
		}
	}
}

// When a fourth member joins three, about a quarter of 64 parts have to move.
// The bound on a member's share moves some more.
func TestFewPartsMoveWhenAMemberJoins(t *testing.T) {
	three, four := assign(partNames(64), everywhere(memberNames(3))), assign(partNames(64), everywhere(memberNames(4)))
	moved := 0
	for part := range three {
		if three[part][0] != four[part][0] {
			moved++
		}
	}
	if moved < 16 || moved > 32 {
		t.Errorf("%d of 64 parts move; want 16 to 32", moved)
	}
}

func TestAPartIsGivenOnlyToMembersThatMayPlayIt(t *testing.T) {
	got := assign([]string{"a", "b"}, func(part string) []string {
		if part == "a" {
			return []string{"x"}
		}
		return nil
	})
	if !slices.Equal(got["a"], []string{"x"}) || len(got["b"]) != 0 {
		t.Errorf("%v; want a: [x], b: no member", got)
	}
}
