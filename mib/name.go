// SPDX-License-Identifier: Apache-2.0

package mib

import (
	"strconv"
	"strings"
)

// Lengths of generated names. RFC 2578 section 3.1 allows 64 characters. The prefix of a net,
// a descriptor and its longest suffix share them.
const (
	maxName       = 64
	maxSuffix     = 12
	maxDescriptor = maxName - maxPrefix - maxSuffix
	moduleSuffix  = "-PN-MIB"
	maxModule     = 32 // as RFC 2578 recommends
	maxModuleStem = maxModule - len(moduleSuffix)
)

// stem makes the beginning of a descriptor, of any length, from a text.
type stem struct {
	text   string
	words  []string // the first begins with a small letter, the others with capitals
	target []string // of a flow "from → to", which keeps its two ends
}

// flowArrow is between the ends of a flow in the name of its place.
const flowArrow = " → "

// stemOf returns the stem of the first text that has a letter or digit; otherwise of kind and
// number.
func stemOf(kind string, number uint32, texts ...string) stem {
	for _, text := range texts {
		s := stem{text: text, words: camelWordsOf(text)}
		if len(s.words) == 0 {
			continue
		}
		if from, to, is := strings.Cut(text, flowArrow); is {
			if source, target := camelWordsOf(from), camelWordsOf(to); len(source) > 0 && len(target) > 0 {
				s.words, s.target = source, target
			}
		}
		first := lowerHead(s.words[0])
		capitalise(s.words)
		capitalise(s.target)
		s.words[0] = first
		if isDigit(first[0]) {
			s.words = append([]string{kind}, s.words...)
		}
		return s
	}
	return stem{words: []string{kind + strconv.FormatUint(uint64(number), 10)}}
}

// cut returns a descriptor of at most n characters: awaitingPayment. A longer one keeps whole
// words from its beginning and its end, because names that begin alike differ at the end.
func (s stem) cut(n int) string {
	if len(s.target) == 0 {
		return shorten(s.words, "", n)
	}
	const to = "To"
	n -= len(to)
	target := shorten(s.target, "", max(n/2, n-len(strings.Join(s.words, ""))))
	return shorten(s.words, "", n-len(target)) + to + target
}

// shorten joins words to at most n characters. If they are longer, it takes words from both
// ends, each about half of n, and a part of a word only if it is longer than that.
func shorten(words []string, separator string, n int) string {
	whole := strings.Join(words, separator)
	if len(whole) <= n {
		return whole
	}
	head := ""
	for i := range words {
		next := strings.Join(words[:i+1], separator)
		if len(next) > n/2 {
			break
		}
		head = next
	}
	if head == "" {
		head = cut(words[0], n/2)
	}
	room := n - len(head) - len(separator)
	tail := ""
	for i := len(words) - 1; i > 0; i-- {
		next := strings.Join(words[i:], separator)
		if len(next) > room {
			break
		}
		tail = next
	}
	if tail == "" {
		last := words[len(words)-1]
		tail = upperFirst(last[len(last)-min(room, len(last)):])
	}
	return head + separator + tail
}

func capitalise(words []string) {
	for i, w := range words {
		words[i] = upperFirst(w)
	}
}

// shape returns a word for the letters of the text, by which it differs from a text that is
// the same but for capitals.
func (s stem) shape() string {
	letters := strings.Join(wordsOf(s.text), "")
	first, rest := letters[:1], letters[1:]
	switch {
	case letters == strings.ToLower(letters):
		return "Small"
	case first == strings.ToUpper(first) && rest == strings.ToLower(rest):
		return "Capital"
	case letters == strings.ToUpper(letters):
		return "Capitals"
	}
	return "Mixed"
}

// lowerHead returns a word with its leading capitals in lower case: all of
// ID, the first four of HTTPServer, the A of Await.
func lowerHead(w string) string {
	n := 0
	for n < len(w) && isUpper(w[n]) {
		n++
	}
	if n > 1 && n < len(w) && isLower(w[n]) {
		n--
	}
	return strings.ToLower(w[:n]) + w[n:]
}

func upperFirst(w string) string { return strings.ToUpper(w[:1]) + w[1:] }

func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }
func isLower(c byte) bool { return c >= 'a' && c <= 'z' }
func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// moduleStem returns the beginning of a module's name from the first text that has a letter or
// digit: ORDER-FULFILMENT; otherwise from the number.
func moduleStem(number uint32, texts ...string) []string {
	for _, text := range texts {
		words := camelWordsOf(text)
		if len(words) == 0 {
			continue
		}
		for i, w := range words {
			words[i] = strings.ToUpper(w)
		}
		// Some parsers read a leading FROM as the keyword of IMPORTS.
		if isDigit(words[0][0]) || strings.HasPrefix(words[0], "FROM") {
			words = append([]string{"NET"}, words...)
		}
		return words
	}
	return []string{"NET", strconv.FormatUint(uint64(number), 10)}
}

// camelWordsOf returns the words of a text, and awaitingPayment as two.
func camelWordsOf(text string) (words []string) {
	for _, w := range wordsOf(text) {
		words = append(words, splitCamel(w)...)
	}
	return words
}

// splitCamel splits a word before a capital that follows a small letter.
func splitCamel(w string) []string {
	var parts []string
	start := 0
	for i := 1; i < len(w); i++ {
		if isUpper(w[i]) && isLower(w[i-1]) {
			parts = append(parts, w[start:i])
			start = i
		}
	}
	return append(parts, w[start:])
}

func cut(s string, n int) string { return s[:min(len(s), n)] }

// only reports whether all bytes of a text are valid.
func only(s string, valid func(c byte) bool) bool {
	for i := range len(s) {
		if !valid(s[i]) {
			return false
		}
	}
	return true
}

// validDescriptor reports whether a locked descriptor is valid: a small letter, then letters
// and digits, with room for a prefix and a suffix within 64 characters.
func validDescriptor(s string) bool {
	return s != "" && len(s) <= maxDescriptor && isLower(s[0]) &&
		only(s, func(c byte) bool { return isLower(c) || isUpper(c) || isDigit(c) })
}

// validModule reports whether a locked module name is valid: capitals, digits and single
// hyphens, ending in -MIB (RFC 4181 appendix C).
func validModule(s string) bool {
	return len(s) <= maxName && strings.HasSuffix(s, "-MIB") && isUpper(s[0]) && !strings.Contains(s, "--") &&
		only(s, func(c byte) bool { return isUpper(c) || isDigit(c) || c == '-' })
}
