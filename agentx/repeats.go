// SPDX-License-Identifier: Apache-2.0

package agentx

import "github.com/pnagent/pnagent/agentx/pdu"

// maxRepeats is how many requests are remembered. A master sends a request
// again after its time-out, with the same packet id, and has few others under
// way until then.
const maxRepeats = 64

// request is what makes two frames the same request.
type request struct {
	asked               bool // false where none is remembered
	typ                 pdu.Type
	transaction, packet uint32
}

// repeats remembers the last requests that were answered, so that one which
// comes again is not answered again.
type repeats struct {
	last [maxRepeats]request
	next int
}

// seen tells whether the request of h came before, and remembers it.
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

// forget undoes seen: the answer was not sent, so that the master must be able
// to ask again.
func (r *repeats) forget() {
	r.next = (r.next + maxRepeats - 1) % maxRepeats
	r.last[r.next] = request{}
}
