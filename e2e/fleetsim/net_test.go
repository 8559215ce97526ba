// SPDX-License-Identifier: Apache-2.0

package fleetsim

import (
	"bytes"
	"fmt"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/pnml"
	"github.com/pnagent/pnagent/telemetry"
)

// size is the number of places of the fleet's net, and of its transitions: 100
// rows together.
const size = 50

// Ids of the nets.
const (
	fleetNet = "orders"
	probeNet = "probe"
)

// definition is a net as a collector receives it.
type definition struct {
	id, digest string
	pnml       []byte
}

func define(n *petri.Net) (definition, error) {
	var text bytes.Buffer
	if err := pnml.Write(&text, n); err != nil {
		return definition{}, fmt.Errorf("write net %q: %w", n.ID, err)
	}
	return definition{id: n.ID, digest: telemetry.Digest(text.Bytes()), pnml: text.Bytes()}, nil
}

// goods is the place of the read arcs of the transitions after a stuck place.
const goods = 40

// stuckAt reports whether tokens of a place get stuck, because its transition
// waits for goods.
func stuckAt(place int) bool { return place == 17 || place == 33 }

// line returns the fleet's net: each transition moves a token to the next place,
// and the last one ends the instance.
func line() *petri.Net {
	n := &petri.Net{ID: fleetNet, Name: "Orders"}
	place := func(i int) string { return fmt.Sprintf("step-%02d", i) }
	for i := range size {
		t := fmt.Sprintf("do-%02d", i)
		n.Places = append(n.Places, petri.Place{ID: place(i)})
		n.Transitions = append(n.Transitions, petri.Transition{ID: t})
		n.Arcs = append(n.Arcs, petri.Arc{Source: place(i), Target: t, Weight: 1})
		if i+1 < size {
			n.Arcs = append(n.Arcs, petri.Arc{Source: t, Target: place(i + 1), Weight: 1})
		}
		if stuckAt(i) {
			n.Arcs = append(n.Arcs, petri.Arc{Source: place(goods), Target: t, Kind: petri.Read, Weight: 1})
		}
	}
	return n
}

// pulse returns the probe's net.
func pulse() *petri.Net {
	return &petri.Net{ID: probeNet, Name: "Probe", Places: []petri.Place{{ID: "idle", Initial: 1}}, Transitions: []petri.Transition{{ID: "beat"}},
		Arcs: []petri.Arc{{Source: "idle", Target: "beat", Weight: 1}, {Source: "beat", Target: "idle", Weight: 1}}}
}
