// SPDX-License-Identifier: Apache-2.0

package mib

import (
	"slices"
	"strconv"
	"strings"
)

// suffixes returns the suffixes of places' and transitions' descriptors for the objects of a
// net's module. None is the end of another, so two objects have the same name only if one of
// their descriptors, with or without a suffix, is the other.
func suffixes() []string {
	return prefixed("", append(namedOnly(objectsOf(placeColumns())), namedOnly(objectsOf(transitionColumns()))...))
}

// moduleWords returns what follows the prefix of a net in the other names of its module.
func moduleWords() []string {
	own := []string{"MIB", "Objects", "Net", "Places", "Transitions", "Conformance", "Compliances", "Groups",
		"NetGroup", "PlaceGroup", "TransGroup", "RetiredGroup", "Compliance", "Retired"}
	return append(own, prefixed("", objectsOf(moduleScalars()))...)
}

// names keeps the descriptors of one module unique, ignoring case (RFC 2578 section 3.1).
type names struct {
	prefix   string // of all names in the module, in lower case; not in the descriptors
	reserved map[string]bool
	suffixes []string
	taken    map[string]int    // lower case descriptor to its line, 0 for a new one
	next     map[string]int    // stem to the number to try next
	texts    map[string]string // lower case descriptor to the text that it is from, as far as it is known
}

func newNames(prefix string, reserved map[string]bool, suffixes []string) *names {
	lower := make([]string, len(suffixes))
	for i, s := range suffixes {
		lower[i] = strings.ToLower(s)
	}
	return &names{prefix: prefix, reserved: reserved, suffixes: lower, taken: map[string]int{}, next: map[string]int{}, texts: map[string]string{}}
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
	low := n.prefix + strings.ToLower(descriptor)
	return n.reserved[low] || slices.ContainsFunc(n.suffixes, func(s string) bool { return n.reserved[low+s] })
}

func (n *names) take(descriptor string, line int) { n.taken[strings.ToLower(descriptor)] = line }

// pick returns the first free descriptor of a stem and takes it: itself; if another one
// differs from its text only by capitals, with a word for these (payCapitals); with the kind
// (shipTransition); or with a number (ship2).
func (n *names) pick(s stem, kind string) string {
	var d string
	var free bool
	try := func(end string) {
		d = s.cut(maxDescriptor-len(end)) + end
		_, clash := n.clash(d)
		free = !clash && !n.isReserved(d)
	}
	try("")
	low := strings.ToLower(d)
	if other := n.texts[low]; !free && other != s.text && strings.EqualFold(other, s.text) {
		try(s.shape())
	}
	if !free {
		try(upperFirst(kind))
	}
	for i := max(n.next[low], 2); !free; i++ {
		try(strconv.Itoa(i))
		n.next[low] = i + 1
	}
	n.take(d, 0)
	n.texts[strings.ToLower(d)] = s.text
	return d
}
