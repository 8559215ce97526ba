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
	// quietFor is how long nothing may be asked before a session is taken back:
	// longer than a manager near by needs to ask for more, and far shorter than
	// managers wait for an answer that is held back for that long.
	quietFor = 20 * time.Millisecond
	// quietWithin is how long that is waited for. Where many managers ask all
	// the time, the session is taken back in the middle of it.
	quietWithin = 500 * time.Millisecond
	// masterRead is how much snmpd reads at a time (SNMP_MAX_RCV_MSG_SIZE).
	masterRead = 64 << 10
	// maxHeld is how many bytes of answers are held back.
	maxHeld = 256 << 10
)

// farewell finds the moment to take a session back in.
//
// A master must have no request under way to a session when it reads its
// Unregister. snmpd frees the registration then, and when the answer to the
// request comes it looks into the freed memory for the end of the range and
// for what follows. Mostly that is still there; where it is not the walk ends
// early, or with genErr, or is never answered. An Unregister that is sent at
// any odd moment crosses such a request. A moment in which it cannot is one
// where all who ask have been answered and have not asked again. Therefore,
// from begin on, an answer with which a manager has what it asked for is held
// back. Soon all who ask wait for that; when nothing has come for quietFor, and
// none is missing of the walks that were under way, the answers go out, and the Unregister right behind them, before any of the
// managers can have asked again.
type farewell struct {
	asked chan struct{} // holds one: a request has come

	mu    sync.Mutex
	holds bool
	held  []byte // answers
}

func newFarewell() *farewell { return &farewell{asked: make(chan struct{}, 1)} }

// begin has answers held back, from now until release.
func (f *farewell) begin() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.holds = true
}

// hold takes an answer to hold it back; false where it is to be sent. last
// tells whether it is the last of its transaction: after any other the master
// asks again at once.
func (f *farewell) hold(answer []byte, last bool) bool {
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

// quiet waits until nothing has been asked for quietFor and nothing is to be
// expected, at most quietWithin. Where the machine is busy a request may have
// come and not be read yet, here or by the master: round asks the master
// something, whose answer is read after the requests that came before it.
func (f *farewell) quiet(ctx context.Context, round func(context.Context), expected func() bool) {
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
		round(ctx) // for what snmpd read from managers after the first
		if len(f.asked) == 0 {
			return
		}
	}
}

// release ends the holding back, and sends what was held, which nothing of the
// session comes behind before send has returned.
func (f *farewell) release(send func(held []byte) bool) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.holds = false
	held := f.held
	f.held = nil
	return send(held)
}

// takeBack takes back what the master has accepted, at a moment when nothing
// is under way. A Close would do that too, but it ends what is under way in
// spite of all with genErr, where an Unregister mostly does no harm. What goes
// wrong does not matter any more.
func (s *Subagent) takeBack(ctx context.Context, session *session) {
	session.farewell.begin()
	session.farewell.quiet(ctx, func(ctx context.Context) {
		_, _ = session.ask(ctx, "", &pdu.Ping{})
	}, func() bool {
		return session.handler.contexts.expected(time.Now())
	})
	var asked []question
	ok := session.farewell.release(func(held []byte) bool {
		var frame []byte
		frame, asked = s.unregister(session, held)
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

// unregister appends to the answers that were held all that takes back what the
// master has accepted, and tells what is to be answered of that.
func (s *Subagent) unregister(session *session, held []byte) (frame []byte, asked []question) {
	frame = held
	pose := func(name string, body pdu.Body) {
		if whole, q, err := session.pose(frame, name, body); err == nil {
			frame, asked = whole, append(asked, q)
		}
	}
	if len(held) > 0 {
		// snmpd sends managers what it has answers for when it has dealt with
		// all that it has read from its subagents in one go. An Unregister in
		// that go would cross the requests still. With these Pings, which are as
		// long as what it reads in one go, it is in the next one, before
		// anything that managers ask for then: snmpd reads from its subagents
		// first.
		for range 2 { // one alone would have a context that snmpd does not take
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
