// SPDX-License-Identifier: Apache-2.0

package kit

import (
	_ "embed"
	"fmt"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/pnml"
)

// StuckNet reaches a marking in which no transition fires by itself: 40 claims wait for
// an answer until a user fires "answer". A new claim comes by
// injecting a token into "inbox".
//
//go:embed nets/claims.pnml
var StuckNet string

// StuckBindings leave two steps to people.
const StuckBindings = `nets:
  claims:
    transitions:
      answer: manual
      archive: manual
`

// RingNet never stops by itself.
//
//go:embed nets/ring.pnml
var RingNet string

// oddIDs are ids that are not identifiers.
var oddIDs = []string{"a b", " leading", "trailing ", `"quoted"`, `back\slash`, "<&>", "Straße 東京 🚦", "3", "inject 2 a b", "tab\there", "{}", "::", "é", "e\u0301"}

// OddNet is a ring through places and transitions of odd ids.
func OddNet() *petri.Net {
	n := &petri.Net{ID: "odd net / ☃"}
	for i, id := range oddIDs {
		n.Places = append(n.Places, petri.Place{ID: "p" + id, Initial: uint32(i % 3)})
		n.Transitions = append(n.Transitions, petri.Transition{ID: "t" + id})
	}
	for i := range oddIDs {
		next := (i + 1) % len(oddIDs)
		n.Arcs = append(n.Arcs, petri.Arc{ID: fmt.Sprint("in ", i), Source: n.Places[i].ID, Target: n.Transitions[i].ID, Weight: 1},
			petri.Arc{ID: fmt.Sprint("out ", i), Source: n.Transitions[i].ID, Target: n.Places[next].ID, Weight: 1})
	}
	return n
}

// WriteNet makes a file of a net.
func WriteNet(t *testing.T, n *petri.Net) string {
	t.Helper()
	var text strings.Builder
	if err := pnml.Write(&text, n); err != nil {
		t.Fatal(err)
	}
	return Write(t, "net.pnml", text.String())
}

// CircleNet has tokens go round over three regions.
//
//go:embed nets/circle.pnml
var CircleNet string
