// SPDX-License-Identifier: Apache-2.0

//go:build peers

package model_test

import "testing"

//promise:clears none kill cut
func TestTheModelOfAPairHolds(t *testing.T) {
	holds(t, "Pair", "pair-crash", "pair-cut", "pair-storm", "pair-live")
}

// Without the mend of an old fault the model finds that fault again.
func TestTheModelOfAPairFindsFaults(t *testing.T) {
	finds(t, "Pair",
		mutant{"clears are dropped in a storm", "pair-storm", "Keep = TRUE", "Keep = FALSE", "EachRaiseHasItsClear"},
		mutant{"what leaves the sums clears", "pair-storm", "Evidence = TRUE", "Evidence = FALSE", "NoClearWithoutEvidence"},
		mutant{"an index is kept that the other gave again", "pair-crash", "Yield = TRUE", "Yield = FALSE", "OneAlarmAnIndex"})
}
