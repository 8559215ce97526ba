// SPDX-License-Identifier: Apache-2.0

package split

import (
	"errors"
	"math"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

func TestCrossingsAreReadAsTheyWereWritten(t *testing.T) {
	for _, want := range [][]Crossing{
		nil,
		{{Instance: 3, Place: 2, Tokens: 1}},
		{{Instance: math.MaxInt, Place: math.MaxInt32, Tokens: math.MaxUint32, Data: []byte("data")}, {Tokens: 1, Data: []byte{}}, {Tokens: 2}},
	} {
		got, rest, err := ReadCrossings(append(AppendCrossings([]byte("before"), want), "after"...)[6:], nil)
		if err != nil || string(rest) != "after" {
			t.Fatalf("%v, %q left", err, rest)
		}
		if d := gocmp.Diff(want, got); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
	}
}

func TestInvalidCrossingsAreRefused(t *testing.T) {
	for name, b := range map[string][]byte{
		"nothing":               {},
		"more than bytes":       {100},
		"half of one":           {1, 1, 1},
		"no tokens":             {1, 1, 1, 0, 0},
		"too many tokens":       {1, 1, 1, 0xff, 0xff, 0xff, 0xff, 0x7f, 0},
		"no such place":         {1, 1, 0xff, 0xff, 0xff, 0xff, 0x7f, 1, 0},
		"data that end":         {1, 1, 1, 1, 9, 1},
		"data beyond the bound": append([]byte{1, 1, 1, 1, 0x82, 0x80, 0x40}, make([]byte, MaxData+1)...),
	} {
		if _, _, err := ReadCrossings(b, nil); !errors.Is(err, ErrCrossings) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzReadCrossings(f *testing.F) {
	f.Add(AppendCrossings(nil, []Crossing{{Instance: 1, Place: 2, Tokens: 3, Data: []byte("x")}, {Tokens: 1}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		crossings, rest, err := ReadCrossings(b, nil)
		if err != nil {
			return
		}
		again, _, err := ReadCrossings(append(AppendCrossings(nil, crossings), rest...), nil)
		if d := gocmp.Diff(crossings, again); err != nil || d != "" {
			t.Errorf("%v (-read +written and read):\n%s", err, d)
		}
	})
}

func TestPartitionsAreFixedBalancedAndComplete(t *testing.T) {
	var first []int
	for i := range 10 {
		first = append(first, Partition(i, 4))
	}
	if want := []int{3, 2, 2, 0, 1, 1, 2, 1, 2, 2}; !slices.Equal(first, want) {
		t.Errorf("the first instances are in %v, want %v: what is stored depends on it", first, want)
	}
	const instances = 200_000
	for _, of := range []int{1, 2, 3, 8, 17} {
		seen := make([]bool, instances)
		for part := range of {
			numbers := Numbers(instances, part, of)
			if share := float64(len(numbers)) * float64(of) / instances; share < 0.96 || share > 1.04 {
				t.Errorf("partition %d of %d has %.3f of its share", part, of, share)
			}
			if !slices.IsSorted(numbers) {
				t.Errorf("partition %d of %d does not rise", part, of)
			}
			for _, n := range numbers {
				if seen[n] {
					t.Fatalf("instance %d is in two partitions of %d", n, of)
				}
				seen[n] = true
			}
		}
		if slices.Contains(seen, false) {
			t.Errorf("some instance is in none of %d partitions", of)
		}
	}
}
