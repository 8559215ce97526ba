// SPDX-License-Identifier: Apache-2.0

//go:build release

package upgrade

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/snmp/snmptest"
)

// What an earlier version showed of a net and of itself is there, with its name and type: families of
// metrics and their labels, and fields of the JSON of a view and of alarms.
//
//promise:versions version
func TestNamesOfAnEarlierVersionStay(t *testing.T) {
	each(t, func(t *testing.T, v version, program string) {
		b := newBus(t)
		before, now := b.sidecar(program, t.TempDir()), b.sidecar(kit.Built().Pnagent, t.TempDir())
		b.engine(program, "munich")
		for _, side := range []*kit.Sidecar{before, now} {
			shows(t, side, 40)
			stuck(t, side)
		}
		had, has := map[string]bool{}, map[string]bool{}
		names(t, before, had)
		// Rates are there after a while, and the slowest tokens for a while.
		kit.Until(t, "the names are there", func() error {
			names(t, now, has)
			var gone []string
			for name := range had {
				if !has[name] {
					gone = append(gone, name)
				}
			}
			slices.Sort(gone)
			if diff := cmp.Diff(v.gone, gone); diff != "" {
				return fmt.Errorf("names that are gone, -want +got\n%s", diff)
			}
			return nil
		})
	})
}

// names adds the names in what a sidecar shows.
func names(t *testing.T, side *kit.Sidecar, all map[string]bool) {
	t.Helper()
	for name, family := range side.Scrape(t).Families {
		all[fmt.Sprintf("metric %s of type %s", name, family.GetType())] = true
		for _, label := range family.GetMetric()[0].GetLabel() {
			all[fmt.Sprintf("label %s of %s", label.GetName(), name)] = true
		}
	}
	for _, page := range []string{"/api/v1/view", "/api/v1/alarms"} {
		var doc any
		if err := json.Unmarshal(side.Page(t, page), &doc); err != nil {
			t.Fatal(err)
		}
		fields(page, doc, all)
	}
}

// fields adds the fields of a JSON document.
func fields(path string, doc any, into map[string]bool) {
	switch doc := doc.(type) {
	case map[string]any:
		for name, value := range doc {
			fields(path+"."+name, value, into)
		}
	case []any:
		for _, value := range doc {
			fields(path+"[]", value, into)
		}
	default:
		into[fmt.Sprintf("field %s of type %T", path, doc)] = true
	}
}

// Two versions are a pair while one after the other is updated: one of them notifies, both have the same
// alarms with the same indices, and the other one takes over when it ends.
//
//promise:versions version stop
//promise:clears version
func TestTwoVersionsAreAPair(t *testing.T) {
	each(t, func(t *testing.T, _ version, program string) {
		b := newBus(t)
		snmpd := snmptest.Start(t, snmptest.Config{})
		side := func(program, priority string) *kit.Sidecar {
			s := kit.ServeProgram(t, program, b.nats, "--mib-dir", "", "--alarms", b.rules, "--agentx", snmpd.AgentX, "--agentx.priority", priority)
			s.Registered(t)
			return s
		}
		active, standby := side(program, "50"), side(kit.Built().Pnagent, "51")
		kit.OnDuty(t, active, standby)
		b.engine(program, "munich")
		index := stuck(t, active)
		if got := stuck(t, standby); got != index {
			t.Errorf("the alarm has index %d at the standby; want %d", got, index)
		}
		active.Kill(t)
		kit.OnDuty(t, standby)
		if got := stuck(t, standby); got != index {
			t.Errorf("the alarm has index %d after the hand-over; want %d", got, index)
		}
	})
}

// A sidecar of one version shows what a sidecar of the other one below it adds up.
//
//promise:faces version
func TestATreeOfTwoVersionsAddsUp(t *testing.T) {
	each(t, func(t *testing.T, _ version, program string) {
		for _, way := range []struct{ name, below, root string }{
			{"root first", program, kit.Built().Pnagent},
			{"leaf first", kit.Built().Pnagent, program},
		} {
			t.Run(way.name, func(t *testing.T) {
				b := newBus(t)
				root := kit.ServeProgram(t, way.root, b.nats, "--from-zero", "--nats.prefix", kit.Upper, "--mib-dir", "")
				kit.ServeProgram(t, way.below, b.nats, "--from-zero", "--up", kit.Upper, "--up.source", "leaf", "--state-dir", filepath.Join(t.TempDir(), "leaf"), "--mib-dir", "")
				b.engine(way.below, "munich")
				shows(t, root, 40)
				b.inject("munich", 3)
				shows(t, root, 43)
			})
		}
	})
}
