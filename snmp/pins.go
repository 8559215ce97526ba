// SPDX-License-Identifier: Apache-2.0

package snmp

import (
	"net/netip"
	"time"

	"github.com/pnagent/pnagent/mib/smi"
)

// maxPins bounds the requesters whose tables are held.
const maxPins = 1024

// pins holds the table of each requester's walk, for at most hold after its
// first packet. So it holds no more tables than are made in that time, for any
// number of requesters.
type pins struct {
	hold   time.Duration
	tables map[netip.AddrPort]*smi.Table
	queue  []pin // a ring, oldest first
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

// table returns the table for a walk of from at now: the held one, or newest,
// which it then holds. newest may be nil.
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
