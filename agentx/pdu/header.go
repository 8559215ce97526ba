// SPDX-License-Identifier: Apache-2.0

package pdu

import (
	"errors"
	"fmt"
	"io"
)

// HeaderSize is the size of a header in bytes (RFC 2741 section 6.1).
const HeaderSize = 20

// MaxPayload is the largest payload, in bytes. A master with SNMP over UDP needs at most
// 64 KiB.
const MaxPayload = 128 << 10

const version1 = 1

// Errors of framing. After one of them the rest of the stream is unusable.
var (
	ErrVersion = errors.New("agentx version is not 1")
	ErrLength  = errors.New("invalid agentx payload length")
)

// ErrParse is wrapped by every error of Decode: the content of a whole frame is invalid.
// The next frame can be read.
var ErrParse = errors.New("malformed agentx pdu")

// Flags are the flags of a header (RFC 2741 section 6.1.1).
type Flags uint8

// The flags.
const (
	FlagInstanceRegistration Flags = 1 << 0
	FlagNewIndex             Flags = 1 << 1
	FlagAnyIndex             Flags = 1 << 2
	FlagNonDefaultContext    Flags = 1 << 3
	FlagNetworkByteOrder     Flags = 1 << 4
)

// order returns the byte order of f.
func (f Flags) order() byteOrder { return byteOrder(f&FlagNetworkByteOrder != 0) }

// Header is the first 20 bytes of every PDU.
type Header struct {
	Type        Type
	Flags       Flags
	Session     uint32
	Transaction uint32
	Packet      uint32
	Length      uint32 // of the payload, in bytes; Append computes it
}

// ParseHeader reads a header. The error wraps ErrVersion or ErrLength (more than
// MaxPayload, or not a multiple of four); the header is filled in nevertheless.
func ParseHeader(b *[HeaderSize]byte) (Header, error) {
	flags := Flags(b[2])
	order := flags.order()
	h := Header{
		Type:        Type(b[1]),
		Flags:       flags,
		Session:     order.uint32(b[4:]),
		Transaction: order.uint32(b[8:]),
		Packet:      order.uint32(b[12:]),
		Length:      order.uint32(b[16:]),
	}
	switch {
	case b[0] != version1:
		return h, fmt.Errorf("%w but %d", ErrVersion, b[0])
	case h.Length > MaxPayload:
		return h, fmt.Errorf("%w: %d bytes; expected at most %d", ErrLength, h.Length, MaxPayload)
	case h.Length%4 != 0:
		return h, fmt.Errorf("%w: %d bytes are not a multiple of 4", ErrLength, h.Length)
	}
	return h, nil
}

// append appends h. Append sets the length once the payload is written.
func (h Header) append(buf []byte) []byte {
	order := h.Flags.order()
	buf = append(buf, version1, byte(h.Type), byte(h.Flags), 0)
	buf = order.append32(buf, h.Session)
	buf = order.append32(buf, h.Transaction)
	buf = order.append32(buf, h.Packet)
	return order.append32(buf, h.Length)
}

// ReadFrame reads one header and its payload from r. The payload is in buf if that is large
// enough, else in a new slice. The error is io.EOF if r ended before the first byte,
// io.ErrUnexpectedEOF if it ended later, ErrVersion or ErrLength (with the header, before
// the payload is read), or the error of r.
func ReadFrame(r io.Reader, buf []byte) (Header, []byte, error) {
	if cap(buf) < HeaderSize {
		buf = make([]byte, 512)
	}
	// The header is read into buf, so that it does not escape to the heap.
	raw := (*[HeaderSize]byte)(buf[:HeaderSize])
	if _, err := io.ReadFull(r, raw[:]); err != nil {
		return Header{}, nil, err
	}
	h, err := ParseHeader(raw)
	if err != nil {
		return h, nil, err
	}
	if cap(buf) < int(h.Length) {
		buf = make([]byte, h.Length)
	}
	buf = buf[:h.Length]
	if _, err := io.ReadFull(r, buf); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return h, nil, err
	}
	return h, buf, nil
}
