// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/pnagent/pnagent/action"
	"github.com/pnagent/pnagent/colour"
)

// theatre performs actions in a test and collects how they ended.
type theatre struct {
	*performers
	answers *answers
	last    colour.RunID
}

func newTheatre(limit int) *theatre {
	return &theatre{performers: &performers{limit: limit}, answers: newAnswers()}
}

func (s *theatre) play(do ...action.Func) []*performance {
	var all []*performance
	for _, f := range do {
		s.last++
		all = append(all, &performance{acts: &actions{}, run: action.Run{Start: colour.Start{Run: s.last}}, do: f, answers: s.answers})
	}
	s.start(all)
	return all
}

func fires(context.Context, *action.Run) (colour.Outcome, error) { return colour.Outcome{}, nil }

// outlasts returns an action that returns when it is let go, whatever its
// context says.
func outlasts(release chan struct{}) action.Func {
	return func(context.Context, *action.Run) (colour.Outcome, error) {
		<-release
		return colour.Outcome{}, nil
	}
}

func TestAnActionThatPanicsOrEndsItsGoroutineFailsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTheatre(1)
		s.play(
			func(context.Context, *action.Run) (colour.Outcome, error) { panic("no such order") },
			func(context.Context, *action.Run) (colour.Outcome, error) {
				runtime.Goexit()
				return colour.Outcome{}, nil
			},
			func(context.Context, *action.Run) (colour.Outcome, error) {
				return colour.Outcome{}, errors.New("no route")
			},
			fires)
		synctest.Wait()
		want := []struct {
			kind colour.OutcomeKind
			err  string
		}{{colour.Failed, "panic: no such order"}, {colour.Failed, "the action ended its goroutine"}, {colour.Failed, "no route"}, {colour.Fired, ""}}
		got := s.answers.take(nil)
		if len(got) != len(want) {
			t.Fatalf("%d answers; expected %d", len(got), len(want))
		}
		for i, a := range got {
			if int(a.run) != i+1 || a.outcome.Kind != want[i].kind || !strings.HasPrefix(a.outcome.Err, want[i].err) {
				t.Errorf("answer %d is of run %d: %v %q; expected %v", i, a.run, a.outcome.Kind, a.outcome.Err, want[i])
			}
		}
		if s.going != 0 {
			t.Errorf("%d actions go on", s.going)
		}
	})
}

func TestNoMoreActionsThanTheLimitGoOnAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTheatre(2)
		release := make(chan struct{})
		for range 5 {
			s.play(outlasts(release))
		}
		synctest.Wait()
		for left := 5; left > 0; left-- {
			if want := min(left, 2); s.going != want {
				t.Errorf("%d go on while %d are left; expected %d", s.going, left, want)
			}
			release <- struct{}{}
			synctest.Wait()
		}
		if n := len(s.answers.take(nil)); n != 5 {
			t.Errorf("%d answers; expected 5", n)
		}
	})
}

func TestAnActionThatIgnoresItsEndHoldsUpNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTheatre(1)
		release := make(chan struct{})
		all := s.play(outlasts(release), fires, fires)
		synctest.Wait()
		s.end(all[:2]) // the second waits: it is never begun
		if cause := context.Cause(all[0].ctx); !errors.Is(cause, ErrRunOver) {
			t.Errorf("its context ended with %v", cause)
		}
		synctest.Wait()
		got := s.answers.take(nil)
		if len(got) != 1 || got[0].run != 3 {
			t.Errorf("answers %v; expected that of run 3 alone", got)
		}
		close(release)
		synctest.Wait()
		if got := s.answers.take(got); len(got) != 1 || got[0].run != 1 {
			t.Errorf("answers %v; expected the late one of run 1", got)
		}
		if s.going != 0 || s.head != 0 || len(s.queue) != 0 {
			t.Errorf("%d go on, %d wait", s.going, len(s.queue)-s.head)
		}
	})
}

// BenchmarkPerform is what an action costs that completes at once, from start to
// answer.
func BenchmarkPerform(b *testing.B) {
	s := newTheatre(1024)
	batch := make([]*performance, 1024)
	var got []answer
	b.ReportAllocs()
	for left := b.N; left > 0; left -= len(batch) {
		for i := range batch {
			batch[i] = &performance{acts: &actions{}, do: fires, answers: s.answers}
		}
		s.start(batch)
		for n := 0; n < len(batch); n += len(got) {
			<-s.answers.some
			got = s.answers.take(got)
		}
	}
}
