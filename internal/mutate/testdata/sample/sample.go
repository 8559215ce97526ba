// SPDX-License-Identifier: Apache-2.0

// Package sample has tests that notice some errors and miss others.
package sample

import "log/slog"

// Tested is held by its test on both sides of 10.
func Tested(n int) bool {
	return n < 10
}

// Missed counts; no test sees that it returns what it counted.
func Missed(n int) int {
	sum := 0
	for range n {
		sum += 2
	}
	slog.Warn("counted", "n", 1)
	return sum
}

// Endless ends only by its break.
func Endless() {
	for {
		break
	}
}
