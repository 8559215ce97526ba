// SPDX-License-Identifier: Apache-2.0

package agentx_test

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/agentx"
	"github.com/pnagent/pnagent/agentx/pdu"
	"github.com/pnagent/pnagent/mib/smi"
	"github.com/pnagent/pnagent/snmp/snmptest"
)

// What a management station does, through snmpd.

var operator = snmptest.User{Name: "operator", Passphrase: "long-enough"}

func TestAStationWalksOverV3InEveryContext(t *testing.T) {
	snmpd := snmptest.Start(t, snmptest.Config{Lines: operator.Lines()})
	whole, orders, claims := everything(t, 5), everything(t, 6), everything(t, 7)
	subagent := serve(t, agentx.Config{Addr: snmpd.AgentX, Tables: func() *smi.Table { return whole }})
	if err := subagent.SetContexts(map[string]func() *smi.Table{"orders": func() *smi.Table { return orders }}); err != nil {
		t.Fatal(err)
	}
	up(t, subagent)
	in := func(name string) snmptest.Client {
		return snmptest.Client{Addr: snmpd.Addr, User: operator, Context: name}
	}
	for name, want := range map[string]*smi.Table{"": whole, "orders": orders} {
		t.Run("context "+name, func(t *testing.T) {
			if diff := differ(list(want), exists(in(name).Walk(t, playpen))); diff != "" {
				t.Error(diff)
			}
			if diff := differ(list(want), exists(in(name).BulkWalk(t, 25, playpen))); diff != "" {
				t.Error(diff)
			}
		})
	}
	// snmpd does not answer in a context without registrations.
	out, err := in("claims").Run(t.Context(), "snmpget", []string{"-t", "0.3", "-r", "0"}, whole.At(0).Name.String())
	if err == nil {
		t.Errorf("a context that is not there: %s", out)
	}
	err = subagent.SetContexts(map[string]func() *smi.Table{"claims": func() *smi.Table { return claims }})
	if err != nil {
		t.Fatal(err)
	}
	until(t, "the context that was added is served, and the other one is not", func() bool {
		// snmpd keeps a context that it has known, and finds nothing in it.
		added, err := in("claims").Run(t.Context(), "snmpget", nil, whole.At(0).Name.String())
		removed, _ := in("orders").Run(t.Context(), "snmpget", nil, whole.At(0).Name.String())
		return err == nil && strings.Contains(added, "INTEGER: -7") && !strings.Contains(removed, "INTEGER")
	})
	if diff := differ(list(claims), exists(in("claims").Walk(t, playpen))); diff != "" {
		t.Error(diff)
	}
	if faults := subagent.Stats().Faults; faults[agentx.FaultContext]+faults[agentx.FaultRefused] != 0 {
		t.Errorf("got faults %v; want no FaultContext and no FaultRefused", faults)
	}
}

// exists leaves out the end of everything, which a walk reaches if no agent
// serves anything after the subtree.
func exists(walked []smi.Variable) []smi.Variable {
	return slices.DeleteFunc(walked, func(v smi.Variable) bool { return v.Value.Type == smi.TypeEndOfMibView })
}

func TestABulkGetGivesAsManyAsItAsksFor(t *testing.T) {
	snmpd := snmptest.Start(t, snmptest.Config{})
	table := everything(t, 5)
	up(t, serve(t, agentx.Config{Addr: snmpd.AgentX, Tables: func() *smi.Table { return table }}))
	column := playpen.Append(2, 1, 2)
	first := table.Search(column, false)
	for count := 1; count <= 60; count++ {
		want := list(table)[first : first+count]
		if diff := cmp.Diff(want, snmpd.BulkGet(t, 0, count, column)); diff != "" {
			t.Fatalf("%d repetitions: %s", count, diff)
		}
	}
	for _, count := range []int{1, 2, 3, 17, 59, 60} {
		if diff := differ(list(table), snmpd.BulkWalk(t, count, playpen)); diff != "" {
			t.Fatalf("walk by %d: %s", count, diff)
		}
	}
}

func TestSnmptrapdReceivesTrapsAndInforms(t *testing.T) {
	received := snmptest.StartTrapd(t)
	snmpd := snmptest.Start(t, snmptest.Config{Lines: []string{
		"trap2sink " + received.Addr + " traps", "informsink " + received.Addr + " informs"}})
	table := everything(t, 5)
	subagent := serve(t, agentx.Config{Addr: snmpd.AgentX, Tables: func() *smi.Table { return table }})
	up(t, subagent)
	variables := []smi.Variable{
		{Name: smi.OID{1, 3, 6, 1, 6, 3, 1, 1, 4, 1, 0}, Value: smi.ObjectID(playpen.Append(0, 77))},
		{Name: playpen.Append(1, 2, 0), Value: smi.OctetString("the order is stuck")},
		{Name: playpen.Append(1, 10, 0), Value: smi.Counter64(1<<64 - 1)},
	}
	for _, name := range []string{"claims", "orders"} {
		variables[1].Value = smi.OctetString("stuck in " + name)
		if err := subagent.Notify(t.Context(), variables); err != nil {
			t.Fatal(err)
		}
		until(t, "a trap and an inform", func() bool {
			kinds := make(map[string]int)
			for _, n := range received.Wait(t, 0) {
				// sysUpTime.0 comes first; that is snmpd's.
				if len(n.Variables) > 1 && cmp.Equal(variables, n.Variables[1:]) {
					kinds[n.PDU+" "+n.Community]++
				}
			}
			return kinds["TRAP2 traps"] == 1 && kinds["INFORM informs"] == 1
		})
	}
	if got := subagent.Stats(); got.Notifications != 2 || got.Faults[agentx.FaultRefused] != 0 {
		t.Fatalf("got %+v; want two notifications and no FaultRefused", got)
	}
	if err := subagent.Notify(t.Context(), variables[1:]); err == nil {
		t.Fatal("what is no notification is sent")
	}
}

// growing is a table whose number of rows and every value depend on generation.
func growing(tb testing.TB, generation int32) *smi.Table {
	tb.Helper()
	var names []smi.OID
	for column := range uint32(4) {
		for row := range uint32(20 + generation*7%60) {
			names = append(names, playpen.Append(1, column+1, row*uint32(1+generation%3)))
		}
	}
	layout, err := smi.NewLayout(names, nil)
	if err != nil {
		tb.Fatal(err)
	}
	values := make([]smi.Value, len(names))
	for i := range values {
		values[i] = smi.Integer(generation)
	}
	return smi.NewTable(layout, values)
}

// Rows come and go as well as values: a walk still sees exactly one table, and
// its names only rise.
func TestWalksOfTablesWhoseRowsComeAndGoAreCoherent(t *testing.T) {
	snmpd := snmptest.Start(t, snmptest.Config{})
	var generation atomic.Int32
	subagent := serve(t, agentx.Config{Addr: snmpd.AgentX, Hold: 50 * time.Millisecond,
		Tables: func() *smi.Table { return growing(t, generation.Add(1)) }})
	up(t, subagent)
	walk := func(tool string, options ...string) error {
		out, err := snmpd.Run(t.Context(), tool, options, playpen.String())
		if err != nil {
			return err // also where net-snmp finds that a name does not rise
		}
		got, err := snmptest.Parse(strings.NewReader(out))
		if err != nil {
			return err
		}
		if diff := differ(list(growing(t, int32(got[0].Value.Int()))), got); diff != "" {
			return fmt.Errorf("not the table it began with: %s", diff)
		}
		return nil
	}
	err := manyWalk(t, 4, func(i, round int) error { // walks at the same time share a table
		if i%2 == 0 {
			return walk("snmpwalk")
		}
		return walk("snmpbulkwalk", fmt.Sprintf("-Cr%d", 1+(7*i+round)%60))
	})
	if err != nil {
		t.Skip(err)
	}
	t.Logf("%d tables were seen", generation.Load())
}

func TestAStandbyIsNotAskedAndAnswersFromTheNextRequest(t *testing.T) {
	snmpd := snmptest.Start(t, snmptest.Config{})
	run := func(priority uint8, generation int32) (*agentx.Subagent, func()) {
		table := everything(t, generation)
		subagent, stop := serveUntil(t, agentx.Config{Addr: snmpd.AgentX, Priority: priority, Tables: func() *smi.Table { return table }})
		up(t, subagent)
		return subagent, stop
	}
	answer := func() int64 { return -snmpd.Get(t, playpen.Append(1, 1, 0))[0].Value.Int() }
	primary, stop := run(100, 1)
	standby, _ := run(127, 2)
	if got := answer(); got != 1 {
		t.Fatalf("%d answers", got)
	}
	if p, s := primary.Stats(), standby.Stats(); p.Since.IsZero() || !s.Since.IsZero() {
		t.Fatalf("primary %+v\nstandby %+v", p, s)
	}
	stop()
	ended := time.Now()
	if got := answer(); got != 2 {
		t.Fatalf("%d answers at the first request after the primary went", got)
	}
	took := standby.Stats()
	if took.Since.Before(ended) {
		t.Fatalf("got %+v; want it answering since the other one ended at %v", took, ended)
	}
	run(100, 1)
	if got := answer(); got != 1 {
		t.Fatalf("%d answers at the first request after the primary came back", got)
	}
	if again := standby.Stats(); again.Requests[pdu.TypeGet] != took.Requests[pdu.TypeGet] {
		t.Fatalf("the standby is still asked: %+v", again)
	}
}
