// SPDX-License-Identifier: Apache-2.0

//go:build race

package pnml

// underRace reports whether the race detector watches. It makes files of tens of
// megabytes take a minute and finds nothing in what one goroutine reads; make test
// reads them.
const underRace = true
