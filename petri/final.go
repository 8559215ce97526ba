// SPDX-License-Identifier: Apache-2.0

package petri

// FinalPlaces reports, by place, whether the place is final: it is not Open, and no
// transition takes tokens from it, so no normal, join or reset arc leads out of it. Read
// and inhibitor arcs may, because they take no tokens. Tokens in a final place are never stuck. If
// no transition is enabled, an instance with tokens in final places only has
// finished; with a token elsewhere it is deadlocked. Tables.Final is the compiled form
// of this definition. FinalPlaces ignores an arc of an unknown place.
func (n *Net) FinalPlaces() []bool {
	index := make(map[string]int, len(n.Places))
	final := make([]bool, len(n.Places))
	for i := range n.Places {
		index[n.Places[i].ID], final[i] = i, !n.Places[i].Open
	}
	for i := range n.Arcs {
		a := &n.Arcs[i]
		if place, ok := index[a.Source]; ok && a.Kind != Inhibitor && a.Kind != Read {
			final[place] = false
		}
	}
	return final
}
