// SPDX-License-Identifier: Apache-2.0

package agentx

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/pnagent/pnagent/agentx/pdu"
)

const (
	// quietFor is how long the master must send no request before the session is
	// unregistered: longer than a local manager needs for its next request, and far
	// shorter than managers wait for an answer.
	quietFor = 20 * time.Millisecond
	// quietWithin is the longest wait for such a pause.
	quietWithin = 500 * time.Millisecond
	// masterRead is the size of snmpd's reads (SNMP_MAX_RCV_MSG_SIZE).
	masterRead = 64 << 10
	// maxHeld is the largest size of held-back answers, in bytes.
	maxHeld = 256 << 10
)

// shutdown finds the moment at which a session can be unregistered.
//
// snmpd frees a registration when it reads the Unregister, and reads it again when the
// answer to a request in progress comes: the walk may then end early. So from begin on,
// shutdown holds back each answer that completes a manager's request. Soon all managers
// wait. After a pause of quietFor the answers are sent, with the Unregister right behind
// them, before a manager can have sent another request. See docs/design/agentx.md.
type shutdown struct {
	asked chan struct{} // holds one: a request has come

	mu    sync.Mutex
	holds bool
	held  []byte // answers
}

func newShutdown() *shutdown { return &shutdown{asked: make(chan struct{}, 1)} }

// begin starts to hold answers back, until release.
func (f *shutdown) begin() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.holds = true
}

// hold reports whether it holds the answer back; otherwise the caller sends it. last is
// whether the answer is the last of its transaction: after any other the master sends the
// next request at once.
func (f *shutdown) hold(answer []byte, last bool) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.holds {
		return false
	}
	select {
	case f.asked <- struct{}{}:
	default:
	}
	if !last || len(f.held)+len(answer) > maxHeld {
		return false
	}
	f.held = append(f.held, answer...)
	return true
}

// quiet waits, at most quietWithin, until no request has come for quietFor and none is
// expected. On a busy machine a request may be unread, here or by the master: round sends
// the master a request of ours, whose answer comes after the requests before it.
func (f *shutdown) quiet(ctx context.Context, round func(context.Context), expected func() bool) {
	ctx, cancel := context.WithTimeout(ctx, quietWithin)
	defer cancel()
	for {
		select {
		case <-f.asked:
			continue
		case <-time.After(quietFor):
		case <-ctx.Done():
			return
		}
		if expected() {
			continue
		}
		round(ctx)
		round(ctx) // for requests that snmpd read from managers after the first
		if len(f.asked) == 0 {
			return
		}
	}
}

// release stops holding answers back, and passes the held ones to send. No answer
// is sent before send returns.
func (f *shutdown) release(send func(held []byte) bool) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.holds = false
	held := f.held
	f.held = nil
	return send(held)
}

// unregister withdraws the registrations and capabilities of a session at a moment when
// no request is in progress. A Close alone would end requests in progress with genErr. It
// ignores errors: the session ends in any case.
func (s *Subagent) unregister(ctx context.Context, session *session) {
	session.shutdown.begin()
	session.shutdown.quiet(ctx, func(ctx context.Context) {
		_, _ = session.ask(ctx, "", &pdu.Ping{})
	}, func() bool {
		return session.handler.contexts.expected(time.Now())
	})
	var asked []pendingRequest
	ok := session.shutdown.release(func(held []byte) bool {
		var frame []byte
		frame, asked = s.appendUnregister(session, held)
		return session.writer.send(frame)
	})
	if !ok {
		s.counters.fault(FaultDropped)
	}
	for _, q := range asked {
		if ok {
			_, _ = session.await(ctx, q)
		} else {
			session.forget(q)
		}
	}
}

// appendUnregister appends to the held answers the PDUs that unregister the session, and
// returns the pending requests to await.
func (s *Subagent) appendUnregister(session *session, held []byte) (frame []byte, asked []pendingRequest) {
	frame = held
	pose := func(name string, body pdu.Body) {
		if whole, q, err := session.pose(frame, name, body); err == nil {
			frame, asked = whole, append(asked, q)
		}
	}
	if len(held) > 0 {
		// snmpd sends answers to its managers once it has processed one read from its
		// subagents. An Unregister in the same read would meet the requests still in
		// progress. These Pings fill that read, so the Unregister is in the next one,
		// which snmpd processes before new requests of managers.
		for range 2 { // a single Ping would have a context longer than snmpd accepts
			pose(strings.Repeat(" ", masterRead/2), &pdu.Ping{})
		}
	}
	for _, r := range session.registered {
		pose(r.context, &pdu.Unregister{Priority: s.config.Priority, Subtree: r.subtree})
	}
	for _, id := range session.caps {
		pose("", &pdu.RemoveAgentCaps{ID: id})
	}
	return frame, asked
}
