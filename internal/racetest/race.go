// SPDX-License-Identifier: Apache-2.0

//go:build race

package racetest

// UnderRace is true: the race detector is on.
const UnderRace = true
