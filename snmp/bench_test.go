// SPDX-License-Identifier: Apache-2.0

package snmp

import (
	"bytes"
	"context"
	"errors"
	"net"
	"slices"
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

// BenchmarkWalk walks the table over the loopback, one packet after the other: what
// one manager sees. In between, the same client has the same conversation with an echo
// that has the answers ready. Its speed is the socket's share. The times are those
// that nine of ten walks exceed: other processes of the machine lengthen the rest.
func BenchmarkWalk(b *testing.B) {
	table := places(b)
	for _, c := range []struct {
		name string
		size int
		ask  asking
	}{
		{"octets=1472", DefaultMessage, asking{tagGetBulk, 50, 2}},
		{"octets=65507", MaxMessage, asking{tagGetBulk, 5000, 2}},
		{"getnext", DefaultMessage, asking{tagGetNext, 0, 10}},
	} {
		b.Run(c.name, func(b *testing.B) {
			own := newWalker(b, c.ask, serve(b, newResponder(b, table, func(r *Config) {
				r.MaxMessage, r.Now, r.PacketRate, r.OctetRate = c.size, time.Now, maxPacketRate, maxPacketRate
			})))
			own.walk(b, func([]byte) {}) // proves the address
			var ready [][]byte
			variables := own.walk(b, func(answer []byte) { ready = append(ready, bytes.Clone(answer)) })
			next := 0
			echo := newWalker(b, c.ask, respond(b, func([]byte) []byte {
				next++
				return ready[(next-1)%len(ready)]
			}))
			var took, echoTook []time.Duration
			for b.Loop() {
				before := time.Now()
				own.walk(b, func([]byte) {})
				between := time.Now()
				echo.walk(b, func([]byte) {})
				took, echoTook = append(took, between.Sub(before)), append(echoTook, time.Since(between))
			}
			slices.Sort(took)
			slices.Sort(echoTook)
			walk, walkOfEcho := took[len(took)/10].Seconds(), echoTook[len(took)/10].Seconds()
			b.ReportMetric(float64(variables)/walk, "variables/s")
			b.ReportMetric(float64(variables)/walkOfEcho, "echo-variables/s")
			b.ReportMetric(walkOfEcho/walk, "of-echo")
		})
	}
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

// asking is where a walker starts, and how it continues from a name.
type asking struct {
	op          byte // the tag of the PDU
	repetitions int  // of a GetBulk
	column      uint32
}

// walker is a manager that walks from a column to the end of the table. It is as thin as
// can be, so that it is not what is measured.
type walker struct {
	asking
	conn            *net.UDPConn
	request, answer []byte
}

func newWalker(b *testing.B, ask asking, addr *net.UDPAddr) *walker {
	b.Helper()
	conn, err := net.DialUDP("udp", nil, addr)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { conn.Close() })
	return &walker{asking: ask, conn: conn, answer: make([]byte, maxDatagram)}
}

// walk walks to the end and returns the number of variables.
func (w *walker) walk(b *testing.B, each func(answer []byte)) (variables int) {
	last, _ := appendOID(nil, root.Append(1, 3, 1, w.column))
	if err := w.conn.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		b.Fatal(err)
	}
	for last != nil {
		w.request = w.from(w.request[:0], last)
		if _, err := w.conn.Write(w.request); err != nil {
			b.Fatal(err)
		}
		n, err := w.conn.Read(w.answer)
		if err != nil {
			b.Fatal(err)
		}
		each(w.answer[:n])
		var count int
		count, last = skim(b, w.answer[:n])
		variables += count
	}
	return variables
}

// from writes a request for what comes after the encoded name. All lengths are short.
func (a asking) from(dst, name []byte) []byte {
	dst = append(dst, tagSequence, 0)
	dst = appendInteger(dst, tagInteger, version2c)
	dst = appendOctets(dst, tagOctetString, "public")
	pdu := len(dst)
	dst = append(dst, a.op, 0)
	dst = appendInteger(dst, tagInteger, 1)
	dst = appendInteger(dst, tagInteger, 0)
	dst = appendInteger(dst, tagInteger, int64(a.repetitions))
	list := len(dst)
	dst = append(dst, tagSequence, 0, tagSequence, 0)
	dst = append(append(dst, name...), byte(smi.TypeNull), 0)
	dst[1], dst[pdu+1], dst[list+1], dst[list+3] = byte(len(dst)-2), byte(len(dst)-pdu-2), byte(len(dst)-list-2), byte(len(dst)-list-4)
	return dst
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
		binding = list.expect(tagSequence)
		if list.err != nil {
			b.Fatal(list.err)
		}
	}
	inner := reader{rest: binding}
	inner.expect(tagObjectID)
	if inner.err != nil {
		b.Fatal(inner.err)
	}
	if inner.rest[0] == byte(smi.TypeEndOfMibView) {
		return count, nil
	}
	return count, binding[:len(binding)-len(inner.rest)]
}
