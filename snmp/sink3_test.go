// SPDX-License-Identifier: Apache-2.0

package snmp

import (
	"math"
	"testing"
	"time"

	"github.com/pnagent/pnagent/mib/smi"
	"github.com/pnagent/pnagent/snmp/snmptest"
)

// A peer answers informs as the engine of a sink.
type peer struct {
	engine *Engine
	keys   *keys
}

func newPeer(tb testing.TB, user *User) *peer {
	tb.Helper()
	e, err := OpenEngine("", 32473, start)
	if err != nil {
		tb.Fatal(err)
	}
	return &peer{e, user.keys(e.id)}
}

// answer returns the answer with a PDU to the last message of the sink.
func (p *peer) answer(s *secureSink, pdu []byte, flags byte, change func(*envelope)) []byte {
	e := envelope{id: s.asked, maxSize: maxDatagram, flags: flags, engineID: p.engine.id, boots: 7, time: 1000}
	if change != nil {
		change(&e)
	}
	k := *p.keys
	if flags == 0 {
		k = keys{user: k.user}
	}
	return k.seal(nil, &e, e.engineID, pdu)
}

func reportOf(p problem) []byte {
	m := message{limit: MinMessage}
	m.open(nil, tagReport, 0, noError, 0)
	m.add(p.counter(), smi.Counter32(1))
	return m.finish()
}

func responseTo(id int32, s status) []byte {
	m := message{limit: MinMessage}
	m.open(nil, tagResponse, id, s, 0)
	return m.finish()
}

func informOf(id int32) []byte {
	m := message{limit: MinMessage}
	m.open(nil, tagInform, id, noError, 0)
	return m.finish()
}

// synchronized returns a sink that knows the id and the time of its engine, and has
// sent an inform.
func synchronized(tb testing.TB) (*secureSink, *peer) {
	tb.Helper()
	user := combination{"SHA-256", "AES-128"}.user(tb)
	p := newPeer(tb, user)
	s := newSecureSink(user, newPeer(tb, user).engine)
	for _, answer := range []struct {
		problem
		flags byte
	}{{unknownEngineIDs, 0}, {notInTimeWindows, flagAuth}} {
		s.inform(informOf(5), start)
		a, err := s.decode(p.answer(s, reportOf(answer.problem), answer.flags, nil), start)
		if err != nil || a.report != answer.problem {
			tb.Fatalf("got %+v, %v; want the Report %v", a, err, answer.problem)
		}
	}
	s.inform(informOf(5), start)
	return s, p
}

func TestAnInformHasTheTimeOfTheSink(t *testing.T) {
	s, p := synchronized(t)
	var e envelope
	if why, err := e.decode(s.inform(informOf(5), start.Add(20*time.Second))); why != noReason || err != nil {
		t.Fatal(why, err)
	}
	if e.boots != 7 || e.time != 1020 || string(e.engineID) != string(p.engine.id) || e.flags != flagAuth|flagPriv|flagReportable {
		t.Errorf("got %d boots, %d s, engine %x and flags %d", e.boots, e.time, e.engineID, e.flags)
	}
}

// The time of an engine that reaches its largest value stays there until the engine
// starts again.
func TestTheTimeOfASinkDoesNotOverflow(t *testing.T) {
	s, p := synchronized(t)
	if _, err := s.decode(p.answer(s, reportOf(notInTimeWindows), flagAuth, func(e *envelope) { e.time = math.MaxInt32 - 10 }), start); err != nil {
		t.Fatal(err)
	}
	for after, want := range map[time.Duration]int32{0: math.MaxInt32 - 10, 10 * time.Second: math.MaxInt32, time.Minute: math.MaxInt32, 1 << 62: math.MaxInt32} {
		if got := s.expected(start.Add(after)); got != want {
			t.Errorf("after %v: got %d s; want %d", after, got, want)
		}
	}
	if _, err := s.decode(p.answer(s, responseTo(5, noError), flagAuth|flagPriv, func(e *envelope) { e.time = 5 }), start.Add(time.Minute)); err == nil {
		t.Error("a time that is far behind is accepted; want it ignored")
	}
}

func TestAnswersOfASink(t *testing.T) {
	const secret = flagAuth | flagPriv
	response := responseTo(5, noError)
	for rule, c := range map[string]struct {
		pdu    []byte
		flags  byte
		change func(*envelope)
		want   ack
	}{
		"a response":                            {response, secret, nil, ack{id: 5}},
		"a response with an error":              {responseTo(5, genErr), secret, nil, ack{id: 5, status: genErr}},
		"a Report of the time":                  {reportOf(notInTimeWindows), flagAuth, nil, ack{report: notInTimeWindows}},
		"a sink that was started again":         {reportOf(notInTimeWindows), flagAuth, func(e *envelope) { e.boots, e.time = 8, 3 }, ack{report: notInTimeWindows}},
		"a Report of another engine":            {reportOf(unknownEngineIDs), 0, func(e *envelope) { e.engineID = []byte("another") }, ack{report: unknownEngineIDs}},
		"a Report that the user is unknown":     {reportOf(unknownUserNames), 0, nil, ack{report: unknownUserNames}},
		"a Report of a wrong digest":            {reportOf(wrongDigests), 0, nil, ack{report: wrongDigests}},
		"up to 150 s behind":                    {response, secret, func(e *envelope) { e.time -= timeWindow }, ack{id: 5}},
		"ignored: more than 150 s behind":       {response, secret, func(e *envelope) { e.time -= timeWindow + 1 }, ack{}},
		"ignored: before the sink's last start": {response, secret, func(e *envelope) { e.boots-- }, ack{}},
		"ignored: exhausted boots":              {response, secret, func(e *envelope) { e.boots = math.MaxInt32 }, ack{}},
		"ignored: a response in clear":          {response, flagAuth, nil, ack{}},
		"ignored: an unauthenticated response":  {response, 0, nil, ack{}},
		"ignored: an unauthenticated time":      {reportOf(notInTimeWindows), 0, nil, ack{}},
		"ignored: another message's answer":     {response, secret, func(e *envelope) { e.id++ }, ack{}},
		"ignored: authenticated as another":     {response, secret, func(e *envelope) { e.engineID = []byte("another") }, ack{}},
		"ignored: an engine id of 4 octets":     {reportOf(unknownEngineIDs), 0, func(e *envelope) { e.engineID = []byte("four") }, ack{}},
		"ignored: a request":                    {informOf(5), secret, nil, ack{}},
		"ignored: a Report of another counter":  {responseOf(tagReport), 0, nil, ack{}},
	} {
		t.Run(rule, func(t *testing.T) {
			s, p := synchronized(t)
			got, err := s.decode(p.answer(s, c.pdu, c.flags, c.change), start)
			if got != c.want || (err == nil) != (c.want != ack{}) {
				t.Errorf("got %+v, %v; want %+v", got, err, c.want)
			}
		})
	}
}

func responseOf(tag byte) []byte {
	m := message{limit: MinMessage}
	m.open(nil, tag, 0, noError, 0)
	m.add(smi.OID{1, 3, 6, 1, 2, 1, 11, 6, 0}, smi.Counter32(1)) // snmpInASNParseErrs
	return m.finish()
}

func TestAChangedAnswerIsIgnored(t *testing.T) {
	s, p := synchronized(t)
	good := p.answer(s, responseTo(5, noError), flagAuth|flagPriv, nil)
	for i := range good {
		s, bad := *s, append([]byte(nil), good...)
		bad[i] ^= 1
		if got, err := s.decode(bad, start); err == nil {
			t.Errorf("with octet %d changed: got %+v", i, got)
		}
	}
	if _, err := s.decode(good, start); err != nil {
		t.Error(err)
	}
}

// FuzzInformAnswer3 reads any bytes as the answer of a sink, or as the PDU of one that
// the sink authenticates. There is no panic, and an answer in clear never acknowledges.
func FuzzInformAnswer3(f *testing.F) {
	s, p := synchronized(f)
	f.Add(p.answer(s, responseTo(5, noError), flagAuth|flagPriv, nil), false)
	f.Add(p.answer(s, reportOf(unknownEngineIDs), 0, nil), false)
	f.Add(reportOf(wrongDigests), true)
	f.Add(responseTo(5, genErr), true)
	asked, known := s.asked, *s
	f.Fuzz(func(t *testing.T, packet []byte, authentic bool) {
		*s = known
		s.asked = asked
		if authentic {
			if len(packet) > MaxNotification {
				return
			}
			packet = p.answer(s, packet, flagAuth|flagPriv, nil)
		}
		a, err := s.decode(append([]byte(nil), packet...), start)
		if err == nil && !authentic && a.report == noProblem && a.id != 5 {
			t.Errorf("acknowledged %+v", a)
		}
	})
}

func TestASinkThatDoesNotKnowTheUserRefusesInforms(t *testing.T) {
	user := combination{"SHA-256", "AES-128"}
	for problem, line := range map[problem]string{
		unknownUserNames:     "createUser another SHA-256 authenticate-me AES encrypt-me-too",
		wrongDigests:         "createUser " + user.name() + " SHA-256 another-passphrase AES encrypt-me-too",
		unsupportedSecLevels: "createUser " + user.name() + " SHA-256 authenticate-me",
	} {
		t.Run(problem.String(), func(t *testing.T) {
			t.Parallel()
			sink := snmptest.StartTrapd(t, line)
			s := newSender(t, func(cfg *SenderConfig) {
				cfg.Sinks, cfg.Community, cfg.Timeout = []string{sink.Addr}, "", 20*time.Second
				cfg.User, cfg.Engine = user.user(t), newPeer(t, user.user(t)).engine
			})
			run(t, s)
			if err := notify(s, stuck("it is stuck")); err != nil {
				t.Fatal(err)
			}
			got := settle(s)
			if got.Acknowledged != 0 || got.Lost["refused"] != 1 {
				t.Errorf("got %+v; want 1 that is refused", got)
			}
		})
	}
}
