// SPDX-License-Identifier: Apache-2.0

// Package pdu is the wire format of AgentX (RFC 2741): every protocol data
// unit that a subagent can send or receive, to and from bytes. It has no
// goroutines and no state, and reads from a connection only in ReadFrame.
//
// A PDU is a header of 20 bytes and a payload of a multiple of four:
//
//	offset size field
//	0      1    version, always 1
//	1      1    type
//	2      1    flags
//	3      1    reserved
//	4      4    session id
//	8      4    transaction id
//	12     4    packet id
//	16     4    payload length
//
// Every number of more than one byte, also in the header, is in network byte order if the
// header has FlagNetworkByteOrder, and little endian otherwise. With FlagNonDefaultContext
// the payload of most types begins with the context's name. The rest of the payload is one
// Body: Get, Response, Open and so on, each in the file of its name.
//
//	h, payload, err := pdu.ReadFrame(conn, buf) // header and payload, bounded
//	p, err := pdu.Decode(h, payload)            // a PDU or ErrParse
//	buf, err = pdu.Append(buf[:0], p)           // and back
//
// For any bytes, decoding returns a PDU or an error, never panics, and allocates memory in
// proportion to the payload, which has at most MaxPayload bytes. Reserved fields are ignored.
package pdu
