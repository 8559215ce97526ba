// SPDX-License-Identifier: Apache-2.0

//go:build race || raced

package kit

// UnderRace reports whether the race detector watches the programs. With the tag raced it watches them and not
// the tests, which only start them.
const UnderRace = true
