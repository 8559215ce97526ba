// SPDX-License-Identifier: Apache-2.0

package pdu

import "encoding/binary"

// byteOrder is true for network byte order and false for little endian. A branch costs less
// than a call through binary.ByteOrder.
type byteOrder bool

func (o byteOrder) uint16(b []byte) uint16 {
	if o {
		return binary.BigEndian.Uint16(b)
	}
	return binary.LittleEndian.Uint16(b)
}

func (o byteOrder) uint32(b []byte) uint32 {
	if o {
		return binary.BigEndian.Uint32(b)
	}
	return binary.LittleEndian.Uint32(b)
}

func (o byteOrder) uint64(b []byte) uint64 {
	if o {
		return binary.BigEndian.Uint64(b)
	}
	return binary.LittleEndian.Uint64(b)
}

func (o byteOrder) append16(b []byte, v uint16) []byte {
	if o {
		return binary.BigEndian.AppendUint16(b, v)
	}
	return binary.LittleEndian.AppendUint16(b, v)
}

func (o byteOrder) append32(b []byte, v uint32) []byte {
	if o {
		return binary.BigEndian.AppendUint32(b, v)
	}
	return binary.LittleEndian.AppendUint32(b, v)
}

func (o byteOrder) append64(b []byte, v uint64) []byte {
	if o {
		return binary.BigEndian.AppendUint64(b, v)
	}
	return binary.LittleEndian.AppendUint64(b, v)
}

// appendAll appends numbers of four bytes each.
func (o byteOrder) appendAll(b []byte, numbers []uint32) []byte {
	if o {
		for _, v := range numbers {
			b = binary.BigEndian.AppendUint32(b, v)
		}
		return b
	}
	for _, v := range numbers {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return b
}

// all appends the numbers in b, of four bytes each.
func (o byteOrder) all(numbers []uint32, b []byte) []uint32 {
	if o {
		for ; len(b) >= 4; b = b[4:] {
			numbers = append(numbers, binary.BigEndian.Uint32(b))
		}
		return numbers
	}
	for ; len(b) >= 4; b = b[4:] {
		numbers = append(numbers, binary.LittleEndian.Uint32(b))
	}
	return numbers
}
