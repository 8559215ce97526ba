// SPDX-License-Identifier: Apache-2.0

package natstest

import (
	"net"
	"sync"
	"testing"

	"github.com/nats-io/nats.go"
)

// Way is a way to a server on which bytes can be held, dropped and cut. Pass it
// to Connect.
type Way struct {
	mu     sync.Mutex
	change sync.Cond // of what mu guards
	to     nats.InProcessConnProvider
	up     Flow // to the server
	down   Flow // to the client
	conns  map[net.Conn]bool
	copies sync.WaitGroup
}

// Flow is what a way does with bytes.
type Flow int

// The flows. Held bytes are delivered once the flow is Pass again.
const (
	Pass Flow = iota
	Hold
	Drop
)

// buffered is the number of bytes that a way holds before it blocks the sender.
const buffered = 1 << 20

// NewWay returns a way to a server, which is cut when the test ends.
func NewWay(t testing.TB, to nats.InProcessConnProvider) *Way {
	w := &Way{to: to, conns: map[net.Conn]bool{}}
	w.change.L = &w.mu
	t.Cleanup(func() {
		w.Cut()
		w.copies.Wait()
	})
	return w
}

// To has connections that are made from now on lead to another server.
func (w *Way) To(to nats.InProcessConnProvider) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.to = to
}

// Set says what becomes of bytes that go to the server and of those that come
// from it, from now on.
func (w *Way) Set(up, down Flow) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.up, w.down = up, down
	w.change.Broadcast()
}

// Cut ends all connections. What was held is lost.
func (w *Way) Cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.conns {
		_ = c.Close() // the end of a pipe in memory
		delete(w.conns, c)
	}
	w.change.Broadcast()
}

// InProcessConn implements nats.InProcessConnProvider.
func (w *Way) InProcessConn() (net.Conn, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	server, err := w.to.InProcessConn()
	if err != nil {
		return nil, err
	}
	client, ours := net.Pipe()
	w.conns[server], w.conns[ours] = true, true
	w.join(server, ours, &w.up)
	w.join(ours, server, &w.down)
	return client, nil
}

// join passes bytes on from one connection to another, until one of them ends and
// what was sent before has passed.
func (w *Way) join(to, from net.Conn, flow *Flow) {
	var waiting []byte // guarded by mu, as ended is
	ended := false
	w.copies.Go(func() {
		b := make([]byte, 32<<10)
		for err := error(nil); err == nil; {
			var n int
			n, err = from.Read(b)
			w.mu.Lock()
			if *flow != Drop {
				waiting = append(waiting, b[:n]...)
			}
			ended = err != nil
			w.change.Broadcast()
			for len(waiting) > buffered && w.conns[from] {
				w.change.Wait()
			}
			w.mu.Unlock()
		}
	})
	w.copies.Go(func() {
		defer w.end(to, from)
		for err := error(nil); err == nil; {
			w.mu.Lock()
			for w.conns[from] && (*flow == Hold || len(waiting) == 0 && !ended) {
				w.change.Wait()
			}
			open, b := w.conns[from], waiting
			waiting = nil
			w.change.Broadcast()
			w.mu.Unlock()
			if !open || len(b) == 0 {
				return
			}
			_, err = to.Write(b)
		}
	})
}

// end closes both connections.
func (w *Way) end(of ...net.Conn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range of {
		_ = c.Close() // the end of a pipe in memory
		delete(w.conns, c)
	}
	w.change.Broadcast()
}
