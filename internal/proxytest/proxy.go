// SPDX-License-Identifier: Apache-2.0

// Package proxytest stands between a client and a server in tests, and can go
// dark: connections stay open and nothing passes, as where packets are dropped
// on the way.
package proxytest

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"
)

// Proxy is a way to one server.
type Proxy struct {
	Addr string // where clients connect to, host:port

	target string
	listen net.Listener
	copies sync.WaitGroup

	mu     sync.Mutex
	dark   chan struct{} // closed by the next Dark; connections made before then go dark with it
	isDark bool
	closed chan struct{}
	conns  []net.Conn
}

// New starts a proxy to a server at host:port, which ends with the test.
func New(t testing.TB, target string) *Proxy {
	t.Helper()
	listen, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{Addr: listen.Addr().String(), target: target, listen: listen, dark: make(chan struct{}), closed: make(chan struct{})}
	p.copies.Go(func() { p.accept(t.Context()) })
	t.Cleanup(func() {
		listen.Close()
		close(p.closed)
		p.mu.Lock()
		for _, c := range p.conns {
			c.Close()
		}
		p.mu.Unlock()
		p.copies.Wait()
	})
	return p
}

// Dark stops forwarding: nothing more is read from connections that are there
// or that come, so that what is sent to them fills the buffers of the system.
// None is closed, and new ones are accepted and get no answer.
func (p *Proxy) Dark() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.isDark {
		p.isDark = true
		close(p.dark)
	}
}

// Light forwards connections that come from now on. Those from before stay dark.
func (p *Proxy) Light() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.isDark {
		p.isDark, p.dark = false, make(chan struct{})
	}
}

func (p *Proxy) accept(ctx context.Context) {
	for {
		client, err := p.listen.Accept()
		if err != nil {
			return
		}
		p.mu.Lock()
		p.conns = append(p.conns, client)
		isDark, dark := p.isDark, p.dark
		p.mu.Unlock()
		if !isDark {
			p.copies.Go(func() { p.forward(ctx, client, dark) })
		}
	}
}

// forward passes bytes in both directions until an end closes the connection.
func (p *Proxy) forward(ctx context.Context, client net.Conn, dark chan struct{}) {
	server, err := new(net.Dialer).DialContext(ctx, "tcp", p.target)
	if err != nil {
		client.Close()
		return
	}
	p.mu.Lock()
	p.conns = append(p.conns, server)
	p.mu.Unlock()
	p.copies.Go(func() { p.pass(server, client, dark) })
	p.pass(client, server, dark)
}

func (p *Proxy) pass(to, from net.Conn, dark chan struct{}) {
	b := make([]byte, 32<<10)
	for err := error(nil); err == nil; {
		var n int
		n, err = from.Read(b)
		select {
		case <-dark:
			<-p.closed // neither forwarded nor closed
			return
		default:
		}
		_, werr := to.Write(b[:n])
		err = errors.Join(err, werr)
	}
	to.Close()
	from.Close()
}
