// SPDX-License-Identifier: Apache-2.0

package seeds

import (
	"slices"
	"testing"
)

func TestWhichSeedsATestRunsWith(t *testing.T) {
	for name, c := range map[string]struct {
		long, one string
		want      []uint64
	}{
		"few and chosen ones by default": {"", "", []uint64{0, 1, 7, 9}},
		"all for long":                   {"1", "", []uint64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}},
		"one to see a failure again":     {"1", "123", []uint64{123}},
	} {
		t.Setenv(Long, c.long)
		t.Setenv(One, c.one)
		seeds := Of(2, 10, 7, 9)
		if got := slices.Collect(seeds); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v; want %v", name, got, c.want)
		}
		for seed := range seeds {
			if seed != c.want[0] {
				t.Errorf("%s: %d after the end", name, seed)
			}
			break
		}
	}
}
