// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"slices"
	"testing"
)

// Each number of a table is found by its name, and is read and written as its function does.
func TestNumbersAreFoundByTheirNames(t *testing.T) {
	numbersOf(t, PlaceTable)
	numbersOf(t, TransitionTable)
	numbersOf(t, NetTable)
	numbersOf(t, QueueTable)
	if n, known := TransitionTable.Named("duration"); !known || n.Column != ColDuration || n.Count != nil || n.Moment != nil {
		t.Errorf("duration is %+v, %v; want a column", n, known)
	}
	if n, known := TransitionTable.Named("tokens"); !known || n.Count != nil || n.Column != ColTokens {
		t.Errorf("tokens of a transition are %+v, %v; want the column of places", n, known)
	}
	if n, known := PlaceTable.Named("age"); known {
		t.Errorf("age is %+v", n)
	}
}

func numbersOf[R any](t *testing.T, table *Table[R]) {
	var names []string
	for i := range table.Counts {
		names = append(names, table.Counts[i].Name)
	}
	for i := range table.Moments {
		names = append(names, table.Moments[i].Name)
	}
	rows, into := make([]R, 2), make([]uint64, 2)
	for k, n := range table.Numbers(names...) {
		words := []uint64{uint64(k + 1), uint64(k + 100)}
		n.Write(rows, words)
		n.Read(rows, into)
		column, known := table.Column(names[k])
		if !slices.Equal(into, words) || !known || column != n.Column || (n.Count == nil) == (n.Moment == nil) {
			t.Errorf("%s is %v of column %b, %v; want %v of %b", names[k], into, column, known, words, n.Column)
		}
	}
	for k := range names { // none was written over another
		if got := table.numbers(&rows[1])[k]; got != uint64(k+100) {
			t.Errorf("%s is %d; want %d", names[k], got, k+100)
		}
	}
}

func TestATransitionWaitsSinceItWasEnabledOrFired(t *testing.T) {
	for _, c := range []struct {
		row  Transition
		want int64
	}{
		{Transition{}, 0},
		{Transition{Enabled: 1}, 0},
		{Transition{EnabledSince: 5}, 0},
		{Transition{Enabled: 1, EnabledSince: 5}, 5},
		{Transition{Enabled: 1, EnabledSince: 5, LastFiring: 9}, 9},
		{Transition{Enabled: 1, EnabledSince: 5, LastFiring: 3}, 5},
	} {
		if got := c.row.Waits(); got != c.want {
			t.Errorf("%+v waits since %d; want %d", c.row, got, c.want)
		}
	}
}
