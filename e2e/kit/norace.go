// SPDX-License-Identifier: Apache-2.0

//go:build !race && !raced

package kit

// UnderRace reports whether the race detector watches the programs.
const UnderRace = false
