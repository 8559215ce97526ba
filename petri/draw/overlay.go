// SPDX-License-Identifier: Apache-2.0

package draw

import "github.com/pnagent/pnagent/petri"

// Overlay is the current state of a net. Each list may be shorter than the net or
// nil; nothing is shown for the nodes beyond its end.
type Overlay struct {
	Tokens  []uint64  // by place
	Heat    []uint8   // by place: 0 (no token, or a fresh one) to MaxHeat (stuck)
	Rates   []float64 // by transition: firings a second; negative if unknown
	Enabled []bool    // by transition
}

// MaxHeat is the hottest class of heat.
const MaxHeat = 4

// Initial returns the overlay of a net's initial marking: its tokens and the enabled
// transitions.
func Initial(t *petri.Tables) *Overlay {
	o := initialTokens(t.Net)
	s := t.NewState()
	o.Enabled = make([]bool, len(t.Net.Transitions))
	for i := range o.Enabled {
		o.Enabled[i] = s.Enabled(i)
	}
	return o
}

func initialTokens(n *petri.Net) *Overlay {
	o := &Overlay{Tokens: make([]uint64, len(n.Places))}
	for i := range n.Places {
		o.Tokens[i] = uint64(n.Places[i].Initial)
	}
	return o
}
