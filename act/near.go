// SPDX-License-Identifier: Apache-2.0

package act

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/pnagent/pnagent/petri"
)

// offered is how many names an error lists.
const offered = 8

// offer returns what an error says was expected instead of a name: those that are near
// it, else all if they are few, else the first.
func offer(name string, among []string) string {
	among = slices.Compact(slices.Sorted(slices.Values(among)))
	if len(among) == 0 {
		return "there is none"
	}
	near := slices.DeleteFunc(slices.Clone(among), func(other string) bool { return !isNear(name, other) })
	if len(near) > 0 {
		slices.SortStableFunc(near, func(a, b string) int { return cmp.Compare(distance(name, a), distance(name, b)) })
		return "near it: " + list(near)
	}
	return "expected one of " + list(among)
}

// list returns the first names of a list, and how many more there are.
func list(names []string) string {
	var quoted []string
	for _, name := range names[:min(len(names), offered)] {
		quoted = append(quoted, fmt.Sprintf("%q", name))
	}
	text := strings.Join(quoted, ", ")
	if more := len(names) - len(quoted); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// isNear reports whether one of two names holds the other, or few of the letters differ.
func isNear(a, b string) bool {
	a, b = strings.ToLower(a), strings.ToLower(b)
	if len(a) >= 3 && strings.Contains(b, a) || len(b) >= 3 && strings.Contains(a, b) {
		return true
	}
	longer := max(len(a), len(b))
	return distance(a, b) <= min(longer/2, longer/3+1)
}

// distance is the number of letters to insert, remove or replace that makes one name of
// another (Levenshtein).
func distance(a, b string) int {
	x, y := []rune(strings.ToLower(a)), []rune(strings.ToLower(b))
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := range x {
		before := row[0]
		row[0] = i + 1
		for j := range y {
			replace := before
			if x[i] != y[j] {
				replace++
			}
			before = row[j+1]
			row[j+1] = min(replace, row[j]+1, before+1)
		}
	}
	return row[len(y)]
}

// node is a place or a transition as people name it.
type node struct{ id, name string }

func places(net *petri.Net) (all []node) {
	for i := range net.Places {
		all = append(all, node{net.Places[i].ID, net.Places[i].Name})
	}
	return all
}

func transitions(net *petri.Net) (all []node) {
	for i := range net.Transitions {
		all = append(all, node{net.Transitions[i].ID, net.Transitions[i].Name})
	}
	return all
}

// element returns the index of the place or transition that a word names: the one with
// that id, or else the only one with that name.
func element(net *petri.Net, kind, word string) (int, error) {
	those, others := transitions(net), places(net)
	if kind == "place" {
		those, others = others, those
	}
	if i := slices.IndexFunc(those, func(n node) bool { return n.id == word }); i >= 0 {
		return i, nil
	}
	var named []int
	var ids, all []string
	for i, n := range those {
		all = append(all, n.id)
		if n.name == word {
			named, ids = append(named, i), append(ids, n.id)
		}
	}
	switch len(named) {
	case 1:
		return named[0], nil
	case 0:
	default:
		return 0, fmt.Errorf("net %q: %d %ss are named %q: %s; expected an id", net.ID, len(named), kind, word, list(ids))
	}
	if slices.ContainsFunc(others, func(n node) bool { return n.id == word || n.name == word }) {
		return 0, fmt.Errorf("net %q: %q is no %s; %s", net.ID, word, kind, offer(word, all))
	}
	return 0, fmt.Errorf("net %q has no %s %q; %s", net.ID, kind, word, offer(word, all))
}
