// SPDX-License-Identifier: Apache-2.0

package snmp

import (
	"bytes"
	"net/netip"
	"time"

	"github.com/pnagent/pnagent/mib/smi"
)

// problem is why a request of SNMPv3 is answered with a Report.
type problem uint8

// The problems, in the order in which RFC 3414 section 3.2 and RFC 3412 section
// 7.2 look for them.
const (
	noProblem problem = iota
	unknownEngineIDs
	unknownUserNames
	unsupportedSecLevels
	wrongDigests
	notInTimeWindows
	decryptionErrors
	unknownPDUHandlers
	unknownContexts
	numProblems
)

// String returns the problem as a label of a metric.
func (p problem) String() string {
	return [...]string{"", "unknownEngineIDs", "unknownUserNames", "unsupportedSecLevels", "wrongDigests",
		"notInTimeWindows", "decryptionErrors", "unknownPDUHandlers", "unknownContexts"}[p]
}

// counter returns the name of the problem's counter, of RFC 3414 section 5 or RFC
// 3412 section 5.
func (p problem) counter() smi.OID {
	switch p {
	case unknownContexts:
		return smi.OID{1, 3, 6, 1, 6, 3, 12, 1, 5, 0}
	case unknownPDUHandlers:
		return smi.OID{1, 3, 6, 1, 6, 3, 11, 2, 1, 3, 0}
	}
	usmStats := [numProblems]uint32{unsupportedSecLevels: 1, notInTimeWindows: 2, unknownUserNames: 3, unknownEngineIDs: 4,
		wrongDigests: 5, decryptionErrors: 6}
	return smi.OID{1, 3, 6, 1, 6, 3, 15, 1, 1, usmStats[p], 0}
}

// secure is the part of an exchange for SNMPv3.
type secure struct {
	of       *credentials // that users are of
	users    map[string]*keys
	envelope envelope
	scoped   scoped
	reports  *limits // so that packets without a digest do not use up the requests of a user
	out      []byte
}

func (r *Responder) newSecure() *secure {
	if r.cfg.Engine == nil {
		return nil
	}
	s := &secure{reports: newLimits(r.cfg.PacketRate, r.cfg.OctetRate, r.cfg.MaxMessage)}
	s.know(r.takes.Load(), r.cfg.Engine)
	return s
}

// know makes the keys of the users, if they are others than before.
func (s *secure) know(c *credentials, engine *Engine) {
	if s.of == c {
		return
	}
	s.of, s.users = c, make(map[string]*keys, len(c.users))
	for i := range c.users {
		s.users[c.users[i].Name] = c.users[i].keys(engine.id)
	}
}

// answer3 is answer for SNMPv3. It decrypts in the memory of the packet.
func (x *exchange) answer3(packet []byte, from netip.AddrPort, now time.Time) ([]byte, reason, error) {
	e, s := &x.secure.envelope, &x.secure.scoped
	if why, err := e.decode(packet); why != noReason {
		return nil, why, err
	}
	k, found, err := x.open(packet, now)
	if err != nil {
		return nil, malformed, err
	}
	if found != noProblem {
		x.counters.problems[found].Add(1)
		return x.report(k, found, len(packet), from, now)
	}
	x.request.op = s.tag
	if !isRequest(s.tag) {
		return nil, notRequest, nil
	}
	x.request.community = nil
	if err := x.request.decodePDU(s.pdu); err != nil {
		return nil, malformed, err
	}
	b, why := x.limits.receive(from.Addr(), len(packet), now)
	if why != noReason {
		return nil, why, nil
	}
	x.largest, x.overhead = min(int(e.maxSize), x.cfg.MaxMessage), k.overhead(x.cfg.Engine.id)
	pdu := x.perform(b, from, now)
	if pdu == nil {
		return nil, unproven, nil
	}
	out := x.seal(k, k.level(), pdu, now)
	if !x.limits.send(b, len(out), now) {
		return nil, unproven, nil
	}
	x.counters.variables.Add(uint64(x.response.variables))
	return out, noReason, nil
}

// open checks the security of the message in x.secure.envelope, and decodes its
// scoped PDU. With a problem it returns the keys for the Report, or nil for one
// without authentication.
func (x *exchange) open(packet []byte, now time.Time) (*keys, problem, error) {
	e, s := &x.secure.envelope, &x.secure.scoped
	*s = scoped{}
	if e.flags&flagPriv == 0 {
		_ = s.open(e.data) // for a Report; a fault is found below
	}
	if !bytes.Equal(e.engineID, x.cfg.Engine.id) {
		return nil, unknownEngineIDs, nil
	}
	k := x.secure.users[string(e.user)]
	if k == nil {
		return nil, unknownUserNames, nil
	}
	if e.flags&(flagAuth|flagPriv) != k.level() {
		return nil, unsupportedSecLevels, nil
	}
	if !k.verify(packet, e.digest, e.digestAt) {
		return nil, wrongDigests, nil
	}
	if !x.cfg.Engine.inWindow(e.boots, e.time, now) {
		return k, notInTimeWindows, nil
	}
	data := e.data
	if k.block != nil {
		var ok bool
		if data, ok = e.decrypt(k); !ok {
			return k, decryptionErrors, nil
		}
	}
	if err := s.open(data); err != nil {
		if k.block != nil {
			return k, decryptionErrors, nil // of the wrong key
		}
		return nil, noProblem, err
	}
	switch {
	case !bytes.Equal(s.engineID, x.cfg.Engine.id):
		return k, unknownPDUHandlers, nil
	case len(s.name) > 0:
		return k, unknownContexts, nil
	}
	return k, noProblem, nil
}

// report answers a request of n octets with a Report (RFC 3412 section 7.1.3). It repeats the
// request-id, which is 0 if it could not be decoded.
func (x *exchange) report(k *keys, found problem, n int, from netip.AddrPort, now time.Time) ([]byte, reason, error) {
	if x.secure.envelope.flags&flagReportable == 0 {
		return nil, notReportable, nil
	}
	b, why := x.secure.reports.receive(from.Addr(), n, now)
	if why != noReason {
		return nil, why, nil
	}
	flags := byte(flagAuth)
	if k == nil {
		k, flags = &keys{user: string(x.secure.envelope.user)}, 0
	}
	x.response.limit = MinMessage
	x.response.open(nil, tagReport, x.secure.scoped.requestID(), noError, 0)
	x.response.add(found.counter(), smi.Counter32(uint32(x.counters.problems[found].Load())))
	out := x.seal(k, flags, x.response.finish(), now)
	if !x.secure.reports.send(b, len(out), now) {
		return nil, unproven, nil
	}
	return out, noReason, nil
}

// seal returns the message that answers the one in x.secure.envelope.
func (x *exchange) seal(k *keys, flags byte, pdu []byte, now time.Time) []byte {
	own := x.cfg.Engine
	e := envelope{id: x.secure.envelope.id, maxSize: maxDatagram, flags: flags, engineID: own.id, boots: int32(own.boots), time: int32(own.seconds(now))}
	x.secure.out = k.seal(x.secure.out[:0], &e, own.id, pdu)
	return x.secure.out
}
