// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"cmp"
	"slices"
	"strings"
)

// buryOne makes room for a source by forgetting the rows of the one that is
// gone for longest, if there is one.
func (m *Merger) buryOne() bool {
	var first *source
	var of *net
	for _, n := range m.nets {
		for _, s := range n.order {
			if s.state == Gone && (first == nil || s.goneAt < first.goneAt) {
				first, of = s, n
			}
		}
	}
	if first != nil {
		m.bury(of, first)
	}
	return first != nil
}

// bury drops a source that is gone. Its counters go to the net's base; what is
// remembered is which process they were of.
func (m *Merger) bury(n *net, s *source) {
	if s.rows != nil {
		n.fold(s)
	}
	switch {
	case s.orphan:
		n.adopt(s)
		return
	case s.younger != nil:
		return
	}
	counted := s.countedUpTo()
	for i := range s.processes {
		if e := s.processes[i].elder; e != nil {
			n.fold(e)
		}
	}
	n.remove(s)
	m.sources--
	m.touched = true
	if counted == 0 {
		return
	}
	m.graves++
	n.past[s.name] = past{epoch: s.epoch, seq: s.seq, counted: counted, known: s.wasShown(), grave: m.graves}
	m.buried = append(m.buried, grave{n.name, s.name, m.graves})
	if len(m.buried) > m.limits.Past {
		oldest := m.buried[0]
		m.buried = m.buried[1:]
		if n := m.nets[oldest.net]; n != nil && n.past[oldest.source].grave == oldest.number {
			delete(n.past, oldest.source)
		}
	}
}

// buryExcess keeps the rows of gone sources within their limit, and counts
// those of all.
func (m *Merger) buryExcess() {
	type goner struct {
		net *net
		s   *source
	}
	var gone []goner
	rows := 0
	m.rows = 0
	for _, n := range m.nets {
		for _, s := range n.speakers() {
			m.rows += s.size()
			if s.state == Gone {
				gone, rows = append(gone, goner{n, s}), rows+s.size()
			}
		}
	}
	if rows <= m.limits.GoneRows {
		return
	}
	slices.SortFunc(gone, func(a, b goner) int {
		return cmp.Or(cmp.Compare(a.s.goneAt, b.s.goneAt), strings.Compare(a.net.name, b.net.name), strings.Compare(a.s.name, b.s.name))
	})
	for _, g := range gone {
		if rows <= m.limits.GoneRows {
			return
		}
		rows, m.rows = rows-g.s.size(), m.rows-g.s.size()
		m.bury(g.net, g.s)
	}
}
