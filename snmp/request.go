// SPDX-License-Identifier: Apache-2.0

package snmp

import (
	"crypto/sha256"
	"crypto/subtle"

	"github.com/pnagent/pnagent/mib/smi"
)

// version2c is the version number of SNMPv2c in a message (RFC 1901).
const version2c = 1

// request is a decoded message. Its memory is reused.
type request struct {
	op        byte   // the tag of the PDU
	community []byte // nil in SNMPv3
	id        int32
	// Of a GetBulk; unused in other requests.
	nonRepeaters, maxRepetitions int32
	bindings                     []byte // the variable bindings as received

	subs []uint32 // the names, one after the other
	ends []int    // where each ends in subs
}

// names returns the number of requested variables.
func (q *request) names() int { return len(q.ends) }

// name returns the i-th requested name, valid until the next decode.
func (q *request) name(i int) smi.OID {
	start := 0
	if i > 0 {
		start = q.ends[i-1]
	}
	return smi.OID(q.subs[start:q.ends[i]:q.ends[i]])
}

// single returns how many names of a GetBulk come first and once.
func (q *request) single() int { return min(max(int(q.nonRepeaters), 0), q.names()) }

// decode decodes a message for the community with the given hash. It returns
// noReason for a request to answer, or the reason for not answering, and for a
// malformed message its error.
func (q *request) decode(packet []byte, community *[sha256.Size]byte) (reason, error) {
	r, err := openMessage(packet)
	if err != nil {
		return malformed, err
	}
	version := r.integer()
	if r.err == nil && version != version2c {
		return otherVersion, nil
	}
	q.community = r.expect(tagOctetString)
	if r.err != nil {
		return malformed, r.err
	}
	// The hash makes the time of comparing independent of the length, too.
	if hash := sha256.Sum256(q.community); subtle.ConstantTimeCompare(hash[:], community[:]) != 1 {
		return wrongCommunity, nil
	}
	tag, pdu := r.element()
	if err := r.end(); err != nil {
		return malformed, err
	}
	q.op = tag
	if !isRequest(tag) {
		if tag < tagGet || tag > tagReport {
			return malformed, errTag
		}
		return notRequest, nil
	}
	if err := q.decodePDU(pdu); err != nil {
		return malformed, err
	}
	return noReason, nil
}

// isRequest reports whether a responder answers PDUs with the tag.
func isRequest(tag byte) bool {
	return tag == tagGet || tag == tagGetNext || tag == tagGetBulk || tag == tagSet
}

func (q *request) decodePDU(pdu []byte) error {
	r := reader{rest: pdu}
	q.id, q.nonRepeaters, q.maxRepetitions = r.integer(), r.integer(), r.integer()
	q.bindings = r.expect(tagSequence)
	if err := r.end(); err != nil {
		return err
	}
	return q.decodeNames()
}

// decodeNames decodes the names of all bindings before any is answered, so that
// a malformed request gets no partial answer. It checks the values because an
// error response repeats them.
func (q *request) decodeNames() error {
	q.subs, q.ends = q.subs[:0], q.ends[:0]
	for r := (reader{rest: q.bindings}); len(r.rest) > 0; {
		content := r.expect(tagSequence)
		binding := reader{rest: content, err: r.err}
		name := binding.expect(tagObjectID)
		if binding.err != nil {
			return binding.err
		}
		var err error
		if q.subs, err = appendSubs(q.subs, name); err != nil {
			return err
		}
		q.ends = append(q.ends, len(q.subs))
		binding.value()
		if err := binding.end(); err != nil {
			return err
		}
	}
	return nil
}
