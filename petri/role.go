// SPDX-License-Identifier: Apache-2.0

package petri

import "strings"

// Role is what a place or a transition is for. Nets of authors have work only. A net that is
// made from another notation, such as BPMN, also has places and transitions that its author
// did not draw. The token game ignores roles.
type Role uint8

// The roles.
const (
	RoleWork  Role = iota // a token here is a thing that waits; a firing is one that was done
	RoleState             // it records what is armed, offered, active around other tokens, or on its way
	RoleData              // its tokens carry data, such as counters and lists
)

// String returns the role's name, as in PNML and in the JSON API.
func (r Role) String() string {
	return [...]string{"work", "state", "data"}[min(r, RoleData)]
}

// RoleOf returns the role with a name, and whether there is one.
func RoleOf(name string) (Role, bool) {
	for r := RoleWork; r <= RoleData; r++ {
		if r.String() == name {
			return r, true
		}
	}
	return RoleWork, false
}

// ElementOf returns the element of a Model that a place or a transition with an id is of, and
// the elements that call its process, the outermost first. An id is that of the element;
// behind "/" is what else the element became; before ":" are the calls.
func ElementOf(id string) (calls []string, element string) {
	parts := strings.Split(id, ":")
	for i, part := range parts {
		parts[i], _, _ = strings.Cut(part, "/")
	}
	return parts[:len(parts)-1], parts[len(parts)-1]
}

// Shown returns the id of the element at which the tokens of the place are shown, with its
// calls as in ElementOf, or "" for none.
func (p *Place) Shown() string {
	if p.Element == "" && p.Role == RoleWork {
		return p.ID
	}
	return p.Element
}

// Work returns the net without the places and transitions whose role is not RoleWork, and
// without their arcs: the net itself if it has none.
func (n *Net) Work() *Net {
	aside := make(map[string]bool)
	out := *n
	out.Places, out.Transitions, out.Arcs = nil, nil, nil
	for i := range n.Places {
		if p := &n.Places[i]; p.Role == RoleWork {
			out.Places = append(out.Places, *p)
		} else {
			aside[p.ID] = true
		}
	}
	for i := range n.Transitions {
		if t := &n.Transitions[i]; t.Role == RoleWork {
			out.Transitions = append(out.Transitions, *t)
		} else {
			aside[t.ID] = true
		}
	}
	if len(aside) == 0 {
		return n
	}
	for i := range n.Arcs {
		if a := &n.Arcs[i]; !aside[a.Source] && !aside[a.Target] {
			out.Arcs = append(out.Arcs, *a)
		}
	}
	return &out
}

// Owners returns, by transition, the index of the transition of work that it is a step of: its
// own if it is work; otherwise that whose id is before a "/" in its id, or -1.
func (n *Net) Owners() []int {
	byID := make(map[string]int, len(n.Transitions))
	for i := range n.Transitions {
		if t := &n.Transitions[i]; t.Role == RoleWork {
			byID[t.ID] = i
		}
	}
	owners := make([]int, len(n.Transitions))
	for i := range n.Transitions {
		id := n.Transitions[i].ID
		owner, known := byID[id]
		for end := strings.LastIndexByte(id, '/'); !known && end > 0; end = strings.LastIndexByte(id[:end], '/') {
			owner, known = byID[id[:end]]
		}
		owners[i] = owner
		if !known {
			owners[i] = -1
		}
	}
	return owners
}
