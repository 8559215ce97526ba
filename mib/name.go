// SPDX-License-Identifier: Apache-2.0

package mib

import (
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Lengths of generated names. RFC 2578 section 3.1 allows 64 characters and recommends at
// most 32, which smilint -l 9 checks. A descriptor and its longest suffix share them.
const (
	maxName       = 32
	maxSuffix     = 12
	maxDescriptor = maxName - maxSuffix
	moduleSuffix  = "-PN-MIB"
	maxModuleStem = maxName - len(moduleSuffix)
)

// wordsOf splits a text at everything that is not an ASCII letter or digit. It removes
// accents and letters of other scripts.
func wordsOf(text string) []string {
	// Only the first 20 characters are used.
	const enough = 1 << 10
	if len(text) > enough {
		text = text[:enough]
	}
	var b strings.Builder
	for _, r := range norm.NFKD.String(text) {
		switch {
		case r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)):
			b.WriteRune(r)
		case unicode.Is(unicode.Mn, r) || r == '\'' || r == '’':
		default:
			b.WriteByte(' ')
		}
	}
	return strings.Fields(b.String())
}

// camel joins words to an SMI descriptor: awaitingPayment.
func camel(words []string) string {
	var b strings.Builder
	for i, w := range words {
		if i == 0 {
			b.WriteString(lowerHead(w))
		} else {
			b.WriteString(upperFirst(w))
		}
	}
	return b.String()
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

// descriptorStem returns the beginning of a descriptor from the first text that has a letter
// or digit; otherwise it is kind and number.
func descriptorStem(kind string, number uint32, texts ...string) string {
	for _, text := range texts {
		stem := camel(wordsOf(text))
		if stem == "" {
			continue
		}
		if isDigit(stem[0]) {
			stem = kind + stem
		}
		return cut(stem, maxDescriptor)
	}
	return kind + strconv.FormatUint(uint64(number), 10)
}

// moduleStem is the same for a module's name: ORDER-FULFILMENT.
func moduleStem(number uint32, texts ...string) string {
	for _, text := range texts {
		var words []string
		for _, w := range wordsOf(text) {
			words = append(words, splitCamel(w)...)
		}
		stem := strings.ToUpper(strings.Join(words, "-"))
		if stem == "" {
			continue
		}
		// Some parsers read a leading FROM as the keyword of IMPORTS.
		if isDigit(stem[0]) || strings.HasPrefix(stem, "FROM") {
			stem = "NET-" + stem
		}
		return strings.TrimRight(cut(stem, maxModuleStem), "-")
	}
	return "NET-" + strconv.FormatUint(uint64(number), 10)
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
// and digits, with room for a suffix within 64 characters.
func validDescriptor(s string) bool {
	return s != "" && len(s) <= 64-maxSuffix && isLower(s[0]) &&
		only(s, func(c byte) bool { return isLower(c) || isUpper(c) || isDigit(c) })
}

// validModule reports whether a locked module name is valid: capitals, digits and single
// hyphens, ending in -MIB (RFC 4181 appendix C).
func validModule(s string) bool {
	return len(s) <= 64 && strings.HasSuffix(s, "-MIB") && isUpper(s[0]) && !strings.Contains(s, "--") &&
		only(s, func(c byte) bool { return isUpper(c) || isDigit(c) || c == '-' })
}

// suffixes returns the suffixes of places' and transitions' descriptors for the objects of a
// net's module. None is the end of another, so two objects have the same name only if one of
// their descriptors, with or without a suffix, is the other.
func suffixes() []string {
	return prefixed("", append(namedOnly(objectsOf(placeColumns())), namedOnly(objectsOf(transitionColumns()))...))
}

// netSuffixes returns the suffixes of a net's descriptor for the other objects of its module.
func netSuffixes() []string {
	own := []string{"PnMIB", "Objects", "Net", "Places", "Transitions", "Conformance", "Compliances", "Groups",
		"NetGroup", "PlaceGroup", "TransGroup", "RetiredGroup", "Compliance", "Retired"}
	return append(own, prefixed("", objectsOf(moduleScalars()))...)
}

// names keeps the descriptors of one module unique, ignoring case (RFC 2578 section 3.1).
type names struct {
	reserved map[string]bool
	suffixes []string
	taken    map[string]int // lower case descriptor to its line, 0 for a new one
	next     map[string]int // stem to the number to try next
}

func newNames(reserved map[string]bool, suffixes []string) *names {
	lower := make([]string, len(suffixes))
	for i, s := range suffixes {
		lower[i] = strings.ToLower(s)
	}
	return &names{reserved: reserved, suffixes: lower, taken: map[string]int{}, next: map[string]int{}}
}

// clash returns the line of a descriptor whose objects would share a name
// with those of the given one.
func (n *names) clash(descriptor string) (line int, found bool) {
	low := strings.ToLower(descriptor)
	if line, found = n.taken[low]; found {
		return line, true
	}
	for _, s := range n.suffixes {
		if line, found = n.taken[low+s]; found {
			return line, true
		}
		if stem, ok := strings.CutSuffix(low, s); ok {
			if line, found = n.taken[stem]; found {
				return line, true
			}
		}
	}
	return 0, false
}

func (n *names) isReserved(descriptor string) bool {
	low := strings.ToLower(descriptor)
	if n.reserved[low] {
		return true
	}
	for _, s := range n.suffixes {
		if n.reserved[low+s] {
			return true
		}
	}
	return false
}

func (n *names) take(descriptor string, line int) { n.taken[strings.ToLower(descriptor)] = line }

// pick returns the first free descriptor of a stem: itself, with the kind (shipTransition),
// or with a number (ship2), and takes it.
func (n *names) pick(stem, kind string) string {
	free := func(d string) bool {
		_, clash := n.clash(d)
		return !clash && !n.isReserved(d)
	}
	d := stem
	if !free(d) {
		d = cut(stem, maxDescriptor-len(kind)) + upperFirst(kind)
	}
	low := strings.ToLower(stem)
	for i := max(n.next[low], 2); !free(d); i++ {
		number := strconv.Itoa(i)
		d = cut(stem, maxDescriptor-len(number)) + number
		n.next[low] = i + 1
	}
	n.take(d, 0)
	return d
}
