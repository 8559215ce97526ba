// SPDX-License-Identifier: Apache-2.0

package agentx

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/agentx/pdu"
	"github.com/pnagent/pnagent/mib/smi"
)

// leave reads the PDUs that the subagent sends as it ends, answers them,
// and returns their types.
func (m *master) leave() (sent []pdu.Type) {
	m.tb.Helper()
	for {
		p := m.read()
		sent = append(sent, p.Header.Type)
		if p.Header.Type != pdu.TypeResponse {
			m.ok(p)
		}
		if p.Header.Type == pdu.TypeClose {
			return sent
		}
	}
}

// next requests the name after another one, in a transaction.
func (m *master) next(transaction uint32, after smi.OID) {
	m.tb.Helper()
	h := m.header()
	h.Transaction = transaction
	m.send(pdu.PDU{Header: h, Body: &pdu.GetNext{Ranges: []pdu.SearchRange{{Start: after, End: root.Append(9)}}}})
}

// name reads a Response, and returns the name of its variable.
func (m *master) name() smi.OID {
	m.tb.Helper()
	p := m.read()
	r, ok := p.Body.(*pdu.Response)
	if !ok || len(r.Variables) != 1 {
		m.tb.Fatalf("got %v %+v, want a Response of one", p.Header.Type, p.Body)
	}
	return r.Variables[0].Name
}

// walk requests the names after another one, in transactions of these numbers of
// requests, and returns the last name.
func (m *master) walk(after smi.OID, transactions ...int) smi.OID {
	m.tb.Helper()
	for i, requests := range transactions {
		for range requests {
			m.next(uint32(i+1), after)
			after = m.name()
		}
	}
	return after
}

// taken returns the PDUs that a subagent sends as it ends, with the answers that it held back.
func taken(answers int) (want []pdu.Type) {
	want = []pdu.Type{pdu.TypePing, pdu.TypePing} // whether a request is on its way
	for range answers {
		want = append(want, pdu.TypeResponse)
	}
	if answers > 0 {
		want = append(want, pdu.TypePing, pdu.TypePing) // as long as what snmpd reads
	}
	return append(want, pdu.TypeUnregister, pdu.TypeRemoveAgentCaps, pdu.TypeClose)
}

func withCaps(c *Config) { c.Caps = []Caps{{ID: myCaps}} }

func TestASessionIsUnregisteredAfter20MillisecondsWithoutARequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, withCaps)
		m := f.acceptUp(t)
		m.serving()
		began := time.Now()
		f.stop()
		if diff := cmp.Diff(taken(0), m.leave()); diff != "" {
			t.Error(diff)
		}
		if took := time.Since(began); took != quietFor {
			t.Errorf("after %v", took)
		}
		<-f.ended
	})
}

func TestTheLastAnswerOfATransactionIsHeldBackUntilTheUnregister(t *testing.T) {
	for _, c := range []struct {
		rule string
		ask  func(*master) // once the session is to end
		want []pdu.Type
		took time.Duration // since it asked last
	}{
		{"a Get beside a walk that does not go on", func(m *master) {
			m.send(pdu.PDU{Header: m.header(), Body: &pdu.Get{Ranges: []pdu.SearchRange{{Start: root.Append(1, 0)}}}})
		}, taken(1)[2:], quietWithin},
		{"a GetNext of a walk by GETNEXT", func(m *master) { m.next(3, root.Append(2, 0)) }, taken(1), quietFor},
		{"two managers", func(m *master) {
			m.next(3, root.Append(2, 0))
			m.next(4, root.Append(2, 0))
		}, taken(2), quietFor},
		{"one that begins", func(m *master) {
			m.next(3, root.Append(1))
			m.name()
		}, taken(0)[2:], quietWithin},
		{"the end of the subtree, after which the master asks for another", func(m *master) {
			m.next(3, root.Append(2, 0))
			m.next(4, root.Append(3, 1, 2, 3))
			m.name()
		}, taken(1), quietFor},
	} {
		t.Run(c.rule, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := start(t, withCaps)
				m := f.acceptUp(t)
				if at := m.walk(root, 1, 1); at.Compare(root.Append(2, 0)) != 0 {
					t.Fatal(at)
				}
				f.stop()
				synctest.Wait()
				c.ask(m)
				asked := time.Now()
				if diff := cmp.Diff(c.want, m.leave()); diff != "" {
					t.Error(diff)
				}
				if took := time.Since(asked); took != c.took {
					t.Errorf("after %v, want %v", took, c.took)
				}
				<-f.ended
			})
		})
	}
}

// A GETBULK is a transaction of as many requests as the one before.
func TestAnAnswerThatTheMasterContinuesFromIsNotHeldBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, withCaps)
		m := f.acceptUp(t)
		at := m.walk(root, 3)
		f.stop()
		synctest.Wait()
		for range 2 {
			m.next(2, at)
			at = m.name()
			time.Sleep(quietFor - time.Millisecond) // each puts it off
		}
		m.next(2, at)
		if diff := cmp.Diff(taken(1), m.leave()); diff != "" {
			t.Error(diff)
		}
		<-f.ended
	})
}

func TestASessionIsUnregisteredWithinHalfASecondOfContinuousRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, withCaps)
		m := f.acceptUp(t)
		began := time.Now()
		f.stop()
		synctest.Wait()
		for time.Since(began) < quietWithin {
			m.next(uint32(time.Since(began)), root) // nothing is continued
			m.name()
			time.Sleep(quietFor / 2)
		}
		if diff := cmp.Diff(taken(0)[2:], m.leave()); diff != "" {
			t.Error(diff)
		}
		if took := time.Since(began); took != quietWithin {
			t.Errorf("after %v", took)
		}
		<-f.ended
	})
}

// A request that crosses the Unregister all the same is answered at once.
func TestRequestsAreAnsweredUntilTheClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, nil)
		m := f.acceptUp(t)
		f.stop()
		p := m.read()
		for ; p.Header.Type == pdu.TypePing; p = m.read() {
			m.ok(p)
		}
		if p.Header.Type != pdu.TypeUnregister {
			t.Fatal(p.Header.Type)
		}
		m.serving()
		m.ok(p)
		if diff := cmp.Diff([]pdu.Type{pdu.TypeClose}, m.leave()); diff != "" {
			t.Error(diff)
		}
		<-f.ended
	})
}

// All contexts and subtrees are taken back at one moment.
func TestEveryRegistrationIsWithdrawnBehindTheAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := startIn(t, func(c *Config) { c.Subtrees = []smi.OID{root, myCaps} },
			map[string]func() *smi.Table{"orders": func() *smi.Table { return testTable(1) }})
		m := f.acceptUp(t)
		f.stop()
		synctest.Wait()
		m.send(pdu.PDU{Header: m.header(), Body: &pdu.Get{Ranges: []pdu.SearchRange{{Start: root.Append(1, 0)}}}})
		for range 2 {
			m.ok(m.read())
		}
		m.name()
		var all []pdu.PDU // before any of them is answered
		for range 2 + 4 {
			all = append(all, m.read())
		}
		for _, p := range all {
			m.ok(p)
		}
		for _, p := range all[2:] {
			if p.Header.Type != pdu.TypeUnregister {
				t.Error(p.Header.Type)
			}
		}
		m.leave()
		<-f.ended
	})
}

// What the master does not take does not keep the subagent for long.
func TestAMasterThatDoesNotAnswerAnUnregisterIsLeftAfterASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, nil)
		m := f.acceptUp(t)
		began := time.Now()
		f.stop()
		<-f.ended
		if took := time.Since(began); took != closeWithin {
			t.Errorf("left after %v", took)
		}
		m.conn.Close()
	})
}

// A busy machine may let a request lie that came long ago.
func TestARequestBeforeTheAnswerToThePingsDelaysTheUnregister(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, withCaps)
		m := f.acceptUp(t)
		f.stop()
		m.ok(m.read())
		ping := m.read()
		m.next(1, root.Append(3, 1, 2, 3)) // the end
		m.name()
		m.ok(ping)
		began := time.Now()
		if diff := cmp.Diff(taken(0), m.leave()); diff != "" {
			t.Error(diff)
		}
		if took := time.Since(began); took != quietFor {
			t.Errorf("after %v", took)
		}
		<-f.ended
	})
}

// A manager may be slow, or the machine busy.
func TestTheUnregisterWaitsForAWalkInProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, withCaps)
		m := f.acceptUp(t)
		at := m.walk(root, 1, 1)
		f.stop()
		time.Sleep(10*quietFor + time.Millisecond)
		m.next(3, at)
		asked := time.Now()
		if diff := cmp.Diff(taken(1), m.leave()); diff != "" {
			t.Error(diff)
		}
		if took := time.Since(asked); took > quietFor {
			t.Errorf("after %v", took)
		}
		<-f.ended
	})
}
