// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"cmp"
	"strings"

	"github.com/pnagent/pnagent/internal/ordered"
)

// forgetOldest makes room for a source: it forgets the rows of the source that is
// gone for the longest time, and reports whether there was one.
func (m *Merger) forgetOldest() bool {
	if m.noneGone {
		return false
	}
	var first *source
	var of *net
	for _, n := range m.nets {
		for _, s := range n.order {
			if s.state == Gone && (first == nil || s.goneAt < first.goneAt) {
				first, of = s, n
			}
		}
	}
	if m.noneGone = first == nil; !m.noneGone {
		m.forget(of, first)
	}
	return first != nil
}

// forget removes a source that is gone. Its counters move to the net's base; only
// its epochs are remembered.
func (m *Merger) forget(n *net, s *source) {
	if s.rows != nil {
		n.fold(s)
	}
	switch {
	case s.orphan:
		n.removeOrphan(s)
		return
	case s.current != nil:
		return
	}
	counted := s.countedUpTo()
	for i := range s.processes {
		if e := s.processes[i].aside; e != nil {
			n.fold(e)
		}
	}
	n.bury(s)
	n.remove(s)
	m.sources--
	m.touched = true
	if counted == 0 {
		return
	}
	m.tombstones++
	n.past[s.name] = past{epoch: s.epoch, seq: s.seq, counted: counted, known: s.wasShown(), tombstone: m.tombstones}
	m.forgotten = append(m.forgotten, tombstone{n.name, s.name, m.tombstones})
	if len(m.forgotten) > m.limits.Past {
		oldest := m.forgotten[0]
		m.forgotten = m.forgotten[1:]
		if n := m.nets[oldest.net]; n != nil && n.past[oldest.source].tombstone == oldest.number {
			delete(n.past, oldest.source)
		}
	}
}

// forgetExcess keeps the rows of gone sources within Limits.GoneRows, and counts
// the rows of all sources and the memory of snapshots that wait.
func (m *Merger) forgetExcess() {
	type retired struct {
		net *net
		s   *source
	}
	var gone []retired
	rows := 0
	m.rows, m.waiting = 0, 0
	for _, n := range m.nets {
		for _, s := range n.contributors() {
			m.rows += s.size()
			m.waiting += s.waitingBytes()
			if s.state == Gone {
				gone, rows = append(gone, retired{n, s}), rows+s.size()
			}
		}
	}
	if rows <= m.limits.GoneRows {
		return
	}
	ordered.By(gone, func(a, b *retired) int {
		return cmp.Or(cmp.Compare(a.s.goneAt, b.s.goneAt), strings.Compare(a.net.name, b.net.name), strings.Compare(a.s.name, b.s.name))
	})
	for _, g := range gone {
		if rows <= m.limits.GoneRows {
			return
		}
		rows, m.rows = rows-g.s.size(), m.rows-g.s.size()
		m.forget(g.net, g.s)
	}
}
