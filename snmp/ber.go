// SPDX-License-Identifier: Apache-2.0

package snmp

import (
	"encoding/binary"
	"errors"
	"math/bits"

	"github.com/pnagent/pnagent/mib/smi"
)

// The tags of RFC 3416 section 3 that are not the tag of a value.
const (
	tagInteger     = 0x02
	tagOctetString = 0x04
	tagObjectID    = 0x06
	tagSequence    = 0x30

	tagGet      = 0xa0
	tagGetNext  = 0xa1
	tagResponse = 0xa2
	tagSet      = 0xa3
	tagGetBulk  = 0xa5
	tagInform   = 0xa6
	tagTrap     = 0xa7 // of SNMPv2
	tagReport   = 0xa8 // the last tag of a PDU
)

// The faults of BER. Each is a fixed value, so that a flood of malformed
// packets allocates nothing.
var (
	errTruncated = errors.New("an element is longer than what holds it")
	errTrailing  = errors.New("octets after the last element")
	errTag       = errors.New("an element of another type than expected")
	errLength    = errors.New("a length in indefinite form or beyond 32 bits")
	errInteger   = errors.New("an integer outside -2^31 to 2^31-1")
	errValue     = errors.New("a value longer or shorter than its type allows")
	errOID       = errors.New("a bad object identifier")
)

// reader takes BER elements (X.690) off the front of its bytes. It keeps its
// first error, after which it returns zeros.
type reader struct {
	rest []byte
	err  error
}

// openMessage returns a reader of the content of a message.
func openMessage(packet []byte) (content reader, err error) {
	r := reader{rest: packet}
	content.rest = r.expect(tagSequence)
	return content, r.end()
}

// element takes the next element of any tag.
func (r *reader) element() (tag byte, content []byte) {
	if r.err == nil {
		tag, content, r.err = r.next()
	}
	return tag, content
}

func (r *reader) next() (tag byte, content []byte, err error) {
	if len(r.rest) < 2 {
		return 0, nil, errTruncated
	}
	tag = r.rest[0]
	if tag&0x1f == 0x1f {
		return 0, nil, errTag // a tag of several octets: SNMP has none
	}
	n, at := int(r.rest[1]), 2
	if n >= 0x80 {
		octets := n & 0x7f
		if octets == 0 || octets > 4 {
			return 0, nil, errLength
		}
		if len(r.rest) < 2+octets {
			return 0, nil, errTruncated
		}
		var long uint64
		for _, b := range r.rest[2 : 2+octets] {
			long = long<<8 | uint64(b)
		}
		if at += octets; long > uint64(len(r.rest)-at) {
			return 0, nil, errTruncated
		}
		n = int(long)
	}
	if n > len(r.rest)-at {
		return 0, nil, errTruncated
	}
	content, r.rest = r.rest[at:at+n], r.rest[at+n:]
	return tag, content, nil
}

// expect takes the next element, which must have the tag.
func (r *reader) expect(tag byte) []byte {
	got, content := r.element()
	if r.err == nil && got != tag {
		r.err = errTag
	}
	return content
}

// integer takes an Integer32.
func (r *reader) integer() int32 {
	content := r.expect(tagInteger)
	if r.err == nil && (len(content) < 1 || len(content) > 4) {
		r.err = errInteger
	}
	if r.err != nil {
		return 0
	}
	v := int32(int8(content[0]))
	for _, b := range content[1:] {
		v = v<<8 | int32(b)
	}
	return v
}

// value takes a value of any SNMP type, and checks its form.
func (r *reader) value() {
	tag, content := r.element()
	if r.err != nil {
		return
	}
	least, most := 0, 0
	switch smi.Type(tag) {
	case smi.TypeInteger:
		least, most = 1, 4
	case smi.TypeCounter32, smi.TypeGauge32, smi.TypeTimeTicks:
		least, most = 1, 5
	case smi.TypeCounter64:
		least, most = 1, 9
	case smi.TypeIPAddress:
		least, most = 4, 4
	case smi.TypeOctetString, smi.TypeOpaque:
		most = maxDatagram
	case smi.TypeObjectIdentifier:
		var room [smi.MaxSubIdentifiers]uint32
		_, r.err = appendSubs(room[:0], content)
		return
	case smi.TypeNull, smi.TypeNoSuchObject, smi.TypeNoSuchInstance, smi.TypeEndOfMibView:
	default:
		r.err = errTag
		return
	}
	if len(content) < least || len(content) > most {
		r.err = errValue
	}
}

// end returns the first error, or errTrailing if bytes are left.
func (r *reader) end() error {
	if r.err == nil && len(r.rest) > 0 {
		return errTrailing
	}
	return r.err
}

// appendSubs decodes the content of an object identifier and appends its
// sub-identifiers.
func appendSubs(subs []uint32, content []byte) ([]uint32, error) {
	if len(content) == 0 || content[len(content)-1]&0x80 != 0 {
		return subs, errOID
	}
	start := len(subs)
	var sub uint64
	for _, b := range content {
		if sub = sub<<7 | uint64(b&0x7f); sub > 1<<32+79 {
			return subs, errOID
		}
		if b&0x80 != 0 {
			continue
		}
		if len(subs) == start { // the first octets hold two (X.690 section 8.19.4)
			first := min(sub/40, 2)
			subs = append(subs, uint32(first))
			sub -= 40 * first
		}
		if sub > 1<<32-1 || len(subs)-start == smi.MaxSubIdentifiers {
			return subs, errOID
		}
		subs, sub = append(subs, uint32(sub)), 0
	}
	return subs, nil
}

// appendInteger encodes a signed number in as few octets as hold it.
func appendInteger(dst []byte, tag byte, v int64) []byte {
	n := bits.Len64(uint64(v^v>>63))/8 + 1 // with a bit for the sign
	dst = append(dst, tag, byte(n))
	return binary.BigEndian.AppendUint64(dst, uint64(v)<<(64-8*n))[:len(dst)+n]
}

// appendUnsigned encodes an unsigned number: nine octets where the first bit
// of eight would be taken for a sign.
func appendUnsigned(dst []byte, tag byte, v uint64) []byte {
	if v < 1<<63 {
		return appendInteger(dst, tag, int64(v))
	}
	return binary.BigEndian.AppendUint64(append(dst, tag, 9, 0), v)
}

// appendOctets encodes octets.
func appendOctets[T string | []byte](dst []byte, tag byte, octets T) []byte {
	at := len(dst) + 1
	dst = append(append(dst, tag, 0), octets...)
	return setLength(dst, at)
}

// appendOID encodes an object identifier. It returns false for one that BER
// cannot encode: a single number, or an unregistered beginning.
func appendOID(dst []byte, oid smi.OID) ([]byte, bool) {
	if len(oid) == 0 {
		return append(dst, tagObjectID, 1, 0), true // zeroDotZero
	}
	if len(oid) == 1 || oid[0] > 2 || oid[0] < 2 && oid[1] >= 40 {
		return dst, false
	}
	at := len(dst) + 1
	dst = appendSub(append(dst, tagObjectID, 0), 40*uint64(oid[0])+uint64(oid[1]))
	return setLength(appendTail(dst, oid[2:]), at), true
}

// appendTail encodes sub-identifiers after the first two of a name.
func appendTail(dst []byte, subs []uint32) []byte {
	for _, sub := range subs {
		if sub < 0x80 {
			dst = append(dst, byte(sub))
		} else {
			dst = appendSub(dst, uint64(sub))
		}
	}
	return dst
}

func appendSub(dst []byte, sub uint64) []byte {
	shift := 0
	for sub>>shift >= 0x80 {
		shift += 7
	}
	for ; shift > 0; shift -= 7 {
		dst = append(dst, byte(sub>>shift)|0x80)
	}
	return append(dst, byte(sub)&0x7f)
}

// setLength writes the length of the bytes after the octet at into that octet,
// and makes room if one octet is not enough.
func setLength(dst []byte, at int) []byte {
	n := len(dst) - at - 1
	switch {
	case n < 0x80:
		dst[at] = byte(n)
	case n < 0x100:
		dst = append(dst, 0)
		copy(dst[at+2:], dst[at+1:])
		dst[at], dst[at+1] = 0x81, byte(n)
	default: // a message has at most 65,507 octets
		dst = append(dst, 0, 0)
		copy(dst[at+3:], dst[at+1:])
		dst[at] = 0x82
		binary.BigEndian.PutUint16(dst[at+1:], uint16(n))
	}
	return dst
}

// appendVariable encodes a varbind. It returns false for one that SNMP cannot encode.
func appendVariable(dst []byte, name smi.OID, value smi.Value) ([]byte, bool) {
	at := len(dst) + 1
	dst, ok := appendOID(append(dst, tagSequence, 0), name)
	if !ok {
		return dst, false
	}
	if dst, ok = appendValue(dst, value); !ok {
		return dst, false
	}
	return setLength(dst, at), true
}

func appendValue(dst []byte, v smi.Value) ([]byte, bool) {
	tag := byte(v.Type)
	switch v.Type {
	case smi.TypeInteger:
		return appendInteger(dst, tag, v.Int()), true
	case smi.TypeCounter32, smi.TypeGauge32, smi.TypeTimeTicks, smi.TypeCounter64:
		return appendUnsigned(dst, tag, v.Num), true
	case smi.TypeOctetString, smi.TypeOpaque, smi.TypeIPAddress:
		if len(v.Str) > maxDatagram {
			return dst, false
		}
		return appendOctets(dst, tag, v.Str), true
	case smi.TypeObjectIdentifier:
		if v.SubIdentifiers() > smi.MaxSubIdentifiers {
			return dst, false
		}
		var subs [smi.MaxSubIdentifiers]uint32
		for i := range v.SubIdentifiers() {
			subs[i] = v.SubIdentifier(i)
		}
		return appendOID(dst, subs[:v.SubIdentifiers()])
	case smi.TypeNull, smi.TypeNoSuchObject, smi.TypeNoSuchInstance, smi.TypeEndOfMibView:
		return append(dst, tag, 0), true
	}
	return dst, false
}
