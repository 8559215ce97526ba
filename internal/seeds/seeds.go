// SPDX-License-Identifier: Apache-2.0

// Package seeds says with which seeds a random test runs: with few by default,
// with all in make long, and with one to see a failure again.
package seeds

import (
	"fmt"
	"iter"
	"os"
	"strconv"
)

// Variables of the environment.
const (
	Long = "PNAGENT_LONG" // not empty: all seeds
	One  = "PNAGENT_SEED" // a number: this seed
)

// Of returns the seeds of a random test: the numbers below few and also others,
// with which the test reaches what it reaches with the numbers below all. The
// command choose finds them.
func Of(few, all uint64, also ...uint64) iter.Seq[uint64] {
	one, long := os.Getenv(One), os.Getenv(Long) != ""
	return func(yield func(uint64) bool) {
		if one != "" {
			seed, err := strconv.ParseUint(one, 10, 64)
			if err != nil {
				panic(fmt.Sprintf("%s is %q; expected a number", One, one))
			}
			yield(seed)
			return
		}
		if long {
			few, also = all, nil
		}
		for seed := range few {
			if !yield(seed) {
				return
			}
		}
		for _, seed := range also {
			if !yield(seed) {
				return
			}
		}
	}
}
