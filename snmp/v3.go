// SPDX-License-Identifier: Apache-2.0

package snmp

import (
	"encoding/binary"
)

// version3 is the version number of SNMPv3 in a message (RFC 3412).
const version3 = 3

// securityUSM is the number of the User-based Security Model in a message.
const securityUSM = 3

// envelope is what an SNMPv3 message has around its PDU (RFC 3412 section 6, RFC
// 3414 section 2.4). Its slices are those of the message.
type envelope struct {
	id, maxSize int32
	flags       byte
	engineID    []byte
	boots, time int32
	user        []byte
	digest      []byte
	digestAt    int // where the digest is in the message
	salt        []byte
	data        []byte // the content of the scoped PDU, or that encrypted
}

// decode decodes a message up to its data.
func (e *envelope) decode(packet []byte) (reason, error) {
	r, err := openMessage(packet)
	if err != nil {
		return malformed, err
	}
	version := r.integer()
	if r.err == nil && version != version3 {
		return otherVersion, nil
	}
	global := reader{rest: r.expect(tagSequence), err: r.err}
	e.id, e.maxSize = global.integer(), global.integer()
	flags := global.expect(tagOctetString)
	model := global.integer()
	if err := global.end(); err != nil {
		return malformed, err
	}
	if len(flags) != 1 || flags[0]&(flagAuth|flagPriv) == flagPriv || e.id < 0 || e.maxSize < MinMessage {
		return malformed, errValue
	}
	e.flags = flags[0]
	if model != securityUSM {
		return otherSecurity, nil
	}
	parameters := reader{rest: r.expect(tagOctetString), err: r.err}
	security := reader{rest: parameters.expect(tagSequence), err: parameters.err}
	e.engineID = security.expect(tagOctetString)
	e.boots, e.time = security.integer(), security.integer()
	e.user = security.expect(tagOctetString)
	e.digest = security.expect(tagOctetString)
	e.salt = security.expect(tagOctetString)
	e.digestAt = cap(packet) - cap(e.digest)
	tag := byte(tagSequence)
	if e.flags&flagPriv != 0 {
		tag = tagOctetString
	}
	e.data = r.expect(tag)
	for _, r := range []*reader{&security, &parameters, &r} {
		if err := r.end(); err != nil {
			return malformed, err
		}
	}
	if len(e.engineID) > 32 || len(e.user) > maxUserName || e.boots < 0 || e.time < 0 {
		return malformed, errValue
	}
	return noReason, nil
}

// scoped is the content of a scoped PDU.
type scoped struct {
	engineID, name []byte // of the context
	tag            byte
	pdu            []byte
}

// open decodes the data of an envelope that is not encrypted, or no longer is.
func (s *scoped) open(data []byte) error {
	r := reader{rest: data}
	s.engineID, s.name = r.expect(tagOctetString), r.expect(tagOctetString)
	s.tag, s.pdu = r.element()
	return r.end()
}

// requestID returns the request-id of the PDU, or 0 without one.
func (s *scoped) requestID() int32 {
	r := reader{rest: s.pdu}
	if id := r.integer(); r.err == nil {
		return id
	}
	return 0
}

// decrypt decrypts the data of the envelope in place, and returns the content of
// the scoped PDU. It returns false for what was encrypted with another key.
func (e *envelope) decrypt(k *keys) ([]byte, bool) {
	if len(e.salt) != 8 {
		return nil, false
	}
	k.crypt(e.data, uint32(e.boots), uint32(e.time), e.salt, true)
	r := reader{rest: e.data}
	content := r.expect(tagSequence)
	return content, r.err == nil // a block cipher may pad
}

// overhead returns how much larger a message is than its PDU, at most.
func (k *keys) overhead(engineID []byte) int {
	const fixed = 4 + 3 + 2 + 20 + 4 + 4 + 2 + 6 + 6 + 2 + 2 + 10 + 4 + 4 + 2 + 2
	return fixed + 2*len(engineID) + len(k.user) + k.digest
}

// seal appends the message with a PDU: with the id, size, flags, engine and times
// of e, by the user. The flags say whether it is authenticated and encrypted. The
// engine of the context is contextID.
func (k *keys) seal(dst []byte, e *envelope, contextID, pdu []byte) []byte {
	start := len(dst)
	dst = append(dst, tagSequence, 0x82, 0, 0)
	dst = appendInteger(dst, tagInteger, version3)
	at := len(dst) + 1
	dst = appendInteger(append(dst, tagSequence, 0), tagInteger, int64(e.id))
	dst = appendInteger(dst, tagInteger, int64(e.maxSize))
	dst = append(dst, tagOctetString, 1, e.flags)
	dst = setLength(appendInteger(dst, tagInteger, securityUSM), at)

	// The lengths of these take two octets, so that the place of the digest is known.
	dst = append(dst, tagOctetString, 0x81, 0, tagSequence, 0x81, 0)
	at = len(dst)
	dst = appendOctets(dst, tagOctetString, e.engineID)
	dst = appendInteger(dst, tagInteger, int64(e.boots))
	dst = appendInteger(dst, tagInteger, int64(e.time))
	dst = appendOctets(dst, tagOctetString, k.user)
	digest := 0
	if e.flags&flagAuth != 0 {
		digest = k.digest
	}
	dst = append(dst, tagOctetString, byte(digest))
	digestAt := len(dst)
	dst = append(dst, make([]byte, digest)...)
	var salt [8]byte
	if e.flags&flagPriv != 0 {
		salt = k.nextSalt()
		dst = appendOctets(dst, tagOctetString, salt[:])
	} else {
		dst = append(dst, tagOctetString, 0)
	}
	dst[at-1], dst[at-4] = byte(len(dst)-at), byte(len(dst)-at+3)

	cipherAt := 0
	if e.flags&flagPriv != 0 {
		dst = append(dst, tagOctetString, 0x82, 0, 0)
		cipherAt = len(dst)
	}
	dst = append(dst, tagSequence, 0x82, 0, 0)
	at = len(dst)
	dst = appendOctets(dst, tagOctetString, contextID)
	dst = append(dst, tagOctetString, 0) // the default context
	dst = append(dst, pdu...)
	binary.BigEndian.PutUint16(dst[at-2:], uint16(len(dst)-at))
	if cipherAt > 0 {
		binary.BigEndian.PutUint16(dst[cipherAt-2:], uint16(len(dst)-cipherAt))
		k.crypt(dst[cipherAt:], uint32(e.boots), uint32(e.time), salt[:], false)
	}
	binary.BigEndian.PutUint16(dst[start+2:], uint16(len(dst)-start-4))
	if digest > 0 {
		copy(dst[digestAt:], k.sign(dst[start:], digestAt-start))
	}
	return dst
}
