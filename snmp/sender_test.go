// SPDX-License-Identifier: Apache-2.0

package snmp

import (
	"errors"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/gosnmp/gosnmp"

	"github.com/pnagent/pnagent/mib/smi"
)

// stuck is a notification as an alarm sends it.
func stuck(text string) []smi.Variable {
	return []smi.Variable{
		{Name: smi.OID{1, 3, 6, 1, 6, 3, 1, 1, 4, 1, 0}, Value: smi.ObjectID(root.Append(0, 1))},
		{Name: root.Append(1, 1, 0), Value: smi.OctetString(text)},
	}
}

// notify delivers a notification, and returns the error if a sink refuses it at once.
func notify(s *Sender, variables []smi.Variable) error {
	failed := make(chan error, 1)
	s.Deliver(Delivery{Variables: variables, Done: func(err error) { failed <- err }})
	select {
	case err := <-failed:
		return err
	default:
		return nil
	}
}

func newSender(tb testing.TB, change func(*SenderConfig)) *Sender {
	tb.Helper()
	cfg := SenderConfig{Sinks: []string{"192.0.2.1:162"}, Community: "public", Inform: true, Timeout: 2 * time.Second, Repeats: 2,
		UpTime: func() uint32 { return 4711 }}
	if change != nil {
		change(&cfg)
	}
	s, err := NewSender(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func TestNewSenderRejects(t *testing.T) {
	for rule, change := range map[string]func(*SenderConfig){
		"no sink":                    func(c *SenderConfig) { c.Sinks = nil },
		"too many sinks":             func(c *SenderConfig) { c.Sinks = make([]string, maxSinks+1) },
		"a sink without a port":      func(c *SenderConfig) { c.Sinks = []string{"192.0.2.1"} },
		"a sink with port 0":         func(c *SenderConfig) { c.Sinks = []string{"192.0.2.1:0"} },
		"a sink with a port by name": func(c *SenderConfig) { c.Sinks = []string{"192.0.2.1:snmp-trap"} },
		"a sink without a host":      func(c *SenderConfig) { c.Sinks = []string{":162"} },
		"a sink twice":               func(c *SenderConfig) { c.Sinks = []string{"a:162", "b:162", "a:162"} },
		"no community":               func(c *SenderConfig) { c.Community = "" },
		"a community of 256 octets":  func(c *SenderConfig) { c.Community = strings.Repeat("x", 256) },
		"a negative time-out":        func(c *SenderConfig) { c.Timeout = -1 },
		"a time-out of an hour":      func(c *SenderConfig) { c.Timeout = time.Hour },
		"negative retries":           func(c *SenderConfig) { c.Repeats = -1 },
		"too many retries":           func(c *SenderConfig) { c.Repeats = maxRetries + 1 },
	} {
		cfg := SenderConfig{Sinks: []string{"[2001:db8::1]:162", "noc.example:162"}, Community: "public"}
		if _, err := NewSender(cfg); err != nil {
			t.Fatal(err)
		}
		change(&cfg)
		if _, err := NewSender(cfg); !errors.Is(err, ErrConfig) {
			t.Errorf("%s: error %v, want ErrConfig", rule, err)
		}
	}
}

func TestNotifyRejectsInvalidNotifications(t *testing.T) {
	good := stuck("it is stuck")
	upTime := smi.Variable{Name: smi.OID{1, 3, 6, 1, 2, 1, 1, 3, 0}, Value: smi.TimeTicks(7)}
	with := func(v ...smi.Variable) []smi.Variable { return append(stuck("it is stuck"), v...) }
	for _, c := range []struct {
		rule      string
		variables []smi.Variable
		want      error
	}{
		{"a good one", good, nil},
		{"one with its own sysUpTime", append([]smi.Variable{upTime}, good...), nil},
		{"one without objects", good[:1], nil},
		{"nothing", nil, ErrNotification},
		{"no snmpTrapOID", good[1:], ErrNotification},
		{"only sysUpTime", []smi.Variable{upTime}, ErrNotification},
		{"sysUpTime twice", append([]smi.Variable{upTime, upTime}, good...), ErrNotification},
		{"sysUpTime that is no time", append([]smi.Variable{{Name: upTime.Name, Value: smi.Gauge32(7)}}, good...), ErrNotification},
		{"snmpTrapOID that is no OID", []smi.Variable{{Name: good[0].Name, Value: smi.OctetString("x")}}, ErrNotification},
		{"an exception as a value", with(smi.Variable{Name: root, Value: smi.NoSuchInstance()}), ErrNotification},
		{"a value of no type", with(smi.Variable{Name: root}), ErrNotification},
		{"a name that BER cannot say", with(smi.Variable{Name: smi.OID{7, 1}, Value: smi.Null()}), ErrNotification},
		{"as large as there may be", with(smi.Variable{Name: root, Value: smi.OctetString(strings.Repeat("x", 3950))}), nil},
		{"too large", with(smi.Variable{Name: root, Value: smi.OctetString(strings.Repeat("x", MaxNotification))}), ErrTooLarge},
		{"too many", with(slices.Repeat(good[1:], 10_000)...), ErrTooLarge},
	} {
		s := newSender(t, nil)
		if err := notify(s, c.variables); !errors.Is(err, c.want) {
			t.Errorf("%s: error %v, want %v", c.rule, err, c.want)
		}
		if queued := s.Stats()[0].Queued; (queued == 1) != (c.want == nil) {
			t.Errorf("%s: %d are queued", c.rule, queued)
		}
	}
}

func TestSysUpTimeComesFirstOnce(t *testing.T) {
	upTime := smi.Variable{Name: smi.OID{1, 3, 6, 1, 2, 1, 1, 3, 0}, Value: smi.TimeTicks(7)}
	for _, c := range []struct {
		inform    bool
		tag       gosnmp.PDUType
		variables []smi.Variable
		want      string
	}{
		{false, gosnmp.SNMPv2Trap, stuck("x"), "1.3.6.1.2.1.1.3.0 = TimeTicks: 4711"},
		{true, gosnmp.InformRequest, append([]smi.Variable{upTime}, stuck("x")...), "1.3.6.1.2.1.1.3.0 = TimeTicks: 7"},
	} {
		s := newSender(t, func(cfg *SenderConfig) { cfg.Inform = c.inform })
		n, err := s.encode(c.variables)
		if err != nil {
			t.Fatal(err)
		}
		packet := decoded(t, withCommunity([]byte("public"), n.pdu))
		want := []string{c.want, "1.3.6.1.6.3.1.1.4.1.0 = OBJECT IDENTIFIER: " + root.String() + ".0.1", `1.1.0 = OCTET STRING: "x"`}
		if diff := cmp.Diff(want, shown(t, packet)); diff != "" {
			t.Error(diff)
		}
		if packet.PDUType != c.tag || packet.RequestID != uint32(n.id) || packet.Community != "public" || packet.Error != 0 {
			t.Errorf("got %+v; want PDU %v with request id %d and community public", packet, c.tag, n.id)
		}
	}
}

func TestUpTimeCountsFromTheBeginning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSender(t, func(c *SenderConfig) { c.UpTime = nil })
		time.Sleep(90 * time.Second)
		n, err := s.encode(stuck("x"))
		if err != nil {
			t.Fatal(err)
		}
		if got := shown(t, decoded(t, withCommunity([]byte("public"), n.pdu)))[0]; got != "1.3.6.1.2.1.1.3.0 = TimeTicks: 9000" {
			t.Error(got)
		}
	})
}

func TestTenThousandTrapsAreBounded(t *testing.T) {
	s := newSender(t, nil)
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	variables := append(stuck("x"), smi.Variable{Name: root.Append(2, 0), Value: smi.OctetString(strings.Repeat("x", 3900))})
	before := heap()
	for range 10_000 {
		_ = notify(s, variables)
	}
	if grown := int64(heap()) - int64(before); grown > 2*MaxQueue*MaxNotification {
		t.Errorf("%d octets are held for 10,000 notifications", grown)
	}
	compare(t, s.Stats()[0], SinkStats{Queued: MaxQueue, Lost: map[string]uint64{"queue_full": 10_000 - MaxQueue}})
}

// BenchmarkNotify lays out a notification and gives it to 1 and to 8 sinks.
// The base lays it out with gosnmp.
func BenchmarkNotify(b *testing.B) {
	for name, sinks := range map[string][]string{"sinks=1": {"a:1"}, "sinks=8": {"a:1", "a:2", "a:3", "a:4", "a:5", "a:6", "a:7", "a:8"}} {
		b.Run(name, func(b *testing.B) {
			s := newSender(b, func(c *SenderConfig) { c.Sinks = sinks })
			variables := stuck("it is stuck")
			b.ReportAllocs()
			for b.Loop() {
				if err := notify(s, variables); err != nil {
					b.Fatal(err)
				}
				for _, k := range s.sinks {
					k.queue.Take()
				}
			}
		})
	}
	b.Run("base=gosnmp", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			packet := &gosnmp.SnmpPacket{Version: gosnmp.Version2c, Community: "public", PDUType: gosnmp.SNMPv2Trap, RequestID: 1,
				Variables: []gosnmp.SnmpPDU{{Name: ".1.3.6.1.2.1.1.3.0", Type: gosnmp.TimeTicks, Value: uint32(4711)},
					{Name: ".1.3.6.1.6.3.1.1.4.1.0", Type: gosnmp.ObjectIdentifier, Value: ".1.3.6.1.4.1.8072.9999.9999.0.1"},
					{Name: ".1.3.6.1.4.1.8072.9999.9999.1.1.0", Type: gosnmp.OctetString, Value: "it is stuck"}}}
			message, err := packet.MarshalMsg()
			if err != nil {
				b.Fatal(err)
			}
			_, _ = io.Discard.Write(message)
		}
	})
}
