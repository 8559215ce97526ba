// SPDX-License-Identifier: Apache-2.0

package snmp

import (
	"net/netip"
	"slices"
	"time"

	"github.com/pnagent/pnagent/mib/smi"
)

// exchange answers packets, one at a time. It reuses all memory that a packet needs.
type exchange struct {
	*Responder
	request  request
	response message
	pins     *pins
	limits   *limits
	cursors  []cursor
	cut      cut
	secure   *secure // nil without SNMPv3

	// Of the response: its largest size, and how much of it is not the message
	// that is encoded here.
	largest, overhead int
}

func (r *Responder) newExchange() *exchange {
	return &exchange{Responder: r, secure: r.newSecure(), pins: newPins(r.cfg.Hold),
		limits: newLimits(r.cfg.PacketRate, r.cfg.OctetRate, r.cfg.MaxMessage)}
}

// answer returns the message to send back, valid until the next call. Without
// one it returns the reason, and the error of a malformed packet.
func (x *exchange) answer(packet []byte, from netip.AddrPort, now time.Time) ([]byte, reason, error) {
	if !x.allowed(from.Addr()) {
		return nil, otherNetwork, nil
	}
	takes := x.takes.Load()
	why, err := x.request.decode(packet, &takes.community)
	if why == otherVersion && x.secure != nil {
		x.secure.know(takes, x.cfg.Engine)
		return x.answer3(packet, from, now)
	}
	if why != noReason {
		return nil, why, err
	}
	b, why := x.limits.receive(from.Addr(), len(packet), now)
	if why != noReason {
		return nil, why, nil
	}
	x.largest, x.overhead = x.cfg.MaxMessage, 0
	out := x.perform(b, from, now)
	if out == nil || !x.limits.send(b, len(out), now) {
		return nil, unproven, nil
	}
	x.counters.variables.Add(uint64(x.response.variables))
	return out, noReason, nil
}

// allowed reports whether requests of the address are answered.
func (x *exchange) allowed(address netip.Addr) bool {
	if len(x.cfg.AllowFrom) == 0 {
		return true
	}
	address = address.Unmap().WithZone("")
	return slices.ContainsFunc(x.cfg.AllowFrom, func(n netip.Prefix) bool { return n.Contains(address) })
}

// perform answers the request. It returns nil if there is no room for a variable
// in what the address is sent without a proof.
func (x *exchange) perform(b *bucket, from netip.AddrPort, now time.Time) []byte {
	view := mibView{system: x.system, uptime: smi.TimeTicks(x.UpTime(now)), table: x.cfg.Table()}
	x.response.limit = x.largest - x.overhead
	switch x.request.op {
	case tagGet:
		x.counters.requests[opGet].Add(1)
		return x.get(&view)
	case tagGetNext:
		x.counters.requests[opGetNext].Add(1)
		view.table = x.pins.table(from, now, view.table)
		return x.getNext(&view)
	case tagGetBulk:
		x.counters.requests[opGetBulk].Add(1)
		view.table = x.pins.table(from, now, view.table)
		if single := x.request.single(); single < x.request.names() && b.walk.continued(from.Port(), x.request.name(single)) {
			b.proven = now.Add(proofHolds)
		}
		x.largest = min(x.largest, x.bulk)
		x.response.limit = min(x.limits.room(b, now), x.largest) - x.overhead
		return x.getBulk(&view, &b.walk, from.Port(), now)
	default:
		x.counters.requests[opSet].Add(1)
		return x.set()
	}
}

// get implements RFC 3416 section 4.2.1.
func (x *exchange) get(view *mibView) []byte {
	x.response.begin(&x.request, noError, 0)
	for i := range x.request.names() {
		name := x.request.name(i)
		if got := x.response.add(name, view.get(name)); got != added {
			return x.fail(got, i)
		}
	}
	return x.response.finish()
}

// getNext implements RFC 3416 section 4.2.2.
func (x *exchange) getNext(view *mibView) []byte {
	x.response.begin(&x.request, noError, 0)
	x.cursors = slices.Grow(x.cursors[:0], 1)[:1]
	for i := range x.request.names() {
		x.cursors[0].begin(x.request.name(i))
		if _, got := x.step(view, 0); got != added {
			return x.fail(got, i)
		}
	}
	return x.response.finish()
}

// getBulk implements RFC 3416 section 4.2.3. It returns the variables so far if
// there is no more room, and fewer, which w then expects the next request to
// continue from, where the room is that of an address without a proof.
func (x *exchange) getBulk(view *mibView, w *chain, port uint16, now time.Time) []byte {
	x.response.begin(&x.request, noError, 0)
	n := x.request.names()
	x.cursors = slices.Grow(x.cursors[:0], n)[:n] // keeps the memory of each cursor
	for i := range x.cursors {
		x.cursors[i].begin(x.request.name(i))
	}
	single := x.request.single()
	for i := range x.cursors[:single] {
		if _, got := x.step(view, i); got != added {
			return x.stop(got, i)
		}
	}
	limited := x.response.limit < x.largest-x.overhead
	x.cut.rows = 0
	for done := int32(0); done < x.request.maxRepetitions; done++ {
		if single == len(x.cursors)-1 && !limited {
			done += x.fill(view, &x.cursors[single], x.request.maxRepetitions-done-1)
		}
		ended, first := true, false
		for i := single; i < len(x.cursors); i++ {
			end, got := x.step(view, i)
			if got == full && x.cut.rows > 0 {
				return x.shorten(w, port, now)
			}
			if got != added {
				return x.stop(got, i)
			}
			ended, first = ended && end, first || i == single && !end
		}
		if ended { // also if there is nothing to repeat
			break
		}
		if limited && first { // a name after the end is no secret
			x.cut.offer(&x.response, view.position(&x.cursors[single]))
		}
	}
	return x.response.finish()
}

// shorten ends a response after a random row.
func (x *exchange) shorten(w *chain, port uint16, now time.Time) []byte {
	x.counters.shortened.Add(1)
	w.expect(port, &x.cut, now)
	x.response.buf, x.response.variables = x.response.buf[:x.cut.size], x.cut.variables
	return x.response.finish()
}

// fill adds up to n rows that follow in the stretch of the cursor's last row, all at
// once, and returns how many: a walk of one column at a time consists of them.
func (x *exchange) fill(view *mibView, c *cursor, n int32) (rows int32) {
	b := x.response.buf
	last := int(n) + c.table
	if c.system < view.system.Len() {
		last = min(last, c.meets)
	}
	for ; c.in == inTable && c.table < last && c.run.Has(c.table); c.table++ {
		row, scalar := c.run.Tail(c.table)
		more, ok := appendRow(b, c.head, row, scalar, c.run.Value(c.table))
		if !ok || len(more) > x.response.limit {
			break
		}
		b = more
		rows++
	}
	x.response.buf = b
	x.response.variables += int(rows)
	return rows
}

// step adds the next variable of the i-th cursor, and reports whether that is the
// end of the view.
func (x *exchange) step(view *mibView, i int) (end bool, got outcome) {
	c := &x.cursors[i]
	value := view.next(c)
	end = value.Type == smi.TypeEndOfMibView
	if c.in == inTable && !end {
		row, scalar := c.run.Tail(c.table - 1)
		if x.response.addRow(c.head, row, scalar, value) {
			return false, added
		}
	}
	return end, x.response.add(view.position(c), value)
}

// stop ends a GetBulk at its i-th binding: a full message is an answer if it has
// a variable. It returns nil if more credit could make room for one.
func (x *exchange) stop(got outcome, i int) []byte {
	switch {
	case got == full && x.response.variables > 0:
		return x.response.finish()
	case got == full && x.response.limit < x.largest-x.overhead:
		return nil
	}
	return x.fail(got, i)
}

// fail answers for the i-th binding, from 0, which could not be added.
func (x *exchange) fail(got outcome, i int) []byte {
	if got == unencodable {
		return x.refuse(genErr, i+1)
	}
	return x.refuse(tooBig, 0)
}

// set implements RFC 3416 section 4.2.5: no variable is writable.
func (x *exchange) set() []byte {
	if x.request.names() == 0 {
		return x.refuse(noError, 0)
	}
	return x.refuse(notWritable, 1)
}

func (x *exchange) refuse(s status, index int) []byte {
	out, tooLarge := x.response.refuse(&x.request, s, index)
	if tooLarge {
		x.counters.tooBig.Add(1)
	}
	return out
}
