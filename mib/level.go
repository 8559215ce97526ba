// SPDX-License-Identifier: Apache-2.0

package mib

// Level is how many objects each place and transition has in the module of its net.
type Level string

// The levels, by the number of objects. PETRINET-MIB has all of them in any case.
const (
	LevelAll Level = "all"
	LevelFew Level = "few"
	LevelOne Level = "one"
)

// validLevel reports whether a locked level is valid.
func validLevel(s string) bool {
	return s == string(LevelAll) || s == string(LevelFew) || s == string(LevelOne)
}
