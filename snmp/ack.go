// SPDX-License-Identifier: Apache-2.0

package snmp

import (
	"bytes"
	"errors"
)

// ack is the answer of a sink to an inform.
type ack struct {
	id     int32
	status status
	report problem // in SNMPv3, of a Report instead of an answer
}

// errStranger reports a message of SNMP that is no response to this sender.
var errStranger = errors.New("not a response to this sender")

// decodeAck decodes a response (RFC 3416 section 4.2.4). Only its request id and
// its error-status are used: the rest repeats the inform.
func decodeAck(packet, community []byte) (a ack, err error) {
	r, err := openMessage(packet)
	if err != nil {
		return a, err
	}
	version := r.integer()
	if r.err == nil && version != version2c {
		return a, errStranger
	}
	theirs := r.expect(tagOctetString)
	if r.err == nil && !bytes.Equal(theirs, community) {
		return a, errStranger
	}
	tag, pdu := r.element()
	if r.err == nil && tag != tagResponse {
		return a, errStranger
	}
	if err := r.end(); err != nil {
		return a, err
	}
	return a, a.decode(pdu)
}

// decode decodes the PDU of a response.
func (a *ack) decode(pdu []byte) error {
	r := reader{rest: pdu}
	a.id = r.integer()
	a.status = status(r.integer())
	_ = r.integer() // error-index
	_ = r.expect(tagSequence)
	return r.end()
}
