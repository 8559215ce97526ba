// SPDX-License-Identifier: Apache-2.0

package natslink

import (
	"context"
	"time"

	"github.com/nats-io/nats.go"
)

// ping finds connections whose server does not answer, until the Link is closed. A ping of the
// NATS client waits for a timer of Go, which wakes three threads, see package wakeup.
func (l *Link) ping() {
	defer l.pings.Stop()
	unheard, cancel := context.WithDeadline(context.Background(), time.Time{}) // no answer is waited for
	defer cancel()
	var of *recordingConn
	out := 0 // pings without an answer
	for next := time.Now(); !l.Conn.IsClosed(); l.pings.Wait() {
		now := time.Now()
		if now.Before(next) {
			l.pings.Set(next.Sub(now))
			continue
		}
		next = now.Add(PingEvery)
		l.pings.Set(PingEvery)
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
		_ = l.Conn.FlushWithContext(unheard)
	}
}
