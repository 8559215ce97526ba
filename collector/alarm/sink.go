// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"
)

// ErrNotReady is wrapped by the error of a sink that cannot send yet, such as while it
// is connecting. The Watcher tries again until Sink.Timeout is over.
var ErrNotReady = errors.New("not ready to send notifications")

const (
	// queueLength is more than the limiter passes in ten seconds.
	queueLength = 256
	// defaultTimeout is the time-out of a Sink without one.
	defaultTimeout = 10 * time.Second
	// retryAfter is the time between two attempts with a sink that is not ready.
	retryAfter = 250 * time.Millisecond
)

// Sink is a receiver of notifications.
type Sink struct {
	Name    string // for logs and metrics
	Send    func(context.Context, Notification) error
	Timeout time.Duration // for one notification; 0 is ten seconds
}

// SinkCounters count the notifications for one sink.
type SinkCounters struct {
	Name         string
	Sent, Failed uint64 // Failed: the sink returned an error or timed out, or the queue was full
}

// delivery is a notification for a sink. done is called once it was sent or has failed,
// but not if the end of the process interrupts it.
type delivery struct {
	Notification
	done func()
}

// sender sends to one sink, so that a slow sink delays no other.
type sender struct {
	sink         Sink
	log          *slog.Logger
	queue        chan delivery
	sent, failed atomic.Uint64
	lastErr      string // used by run only
}

func newSender(s Sink, log *slog.Logger) *sender {
	s.Timeout = cmp.Or(max(s.Timeout, 0), defaultTimeout)
	return &sender{sink: s, log: log.With("sink", s.Name), queue: make(chan delivery, queueLength)}
}

// enqueue queues a notification, or counts it as failed. It never waits.
func (m *sender) enqueue(n delivery) {
	select {
	case m.queue <- n:
	default:
		m.failed.Add(1)
		n.done()
	}
}

// run sends queued notifications until ctx ends. Those still queued have failed.
func (m *sender) run(ctx context.Context) {
	for {
		select {
		case n := <-m.queue:
			if m.send(ctx, n.Notification); ctx.Err() == nil {
				n.done()
			}
		case <-ctx.Done():
			m.failed.Add(uint64(len(m.queue)))
			return
		}
	}
}

func (m *sender) send(ctx context.Context, n Notification) {
	ctx, cancel := context.WithTimeout(ctx, m.sink.Timeout)
	defer cancel()
	err := m.sink.Send(ctx, n)
	for errors.Is(err, ErrNotReady) && wait(ctx) {
		err = m.sink.Send(ctx, n)
	}
	if err == nil {
		m.sent.Add(1)
		m.lastErr = ""
		return
	}
	m.failed.Add(1)
	if err.Error() != m.lastErr { // log a sink that is down once, not with every alarm
		m.lastErr = err.Error()
		m.log.Warn("cannot send a notification", "err", err)
	}
}

// wait waits for retryAfter, and reports whether ctx allows another attempt.
func wait(ctx context.Context) bool {
	select {
	case <-time.After(retryAfter):
		return true
	case <-ctx.Done():
		return false
	}
}

func (m *sender) counters() SinkCounters {
	return SinkCounters{Name: m.sink.Name, Sent: m.sent.Load(), Failed: m.failed.Load()}
}
