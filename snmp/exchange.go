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
}

func (r *Responder) newExchange() *exchange {
	return &exchange{Responder: r, response: message{limit: r.cfg.MaxMessage}, pins: newPins(r.cfg.Hold),
		limits: newLimits(r.cfg.PacketRate)}
}

// answer returns the message to send back, valid until the next call. Without
// one it returns the reason, and the error of a malformed packet.
func (x *exchange) answer(packet []byte, from netip.AddrPort, now time.Time) ([]byte, reason, error) {
	why, err := x.request.decode(packet, &x.community)
	if why != noReason {
		return nil, why, err
	}
	if !x.limits.allow(from.Addr(), now) {
		return nil, rateExceeded, nil
	}
	view := mibView{system: x.system, uptime: smi.TimeTicks(x.UpTime(now)), table: x.cfg.Table()}
	var out []byte
	switch x.request.op {
	case tagGet:
		x.counters.requests[opGet].Add(1)
		out = x.get(&view)
	case tagGetNext:
		x.counters.requests[opGetNext].Add(1)
		view.table = x.pins.table(from, now, view.table)
		out = x.getNext(&view)
	case tagGetBulk:
		x.counters.requests[opGetBulk].Add(1)
		view.table = x.pins.table(from, now, view.table)
		out = x.getBulk(&view)
	case tagSet:
		x.counters.requests[opSet].Add(1)
		out = x.set()
	}
	x.counters.variables.Add(uint64(x.response.variables))
	return out, noReason, nil
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
// there is no more room.
func (x *exchange) getBulk(view *mibView) []byte {
	x.response.begin(&x.request, noError, 0)
	n := x.request.names()
	x.cursors = slices.Grow(x.cursors[:0], n)[:n] // keeps the memory of each cursor
	for i := range x.cursors {
		x.cursors[i].begin(x.request.name(i))
	}
	single := min(max(int(x.request.nonRepeaters), 0), len(x.cursors))
	for i := range x.cursors[:single] {
		if _, got := x.step(view, i); got != added {
			return x.stop(got, i)
		}
	}
	for range x.request.maxRepetitions {
		ended := true
		for i := single; i < len(x.cursors); i++ {
			value, got := x.step(view, i)
			if got != added {
				return x.stop(got, i)
			}
			ended = ended && value.Type == smi.TypeEndOfMibView
		}
		if ended { // also if there is nothing to repeat
			break
		}
	}
	return x.response.finish()
}

// step adds the next variable of the i-th cursor.
func (x *exchange) step(view *mibView, i int) (smi.Value, outcome) {
	c := &x.cursors[i]
	value := view.next(c)
	return value, x.response.add(c.name, value)
}

// stop ends a GetBulk at its i-th binding: a full message is an answer if it has a variable.
func (x *exchange) stop(got outcome, i int) []byte {
	if got == full && x.response.variables > 0 {
		return x.response.finish()
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
