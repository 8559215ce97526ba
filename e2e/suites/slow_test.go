// SPDX-License-Identifier: Apache-2.0

package suites

import (
	"encoding/xml"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pnagent/pnagent/petri"
)

// slowMarkings bounds what the slow program visits.
const slowMarkings = 10_000

// formula is an element of a property, in the format of the Model Checking Contest.
type formula struct {
	XMLName xml.Name
	Text    string    `xml:",chardata"`
	Parts   []formula `xml:",any"`
}

// slowNet plays a net of normal, inhibitor, read and reset arcs, on maps.
type slowNet struct{ net *petri.Net }

// marking is the tokens by place; a place without tokens is absent.
type marking map[string]int

func (m marking) key() string {
	var b strings.Builder
	for _, p := range slices.Sorted(maps.Keys(m)) {
		fmt.Fprintf(&b, "%s %d,", p, m[p])
	}
	return b.String()
}

func (s slowNet) initial() marking {
	m := marking{}
	for _, p := range s.net.Places {
		if p.Initial > 0 {
			m[p.ID] = int(p.Initial)
		}
	}
	return m
}

func (s slowNet) enabled(m marking, transition string) bool {
	takes := marking{}
	for _, a := range s.net.Arcs {
		w := int(a.Weight)
		switch {
		case a.Target != transition:
		case a.Kind == petri.Normal:
			if takes[a.Source] += w; m[a.Source] < takes[a.Source] {
				return false
			}
		case a.Kind == petri.Read && m[a.Source] < w, a.Kind == petri.Inhibitor && m[a.Source] >= w:
			return false
		}
	}
	return true
}

func (s slowNet) fire(m marking, transition string) marking {
	next := maps.Clone(m)
	for _, a := range s.net.Arcs {
		switch {
		case a.Target == transition && a.Kind == petri.Normal:
			next[a.Source] -= int(a.Weight)
		case a.Target == transition && a.Kind == petri.Reset:
			next[a.Source] = 0
		}
	}
	for _, a := range s.net.Arcs {
		if a.Source == transition {
			next[a.Target] += int(a.Weight)
		}
	}
	maps.DeleteFunc(next, func(_ string, n int) bool { return n == 0 })
	return next
}

// answer visits the markings one after another. known is false if there are more
// than slowMarkings, or if the property has an element that it does not have.
func (s slowNet) answer(property []byte) (holds, known bool) {
	var p struct {
		Formula formula `xml:"formula"`
	}
	if xml.Unmarshal(property, &p) != nil || len(p.Formula.Parts) != 1 || len(p.Formula.Parts[0].Parts) != 1 {
		return false, false
	}
	path := p.Formula.Parts[0]
	exists := path.XMLName.Local == "exists-path" && path.Parts[0].XMLName.Local == "finally"
	if always := path.XMLName.Local == "all-paths" && path.Parts[0].XMLName.Local == "globally"; !exists && !always {
		return false, false
	}
	defer func() {
		if recover() != nil {
			holds, known = false, false
		}
	}()
	todo := []marking{s.initial()}
	seen := map[string]bool{todo[0].key(): true}
	for ; len(todo) > 0; todo = todo[1:] {
		m := todo[0]
		if s.holds(m, path.Parts[0].Parts[0]) == exists {
			return exists, true
		}
		for _, t := range s.net.Transitions {
			if !s.enabled(m, t.ID) {
				continue
			}
			next := s.fire(m, t.ID)
			if key := next.key(); !seen[key] {
				seen[key] = true
				if len(seen) > slowMarkings {
					return false, false
				}
				todo = append(todo, next)
			}
		}
	}
	return !exists, true
}

// holds evaluates a formula in a marking. It panics at an element that it does not
// have.
func (s slowNet) holds(m marking, f formula) bool {
	all := func(want bool) bool {
		for _, p := range f.Parts {
			if s.holds(m, p) != want {
				return false
			}
		}
		return true
	}
	switch name := f.XMLName.Local; name {
	case "true", "false":
		return name == "true"
	case "negation":
		return !s.holds(m, f.Parts[0])
	case "conjunction":
		return all(true)
	case "disjunction":
		return !all(false)
	case "deadlock":
		return !slices.ContainsFunc(s.net.Transitions, func(t petri.Transition) bool { return s.enabled(m, t.ID) })
	case "is-fireable":
		return slices.ContainsFunc(f.Parts, func(t formula) bool { return s.enabled(m, strings.TrimSpace(t.Text)) })
	case "integer-le", "integer-lt", "integer-ge", "integer-gt", "integer-eq", "integer-ne":
		a, b := s.value(m, f.Parts[0]), s.value(m, f.Parts[1])
		return map[string]bool{"integer-le": a <= b, "integer-lt": a < b, "integer-ge": a >= b, "integer-gt": a > b, "integer-eq": a == b, "integer-ne": a != b}[name]
	default:
		panic(name)
	}
}

func (s slowNet) value(m marking, f formula) int {
	sum := 0
	switch f.XMLName.Local {
	case "integer-constant":
		n, err := strconv.Atoi(strings.TrimSpace(f.Text))
		if err != nil {
			panic(err)
		}
		return n
	case "tokens-count":
		for _, p := range f.Parts {
			sum += m[strings.TrimSpace(p.Text)]
		}
	case "integer-sum":
		for _, p := range f.Parts {
			sum += s.value(m, p)
		}
	case "integer-difference":
		sum = s.value(m, f.Parts[0])
		for _, p := range f.Parts[1:] {
			sum -= s.value(m, p)
		}
	default:
		panic(f.XMLName.Local)
	}
	return sum
}
