// SPDX-License-Identifier: Apache-2.0

package pdu_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/agentx/pdu"
)

// FuzzDecode reads any bytes as frames: none may panic, and what is read as a
// PDU must come back the same after encoding and decoding it.
func FuzzDecode(f *testing.F) {
	for _, c := range golden {
		f.Add(unhex(f, c.hex))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		r := bytes.NewReader(raw)
		for {
			h, payload, err := pdu.ReadFrame(r, nil)
			if err != nil {
				return
			}
			if p, err := pdu.Decode(h, payload); err == nil {
				roundTrip(t, p)
			}
		}
	})
}

// FuzzPayload is FuzzDecode without the need to find a header first.
func FuzzPayload(f *testing.F) {
	for _, c := range golden {
		raw := unhex(f, c.hex)
		f.Add(raw[1], raw[2], raw[pdu.HeaderSize:])
	}
	f.Fuzz(func(t *testing.T, typ, flags uint8, payload []byte) {
		h := pdu.Header{Type: pdu.Type(typ), Flags: pdu.Flags(flags)}
		if p, err := pdu.Decode(h, payload); err == nil {
			roundTrip(t, p)
		}
	})
}

// roundTrip does not compare bytes: reserved fields, padding and prefixes may
// be written in more than one way.
func roundTrip(t *testing.T, p pdu.PDU) {
	t.Helper()
	raw, err := pdu.Append(nil, p)
	if err != nil {
		// Encoding shortens every name that can be shortened, so that what
		// came in within the limits also goes out within them.
		t.Fatalf("decoded %+v cannot be encoded: %v", p, err)
	}
	h, payload, err := pdu.ReadFrame(bytes.NewReader(raw), nil)
	if err != nil {
		t.Fatal(err)
	}
	again, err := pdu.Decode(h, payload)
	if err != nil {
		t.Fatalf("encoded % x cannot be decoded: %v", raw, err)
	}
	p.Header.Length, again.Header.Length = 0, 0
	if diff := cmp.Diff(p, again); diff != "" {
		t.Fatal(diff)
	}
}
