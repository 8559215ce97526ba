// SPDX-License-Identifier: Apache-2.0

package snmp

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/gosnmp/gosnmp"
	"go.uber.org/goleak"

	"github.com/pnagent/pnagent/mib/smi"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	start     = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	requester = netip.MustParseAddrPort("192.0.2.7:40000")
	root      = smi.OID{1, 3, 6, 1, 4, 1, 8072, 9999, 9999}
	system    = System{Descr: "a responder under test", ObjectID: root, Contact: "ops", Name: "host", Location: "rack 7"}
)

// everyType is a table with a scalar of each type and its extremes, a column
// with rows, and a column without.
func everyType(tb testing.TB) *smi.Table {
	tb.Helper()
	values := []smi.Value{
		smi.Integer(0), smi.Integer(-1), smi.Integer(127), smi.Integer(128), smi.Integer(-128), smi.Integer(-129),
		smi.Integer(-1 << 31), smi.Integer(1<<31 - 1),
		smi.OctetString(""), smi.OctetString("awaiting payment"), smi.OctetString("\x00\xff\xfe"),
		smi.OctetString(strings.Repeat("x", 127)), smi.OctetString(strings.Repeat("y", 128)), smi.OctetString(strings.Repeat("z", 300)),
		smi.ObjectID(smi.OID{1, 3, 6, 1, 4, 1, 4294967295, 128, 127, 16384}), smi.ObjectID(smi.OID{2, 999, 3}), smi.ObjectID(smi.OID{0, 0}),
		smi.IPAddress([4]byte{192, 0, 2, 1}),
		smi.Counter32(0), smi.Counter32(1<<32 - 1), smi.Gauge32(1 << 31), smi.TimeTicks(255), smi.Opaque("\x9f\x78\x04\x00\x00\x00\x00"),
		smi.Counter64(0), smi.Counter64(1 << 63), smi.Counter64(1<<64 - 1), smi.Counter64(1<<40 + 1),
	}
	var names, objects []smi.OID
	for i := range values {
		objects = append(objects, root.Append(1, uint32(i+1)))
		names = append(names, root.Append(1, uint32(i+1), 0))
	}
	for column := range uint32(3) {
		objects = append(objects, root.Append(2, 1, column+1))
		for row := range uint32(5) {
			if column < 2 {
				names = append(names, root.Append(2, 1, column+1, row+1))
				values = append(values, smi.Gauge32(100*column+row))
			}
		}
	}
	return newTable(tb, names, objects, values)
}

func newTable(tb testing.TB, names, objects []smi.OID, values []smi.Value) *smi.Table {
	tb.Helper()
	layout, err := smi.NewLayout(names, objects)
	if err != nil {
		tb.Fatal(err)
	}
	return smi.NewTable(layout, values)
}

// counts is a table of n counters, with the given first number.
func counts(tb testing.TB, n int, first uint64) *smi.Table {
	tb.Helper()
	var names []smi.OID
	values := make([]smi.Value, n)
	for i := range values {
		names = append(names, root.Append(3, 1, 1, uint32(i+1)))
		values[i] = smi.Counter64(first + uint64(i))
	}
	return newTable(tb, names, []smi.OID{root.Append(3, 1, 1)}, values)
}

func newResponder(tb testing.TB, table *smi.Table, change func(*Config)) *Responder {
	tb.Helper()
	cfg := Config{Community: "public", Table: func() *smi.Table { return table }, System: system,
		Now: func() time.Time { return start }}
	if change != nil {
		change(&cfg)
	}
	r, err := New(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// trusted returns an exchange to which requester has proven that it receives.
func (r *Responder) trusted() *exchange {
	x := r.newExchange()
	x.limits.bucket(requester.Addr(), start).proven = start.Add(1000 * time.Hour)
	return x
}

// ask makes a request with gosnmp's codec. Names are relative to root, or
// absolute with a leading dot.
func ask(tb testing.TB, op gosnmp.PDUType, change func(*gosnmp.SnmpPacket), names ...string) []byte {
	tb.Helper()
	packet := &gosnmp.SnmpPacket{Version: gosnmp.Version2c, Community: "public", PDUType: op, RequestID: 4711}
	for _, name := range names {
		if !strings.HasPrefix(name, ".") {
			name = "." + root.String() + "." + name
		}
		packet.Variables = append(packet.Variables, gosnmp.SnmpPDU{Name: name, Type: gosnmp.Null})
	}
	if change != nil {
		change(packet)
	}
	message, err := packet.MarshalMsg()
	if err != nil {
		tb.Fatal(err)
	}
	return message
}

func bulk(nonRepeaters uint8, maxRepetitions uint32) func(*gosnmp.SnmpPacket) {
	return func(p *gosnmp.SnmpPacket) { p.NonRepeaters, p.MaxRepetitions = nonRepeaters, maxRepetitions }
}

// decoded reads an answer with gosnmp's codec.
func decoded(tb testing.TB, message []byte) *gosnmp.SnmpPacket {
	tb.Helper()
	client := &gosnmp.GoSNMP{Version: gosnmp.Version2c}
	packet, err := client.SnmpDecodePacket(message)
	if err != nil {
		tb.Fatalf("gosnmp cannot decode % x: %v", message, err)
	}
	return packet
}

// shown are the variables of an answer, as smi prints them.
func shown(tb testing.TB, packet *gosnmp.SnmpPacket) []string {
	tb.Helper()
	var out []string
	for _, v := range packet.Variables {
		out = append(out, strings.TrimPrefix(variable(tb, v).String(), root.String()+"."))
	}
	return out
}

// variable brings gosnmp's form of a variable into ours.
func variable(tb testing.TB, pdu gosnmp.SnmpPDU) smi.Variable {
	tb.Helper()
	name, err := smi.ParseOID(pdu.Name)
	if err != nil {
		tb.Fatal(err)
	}
	number := func() uint64 { return gosnmp.ToBigInt(pdu.Value).Uint64() }
	var value smi.Value
	switch pdu.Type {
	case gosnmp.Integer:
		value = smi.Integer(int32(gosnmp.ToBigInt(pdu.Value).Int64()))
	case gosnmp.OctetString:
		value = smi.OctetString(string(pdu.Value.([]byte)))
	case gosnmp.ObjectIdentifier:
		oid, err := smi.ParseOID(pdu.Value.(string))
		if err != nil {
			tb.Fatal(err)
		}
		value = smi.ObjectID(oid)
	case gosnmp.IPAddress:
		value = smi.IPAddress(netip.MustParseAddr(pdu.Value.(string)).As4())
	case gosnmp.Counter32:
		value = smi.Counter32(uint32(number()))
	case gosnmp.Gauge32:
		value = smi.Gauge32(uint32(number()))
	case gosnmp.TimeTicks:
		value = smi.TimeTicks(uint32(number()))
	case gosnmp.Counter64:
		value = smi.Counter64(number())
	case gosnmp.OpaqueFloat: // gosnmp looks inside an Opaque; 9f 78 is a float
		value = smi.Opaque("\x9f\x78\x04\x00\x00\x00\x00")
	case gosnmp.Null:
		value = smi.Null()
	case gosnmp.NoSuchObject, gosnmp.NoSuchInstance, gosnmp.EndOfMibView:
		value = smi.Value{Type: smi.Type(pdu.Type)}
	default:
		tb.Fatalf("%s has gosnmp's type %v", pdu.Name, pdu.Type)
	}
	return smi.Variable{Name: name, Value: value}
}

// count is a counter by its label.
func count(r *Responder, label string) uint64 {
	for _, all := range []map[string]uint64{counted(noReason+1, r.counters.dropped[:]), counted(opGet, r.counters.requests[:])} {
		if n, ok := all[label]; ok {
			return n
		}
	}
	panic(fmt.Sprintf("no counter %q", label))
}
