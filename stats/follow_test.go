// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestARecorderKeepsTheStaysOfTheInstancesThatAreFollowed(t *testing.T) {
	r := NewRecorder(2, 1)
	r.Left(0, 1, 5, 10) // nothing is followed yet
	r.Follow(3, func(instance int) bool { return instance > 0 }, 100)
	r.Left(0, 0, 90, 110)         // of an instance that is not followed
	r.Left(1, 1, 90, 110)         // it waited before it was followed
	r.Left(1, 1, 110, 110)        // no time
	r.LeftMany(0, 2, 100, 130, 3) // several tokens waited together
	r.Ran(0, 1, 110, 140)
	r.Ended(1, false, 140)
	r.Began(1, 200)
	r.Ended(1, true, 250)
	r.Began(0, 300)
	r.Ended(0, false, 310)
	got, lost := r.TakeStays(nil)
	want := []Stay{
		{Kind: StayInPlace, Node: 1, Instance: 1, Begun: 100, From: 90, To: 110},
		{Kind: StayInPlace, Node: 0, Instance: 2, Begun: 100, From: 100, To: 130},
		{Kind: StayWork, Node: 0, Instance: 1, Begun: 100, From: 110, To: 140},
		{Kind: StayRun, Instance: 1, Begun: 100, From: 90, To: 140},
		{Kind: StayFailed, Instance: 1, Begun: 200, From: 200, To: 250},
	}
	if diff := cmp.Diff(want, got); diff != "" || lost != 0 {
		t.Errorf("lost %d; %s", lost, diff)
	}
	if got, _ := r.TakeStays(nil); len(got) != 0 {
		t.Errorf("taken twice: %v", got)
	}
}

func TestStaysThatDoNotFitAreCounted(t *testing.T) {
	r := NewRecorder(1, 1)
	r.Follow(1, func(int) bool { return true }, 1)
	for i := range int64(MaxStays + 7) {
		r.Left(0, 0, i, i+1)
	}
	if got, lost := r.TakeStays(nil); len(got) != MaxStays || lost != 7 {
		t.Errorf("%d kept and %d lost; expected %d and 7", len(got), lost, MaxStays)
	}
	r.Left(0, 0, 5, 6)
	if got, lost := r.TakeStays(nil); len(got) != 1 || lost != 0 {
		t.Errorf("after that %d kept and %d lost; expected 1 and 0", len(got), lost)
	}
}
