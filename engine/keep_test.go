// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pnagent/pnagent/engine/journal"
	"github.com/pnagent/pnagent/engine/plain"
	"github.com/pnagent/pnagent/petri/petritest"
)

// syncs is a journal that counts how often it is asked to sync.
type syncs struct {
	*journal.File
	n atomic.Int64
}

func (s *syncs) Sync(ctx context.Context, now int64) error {
	s.n.Add(1)
	return s.File.Sync(ctx, now)
}

// The journal of an engine at rest is left alone. What is written after an hour is durable
// within 150 ms.
func TestTheJournalOfAnEngineAtRestIsLeftAlone(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		f, _, err := journal.Open(dir, journal.Options{})
		if err != nil {
			t.Fatal(err)
		}
		log := &syncs{File: f}
		e := newEngine(t, Config{Source: "s", Instances: 10, Workers: 1, Journal: log,
			Nets: []NetConfig{{Tables: petritest.Compile(t, desk("n", 1)), Transitions: fire(plain.Mode{Kind: plain.Manual})}}})
		stop := start(t, e)
		time.Sleep(time.Second)
		began := log.n.Load()
		time.Sleep(time.Hour)
		if n := log.n.Load() - began; n > 0 || f.Durable() != f.Last() {
			t.Errorf("%d syncs in an hour without a change; durable up to commit %d of %d", n, f.Durable(), f.Last())
		}
		before := f.Last()
		if err := e.Fire(t.Context(), "n", 0, "work"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(150 * time.Millisecond)
		if f.Last() == before || f.Durable() != f.Last() {
			t.Errorf("durable up to commit %d of %d; expected %d or more", f.Durable(), f.Last(), before+1)
		}
		stop()
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
}

// A failure that only a call from outside has returned ends an engine at rest.
func TestAFailureOfTheJournalEndsAnEngineAtRest(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		f, _, err := journal.Open(dir, journal.Options{})
		if err != nil {
			t.Fatal(err)
		}
		e := newEngine(t, Config{Source: "s", Instances: 1, Workers: 1, Journal: f,
			Nets: []NetConfig{{Tables: petritest.Compile(t, desk("n", 1)), Transitions: fire(plain.Mode{Kind: plain.Manual})}}})
		ended := make(chan error, 1)
		go func() { ended <- e.Run(t.Context()) }()
		time.Sleep(time.Minute)
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if err := e.Fire(t.Context(), "n", 0, "work"); err == nil {
			t.Error("a firing that is not in the journal has taken place")
		}
		time.Sleep(time.Second)
		select {
		case err := <-ended:
			if err == nil {
				t.Error("the engine ends without the failure")
			}
		default:
			t.Error("the engine does not end")
		}
	})
}
