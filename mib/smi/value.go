// SPDX-License-Identifier: Apache-2.0

package smi

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"strconv"
)

// Type is the type of a Value. The numbers are those that AgentX (RFC 2741 section 5.4)
// and the BER tags of SNMP (RFC 3416 section 3) have in common.
type Type uint8

// The types of RFC 2578 section 7.1, and the three exceptions of RFC 3416 that replace a
// value.
const (
	TypeInteger          Type = 2 // INTEGER and Integer32
	TypeOctetString      Type = 4
	TypeNull             Type = 5
	TypeObjectIdentifier Type = 6
	TypeIPAddress        Type = 64
	TypeCounter32        Type = 65
	TypeGauge32          Type = 66 // also Unsigned32
	TypeTimeTicks        Type = 67 // hundredths of a second
	TypeOpaque           Type = 68
	TypeCounter64        Type = 70
	TypeNoSuchObject     Type = 128
	TypeNoSuchInstance   Type = 129
	TypeEndOfMibView     Type = 130
)

// Value is one typed value, comparable with ==.
//
// Num has the numbers, an Integer with its sign extended to 64 bits. Str has the octets of
// strings, addresses (4 octets) and opaques, and object identifiers with four octets a
// sub-identifier, so that a Value takes 32 bytes; read those with OID.
type Value struct {
	Str  string
	Num  uint64
	Type Type
}

// Integer returns a signed 32-bit number or an enumeration.
func Integer(v int32) Value { return Value{Type: TypeInteger, Num: uint64(int64(v))} }

// OctetString returns octets: a text or raw bytes.
func OctetString(octets string) Value { return Value{Type: TypeOctetString, Str: octets} }

// Null returns the value of a variable in a request.
func Null() Value { return Value{Type: TypeNull} }

// ObjectID returns an object identifier as a value.
func ObjectID(oid OID) Value {
	octets := make([]byte, 0, 4*len(oid))
	for _, sub := range oid {
		octets = binary.BigEndian.AppendUint32(octets, sub)
	}
	return Value{Type: TypeObjectIdentifier, Str: string(octets)}
}

// IPAddress returns an IPv4 address.
func IPAddress(octets [4]byte) Value { return Value{Type: TypeIPAddress, Str: string(octets[:])} }

// Counter32 returns a counter, which only rises and wraps at 2^32.
func Counter32(v uint32) Value { return Value{Type: TypeCounter32, Num: uint64(v)} }

// Gauge32 returns an unsigned number that may rise and fall; Unsigned32 is the same on
// the wire.
func Gauge32(v uint32) Value { return Value{Type: TypeGauge32, Num: uint64(v)} }

// TimeTicks returns a time in hundredths of a second.
func TimeTicks(hundredths uint32) Value { return Value{Type: TypeTimeTicks, Num: uint64(hundredths)} }

// Opaque returns octets of the obsolete type Opaque.
func Opaque(octets string) Value { return Value{Type: TypeOpaque, Str: octets} }

// Counter64 returns a counter, which only rises and wraps at 2^64.
func Counter64(v uint64) Value { return Value{Type: TypeCounter64, Num: v} }

// NoSuchObject returns the answer to a Get whose object type does not exist.
func NoSuchObject() Value { return Value{Type: TypeNoSuchObject} }

// NoSuchInstance returns the answer to a Get whose object type exists, but not this row.
func NoSuchInstance() Value { return Value{Type: TypeNoSuchInstance} }

// EndOfMibView returns the answer to a GetNext after the last name.
func EndOfMibView() Value { return Value{Type: TypeEndOfMibView} }

// Int returns the number of an Integer, with its sign.
func (v Value) Int() int64 { return int64(v.Num) }

// OID returns the object identifier of a TypeObjectIdentifier, in a new slice.
func (v Value) OID() OID {
	oid := make(OID, v.SubIdentifiers())
	for i := range oid {
		oid[i] = v.SubIdentifier(i)
	}
	return oid
}

// SubIdentifiers returns the number of sub-identifiers of a TypeObjectIdentifier.
func (v Value) SubIdentifiers() int { return len(v.Str) / 4 }

// SubIdentifier returns the i-th sub-identifier of a TypeObjectIdentifier. With
// SubIdentifiers it reads the value without allocating.
func (v Value) SubIdentifier(i int) uint32 {
	s := v.Str[4*i : 4*i+4]
	return uint32(s[0])<<24 | uint32(s[1])<<16 | uint32(s[2])<<8 | uint32(s[3])
}

// IsException reports whether v is noSuchObject, noSuchInstance or endOfMibView.
func (v Value) IsException() bool { return v.Type >= TypeNoSuchObject && v.Type <= TypeEndOfMibView }

// String returns the type, a colon and the value, for people and logs.
func (v Value) String() string {
	switch v.Type {
	case TypeInteger:
		return v.Type.String() + ": " + strconv.FormatInt(v.Int(), 10)
	case TypeCounter32, TypeGauge32, TypeTimeTicks, TypeCounter64:
		return v.Type.String() + ": " + strconv.FormatUint(v.Num, 10)
	case TypeOctetString, TypeOpaque:
		return v.Type.String() + ": " + strconv.Quote(v.Str)
	case TypeObjectIdentifier:
		return v.Type.String() + ": " + v.OID().String()
	case TypeIPAddress:
		if addr, ok := netip.AddrFromSlice([]byte(v.Str)); ok {
			return v.Type.String() + ": " + addr.String()
		}
		return v.Type.String() + ": " + strconv.Quote(v.Str)
	}
	return v.Type.String()
}

// String returns the name of the type in the RFCs.
func (t Type) String() string {
	names := [...]string{TypeInteger: "INTEGER", TypeOctetString: "OCTET STRING", TypeNull: "NULL",
		TypeObjectIdentifier: "OBJECT IDENTIFIER", TypeIPAddress: "IpAddress", TypeCounter32: "Counter32", TypeGauge32: "Gauge32",
		TypeTimeTicks: "TimeTicks", TypeOpaque: "Opaque", TypeCounter64: "Counter64", TypeNoSuchObject: "noSuchObject",
		TypeNoSuchInstance: "noSuchInstance", TypeEndOfMibView: "endOfMibView"}
	if int(t) < len(names) && names[t] != "" {
		return names[t]
	}
	return fmt.Sprintf("type %d", uint8(t))
}

// Variable is a name with its value: a varbind.
type Variable struct {
	Name  OID
	Value Value
}

// String returns the name and the value, for people and logs.
func (v Variable) String() string { return v.Name.String() + " = " + v.Value.String() }
