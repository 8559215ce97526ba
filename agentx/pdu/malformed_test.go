// SPDX-License-Identifier: Apache-2.0

package pdu_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/pnagent/pnagent/agentx/pdu"
	"github.com/pnagent/pnagent/mib/smi"
)

func TestEveryTruncatedPayloadIsAnErrorOrAShorterList(t *testing.T) {
	for _, c := range golden {
		raw := unhex(t, c.hex)
		h, payload, err := pdu.ReadFrame(bytes.NewReader(raw), nil)
		if err != nil {
			t.Fatal(err)
		}
		for n := range payload {
			p, err := pdu.Decode(h, payload[:n])
			if err == nil {
				// Lists have no count: cut between two elements they are whole.
				again, err := pdu.Append(nil, p)
				if err != nil || len(again) != pdu.HeaderSize+n {
					t.Fatalf("%s cut at %d: %v, %v", c.name, n, p, err)
				}
			} else if !errors.Is(err, pdu.ErrParse) {
				t.Fatalf("%s cut at %d: %v, want ErrParse", c.name, n, err)
			}
		}
	}
}

func TestMalformedPayloadsAreRefused(t *testing.T) {
	for _, c := range []struct {
		rule string
		typ  pdu.Type
		hex  string
		want string
	}{
		{"type 0", 0, "", "unknown type 0"},
		{"type 19", 19, "", "unknown type 19"},
		{"bytes after the end", pdu.TypePing, "00000000", "4 bytes are left over"},
		{"an octet string longer than the payload", pdu.TypeOpen, "00000000 00000000 00000005 61626364", "5 bytes where 4"},
		{"an octet string of 4 GiB", pdu.TypeOpen, "00000000 00000000 ffffffff", "4294967295 bytes where 0"},
		{"padding that is not there", pdu.TypeAddAgentCaps, "00000000 00000001 61", "3 bytes are needed and 0"},
		{"more sub-identifiers than bytes", pdu.TypeRemoveAgentCaps, "02000000 00000001", "8 bytes are needed and 4"},
		{"129 sub-identifiers", pdu.TypeRemoveAgentCaps, "81000000" + strings.Repeat("00000001", 129), "129 sub-identifiers"},
		{"129 with the prefix", pdu.TypeRemoveAgentCaps, "7c040000" + strings.Repeat("00000001", 124), "129 sub-identifiers"},
		{"a range without an end", pdu.TypeGet, "00000000", "4 bytes are needed and 0"},
		{"an IpAddress of 5 bytes", pdu.TypeNotify, "00400000 00000000 00000005 0102030405000000", "IpAddress of 5"},
		{"a variable of type 1", pdu.TypeNotify, "00010000 00000000", "type 1"},
		{"a variable of type 258", pdu.TypeNotify, "01020000 00000000 00000000", "type 258"},
		{"half a Counter64", pdu.TypeNotify, "00460000 00000000 00000000", "8 bytes are needed and 4"},
		{"a GetBulk without its counts", pdu.TypeGetBulk, "0000", "2 bytes are needed and 0"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			_, err := pdu.Decode(pdu.Header{Type: c.typ, Flags: network}, unhex(t, c.hex))
			if !errors.Is(err, pdu.ErrParse) || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("error %v, want ErrParse with %q", err, c.want)
			}
		})
	}
}

func TestA128thSubIdentifierIsAllowed(t *testing.T) {
	for name, text := range map[string]string{
		"written out": "80000000" + strings.Repeat("00000001", 128),
		"prefixed":    "7b040000" + strings.Repeat("00000001", 123),
	} {
		p, err := pdu.Decode(pdu.Header{Type: pdu.TypeRemoveAgentCaps, Flags: network}, unhex(t, text))
		if err != nil {
			t.Fatal(name, err)
		}
		if got := len(p.Body.(*pdu.RemoveAgentCaps).ID); got != 128 {
			t.Errorf("%s: %d sub-identifiers", name, got)
		}
	}
}

func TestReservedFieldsAndPaddingAreIgnored(t *testing.T) {
	p, err := pdu.Decode(pdu.Header{Type: pdu.TypeAddAgentCaps, Flags: network}, unhex(t, "010400aa 00000001 00000001 78ffffff"))
	if err != nil {
		t.Fatal(err)
	}
	caps := p.Body.(*pdu.AddAgentCaps)
	if caps.ID.String() != "1.3.6.1.4.1" || caps.Description != "x" {
		t.Fatalf("got %+v; want 1.3.6.1.4.1 and the description x", caps)
	}
}

func TestNamesOfOnePDUDoNotOverlap(t *testing.T) {
	p, err := pdu.Decode(pdu.Header{Type: pdu.TypeGet, Flags: network},
		unhex(t, strings.Repeat("00040000 02000000 00000001 00000002", 50)))
	if err != nil {
		t.Fatal(err)
	}
	ranges := p.Body.(*pdu.Get).Ranges
	for i := range ranges {
		_ = append(ranges[i].Start, 99)
		_ = append(ranges[i].End, 99)
	}
	for i, r := range ranges {
		if r.Start.String() != "1.3.6.1.4" || r.End.String() != "1.2" {
			t.Fatalf("range %d is %v", i, r)
		}
	}
}

func TestFramingIsBounded(t *testing.T) {
	for _, c := range []struct {
		rule, hex string
		want      error
	}{
		{"nothing", "", io.EOF},
		{"half a header", "010d1000 00000000", io.ErrUnexpectedEOF},
		{"a payload that ends early", "010d1000 00000000 00000000 00000000 00000008 00000000", io.ErrUnexpectedEOF},
		{"a payload that never comes", "010d1000 00000000 00000000 00000000 00000008", io.ErrUnexpectedEOF},
		{"version 0", "000d1000 00000000 00000000 00000000 00000000", pdu.ErrVersion},
		{"version 2", "020d1000 00000000 00000000 00000000 00000000", pdu.ErrVersion},
		{"4 GiB", "010d1000 00000000 00000000 00000000 fffffffc", pdu.ErrLength},
		{"one word too many", "010d1000 00000000 00000000 00000000 00020004", pdu.ErrLength},
		{"a length in the other byte order", "010d0000 00000000 00000000 00000000 00000010", pdu.ErrLength},
		{"not a multiple of four", "010d1000 00000000 00000000 00000000 00000001 00", pdu.ErrLength},
	} {
		t.Run(c.rule, func(t *testing.T) {
			if _, _, err := pdu.ReadFrame(bytes.NewReader(unhex(t, c.hex)), nil); !errors.Is(err, c.want) {
				t.Fatalf("error %v, want %v", err, c.want)
			}
		})
	}
}

func TestAFrameMayComeOneByteAtATimeAndInAnyBuffer(t *testing.T) {
	raw := unhex(t, golden[0].hex)
	for _, size := range []int{0, 1, 20, 27, 28, 4096} {
		h, payload, err := pdu.ReadFrame(iotest.OneByteReader(bytes.NewReader(raw)), make([]byte, size))
		if err != nil {
			t.Fatal(err)
		}
		if h.Type != pdu.TypeOpen || !bytes.Equal(payload, raw[pdu.HeaderSize:]) {
			t.Fatalf("buffer of %d: %+v % x", size, h, payload)
		}
	}
}

func TestAppendRejectsValuesThatTheFormatCannotHold(t *testing.T) {
	tooLong := make(smi.OID, 129)
	huge := strings.Repeat("x", pdu.MaxPayload)
	for name, body := range map[string]pdu.Body{
		"a name of 129":             &pdu.RemoveAgentCaps{ID: tooLong},
		"a value of 129":            &pdu.Notify{Variables: []smi.Variable{{Value: smi.ObjectID(tooLong)}}},
		"a value without a type":    &pdu.Notify{Variables: []smi.Variable{{Name: smi.OID{1}}}},
		"a payload over the limit":  &pdu.AddAgentCaps{Description: huge},
		"a string over the limit":   &pdu.AddAgentCaps{Description: huge + "x"},
		"many strings that are not": &pdu.Notify{Variables: []smi.Variable{{Value: smi.Opaque(huge[:70000])}, {Value: smi.Opaque(huge[:70000])}}},
	} {
		t.Run(name, func(t *testing.T) {
			buf := []byte("kept")
			got, err := pdu.Append(buf, pdu.PDU{Body: body})
			if err == nil || string(got) != "kept" {
				t.Fatalf("got %q, error %v; want an error and an unchanged buffer", got, err)
			}
		})
	}
}
