// SPDX-License-Identifier: Apache-2.0

package snmp

import (
	"slices"

	"github.com/pnagent/pnagent/mib/smi"
)

// maxShort is the largest length that BER has in one octet.
const maxShort = 0x7f

// appendHead encodes the beginning of names, without a tag and a length. It appends
// nothing for a beginning that BER cannot encode apart from the rest.
func appendHead(dst []byte, prefix smi.OID) []byte {
	if len(prefix) < 2 || prefix[0] > 2 || prefix[0] < 2 && prefix[1] >= 40 {
		return dst
	}
	return appendTail(appendSub(dst, 40*uint64(prefix[0])+uint64(prefix[1])), prefix[2:])
}

// appendRow is appendVariable for a name that is head, encoded by appendHead, then row, and
// a 0 if scalar is set. It returns false for a variable that may be longer than 127 octets, and for
// a value that is neither a number nor octets. A walk consists of such variables.
func appendRow(dst, head []byte, row []uint32, scalar bool, v smi.Value) ([]byte, bool) {
	const number = 9 // octets of the longest one
	longest := 2 + len(head) + 5*len(row) + 1 + 2 + max(number, len(v.Str))
	if len(head) == 0 || longest > maxShort {
		return dst, false
	}
	at := len(dst)
	if cap(dst)-at < 2+maxShort {
		dst = slices.Grow(dst, 2+maxShort)
	}
	b := dst[at : at+2+maxShort]
	b[0], b[2] = tagSequence, tagObjectID
	n := 4 + copy(b[4:], head)
	for _, sub := range row {
		if sub >= 0x80 {
			n += len(appendSub(b[n:n], uint64(sub)))
			continue
		}
		b[n] = byte(sub)
		n++
	}
	if scalar {
		b[n] = 0
		n++
	}
	b[3] = byte(n - 4)
	switch v.Type {
	case smi.TypeInteger:
		n += len(appendInteger(b[n:n], byte(v.Type), v.Int()))
	case smi.TypeCounter32, smi.TypeGauge32, smi.TypeTimeTicks, smi.TypeCounter64:
		n += len(appendUnsigned(b[n:n], byte(v.Type), v.Num))
	case smi.TypeOctetString, smi.TypeOpaque, smi.TypeIPAddress:
		b[n], b[n+1] = byte(v.Type), byte(len(v.Str))
		n += 2 + copy(b[n+2:], v.Str)
	default:
		return dst, false
	}
	b[1] = byte(n - 2)
	return dst[:at+n], true
}
