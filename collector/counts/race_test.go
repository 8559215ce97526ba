// SPDX-License-Identifier: Apache-2.0

//go:build race

package counts

// underRace reports whether the race detector is on.
const underRace = true
