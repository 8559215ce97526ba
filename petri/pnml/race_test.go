// SPDX-License-Identifier: Apache-2.0

//go:build race

package pnml

// underRace reports whether the race detector is on. With it, files of tens of
// megabytes take a minute, and it finds nothing in one goroutine; make test reads
// them without it.
const underRace = true
