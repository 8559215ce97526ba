// SPDX-License-Identifier: Apache-2.0

package mib

import (
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
)

// A context has what the whole table has of its net, under the same names, and
// nothing of other nets.
func TestAContextHasTheRowsOfItsNetAlone(t *testing.T) {
	lock := filepath.Join(t.TempDir(), LockFile)
	r := rand.New(rand.NewPCG(1, 2))
	named := func(id string) *petri.Net {
		return &petri.Net{ID: id, Places: []petri.Place{{ID: "in"}, {ID: "out"}}, Transitions: []petri.Transition{{ID: "t"}}}
	}
	long := strings.Repeat("n", maxContext+1)
	orders, refunds, unnamed := named("orders"), named("refunds"), named(long)
	view := viewOf(netOf(orders, randomRows(r, orders, stats.AllColumns)), netOf(refunds, randomRows(r, refunds, stats.AllColumns)), netOf(unnamed, randomRows(r, unnamed, stats.AllColumns)))
	whole := build(t, newBuilder(t, lock), view, now0)

	c := NewContexts(testRoot(t), lock, Agent{Version: "1.2", Name: "north", Started: now0 - 3600e6})
	added, err := c.Build(view, &alarm.ActiveSet{}, now0)
	if !added || err == nil || !strings.Contains(err.Error(), long) {
		t.Errorf("added %v, %v; want an error for the id of %d bytes", added, err, len(long))
	}
	if added, err = c.Build(view, &alarm.ActiveSet{}, now0); added || err != nil {
		t.Errorf("a second time: added %v, %v", added, err)
	}
	tables := c.Tables()
	if len(tables) != 2 {
		t.Fatalf("%d contexts, want 2", len(tables))
	}
	nets := testRoot(t).Append(2)
	for name, other := range map[string]string{"orders": "refunds", "refunds": "orders"} {
		table := tables[name]()
		rows := 0
		for i := range table.Len() {
			v := table.At(i)
			if v.Value.String() == other || v.Value.String() == long {
				t.Errorf("context %s names another net: %v", name, v)
			}
			if !v.Name.HasPrefix(nets) {
				continue
			}
			rows++
			if at := whole.Get(v.Name); at.String() != v.Value.String() {
				t.Errorf("context %s: %v; the whole table has %v", name, v, at)
			}
		}
		if rows == 0 {
			t.Errorf("context %s has no object of its net's module", name)
		}
	}
	view.Nets = view.Nets[1:]
	if _, err := c.Build(view.Sum(), &alarm.ActiveSet{}, now0); err != nil {
		t.Error(err)
	}
	if got := c.Tables()["orders"](); got.Len() >= whole.Len()/2 {
		t.Errorf("a net that is gone has %d variables", got.Len())
	}
}
