// SPDX-License-Identifier: Apache-2.0

package mib

import (
	"cmp"
	"slices"
	"sync"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/collector/merge"
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
	sources func() *subjects
}

// subjects are the numbers of the sources that alarms are about. There may be an alarm for
// each of ten thousand sources, so each is found without a search.
type subjects struct {
	byName   map[string]uint32    // the first of the name
	byNet    map[[2]string]uint32 // that of a net and a name
	byRegion map[[2]string]uint32 // the latest owner of a net's region
}

// newServed returns what notifications read. subjects are made when an alarm first asks for
// them: most Views have none.
func newServed(root smi.OID, p *plan, sources []sourceAt, byNet map[[2]string]uint32) *served {
	return &served{root, p, sync.OnceValue(func() *subjects { return newSubjects(sources, byNet) })}
}

func newSubjects(sources []sourceAt, byNet map[[2]string]uint32) *subjects {
	s := &subjects{byName: make(map[string]uint32, len(sources)), byNet: byNet, byRegion: map[[2]string]uint32{}}
	owners := map[[2]string]*merge.Source{}
	for i := range sources {
		at := &sources[i]
		if s.byName[at.source.Name] == 0 {
			s.byName[at.source.Name] = at.number
		}
		region := [2]string{at.source.Net, at.source.Region}
		if last := owners[region]; at.source.Region != "" && (last == nil || at.source.Claim().Compare(last.Claim()) > 0) {
			owners[region], s.byRegion[region] = at.source, at.number
		}
	}
	return s
}

// number returns the number of the source that an alarm is about, and of a region's sources
// that of its latest owner; 0 for none.
func (s *subjects) number(a *alarm.Alarm) uint32 {
	switch about := [2]string{a.Net, a.Subject}; {
	case a.Kind == alarm.RegionStopped:
		return s.byRegion[about]
	case a.Net != "":
		return s.byNet[about]
	}
	return s.byName[a.Subject]
}

// rowOf returns the row that an alarm is about; zeroDotZero if there is none, or s is nil.
func (s *served) rowOf(a *alarm.Alarm) smi.OID {
	if s == nil {
		return smi.OID{0, 0}
	}
	row := func(table uint32, index ...uint32) smi.OID {
		return s.root.Append(subPetrinet, subObjects, table, 1, firstColumn).Append(index...)
	}
	if _, _, source, region := a.About(); source != "" || region != "" {
		if number := s.sources().number(a); number != 0 {
			return row(tableSources, number)
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
		return row(tableNets, number)
	case net.placeByID()[place] != 0:
		return row(tablePlaces, number, net.placeByID()[place])
	case net.transitionByID()[transition] != 0:
		return row(tableTransitions, number, net.transitionByID()[transition])
	}
	return smi.OID{0, 0}
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
