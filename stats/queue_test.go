// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestQueuesAddUpByPriority(t *testing.T) {
	a := []Queue{{Priority: 0, Ready: 2, OldestSince: 50, UnservedSince: 60, Served: 7, QuoteSwitches: 1}, {Priority: 3, Served: 4}}
	b := []Queue{{Priority: 3, Ready: 1, OldestSince: 40, UnservedSince: 45, Served: 5}, {Priority: 7, Ready: 1, OldestSince: 9, UnservedSince: 9}}
	want := []Queue{a[0], {Priority: 3, Ready: 1, OldestSince: 40, UnservedSince: 45, Served: 9}, b[1]}
	if d := cmp.Diff(want, MergeQueues(a, b)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if d := cmp.Diff(want, MergeQueues(b, a)); d != "" {
		t.Errorf("the other way round (-want +got):\n%s", d)
	}
	both := MergeQueues(a[:1], []Queue{{Priority: 0, Ready: 1, OldestSince: 55, UnservedSince: 30, Served: 1, QuoteSwitches: 2}})
	if d := cmp.Diff([]Queue{{Ready: 3, OldestSince: 50, UnservedSince: 30, Served: 8, QuoteSwitches: 3}}, both); d != "" {
		t.Errorf("each time is the earlier one (-want +got):\n%s", d)
	}
}

func TestQueuesOfOtherOrderOrPriorityAreNotValid(t *testing.T) {
	for name, c := range map[string]struct {
		queues []Queue
		want   bool
	}{
		"none":          {nil, true},
		"some, rising":  {[]Queue{{Priority: 0}, {Priority: 3}, {Priority: 7}}, true},
		"falling":       {[]Queue{{Priority: 3}, {Priority: 2}}, false},
		"twice":         {[]Queue{{Priority: 3}, {Priority: 3}}, false},
		"beyond the p7": {[]Queue{{Priority: Priorities}}, false},
	} {
		if got := ValidQueues(c.queues); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestShiftMovesTheTimesOfAQueue(t *testing.T) {
	q := Queue{Priority: 1, Ready: 1, OldestSince: 100, Served: 9}
	q.Shift(50)
	if want := (Queue{Priority: 1, Ready: 1, OldestSince: 150, Served: 9}); q != want {
		t.Errorf("%+v, want %+v", q, want)
	}
}

func TestRecorderCountsWhatBecomesOfActions(t *testing.T) {
	rec := NewRecorder(0, 3)
	rec.Failed(1)
	rec.Retried(1)
	rec.Retried(1)
	rec.Cancelled(1)
	rec.TimedOut(1)
	rec.Late(1)
	rec.Ran(2, 0, 100, 300)
	rec.Ran(2, 0, 300, 200) // the clock went back
	rec.Fired(2, 300)
	rows := NewRows(0, 3)
	rec.AddTo(rows)
	var took Histogram
	took.Observe(200)
	took.Observe(0)
	want := NewRows(0, 3)
	want.Transitions[1] = Transition{Failures: 1, Retries: 2, Cancels: 2, Timeouts: 1, Late: 1}
	want.Transitions[2] = Transition{Firings: 1, LastFiring: 300, Duration: took}
	if d := cmp.Diff(want, rows); d != "" {
		t.Errorf("a time-out is a cancel too (-want +got):\n%s", d)
	}
}

// The cells of durations are kilobytes a transition.
func TestTransitionsWithoutActionsCostNothingMore(t *testing.T) {
	rec := NewRecorder(1, 3)
	rec.Fired(0, 1)
	rec.Failed(1)
	if rec.actions != nil {
		t.Error("something is kept for actions although there are none")
	}
	rec.Ran(2, 0, 1, 2)
	if rec.actions[0] != nil || rec.actions[1] != nil {
		t.Error("something is kept for transitions without an action")
	}
}

func TestTransitionRowsEqualSeesTimeoutsAndLateAnswers(t *testing.T) {
	var none Transition
	for name, other := range map[string]Transition{"timeouts": {Timeouts: 1}, "late": {Late: 1}} {
		if none.Equal(&other) {
			t.Errorf("%s make no difference", name)
		}
	}
}
