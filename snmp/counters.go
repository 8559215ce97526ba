// SPDX-License-Identifier: Apache-2.0

package snmp

import "sync/atomic"

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

// counters counts what a Responder did since it was made. They may be read at any time.
type counters struct {
	requests  [numOperations]atomic.Uint64 // well-formed ones
	dropped   [numReasons]atomic.Uint64    // packets that got no answer
	variables atomic.Uint64                // in all answers
	tooBig    atomic.Uint64                // requests answered with tooBig
	shortened atomic.Uint64                // responses to GetBulk that were cut because the address had not yet proven that it receives them
	problems  [numProblems]atomic.Uint64   // requests of SNMPv3
}

// counted returns counters by name, from the first one on.
func counted[T interface {
	~uint8
	String() string
}](first T, counters []atomic.Uint64) map[string]uint64 {
	all := make(map[string]uint64, len(counters))
	for name := first; int(name) < len(counters); name++ {
		all[name.String()] = counters[name].Load()
	}
	return all
}
