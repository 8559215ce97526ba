// SPDX-License-Identifier: Apache-2.0

package snmp

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/pnagent/pnagent/mib/smi"
)

// maxAmplification is how many octets an address without a proof is sent, at
// most, for each octet that it sent.
const maxAmplification = 5

// proofHolds is how long an address may be sent full responses after a proof.
const proofHolds = 5 * time.Minute

// enoughOdds is a proof: a sender that does not receive the responses would have
// guessed all names of a walk with this chance against it.
const enoughOdds = 1 << 32

// walkForgotten is how long an unfinished proof keeps other walks of the same
// address from beginning one.
const walkForgotten = time.Second

// chain is the proof of an address that it receives what it is sent. A response
// to GetBulk that exceeds the credit ends after a random one of the rows that
// would fit, so only its receiver can continue from the last name.
type chain struct {
	port uint16
	last time.Time // of the last response
	next []uint32  // the name that the next request continues from; empty without one
	rows int       // the number of rows among which the last one was chosen
	odds float64   // the product of rows over the names that were right
}

// cut is the random end of a response, chosen while its rows are added.
type cut struct {
	rows      int // so far
	size      int // of the message up to and with the chosen row
	variables int
	name      []uint32 // the name in the chosen row, of the first repeated variable
}

// offer makes the row that was just added the chosen one, with a chance that is
// the same for all rows in the end.
func (c *cut) offer(p *message, name smi.OID) {
	c.rows++
	if rand.IntN(c.rows) == 0 {
		c.size, c.variables, c.name = len(p.buf), p.variables, append(c.name[:0], name...)
	}
}

// continued notes the name that a GetBulk from the port continues from, and
// reports whether that completes the proof of the address.
func (w *chain) continued(port uint16, name smi.OID) bool {
	if port != w.port {
		return false
	}
	if len(w.next) == 0 || !slices.Equal(w.next, name) {
		w.odds = 1
	} else {
		w.odds *= float64(w.rows)
	}
	w.next = w.next[:0]
	return w.odds >= enoughOdds
}

// expect notes where a response to the port was cut.
func (w *chain) expect(port uint16, c *cut, now time.Time) {
	if port != w.port {
		if now.Sub(w.last) < walkForgotten {
			return
		}
		w.port, w.odds = port, 1
	}
	w.last, w.rows, w.next = now, c.rows, append(w.next[:0], c.name...)
}
