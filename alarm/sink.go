// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"
)

// ErrNotReady is wrapped by the error of a sink that can send nothing yet, such
// as while it is connecting. It is asked again until Sink.Timeout is over.
var ErrNotReady = errors.New("not ready to send notifications")

const (
	// queueLength holds more than the bucket lets through in ten seconds.
	queueLength = 256
	// defaultTimeout is for a Sink that says none.
	defaultTimeout = 10 * time.Second
	// askAgain is how long a sink that is not ready is left alone.
	askAgain = 250 * time.Millisecond
)

// Sink is somebody to notify.
type Sink struct {
	Name    string // for logs and metrics
	Send    func(context.Context, Notification) error
	Timeout time.Duration // for one notification; 0 is ten seconds
}

// SinkCounters are what became of the notifications for one sink.
type SinkCounters struct {
	Name         string
	Sent, Failed uint64 // Failed: refused, too late, or not taken because too many were waiting
}

// delivery is a notification for a sink, and what is called when it was sent or
// given up. It is not called for one that the end of the process interrupts.
type delivery struct {
	Notification
	done func()
}

// mouth tells one sink, so that a slow one holds up nobody else.
type mouth struct {
	sink         Sink
	log          *slog.Logger
	queue        chan delivery
	sent, failed atomic.Uint64
	said         string // the last error, of speak alone
}

func newMouth(s Sink, log *slog.Logger) *mouth {
	if s.Timeout <= 0 {
		s.Timeout = defaultTimeout
	}
	return &mouth{sink: s, log: log.With("sink", s.Name), queue: make(chan delivery, queueLength)}
}

// take queues a notification, or counts it as failed. It never waits.
func (m *mouth) take(n delivery) {
	select {
	case m.queue <- n:
	default:
		m.failed.Add(1)
		n.done()
	}
}

// speak sends what is queued until ctx ends. What is queued then has failed.
func (m *mouth) speak(ctx context.Context) {
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

func (m *mouth) send(ctx context.Context, n Notification) {
	ctx, cancel := context.WithTimeout(ctx, m.sink.Timeout)
	defer cancel()
	err := m.sink.Send(ctx, n)
	for errors.Is(err, ErrNotReady) && wait(ctx) {
		err = m.sink.Send(ctx, n)
	}
	if err == nil {
		m.sent.Add(1)
		m.said = ""
		return
	}
	m.failed.Add(1)
	if err.Error() != m.said { // a sink that is down is said once, not with every alarm
		m.said = err.Error()
		m.log.Warn("sending a notification", "error", err)
	}
}

// wait waits before asking again, and reports whether there is time to.
func wait(ctx context.Context) bool {
	t := time.NewTimer(askAgain)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func (m *mouth) counters() SinkCounters {
	return SinkCounters{Name: m.sink.Name, Sent: m.sent.Load(), Failed: m.failed.Load()}
}
