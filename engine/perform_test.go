// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/pnagent/pnagent/engine/action"
	"github.com/pnagent/pnagent/engine/coloured"
)

// theatre performs actions in a test and collects how they ended.
type theatre struct {
	*performers
	answers *answers
	last    coloured.RunID
}

func newTheatre(limit int) *theatre {
	return &theatre{performers: &performers{limit: limit}, answers: newAnswers()}
}

func (s *theatre) play(do ...action.Func) []*performance {
	var all []*performance
	for _, f := range do {
		s.last++
		all = append(all, &performance{acts: &actions{}, run: action.Run{Start: coloured.Start{Run: s.last}}, do: f, answers: s.answers})
	}
	s.start(all)
	return all
}

func fires(context.Context, *action.Run) (coloured.Outcome, error) { return coloured.Outcome{}, nil }

// outlasts returns an action that returns when it is let go, whatever its
// context says.
func outlasts(release chan struct{}) action.Func {
	return func(context.Context, *action.Run) (coloured.Outcome, error) {
		<-release
		return coloured.Outcome{}, nil
	}
}

func TestAnActionThatPanicsOrEndsItsGoroutineFailsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTheatre(1)
		s.play(
			func(context.Context, *action.Run) (coloured.Outcome, error) { panic("no such order") },
			func(context.Context, *action.Run) (coloured.Outcome, error) {
				runtime.Goexit()
				return coloured.Outcome{}, nil
			},
			func(context.Context, *action.Run) (coloured.Outcome, error) {
				return coloured.Outcome{}, errors.New("no route")
			},
			fires)
		synctest.Wait()
		want := []struct {
			kind coloured.OutcomeKind
			err  string
		}{{coloured.Failed, "panic: no such order"}, {coloured.Failed, "the action ended its goroutine"}, {coloured.Failed, "no route"}, {coloured.Fired, ""}}
		got := s.answers.take(nil)
		if len(got) != len(want) {
			t.Fatalf("%d answers; expected %d", len(got), len(want))
		}
		for i, a := range got {
			if int(a.run) != i+1 || a.outcome.Kind != want[i].kind || !strings.HasPrefix(a.outcome.Err, want[i].err) {
				t.Errorf("answer %d is of run %d: %v %q; expected %v", i, a.run, a.outcome.Kind, a.outcome.Err, want[i])
			}
		}
		if s.running != 0 {
			t.Errorf("%d actions are running", s.running)
		}
	})
}

func TestNoMoreActionsThanTheLimitRunAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTheatre(2)
		release := make(chan struct{})
		for range 5 {
			s.play(outlasts(release))
		}
		synctest.Wait()
		for left := 5; left > 0; left-- {
			if want := min(left, 2); s.running != want {
				t.Errorf("%d are running while %d are left; expected %d", s.running, left, want)
			}
			release <- struct{}{}
			synctest.Wait()
		}
		if n := len(s.answers.take(nil)); n != 5 {
			t.Errorf("%d answers; expected 5", n)
		}
	})
}

func TestAnActionThatIgnoresItsEndBlocksNoOther(t *testing.T) {
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
		if s.running != 0 || s.head != 0 || len(s.queue) != 0 {
			t.Errorf("%d are running, %d wait", s.running, len(s.queue)-s.head)
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
