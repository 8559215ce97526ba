// SPDX-License-Identifier: Apache-2.0

package snmp

import (
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/gosnmp/gosnmp"

	"github.com/pnagent/pnagent/mib/smi"
)

// generations are tables that follow each other: rows come and go, and each
// value has the number of its generation. Rows with an even number are always there.
func generations(tb testing.TB, n, rows int) []*smi.Table {
	tb.Helper()
	tables := make([]*smi.Table, n)
	for g := range tables {
		var names []smi.OID
		var values []smi.Value
		for row := range rows {
			if row%2 == 0 || (row+2*g)%7 != 0 {
				names = append(names, root.Append(3, 1, 1, uint32(row+1)))
				values = append(values, smi.Counter64(uint64(g)*1_000_000+uint64(row)))
			}
		}
		tables[g] = newTable(tb, names, []smi.OID{root.Append(3, 1, 1)}, values)
	}
	return tables
}

// walk gives everything below root that a walk by a client of its own sees.
func walk(t *testing.T, client *gosnmp.GoSNMP, bulk bool) (seen []smi.Variable) {
	if err := client.Connect(); err != nil {
		t.Error(err)
		return nil
	}
	defer client.Conn.Close()
	method := client.Walk
	if bulk {
		method = client.BulkWalk
	}
	err := method("."+root.String(), func(v gosnmp.SnmpPDU) error {
		name, err := smi.ParseOID(v.Name)
		seen = append(seen, smi.Variable{Name: name, Value: smi.Counter64(gosnmp.ToBigInt(v.Value).Uint64())})
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return seen
}

// walkers has 64 managers walk at once, some by GetNext, some by GetBulk of
// different sizes, while every packet finds a newer table.
func walkers(t *testing.T, hold time.Duration, check func(tables []*smi.Table, seen []smi.Variable)) {
	t.Helper()
	const managers, rows = 64, 120
	tables := generations(t, 50, rows)
	newest := 0
	r := newResponder(t, nil, func(c *Config) {
		c.Hold, c.Now, c.PacketRate = hold, time.Now, maxPacketRate
		c.Table = func() *smi.Table {
			newest = (newest + 1) % len(tables)
			return tables[newest]
		}
	})
	addr := serve(t, r)
	var running sync.WaitGroup
	for manager := range managers {
		running.Go(func() {
			client := &gosnmp.GoSNMP{Target: addr.IP.String(), Port: uint16(addr.Port), Version: gosnmp.Version2c, Community: "public",
				Timeout: time.Minute, MaxOids: 60, MaxRepetitions: uint32(1 + manager)}
			seen := walk(t, client, manager%2 == 0)
			for i := 1; i < len(seen); i++ {
				if seen[i].Name.Compare(seen[i-1].Name) <= 0 {
					t.Errorf("%v comes after %v", seen[i].Name, seen[i-1].Name)
				}
			}
			check(tables, seen)
		})
	}
	running.Wait()
	if packets := count(r, "getnext") + count(r, "getbulk"); packets < managers*rows/2 {
		t.Errorf("there were only %d packets", packets)
	}
}

func TestSixtyFourWalksSeeOneTableEach(t *testing.T) {
	walkers(t, time.Hour, func(tables []*smi.Table, seen []smi.Variable) {
		if len(seen) == 0 {
			t.Error("saw nothing")
			return
		}
		want := listed(tables[seen[0].Value.Num/1_000_000])
		var got []string
		for _, v := range seen {
			got = append(got, v.String())
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

// TestSixtyFourWalksOutliveTheirTables has every packet of a walk see another
// table: what was there all the time is seen, each once and in order.
func TestSixtyFourWalksOutliveTheirTables(t *testing.T) {
	walkers(t, time.Nanosecond, func(tables []*smi.Table, seen []smi.Variable) {
		var always []string
		for _, v := range seen {
			if tables[v.Value.Num/1_000_000].Get(v.Name) != v.Value {
				t.Errorf("%v was never there", v)
			}
			if row := v.Name[len(v.Name)-1] - 1; row%2 == 0 {
				always = append(always, v.Name.String())
			}
		}
		var want []string
		for i := range tables[0].Len() {
			if name := tables[0].At(i).Name; (name[len(name)-1]-1)%2 == 0 {
				want = append(want, name.String())
			}
		}
		if diff := cmp.Diff(want, always); diff != "" {
			t.Error(diff)
		}
	})
}
