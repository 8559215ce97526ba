// SPDX-License-Identifier: Apache-2.0

package replica

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

const second = 1_000_000

func TestARevisionWasMadeNoLaterThanTheFirstMarkThatReachesIt(t *testing.T) {
	var times Times
	times.Look(10, 100*second, 100*second)
	times.Look(10, 101*second, 101*second)
	times.Look(14, 102*second, 102*second+1000)
	times.Saw(20, 102*second+900_000)
	for _, c := range []struct {
		revision, now, at int64
		loose             bool
	}{
		{5, 200 * second, 100 * second, true}, // before the attachment
		{10, 200 * second, 100 * second, true},
		{11, 200 * second, 102*second + 1000, false}, // between two requests
		{14, 200 * second, 102*second + 1000, false},
		{17, 200 * second, 102*second + 900_000, false},
		{21, 103 * second, 103 * second, false}, // just now
		{21, 110 * second, 110 * second, true},  // without requests for a while
	} {
		if at, loose := times.At(c.revision, c.now); at != c.at || loose != c.loose {
			t.Errorf("revision %d at %d: %d, %v; want %d, %v", c.revision, c.now, at, loose, c.at, c.loose)
		}
	}
}

func TestOfManyChangesTheFirstAndTheLastLeaveMarks(t *testing.T) {
	var times Times
	times.Look(1, second, second)
	var added []Mark
	for i := range int64(50) {
		added = append(added, times.Saw(2+i, second+300_000+i*1000)...)
	}
	added = append(added, times.Look(60, 2*second, 2*second)...)
	added = append(added, times.Saw(61, 2*second+1)...)
	added = append(added, times.End()...)
	added = append(added, times.End()...)
	want := []Mark{{2, 1_300_000, second}, {51, 1_349_000, second}, {60, 2 * second, second}, {61, 2*second + 1, 2 * second}}
	if d := cmp.Diff(want, added); d != "" {
		t.Error(d)
	}
}

func TestMarksContinueAfterARestart(t *testing.T) {
	var before, after Times
	before.Look(10, 100*second, 100*second)
	before.Look(12, 101*second, 101*second)
	for _, m := range before.Marks() {
		if !after.Restore(m) {
			t.Errorf("mark %+v is rejected", m)
		}
	}
	for _, m := range []Mark{{12, 102 * second, 0}, {13, 99 * second, 0}, {0, 103 * second, 0}, {14, 103 * second, 104 * second}} {
		if after.Restore(m) {
			t.Errorf("mark %+v is accepted", m)
		}
	}
	after.Look(20, 900*second, 900*second)
	for revision, want := range map[int64]bool{10: true, 12: false, 15: true} {
		if _, loose := after.At(revision, 901*second); loose != want {
			t.Errorf("revision %d: loose is %v", revision, loose)
		}
	}
}

func TestMarksThatNothingNeedsAreDropped(t *testing.T) {
	var times Times
	for i := range int64(100) {
		times.Look(1+i*10, i*second, i*second+1)
	}
	at := map[int64]int64{}
	needed := []int64{1, 55, 61, 700}
	for _, r := range needed {
		at[r], _ = times.At(r, 1000*second)
	}
	times.Keep(needed)
	if n := len(times.Marks()); n != 4 {
		t.Errorf("%d marks are left, want those of 1, of 55 and 61, of 700, and the last", n)
	}
	for _, r := range needed {
		if got, _ := times.At(r, 1000*second); got != at[r] {
			t.Errorf("revision %d moved from %d to %d", r, at[r], got)
		}
	}
}
