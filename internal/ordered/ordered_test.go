// SPDX-License-Identifier: Apache-2.0

package ordered_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/pnagent/pnagent/internal/ordered"
)

// row is sorted by its key; at is where it was.
type row struct {
	key, at int
	_       [5]string
}

func TestRowsAreSortedAsTheStandardLibraryDoes(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for n := range 100 {
		rows := make([]row, n)
		for i := range rows {
			rows[i] = row{key: random.IntN(10), at: i}
		}
		want := slices.Clone(rows)
		slices.SortStableFunc(want, func(a, b row) int { return cmp.Compare(a.key, b.key) })
		ordered.By(rows, func(a, b *row) int { return cmp.Compare(a.key, b.key) })
		if !slices.Equal(rows, want) {
			t.Errorf("%d rows: %v; want %v", n, rows, want)
		}
	}
}
