// SPDX-License-Identifier: Apache-2.0

package sound

import "github.com/pnagent/pnagent/petri"

// Ends is what an end of a net is.
type Ends struct {
	tables *petri.Tables
	kind   kind
	finals [][]uint32 // the final markings, unless they depend on final places
}

type kind uint8

const (
	// general: nothing is enabled, and there are tokens in final places only.
	general kind = iota
	// process is general for one instance of a process, which reaches each of its ends once.
	process
	// declared: one of some markings, as of a workflow net or of petri.Net.FinalMarkings.
	declared
	// none: no place is final, and no transition takes tokens and puts none.
	none
)

// EndsOf returns what the ends of a net are. A net with final markings ends in these, and a
// workflow net with one token in its sink. In another net, an instance ends when nothing is enabled
// and all tokens are in final places. A net without final places, of which each transition
// puts tokens, has no end: it can only stop in a deadlock.
func EndsOf(t *petri.Tables) Ends {
	e := Ends{tables: t}
	if t.Net.Model != nil && t.Net.Model.Kind == petri.ModelBPMN {
		e.kind = process
		return e
	}
	for _, m := range t.Net.FinalMarkings {
		e.kind = declared
		final := make([]uint32, t.Places())
		for id, n := range m {
			if p, ok := t.PlaceIndex(id); ok {
				final[p] = n
			}
		}
		e.finals = append(e.finals, final)
	}
	if sink := workflow(t); e.kind == general && sink >= 0 {
		e.kind = declared
		final := make([]uint32, t.Places())
		final[sink] = 1
		e.finals = [][]uint32{final}
	}
	if e.kind == general && endless(t) {
		e.kind = none
	}
	return e
}

// endless reports whether a net has places, none of them is final, and each transition puts tokens.
func endless(t *petri.Tables) bool {
	for p := range t.Places() {
		if t.Final(p) {
			return false
		}
	}
	puts := make(map[string]bool, t.Transitions())
	for i := range t.Net.Arcs {
		puts[t.Net.Arcs[i].Source] = true
	}
	for i := range t.Net.Transitions {
		if !puts[t.Net.Transitions[i].ID] {
			return false
		}
	}
	return t.Places() > 0
}

// end reports whether a marking is an end. dead reports that nothing is enabled in it.
func (e *Ends) end(m []uint32, dead bool) bool {
	if e.kind == declared {
		for _, final := range e.finals {
			if compare(m, final) == same {
				return true
			}
		}
		return false
	}
	for p, n := range m {
		if n > 0 && !e.tables.Final(p) {
			return false
		}
	}
	return dead
}

// leaves reports whether a marking has an end and tokens besides: more tokens than a final
// marking; or tokens in final places and others that no transition can take; or, in a
// process, two tokens at one of its ends.
func (e *Ends) leaves(m []uint32, dead bool) bool {
	if e.kind == declared {
		over := false
		for _, final := range e.finals {
			switch compare(m, final) {
			case same:
				return false
			case more:
				over = true
			}
		}
		return over
	}
	ended, waits := false, false
	for p, n := range m {
		if e.tables.Final(p) {
			ended = ended || n > 0
		} else {
			waits = waits || n > 0
		}
	}
	return dead && ended && waits || len(e.twice(m)) > 0
}

// twice returns the ends of a process that have more than one token.
func (e *Ends) twice(m []uint32) (places []int) {
	if e.kind != process {
		return nil
	}
	for p, n := range m {
		if n > 1 && e.tables.Final(p) {
			places = append(places, p)
		}
	}
	return places
}

// relation is how a marking compares to another one.
type relation uint8

const (
	other relation = iota
	same
	more // in some places, and less in none
)

func compare(m, with []uint32) relation {
	r := same
	for p, n := range with {
		if m[p] < n {
			return other
		}
		if m[p] > n {
			r = more
		}
	}
	return r
}

// workflow returns the sink of a workflow net, or -1 for another net: one place without
// inputs has the only token, one place has no outputs, and every node is on a path
// from the first to the second.
func workflow(t *petri.Tables) (sink int) {
	g := graphOf(t.Net)
	source := -1
	sink = -1
	for p := range t.Net.Places {
		if len(g.into[p]) == 0 {
			if source >= 0 {
				return -1
			}
			source = p
		}
		if len(g.from[p]) == 0 {
			if sink >= 0 {
				return -1
			}
			sink = p
		}
	}
	if source < 0 || sink < 0 || source == sink {
		return -1
	}
	for p, n := range t.Initial {
		if want := p == source; want != (n == 1) || !want && n > 0 {
			return -1
		}
	}
	if !all(reached(g.from, source)) || !all(reached(g.into, sink)) {
		return -1
	}
	return sink
}

// paths are the neighbours of the nodes of a net: places, then transitions.
type paths struct{ from, into [][]int }

// graphOf returns the paths of tokens through a net.
func graphOf(n *petri.Net) paths {
	index := make(map[string]int, len(n.Places)+len(n.Transitions))
	for i := range n.Places {
		index[n.Places[i].ID] = i
	}
	for i := range n.Transitions {
		index[n.Transitions[i].ID] = len(n.Places) + i
	}
	g := paths{make([][]int, len(index)), make([][]int, len(index))}
	for i := range n.Arcs {
		a := &n.Arcs[i]
		if a.Kind == petri.Inhibitor || a.Kind == petri.Reset {
			continue
		}
		from, to := index[a.Source], index[a.Target]
		g.from[from], g.into[to] = append(g.from[from], to), append(g.into[to], from)
	}
	return g
}

// reached returns which nodes paths lead to from one of them.
func reached(next [][]int, from int) []bool {
	seen := make([]bool, len(next))
	seen[from] = true
	for grown := []int{from}; len(grown) > 0; {
		at := grown[len(grown)-1]
		grown = grown[:len(grown)-1]
		for _, to := range next[at] {
			if !seen[to] {
				seen[to] = true
				grown = append(grown, to)
			}
		}
	}
	return seen
}

func all(set []bool) bool {
	for _, in := range set {
		if !in {
			return false
		}
	}
	return true
}
