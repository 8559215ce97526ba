// SPDX-License-Identifier: Apache-2.0

package lines

import (
	"fmt"
	"os"
	"testing"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/bpmn"
)

// claim returns the process of the example.
func claim(t testing.TB) []*petri.Tables { return process(t, "../../examples/claim.bpmn") }

// process returns the process of a BPMN file.
func process(t testing.TB, path string) []*petri.Tables {
	t.Helper()
	r, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	f, err := bpmn.Read(r, path, bpmn.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	tables, err := petri.Compile(f.Nets[0])
	if err != nil {
		t.Fatal(err)
	}
	return []*petri.Tables{tables}
}

// The log of a process engine has only tasks; starts, gateways and ends are silent.
func TestTheLogOfAProcessFindsItsWayThroughGateways(t *testing.T) {
	nets := claim(t)
	for rule, c := range map[string]struct {
		events   []string
		finished uint64
		unfit    uint64
	}{
		"a small claim":                     {[]string{"Assess the damage", "Pay", "Write to the customer"}, 1, 0},
		"a large claim":                     {[]string{"Assess the damage", "Approve the claim", "Write to the customer", "Pay"}, 1, 0},
		"one that waits for its letter":     {[]string{"Assess the damage", "Pay"}, 0, 0},
		"one that is paid and not assessed": {[]string{"Pay"}, 0, 1},
	} {
		t.Run(rule, func(t *testing.T) {
			a := attach(t, func(c *Config) { c.Nets = nets })
			for k, e := range c.events {
				take(t, a, fmt.Sprintf(`{"time":%d,"instance":"c 1","transition":%q}`, 1_600_000_000+k, e))
			}
			n, rows := a.Nets()[0], seen(t, a, someTime+60e6)
			if rows.Net.Finished != c.finished || n.Unfit != c.unfit || dropped(a) != "" {
				t.Errorf("%+v, %+v; %s", n, rows.Net, dropped(a))
			}
		})
	}
}
