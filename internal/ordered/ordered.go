// SPDX-License-Identifier: Apache-2.0

// Package ordered sorts rows of wide types that are sorted rarely. The compiler makes a copy of
// [slices.SortFunc] for each type, of 20 to 50 kB of the program with what describes it; here it
// makes one call.
package ordered

import "sort"

// By sorts rows by a comparison, which is less than 0 if a comes before b. Rows that compare as
// equal keep their order.
func By[R any](rows []R, compare func(a, b *R) int) {
	sort.SliceStable(rows, func(i, j int) bool { return compare(&rows[i], &rows[j]) < 0 })
}
