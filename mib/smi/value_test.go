// SPDX-License-Identifier: Apache-2.0

package smi_test

import (
	"math"
	"testing"
	"unsafe"

	"github.com/pnagent/pnagent/mib/smi"
)

func TestValuesSayWhatTheyAre(t *testing.T) {
	for _, c := range []struct {
		value smi.Value
		typ   smi.Type
		text  string
	}{
		{smi.Integer(-5), 2, "INTEGER: -5"},
		{smi.Integer(math.MinInt32), 2, "INTEGER: -2147483648"},
		{smi.OctetString("a\x00"), 4, `OCTET STRING: "a\x00"`},
		{smi.Null(), 5, "NULL"},
		{smi.ObjectID(smi.OID{1, 3, 4294967295}), 6, "OBJECT IDENTIFIER: 1.3.4294967295"},
		{smi.ObjectID(nil), 6, "OBJECT IDENTIFIER: "},
		{smi.IPAddress([4]byte{127, 0, 0, 1}), 64, "IpAddress: 127.0.0.1"},
		{smi.Counter32(math.MaxUint32), 65, "Counter32: 4294967295"},
		{smi.Gauge32(7), 66, "Gauge32: 7"},
		{smi.TimeTicks(100), 67, "TimeTicks: 100"},
		{smi.Opaque("x"), 68, `Opaque: "x"`},
		{smi.Counter64(math.MaxUint64), 70, "Counter64: 18446744073709551615"},
		{smi.NoSuchObject(), 128, "noSuchObject"},
		{smi.NoSuchInstance(), 129, "noSuchInstance"},
		{smi.EndOfMibView(), 130, "endOfMibView"},
		{smi.Value{Type: 99}, 99, "type 99"},
		{smi.Value{Type: smi.TypeIPAddress, Str: "?"}, 64, `IpAddress: "?"`},
	} {
		if c.value.Type != c.typ || c.value.String() != c.text {
			t.Errorf("%v is type %d, want %q, type %d", c.value, c.value.Type, c.text, c.typ)
		}
		if c.value.IsException() != (c.typ >= 128) {
			t.Errorf("%v: exception %v", c.value, c.value.IsException())
		}
	}
}

func TestAnObjectIDGivesItsOIDBack(t *testing.T) {
	want := smi.OID{1, 3, 6, 1, 0, 4294967295, 0x01020304}
	value := smi.ObjectID(want)
	if got := value.OID(); got.Compare(want) != 0 {
		t.Fatalf("got %v, want %v", got, want)
	}
	for i, sub := range want {
		if got := value.SubIdentifier(i); got != sub || value.SubIdentifiers() != len(want) {
			t.Errorf("number %d of %d is %d, want %d of %d", i, value.SubIdentifiers(), got, sub, len(want))
		}
	}
	if value != smi.ObjectID(want) {
		t.Error("two values of the same identifier are not ==")
	}
}

func TestAValueIsAtMost32Bytes(t *testing.T) {
	if size := unsafe.Sizeof(smi.Value{}); size > 32 {
		t.Fatalf("%d bytes", size)
	}
}
