// SPDX-License-Identifier: Apache-2.0

package httpserver

import (
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// requests is the number of connections for short requests.
	requests = 512
	// requestsPerAddress is that of one address.
	requestsPerAddress = 128
	// blockedAfter is how long a write waits for the client before the connection
	// may be closed for a new one.
	blockedAfter = time.Second
)

// limits returns the limits of connections in all and for each address. A quarter
// of the descriptors remains for files, such as the state of alarms, and for
// connections to NATS and SNMP.
func limits(streams, streamsPerAddress, descriptors int) (all, each int) {
	all = min(streams+requests, descriptors-descriptors/4)
	return all, min(streamsPerAddress+requestsPerAddress, max(all/2, 1))
}

// Peer returns the address whose connections are counted together: an IPv4
// address, or the /64 network of an IPv6 address, because one client may have all
// addresses of it. remote is a RemoteAddr of net/http. All that has no IP
// address, such as a client at a Unix socket, is counted together.
func Peer(remote string) netip.Prefix {
	at, err := netip.ParseAddrPort(remote)
	if err != nil {
		return netip.Prefix{}
	}
	addr, bits := at.Addr().Unmap().WithZone(""), 32
	if addr.Is6() {
		bits = 64
	}
	peer, _ := addr.Prefix(bits) // these lengths are valid
	return peer
}

// gate limits connections, in all and for each address. At a limit, it closes the
// connection that has waited longest for a request. If none waits, it closes the
// one whose client has not read for longest, and at least for blockedAfter. If there
// is none either, it closes the new one.
type gate struct {
	all, each int

	clock func() int64 // nanoseconds, more than 0

	mu       sync.Mutex
	conns    map[*conn]struct{}
	peers    map[netip.Prefix]int // connections
	events   uint64               // changes from working to waiting
	counters closed
}

// closed counts connections that the gate closed, by reason.
type closed struct {
	waiting uint64 // for a request, when another connection was opened
	blocked uint64 // because the client did not read, when another one was opened
	address uint64 // opened at the limit of its address
	all     uint64 // opened at the limit of all
}

func newGate(all, each int) *gate {
	start := time.Now()
	return &gate{all: all, each: each, clock: func() int64 { return int64(time.Since(start)) + 1 },
		conns: map[*conn]struct{}{}, peers: map[netip.Prefix]int{}}
}

// conn is one connection.
type conn struct {
	net.Conn
	gate  *gate
	peer  netip.Prefix
	since uint64 // the event by which it waits for a request; 0 while it serves one

	writing atomic.Int64 // when the write under way began, see gate.clock; 0 without one
}

// Write implements net.Conn. Only one goroutine at a time writes, as in net/http and
// crypto/tls.
func (c *conn) Write(b []byte) (int, error) {
	c.writing.Store(c.gate.clock())
	defer c.writing.Store(0)
	return c.Conn.Write(b)
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.gate.mu.Lock()
	c.gate.leave(c)
	c.gate.mu.Unlock()
	return c.Conn.Close()
}

// CloseWrite ends what is sent, so that the client can read an error before the
// connection is closed. net/http uses it if a connection has it.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// listener accepts the connections that its gate admits.
type listener struct {
	net.Listener
	gate  *gate
	start func() // called before a connection is accepted
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	l.start()
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if admitted := l.gate.admit(c); admitted != nil {
			return admitted, nil
		}
		_ = c.Close() // nothing was sent
	}
}

// admit returns the connection as the gate counts it, or nil if there is no room.
func (g *gate) admit(c net.Conn) *conn {
	peer := Peer(c.RemoteAddr().String())
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.peers[peer] >= g.each && !g.evict(func(c *conn) bool { return c.peer == peer }) {
		g.counters.address++
		return nil
	}
	if len(g.conns) >= g.all && !g.evict(func(*conn) bool { return true }) {
		g.counters.all++
		return nil
	}
	g.events++
	admitted := &conn{Conn: c, gate: g, peer: peer, since: g.events}
	g.conns[admitted] = struct{}{}
	g.peers[peer]++
	return admitted
}

// evict closes the connection that has waited longest of those that are of a kind,
// or else the one that has been blocked longest. It reports whether there was one.
func (g *gate) evict(kind func(*conn) bool) bool {
	var waiting, blocked *conn
	since := g.clock() - int64(blockedAfter)
	for c := range g.conns {
		if !kind(c) {
			continue
		}
		if c.since != 0 && (waiting == nil || c.since < waiting.since) {
			waiting = c
		}
		if began := c.writing.Load(); began != 0 && began <= since {
			blocked, since = c, began
		}
	}
	switch {
	case waiting != nil:
		g.counters.waiting++
		g.close(waiting)
	case blocked != nil:
		g.counters.blocked++
		g.close(blocked)
	default:
		return false
	}
	return true
}

// close closes a connection. Its server finds it closed.
func (g *gate) close(c *conn) {
	g.leave(c)
	_ = c.Conn.Close() // nothing is left to send
}

// leave removes a connection, if it was not removed before.
func (g *gate) leave(c *conn) {
	if _, here := g.conns[c]; !here {
		return
	}
	delete(g.conns, c)
	if g.peers[c.peer]--; g.peers[c.peer] == 0 {
		delete(g.peers, c.peer)
	}
}

// changed records that a connection starts to serve a request, or waits for the
// next one. It is the ConnState of an http.Server.
func (g *gate) changed(c net.Conn, state http.ConnState) {
	if secret, ok := c.(*tls.Conn); ok {
		c = secret.NetConn()
	}
	ours, ok := c.(*conn)
	if !ok {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	switch state {
	case http.StateActive:
		ours.since = 0
	case http.StateIdle:
		g.events++
		ours.since = g.events
	case http.StateNew, http.StateHijacked, http.StateClosed:
	}
}
