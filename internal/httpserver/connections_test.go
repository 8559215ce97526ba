// SPDX-License-Identifier: Apache-2.0

package httpserver

import (
	"net"
	"net/http"
	"runtime"
	"testing"
)

// far is one end of a connection from an address.
type far struct {
	net.Conn
	addr   string
	closed bool
	full   chan struct{}
}

func (f *far) RemoteAddr() net.Addr { return address(f.addr) }
func (f *far) Close() error         { f.closed = true; return nil }

// Write blocks until full is closed, as at a client that does not read.
func (f *far) Write(b []byte) (int, error) {
	if f.full != nil {
		<-f.full
	}
	return len(b), nil
}

type address string

func (address) Network() string  { return "tcp" }
func (a address) String() string { return string(a) }

func TestTheLimitsLeaveDescriptors(t *testing.T) {
	for _, c := range []struct{ streams, each, descriptors, wantAll, wantEach int }{
		{1000, 100, 1 << 20, 1512, 228},
		{1000, 100, 1024, 768, 228},
		{1000, 1000, 256, 192, 96},
		{0, 0, 1 << 20, 512, 128},
		{0, 0, 2, 2, 1},
	} {
		if all, each := limits(c.streams, c.each, c.descriptors); all != c.wantAll || each != c.wantEach {
			t.Errorf("%+v: got %d and %d", c, all, each)
		}
	}
}

func TestConnectionsOfOneNetworkAreCountedTogether(t *testing.T) {
	for remote, want := range map[string]string{
		"192.0.2.1:80": "192.0.2.1/32", "[::ffff:192.0.2.1]:80": "192.0.2.1/32", "[2001:db8::1]:80": "2001:db8::/64",
		"[2001:db8::2:3%eth0]:80": "2001:db8::/64", "@": "invalid Prefix", "pipe": "invalid Prefix", "": "invalid Prefix",
	} {
		if got := Peer(remote).String(); got != want {
			t.Errorf("%q: got %s; want %s", remote, got, want)
		}
	}
}

// Connections that wait make room, longest first; those that serve a request do not.
func TestAtALimitTheConnectionThatWaitsLongestIsClosed(t *testing.T) {
	g := newGate(4, 2)
	open := func(addr string) (*far, *conn) {
		f := &far{addr: addr}
		return f, g.admit(f)
	}
	state := func(want closed, peers int) {
		t.Helper()
		if g.counters != want || len(g.peers) != peers || len(g.conns) > g.all {
			t.Errorf("got %+v, %d addresses, %d connections; want %+v, %d addresses", g.counters, len(g.peers), len(g.conns), want, peers)
		}
	}
	firstEnd, first := open("192.0.2.1:1")
	secondEnd, second := open("192.0.2.1:2")
	g.changed(first, http.StateActive)
	_, third := open("192.0.2.1:3")
	if firstEnd.closed || !secondEnd.closed || third == nil {
		t.Errorf("got closed %v and %v; want the one that waits", firstEnd.closed, secondEnd.closed)
	}
	state(closed{waiting: 1}, 1)
	_ = second.Close() // again, by its server
	g.changed(third, http.StateActive)
	if _, refused := open("192.0.2.1:4"); refused != nil {
		t.Error("a third connection of an address that serves two is open; want it closed")
	}
	state(closed{waiting: 1, address: 1}, 1)

	_, fourth := open("192.0.2.2:1")
	fifthEnd, fifth := open("192.0.2.3:1")
	g.changed(fourth, http.StateActive)
	g.changed(fifth, http.StateActive)
	if _, refused := open("192.0.2.4:1"); refused != nil {
		t.Error("a connection beyond the limit is open; want it closed")
	}
	state(closed{waiting: 1, address: 1, all: 1}, 3)
	g.changed(fifth, http.StateIdle)
	if _, sixth := open("192.0.2.4:1"); sixth == nil || !fifthEnd.closed {
		t.Error("a connection that waits keeps its place; want it closed for a new one")
	}
	state(closed{waiting: 2, address: 1, all: 1}, 3)
}

// Connections whose client does not read make room once they have been blocked for a
// second, longest first, if none waits for a request.
func TestAtALimitTheConnectionThatIsBlockedLongestIsClosed(t *testing.T) {
	g, now := newGate(2, 2), int64(1)
	g.clock = func() int64 { return now }
	full, done := make(chan struct{}), make(chan struct{}, 2)
	blocked := func() *far {
		f := &far{addr: "192.0.2.1:1", full: full}
		c := g.admit(f)
		g.changed(c, http.StateActive)
		go func() { _, _ = c.Write(nil); done <- struct{}{} }()
		for c.writing.Load() == 0 {
			runtime.Gosched()
		}
		now++
		return f
	}
	first, second := blocked(), blocked()
	now = int64(blockedAfter)
	if g.admit(&far{addr: "192.0.2.1:3"}) != nil || first.closed || second.closed {
		t.Errorf("before a second: closed %v and %v; want the new one closed", first.closed, second.closed)
	}
	now++
	third := g.admit(&far{addr: "192.0.2.1:3"})
	if third == nil || !first.closed || second.closed {
		t.Errorf("closed %v and %v; want the first", first.closed, second.closed)
	}
	g.changed(third, http.StateActive)
	close(full)
	<-done
	<-done
	now += int64(blockedAfter)
	if g.admit(&far{addr: "192.0.2.1:4"}) != nil || second.closed {
		t.Error("a connection whose client reads is closed; want it kept")
	}
	if want := (closed{blocked: 1, address: 2}); g.counters != want {
		t.Errorf("got %+v; want %+v", g.counters, want)
	}
}
