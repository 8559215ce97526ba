// SPDX-License-Identifier: Apache-2.0

package mib

import "github.com/pnagent/pnagent/petri"

// orderNet is a small net with names, documentation and ids of all sorts.
func orderNet() *petri.Net {
	return &petri.Net{
		ID: "orderFulfilment", Name: "Order fulfilment", Doc: "From the order to the parcel.", File: "order.pnml",
		Places: []petri.Place{
			{ID: "awaitingPayment", Name: "Awaiting payment", Doc: "Nobody has paid yet."},
			{ID: "p2", Name: "Paid"},
			{ID: "packed"},
		},
		Transitions: []petri.Transition{
			{ID: "pay", Name: "Pay"},
			{ID: "ship"},
		},
		Arcs: []petri.Arc{
			{Source: "awaitingPayment", Target: "pay", Weight: 1}, {Source: "pay", Target: "p2", Weight: 1},
			{Source: "packed", Target: "ship", Weight: 1},
		},
	}
}
