// SPDX-License-Identifier: Apache-2.0

package agentx

import (
	"sync/atomic"
	"time"

	"github.com/pnagent/pnagent/agentx/pdu"
)

// SessionState is the state of a Subagent's session.
type SessionState uint32

// The states.
const (
	StateDown       SessionState = iota // not connected; waiting to try again, or not running
	StateConnecting                     // dialling, opening, registering
	StateUp                             // registered and answering
)

// Fault is a kind of fault on the session.
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
	FaultParse                 // a frame whose payload is malformed, or of an unknown type
	FaultContext               // a request in a context that is not served
	FaultUnserved              // a PDU that a master does not send to a subagent
	FaultSession               // a PDU for another session
	FaultRepeated              // a repeated request
	FaultUnasked               // a Response without a pending PDU of ours
	FaultTooBig                // a response that does not fit into a frame; genErr was answered
	FaultDropped               // an answer dropped because the master does not read
	numFaults
)

// String returns the fault as the value of a label.
func (f Fault) String() string {
	names := [numFaults]string{"dial", "refused", "lost", "closed", "timeout", "version", "length", "parse",
		"context", "unserved", "session", "repeated", "unasked", "too_big", "dropped"}
	if f < numFaults {
		return names[f]
	}
	return "unknown"
}

// answeringFor is how long after its last request a subagent counts as the one that
// answers: longer than most pollers pause.
const answeringFor = 10 * time.Minute

// Stats are the statistics of a Subagent since New. Counters only rise.
//
// A master does not report which of several subagents it asks, but it does not ask a
// standby. So Answering, Since and Asked show whether this one answers.
type Stats struct {
	State         SessionState
	Answering     bool                // asked in this session, at most 10 min ago
	Since         time.Time           // of the first request of this session; zero before it, as on a standby
	Asked         time.Time           // of its last request
	Session       uint32              // the id from the master; 0 if not connected
	Sessions      uint64              // sessions opened and registered
	Requests      map[pdu.Type]uint64 // served, by type
	Variables     uint64              // sent in responses
	Notifications uint64              // accepted by the master
	Faults        map[Fault]uint64    // has every Fault
}

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

// begin resets the times for a new session.
func (c *counters) begin() {
	c.since.Store(0)
	c.last.Store(0)
}

// asked records a request.
func (c *counters) asked(now time.Time) {
	c.last.Store(now.UnixNano())
	if c.since.Load() == 0 {
		c.since.Store(now.UnixNano())
	}
}

// unixTime returns the time of ns; the zero time for 0.
func unixTime(ns int64) time.Time {
	if ns == 0 {
		return time.Time{}
	}
	return time.Unix(0, ns)
}

func (c *counters) fault(f Fault) { c.faults[f].Add(1) }

// served returns the types of requests that a subagent answers.
func served() []pdu.Type {
	return []pdu.Type{pdu.TypeGet, pdu.TypeGetNext, pdu.TypeGetBulk,
		pdu.TypeTestSet, pdu.TypeCommitSet, pdu.TypeUndoSet, pdu.TypeCleanupSet}
}

func (c *counters) read(now time.Time) Stats {
	s := Stats{
		State:         SessionState(c.state.Load()),
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
