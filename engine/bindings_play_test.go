// SPDX-License-Identifier: Apache-2.0

//go:build unix

package engine

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/engine/action"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/petritest"
	"github.com/pnagent/pnagent/stats"
)

// A program sets a price, at the second attempt; guards look at it; and a net
// without a line of Go sorts its instances.
func TestBindingsPlayANetWithoutGo(t *testing.T) {
	net := &petri.Net{ID: "n", Places: []petri.Place{{ID: "in", Initial: 1}, {ID: "priced"}, {ID: "cheap"}, {ID: "dear"}},
		Transitions: []petri.Transition{{ID: "price", Trigger: petri.Trigger{Kind: petri.TriggerWork}}, {ID: "wave"}, {ID: "ask"}}}
	for _, a := range [][2]string{{"in", "price"}, {"price", "priced"}, {"priced", "wave"}, {"wave", "cheap"}, {"priced", "ask"}, {"ask", "dear"}} {
		net.Arcs = append(net.Arcs, petri.Arc{ID: a[0] + a[1], Source: a[0], Target: a[1], Weight: 1})
	}
	b, err := ReadBindings(strings.NewReader(`
nets:
  n:
    transitions:
      price:
        command:
          - sh
          - -c
          - test $PNAGENT_ATTEMPT = 2 && echo "{\"data\":{\"amount\":$((PNAGENT_INSTANCE * 60))}}"
        retry: {first: 1ms}
      wave: {guard: amount < 100}
      ask:  {guard: amount >= 100}
`), "b.yaml")
	if err != nil {
		t.Fatal(err)
	}
	n, err := b.Bind(petritest.Compile(t, net), action.Peers{})
	if err != nil {
		t.Fatal(err)
	}
	e := newEngine(t, Config{Source: "s", Nets: []NetConfig{n}, Instances: 3, Workers: 2})
	stop := start(t, e)
	defer stop()
	want := [][]uint32{{0, 0, 1, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}}
	for i := range want {
		var m []uint32
		for len(m) == 0 || m[0]+m[1] > 0 {
			if m, err = e.Marking(t.Context(), "n", i); err != nil {
				t.Fatal(err)
			}
		}
		if d := cmp.Diff(want[i], m); d != "" {
			t.Errorf("instance %d: %s", i, d)
		}
	}
	rows := stats.NewRows(4, 3)
	if err := e.Rows(t.Context(), 0, 1, rows); err != nil {
		t.Fatal(err)
	}
	if price := rows.Transitions[0]; price.Firings != 3 || price.Failures != 3 || price.Retries != 3 {
		t.Errorf("%+v", price)
	}
}
