// SPDX-License-Identifier: Apache-2.0

package snmp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/pnagent/pnagent/internal/outbox"
)

// dialAgainAfter bounds the use of a socket, since a sink's name may have moved to another address.
const dialAgainAfter = time.Minute

// maxAck bounds the bytes read of a datagram from a sink. An acknowledgement
// repeats the inform; a longer datagram is cut and then invalid.
const maxAck = 2 * MaxNotification

type dialFunc func(ctx context.Context, network, address string) (net.Conn, error)

// sink is one receiver of notifications, with a queue and a goroutine. It sends
// one notification at a time, in order.
type sink struct {
	address string
	proof
	other    atomic.Pointer[proof] // to use from the next message on; nil for no change
	inform   bool
	timeout  time.Duration
	retries  int
	keep     time.Duration
	log      *slog.Logger
	dial     dialFunc
	counters *sinkCounters
	queue    *outbox.Queue[notification]

	mu      sync.Mutex // orders offer before stop
	stopped bool

	// Used by the goroutine of run.
	conn    net.Conn // nil if there is none
	dialed  time.Time
	release func() bool // stops closing conn at the end of the context
	packet  []byte
	failing bool
}

func newSink(address string, cfg *SenderConfig, dial dialFunc) *sink {
	return &sink{address: address, proof: proof{[]byte(cfg.Community), newSecureSink(cfg.User, cfg.Engine)}, inform: cfg.Inform, timeout: cfg.Timeout,
		retries: cfg.Repeats, keep: cfg.Keep, log: cfg.Log.With("sink", address), dial: dial,
		counters: newSinkCounters(address), queue: outbox.New[notification](MaxQueue), packet: make([]byte, maxAck)}
}

// proof is what shows a sink which sender it has.
type proof struct {
	community []byte      // of SNMPv2c
	secure    *secureSink // nil for SNMPv2c
}

// renew takes other credentials, if there are any.
func (k *sink) renew() {
	if p := k.other.Swap(nil); p != nil {
		k.proof = *p
	}
}

// offer queues a notification, or counts it as lost.
func (k *sink) offer(n notification) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.stopped {
		k.lost(n, lostStopped, ErrStopped)
		return
	}
	n.queued = time.Now()
	k.counters.count(func(s *SinkStats) { s.Queued++ })
	for _, d := range k.queue.Put(n, n.alarm, n.clears) {
		k.counters.count(func(s *SinkStats) { s.Queued-- })
		k.lost(d, lostQueueFull, ErrQueueFull)
	}
}

// lost counts a notification that the sink does not get.
func (k *sink) lost(n notification, why loss, err error) {
	k.counters.count(func(s *SinkStats) { s.Lost[why.String()]++ })
	n.outcome.at(&lossError{k.address, why, err})
}

// run sends the queue until ctx ends.
func (k *sink) run(ctx context.Context) {
	defer k.stop()
	for ctx.Err() == nil {
		n, ok := k.queue.Take()
		if ok {
			why, err := k.deliver(ctx, n)
			k.finish(ctx, n, why, err)
			continue
		}
		select {
		case <-ctx.Done():
		case <-k.queue.Ready():
		}
	}
}

// stop counts the unsent notifications as lost.
func (k *sink) stop() {
	k.disconnect()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.stopped = true
	for n, ok := k.queue.Take(); ok; n, ok = k.queue.Take() {
		k.counters.count(func(s *SinkStats) { s.Queued-- })
		k.lost(n, lostStopped, ErrStopped)
	}
}

// finish counts the result of a notification.
func (k *sink) finish(ctx context.Context, n notification, why loss, err error) {
	if why != noLoss && ctx.Err() != nil {
		why = lostStopped
	}
	switch {
	case why != noLoss:
		k.lost(n, why, err)
	case k.inform:
		k.counters.count(func(s *SinkStats) { s.Acknowledged++ })
		fallthrough
	default:
		n.outcome.at(nil)
	}
	k.counters.count(func(s *SinkStats) { s.Queued-- })
	if why != lostStopped {
		k.works(why, err)
	}
}

// works logs when the sink stops working and when it works again, not each notification.
func (k *sink) works(why loss, err error) {
	failing := why != noLoss
	if failing == k.failing {
		return
	}
	k.failing = failing
	if failing {
		k.log.Warn("SNMP notifications do not reach the sink; more are only counted", "reason", why.String(), "err", err)
	} else {
		k.log.Info("SNMP notifications reach the sink again")
	}
}

// deliver sends a trap once, and an inform until it is acknowledged.
func (k *sink) deliver(ctx context.Context, n notification) (loss, error) {
	if !k.inform {
		k.renew()
		message := n.pdu
		if k.secure != nil {
			message = k.secure.trap(message, time.Now())
		} else {
			message = withCommunity(k.community, message)
		}
		if err := k.send(ctx, message); err != nil {
			return lostNetwork, err
		}
		return noLoss, nil
	}
	why, cause := lostNetwork, error(nil)
	for try := 0; try == 0 || try <= k.retries || time.Since(n.queued) < k.keep; try++ {
		deadline := time.Now().Add(k.timeout)
		if try > k.retries { // it is away for longer
			deadline = deadline.Add(4 * k.timeout)
			k.works(why, cause)
		}
		answer, sent, err := k.ask(ctx, n, deadline)
		if sent && try > 0 {
			k.counters.count(func(s *SinkStats) { s.Retried++ })
		}
		if err == nil {
			return judge(answer)
		}
		if sent {
			why = lostUnanswered
		}
		cause = err
		if !wait(ctx, deadline) {
			break
		}
		if k.secure != nil && try >= k.retries {
			k.secure.forget()
		}
	}
	return why, cause
}

// ask sends an inform and reads the answer until the deadline. In SNMPv3 it sends it
// again with what a Report says of the sink's engine. It returns whether a datagram
// was sent.
func (k *sink) ask(ctx context.Context, n notification, deadline time.Time) (a ack, sent bool, err error) {
	const most = 4 // for the id, for the time, and both again if the sink restarts
	for range most {
		k.renew()
		message := n.pdu
		if k.secure != nil {
			message = k.secure.inform(message, time.Now())
		} else {
			message = withCommunity(k.community, message)
		}
		if err := k.send(ctx, message); err != nil {
			return a, sent, err
		}
		sent = true
		if a, err = k.await(n.id, deadline); err != nil || a.report != unknownEngineIDs && a.report != notInTimeWindows {
			break
		}
	}
	return a, sent, err
}

// judge returns the result of an answer. A sink that answers with an error has
// received the inform and would answer a repetition with the same error.
func judge(answer ack) (loss, error) {
	if answer.report != noProblem {
		return lostRefused, fmt.Errorf("the sink answered with a Report of %v", answer.report)
	}
	if answer.status != noError {
		return lostRefused, fmt.Errorf("the sink answered with error-status %d", answer.status)
	}
	return noLoss, nil
}

// wait waits until the deadline; it returns false if ctx ended before.
func wait(ctx context.Context, deadline time.Time) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(time.Until(deadline)):
		return true
	}
}

// send sends a datagram. If an earlier one did not arrive, the system reports
// that instead of sending this one, so send repeats it on a new socket.
func (k *sink) send(ctx context.Context, message []byte) error {
	if time.Since(k.dialed) >= dialAgainAfter {
		k.disconnect()
	}
	err := k.write(ctx, message)
	if errors.Is(err, syscall.ECONNREFUSED) {
		err = k.write(ctx, message)
	}
	if err == nil {
		k.counters.count(func(s *SinkStats) { s.Sent++ })
	}
	return err
}

func (k *sink) write(ctx context.Context, message []byte) error {
	if k.conn == nil {
		conn, err := k.dial(ctx, "udp", k.address)
		if err != nil {
			return fmt.Errorf("look up SNMP sink: %w", err)
		}
		k.conn, k.dialed = conn, time.Now()
		k.release = context.AfterFunc(ctx, func() { _ = conn.Close() })
	}
	if _, err := k.conn.Write(message); err != nil {
		return k.lose(fmt.Errorf("send SNMP notification: %w", err))
	}
	return nil
}

// await reads until the acknowledgement of an inform or the deadline.
func (k *sink) await(id int32, deadline time.Time) (ack, error) {
	if err := k.conn.SetReadDeadline(deadline); err != nil {
		return ack{}, k.lose(fmt.Errorf("wait for an acknowledgement: %w", err))
	}
	for {
		n, err := k.conn.Read(k.packet)
		if err != nil {
			var timeout net.Error
			if errors.As(err, &timeout) && timeout.Timeout() {
				return ack{}, fmt.Errorf("no acknowledgement within %v", k.timeout)
			}
			return ack{}, k.lose(fmt.Errorf("wait for an acknowledgement: %w", err))
		}
		got, err := k.decode(k.packet[:n])
		if err == nil && (got.report != noProblem || got.id == id) {
			return got, nil
		}
		k.counters.count(func(s *SinkStats) { s.Ignored++ })
	}
}

func (k *sink) decode(packet []byte) (ack, error) {
	if k.secure != nil {
		return k.secure.decode(packet, time.Now())
	}
	return decodeAck(packet, k.community)
}

// lose closes a socket that failed with err, and returns err.
func (k *sink) lose(err error) error {
	if errors.Is(err, syscall.ECONNREFUSED) {
		k.counters.count(func(s *SinkStats) { s.Unreachable++ })
		if k.counters.read().Unreachable == 1 {
			k.log.Warn("no process listens at the SNMP sink; more is only counted", "err", err)
		}
	}
	k.disconnect()
	return err
}

func (k *sink) disconnect() {
	if k.conn == nil {
		return
	}
	k.release()
	_ = k.conn.Close()
	k.conn = nil
}
