// SPDX-License-Identifier: Apache-2.0

package region

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pnagent/pnagent/engine"
	"github.com/pnagent/pnagent/engine/journal"
)

// remote is what a log of a part has that one in a file has not.
type remote interface {
	Follow(ctx context.Context, from uint64, each func(journal.Commit) error) error
	First(ctx context.Context) (uint64, error)
	Renew(ctx context.Context) error
	Doubt()
}

// confirming is a log in a file that counts what it is asked to confirm.
type confirming struct {
	journal.Log
	remote
	asked atomic.Int32
}

func (l *confirming) Confirm(ctx context.Context, upTo uint64) error {
	l.asked.Add(1)
	return l.Log.Confirm(ctx, upTo)
}

// An owner asks whether a commit is safe a moment after it has written it, and does not ask
// again.
func TestAnOwnerThatWritesNothingConfirmsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := memberOf(t, "m1")
		r := m.replicas[0]
		file, _, err := journal.Open(t.TempDir(), journal.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		log := &confirming{Log: file}
		cfg := m.cfg.Engine
		cfg.Journal, cfg.Part = newWritten(log, m.cfg.Conn, r.wrote), &m.cfg.Parts[0].Part
		e, err := engine.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- r.confirm(ctx, e) }()
		time.Sleep(confirmAfter + time.Microsecond) // the log's header is confirmed
		before := log.asked.Load()
		time.Sleep(time.Minute)
		if n := log.asked.Load() - before; n != 0 {
			t.Errorf("asked %d times in a minute without a commit", n)
		}
		for n, write := range []func() error{
			func() error { return e.Lead(ctx) },
			func() error { return e.Release(ctx, "m2") },
		} {
			before = log.asked.Load() // Lead and Release ask too
			if err := write(); err != nil {
				t.Fatal(err)
			}
			own := log.asked.Load() - before
			time.Sleep(confirmAfter)
			synctest.Wait()
			r.mu.Lock()
			sure := r.sure
			r.mu.Unlock()
			if want := e.Standing(); sure.Position != want.Position || sure.Epoch != want.Epoch {
				t.Errorf("commit %d is not known to be safe; only %d is", want.Position, sure.Position)
			}
			time.Sleep(time.Minute)
			if got := log.asked.Load() - before - own; got != 1 {
				t.Errorf("write %d: asked %d times; want once", n, got)
			}
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

type idle struct{ Log }

func (idle) Idle() bool { return true }

// An engine waits for the next commit where the log of its part has nothing to do.
func TestTheLogOfAnOwnerIsIdleWhereThatOfThePartIs(t *testing.T) {
	var log any = &written{Log: idle{}}
	resting, ok := log.(interface{ Idle() bool })
	if !ok || !resting.Idle() || (&written{Log: &still{}}).Idle() {
		t.Error("want what the log reports, and no rest of a log that does not report it")
	}
}

// A timer is set for a beat that is late. It does not end while beats are in time.
func TestBeatsInTimeAreLookedAtWhenTheyArrive(t *testing.T) {
	w := &watch{}
	at := func(d time.Duration) time.Time { return after(d) }
	w.look(at(0), at(0))
	if next := w.next(); next <= beatEvery {
		t.Errorf("the next look is due after %v, and the next beat after %v", next, beatEvery)
	}
	for late, want := range map[time.Duration]time.Duration{0: lateAfter, 20 * time.Millisecond: 40 * time.Millisecond, beatEvery: checkEvery, lateAfter: checkEvery, 150 * time.Millisecond: checkEvery} {
		w := &watch{beat: at(0), silent: late}
		if got := w.next(); got != want {
			t.Errorf("silent for %v: the next look is due after %v; want %v", late, got, want)
		}
	}
}

// A beat of this member rouses all its parts, that of an owner its part, and others none.
func TestWhichPartsABeatRouses(t *testing.T) {
	owner := &Beat{Source: "m2", Parts: []BeatPart{{Part: "two", Role: Owner, Epoch: 1}}}
	standby := &Beat{Source: "m3", Parts: []BeatPart{{Part: "one", Role: Standby}, {Part: "two", Role: Standby}}}
	for name, c := range map[string]struct {
		beat *Beat
		want [2]bool
	}{"of this member": {offer("m1", "one"), [2]bool{true, true}}, "of an owner": {owner, [2]bool{false, true}}, "of a standby": {standby, [2]bool{}}} {
		m := memberOf(t, "m1")
		m.roster.receive(c.beat, time.Now())
		for i, r := range m.replicas {
			if got := len(r.roused) == 1; got != c.want[i] {
				t.Errorf("a beat %s: part %q is roused: %v", name, r.part.Name, got)
			}
		}
	}
}
