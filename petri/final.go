// SPDX-License-Identifier: Apache-2.0

package petri

// FinalPlaces reports, by place, whether the place is final: no transition
// takes tokens from it, so no normal, join or reset arc leads away from it. Read
// and inhibitor arcs may, for they leave the tokens where they are. Tokens in a
// final place stay there when the work is done; however old they are, they are
// not stuck. An instance with tokens in final places only, in which nothing is
// enabled, has finished; with a token elsewhere it is deadlocked. This is the one
// definition: Tables.Final is its compiled form. An arc whose place the net does
// not have is ignored.
func (n *Net) FinalPlaces() []bool {
	index := make(map[string]int, len(n.Places))
	final := make([]bool, len(n.Places))
	for i := range n.Places {
		index[n.Places[i].ID], final[i] = i, true
	}
	for i := range n.Arcs {
		a := &n.Arcs[i]
		if place, ok := index[a.Source]; ok && a.Kind != Inhibitor && a.Kind != Read {
			final[place] = false
		}
	}
	return final
}
