// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// numbered is a change that is known by its index.
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
		told    []Change
	}
	for _, c := range []struct {
		rule    string
		steps   []at
		skipped Skipped
	}{
		{"who is on duty tells at once, whenever it went on duty",
			[]at{{1, changesOf(1, 2), true, 0, changesOf(1, 2)}, {2, changesOf(3), true, 99, changesOf(3)}}, Skipped{}},
		{"what others may not have told is told at a take-over, in order and once, what they told is skipped",
			[]at{{1, changesOf(1), false, 0, nil}, {5, changesOf(2), false, 0, nil}, {6, changesOf(3), false, 0, nil},
				{7, changesOf(4), true, 5, changesOf(2, 3, 4)}, {8, nil, true, 5, nil}}, Skipped{StandBy: 1}},
		{"without anybody before, everything is told",
			[]at{{1, changesOf(1), false, 0, nil}, {4, nil, true, 0, changesOf(1)}}, Skipped{}},
		{"what is older than half a minute is skipped",
			[]at{{1, changesOf(1), false, 0, nil}, {31, changesOf(2), false, 0, nil}, {32, nil, false, 0, nil}, {33, nil, true, 0, changesOf(2)}},
			Skipped{StandBy: 1}},
		{"also where no view came since",
			[]at{{1, changesOf(1), false, 0, nil}, {32, nil, true, 0, nil}}, Skipped{StandBy: 1}},
		{"a clock that was set back loses nothing",
			[]at{{100, changesOf(1), false, 0, nil}, {10, changesOf(2), false, 0, nil}, {11, nil, true, 0, changesOf(1, 2)}}, Skipped{}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			var g gate
			for _, s := range c.steps {
				told := g.pass(s.changes, s.now*second, s.on, s.from*second)
				if diff := cmp.Diff(s.told, told); diff != "" {
					t.Errorf("at %d s, -want +told:\n%s", s.now, diff)
				}
			}
			if g.skipped != c.skipped {
				t.Errorf("skipped %+v, want %+v", g.skipped, c.skipped)
			}
		})
	}
}

func TestGateKeepsAtMostSoMuchAndCountsTheRest(t *testing.T) {
	var g gate
	g.pass(changesOf(slices.Repeat([]int{1}, keepMax)...), 0, false, 0)
	g.pass(changesOf(2, 3), 1, false, 0)
	told := g.pass(nil, 2, true, 0)
	if n := len(told); n != keepMax || told[n-1].Alarm.Index != 3 || g.skipped != (Skipped{Overflow: 2}) {
		t.Errorf("%d are told, %+v skipped", n, g.skipped)
	}
}

func TestAStandByTellsNothingAndAtATakeOverWhatNobodyTold(t *testing.T) {
	for _, c := range []struct {
		rule    string
		onDuty  time.Duration // after the alarms are raised
		from    time.Duration // the same
		told    int
		skipped uint64
	}{
		{"the other one told it", 10 * time.Second, 5 * time.Second, 0, 3},
		{"the other one may not have told it", 10 * time.Second, -2 * time.Second, 3, 0},
		{"the other one told it long ago", time.Minute, -2 * time.Second, 0, 3},
	} {
		t.Run(c.rule, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &world{net: wide("n", 3, time.Now().UnixMicro())}
				raised := time.Now().Add(10 * time.Minute) // by the default rules
				var sink ear
				watcher := New(Config{View: w.view.Load, ForgetAfter: forgetAfter, Sinks: []Sink{{Name: "ear", Send: sink.hear}},
					Duty: func() (Duty, func()) {
						return Duty{On: time.Since(raised) >= c.onDuty, From: raised.Add(c.from).UnixMicro()}, func() {}
					}})
				w.run(t, watcher, 12*time.Minute)
				if n := len(watcher.State().Active); n != 3 {
					t.Errorf("%d alarms are active", n)
				}
				if told, _, _ := sink.count(); told != c.told {
					t.Errorf("%d are told, want %d", told, c.told)
				}
				if k := watcher.Counters(); k.Skipped.StandBy != c.skipped || k.Suppressed != 0 {
					t.Errorf("%+v skipped, %d suppressed", k.Skipped, k.Suppressed)
				}
			})
		})
	}
}
