// SPDX-License-Identifier: Apache-2.0

package agentx

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"runtime"
	"testing"

	"go.uber.org/goleak"

	"github.com/pnagent/pnagent/agentx/pdu"
	"github.com/pnagent/pnagent/mib/smi"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	root    = smi.OID{1, 3, 6, 1, 4, 1, 32473, 1}
	myID    = smi.OID{1, 3, 6, 1, 4, 1, 32473, 9}
	myCaps  = smi.OID{1, 3, 6, 1, 4, 1, 32473, 2, 3}
	network = pdu.FlagNetworkByteOrder
)

// testTable is two scalars and two columns of three rows below root; values
// count from first.
func testTable(first int32) *smi.Table {
	names := []smi.OID{
		root.Append(1, 0), root.Append(2, 0),
		root.Append(3, 1, 1, 1), root.Append(3, 1, 1, 2), root.Append(3, 1, 1, 3),
		root.Append(3, 1, 2, 1), root.Append(3, 1, 2, 2), root.Append(3, 1, 2, 3),
	}
	layout, err := smi.NewLayout(names, []smi.OID{root.Append(1), root.Append(2), root.Append(3, 1, 1), root.Append(3, 1, 2)})
	if err != nil {
		panic(err)
	}
	values := make([]smi.Value, len(names))
	for i := range values {
		values[i] = smi.Integer(first + int32(i))
	}
	return smi.NewTable(layout, values)
}

// fixture is a Subagent whose connections end at a master in the test.
type fixture struct {
	*Subagent
	dials chan net.Conn // the master's ends
	stop  context.CancelFunc
	ended chan error
	// What the subagent took back as it ended: capabilities, and subtrees as
	// context:subtree.
	removed      []smi.OID
	unregistered []string
}

// start runs a subagent. adjust may change its configuration.
func start(tb testing.TB, adjust func(*Config)) *fixture {
	tb.Helper()
	return startIn(tb, adjust, nil)
}

// startIn runs a subagent with contexts.
func startIn(tb testing.TB, adjust func(*Config), contexts map[string]func() *smi.Table) *fixture {
	tb.Helper()
	f := prepare(tb, adjust)
	if err := f.SetContexts(contexts); err != nil {
		tb.Fatal(err)
	}
	f.run(tb)
	return f
}

// prepare makes a subagent that does not run yet.
func prepare(tb testing.TB, adjust func(*Config)) *fixture {
	tb.Helper()
	config := Config{
		Addr:        "tcp:127.0.0.1:705",
		Subtrees:    []smi.OID{root},
		Tables:      func() *smi.Table { return testTable(1) },
		ID:          myID,
		Description: "a test",
	}
	if adjust != nil {
		adjust(&config)
	}
	subagent, err := New(config)
	if err != nil {
		tb.Fatal(err)
	}
	f := &fixture{Subagent: subagent, dials: make(chan net.Conn), ended: make(chan error, 1)}
	subagent.dial = func(ctx context.Context) (net.Conn, error) {
		ours, theirs := net.Pipe()
		select {
		case f.dials <- theirs:
			return ours, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return f
}

func (f *fixture) run(tb testing.TB) {
	var ctx context.Context
	ctx, f.stop = context.WithCancel(tb.Context())
	go func() { f.ended <- f.Run(ctx) }()
}

// master is the other end of one connection.
type master struct {
	tb      testing.TB
	conn    net.Conn
	in      *bufio.Reader
	flags   pdu.Flags
	session uint32
	packet  uint32
}

// accept takes the next connection.
func (f *fixture) accept(tb testing.TB) *master {
	tb.Helper()
	conn := <-f.dials
	tb.Cleanup(func() { conn.Close() })
	return &master{tb: tb, conn: conn, in: bufio.NewReader(conn), flags: network, session: 7}
}

// acceptUp takes the next connection and lets the subagent open and register.
func (f *fixture) acceptUp(tb testing.TB) *master {
	tb.Helper()
	m := f.accept(tb)
	for left := len(f.config.Subtrees) * (1 + len(*f.wanted.Load())); left > 0; {
		p := m.read()
		m.ok(p)
		if p.Header.Type == pdu.TypeRegister {
			left--
		}
	}
	for f.live.Load() == nil { // until it has read the last answer
		runtime.Gosched()
	}
	return m
}

// finish stops the subagent and lets it close its session with m.
func (f *fixture) finish(m *master) {
	f.stop()
	if m != nil {
		p := m.read()
		for p.Header.Type == pdu.TypePing || p.Header.Type == pdu.TypeRemoveAgentCaps || p.Header.Type == pdu.TypeUnregister {
			switch body := p.Body.(type) {
			case *pdu.RemoveAgentCaps:
				f.removed = append(f.removed, body.ID)
			case *pdu.Unregister:
				f.unregistered = append(f.unregistered, p.Context+":"+body.Subtree.String())
			}
			m.ok(p)
			p = m.read()
		}
		if c, ok := p.Body.(*pdu.Close); !ok || c.Reason != pdu.ReasonShutdown {
			m.tb.Errorf("got %v %+v, want Close for shutdown", p.Header.Type, p.Body)
		}
		m.ok(p)
	}
	<-f.ended
}

// read takes one PDU off the stream.
func (m *master) read() pdu.PDU {
	m.tb.Helper()
	h, payload, err := pdu.ReadFrame(m.in, nil)
	if err != nil {
		m.tb.Fatalf("the master reads: %v", err)
	}
	p, err := pdu.Decode(h, payload)
	if err != nil {
		m.tb.Fatalf("the master reads: %v", err)
	}
	return p
}

// gone checks that the subagent has ended the connection.
func (m *master) gone() {
	m.tb.Helper()
	if b, err := m.in.ReadByte(); !errors.Is(err, io.EOF) {
		m.tb.Fatalf("the connection goes on: %x, %v", b, err)
	}
}

// write sends bytes as they are.
func (m *master) write(raw []byte) {
	m.tb.Helper()
	if _, err := m.conn.Write(raw); err != nil {
		m.tb.Fatalf("the master writes: %v", err)
	}
}

func (m *master) send(p pdu.PDU) {
	m.tb.Helper()
	m.write(encode(m.tb, p))
}

func encode(tb testing.TB, p pdu.PDU) []byte {
	tb.Helper()
	raw, err := pdu.Append(nil, p)
	if err != nil {
		tb.Fatal(err)
	}
	return raw
}

// ok answers a PDU of the subagent.
func (m *master) ok(p pdu.PDU) { m.answer(p, &pdu.Response{UpTime: 12345}) }

func (m *master) answer(p pdu.PDU, r *pdu.Response) {
	m.tb.Helper()
	h := p.Header
	h.Session = m.session
	m.send(pdu.PDU{Header: h, Body: r})
}

// header is for the next request of the master.
func (m *master) header() pdu.Header {
	m.packet++
	return pdu.Header{Flags: m.flags, Session: m.session, Transaction: 1000 + m.packet, Packet: m.packet}
}

// ask sends a request and reads its response.
func (m *master) ask(body pdu.Body) *pdu.Response {
	m.tb.Helper()
	h := m.header()
	m.send(pdu.PDU{Header: h, Body: body})
	return m.response(h)
}

// response reads the response to the request with header h.
func (m *master) response(h pdu.Header) *pdu.Response {
	m.tb.Helper()
	p := m.read()
	got := pdu.Header{Flags: p.Header.Flags, Session: p.Header.Session, Transaction: p.Header.Transaction, Packet: p.Header.Packet}
	h.Type, h.Length = 0, 0
	if got != h {
		m.tb.Fatalf("response header %+v, want %+v", got, h)
	}
	r, ok := p.Body.(*pdu.Response)
	if !ok {
		m.tb.Fatalf("got %v, want a Response", p.Header.Type)
	}
	return r
}

// serving checks that a Get is answered: that all is still well.
func (m *master) serving() {
	m.tb.Helper()
	r := m.ask(&pdu.Get{Ranges: []pdu.SearchRange{{Start: root.Append(1, 0)}}})
	if r.Error != pdu.NoError || len(r.Variables) != 1 || r.Variables[0].Value != smi.Integer(1) {
		m.tb.Fatalf("not serving any more: %+v", r)
	}
}
