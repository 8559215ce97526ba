// SPDX-License-Identifier: Apache-2.0

package snmp

import (
	"encoding/binary"

	"github.com/pnagent/pnagent/mib/smi"
)

// status is an error-status of RFC 3416 section 3.
type status int64

const (
	noError     status = 0
	tooBig      status = 1
	genErr      status = 5
	notWritable status = 17
)

// message is a response or a notification under construction. Its memory is reused.
//
// The lengths of the message, the PDU and the list of bindings always take
// three octets, which BER allows. So the size of the message is known while
// variables are added, and nothing is moved at the end.
type message struct {
	buf       []byte
	limit     int
	bare      bool // a PDU alone
	pdu, list int  // where the content of the PDU and of the list of bindings begin
	variables int
}

// begin starts the answer to a request.
func (p *message) begin(q *request, s status, index int) {
	p.open(q.community, tagResponse, q.id, s, index)
}

// open starts a message with a PDU of the type tag. Without a community it
// starts a PDU alone.
func (p *message) open(community []byte, tag byte, id int32, s status, index int) {
	b := p.buf[:0]
	if p.bare = community == nil; !p.bare {
		b = append(b, tagSequence, 0x82, 0, 0)
		b = appendInteger(b, tagInteger, version2c)
		b = appendOctets(b, tagOctetString, community)
	}
	b = append(b, tag, 0x82, 0, 0)
	p.pdu = len(b)
	b = appendInteger(b, tagInteger, int64(id))
	b = appendInteger(b, tagInteger, int64(s))
	b = appendInteger(b, tagInteger, int64(index))
	b = append(b, tagSequence, 0x82, 0, 0)
	p.list, p.buf, p.variables = len(b), b, 0
}

// withCommunity returns the message of SNMPv2c with a PDU.
func withCommunity(community, pdu []byte) []byte {
	b := []byte{tagSequence, 0x82, 0, 0}
	b = appendInteger(b, tagInteger, version2c)
	b = appendOctets(b, tagOctetString, community)
	b = append(b, pdu...)
	binary.BigEndian.PutUint16(b[2:], uint16(len(b)-4))
	return b
}

// outcome is the result of adding a variable.
type outcome uint8

const (
	added       outcome = iota
	full                // too large for the message, so left out
	unencodable         // SNMP has no encoding for its name or its value
)

// add appends a variable if there is room for it.
func (p *message) add(name smi.OID, value smi.Value) outcome {
	before := len(p.buf)
	b, ok := appendVariable(p.buf, name, value)
	p.buf = b
	switch {
	case !ok:
		p.buf = b[:before]
		return unencodable
	case len(b) > p.limit:
		p.buf = b[:before]
		return full
	}
	p.variables++
	return added
}

// addRow is add for a variable whose name has an encoded beginning. It returns false
// and adds nothing if there is no room for it, or if it is not simple: see appendRow.
func (p *message) addRow(head []byte, row []uint32, scalar bool, value smi.Value) bool {
	b, ok := appendRow(p.buf, head, row, scalar, value)
	if !ok || len(b) > p.limit {
		return false
	}
	p.buf = b
	p.variables++
	return true
}

// finish fills in the lengths. A message without variables always fits: with
// the longest community it is shorter than MinMessage.
func (p *message) finish() []byte {
	if !p.bare {
		binary.BigEndian.PutUint16(p.buf[2:], uint16(len(p.buf)-4))
	}
	binary.BigEndian.PutUint16(p.buf[p.pdu-2:], uint16(len(p.buf)-p.pdu))
	binary.BigEndian.PutUint16(p.buf[p.list-2:], uint16(len(p.buf)-p.list))
	return p.buf
}

// refuse answers with an error and the bindings of the request. If these do not
// fit, and for tooBig itself, it answers tooBig without bindings (RFC 3416
// section 4.2.1) and returns true.
func (p *message) refuse(q *request, s status, index int) (out []byte, tooLarge bool) {
	p.begin(q, s, index)
	if s == tooBig || len(p.buf)+len(q.bindings) > p.limit {
		p.begin(q, tooBig, 0)
		return p.finish(), true
	}
	p.buf = append(p.buf, q.bindings...)
	p.variables = q.names()
	return p.finish(), false
}
