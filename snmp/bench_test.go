// SPDX-License-Identifier: Apache-2.0

package snmp

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/gosnmp/gosnmp"

	"github.com/pnagent/pnagent/mib/smi"
)

// places is a table of 10 columns of 1,000 places: names, counters and ages.
func places(tb testing.TB) *smi.Table {
	tb.Helper()
	var names, objects []smi.OID
	var values []smi.Value
	for column := range uint32(10) {
		objects = append(objects, root.Append(1, 3, 1, column+1))
		for row := range uint32(1000) {
			names = append(names, root.Append(1, 3, 1, column+1, 1+row/100, 1+row%100))
			switch column {
			case 0:
				values = append(values, smi.OctetString("awaitingPayment"))
			case 1, 2, 3:
				values = append(values, smi.Counter64(uint64(row)*1e6))
			default:
				values = append(values, smi.Gauge32(row))
			}
		}
	}
	return newTable(tb, names, objects, values)
}

func TestAnAnswerAllocatesNothing(t *testing.T) {
	x := newResponder(t, places(t), nil).trusted()
	for _, request := range [][]byte{
		ask(t, gosnmp.GetRequest, nil, "1.3.1.2.1.1", "9"),
		ask(t, gosnmp.GetNextRequest, nil, "1.3.1.2.1.1", "9"),
		ask(t, gosnmp.GetBulkRequest, bulk(0, 100), "1.3.1.2", "1.3.1.3"),
		ask(t, gosnmp.SetRequest, nil, "1.3.1.2.1.1"),
		{0x30, 0x03, 1, 2, 3},
	} {
		if n := testing.AllocsPerRun(100, func() { x.answer(request, requester, start) }); n != 0 {
			t.Errorf("%v allocations for % x", n, request)
		}
	}
}

// unlimited is for what is quicker than any manager.
func unlimited(c *Config) { c.PacketRate, c.OctetRate = maxPacketRate, maxPacketRate }

// BenchmarkAnswer turns a GetBulk into a full message, in process. The base is
// the same handler with gosnmp's codec: decode, 50 steps in the table, marshal.
func BenchmarkAnswer(b *testing.B) {
	table := places(b)
	request := ask(b, gosnmp.GetBulkRequest, bulk(0, 50), "1.3.1.2")
	b.Run("own", func(b *testing.B) {
		x := newResponder(b, table, unlimited).trusted()
		variables, now := 0, start
		b.ReportAllocs()
		for b.Loop() {
			now = now.Add(5 * time.Microsecond) // more than a message takes of the rate
			if _, why, err := x.answer(request, requester, now); why != noReason {
				b.Fatal(why, err)
			}
			variables += x.response.variables
		}
		perVariable(b, variables)
	})
	b.Run("base=gosnmp", func(b *testing.B) {
		answer := gosnmpAnswer(b, table)
		variables := 0
		b.ReportAllocs()
		for b.Loop() {
			_, n := answer(request)
			variables += n
		}
		perVariable(b, variables)
	})
}

func perVariable(b *testing.B, variables int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(variables), "ns/variable")
	b.ReportMetric(float64(variables)/b.Elapsed().Seconds(), "variables/s")
}

// gosnmpAnswer is a handler of GetBulk on gosnmp's codec.
func gosnmpAnswer(tb testing.TB, table *smi.Table) func([]byte) ([]byte, int) {
	codec := &gosnmp.GoSNMP{Version: gosnmp.Version2c}
	return func(request []byte) ([]byte, int) {
		packet, err := codec.SnmpDecodePacket(request)
		if err != nil {
			tb.Fatal(err)
		}
		name, err := smi.ParseOID(packet.Variables[0].Name)
		if err != nil {
			tb.Fatal(err)
		}
		answer := &gosnmp.SnmpPacket{Version: packet.Version, Community: packet.Community, PDUType: gosnmp.GetResponse,
			RequestID: packet.RequestID}
		for range packet.MaxRepetitions {
			next, ok := table.Next(name)
			if !ok {
				break
			}
			pdu := gosnmp.SnmpPDU{Name: "." + next.Name.String(), Type: gosnmp.Asn1BER(next.Value.Type)}
			switch next.Value.Type {
			case smi.TypeOctetString:
				pdu.Value = next.Value.Str
			case smi.TypeCounter64:
				pdu.Value = next.Value.Num
			default:
				pdu.Value = uint32(next.Value.Num)
			}
			answer.Variables = append(answer.Variables, pdu)
			name = next.Name
		}
		out, err := answer.MarshalMsg()
		if err != nil {
			tb.Fatal(err)
		}
		return out, len(answer.Variables)
	}
}

// BenchmarkWalk walks the table by GetBulk over the loopback, one packet after
// the other: what one manager sees. The bases are the same conversation with
// an echo that has the answers ready, which is the socket's share, and with a
// handler on gosnmp's codec.
func BenchmarkWalk(b *testing.B) {
	table := places(b)
	for _, size := range []int{DefaultMessage, MaxMessage} {
		name := map[int]string{DefaultMessage: "octets=1472", MaxMessage: "octets=65507"}[size]
		b.Run("own/"+name, func(b *testing.B) {
			walkBench(b, serve(b, newResponder(b, table, func(c *Config) {
				c.MaxMessage, c.Now, c.PacketRate, c.OctetRate = size, time.Now, maxPacketRate, maxPacketRate
			})), size)
		})
	}
	b.Run("base=gosnmp/repetitions=50", func(b *testing.B) {
		answer := gosnmpAnswer(b, table)
		walkBench(b, respond(b, func(request []byte) []byte {
			out, _ := answer(request)
			return out
		}), DefaultMessage)
	})
	b.Run("base=echo/octets=1472", func(b *testing.B) {
		x := newResponder(b, table, nil).trusted()
		ready, _, _ := x.answer(ask(b, gosnmp.GetBulkRequest, bulk(0, 5000), "1.3.1.4"), requester, start)
		walkBench(b, respond(b, func([]byte) []byte { return ready }), DefaultMessage)
	})
}

// respond is an answering machine on the loopback, the bases' socket.
func respond(b *testing.B, answer func([]byte) []byte) *net.UDPAddr {
	b.Helper()
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		packet := make([]byte, maxDatagram)
		for ctx.Err() == nil {
			n, from, err := conn.ReadFromUDPAddrPort(packet)
			if err != nil {
				return
			}
			if _, err := conn.WriteToUDPAddrPort(answer(packet[:n]), from); err != nil {
				b.Error(err)
			}
		}
	}()
	b.Cleanup(func() {
		cancel()
		conn.Close()
		<-done
	})
	return conn.LocalAddr().(*net.UDPAddr)
}

// walkBench walks the table, again from the beginning when it ends. The client
// is as thin as can be, so that it is not what is measured.
func walkBench(b *testing.B, addr *net.UDPAddr, size int) {
	conn, err := net.DialUDP("udp", nil, addr)
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	repetitions := 5000
	if size == DefaultMessage {
		repetitions = 50
	}
	first, _ := appendOID(nil, root.Append(1, 3, 1, 2))
	request := getBulk(nil, first, repetitions)
	answer := make([]byte, maxDatagram)
	variables := 0
	for b.Loop() {
		if _, err := conn.Write(request); err != nil {
			b.Fatal(err)
		}
		if err := conn.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
			b.Fatal(err)
		}
		n, err := conn.Read(answer)
		if err != nil {
			b.Fatal(err)
		}
		count, last := skim(b, answer[:n])
		variables += count
		if last == nil {
			last = first
		}
		request = getBulk(request, last, repetitions)
	}
	perVariable(b, variables)
}

// getBulk writes a request for what comes after the encoded name.
func getBulk(dst, name []byte, repetitions int) []byte {
	var pdu []byte
	pdu = appendInteger(pdu, tagInteger, 1)
	pdu = appendInteger(pdu, tagInteger, 0)
	pdu = appendInteger(pdu, tagInteger, int64(repetitions))
	binding := append(append([]byte{}, name...), byte(smi.TypeNull), 0)
	pdu = appendOctets(pdu, tagSequence, appendOctets(nil, tagSequence, binding))
	message := appendInteger(nil, tagInteger, version2c)
	message = appendOctets(message, tagOctetString, "public")
	message = appendOctets(message, tagGetBulk, pdu)
	return appendOctets(dst[:0], tagSequence, message)
}

// skim counts the variables of an answer and returns the last name as it is
// encoded, nil at the end of the table.
func skim(b *testing.B, answer []byte) (count int, last []byte) {
	message, err := openMessage(answer)
	if err != nil {
		b.Fatal(err)
	}
	for range 2 {
		message.element()
	}
	pdu := reader{rest: message.expect(tagResponse)}
	for range 3 {
		pdu.element()
	}
	list := reader{rest: pdu.expect(tagSequence)}
	if err := errors.Join(message.err, pdu.err); err != nil {
		b.Fatal(err)
	}
	var binding []byte
	for ; len(list.rest) > 0; count++ {
		if binding = list.expect(tagSequence); list.err != nil {
			b.Fatal(list.err)
		}
	}
	if count == 0 {
		return 0, nil // how the base ends a table
	}
	inner := reader{rest: binding}
	if inner.expect(tagObjectID); inner.err != nil {
		b.Fatal(inner.err)
	}
	if inner.rest[0] == byte(smi.TypeEndOfMibView) {
		return count, nil
	}
	return count, binding[:len(binding)-len(inner.rest)]
}
