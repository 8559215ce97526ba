// SPDX-License-Identifier: Apache-2.0

package agentx

import (
	"net"
	"testing"
	"testing/synctest"

	"github.com/pnagent/pnagent/agentx/pdu"
	"github.com/pnagent/pnagent/mib/smi"
)

// Each test here is a fault that was found in another subagent library,
// github.com/posteo/go-agentx v0.3.0, and must not be one of ours.

// There: no such PDU is known, and decoding it dereferences nil.
func TestASetDoesNotKillTheProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, nil)
		m := f.acceptUp(t)
		r := m.ask(&pdu.TestSet{Variables: []smi.Variable{
			{Name: root.Append(1, 0), Value: smi.Integer(5)}, {Name: root.Append(2, 0), Value: smi.Integer(5)},
		}})
		if r.Error != pdu.NotWritable || r.Index != 1 {
			t.Fatalf("got %+v; want error notWritable at index 1", r)
		}
		m.send(pdu.PDU{Header: m.header(), Body: &pdu.CleanupSet{}})
		m.serving()
		f.finish(m)
	})
}

// There: only the first is looked at, and the rest is read as the next PDU.
func TestAGetOfTwoObjectsIsAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, nil)
		m := f.acceptUp(t)
		r := m.ask(&pdu.Get{Ranges: []pdu.SearchRange{{Start: root.Append(2, 0)}, {Start: root.Append(1, 0)}}})
		if len(r.Variables) != 2 || r.Variables[0].Value != smi.Integer(2) || r.Variables[1].Value != smi.Integer(1) {
			t.Fatalf("got %+v; want the values 2 and 1", r)
		}
		f.finish(m)
	})
}

// There: one Read is taken to fill the buffer, and a bufio.Reader of 4 KiB is
// thrown away with what it has read too much.
func TestARequestOver4KBIsAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, nil)
		m := f.acceptUp(t)
		for _, n := range []int{200, 2000} {
			get := &pdu.Get{}
			for range n {
				get.Ranges = append(get.Ranges, pdu.SearchRange{Start: root.Append(1, 0)})
			}
			if size := len(encode(t, pdu.PDU{Body: get})); size <= 4096 {
				t.Fatalf("%d bytes are not over 4 KB", size)
			}
			if r := m.ask(get); r.Error != pdu.NoError || len(r.Variables) != n {
				t.Fatalf("%v, %d variables", r.Error, len(r.Variables))
			}
		}
		m.serving()
		f.finish(m)
	})
}

// There: every error of a read but io.EOF is a panic.
func TestAResetConnectionIsReplaced(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	f := prepare(t, func(c *Config) { c.Addr = "tcp:" + listener.Addr().String() })
	dialling, err := New(f.config)
	if err != nil {
		t.Fatal(err)
	}
	f.dial = dialling.dial
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			f.dials <- conn
		}
	}()
	f.run(t)
	m := f.acceptUp(t)
	m.serving()
	if err := m.conn.(*net.TCPConn).SetLinger(0); err != nil {
		t.Fatal(err)
	}
	m.conn.Close() // with a reset
	m = f.acceptUp(t)
	m.serving()
	if s := f.Stats(); s.Faults[FaultLost] != 1 || s.Sessions != 2 {
		t.Fatalf("got %+v; want one fault FaultLost and two sessions", s)
	}
	f.finish(m)
}

// There: the master's Close is a PDU that is not known, which is a panic.
func TestACloseIsNotAPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, nil)
		m := f.acceptUp(t)
		m.write(unhex(t, "01021000 00000007 00000001 00000001 00000000")) // and this one has no reason
		m.gone()
		m = f.acceptUp(t)
		m.serving()
		f.finish(m)
	})
}

// There: network byte order is taken for little endian, which makes the length
// of the payload gigabytes.
func TestNetworkByteOrderIsUnderstood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, nil)
		m := f.acceptUp(t)
		m.flags = network
		m.serving()
		f.finish(m)
	})
}

// There: after a reconnect whose Open is refused, requests continue as if all was
// well; and a second subtree cannot be registered at all.
func TestEverythingIsRegisteredAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		second := smi.OID{1, 3, 6, 1, 4, 1, 32473, 5}
		f := start(t, func(c *Config) { c.Subtrees = []smi.OID{root, second} })
		f.acceptUp(t).conn.Close()
		m := f.accept(t)
		m.answer(m.read(), &pdu.Response{Error: pdu.OpenFailed})
		m.conn.Close()
		m = f.accept(t)
		var registered []string
		for range 3 {
			p := m.read()
			if r, ok := p.Body.(*pdu.Register); ok {
				registered = append(registered, r.Subtree.String())
			}
			m.ok(p)
		}
		if len(registered) != 2 || registered[0] != root.String() || registered[1] != second.String() {
			t.Fatalf("got registrations %v; want %v and %v", registered, root, second)
		}
		m.serving()
		f.finish(m)
	})
}
