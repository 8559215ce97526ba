// SPDX-License-Identifier: Apache-2.0

package pdu_test

import (
	"fmt"
	"testing"

	peer "github.com/posteo/go-agentx/pdu"
	"github.com/posteo/go-agentx/value"

	"github.com/pnagent/pnagent/agentx/pdu"
	"github.com/pnagent/pnagent/mib/smi"
)

// benchName has the length of a row of a table of ours.
var benchName = smi.OID{1, 3, 6, 1, 4, 1, 8072, 9999, 9999, 1, 1, 3, 1, 7, 3, 12}

// BenchmarkResponse encodes a Response of n Counter64s into a buffer that is
// there; the base is github.com/posteo/go-agentx.
func BenchmarkResponse(b *testing.B) {
	for _, n := range []int{1, 50} {
		response := &pdu.Response{}
		theirs := &peer.Response{}
		for range n {
			response.Variables = append(response.Variables, smi.Variable{Name: benchName, Value: smi.Counter64(1 << 40)})
			theirs.Variables.Add(value.OID(benchName), peer.VariableTypeCounter64, uint64(1<<40))
		}
		b.Run(fmt.Sprintf("variables=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			var buf []byte
			for b.Loop() {
				var err error
				if buf, err = pdu.Append(buf[:0], pdu.PDU{Body: response}); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("base=go-agentx/variables=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			packet := &peer.HeaderPacket{Header: &peer.Header{}, Packet: theirs}
			for b.Loop() {
				if _, err := packet.MarshalBinary(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkGetNext decodes what snmpd sends for each variable of a walk; the
// base is github.com/posteo/go-agentx.
func BenchmarkGetNext(b *testing.B) {
	raw, err := pdu.Append(nil, pdu.PDU{Body: &pdu.GetNext{
		Ranges: []pdu.SearchRange{{Start: benchName, End: smi.OID{1, 3, 6, 1, 4, 1, 8072, 9999, 10000}}},
	}})
	if err != nil {
		b.Fatal(err)
	}
	header := [pdu.HeaderSize]byte(raw)
	b.Run("ours", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			h, err := pdu.ParseHeader(&header)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := pdu.Decode(h, raw[pdu.HeaderSize:]); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("base=go-agentx", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var h peer.Header
			if err := h.UnmarshalBinary(raw[:pdu.HeaderSize]); err != nil {
				b.Fatal(err)
			}
			var next peer.GetNext
			if err := next.UnmarshalBinary(raw[pdu.HeaderSize:]); err != nil {
				b.Fatal(err)
			}
		}
	})
}
