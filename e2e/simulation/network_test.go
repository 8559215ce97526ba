// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"bytes"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/telemetry/natslink"
)

// network is a NATS server and the links of processes to it.
type network struct {
	t  *testing.T
	mu sync.Mutex
	ns *server.Server // nil while it is down
}

func newNetwork(t *testing.T) *network {
	n := &network{t: t}
	n.start()
	return n
}

func (n *network) start() {
	n.t.Helper()
	ns, err := server.NewServer(&server.Options{DontListen: true, NoSigs: true, NoLog: true, PingInterval: 5 * time.Second, MaxPingsOut: 2, NoSystemAccount: true})
	if err != nil {
		n.t.Fatal(err)
	}
	go ns.Start()
	if !ns.ReadyForConnections(time.Minute) {
		n.t.Fatal("the NATS server does not start")
	}
	n.mu.Lock()
	n.ns = ns
	n.mu.Unlock()
}

// stop ends the server, and with it all connections.
func (n *network) stop() {
	n.mu.Lock()
	ns := n.ns
	n.ns = nil
	n.mu.Unlock()
	if ns != nil {
		ns.Shutdown()
		ns.WaitForShutdown()
	}
}

var errUnreachable = errors.New("the server is unreachable")

// link is the connection of one process to the server. The zero times of its faults are none.
type link struct {
	network *network
	mu      sync.Mutex
	passes  sync.Cond
	dark    bool          // what is sent waits, in both directions; nothing is closed
	cut     bool          // connections end, and new ones are refused
	killed  bool          // the process has ended
	delay   time.Duration // of whatever passes
	conns   map[*pair]bool
}

// pair is one connection. It is what the process has; near is its other end, and far the server's.
type pair struct {
	net.Conn
	near, far net.Conn
	out, in   flow // of the process
	made      bool // the server has answered the first ping of the client; guarded by link.mu
}

// flow is one direction of a connection. A write to it does not wait: a client holds locks meanwhile, and
// to wait for a lock lets no time of a bubble pass.
type flow struct {
	link *link
	pair *pair
	to   io.Writer
	sent []chunk // guarded by link.mu
}

// chunk is on its way, and arrives at due.
type chunk struct {
	due   time.Time
	bytes []byte
}

func (p *pair) close() {
	_ = p.Close()
	_ = p.near.Close()
	_ = p.far.Close()
}

// Write implements io.Writer.
func (p *pair) Write(b []byte) (int, error) { return p.out.Write(b) }

// Write implements io.Writer. Until a connection is made, its bytes arrive at once.
func (f *flow) Write(b []byte) (int, error) {
	l := f.link
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.conns[f.pair] {
		return 0, io.ErrClosedPipe
	}
	due := time.Now()
	if f.pair.made {
		due = due.Add(l.delay)
	}
	if n := len(f.sent); n > 0 && f.sent[n-1].due.After(due) {
		due = f.sent[n-1].due
	}
	f.sent = append(f.sent, chunk{due, bytes.Clone(b)})
	l.passes.Broadcast()
	return len(b), nil
}

// next waits for a chunk that the link lets pass. It returns false at the end of the connection.
func (f *flow) next() (c chunk, ok bool) {
	l := f.link
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.conns[f.pair] && (len(f.sent) == 0 || l.dark && f.pair.made) {
		l.passes.Wait()
	}
	if !l.conns[f.pair] {
		return chunk{}, false
	}
	c, f.sent = f.sent[0], f.sent[1:]
	return c, true
}

// deliver carries the chunks to their end.
func (f *flow) deliver() {
	defer f.link.drop(f.pair)
	for c, ok := f.next(); ok; c, ok = f.next() {
		if wait := time.Until(c.due); wait > 0 {
			time.Sleep(wait)
		}
		if _, err := f.to.Write(c.bytes); err != nil {
			return
		}
		if bytes.Contains(c.bytes, []byte("PONG\r\n")) {
			f.link.mu.Lock()
			f.pair.made = true
			f.link.mu.Unlock()
		}
	}
}

func newLink(n *network) *link {
	l := &link{network: n, conns: map[*pair]bool{}}
	l.passes.L = &l.mu
	return l
}

// InProcessConn implements nats.InProcessConnProvider.
func (l *link) InProcessConn() (net.Conn, error) {
	l.network.mu.Lock()
	ns := l.network.ns
	l.network.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if ns == nil || l.cut || l.dark {
		return nil, errUnreachable
	}
	far, err := ns.InProcessConn()
	if err != nil {
		return nil, err
	}
	mine, near := net.Pipe()
	p := &pair{Conn: mine, near: near, far: far}
	p.out, p.in = flow{link: l, pair: p, to: far}, flow{link: l, pair: p, to: near}
	l.conns[p] = true
	go p.out.deliver()
	go p.in.deliver()
	go l.read(p)
	return p, nil
}

// read reads what the server sends.
func (l *link) read(p *pair) {
	defer l.drop(p)
	buf := make([]byte, 64<<10)
	for {
		n, err := p.far.Read(buf)
		if err != nil {
			return
		}
		if _, err := p.in.Write(buf[:n]); err != nil {
			return
		}
	}
}

// drop ends a connection.
func (l *link) drop(p *pair) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p.close()
	delete(l.conns, p)
	l.passes.Broadcast()
}

// set changes the faults of the link.
func (l *link) set(dark, cut bool, delay time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dark, l.cut, l.delay = dark, cut, delay
	if cut {
		for p := range l.conns {
			p.close()
			delete(l.conns, p)
		}
	}
	l.passes.Broadcast()
}

// kill lets nothing more leave the process.
func (l *link) kill() {
	l.set(false, true, 0)
	l.mu.Lock()
	l.killed = true
	l.mu.Unlock()
}

// connect returns a connection that is made again whenever it is lost, as natslink does it.
// natslink itself waits by timers of the system, which do not pass in a bubble.
func (l *link) connect(name string) (*nats.Conn, func() *natslink.ConnState, error) {
	state := &connection{ConnState: natslink.ConnState{Since: time.Now().UnixMicro()}}
	nc, err := nats.Connect("", nats.InProcessServer(l), nats.Name(name), nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1),
		nats.ReconnectWait(natslink.RetryEvery), nats.Timeout(natslink.ConnectWithin), nats.PingInterval(natslink.PingAfter), nats.MaxPingsOutstanding(2),
		nats.ConnectHandler(func(*nats.Conn) { state.set(true) }), nats.ReconnectHandler(func(*nats.Conn) { state.set(true) }),
		nats.DisconnectErrHandler(func(*nats.Conn, error) { state.set(false) }))
	if err == nil && nc.IsConnected() {
		state.set(true)
	}
	return nc, state.get, err
}

// connection is the state of a connection.
type connection struct {
	mu sync.Mutex
	natslink.ConnState
}

func (c *connection) set(connected bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.Connected == connected {
		return
	}
	c.Connected, c.Since = connected, time.Now().UnixMicro()
	if !connected {
		c.Disconnects++
	}
}

func (c *connection) get() *natslink.ConnState {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.ConnState
	return &s
}
