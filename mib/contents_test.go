// SPDX-License-Identifier: Apache-2.0

package mib

import (
	"slices"
	"testing"
)

// Each object of the files has a value, and each value an object: in the order of the OIDs,
// by which tables are laid out.
func TestEachObjectHasAValue(t *testing.T) {
	sources := objectsOf(sourceColumns())
	for _, t := range regionColumns() {
		sources = append(sources, objectsOf(t.columns)...)
	}
	valued := map[string][]object{
		"agent": objectsOf(agentScalars()), "net": objectsOf(netColumns()), "place": objectsOf(placeColumns()), "placeAge": objectsOf(ageColumns()),
		"transition": objectsOf(transitionColumns()), "stuck": objectsOf(stuckColumns()), "block": objectsOf(blockColumns()), "source": sources,
		"alarm": objectsOf(alarmColumns()), "queue": objectsOf(queueColumns()), "cleared": objectsOf(clearedColumns()),
		"alarms": objectsOf(alarmScalars()), "clearances": objectsOf(clearedScalars()), "module": objectsOf(moduleScalars()),
	}
	for group, objects := range petrinet().objects {
		same := func(a, b object) bool { return a.sub == b.sub && a.suffix == b.suffix }
		if !slices.EqualFunc(objects, valued[group], same) {
			t.Errorf("of %s the files have %d objects, and %d have values", group, len(objects), len(valued[group]))
		}
		if !slices.IsSortedFunc(objects, func(a, b object) int { return int(a.sub) - int(b.sub) }) {
			t.Errorf("%s is not in the order of sub-identifiers", group)
		}
	}
	if len(valued) != len(petrinet().objects) {
		t.Errorf("%d groups have values; want %d", len(valued), len(petrinet().objects))
	}
}
