// SPDX-License-Identifier: Apache-2.0

package snmp

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/pnagent/pnagent/smi"
)

func TestNumbersTakeAsFewOctetsAsHoldThem(t *testing.T) {
	for _, c := range []struct {
		got, want []byte
	}{
		{appendInteger(nil, 2, 0), []byte{2, 1, 0}},
		{appendInteger(nil, 2, 127), []byte{2, 1, 0x7f}},
		{appendInteger(nil, 2, 128), []byte{2, 2, 0, 0x80}},
		{appendInteger(nil, 2, -128), []byte{2, 1, 0x80}},
		{appendInteger(nil, 2, -129), []byte{2, 2, 0xff, 0x7f}},
		{appendUnsigned(nil, 0x46, 1<<63-1), []byte{0x46, 8, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}},
		{appendUnsigned(nil, 0x46, 1<<63), []byte{0x46, 9, 0, 0x80, 0, 0, 0, 0, 0, 0, 0}},
	} {
		if !bytes.Equal(c.got, c.want) {
			t.Errorf("% x, want % x", c.got, c.want)
		}
	}
}

func TestIntegersAreRead(t *testing.T) {
	for _, c := range []struct {
		in   []byte
		want int32
		err  error
	}{
		{[]byte{2, 1, 0x80}, -128, nil},
		{[]byte{2, 4, 0x80, 0, 0, 0}, -1 << 31, nil},
		{[]byte{2, 4, 0x7f, 0xff, 0xff, 0xff}, 1<<31 - 1, nil},
		{[]byte{2, 0x81, 2, 0, 1}, 1, nil}, // both are longer than need be
		{[]byte{2, 0}, 0, errInteger},
		{[]byte{2, 5, 0, 0, 0, 0, 1}, 0, errInteger},
		{[]byte{4, 1, 1}, 0, errTag},
		{[]byte{2, 2, 1}, 0, errTruncated},
		{[]byte{0x1f, 1, 1}, 0, errTag},
	} {
		r := reader{c.in}
		if got, err := r.integer(); got != c.want || !errors.Is(err, c.err) {
			t.Errorf("% x: %d, %v, want %d, %v", c.in, got, err, c.want, c.err)
		}
	}
}

func TestObjectIdentifiersAreRead(t *testing.T) {
	long := bytes.Repeat([]byte{1}, 127)
	for _, c := range []struct {
		rule string
		in   []byte
		want string // "" is an error
	}{
		{"the first octet holds two", []byte{0x2b, 6, 1}, "1.3.6.1"},
		{"under 2 the second number may be large", []byte{0x88, 0x37, 3}, "2.999.3"},
		{"as large as there is", []byte{0x90, 0x80, 0x80, 0x80, 0x4f}, "2.4294967295"},
		{"but not larger", []byte{0x90, 0x80, 0x80, 0x80, 0x50}, ""},
		{"the largest number", []byte{0x2b, 0x8f, 0xff, 0xff, 0xff, 0x7f}, "1.3.4294967295"},
		{"one more", []byte{0x2b, 0x90, 0x80, 0x80, 0x80, 0x00}, ""},
		{"nothing", nil, ""},
		{"a number without an end", []byte{0x2b, 0x86}, ""},
		{"128 numbers", long[:127], smi.OID(slices.Concat([]uint32{0, 1}, slices.Repeat([]uint32{1}, 126))).String()},
		{"129 numbers", append(long, 1), ""},
	} {
		subs, err := appendSubs(nil, c.in)
		if c.want == "" {
			if !errors.Is(err, errOID) {
				t.Errorf("%s: %v, %v, want an error", c.rule, subs, err)
			}
			continue
		}
		if got := smi.OID(subs).String(); got != c.want || err != nil {
			t.Errorf("%s: %s, %v, want %s", c.rule, got, err, c.want)
		}
	}
}

func TestObjectIdentifiersSurviveTheWire(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		oid := smi.OID{uint32(rng.IntN(3)), uint32(rng.IntN(40))}
		for range rng.IntN(smi.MaxSubIdentifiers - 1) {
			oid = append(oid, rng.Uint32()>>rng.IntN(32))
		}
		encoded, ok := appendOID(nil, oid)
		if !ok {
			t.Fatalf("%v is not encoded", oid)
		}
		r := reader{encoded}
		content, err := r.expect(tagObjectID)
		if err != nil || len(r.rest) != 0 {
			t.Fatalf("%v: % x: %v", oid, encoded, err)
		}
		if subs, err := appendSubs(nil, content); err != nil || oid.Compare(subs) != 0 {
			t.Fatalf("%v came as %v, %v", oid, smi.OID(subs), err)
		}
	}
}
