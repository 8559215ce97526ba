// SPDX-License-Identifier: Apache-2.0

package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestWhichSeedsAreEnough(t *testing.T) {
	reach := func(all ...string) (reached []map[string]bool) {
		for _, blocks := range all {
			found := map[string]bool{}
			for _, b := range blocks {
				found[string(b)] = true
			}
			reached = append(reached, found)
		}
		return reached
	}
	for name, c := range map[string]struct {
		reached []map[string]bool
		times   int
		few     uint64
		prefix  int
		chosen  []uint64
	}{
		"the one that reaches most is first":     {reach("a", "ab", "abc", "d"), 1, 0, 4, []uint64{2, 3}},
		"the first few count":                    {reach("a", "ab", "abc", "d"), 1, 3, 4, []uint64{3}},
		"a block is reached by different seeds":  {reach("a", "a", "a", "b"), 2, 0, 4, []uint64{0, 1, 3}},
		"no block is reached more often than is": {reach("ab", "a"), 3, 0, 2, []uint64{0, 1}},
		"a short run of first seeds":             {reach("ab", "a", "b", "ab"), 1, 0, 1, []uint64{0}},
		"nothing is missing":                     {reach("ab", "a"), 1, 1, 1, nil},
	} {
		enough := demand(c.reached, c.times)
		before := maps.Clone(enough)
		if got := prefix(c.reached, enough); got != c.prefix {
			t.Errorf("%s: the first %d; want %d", name, got, c.prefix)
		}
		if got := choose(c.reached, enough, c.few); !slices.Equal(got, c.chosen) {
			t.Errorf("%s: %v; want %v", name, got, c.chosen)
		}
		if !maps.Equal(enough, before) {
			t.Errorf("%s: the demand was changed: %v", name, enough)
		}
	}
}

func TestTheBlocksOfAProfile(t *testing.T) {
	profile := filepath.Join(t.TempDir(), "profile")
	if err := os.WriteFile(profile, []byte("mode: set\na.go:1.1,2.2 3 1\na.go:3.1,4.2 1 0\nb.go:1.1,2.2 1 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := blocks(profile)
	if want := map[string]bool{"a.go:1.1,2.2 3": true, "b.go:1.1,2.2 1": true}; err != nil || !maps.Equal(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
}
