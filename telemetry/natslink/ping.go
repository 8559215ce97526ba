// SPDX-License-Identifier: Apache-2.0

package natslink

import (
	"context"
	"time"

	"github.com/nats-io/nats.go"
)

// ping finds connections whose server does not answer, until the Link is closed. It sends a ping
// when nothing has come for PingAfter: see recordingConn.postpone. A ping of the NATS client waits for a
// timer of Go, which wakes three threads, see package wakeup.
func (l *Link) ping() {
	defer l.pings.Stop()
	var of *recordingConn
	out := 0 // pings without an answer
	for ; !l.Conn.IsClosed(); l.pings.Wait() {
		l.pings.Set(PingAgain)
		c := l.last.Load()
		if c == nil || !l.Conn.IsConnected() {
			continue
		}
		if c != of || c.heard.Swap(false) {
			of, out = c, 0
		}
		if out == PingsOut {
			c.end(nats.ErrStaleConnection)
			continue
		}
		out++
		Ping(l.Conn)
	}
}

// Ping sends what was published at once, and asks the server for an answer, which it does not wait
// for. As long as answers come, the Link needs no pings of its own. So a process that publishes in
// intervals wakes less often: once to publish and ping, and once for the answer.
func Ping(conn *nats.Conn) {
	if !conn.IsConnected() {
		return // the client would send it after the next connection was made
	}
	over, cancel := context.WithDeadline(context.Background(), time.Time{})
	cancel()
	_ = conn.FlushWithContext(over) // an error is also reported as the end of the connection
}

// postpone notes that bytes have come, and postpones the next ping. To set the timer is a system call,
// so it is not set for each of many reads.
func (l *recordingConn) postpone(now time.Time) {
	l.heard.Store(true)
	if now.Sub(l.postponed) >= PingAfter/4 {
		l.pings.Set(PingAfter)
		l.postponed = now
	}
}
