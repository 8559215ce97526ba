// SPDX-License-Identifier: Apache-2.0

package alarm

import "unicode/utf8"

// Match reports whether a pattern matches a whole name. "*" matches any number of
// characters, "?" matches one. The empty pattern matches everything.
//
// After a mismatch only the last "*" takes one more character, so the time is at most
// the product of the lengths.
func Match(pattern, name string) bool {
	if pattern == "" {
		return true
	}
	p, n := 0, 0
	star, took := -1, 0
	for n < len(name) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, took = p, n
			p++
		case p < len(pattern) && pattern[p] == '?':
			_, size := utf8.DecodeRuneInString(name[n:])
			p, n = p+1, n+size
		case p < len(pattern) && pattern[p] == name[n]:
			p, n = p+1, n+1
		case star >= 0:
			_, size := utf8.DecodeRuneInString(name[took:])
			took += size
			p, n = star+1, took
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}
