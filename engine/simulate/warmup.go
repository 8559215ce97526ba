// SPDX-License-Identifier: Apache-2.0

package simulate

// truncation returns how many of the first values of a series to leave out, by the rule MSER of
// White (Simulation 69:6, 1997): those without which the mean of the others is known best. At
// most half of them are left out; settled is false if it would be as many.
func truncation(series []float64) (n int, settled bool) {
	best, half := 0.0, len(series)/2
	for d := range half + 1 {
		rest := series[d:]
		var m moments
		for _, v := range rest {
			m.add(v)
		}
		z := m.m2 / float64(len(rest)) / float64(len(rest))
		if d == 0 || z < best {
			n, best = d, z
		}
	}
	return n, n < half
}
