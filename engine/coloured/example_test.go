// SPDX-License-Identifier: Apache-2.0

package coloured_test

import (
	"fmt"

	"github.com/pnagent/pnagent/engine/coloured"
	"github.com/pnagent/pnagent/petri"
)

// An order is packed only if it is paid. Packing is done outside of the net,
// and ends with a call.
func Example() {
	net := &petri.Net{ID: "shop",
		Places:      []petri.Place{{ID: "ordered"}, {ID: "packed"}},
		Transitions: []petri.Transition{{ID: "pack"}},
		Arcs: []petri.Arc{
			{ID: "in", Source: "ordered", Target: "pack", Weight: 1},
			{ID: "out", Source: "pack", Target: "packed", Weight: 1},
		}}
	tables, err := petri.Compile(net)
	if err != nil {
		fmt.Println(err)
		return
	}
	pack := coloured.Binding{
		Guard: func(tokens []coloured.Placed, _ int64) coloured.Verdict {
			return coloured.Verdict{OK: string(tokens[0].Token.Data) == "paid"}
		},
		Action:  true,
		Timeout: 60_000_000,
	}
	now := int64(1_000_000)
	shard, err := coloured.New(coloured.Config{Tables: tables, Bindings: []coloured.Binding{pack}, Stride: 1, Count: 1}, now)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, order := range []string{"unpaid", "paid"} {
		if err := shard.Inject(0, 0, []byte(order), 1, now); err != nil {
			fmt.Println(err)
		}
	}
	for shard.Step(100, now) == 100 {
	}
	for _, start := range shard.Ready().Starts {
		fmt.Printf("pack the %s one, before %d\n", start.Taken[0].Token.Data, start.Deadline)
		if err := shard.Done(start.Run, coloured.Outcome{Kind: coloured.Fired, Data: []byte("in a box")}, now+5); err != nil {
			fmt.Println(err)
		}
	}
	for _, p := range shard.Tokens(0, 10) {
		fmt.Printf("%s: %s\n", net.Places[p.Place].ID, p.Token.Data)
	}
	// Output:
	// pack the paid one, before 61000000
	// ordered: unpaid
	// packed: in a box
}
