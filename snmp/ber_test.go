// SPDX-License-Identifier: Apache-2.0

package snmp

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/pnagent/pnagent/mib/smi"
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
		r := reader{rest: c.in}
		if got := r.integer(); got != c.want || !errors.Is(r.err, c.err) {
			t.Errorf("% x: %d, %v, want %d, %v", c.in, got, r.err, c.want, c.err)
		}
	}
}

func TestElementsAreRead(t *testing.T) {
	long := func(n int, head ...byte) []byte { return append(head, make([]byte, n)...) }
	for _, c := range []struct {
		rule     string
		in       []byte
		want     int // octets of content
		wantRest int
		err      error
	}{
		{"nothing", nil, 0, 0, errTruncated},
		{"a tag alone", []byte{4}, 0, 1, errTruncated},
		{"no content", []byte{4, 0}, 0, 0, nil},
		{"127 octets, and one behind", long(128, 4, 127), 127, 1, nil},
		{"fewer than its length", long(126, 4, 127), 0, 128, errTruncated},
		{"the indefinite form", []byte{4, 0x80, 0, 0}, 0, 4, errLength},
		{"a length of four octets", long(5, 4, 0x84, 0, 0, 0, 5), 5, 0, nil},
		{"a length of five octets", long(5, 4, 0x85, 0, 0, 0, 0, 5), 0, 12, errLength},
		{"a length that is cut off", []byte{4, 0x82, 1}, 0, 3, errTruncated},
		{"a length and nothing", []byte{4, 0x82, 0, 0}, 0, 0, nil},
		{"one octet less than its long length", long(255, 4, 0x82, 1, 0), 0, 259, errTruncated},
		{"just as many", long(256, 4, 0x82, 1, 0), 256, 0, nil},
		{"4 GiB less one octet", []byte{4, 0x84, 0xff, 0xff, 0xff, 0xff}, 0, 6, errTruncated},
		{"a tag of several octets", []byte{0x3f, 1, 0}, 0, 3, errTag},
	} {
		r := reader{rest: c.in}
		tag, content := r.element()
		if len(content) != c.want || len(r.rest) != c.wantRest || !errors.Is(r.err, c.err) || r.err == nil && tag != 4 {
			t.Errorf("%s: %d octets of tag %d, %d left, %v; want %d, %d left, %v", c.rule, len(content), tag, len(r.rest), r.err, c.want, c.wantRest, c.err)
		}
	}
}

// Each type's values have a shortest and a longest form.
func TestValuesHaveTheLengthOfTheirType(t *testing.T) {
	for _, c := range []struct {
		tag         smi.Type
		least, most int
	}{
		{smi.TypeInteger, 1, 4}, {smi.TypeCounter32, 1, 5}, {smi.TypeGauge32, 1, 5}, {smi.TypeTimeTicks, 1, 5}, {smi.TypeCounter64, 1, 9},
		{smi.TypeIPAddress, 4, 4}, {smi.TypeOctetString, 0, 100}, {smi.TypeOpaque, 0, 100}, {smi.TypeObjectIdentifier, 1, smi.MaxSubIdentifiers - 1},
		{smi.TypeNull, 0, 0}, {smi.TypeNoSuchObject, 0, 0}, {smi.TypeNoSuchInstance, 0, 0}, {smi.TypeEndOfMibView, 0, 0},
	} {
		for n := range 130 {
			r := reader{rest: appendOctets(nil, byte(c.tag), bytes.Repeat([]byte{1}, n))}
			good := n >= c.least && (n <= c.most || c.most == 100)
			r.value()
			if (r.err == nil) != good {
				t.Errorf("%d octets of type %#x: %v", n, byte(c.tag), r.err)
			}
		}
	}
	for _, bad := range [][]byte{{}, {0x30, 0}, {0x09, 1, 0}, {byte(smi.TypeInteger), 2, 1}} {
		r := reader{rest: bad}
		r.value()
		if r.err == nil {
			t.Errorf("% x is a value", bad)
		}
	}
}

func TestLengthsAreWrittenInAsFewOctetsAsHoldThem(t *testing.T) {
	for n, head := range map[int][]byte{0: {4, 0}, 127: {4, 127}, 128: {4, 0x81, 128}, 255: {4, 0x81, 255}, 256: {4, 0x82, 1, 0}, 65_000: {4, 0x82, 0xfd, 0xe8}} {
		content := make([]byte, n)
		for i := range content {
			content[i] = byte(i % 251)
		}
		want := slices.Concat([]byte{9}, head, content)
		if got := appendOctets([]byte{9}, 4, content); !bytes.Equal(got, want) {
			t.Errorf("%d octets begin % x, want % x", n, got[:min(len(got), 9)], want[:min(len(want), 9)])
		}
	}
}

func TestWhatBERCannotEncodeIsNotWritten(t *testing.T) {
	for text, want := range map[string][]byte{
		"0.0": {6, 1, 0}, "0.39": {6, 1, 39}, "1.39.1": {6, 2, 79, 1}, "2.40": {6, 1, 120}, "1.3.127": {6, 2, 43, 127}, "1.3.128": {6, 3, 43, 0x81, 0},
		"0.40": nil, "1.40": nil, "3.1": nil, "1": nil,
	} {
		oid, err := smi.ParseOID(text)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := appendOID(nil, oid)
		if ok != (want != nil) || !bytes.Equal(got, want) {
			t.Errorf("%s: % x, %v, want % x", text, got, ok, want)
		}
	}
	if got, ok := appendOID(nil, nil); !ok || !bytes.Equal(got, []byte{6, 1, 0}) {
		t.Errorf("zeroDotZero: % x, %v", got, ok)
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
		r := reader{rest: encoded}
		content := r.expect(tagObjectID)
		if err := r.end(); err != nil {
			t.Fatalf("%v encoded as % x: got error %v at the end; want none", oid, encoded, err)
		}
		if subs, err := appendSubs(nil, content); err != nil || oid.Compare(subs) != 0 {
			t.Fatalf("%v came as %v, %v", oid, smi.OID(subs), err)
		}
	}
}
