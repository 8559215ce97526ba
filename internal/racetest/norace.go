// SPDX-License-Identifier: Apache-2.0

//go:build !race

// Package racetest reports whether the race detector is on. A test that sends or
// computes less with it runs once more without it in make test RACE=1, as it has
// UnderRace in it.
package racetest

// UnderRace reports whether the race detector is on.
const UnderRace = false
