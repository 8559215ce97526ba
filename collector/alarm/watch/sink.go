// SPDX-License-Identifier: Apache-2.0

package watch

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/internal/outbox"
)

// NotReadyError is the error of a sink that cannot send yet, such as while it is connecting. The
// Watcher tries again once Ready is closed, until Sink.Keep is over.
type NotReadyError struct {
	Err   error
	Ready <-chan struct{} // nil if the sink does not know when
}

func (e *NotReadyError) Error() string { return "not ready to send notifications: " + e.Err.Error() }
func (e *NotReadyError) Unwrap() error { return e.Err }

const (
	// queueLength is more than the limiter passes in KeepUnsent.
	queueLength = 8192
	// defaultTimeout is the time-out of a Sink without one.
	defaultTimeout = 10 * time.Second
)

// KeepUnsent is how long a notification may wait for a sink that is away.
const KeepUnsent = 10 * time.Minute

// Sink is a receiver of notifications.
type Sink struct {
	Name    string // for logs and metrics
	Send    func(context.Context, alarm.Notification) error
	Timeout time.Duration // for one notification that the sink is ready for; 0 is ten seconds
	Keep    time.Duration // how long notifications wait for a sink that is not ready; 0 is Timeout

	// Deliver replaces Send for a sink with a queue of its own. It returns at once, and
	// calls done once, from any goroutine. The error has a method Reason, which returns
	// an alarm.Failure as a text.
	Deliver func(n alarm.Notification, done func(error))

	// Queue, of a recipient, has a queue that outlives the process; else nil. It gets only the notifications
	// that name it.
	Queue Queue
}

// Queue has the notifications of a recipient, see alarm.Recipient.
type Queue interface {
	// Deliver is as Sink.Deliver. It does not call done for what another process sends.
	Deliver(n alarm.Notification, done func(error))
	// Duty says whether this process has the duty, and if not, whether another one has it, which
	// sends what this one has not confirmed.
	Duty(on, elsewhere bool)
	Counters() alarm.SinkCounters
}

// gets reports whether a notification is for the sink.
func (s *Sink) gets(n *alarm.Notification) bool {
	if s.Queue == nil {
		return n.Reminder == alarm.Reminder{}
	}
	return slices.Contains(n.To, s.Name)
}

// failureOf returns the failure of an error.
func failureOf(err error) alarm.Failure {
	var known interface{ Reason() string }
	if errors.As(err, &known) {
		for f := range alarm.Failure(len(alarm.Failures{})) {
			if f.String() == known.Reason() {
				return f
			}
		}
	}
	var away *NotReadyError
	switch {
	case errors.As(err, &away):
		return alarm.NotReady
	case errors.Is(err, context.DeadlineExceeded):
		return alarm.Unanswered
	}
	return alarm.Refused
}

// delivery is a notification for a sink. done is called once it was sent or has failed,
// but not if the end of the process interrupts it.
type delivery struct {
	alarm.Notification
	done   func()
	queued time.Time
}

// sender sends to one sink, so that a slow sink delays no other.
type sender struct {
	sink    Sink
	log     *slog.Logger
	queue   *outbox.Queue[delivery]
	sent    atomic.Uint64
	failed  [len(alarm.Failures{})]atomic.Uint64
	lastErr string // used by run only
}

func newSender(s Sink, log *slog.Logger) *sender {
	s.Timeout = cmp.Or(max(s.Timeout, 0), defaultTimeout)
	s.Keep = max(s.Keep, s.Timeout)
	return &sender{sink: s, log: log.With("sink", s.Name), queue: outbox.New[delivery](queueLength)}
}

// enqueue queues a notification, or counts it as failed. It never waits.
func (m *sender) enqueue(n delivery) {
	if m.sink.Queue != nil {
		m.sink.Queue.Deliver(n.Notification, func(error) { n.done() })
		return
	}
	if m.sink.Deliver != nil {
		m.sink.Deliver(n.Notification, func(err error) { m.settle(n, err) })
		return
	}
	n.queued = time.Now()
	for _, d := range m.queue.Put(n, n.Alarm.Index, n.Suppressed == 0 && !n.Raise) {
		m.failed[alarm.QueueFull].Add(1)
		d.done()
	}
}

// settle counts what became of a notification.
func (m *sender) settle(n delivery, err error) {
	if err == nil {
		m.sent.Add(1)
		n.done()
		return
	}
	why := failureOf(err)
	m.failed[why].Add(1)
	if why != alarm.Stopped {
		n.done()
	}
}

// run sends queued notifications until ctx ends. Those still queued have failed.
func (m *sender) run(ctx context.Context) {
	for {
		n, ok := m.queue.Take()
		if !ok {
			select {
			case <-m.queue.Ready():
				continue
			case <-ctx.Done():
				return
			}
		}
		err := m.send(ctx, &n)
		if err != nil && ctx.Err() != nil {
			m.failed[alarm.Stopped].Add(1 + uint64(m.queue.Len()))
			return
		}
		m.settle(n, err)
	}
}

// send sends a notification. If the sink is not ready it tries again once it is.
func (m *sender) send(ctx context.Context, n *delivery) error {
	for {
		attempt, cancel := context.WithTimeout(ctx, m.sink.Timeout)
		err := m.sink.Send(attempt, n.Notification)
		cancel()
		if err == nil {
			m.lastErr = ""
			return nil
		}
		var away *NotReadyError
		if again := errors.As(err, &away) && time.Since(n.queued) < m.sink.Keep && m.await(ctx, n, away); !again {
			m.report(ctx, err)
			return err
		}
	}
}

// await waits until the sink is ready, and reports whether it is within Sink.Keep.
func (m *sender) await(ctx context.Context, n *delivery, away *NotReadyError) bool {
	for _, within := range []time.Duration{m.sink.Timeout, m.sink.Keep} {
		select {
		case <-away.Ready:
			return true
		case <-ctx.Done():
			return false
		case <-time.After(time.Until(n.queued.Add(within))):
			m.report(ctx, away)
		}
	}
	return false
}

// report logs an error that differs from the last one: a sink that is down is logged once, not
// with every alarm.
func (m *sender) report(ctx context.Context, err error) {
	if ctx.Err() == nil && err.Error() != m.lastErr {
		m.lastErr = err.Error()
		m.log.Warn("cannot send a notification", "err", err)
	}
}

func (m *sender) counters() alarm.SinkCounters {
	if m.sink.Queue != nil {
		return m.sink.Queue.Counters()
	}
	c := alarm.SinkCounters{Name: m.sink.Name, Sent: m.sent.Load()}
	for why := range m.failed {
		c.Failed[why] = m.failed[why].Load()
	}
	return c
}
