// SPDX-License-Identifier: Apache-2.0

package agentx

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/agentx/pdu"
	"github.com/pnagent/pnagent/mib/smi"
)

// from is a context whose values count from first.
func from(first int32) func() *smi.Table { return func() *smi.Table { return testTable(first) } }

// askIn asks for root.1.0 in a context.
func (m *master) askIn(name string) *pdu.Response {
	m.tb.Helper()
	h := m.header()
	h.Flags |= pdu.FlagNonDefaultContext
	m.send(pdu.PDU{Header: h, Context: name, Body: &pdu.Get{Ranges: ranges(at(1, 0))}})
	h.Flags &^= pdu.FlagNonDefaultContext
	return m.response(h)
}

// wantIn reads a PDU of the subagent and answers it.
func (m *master) wantIn(name string, body pdu.Body) {
	m.tb.Helper()
	p := m.read()
	if diff := cmp.Diff(body, p.Body); diff != "" || p.Context != name {
		m.tb.Fatalf("in context %q, want %q: %s", p.Context, name, diff)
	}
	if in := p.Header.Flags&pdu.FlagNonDefaultContext != 0; in != (name != "") {
		m.tb.Fatalf("context %q under flags %x", name, p.Header.Flags)
	}
	m.ok(p)
}

func TestEveryContextIsRegisteredAndAnsweredFromItsOwnTable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := startIn(t, nil, map[string]func() *smi.Table{"orders": from(100), "claims": from(200)})
		for range 2 { // and again after a reconnect
			m := f.accept(t)
			m.ok(m.read())
			for _, name := range []string{"", "claims", "orders"} {
				m.wantIn(name, &pdu.Register{Priority: 127, Subtree: root})
			}
			for name, want := range map[string]int32{"": 1, "orders": 100, "claims": 200} {
				if r := m.askIn(name); r.Error != pdu.NoError || r.Variables[0].Value != smi.Integer(want) {
					t.Fatalf("context %q: got %+v; want value %d", name, r, want)
				}
			}
			m.serving()
			m.conn.Close()
		}
		f.finish(f.acceptUp(t))
		want := []string{":" + root.String(), "claims:" + root.String(), "orders:" + root.String()}
		if diff := cmp.Diff(want, f.unregistered); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestARequestInAnotherContextIsRefusedAndCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, nil)
		m := f.acceptUp(t)
		if r := m.askIn("orders"); r.Error != pdu.UnsupportedContext || r.Index != 0 || len(r.Variables) != 0 {
			t.Fatalf("got %+v; want error unsupportedContext without index and variables", r)
		}
		m.serving()
		if s := f.Stats(); s.Faults[FaultContext] != 1 {
			t.Fatalf("got %+v; want one fault FaultContext", s)
		}
		f.finish(m)
	})
}

func TestContextsMayComeAndGoWithinASession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := startIn(t, nil, map[string]func() *smi.Table{"orders": from(100)})
		m := f.acceptUp(t)
		synctest.Wait()
		set := func(contexts map[string]func() *smi.Table) {
			t.Helper()
			if err := f.SetContexts(contexts); err != nil {
				t.Fatal(err)
			}
		}
		set(map[string]func() *smi.Table{"orders": from(100), "claims": from(200)})
		m.wantIn("claims", &pdu.Register{Priority: 127, Subtree: root})
		set(map[string]func() *smi.Table{"claims": from(300)})
		m.wantIn("orders", &pdu.Unregister{Priority: 127, Subtree: root})
		synctest.Wait()
		if r := m.askIn("orders"); r.Error != pdu.UnsupportedContext {
			t.Fatalf("got %+v; want error unsupportedContext", r)
		}
		if r := m.askIn("claims"); r.Variables[0].Value != smi.Integer(300) {
			t.Fatalf("what is set later is not what is asked: %+v", r)
		}
		m.serving()
		// What a master does not know any more need not be taken back.
		set(nil)
		m.answer(m.read(), &pdu.Response{Error: pdu.UnknownRegistration})
		synctest.Wait()
		if r := m.askIn("claims"); r.Error != pdu.UnsupportedContext {
			t.Fatalf("got %+v; want error unsupportedContext", r)
		}
		f.finish(m)
		if diff := cmp.Diff([]string{":" + root.String()}, f.unregistered); diff != "" {
			t.Fatalf("what was taken back is taken back again: %s", diff)
		}
	})
}

func TestARefusedContextIsTriedAgainWithTheSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := startIn(t, nil, map[string]func() *smi.Table{"orders": from(100)})
		m := f.accept(t)
		m.ok(m.read())
		m.ok(m.read())
		m.answer(m.read(), &pdu.Response{Error: pdu.DuplicateRegistration})
		if c, ok := m.read().Body.(*pdu.Close); !ok || c.Reason != pdu.ReasonOther {
			t.Fatal("the session is left open")
		}
		m.conn.Close()
		m = f.acceptUp(t)
		if r := m.askIn("orders"); r.Variables[0].Value != smi.Integer(100) {
			t.Fatalf("got %+v; want value 100", r)
		}
		f.finish(m)
	})
}

func TestInvalidContextsAreRejected(t *testing.T) {
	for name, contexts := range map[string]map[string]func() *smi.Table{
		"no name":         {"": from(1)},
		"a name too long": {string(make([]byte, 33)): from(1)},
		"no tables":       {"orders": nil},
	} {
		t.Run(name, func(t *testing.T) {
			f := prepare(t, nil)
			if err := f.SetContexts(contexts); !errors.Is(err, ErrConfig) {
				t.Errorf("SetContexts: %v, want ErrConfig", err)
			}
		})
	}
}
