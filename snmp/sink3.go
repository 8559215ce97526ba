// SPDX-License-Identifier: Apache-2.0

package snmp

import (
	"bytes"
	"cmp"
	"math"
	"math/rand/v2"
	"time"
)

// secureSink makes a sink's messages of SNMPv3 and reads their answers. The engine of
// this process is the authoritative one of a trap, the sink's that of an inform. The
// id and the time of the sink's engine are learnt from its Reports (RFC 3414 section
// 4). A secureSink belongs to the goroutine of its sink.
type secureSink struct {
	user  *User
	own   *Engine
	traps *keys // for own

	engineID    []byte // of the sink, nil before it is known
	informs     *keys  // for engineID
	boots, time int32  // of that engine at synced, 0 before they are known
	synced      time.Time

	asked    int32 // the id of the last message that is answered
	probe    message
	envelope envelope
	scoped   scoped
	report   request // the PDU of a Report
	out      []byte
}

// newSecureSink returns nil without a user: the sink has SNMPv2c.
func newSecureSink(user *User, own *Engine) *secureSink {
	if user == nil {
		return nil
	}
	return &secureSink{user: user, own: own, traps: user.keys(own.id), probe: message{limit: MinMessage}}
}

// trap returns the message with the PDU of a trap, valid until the next call.
func (s *secureSink) trap(pdu []byte, now time.Time) []byte {
	e := envelope{id: rand.Int32(), maxSize: maxDatagram, flags: s.traps.level(), engineID: s.own.id,
		boots: int32(s.own.boots), time: int32(s.own.seconds(now))}
	s.out = s.traps.seal(s.out[:0], &e, s.own.id, pdu)
	return s.out
}

// inform returns the message with the PDU of an inform, or one that asks for the
// sink's engine if that is not known yet. It is valid until the next call.
func (s *secureSink) inform(pdu []byte, now time.Time) []byte {
	s.asked = rand.Int32()
	e := envelope{id: s.asked, maxSize: maxDatagram, flags: flagReportable, engineID: s.engineID}
	if s.engineID == nil {
		s.probe.open(nil, tagGet, s.asked, noError, 0)
		s.out = new(keys).seal(s.out[:0], &e, nil, s.probe.finish())
		return s.out
	}
	e.flags |= s.informs.level()
	e.boots, e.time = s.boots, s.expected(now)
	s.out = s.informs.seal(s.out[:0], &e, s.own.id, pdu)
	return s.out
}

// expected returns the time of the sink's engine at now.
func (s *secureSink) expected(now time.Time) int32 {
	if s.synced.IsZero() {
		return 0
	}
	return int32(min(int64(s.time)+int64(now.Sub(s.synced)/time.Second), math.MaxInt32))
}

// forget makes the next inform ask for the sink's engine, which may be another one.
func (s *secureSink) forget() {
	s.engineID = nil
	s.informs = nil
	s.boots = 0
	s.time = 0
	s.synced = time.Time{}
}

// learn takes the id of the sink's engine from a Report.
func (s *secureSink) learn(engineID []byte) bool {
	if len(engineID) < 5 { // RFC 3411 section 5, SnmpEngineID
		return false
	}
	s.forget()
	s.engineID = bytes.Clone(engineID)
	s.informs = s.user.keys(s.engineID)
	return true
}

// synchronize takes the time from an authenticated message. It returns false for a
// message of the past, and of an engine whose boots are exhausted (RFC 3414 section 3.2
// step 7b).
func (s *secureSink) synchronize(e *envelope, now time.Time) bool {
	if e.boots == math.MaxInt32 || e.boots < s.boots || e.boots == s.boots && e.time < s.expected(now)-timeWindow {
		return false
	}
	if e.boots > s.boots || e.time > s.time {
		s.boots, s.time, s.synced = e.boots, e.time, now
	}
	return true
}

// decode decodes the answer to the last message of inform, in the memory of the packet.
func (s *secureSink) decode(packet []byte, now time.Time) (a ack, err error) {
	e := &s.envelope
	if why, err := e.decode(packet); why != noReason {
		return a, cmp.Or(err, errStranger)
	}
	if e.id != s.asked {
		return a, errStranger
	}
	data, authentic := e.data, e.flags&flagAuth != 0
	if authentic {
		k := s.informs
		if k == nil || e.flags&flagPriv > k.level()&flagPriv || !bytes.Equal(e.engineID, s.engineID) ||
			string(e.user) != k.user || !k.verify(packet, e.digest, e.digestAt) || !s.synchronize(e, now) {
			return a, errStranger
		}
		var ok bool
		if e.flags&flagPriv != 0 {
			if data, ok = e.decrypt(k); !ok {
				return a, errStranger
			}
		}
	}
	if err := s.scoped.open(data); err != nil {
		return a, err
	}
	switch {
	case s.scoped.tag == tagReport:
		return s.reported(authentic)
	case s.scoped.tag == tagResponse && authentic && e.flags&flagPriv == s.informs.level()&flagPriv:
		return a, a.decode(s.scoped.pdu)
	}
	return a, errStranger
}

// reported decodes a Report. The sink must authenticate its time, and cannot
// authenticate the problems that are found before a message is.
func (s *secureSink) reported(authentic bool) (a ack, err error) {
	if err := s.report.decodePDU(s.scoped.pdu); err != nil {
		return a, err
	}
	for p := noProblem + 1; p < numProblems; p++ {
		if s.report.names() > 0 && s.report.name(0).Compare(p.counter()) == 0 {
			a.report = p
		}
	}
	known := a.report != noProblem && (authentic || a.report != notInTimeWindows)
	if !known || a.report == unknownEngineIDs && !s.learn(s.envelope.engineID) {
		return ack{}, errStranger
	}
	return a, nil
}
