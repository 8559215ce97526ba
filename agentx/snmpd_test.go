// SPDX-License-Identifier: Apache-2.0

package agentx_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/agentx"
	"github.com/pnagent/pnagent/agentx/pdu"
	"github.com/pnagent/pnagent/mib/smi"
	"github.com/pnagent/pnagent/snmp/snmptest"
)

// net-snmp's playpen: no agent registers below it.
var playpen = smi.OID{1, 3, 6, 1, 4, 1, 8072, 9999, 9999}

// everything is a table with every type of value, some scalars and a column
// that is longer than any GETBULK of these tests; values depend on generation.
func everything(tb testing.TB, generation int32) *smi.Table {
	tb.Helper()
	values := []smi.Value{
		smi.Integer(-generation), smi.OctetString("a text"), smi.OctetString(""), smi.OctetString("\x00\xff\n\""),
		smi.ObjectID(playpen), smi.IPAddress([4]byte{192, 0, 2, 1}), smi.Counter32(1<<32 - 1), smi.Gauge32(1 << 31),
		smi.TimeTicks(12345), smi.Counter64(1<<64 - 1), smi.OctetString(strings.Repeat("long ", 200)),
	}
	var names, objects []smi.OID
	for i := range uint32(len(values)) {
		objects = append(objects, playpen.Append(1, i+1))
		names = append(names, playpen.Append(1, i+1, 0))
	}
	for column := range uint32(3) {
		objects = append(objects, playpen.Append(2, 1, column+1))
		for row := range uint32(200) {
			names = append(names, playpen.Append(2, 1, column+1, row/50, row%50, 1<<32-1))
			values = append(values, smi.Counter64(uint64(generation)))
		}
	}
	layout, err := smi.NewLayout(names, objects)
	if err != nil {
		tb.Fatal(err)
	}
	return smi.NewTable(layout, values)
}

func list(table *smi.Table) []smi.Variable {
	var variables []smi.Variable
	for i := range table.Len() {
		variables = append(variables, table.At(i))
	}
	return variables
}

// differ shows how variables differ, if they do. They are compared without cmp, which is for people, and slow.
func differ(want, got []smi.Variable) string {
	if slices.EqualFunc(want, got, func(a, b smi.Variable) bool { return a.Value == b.Value && slices.Equal(a.Name, b.Name) }) {
		return ""
	}
	return cmp.Diff(want, got)
}

// serve runs a subagent until the test ends.
func serve(tb testing.TB, config agentx.Config) *agentx.Subagent {
	tb.Helper()
	subagent, _ := serveUntil(tb, config)
	return subagent
}

// serveUntil runs a subagent until stop is called or the test ends.
func serveUntil(tb testing.TB, config agentx.Config) (subagent *agentx.Subagent, stop func()) {
	tb.Helper()
	config.Subtrees = []smi.OID{playpen.Append(1), playpen.Append(2)}
	config.ID = playpen
	config.Description = "a test"
	config.Logger = slog.New(slog.NewTextHandler(tb.Output(), nil))
	subagent, err := agentx.New(config)
	if err != nil {
		tb.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- subagent.Run(ctx) }()
	stop = func() {
		cancel()
		if err := <-ended; err != nil {
			tb.Error(err)
		}
		ended <- nil
	}
	tb.Cleanup(stop)
	return subagent, stop
}

// until waits for a condition.
func until(tb testing.TB, what string, condition func() bool) {
	tb.Helper()
	deadline := time.After(time.Minute)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case <-deadline:
			tb.Fatalf("%s: not in a minute", what)
		case <-tick.C:
		}
	}
}

func up(tb testing.TB, subagent *agentx.Subagent) {
	tb.Helper()
	until(tb, "up", func() bool { return subagent.Stats().State == agentx.StateUp })
}

// overBoth runs a test over a unix socket and over TCP.
func overBoth(t *testing.T, test func(*testing.T, *snmptest.Snmpd)) {
	for name, config := range map[string]snmptest.Config{"unix": {}, "tcp": {TCP: true}} {
		t.Run(name, func(t *testing.T) { test(t, snmptest.Start(t, config)) })
	}
}

func TestSnmpdServesTheTable(t *testing.T) {
	overBoth(t, func(t *testing.T, snmpd *snmptest.Snmpd) {
		table := everything(t, 5)
		subagent := serve(t, agentx.Config{
			Addr: snmpd.AgentX, Tables: func() *smi.Table { return table },
			Caps: []agentx.Caps{{ID: playpen.Append(9, 1), Description: "what a test can do"}},
		})
		up(t, subagent)
		missing := playpen.Append(2, 1, 1, 9)
		t.Run("get of two objects and two that are not there", func(t *testing.T) {
			last := table.At(table.Len() - 1)
			got := snmpd.Get(t, table.At(0).Name, missing, last.Name, playpen.Append(1, 99, 0))
			want := []smi.Variable{table.At(0), {Name: missing, Value: smi.NoSuchInstance()}, last,
				{Name: playpen.Append(1, 99, 0), Value: smi.NoSuchObject()}}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatal(diff)
			}
		})
		t.Run("getnext", func(t *testing.T) {
			got := snmpd.GetNext(t, playpen, table.At(0).Name, missing)
			want := []smi.Variable{table.At(0), table.At(1), table.At(table.Search(missing, false))}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatal(diff)
			}
		})
		t.Run("walk", func(t *testing.T) {
			if diff := differ(list(table), snmpd.Walk(t, playpen)); diff != "" {
				t.Fatal(diff)
			}
		})
		for _, repetitions := range []int{1, 2, 7, 10, 50, 200, 1000} {
			t.Run(fmt.Sprintf("bulkwalk -Cr%d", repetitions), func(t *testing.T) {
				if diff := differ(list(table), snmpd.BulkWalk(t, repetitions, playpen)); diff != "" {
					t.Fatal(diff)
				}
			})
		}
		t.Run("bulkget over three columns", func(t *testing.T) {
			got := snmpd.BulkGet(t, 1, 2, playpen, playpen.Append(2, 1, 1), playpen.Append(2, 1, 2))
			one, two := table.Search(playpen.Append(2, 1, 1), false), table.Search(playpen.Append(2, 1, 2), false)
			want := []smi.Variable{table.At(0), table.At(one), table.At(two), table.At(one + 1), table.At(two + 1)}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatal(diff)
			}
		})
		t.Run("capabilities are in sysORTable", func(t *testing.T) {
			for _, v := range snmpd.Walk(t, smi.OID{1, 3, 6, 1, 2, 1, 1, 9, 1, 2}) {
				if v.Value == smi.ObjectID(playpen.Append(9, 1)) {
					return
				}
			}
			t.Fatal("not there")
		})
		if faults := subagent.Stats().Faults; faults[agentx.FaultParse]+faults[agentx.FaultUnserved]+faults[agentx.FaultSession] != 0 {
			t.Errorf("got faults %v; want no FaultParse, FaultUnserved or FaultSession", faults)
		}
	})
}

func TestSnmpdIsRefusedASet(t *testing.T) {
	overBoth(t, func(t *testing.T, snmpd *snmptest.Snmpd) {
		table := everything(t, 5)
		subagent := serve(t, agentx.Config{Addr: snmpd.AgentX, Tables: func() *smi.Table { return table }})
		up(t, subagent)
		writer := snmptest.Client{Addr: snmpd.Addr, Community: "private"}
		for range 3 {
			err := writer.Set(t.Context(), table.At(0).Name, 7)
			if err == nil || !strings.Contains(err.Error(), "notWritable") {
				t.Fatalf("%v, want notWritable", err)
			}
			if got := snmpd.Get(t, table.At(0).Name); got[0].Value != smi.Integer(-5) {
				t.Fatalf("got %v; want -5", got)
			}
		}
		until(t, "the sets are cleaned up", func() bool { return subagent.Stats().Requests[pdu.TypeCleanupSet] == 3 })
		s := subagent.Stats()
		if s.Requests[pdu.TypeTestSet] != 3 || s.Requests[pdu.TypeCommitSet] != 0 {
			t.Fatalf("got %+v; want three TestSets and no CommitSet", s)
		}
	})
}

func TestSnmpdMayBeStartedLater(t *testing.T) {
	snmpd := snmptest.Start(t, snmptest.Config{Stopped: true})
	table := everything(t, 5)
	subagent := serve(t, agentx.Config{Addr: snmpd.AgentX, Tables: func() *smi.Table { return table }})
	until(t, "a failed attempt", func() bool { return subagent.Stats().Faults[agentx.FaultDial] > 0 })
	snmpd.Start(t)
	up(t, subagent)
	if diff := differ(list(table), snmpd.Walk(t, playpen)); diff != "" {
		t.Fatal(diff)
	}
}

func TestSnmpdDropsASubagentThatShutsDown(t *testing.T) {
	snmpd := snmptest.Start(t, snmptest.Config{})
	table := everything(t, 5)
	subagent, stop := serveUntil(t, agentx.Config{Addr: snmpd.AgentX, Tables: func() *smi.Table { return table }})
	up(t, subagent)
	stop()
	if got := snmpd.Get(t, table.At(0).Name); got[0].Value != smi.NoSuchObject() {
		t.Fatalf("got %v; want noSuchObject", got)
	}
}

func TestOfTwoSubagentsTheLowerPriorityAnswers(t *testing.T) {
	snmpd := snmptest.Start(t, snmptest.Config{})
	run := func(priority uint8, generation int32) (subagent *agentx.Subagent, stop func()) {
		table := everything(t, generation)
		subagent, stop = serveUntil(t, agentx.Config{
			Addr: snmpd.AgentX, Priority: priority, Tables: func() *smi.Table { return table },
		})
		up(t, subagent)
		return subagent, stop
	}
	answer := func() int64 { return snmpd.Get(t, playpen.Append(1, 1, 0))[0].Value.Int() }
	run(127, 2)
	if got := answer(); got != -2 {
		t.Fatalf("alone: %d", got)
	}
	_, stop := run(100, 1)
	if got := answer(); got != -1 {
		t.Fatalf("with a better one: %d", got)
	}
	stop()
	if got := answer(); got != -2 {
		t.Fatalf("alone again: %d", got)
	}
}

func TestTwoSubagentsOfOnePriorityAreNotBothServed(t *testing.T) {
	snmpd := snmptest.Start(t, snmptest.Config{})
	table := everything(t, 5)
	config := agentx.Config{Addr: snmpd.AgentX, Tables: func() *smi.Table { return table }}
	first, stop := serveUntil(t, config)
	up(t, first)
	second := serve(t, config)
	until(t, "the second is refused", func() bool { return second.Stats().Faults[agentx.FaultRefused] > 0 })
	if second.Stats().State == agentx.StateUp {
		t.Fatal("both are up")
	}
	stop()
	up(t, second)
}

func TestSnmpdSendsANotification(t *testing.T) {
	sink, traps := listenUDP(t)
	snmpd := snmptest.Start(t, snmptest.Config{Lines: []string{"trap2sink " + sink + " public"}})
	table := everything(t, 5)
	subagent := serve(t, agentx.Config{Addr: snmpd.AgentX, Tables: func() *smi.Table { return table }})
	up(t, subagent)
	err := subagent.Notify(t.Context(), []smi.Variable{
		{Name: smi.OID{1, 3, 6, 1, 6, 3, 1, 1, 4, 1, 0}, Value: smi.ObjectID(playpen.Append(0, 77))},
		{Name: playpen.Append(1, 2, 0), Value: smi.OctetString("the order is stuck")},
	})
	if err != nil {
		t.Fatal(err)
	}
	for packet := range traps { // snmpd sends a coldStart of its own as well
		if strings.Contains(packet, "the order is stuck") {
			break
		}
	}
	if got := subagent.Stats().Notifications; got != 1 {
		t.Fatalf("got %d notifications; want 1", got)
	}
}

func TestNotifyFailsWhileThereIsNoSnmpd(t *testing.T) {
	snmpd := snmptest.Start(t, snmptest.Config{Stopped: true})
	subagent := serve(t, agentx.Config{Addr: snmpd.AgentX, Tables: func() *smi.Table { return nil }})
	err := subagent.Notify(t.Context(), []smi.Variable{
		{Name: smi.OID{1, 3, 6, 1, 6, 3, 1, 1, 4, 1, 0}, Value: smi.ObjectID(playpen)},
	})
	if !errors.Is(err, agentx.ErrNotConnected) {
		t.Fatal(err)
	}
}

// listenUDP gives an address and what is sent to it.
func listenUDP(t *testing.T) (addr string, packets <-chan string) {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	received := make(chan string)
	done := make(chan struct{})
	var reader sync.WaitGroup
	reader.Go(func() {
		buf := make([]byte, 64<<10)
		for {
			n, _, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			select {
			case received <- string(buf[:n]):
			case <-done:
				return
			}
		}
	})
	t.Cleanup(func() {
		close(done)
		conn.Close()
		reader.Wait()
	})
	return conn.LocalAddr().String(), received
}

// Tables change all the time; every walk, by however many managers at once,
// must see one of them.
func TestEveryWalkOfManyAtOnceIsCoherent(t *testing.T) {
	snmpd := snmptest.Start(t, snmptest.Config{})
	var generation atomic.Int32
	layout := everything(t, 1).Layout()
	subagent := serve(t, agentx.Config{Addr: snmpd.AgentX, Hold: 50 * time.Millisecond, Tables: func() *smi.Table {
		values := make([]smi.Value, layout.Len())
		n := generation.Add(1)
		for i := range values {
			values[i] = smi.Integer(n)
		}
		return smi.NewTable(layout, values)
	}})
	up(t, subagent)
	walk := func(tool string, options ...string) error {
		out, err := snmpd.Run(t.Context(), tool, options, playpen.String())
		if err != nil {
			return err
		}
		got, err := snmptest.Parse(strings.NewReader(out))
		if err != nil {
			return err
		}
		for _, v := range got {
			if v.Value != got[0].Value {
				return fmt.Errorf("%v in a walk that began with %v", v, got[0])
			}
		}
		if len(got) != layout.Len() {
			return fmt.Errorf("%d variables, want %d", len(got), layout.Len())
		}
		return nil
	}
	var walkers sync.WaitGroup
	for i := range 8 {
		walkers.Go(func() {
			for range 4 {
				var err error
				if i%2 == 0 {
					err = walk("snmpwalk")
				} else {
					err = walk("snmpbulkwalk", "-Cr20")
				}
				if err != nil {
					t.Errorf("walker %d: %v", i, err)
				}
			}
		})
	}
	walked := make(chan struct{})
	go func() {
		defer close(walked)
		walkers.Wait()
	}()
	// Meanwhile a poll sees the tables change.
	last := int64(0)
	changes := 0
	for ended := false; !ended; {
		select {
		case <-walked:
			ended = true
		default:
		}
		if n := snmpd.Get(t, layout.Name(0))[0].Value.Int(); n != last {
			last = n
			changes++
		}
	}
	if changes < 3 {
		t.Errorf("only %d tables were seen", changes)
	}
}
