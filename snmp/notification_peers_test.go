// SPDX-License-Identifier: Apache-2.0

package snmp

import (
	"fmt"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/gosnmp/gosnmp"

	"github.com/pnagent/pnagent/mib/smi"
	"github.com/pnagent/pnagent/snmp/snmptest"
)

// everything is a notification with a variable of every type.
func everything(t *testing.T) []smi.Variable {
	variables := stuck("it is stuck")
	table := withoutOpaque(t)
	for i := range table.Len() {
		variables = append(variables, table.At(i))
	}
	return variables
}

// received is what a sink shall have: sysUpTime.0 before the rest.
func received(variables []smi.Variable) []string {
	out := []string{"1.3.6.1.2.1.1.3.0 = TimeTicks: 4711"}
	for _, v := range variables {
		out = append(out, v.String())
	}
	return out
}

// settle waits until a sender has nothing to do, and gives what its only sink
// counted.
func settle(s *Sender) SinkStats {
	for s.Stats()[0].Queued > 0 {
		runtime.Gosched()
	}
	return s.Stats()[0]
}

func TestSnmptrapdReceives(t *testing.T) {
	sink := snmptest.StartTrapd(t)
	for i, c := range []struct {
		pdu    string
		inform bool
		want   SinkStats
	}{
		{"TRAP2", false, SinkStats{Sent: 2}},
		{"INFORM", true, SinkStats{Sent: 2, Acknowledged: 2}},
	} {
		s := newSender(t, func(cfg *SenderConfig) {
			cfg.Sinks, cfg.Inform, cfg.Community, cfg.Timeout = []string{sink.Addr}, c.inform, "noc", 20*time.Second
		})
		run(t, s)
		for range 2 {
			if err := notify(s, everything(t)); err != nil {
				t.Fatal(err)
			}
		}
		compare(t, settle(s), c.want)
		for _, got := range sink.Wait(t, 2*i+2)[2*i:] {
			var variables []string
			for _, v := range got.Variables {
				variables = append(variables, v.String())
			}
			if diff := cmp.Diff(received(everything(t)), variables); diff != "" || got.PDU != c.pdu || got.Community != "noc" {
				t.Errorf("%s with community %s: %s", got.PDU, got.Community, diff)
			}
		}
	}
}

// A trap belongs to the engine of pnagent, an inform to that of snmptrapd.
func TestSnmptrapdReceivesAsAUser(t *testing.T) {
	engine, err := OpenEngine("", 32473, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, c := range combinations() {
		of := c.name()
		for _, option := range c.options()[3:] {
			if !strings.HasPrefix(option, "-") && !strings.HasPrefix(option, "auth") || option == authPassphrase {
				of += " " + option
			}
		}
		lines = append(lines, fmt.Sprintf("createUser -e 0x%x %s", engine.ID(), of), "createUser "+of)
	}
	sink, n := snmptest.StartTrapd(t, lines...), 0
	for _, c := range combinations() {
		for _, inform := range []bool{false, true} {
			s := newSender(t, func(cfg *SenderConfig) {
				cfg.Sinks, cfg.Inform, cfg.Community, cfg.Timeout = []string{sink.Addr}, inform, "", 20*time.Second
				cfg.User, cfg.Engine = c.user(t), engine
			})
			run(t, s)
			want, pdu := SinkStats{Sent: 2}, "TRAP2"
			if inform {
				want, pdu = SinkStats{Sent: 4, Acknowledged: 2}, "INFORM" // the first asks for the id and the time
			}
			for range 2 {
				if err := notify(s, everything(t)); err != nil {
					t.Fatal(err)
				}
			}
			compare(t, settle(s), want)
			for _, got := range sink.Wait(t, n+2)[n:] {
				var variables []string
				for _, v := range got.Variables {
					variables = append(variables, v.String())
				}
				if diff := cmp.Diff(received(everything(t)), variables); diff != "" || got.PDU != pdu || got.User != c.name() {
					t.Errorf("%s by %q; want %s by %q: %s", got.PDU, got.User, pdu, c.name(), diff)
				}
			}
			n += 2
		}
	}
}

func TestGosnmpReceives(t *testing.T) {
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	address := conn.LocalAddr().String()
	conn.Close()
	packets := make(chan *gosnmp.SnmpPacket, 10)
	listener := gosnmp.NewTrapListener()
	listener.Params = &gosnmp.GoSNMP{Version: gosnmp.Version2c, Community: "public", Logger: gosnmp.NewLogger(nil)}
	listener.OnNewTrap = func(p *gosnmp.SnmpPacket, _ *net.UDPAddr) {
		kept := *p // the listener makes its response of p
		packets <- &kept
	}
	ended := make(chan error, 1)
	go func() { ended <- listener.Listen(address) }()
	select {
	case <-listener.Listening():
	case err := <-ended:
		t.Fatal(err)
	}
	t.Cleanup(func() {
		listener.Close()
		<-ended
	})
	for tag, inform := range map[gosnmp.PDUType]bool{gosnmp.SNMPv2Trap: false, gosnmp.InformRequest: true} {
		s := newSender(t, func(c *SenderConfig) { c.Sinks, c.Inform, c.Timeout = []string{address}, inform, 20*time.Second })
		run(t, s)
		if err := notify(s, everything(t)); err != nil {
			t.Fatal(err)
		}
		want := SinkStats{Sent: 1}
		if inform {
			want.Acknowledged = 1
		}
		compare(t, settle(s), want)
		got := <-packets
		var variables []string
		for _, v := range got.Variables {
			variables = append(variables, variable(t, v).String())
		}
		if diff := cmp.Diff(received(everything(t)), variables); diff != "" || got.PDUType != tag {
			t.Errorf("got PDU %v; want %v; variables (-want +got): %s", got.PDUType, tag, diff)
		}
	}
}
