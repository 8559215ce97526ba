// SPDX-License-Identifier: Apache-2.0

package snmp

import (
	"bytes"
	"testing"

	"github.com/gosnmp/gosnmp"

	"github.com/pnagent/pnagent/mib/smi"
)

// FuzzAnswer sends any bytes. There is no panic; an answer keeps to the
// message size, and gosnmp reads it unless it is a refusal with the bindings
// of the request.
func FuzzAnswer(f *testing.F) {
	for _, op := range []gosnmp.PDUType{gosnmp.GetRequest, gosnmp.GetNextRequest, gosnmp.SetRequest, gosnmp.GetResponse, gosnmp.SNMPv2Trap} {
		f.Add(ask(f, op, nil, "1.1.0", "2.1.1.3", ".0.0"), uint16(0))
	}
	f.Add(ask(f, gosnmp.GetBulkRequest, bulk(1, 1000), "1", "2.1", "2.1.2"), uint16(3000))
	f.Add([]byte{0x30, 0x84, 0xff, 0xff, 0xff, 0xff}, uint16(0))
	table := everyType(f)
	client := &gosnmp.GoSNMP{Version: gosnmp.Version2c}
	f.Fuzz(func(t *testing.T, packet []byte, size uint16) {
		limit := min(max(int(size), MinMessage), MaxMessage)
		x := newResponder(t, table, func(c *Config) { c.MaxMessage = limit }).trusted()
		for range 2 { // the second time in memory that was used before
			out, reason, _ := x.answer(packet, requester, start)
			if (out == nil) != (reason != noReason) {
				t.Fatalf("answer % x for reason %v", out, reason)
			}
			if out == nil {
				return
			}
			if len(out) > limit {
				t.Fatalf("%d octets for a limit of %d", len(out), limit)
			}
			answer, err := client.SnmpDecodePacket(out)
			if sent := x.request.bindings; err != nil && len(sent) > 0 && bytes.HasSuffix(out, sent) {
				continue // sent back as it came: gosnmp looks inside an Opaque, we do not
			}
			if err != nil {
				t.Fatalf("gosnmp cannot decode % x: %v", out, err)
			}
			if answer.PDUType != gosnmp.GetResponse || answer.Community != "public" {
				t.Fatalf("answered %+v", answer)
			}
		}
	})
}

// FuzzAnswer3 sends any bytes as a message of SNMPv3, or as the PDU in a message
// that a user has encrypted. There is no panic, and an address is not sent more than
// five times what it sent.
func FuzzAnswer3(f *testing.F) {
	r := newResponder(f, everyType(f), secured(f))
	user := combination{"SHA-256", "AES-128"}
	k := r.secureKeys(user.name())
	for _, c := range combinations() {
		f.Add(ask3(f, r, c, start, nil), false)
	}
	f.Add(ask3(f, r, user, start, func(e *envelope) { e.engineID, e.flags = nil, flagReportable }), false)
	f.Add(ask3(f, r, user, start, func(e *envelope) { e.boots = 7 }), false)
	for _, op := range []byte{tagGet, tagGetNext, tagGetBulk, tagSet, tagTrap, tagReport} {
		m := message{limit: MaxMessage}
		m.open(nil, op, 1, 0, 50)
		m.add(root.Append(1), smi.Null())
		f.Add(bytes.Clone(m.finish()), true)
	}
	f.Fuzz(func(t *testing.T, packet []byte, inside bool) {
		if inside {
			if len(packet) > maxDatagram-300 {
				return
			}
			own := r.cfg.Engine
			packet = k.seal(nil, &envelope{id: 1, maxSize: 1000, flags: k.level() | flagReportable, engineID: own.id, boots: int32(own.boots)}, own.id, packet)
		}
		x := r.newExchange()
		sent := bytes.Clone(packet)
		for n := range 2 { // the second time in memory that was used before
			out, why, _ := x.answer(append([]byte(nil), sent...), requester, start)
			if (out == nil) != (why != noReason) || len(out) > 2*maxAmplification*len(sent) || n == 0 && len(out) > maxAmplification*len(sent) {
				t.Fatalf("%d octets for %d, reason %v", len(out), len(sent), why)
			}
		}
	})
}

// FuzzAck sends any bytes as the answer to an inform. There is no panic, and
// what is taken for an acknowledgement is one for gosnmp too.
func FuzzAck(f *testing.F) {
	f.Add(reply("public", tagResponse, 4711, noError))
	f.Add(reply("public", tagResponse, -1, genErr))
	f.Add(reply("private", tagResponse, 4711, noError))
	f.Add(reply("public", tagReport, 4711, noError))
	for _, op := range []gosnmp.PDUType{gosnmp.GetResponse, gosnmp.InformRequest, gosnmp.SNMPv2Trap} {
		f.Add(ask(f, op, nil, "1.1.0", "2.1.1.3"))
	}
	f.Add([]byte{0x30, 0x84, 0xff, 0xff, 0xff, 0xff})
	client := &gosnmp.GoSNMP{Version: gosnmp.Version2c}
	f.Fuzz(func(t *testing.T, packet []byte) {
		got, err := decodeAck(packet, []byte("public"))
		if err != nil {
			return
		}
		answer, err := client.SnmpDecodePacket(packet)
		if err != nil {
			return // gosnmp also looks at the bindings
		}
		if answer.PDUType != gosnmp.GetResponse || answer.Community != "public" || answer.Version != gosnmp.Version2c ||
			int32(answer.RequestID) != got.id || uint8(answer.Error) != uint8(got.status) {
			t.Fatalf("took % x for %+v, gosnmp for %+v", packet, got, answer)
		}
	})
}
