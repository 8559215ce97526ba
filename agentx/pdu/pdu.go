// SPDX-License-Identifier: Apache-2.0

package pdu

import (
	"fmt"
	"math"

	"github.com/pnagent/pnagent/mib/smi"
)

// PDU is one protocol data unit.
type PDU struct {
	Header  Header
	Context string // only if the header has FlagNonDefaultContext and the type has one
	Body    Body
}

// Body is the payload of one type of PDU: *Open, *Close, *Register,
// *Unregister, *Get, *GetNext, *GetBulk, *TestSet, *CommitSet, *UndoSet,
// *CleanupSet, *Notify, *Ping, *IndexAllocate, *IndexDeallocate,
// *AddAgentCaps, *RemoveAgentCaps or *Response.
type Body interface {
	// kind returns the type of PDU the body belongs to.
	kind() Type
	// code codes the fields in the order of the payload.
	code(c coder)
}

// TypeOf returns the type of PDU that a body belongs to.
func TypeOf(b Body) Type { return b.kind() }

// coder encodes fields, or decodes them into the same memory. So a body states its
// layout once.
type coder interface {
	small(fields ...*uint8) // up to four single bytes; they take four in any case
	short(field *uint16)
	long(field *uint32)
	text(field *string)
	name(field *smi.OID)
	// A list runs to the end of the payload.
	ranges(list *[]SearchRange)
	variables(list *[]smi.Variable)
}

// Append appends p to buf as one frame. Type and length of the header come from the body;
// the header's flags decide the byte order and whether the context is written. It returns
// an error, and buf unchanged, for a value that the format cannot hold.
func Append(buf []byte, p PDU) ([]byte, error) {
	p.Header.Type = TypeOf(p.Body)
	start := len(buf)
	e := encoder{buf: p.Header.append(buf), order: p.Header.Flags.order()}
	if p.Header.Flags&FlagNonDefaultContext != 0 && p.Header.Type.HasContext() {
		e.octets(p.Context)
	}
	p.Body.code(&e)
	length := len(e.buf) - start - HeaderSize
	switch {
	case e.err != nil:
		return buf, fmt.Errorf("encode %v: %w", p.Header.Type, e.err)
	case length > MaxPayload:
		return buf, fmt.Errorf("encode %v: %w: %d bytes; expected at most %d", p.Header.Type, ErrLength, length, MaxPayload)
	}
	e.order.append32(e.buf[:start+16], uint32(length)) // replaces the header's length
	return e.buf, nil
}

// Decode reads the payload of h, and keeps no reference to it. Every error wraps ErrParse:
// an unknown type, a length beyond the payload, a name of more than 128 numbers, an unknown
// type of variable, bytes left over.
func Decode(h Header, payload []byte) (PDU, error) {
	p := PDU{Header: h}
	if !h.Type.Known() {
		return p, fmt.Errorf("%w: unknown %v", ErrParse, h.Type)
	}
	p.Body = types[h.Type].empty()
	d := decoder{buf: payload, order: h.Flags.order()}
	if h.Flags&FlagNonDefaultContext != 0 && h.Type.HasContext() {
		p.Context = d.octets()
	}
	p.Body.code(&d)
	if d.err == nil && len(d.buf) > 0 {
		d.err = fmt.Errorf("%d bytes are left over", len(d.buf))
	}
	if d.err != nil {
		return p, fmt.Errorf("%w: %v at byte %d of the payload: %w", ErrParse, h.Type, len(payload)-len(d.buf), d.err)
	}
	return p, nil
}

// encoder appends to buf, and keeps the first error.
type encoder struct {
	buf   []byte
	order byteOrder
	err   error
}

func (e *encoder) fail(format string, args ...any) {
	if e.err == nil {
		e.err = fmt.Errorf(format, args...)
	}
}

func (e *encoder) small(fields ...*uint8) {
	var four [4]uint8
	for i, v := range fields {
		four[i] = *v
	}
	e.buf = append(e.buf, four[:]...)
}

func (e *encoder) short(v *uint16) { e.uint16(*v) }
func (e *encoder) long(v *uint32)  { e.uint32(*v) }
func (e *encoder) text(v *string)  { e.octets(*v) }
func (e *encoder) name(v *smi.OID) { e.oid(*v, false) }
func (e *encoder) uint16(v uint16) { e.buf = e.order.append16(e.buf, v) }
func (e *encoder) uint32(v uint32) { e.buf = e.order.append32(e.buf, v) }
func (e *encoder) uint64(v uint64) { e.buf = e.order.append64(e.buf, v) }

// octets appends an Octet String (RFC 2741 section 5.3): length, octets, padding to a
// multiple of four.
func (e *encoder) octets(s string) {
	if len(s) > MaxPayload {
		e.fail("%w: an octet string of %d bytes", ErrLength, len(s))
		return
	}
	e.uint32(uint32(len(s)))
	e.buf = append(e.buf, s...)
	for range padding(len(s)) {
		e.buf = append(e.buf, 0)
	}
}

// decoder reads from the front of buf. After the first error every method returns zero
// values, so that a body checks the error once.
type decoder struct {
	buf   []byte
	order byteOrder
	err   error
	subs  []uint32 // memory of the names, shared so that a name needs no allocation of its own
}

func (d *decoder) fail(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf(format, args...)
	}
}

// take returns the next n bytes, nil if there are fewer.
func (d *decoder) take(n int) []byte {
	if d.err != nil {
		return nil
	}
	if n > len(d.buf) {
		d.fail("%d bytes are needed and %d are left", n, len(d.buf))
		return nil
	}
	b := d.buf[:n]
	d.buf = d.buf[n:]
	return b
}

// more reports whether another element of a list follows.
func (d *decoder) more() bool { return d.err == nil && len(d.buf) > 0 }

// four returns four single bytes: the form of every small field.
func (d *decoder) four() (b [4]uint8) {
	copy(b[:], d.take(4))
	return b
}

func (d *decoder) small(fields ...*uint8) {
	four := d.four()
	for i, v := range fields {
		*v = four[i]
	}
}

func (d *decoder) short(v *uint16) { *v = d.uint16() }
func (d *decoder) long(v *uint32)  { *v = d.uint32() }
func (d *decoder) text(v *string)  { *v = d.octets() }
func (d *decoder) name(v *smi.OID) { *v, _ = d.oid() }

func (d *decoder) uint16() uint16 {
	if b := d.take(2); b != nil {
		return d.order.uint16(b)
	}
	return 0
}

func (d *decoder) uint32() uint32 {
	if b := d.take(4); b != nil {
		return d.order.uint32(b)
	}
	return 0
}

func (d *decoder) uint64() uint64 {
	if b := d.take(8); b != nil {
		return d.order.uint64(b)
	}
	return 0
}

// octets reads an Octet String. It ignores the padding.
func (d *decoder) octets() string {
	n := d.uint32()
	if n > math.MaxInt32 || int(n) > len(d.buf) {
		d.fail("an octet string of %d bytes where %d are left", n, len(d.buf))
		return ""
	}
	s := string(d.take(int(n)))
	d.take(padding(int(n)))
	return s
}

// padding returns the number of bytes from n to the next multiple of four.
func padding(n int) int { return -n & 3 }
