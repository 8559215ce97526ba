// SPDX-License-Identifier: Apache-2.0

package agentx

import (
	"sync/atomic"
	"time"

	"github.com/pnagent/pnagent/agentx/pdu"
)

// State is how far a Subagent has come.
type State uint32

// The states.
const (
	StateDown       State = iota // not connected; waiting to try again, or not running
	StateConnecting              // dialling, opening, registering
	StateUp                      // registered and answering
)

// String is the state in a word.
func (s State) String() string {
	switch s {
	case StateConnecting:
		return "connecting"
	case StateUp:
		return "up"
	}
	return "down"
}

// Fault is a reason for which something was refused, dropped or given up.
type Fault uint8

// The faults.
const (
	FaultDial     Fault = iota // the master could not be reached
	FaultRefused               // the master refused an Open, a Register, AddAgentCaps or Notify
	FaultLost                  // a connection ended without a Close
	FaultClosed                // the master closed the session
	FaultTimeout               // the master did not answer in time
	FaultVersion               // a frame of another version; the connection was ended
	FaultLength                // a frame too long or of an odd length; the connection was ended
	FaultParse                 // a frame whose payload is malformed, or of a type that is not known
	FaultContext               // a request in a context that is not served
	FaultUnserved              // a PDU that a master does not send to a subagent
	FaultSession               // a PDU for another session
	FaultRepeated              // a request that came before
	FaultUnasked               // a Response that nobody waits for
	FaultTooBig                // a response that does not fit into a frame; genErr was answered
	FaultDropped               // an answer dropped because the master does not read
	numFaults
)

// String is the fault as one word, fit for a label.
func (f Fault) String() string {
	switch f {
	case FaultDial:
		return "dial"
	case FaultRefused:
		return "refused"
	case FaultLost:
		return "lost"
	case FaultClosed:
		return "closed"
	case FaultTimeout:
		return "timeout"
	case FaultVersion:
		return "version"
	case FaultLength:
		return "length"
	case FaultParse:
		return "parse"
	case FaultContext:
		return "context"
	case FaultUnserved:
		return "unserved"
	case FaultSession:
		return "session"
	case FaultRepeated:
		return "repeated"
	case FaultUnasked:
		return "unasked"
	case FaultTooBig:
		return "too_big"
	case FaultDropped:
		return "dropped"
	}
	return "unknown"
}

// answeringFor is how long after its last request a subagent is still taken to
// be the one that answers: longer than the pollers of most sites pause.
const answeringFor = 10 * time.Minute

// Stats is what a Subagent has done since New. Counters only rise.
//
// Answering, Since and Asked are all that can be known of who answers, where
// several subagents registered the same with different priorities: a master
// tells none of them, but a stand-by is not asked. See the package comment.
type Stats struct {
	State         State
	Answering     bool                // asked in this session, at most 10 min ago
	Since         time.Time           // of the first request of this session; zero before it, as on a stand-by
	Asked         time.Time           // of its last request
	Session       uint32              // the id the master gave; 0 where not connected
	Sessions      uint64              // how often a session was opened and registered
	Requests      map[pdu.Type]uint64 // served, by type
	Variables     uint64              // sent in responses
	Notifications uint64              // that the master accepted
	Faults        map[Fault]uint64    // every fault, also those that are 0
}

// Reconnects is how often a session was opened anew.
func (s Stats) Reconnects() uint64 { return max(s.Sessions, 1) - 1 }

// counters are the live form of Stats.
type counters struct {
	state         atomic.Uint32
	session       atomic.Uint32
	sessions      atomic.Uint64
	requests      [pdu.TypeResponse + 1]atomic.Uint64
	variables     atomic.Uint64
	notifications atomic.Uint64
	faults        [numFaults]atomic.Uint64
	since, last   atomic.Int64 // of Stats.Since and Asked, in ns of Unix time; 0 for none
}

// begin is a session that nobody has asked yet.
func (c *counters) begin() {
	c.since.Store(0)
	c.last.Store(0)
}

// asked notes a request.
func (c *counters) asked(now time.Time) {
	c.last.Store(now.UnixNano())
	if c.since.Load() == 0 {
		c.since.Store(now.UnixNano())
	}
}

// unixTime is the time of ns; the zero time for 0.
func unixTime(ns int64) time.Time {
	if ns == 0 {
		return time.Time{}
	}
	return time.Unix(0, ns)
}

func (c *counters) fault(f Fault) { c.faults[f].Add(1) }

// served are the types of request that a subagent answers.
func served() []pdu.Type {
	return []pdu.Type{pdu.TypeGet, pdu.TypeGetNext, pdu.TypeGetBulk,
		pdu.TypeTestSet, pdu.TypeCommitSet, pdu.TypeUndoSet, pdu.TypeCleanupSet}
}

func (c *counters) read(now time.Time) Stats {
	s := Stats{
		State:         State(c.state.Load()),
		Since:         unixTime(c.since.Load()),
		Asked:         unixTime(c.last.Load()),
		Session:       c.session.Load(),
		Sessions:      c.sessions.Load(),
		Requests:      make(map[pdu.Type]uint64),
		Variables:     c.variables.Load(),
		Notifications: c.notifications.Load(),
		Faults:        make(map[Fault]uint64),
	}
	s.Answering = s.State == StateUp && !s.Asked.IsZero() && now.Sub(s.Asked) <= answeringFor
	for _, t := range served() {
		s.Requests[t] = c.requests[t].Load()
	}
	for f := range numFaults {
		s.Faults[f] = c.faults[f].Load()
	}
	return s
}
