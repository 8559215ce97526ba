// SPDX-License-Identifier: Apache-2.0

package colour_test

import (
	"fmt"

	"github.com/pnagent/pnagent/colour"
	"github.com/pnagent/pnagent/petri"
)

// An order is packed only if it is paid; packing is work that somebody performs
// and says the end of.
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
	pack := colour.Binding{
		Guard: func(tokens []colour.Placed, _ int64) colour.Verdict {
			return colour.Verdict{OK: string(tokens[0].Token.Data) == "paid", WaitsFor: -1}
		},
		Action:  true,
		Timeout: 60_000_000,
	}
	now := int64(1_000_000)
	shard, err := colour.New(colour.Config{Tables: tables, Bindings: []colour.Binding{pack}, Stride: 1, Count: 1}, now)
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
	for _, start := range shard.Starts() {
		fmt.Printf("pack the %s one, before %d\n", start.Taken[0].Token.Data, start.Deadline)
		if err := shard.Done(start.Run, colour.Outcome{Kind: colour.Fired, Data: []byte("in a box")}, now+5); err != nil {
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
