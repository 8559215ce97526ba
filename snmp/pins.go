// SPDX-License-Identifier: Apache-2.0

package snmp

import (
	"net/netip"
	"time"

	"github.com/pnagent/pnagent/smi"
)

// maxPins bounds how many requesters' tables are held.
const maxPins = 1024

// pins holds the table that each requester's walk began with. A table is held
// for at most hold after the walk's first packet, so the memory held is that
// of the tables made within one hold, however many requesters there are.
type pins struct {
	hold   time.Duration
	tables map[netip.AddrPort]*smi.Table
	queue  []pin // a ring, in the order in which they were made
	head   int
	n      int
}

type pin struct {
	from  netip.AddrPort
	since time.Time
}

func newPins(hold time.Duration) *pins {
	return &pins{hold: hold, tables: make(map[netip.AddrPort]*smi.Table), queue: make([]pin, maxPins)}
}

// table is the one that a walk of from reads at now: the one it began with, or
// newest, which is held for it from now on. newest may be nil.
func (p *pins) table(from netip.AddrPort, now time.Time, newest *smi.Table) *smi.Table {
	for p.n > 0 && now.Sub(p.queue[p.head].since) >= p.hold {
		p.drop()
	}
	if held, ok := p.tables[from]; ok {
		return held
	}
	if newest == nil {
		return nil
	}
	if p.n == maxPins {
		p.drop()
	}
	p.queue[(p.head+p.n)%maxPins] = pin{from: from, since: now}
	p.n++
	p.tables[from] = newest
	return newest
}

func (p *pins) drop() {
	delete(p.tables, p.queue[p.head].from)
	p.head = (p.head + 1) % maxPins
	p.n--
}
