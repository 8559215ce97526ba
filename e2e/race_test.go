// SPDX-License-Identifier: Apache-2.0

//go:build race

package e2e

// underRace tells whether the race detector watches.
const underRace = true
