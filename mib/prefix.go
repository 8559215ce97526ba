// SPDX-License-Identifier: Apache-2.0

package mib

import (
	"fmt"
	"strconv"
	"strings"
)

// Lengths of a net's prefix.
const (
	minPrefix = 2
	maxPrefix = 8
)

// prefixes are the beginnings of the names of nets' modules. None begins another one, so two
// names of two nets differ whatever follows.
type prefixes struct {
	lines map[string]int    // 0 for a new one, or one that no net may have
	heads map[string]string // each beginning of a prefix to that prefix
}

// newPrefixes returns prefixes that only PETRINET-MIB has.
func newPrefixes() *prefixes {
	p := &prefixes{lines: map[string]int{}, heads: map[string]string{}}
	p.take(objectPrefix, 0)
	p.take("petrinet", 0)
	return p
}

func (p *prefixes) take(prefix string, line int) {
	p.lines[prefix] = line
	for n := 1; n <= len(prefix); n++ {
		p.heads[prefix[:n]] = prefix
	}
}

// clash returns the prefix, and its line, that begins the given one or that it begins, or that
// is a keyword.
func (p *prefixes) clash(prefix string) (other string, line int, found bool) {
	for n := minPrefix; n <= len(prefix); n++ {
		if line, found = p.lines[prefix[:n]]; found {
			return prefix[:n], line, true
		}
	}
	if other, found = p.heads[prefix]; found {
		return other, p.lines[other], true
	}
	return prefix, 0, reservedNames()[prefix]
}

// pick returns a free prefix for the net of a number from the first of texts that has a letter
// or digit, and takes it: the initials of its words, or those with more letters of the last or
// the first word; otherwise one of the number.
func (p *prefixes) pick(number uint32, texts ...string) (string, error) {
	for _, candidate := range append(prefixesOf(texts), "n"+strconv.FormatUint(uint64(number), 36)+"x") {
		if _, _, taken := p.clash(candidate); !taken && validPrefix(candidate) {
			p.take(candidate, 0)
			return candidate, nil
		}
	}
	const tries = 10_000
	for i := range uint64(tries) {
		candidate := "x" + strconv.FormatUint(uint64(number)+i, 36) + "x"
		if _, _, taken := p.clash(candidate); !taken && validPrefix(candidate) {
			p.take(candidate, 0)
			return candidate, nil
		}
	}
	return "", fmt.Errorf("no prefix is left: %w", ErrLockFull)
}

// prefixesOf returns what the prefix of a net may be, best first.
func prefixesOf(texts []string) []string {
	var words []string
	for _, text := range texts {
		for _, w := range wordsOf(text) {
			for _, part := range splitCamel(w) {
				words = append(words, strings.ToLower(part))
			}
		}
		if len(words) > 0 {
			break
		}
	}
	if len(words) == 0 {
		return nil
	}
	if len(words) == 1 {
		return ofOneWord(words[0])
	}
	heads := make([]string, len(words))
	for i, w := range words {
		heads[i] = w[:1]
	}
	first, last := words[0], words[len(words)-1]
	all := []string{strings.Join(heads, "")}
	const most = 4
	for n := 2; n <= min(most, len(last)); n++ {
		all = append(all, strings.Join(heads[:len(heads)-1], "")+last[:n])
	}
	for n := 2; n <= min(most, len(first)); n++ {
		all = append(all, first[:n]+strings.Join(heads[1:], ""))
	}
	for i := range all {
		all[i] = cut(all[i], maxPrefix)
	}
	return all
}

// ofOneWord returns what the prefix of a net of one word may be: its beginning, or that and
// its end.
func ofOneWord(w string) []string {
	n := len(w)
	if n <= 3 {
		return []string{w}
	}
	return []string{w[:3], w[:4], w[:2] + w[n-1:], w[:1] + w[n-2:]}
}

// validPrefix reports whether a locked prefix is valid: a small letter, and 1 to 7 small
// letters or digits.
func validPrefix(s string) bool {
	return len(s) >= minPrefix && len(s) <= maxPrefix && isLower(s[0]) &&
		only(s, func(c byte) bool { return isLower(c) || isDigit(c) })
}
