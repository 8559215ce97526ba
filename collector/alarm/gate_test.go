// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// numbered returns a change with an index.
func numbered(i int) Change { return Change{Alarm: Alarm{Index: uint32(i)}, Raise: true} }

func changesOf(indices ...int) (all []Change) {
	for _, i := range indices {
		all = append(all, numbered(i))
	}
	return all
}

func TestGate(t *testing.T) {
	const second = int64(1e6)
	type at struct {
		now     int64 // seconds
		changes []Change
		on      bool
		from    int64 // seconds
		sent    []Change
	}
	for _, c := range []struct {
		rule    string
		steps   []at
		skipped Skipped
	}{
		{"who is on duty tells at once, whenever it went on duty",
			[]at{{1, changesOf(1, 2), true, 0, changesOf(1, 2)}, {2, changesOf(3), true, 99, changesOf(3)}}, Skipped{}},
		{"what others may not have sent is sent at a take-over, in order and once, what they sent is skipped",
			[]at{{1, changesOf(1), false, 0, nil}, {5, changesOf(2), false, 0, nil}, {6, changesOf(3), false, 0, nil},
				{7, changesOf(4), true, 5, changesOf(2, 3, 4)}, {8, nil, true, 5, nil}}, Skipped{Standby: 1}},
		{"without another sidecar before, everything is sent",
			[]at{{1, changesOf(1), false, 0, nil}, {4, nil, true, 0, changesOf(1)}}, Skipped{}},
		{"what is older than half a minute is skipped",
			[]at{{1, changesOf(1), false, 0, nil}, {31, changesOf(2), false, 0, nil}, {32, nil, false, 0, nil}, {33, nil, true, 0, changesOf(2)}},
			Skipped{Standby: 1}},
		{"also where no view came since",
			[]at{{1, changesOf(1), false, 0, nil}, {32, nil, true, 0, nil}}, Skipped{Standby: 1}},
		{"a clock that was set back loses nothing",
			[]at{{100, changesOf(1), false, 0, nil}, {10, changesOf(2), false, 0, nil}, {11, nil, true, 0, changesOf(1, 2)}}, Skipped{}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			var g gate
			for _, s := range c.steps {
				sent := g.pass(s.changes, s.now*second, s.on, s.from*second)
				if diff := cmp.Diff(s.sent, sent); diff != "" {
					t.Errorf("at %d s, -want +sent:\n%s", s.now, diff)
				}
			}
			if g.skipped != c.skipped {
				t.Errorf("skipped %+v, want %+v", g.skipped, c.skipped)
			}
		})
	}
}

//promise:dropped load
func TestTheGateIsBoundedAndCountsTheRest(t *testing.T) {
	var g gate
	g.pass(changesOf(slices.Repeat([]int{1}, keepMax)...), 0, false, 0)
	g.pass(changesOf(2, 3), 1, false, 0)
	sent := g.pass(nil, 2, true, 0)
	if n := len(sent); n != keepMax || sent[n-1].Alarm.Index != 3 || g.skipped != (Skipped{Overflow: 2}) {
		t.Errorf("%d are sent, %+v skipped", n, g.skipped)
	}
}
