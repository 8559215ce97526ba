// SPDX-License-Identifier: Apache-2.0

package agentx

import (
	"fmt"
	"testing"
	"time"

	"github.com/pnagent/pnagent/agentx/pdu"
	"github.com/pnagent/pnagent/mib/smi"
)

// BenchmarkAnswer is one PDU decoded, answered and encoded, without a
// connection, from tables of two sizes. The base is the same PDU decoded and
// answered with one constant variable for each range.
func BenchmarkAnswer(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		table := rows(b, n)
		var fifty []pdu.SearchRange
		for i := range 50 {
			fifty = append(fifty, pdu.SearchRange{Start: table.At(i * table.Len() / 50).Name})
		}
		one := fifty[25:26]
		for _, c := range []struct {
			name string
			body pdu.Body
		}{
			{"GetNext", &pdu.GetNext{Ranges: one}},
			{"Get50", &pdu.Get{Ranges: fifty}},
			{"GetNext50", &pdu.GetNext{Ranges: fifty}},
			{"GetBulk50", &pdu.GetBulk{MaxRepetitions: 50, Ranges: one}},
			{"GetBulk8x50", &pdu.GetBulk{MaxRepetitions: 50, Ranges: fifty[:8]}},
		} {
			b.Run(fmt.Sprintf("%s/rows=%d", c.name, n), func(b *testing.B) { benchAnswer(b, table, c.body) })
		}
		b.Run(fmt.Sprintf("Walk/rows=%d", n), func(b *testing.B) { benchWalk(b, table) })
		b.Run(fmt.Sprintf("base=constant/GetNext50/rows=%d", n), func(b *testing.B) { benchConstant(b, fifty) })
	}
}

// requestFrame is body as a frame's header and payload.
func requestFrame(b *testing.B, body pdu.Body) (pdu.Header, []byte) {
	b.Helper()
	raw := encode(b, pdu.PDU{Header: pdu.Header{Flags: network, Session: 7}, Body: body})
	h, err := pdu.ParseHeader((*[pdu.HeaderSize]byte)(raw))
	if err != nil {
		b.Fatal(err)
	}
	return h, raw[pdu.HeaderSize:]
}

func benchAnswer(b *testing.B, table *smi.Table, body pdu.Body) {
	header, payload := requestFrame(b, body)
	h := newHandler(func() *smi.Table { return table })
	now := time.Unix(1000, 0)
	variables := 0
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		header.Transaction++
		now = now.Add(50 * time.Microsecond)
		p, err := pdu.Decode(header, payload)
		if err != nil {
			b.Fatal(err)
		}
		answer := h.answer(now, p)
		variables += len(answer.Variables)
		if buf, err = pdu.Append(buf[:0], pdu.PDU{Header: header, Body: answer}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(variables), "ns/variable")
}

// benchWalk is a walk by GETNEXT: a transaction for each variable, which goes
// on where the last one ended.
func benchWalk(b *testing.B, table *smi.Table) {
	h := newHandler(func() *smi.Table { return table })
	now := time.Unix(1000, 0)
	p := pdu.PDU{Header: pdu.Header{Flags: network, Session: 7}}
	at := root.Append()
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		p.Header.Transaction++
		now = now.Add(50 * time.Microsecond)
		p.Body = &pdu.GetNext{Ranges: []pdu.SearchRange{{Start: at}}}
		answer := h.answer(now, p)
		if v := answer.Variables[0]; v.Value.IsException() {
			at = append(at[:0], root...)
		} else {
			at = append(at[:0], v.Name...) // the answer is good until the next
		}
		var err error
		if buf, err = pdu.Append(buf[:0], pdu.PDU{Header: p.Header, Body: answer}); err != nil {
			b.Fatal(err)
		}
	}
}

func benchConstant(b *testing.B, ranges []pdu.SearchRange) {
	header, payload := requestFrame(b, &pdu.GetNext{Ranges: ranges})
	constant := smi.Variable{Name: ranges[0].Start, Value: smi.Counter64(1 << 40)}
	answer := &pdu.Response{}
	variables := 0
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		p, err := pdu.Decode(header, payload)
		if err != nil {
			b.Fatal(err)
		}
		answer.Variables = answer.Variables[:0]
		for range p.Body.(*pdu.GetNext).Ranges {
			answer.Variables = append(answer.Variables, constant)
		}
		variables += len(answer.Variables)
		if buf, err = pdu.Append(buf[:0], pdu.PDU{Header: header, Body: answer}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(variables), "ns/variable")
}
