// SPDX-License-Identifier: Apache-2.0

package snmp

import (
	"iter"
	"sync/atomic"
)

// reason is why a packet got no answer.
type reason uint8

// The reasons, in the order of the checks.
const (
	noReason       reason = iota
	otherNetwork          // an address outside of Config.AllowFrom
	malformed             // no message of SNMP
	otherVersion          // SNMPv1, SNMPv3 without users, or an unknown one
	wrongCommunity        // another password
	notRequest            // a response, a notification or a report
	otherSecurity         // SNMPv3 with another security model than that of users
	notReportable         // a problem of SNMPv3 for whose Report the message did not ask
	rateExceeded          // more packets a second from one address than are answered
	octetsExceeded        // more octets a second to one address than are sent
	unproven              // a response larger than an address gets before it has proven that it receives
	sendFailed            // the socket refused the answer
	numReasons
)

// String returns the reason as a label of a metric.
func (r reason) String() string {
	return [...]string{"", "network", "malformed", "version", "community", "not_request", "security_model", "not_reportable", "rate", "octets", "unproven", "send"}[r]
}

// operation is the operation of a request, as a row of counters.
type operation uint8

const (
	opGet operation = iota
	opGetNext
	opGetBulk
	opSet
	numOperations
)

func (o operation) String() string { return [...]string{"get", "getnext", "getbulk", "set"}[o] }

// Counters counts what a Responder did since it was made. They may be read at any time.
type Counters struct {
	requests  [numOperations]atomic.Uint64
	dropped   [numReasons]atomic.Uint64
	variables atomic.Uint64
	tooBig    atomic.Uint64
	shortened atomic.Uint64
	problems  [numProblems]atomic.Uint64
}

// Requests yields every operation (get, getnext, getbulk, set) with the number
// of its well-formed requests.
func (c *Counters) Requests() iter.Seq2[string, uint64] { return counted(opGet, c.requests[:]) }

// Dropped yields every reason with the number of packets that got no answer for it.
func (c *Counters) Dropped() iter.Seq2[string, uint64] { return counted(noReason+1, c.dropped[:]) }

// Problems yields the name of every counter of RFC 3414 section 5 (usmStats), and
// of unknown contexts and PDU handlers, with the number of SNMPv3 requests.
func (c *Counters) Problems() iter.Seq2[string, uint64] { return counted(noProblem+1, c.problems[:]) }

// counted yields names from the first one on, each with its counter.
func counted[T interface {
	~uint8
	String() string
}](first T, counters []atomic.Uint64) iter.Seq2[string, uint64] {
	return func(yield func(string, uint64) bool) {
		for name := first; int(name) < len(counters); name++ {
			if !yield(name.String(), counters[name].Load()) {
				return
			}
		}
	}
}

// Variables returns the number of variables in all answers.
func (c *Counters) Variables() uint64 { return c.variables.Load() }

// Shortened returns the number of responses to GetBulk that were cut because the
// address had not yet proven that it receives them.
func (c *Counters) Shortened() uint64 { return c.shortened.Load() }

// TooBig returns the number of requests answered with tooBig.
func (c *Counters) TooBig() uint64 { return c.tooBig.Load() }
