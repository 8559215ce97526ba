// SPDX-License-Identifier: Apache-2.0

package mib

import (
	"cmp"
	"slices"
	"sync"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/mib/smi"
)

// firstColumn is the column that a RowPointer names: all tables begin with an index that is
// not accessible, and have a name in this column.
const firstColumn = 2

// served are the rows that alarms are about, of one Build. It is immutable, because
// notifications read it beside the next Build.
type served struct {
	root    smi.OID
	plan    *plan
	sources []sourceAt
}

// rowOf returns the row that an alarm is about; zeroDotZero if there is none, or s is nil.
func (s *served) rowOf(a *alarm.Alarm) smi.OID {
	if s == nil {
		return smi.OID{0, 0}
	}
	row := func(t table, index ...uint32) smi.OID {
		return s.root.Append(subPetrinet, subObjects, t.sub, 1, firstColumn).Append(index...)
	}
	if _, _, source, region := a.About(); source != "" || region != "" {
		if number := s.source(a); number != 0 {
			return row(sourceTable(), number)
		}
		return smi.OID{0, 0}
	}
	number := s.plan.numbers[a.Net]
	i, found := slices.BinarySearchFunc(s.plan.nets, number, func(n netPlan, number uint32) int { return cmp.Compare(n.number, number) })
	if !found {
		return smi.OID{0, 0}
	}
	net := &s.plan.nets[i]
	switch place, transition, _, _ := a.About(); {
	case a.Kind == alarm.NetDeadlocked:
		return row(netTable(), number)
	case net.placeByID()[place] != 0:
		return row(placeTable(), number, net.placeByID()[place])
	case net.transitionByID()[transition] != 0:
		return row(transitionTable(), number, net.transitionByID()[transition])
	}
	return smi.OID{0, 0}
}

// source returns the number of the source that an alarm is about, and of a region's sources
// that of its latest owner; 0 for none.
func (s *served) source(a *alarm.Alarm) uint32 {
	var found *sourceAt
	for i := range s.sources {
		at := &s.sources[i]
		switch {
		case a.Kind == alarm.RegionStopped:
			if at.source.Net == a.Net && at.source.Region == a.Subject && (found == nil || at.source.Claim().Compare(found.source.Claim()) > 0) {
				found = at
			}
		case found == nil && at.source.Name == a.Subject && (a.Net == "" || at.source.Net == a.Net):
			found = at
		}
	}
	if found == nil {
		return 0
	}
	return found.number
}

// numbersByID returns what returns the numbers of places or transitions by id. It is made
// when an alarm first asks for it: most nets have none.
func numbersByID[E any](elements []E, id func(*E) string, numbers []uint32) func() map[string]uint32 {
	return sync.OnceValue(func() map[string]uint32 {
		all := make(map[string]uint32, len(elements))
		for i := range elements {
			if numbers[i] != 0 {
				all[id(&elements[i])] = numbers[i]
			}
		}
		return all
	})
}
