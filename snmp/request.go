// SPDX-License-Identifier: Apache-2.0

package snmp

import (
	"crypto/sha256"
	"crypto/subtle"

	"github.com/pnagent/pnagent/smi"
)

// version2c is the version number of SNMPv2c in a message (RFC 1901).
const version2c = 1

// request is a decoded message. Its memory is used again for the next one.
type request struct {
	op        byte // the tag of the PDU
	community []byte
	id        int32
	// Of a GetBulk non-repeaters and max-repetitions, of others unused.
	nonRepeaters, maxRepetitions int32
	bindings                     []byte // the variable bindings as they came

	subs []uint32 // the names, one after the other
	ends []int    // where each ends in subs
}

// names is how many variables were asked for.
func (q *request) names() int { return len(q.ends) }

// name is the i-th name asked for: a view, good until the next decode.
func (q *request) name(i int) smi.OID {
	start := 0
	if i > 0 {
		start = q.ends[i-1]
	}
	return smi.OID(q.subs[start:q.ends[i]:q.ends[i]])
}

// decode reads a message for the community with the given hash. It gives the
// reason why there shall be no answer, noReason if there shall be one, and for
// a malformed message what is wrong with it.
func (q *request) decode(packet []byte, community *[sha256.Size]byte) (reason, error) {
	r := reader{packet}
	message, err := r.expect(tagSequence)
	if err == nil {
		err = r.end()
	}
	if err != nil {
		return malformed, err
	}
	r = reader{message}
	version, err := r.integer()
	if err != nil {
		return malformed, err
	}
	if version != version2c {
		return otherVersion, nil
	}
	if q.community, err = r.expect(tagOctetString); err != nil {
		return malformed, err
	}
	// The hash makes the time of comparing independent of the length, too.
	if hash := sha256.Sum256(q.community); subtle.ConstantTimeCompare(hash[:], community[:]) != 1 {
		return wrongCommunity, nil
	}
	tag, pdu, err := r.element()
	if err == nil {
		err = r.end()
	}
	if err != nil {
		return malformed, err
	}
	switch tag {
	case tagGet, tagGetNext, tagGetBulk, tagSet:
		q.op = tag
	default:
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

func (q *request) decodePDU(pdu []byte) (err error) {
	r := reader{pdu}
	if q.id, err = r.integer(); err != nil {
		return err
	}
	if q.nonRepeaters, err = r.integer(); err != nil {
		return err
	}
	if q.maxRepetitions, err = r.integer(); err != nil {
		return err
	}
	if q.bindings, err = r.expect(tagSequence); err != nil {
		return err
	}
	if err = r.end(); err != nil {
		return err
	}
	return q.decodeNames()
}

// decodeNames reads the names of all bindings before anything is answered, so
// that half a request never is. The values say nothing to a reader; they are
// checked because a refused request is sent back with them.
func (q *request) decodeNames() error {
	q.subs, q.ends = q.subs[:0], q.ends[:0]
	for r := (reader{q.bindings}); len(r.rest) > 0; {
		binding, err := r.expect(tagSequence)
		if err != nil {
			return err
		}
		b := reader{binding}
		name, err := b.expect(tagObjectID)
		if err != nil {
			return err
		}
		if q.subs, err = appendSubs(q.subs, name); err != nil {
			return err
		}
		q.ends = append(q.ends, len(q.subs))
		if err = b.value(); err != nil {
			return err
		}
		if err = b.end(); err != nil {
			return err
		}
	}
	return nil
}
