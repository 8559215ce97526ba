// SPDX-License-Identifier: Apache-2.0

package snmp

import (
	"iter"
	"sync/atomic"
)

// reason says why a packet got no answer.
type reason uint8

// The reasons, in the order in which a packet is looked at.
const (
	noReason       reason = iota
	malformed             // no message of SNMP
	otherVersion          // SNMPv1, SNMPv3, or none there is
	wrongCommunity        // a password that is not ours
	notRequest            // a response, a notification or a report
	rateExceeded          // more packets a second than one address may have answered
	sendFailed            // the socket refused the answer
	numReasons
)

// String is the reason as a label of a metric.
func (r reason) String() string {
	return [...]string{"", "malformed", "version", "community", "not_request", "rate", "send"}[r]
}

// operation is what a request asked for, as a row of counters.
type operation uint8

const (
	opGet operation = iota
	opGetNext
	opGetBulk
	opSet
	numOperations
)

func (o operation) String() string { return [...]string{"get", "getnext", "getbulk", "set"}[o] }

// Counters is what a Responder has done since it was made. They only rise and
// may be read at any time.
type Counters struct {
	requests  [numOperations]atomic.Uint64
	dropped   [numReasons]atomic.Uint64
	variables atomic.Uint64
	tooBig    atomic.Uint64
}

// Requests gives every operation (get, getnext, getbulk, set) with how often
// it was asked for in a request that was understood.
func (c *Counters) Requests() iter.Seq2[string, uint64] {
	return func(yield func(string, uint64) bool) {
		for op := range numOperations {
			if !yield(op.String(), c.requests[op].Load()) {
				return
			}
		}
	}
}

// Dropped gives every reason with how many packets got no answer for it.
func (c *Counters) Dropped() iter.Seq2[string, uint64] {
	return func(yield func(string, uint64) bool) {
		for r := noReason + 1; r < numReasons; r++ {
			if !yield(r.String(), c.dropped[r].Load()) {
				return
			}
		}
	}
}

// Variables is how many variables were in the answers.
func (c *Counters) Variables() uint64 { return c.variables.Load() }

// TooBig is how many requests were answered with tooBig.
func (c *Counters) TooBig() uint64 { return c.tooBig.Load() }
