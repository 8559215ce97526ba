// SPDX-License-Identifier: Apache-2.0

package snmp

import (
	"bytes"
	"errors"
)

// ack is what a sink answers to an inform.
type ack struct {
	id     int32
	status status
}

// errStranger says that a packet is a message of SNMP, but not a response to
// anything that was sent with the community.
var errStranger = errors.New("not a response of version 2c with the community")

// decodeAck reads a response (RFC 3416 section 4.2.4). What it says beside
// the request id and the error-status is what the inform said, and is not
// looked at.
func decodeAck(packet, community []byte) (ack, error) {
	var a ack
	r := reader{packet}
	message, err := r.expect(tagSequence)
	if err != nil {
		return a, err
	}
	if err = r.end(); err != nil {
		return a, err
	}
	r = reader{message}
	version, err := r.integer()
	if err != nil {
		return a, err
	}
	if version != version2c {
		return a, errStranger
	}
	theirs, err := r.expect(tagOctetString)
	if err != nil {
		return a, err
	}
	if !bytes.Equal(theirs, community) {
		return a, errStranger
	}
	tag, pdu, err := r.element()
	if err != nil {
		return a, err
	}
	if tag != tagResponse {
		return a, errStranger
	}
	if err = r.end(); err != nil {
		return a, err
	}
	return a, a.decode(pdu)
}

func (a *ack) decode(pdu []byte) (err error) {
	r := reader{pdu}
	if a.id, err = r.integer(); err != nil {
		return err
	}
	s, err := r.integer()
	if err != nil {
		return err
	}
	a.status = status(s)
	if _, err = r.integer(); err != nil { // error-index
		return err
	}
	if _, err = r.expect(tagSequence); err != nil {
		return err
	}
	return r.end()
}
