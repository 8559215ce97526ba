// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"net"
	"strings"
	"sync"
	"testing"
)

// proxy forwards a connection to a server. It can hold and drop bytes, and cut
// the connection.
type proxy struct {
	url    string
	target string
	listen net.Listener

	mu     sync.Mutex
	change sync.Cond
	up     flow // to the server
	down   flow // to the client
	conns  map[net.Conn]bool
	closed bool
	copies sync.WaitGroup
}

type flow int

const (
	pass flow = iota
	hold
	drop
)

func newProxy(t testing.TB, serverURL string) *proxy {
	t.Helper()
	listen, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{
		url: "nats://" + listen.Addr().String(), target: strings.TrimPrefix(serverURL, "nats://"),
		listen: listen, conns: map[net.Conn]bool{},
	}
	p.change.L = &p.mu
	p.copies.Go(p.accept)
	t.Cleanup(func() {
		p.mu.Lock()
		p.closed = true
		p.mu.Unlock()
		listen.Close()
		p.cut()
		p.copies.Wait()
	})
	return p
}

func (p *proxy) accept() {
	for {
		client, err := p.listen.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", p.target)
		if err != nil {
			client.Close()
			continue
		}
		p.mu.Lock()
		p.conns[client], p.conns[server] = true, true
		p.mu.Unlock()
		p.copies.Go(func() { p.copy(server, client, &p.up) })
		p.copies.Go(func() { p.copy(client, server, &p.down) })
	}
}

func (p *proxy) copy(to, from net.Conn, f *flow) {
	defer to.Close()
	defer from.Close()
	b := make([]byte, 32<<10)
	for {
		n, err := from.Read(b)
		p.mu.Lock()
		for *f == hold && p.conns[from] {
			p.change.Wait()
		}
		dropped := *f == drop || !p.conns[from]
		p.mu.Unlock()
		if !dropped {
			if _, err := to.Write(b[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// set sets what the proxy does with bytes from now on.
func (p *proxy) set(up, down flow) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.up, p.down = up, down
	p.change.Broadcast()
}

// cut ends all connections. Bytes that were held are lost.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		c.Close()
		delete(p.conns, c)
	}
	p.change.Broadcast()
}
