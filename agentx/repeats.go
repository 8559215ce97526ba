// SPDX-License-Identifier: Apache-2.0

package agentx

import "github.com/pnagent/pnagent/agentx/pdu"

// maxRepeats is the number of requests kept. A master repeats a request after its
// time-out, with the same packet id, and has few others in progress until then.
const maxRepeats = 64

// request identifies a request.
type request struct {
	asked               bool // false for an empty slot
	typ                 pdu.Type
	transaction, packet uint32
}

// repeats keeps the last requests that were answered, so that a repeated one is not
// answered again.
type repeats struct {
	last [maxRepeats]request
	next int
}

// seen reports whether the request of h is a repeated one, and keeps it.
func (r *repeats) seen(h pdu.Header) bool {
	now := request{true, h.Type, h.Transaction, h.Packet}
	for _, before := range r.last {
		if before == now {
			return true
		}
	}
	r.last[r.next] = now
	r.next = (r.next + 1) % maxRepeats
	return false
}

// forget undoes seen: the answer was not sent, so the master may repeat the request.
func (r *repeats) forget() {
	r.next = (r.next + maxRepeats - 1) % maxRepeats
	r.last[r.next] = request{}
}
