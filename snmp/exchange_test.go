// SPDX-License-Identifier: Apache-2.0

package snmp

import (
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/gosnmp/gosnmp"

	"github.com/pnagent/pnagent/mib/smi"
)

const sysUpTime = ".1.3.6.1.2.1.1.3.0"

func TestGetAnswersEveryNameInOrder(t *testing.T) {
	x := newResponder(t, everyType(t), nil).trusted()
	out, reason, err := x.answer(ask(t, gosnmp.GetRequest, nil, "2.1.1.3", "1.1.0", "1.1.1", "2.1.1.9", "2.1.3.1", "9.9", "1.1",
		sysUpTime, ".1.3.6.1.2.1.1.9.1.2.1", ".1.3.6.1.2.1.2.1.0"), requester, start.Add(12340*time.Millisecond))
	if reason != noReason {
		t.Fatal(reason, err)
	}
	packet := decoded(t, out)
	want := []string{"2.1.1.3 = Gauge32: 2", "1.1.0 = INTEGER: 0", "1.1.1 = noSuchInstance", "2.1.1.9 = noSuchInstance",
		"2.1.3.1 = noSuchInstance", "9.9 = noSuchObject", "1.1 = noSuchInstance",
		"1.3.6.1.2.1.1.3.0 = TimeTicks: 1234", "1.3.6.1.2.1.1.9.1.2.1 = noSuchInstance", "1.3.6.1.2.1.2.1.0 = noSuchObject"}
	if diff := cmp.Diff(want, shown(t, packet)); diff != "" {
		t.Error(diff)
	}
	if packet.RequestID != 4711 || packet.PDUType != gosnmp.GetResponse || packet.Error != gosnmp.NoError {
		t.Errorf("answer %+v", packet)
	}
}

func TestGetNextGivesTheSuccessorOfEachName(t *testing.T) {
	x := newResponder(t, everyType(t), nil).trusted()
	out, _, _ := x.answer(ask(t, gosnmp.GetNextRequest, nil, "2.1.1", "2.1.1.5", "2.1.2.5", ".0.0", ".1.3.6.1.2.1.1.8.0", ".2.5"),
		requester, start)
	want := []string{"2.1.1.1 = Gauge32: 0", "2.1.2.1 = Gauge32: 100", "2.1.2.5 = endOfMibView",
		`1.3.6.1.2.1.1.1.0 = OCTET STRING: "a responder under test"`, "1.1.0 = INTEGER: 0", "2.5 = endOfMibView"}
	if diff := cmp.Diff(want, shown(t, decoded(t, out))); diff != "" {
		t.Error(diff)
	}
}

func TestGetBulk(t *testing.T) {
	for _, c := range []struct {
		rule           string
		non            uint8
		repetitions    uint32
		names, answers []string
	}{
		{"one repeater", 0, 3, []string{"2.1.1"}, []string{"2.1.1.1 = Gauge32: 0", "2.1.1.2 = Gauge32: 1", "2.1.1.3 = Gauge32: 2"}},
		{"non-repeaters come once and first", 1, 2, []string{"2.1.1.2", "2.1.1", "2.1.2"},
			[]string{"2.1.1.3 = Gauge32: 2", "2.1.1.1 = Gauge32: 0", "2.1.2.1 = Gauge32: 100", "2.1.1.2 = Gauge32: 1", "2.1.2.2 = Gauge32: 101"}},
		{"more non-repeaters than names", 9, 5, []string{"2.1.1", "2.1.2"}, []string{"2.1.1.1 = Gauge32: 0", "2.1.2.1 = Gauge32: 100"}},
		{"no repetitions", 0, 0, []string{"2.1.1"}, nil},
		{"the end is under the last name given", 0, 9, []string{"2.1.2.4"}, []string{"2.1.2.5 = Gauge32: 104", "2.1.2.5 = endOfMibView"}},
		{"a repetition of ends is the last", 0, 50, []string{"2.1.2.5", ".2.5"}, []string{"2.1.2.5 = endOfMibView", "2.5 = endOfMibView"}},
		{"an ended column goes on beside one that has not", 0, 3, []string{"2.1.2.5", "2.1.2.2"},
			[]string{"2.1.2.5 = endOfMibView", "2.1.2.3 = Gauge32: 102", "2.1.2.5 = endOfMibView", "2.1.2.4 = Gauge32: 103",
				"2.1.2.5 = endOfMibView", "2.1.2.5 = Gauge32: 104"}},
		{"no names", 0, 10, nil, nil},
		{"from the system group into the table", 0, 3, []string{".1.3.6.1.2.1.1.7.0"},
			[]string{"1.3.6.1.2.1.1.8.0 = TimeTicks: 0", "1.1.0 = INTEGER: 0", "1.2.0 = INTEGER: -1"}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			x := newResponder(t, everyType(t), nil).trusted()
			out, reason, err := x.answer(ask(t, gosnmp.GetBulkRequest, bulk(c.non, c.repetitions), c.names...), requester, start)
			if reason != noReason {
				t.Fatal(reason, err)
			}
			if diff := cmp.Diff(c.answers, shown(t, decoded(t, out))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestNegativeNumbersOfGetBulkCountAsZero(t *testing.T) {
	x := newResponder(t, everyType(t), nil).trusted()
	request := ask(t, gosnmp.GetBulkRequest, bulk(1, 1), "2.1.1", "2.1.2")
	at := strings.Index(string(request), "\x02\x01\x01\x02\x01\x01") // non-repeaters, max-repetitions
	request[at+2], request[at+5] = 0xff, 0xff
	out, reason, err := x.answer(request, requester, start)
	if reason != noReason || len(decoded(t, out).Variables) != 0 {
		t.Fatalf("answered %v (%v, %v)", out, reason, err)
	}
}

func TestEveryTypeSurvivesTheWire(t *testing.T) {
	table := everyType(t)
	x := newResponder(t, table, nil).trusted()
	for i := range table.Len() {
		want := table.At(i)
		out, reason, err := x.answer(ask(t, gosnmp.GetRequest, nil, "."+want.Name.String()), requester, start)
		if reason != noReason {
			t.Fatal(reason, err)
		}
		if got := variable(t, decoded(t, out).Variables[0]); got.String() != want.String() {
			t.Errorf("%v came as %v", want, got)
		}
	}
}

func TestAnAnswerKeepsToTheMessageSize(t *testing.T) {
	for _, size := range []int{MinMessage, DefaultMessage, MaxMessage} {
		x := newResponder(t, counts(t, 10_000, 1<<60), func(c *Config) { c.MaxMessage = size }).trusted()
		out, _, _ := x.answer(ask(t, gosnmp.GetBulkRequest, bulk(0, 9_999_999), "3"), requester, start)
		packet := decoded(t, out)
		// 32 octets is more than a variable of this table takes.
		if len(out) > size || len(out) < size-32 || len(packet.Variables) == 0 {
			t.Errorf("of %d octets, %d are used for %d variables", size, len(out), len(packet.Variables))
		}
		if last := packet.Variables[len(packet.Variables)-1]; gosnmp.ToBigInt(last.Value).Uint64() != 1<<60+uint64(len(packet.Variables)-1) {
			t.Errorf("the last of %d variables is %v", len(packet.Variables), last)
		}
	}
}

func TestTooBigHasNoVariables(t *testing.T) {
	table := newTable(t, []smi.OID{root.Append(1, 0), root.Append(2, 0), root.Append(3, 0)}, []smi.OID{root.Append(1), root.Append(2), root.Append(3)},
		[]smi.Value{smi.OctetString("small"), smi.OctetString(strings.Repeat("x", 400)), smi.OctetString(strings.Repeat("x", 500))})
	r := newResponder(t, table, func(c *Config) { c.MaxMessage = MinMessage })
	x := r.trusted()
	for i, request := range [][]byte{
		ask(t, gosnmp.GetRequest, nil, "1.0", "2.0", "2.0"),
		ask(t, gosnmp.GetNextRequest, nil, "2.0"),
		ask(t, gosnmp.GetBulkRequest, bulk(0, 5), "2.0"),
		ask(t, gosnmp.SetRequest, nil, strings.Split(strings.TrimSuffix(strings.Repeat("1.0 ", 30), " "), " ")...),
	} {
		out, reason, err := x.answer(request, requester, start)
		if reason != noReason {
			t.Fatal(i, reason, err)
		}
		packet := decoded(t, out)
		if packet.Error != gosnmp.TooBig || packet.ErrorIndex != 0 || len(packet.Variables) != 0 {
			t.Errorf("%d: error %v at %d with %d variables", i, packet.Error, packet.ErrorIndex, len(packet.Variables))
		}
	}
	if r.counters.tooBig.Load() != 4 || r.counters.variables.Load() != 0 {
		t.Errorf("counted %d as too big and %d variables", r.counters.tooBig.Load(), r.counters.variables.Load())
	}
	out, _, _ := x.answer(ask(t, gosnmp.GetBulkRequest, bulk(0, 5), "1"), requester, start)
	if packet := decoded(t, out); len(packet.Variables) != 2 || packet.Error != gosnmp.NoError {
		t.Errorf("a GetBulk of which two variables fit answered %+v", packet.Variables)
	}
}

func TestSetIsRejectedAtTheFirstVariable(t *testing.T) {
	x := newResponder(t, everyType(t), nil).trusted()
	request := ask(t, gosnmp.SetRequest, func(p *gosnmp.SnmpPacket) {
		p.Variables = []gosnmp.SnmpPDU{{Name: ".1.3.6.1.2.1.1.5.0", Type: gosnmp.OctetString, Value: "mine"},
			{Name: "." + root.String() + ".1.1.0", Type: gosnmp.Integer, Value: 7}}
	})
	out, _, _ := x.answer(request, requester, start)
	packet := decoded(t, out)
	if packet.Error != gosnmp.NotWritable || packet.ErrorIndex != 1 {
		t.Errorf("error %v at %d", packet.Error, packet.ErrorIndex)
	}
	want := []string{`1.3.6.1.2.1.1.5.0 = OCTET STRING: "mine"`, "1.1.0 = INTEGER: 7"}
	if diff := cmp.Diff(want, shown(t, packet)); diff != "" {
		t.Error(diff)
	}
}

func TestWhatSNMPCannotEncodeIsAGeneralError(t *testing.T) {
	table := newTable(t, []smi.OID{root.Append(1, 0), root.Append(2, 0), root.Append(3, 0), {7, 1}}, nil,
		[]smi.Value{smi.Integer(1), {Type: 99}, smi.ObjectID(smi.OID{3, 40, 1}), smi.Integer(1)})
	x := newResponder(t, table, nil).trusted()
	for i, request := range [][]byte{
		ask(t, gosnmp.GetRequest, nil, "1.0", "2.0"),
		ask(t, gosnmp.GetRequest, nil, "1.0", "3.0"),
		ask(t, gosnmp.GetBulkRequest, bulk(1, 5), "1", "1"),
		ask(t, gosnmp.GetNextRequest, nil, "1", "3.0"),
	} {
		out, _, _ := x.answer(request, requester, start)
		if packet := decoded(t, out); packet.Error != gosnmp.GenErr || packet.ErrorIndex != 2 {
			t.Errorf("%d: error %v at %d", i, packet.Error, packet.ErrorIndex)
		}
	}
}

func TestWithoutATableThereIsTheSystemGroup(t *testing.T) {
	x := newResponder(t, nil, nil).trusted()
	out, _, _ := x.answer(ask(t, gosnmp.GetBulkRequest, bulk(0, 20), ".1.3"), requester, start)
	want := []string{`1.3.6.1.2.1.1.1.0 = OCTET STRING: "a responder under test"`,
		"1.3.6.1.2.1.1.2.0 = OBJECT IDENTIFIER: " + root.String(), "1.3.6.1.2.1.1.3.0 = TimeTicks: 0",
		`1.3.6.1.2.1.1.4.0 = OCTET STRING: "ops"`, `1.3.6.1.2.1.1.5.0 = OCTET STRING: "host"`,
		`1.3.6.1.2.1.1.6.0 = OCTET STRING: "rack 7"`, "1.3.6.1.2.1.1.7.0 = INTEGER: 72", "1.3.6.1.2.1.1.8.0 = TimeTicks: 0",
		"1.3.6.1.2.1.1.8.0 = endOfMibView"}
	if diff := cmp.Diff(want, shown(t, decoded(t, out))); diff != "" {
		t.Error(diff)
	}
	out, _, _ = x.answer(ask(t, gosnmp.GetRequest, nil, "1.0"), requester, start)
	if diff := cmp.Diff([]string{"1.0 = noSuchObject"}, shown(t, decoded(t, out))); diff != "" {
		t.Error(diff)
	}
}

func TestTheSystemGroupIsMergedWhereverTheTableLies(t *testing.T) {
	own := smi.OID{1, 3, 6, 1, 2, 1, 1}
	table := newTable(t, []smi.OID{{1, 2, 1}, own.Append(1, 0), own.Append(3, 0, 1), {1, 4}}, nil,
		[]smi.Value{smi.Integer(1), smi.Integer(2), smi.Integer(3), smi.Integer(4)})
	x := newResponder(t, table, nil).trusted()
	out, _, _ := x.answer(ask(t, gosnmp.GetBulkRequest, bulk(0, 50), ".0.0"), requester, start)
	var names []string
	for _, v := range decoded(t, out).Variables {
		names = append(names, strings.TrimPrefix(v.Name, "."+own.String()))
	}
	want := []string{".1.2.1", ".1.0", ".2.0", ".3.0", ".3.0.1", ".4.0", ".5.0", ".6.0", ".7.0", ".8.0", ".1.4", ".1.4"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
}

func TestSilenceIsCountedByItsReason(t *testing.T) {
	get := ask(t, gosnmp.GetRequest, nil, "1.1.0")
	retagged := func(tag byte) []byte {
		at := strings.Index(string(get), "public") + len("public")
		out := append([]byte(nil), get...)
		out[at] = tag
		return out
	}
	version := func(v gosnmp.SnmpVersion) []byte {
		return ask(t, gosnmp.GetRequest, func(p *gosnmp.SnmpPacket) { p.Version = v }, "1.1.0")
	}
	community := func(c string) []byte {
		return ask(t, gosnmp.GetRequest, func(p *gosnmp.SnmpPacket) { p.Community = c }, "1.1.0")
	}
	v3 := []byte{0x30, 0x07, 0x02, 0x01, 0x03, 0x30, 0x02, 0x05, 0x00}
	for _, c := range []struct {
		rule   string
		packet []byte
		want   reason
	}{
		{"SNMPv1", version(gosnmp.Version1), otherVersion},
		{"SNMPv3", v3, otherVersion},
		{"another community", community("private"), wrongCommunity},
		{"no community", community(""), wrongCommunity},
		{"the community and more", community("public "), wrongCommunity},
		{"a response", retagged(0xa2), notRequest},
		{"a v1 trap", retagged(0xa4), notRequest},
		{"an inform", retagged(0xa6), notRequest},
		{"a trap", retagged(0xa7), notRequest},
		{"a report", retagged(0xa8), notRequest},
		{"a PDU that there is not", retagged(0xa9), malformed},
		{"nothing", nil, malformed},
		{"text", []byte("GET / HTTP/1.1\r\n\r\n"), malformed},
		{"half a message", get[:len(get)/2], malformed},
		{"a message and more", append(append([]byte(nil), get...), 0), malformed},
		{"an integer without octets", append(append([]byte(nil), get[:len(get)-2]...), 0x02, 0), malformed},
		{"a length without end", []byte{0x30, 0x80, 0x02, 0x01, 0x01, 0, 0}, malformed},
		{"a length of 4 GiB", []byte{0x30, 0x84, 0xff, 0xff, 0xff, 0xff, 0}, malformed},
		{"a length of five octets", []byte{0x30, 0x85, 0, 0, 0, 0, 1, 0}, malformed},
	} {
		t.Run(c.rule, func(t *testing.T) {
			out, reason, err := newResponder(t, everyType(t), nil).trusted().answer(c.packet, requester, start)
			if out != nil || reason != c.want {
				t.Errorf("answered % x, reason %v (%v), want %v", out, reason, err, c.want)
			}
			if (err != nil) != (reason == malformed) {
				t.Errorf("reason %v with error %v", reason, err)
			}
		})
	}
}

func TestAWalkSeesOneTableForAWhile(t *testing.T) {
	table := counts(t, 5, 100)
	x := newResponder(t, nil, func(c *Config) { c.Table = func() *smi.Table { return table } }).trusted()
	other := netip.MustParseAddrPort("192.0.2.7:40001")
	for _, step := range []struct {
		rule   string
		newest uint64 // what the first row of the newest table says
		op     gosnmp.PDUType
		from   netip.AddrPort
		at     time.Duration
		want   uint64
	}{
		{"a walk begins", 100, gosnmp.GetNextRequest, requester, 0, 100},
		{"it goes on with its table", 200, gosnmp.GetBulkRequest, requester, 2 * time.Second, 100},
		{"a Get sees the newest", 200, gosnmp.GetRequest, requester, 2 * time.Second, 200},
		{"another port is another walk", 300, gosnmp.GetBulkRequest, other, 3 * time.Second, 300},
		{"just before the time is up", 400, gosnmp.GetBulkRequest, requester, DefaultHold - 1, 100},
		{"the time is up, however busy the walk", 400, gosnmp.GetBulkRequest, requester, DefaultHold, 400},
		{"the other one's time counts from its own start", 500, gosnmp.GetNextRequest, other, 3*time.Second + DefaultHold - 1, 300},
	} {
		table = counts(t, 5, step.newest)
		name := "3.1.1"
		if step.op == gosnmp.GetRequest {
			name = "3.1.1.1"
		}
		out, reason, err := x.answer(ask(t, step.op, bulk(0, 1), name), step.from, start.Add(step.at))
		if reason != noReason {
			t.Fatal(step.rule, reason, err)
		}
		if got := gosnmp.ToBigInt(decoded(t, out).Variables[0].Value).Uint64(); got != step.want {
			t.Errorf("%s: sees %d, want %d", step.rule, got, step.want)
		}
	}
}

func TestHeldTablesAreBounded(t *testing.T) {
	p := newPins(time.Minute)
	old, newest := counts(t, 1, 1), counts(t, 1, 2)
	from := func(i int) netip.AddrPort { return netip.AddrPortFrom(requester.Addr(), uint16(i)) }
	for i := range maxPins + 1 {
		p.table(from(i), start, old)
	}
	if len(p.tables) != maxPins || p.n != maxPins {
		t.Fatalf("%d tables held for %d requesters", len(p.tables), p.n)
	}
	if p.table(from(maxPins), start, newest) != old {
		t.Error("the last requester lost its table")
	}
	if p.table(from(0), start, newest) != newest {
		t.Error("the first requester still has its table")
	}
	p.table(from(7), start.Add(time.Minute), newest)
	if len(p.tables) != 1 || p.n != 1 {
		t.Errorf("after the time is up %d tables are held", len(p.tables))
	}
	if p.table(from(8), start.Add(time.Minute), nil) != nil || p.n != 1 {
		t.Error("no table was held")
	}
}

func TestNewRejects(t *testing.T) {
	good := Config{Community: "public", Table: func() *smi.Table { return nil }}
	for rule, change := range map[string]func(*Config){
		"no community":              func(c *Config) { c.Community = "" },
		"a community of 256 octets": func(c *Config) { c.Community = strings.Repeat("x", 256) },
		"no table":                  func(c *Config) { c.Table = nil },
		"messages of 483 octets":    func(c *Config) { c.MaxMessage = 483 },
		"messages of 65,508 octets": func(c *Config) { c.MaxMessage = 65508 },
		"a negative packet rate":    func(c *Config) { c.PacketRate = -1 },
		"a rate beyond all hosts":   func(c *Config) { c.PacketRate = maxPacketRate + 1 },
		"a sysDescr of 256 octets":  func(c *Config) { c.System.Descr = strings.Repeat("x", 256) },
	} {
		cfg := good
		change(&cfg)
		if _, err := New(cfg); !errors.Is(err, ErrConfig) {
			t.Errorf("%s: error %v, want ErrConfig", rule, err)
		}
	}
	if _, err := New(good); err != nil {
		t.Error(err)
	}
}
