// SPDX-License-Identifier: Apache-2.0

package agentx

import (
	"maps"
	"sync"
	"time"

	"github.com/pnagent/pnagent/agentx/pdu"
)

// SessionState is the state of a Subagent's session.
type SessionState uint8

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

// Stats are the statistics of a Subagent since New. Counters only rise.
type Stats struct {
	State SessionState
	// Changed is when a session began or ended last, or the time of New.
	Changed time.Time
	// Reason is why there is no session and how to cure that; "" with a session.
	Reason string
	// Err is the error behind Reason; nil with a session, and before the first attempt.
	Err error
	// Losses are the sessions that ended.
	Losses uint64
	// Since is the time of the first request of this session. It is zero before it, as on a
	// standby: a master does not report which of several subagents it asks, but it does not
	// ask a standby.
	Since         time.Time
	Sessions      uint64              // opened and registered
	Requests      map[pdu.Type]uint64 // served, by type
	Variables     uint64              // sent in responses
	Notifications uint64              // accepted by the master
	Faults        map[Fault]uint64    // has every Fault
}

// counters are the Stats of a Subagent that may be running.
type counters struct {
	mu  sync.Mutex
	now Stats
}

// init sets the types of requests that a subagent answers, and the faults.
func (c *counters) init() {
	c.now.Changed, c.now.Reason = time.Now(), "not connected yet"
	c.now.Requests, c.now.Faults = make(map[pdu.Type]uint64), make(map[Fault]uint64)
	for _, t := range []pdu.Type{pdu.TypeGet, pdu.TypeGetNext, pdu.TypeGetBulk, pdu.TypeTestSet, pdu.TypeCommitSet, pdu.TypeUndoSet, pdu.TypeCleanupSet} {
		c.now.Requests[t] = 0
	}
	for f := range numFaults {
		c.now.Faults[f] = 0
	}
}

func (c *counters) count(change func(s *Stats)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change(&c.now)
}

func (c *counters) fault(f Fault) { c.count(func(s *Stats) { s.Faults[f]++ }) }

func (c *counters) read() (now Stats) {
	c.count(func(s *Stats) {
		now = *s
		now.Requests, now.Faults = maps.Clone(s.Requests), maps.Clone(s.Faults)
	})
	return now
}
