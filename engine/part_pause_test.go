// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/pnagent/pnagent/engine"
	"github.com/pnagent/pnagent/engine/region"
	"github.com/pnagent/pnagent/engine/region/regiontest"
	"github.com/pnagent/pnagent/petri/split"
)

// pausing is a log whose writer is stopped, as by SIGSTOP, at its next append
// in one of its steps: before the entry is stored, or before the confirmation
// arrives.
type pausing struct {
	*regiontest.Log
	at      pause
	step    int
	stopped bool
	goesOn  chan struct{}
}

func (l *pausing) Append(ctx context.Context, last uint64, commits ...[]byte) (n uint64, err error) {
	if l.step != l.at.step || l.stopped {
		return l.Log.Append(ctx, last, commits...)
	}
	l.stopped = true
	if l.at.stored {
		n, err = l.Log.Append(ctx, last, commits...)
	}
	<-l.goesOn
	if !l.at.stored {
		n, err = l.Log.Append(ctx, last, commits...)
	}
	return n, err
}

// The steps of an owner. Who finds the tokens there may have nothing to write at
// the second one.
const (
	stepLead = 1 + iota
	stepArrive
	stepPut
	stepRelease
	steps = stepRelease
)

// relayed has three tokens leave region one for region two, once.
func relayed(t *testing.T, cfg engine.Config, parts []region.Part, logs *regiontest.Server) {
	one := ownerOf(t, cfg, parts[0], logs.Open("one", nil))
	end := running(one)
	for range 3 {
		if err := one.Fire(t.Context(), "relay", 0, "t1"); err != nil {
			t.Fatal(err)
		}
	}
	if err := end(); err != nil {
		t.Fatal(err)
	}
}

// tenure is what an owner of region two does until an error shows that it was
// replaced.
func tenure(ctx context.Context, e *engine.Engine, begins func(step int)) (done int, err error) {
	const upstream = 5 // the commit with the last of the tokens
	for step := stepLead; step <= steps && err == nil; step++ {
		begins(step)
		switch step {
		case stepLead:
			err = e.Lead(ctx)
		case stepArrive:
			at := e.Standing().Cursors[0].Position
			if at < upstream {
				err = e.Arrive(ctx, 0, engine.Cursor{Position: upstream}, []split.Crossing{{Instance: 0, Place: 1, Tokens: 3}})
			}
			if err == nil {
				err = e.Turn()
			}
		case stepPut:
			err = e.Put(1, 1, nil, 1)
		case stepRelease:
			err = e.Release(ctx, "")
		}
		if err == nil {
			done = step
		}
	}
	return done, err
}

// Two owners are stopped, each at any of its steps, before or after its entry
// was stored. Each is replaced meanwhile, and both continue when a third one
// has played. What was stored counts, once, and nothing else.
//
//promise:owner pause
func TestOwnersThatAreStoppedAtAnyStep(t *testing.T) {
	for _, first := range pauses() {
		for _, second := range pauses() {
			t.Run(fmt.Sprintf("%v, %v", first, second), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { stopTwo(t, first, second) })
			})
		}
	}
}

type pause struct {
	step   int
	stored bool
}

func (p pause) String() string {
	return fmt.Sprintf("%s stored: %t", []string{"", "lead", "arrive", "put", "release"}[p.step], p.stored)
}

func pauses() (all []pause) {
	for step := stepLead; step <= steps; step++ {
		all = append(all, pause{step, false}, pause{step, true})
	}
	return all
}

// stopped is an owner that was stopped.
type stopped struct {
	*pausing
	done  int // steps
	err   error
	ended chan struct{}
}

// stop makes an engine own region two until it is stopped.
func stop(t *testing.T, cfg engine.Config, log *regiontest.Log, at pause) *stopped {
	s := &stopped{pausing: &pausing{Log: log, at: at, goesOn: make(chan struct{})}, ended: make(chan struct{})}
	cfg.Source, cfg.Journal = fmt.Sprint("stopped at ", at), s.pausing
	e, err := engine.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(s.ended)
		s.done, s.err = tenure(t.Context(), e, func(step int) { s.step = step })
	}()
	synctest.Wait()
	return s
}

// has reports whether what was done at a step is in the log.
func (s *stopped) has(step int) bool {
	return !s.stopped || s.at.step > step || s.at.step == step && s.at.stored
}

func stopTwo(t *testing.T, first, second pause) {
	cfg, parts := relay(t, nil)
	logs := regiontest.NewServer()
	relayed(t, cfg, parts, logs)
	cfg.Part = &parts[1].Part
	var owners []*stopped
	puts := uint64(1) // by the third
	for _, at := range []pause{first, second} {
		s := stop(t, cfg, logs.Open("two", nil), at)
		if s.has(stepPut) {
			puts++
		}
		owners = append(owners, s)
	}
	cfg.Source, cfg.Journal = "third", logs.Open("two", nil)
	third, err := engine.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if done, err := tenure(t.Context(), third, func(int) {}); done != steps || err != nil {
		t.Fatalf("the third owner has come to step %d: %v", done, err)
	}
	last := logs.Open("two", nil).Last()
	for _, s := range owners {
		close(s.goesOn)
		<-s.ended
		if s.has(stepRelease) != (s.err == nil) {
			t.Errorf("an owner that was stopped at %v has come to step %d: %v", s.at, s.done, s.err)
		}
	}
	if after := logs.Open("two", nil).Last(); after != last {
		t.Errorf("commits up to %d after %d: of owners that were replaced", after, last)
	}
	cfg.Journal = logs.Open("two", nil)
	late, err := engine.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if late.Standing().Chain != third.Standing().Chain {
		t.Error("the chains differ")
	}
	if got := tokensAt(t, late, 1); got != 3+puts || late.Standing().Cursors[0].Position != 5 {
		t.Errorf("%d tokens; want 3 that arrived and %d that were put", got, puts)
	}
}
