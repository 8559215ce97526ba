// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/pnagent/pnagent/engine/journal"
	"github.com/pnagent/pnagent/engine/plain"
	"github.com/pnagent/pnagent/internal/seeds"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/petritest"
)

// brokenDisk is a journal whose disk fails at some write, in one of several ways.
type brokenDisk struct {
	journal.Log
	dir   string
	how   string
	limit int          // largest entry
	until atomic.Int32 // entries that are written before the disk fails
	mu    sync.Mutex
	cause error
}

// faults are the ways in which a disk fails.
var faults = []string{"nothing is written", "a part of an entry is written", "all is written and not synced", "a sync fails later"}

func (f *brokenDisk) CommitLimit() int { return f.limit }

func (f *brokenDisk) failed() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.cause
}

func (f *brokenDisk) fail(op string, no syscall.Errno) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.cause == nil {
		cause := &fs.PathError{Op: op, Path: filepath.Join(f.dir, "0001.segment"), Err: no}
		f.cause = fmt.Errorf("%w: append: %w", journal.ErrStopped, cause)
	}
	return f.cause
}

func (f *brokenDisk) Append(ctx context.Context, last uint64, commits ...[]byte) (uint64, error) {
	if err := f.failed(); err != nil {
		return last, err
	}
	if f.until.Add(-1) >= 0 {
		return f.Log.Append(ctx, last, commits...)
	}
	switch f.how {
	case faults[0]:
		return last, f.fail("write", syscall.ENOSPC)
	case faults[1]:
		return last, f.fail("write", syscall.EIO)
	case faults[2]:
		if _, err := f.Log.Append(ctx, last, commits...); err != nil {
			return last, err
		}
		return last, f.fail("sync", syscall.EIO)
	}
	number, err := f.Log.Append(ctx, last, commits...)
	f.fail("sync", syscall.EIO)
	return number, err
}

func (f *brokenDisk) Confirm(ctx context.Context, upTo uint64) error {
	if err := f.failed(); err != nil {
		return err
	}
	return f.Log.Confirm(ctx, upTo)
}

func (f *brokenDisk) Sync(ctx context.Context, now int64) error {
	if err := f.failed(); err != nil {
		return err
	}
	return f.Log.Sync(ctx, now)
}

// tear leaves a part of a record at the end of the journal.
func tear(t *testing.T, dir string, rnd *rand.Rand) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.segment"))
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	out, err := os.OpenFile(names[len(names)-1], os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = out.Write(bytes.Repeat([]byte{1}, 1+rnd.IntN(40)))
	if err := errors.Join(err, out.Close()); err != nil {
		t.Fatal(err)
	}
}

const askedInstances = 24

func outcomeConfig(t *testing.T, log journal.Log, workers int) Config {
	net := &petri.Net{ID: "n", Places: []petri.Place{{ID: "p", Initial: 1}, {ID: "q"}}, Transitions: []petri.Transition{{ID: "t"}},
		Arcs: []petri.Arc{{ID: "1", Source: "p", Target: "t", Weight: 1}, {ID: "2", Source: "t", Target: "q", Weight: 1}}}
	return Config{Source: "s", Instances: askedInstances, Workers: workers, Journal: log,
		Nets: []NetConfig{{Tables: petritest.Compile(t, net), Transitions: []Transition{{Mode: plain.Mode{Kind: plain.Manual}}}}}}
}

// However the disk fails under a request, and however the engine ends: a request
// that was answered as done is there after the restart, one that was refused is
// not, and the next engine knows of the others by their keys.
func TestWhatIsSaidOfARequestIsTrueAfterTheRestart(t *testing.T) {
	var unknown atomic.Int32
	n := 0
	for seed := range seeds.Of(5, 120, 69, 57, 41, 25, 81) {
		n++
		rnd := rand.New(rand.NewPCG(seed, 7))
		how := faults[seed%4]
		t.Run(fmt.Sprintf("%d, %s", seed, how), func(t *testing.T) { unknown.Add(int32(askedUntilItFails(t, rnd, how))) })
	}
	if n > 1 && unknown.Load() == 0 {
		t.Error("no outcome was unknown")
	}
}

func askedUntilItFails(t *testing.T, rnd *rand.Rand, how string) (unknown int) {
	dir := t.TempDir()
	options := journal.Options{Mode: journal.SyncMode(rnd.IntN(3))}
	file, _, err := journal.Open(dir, options)
	if err != nil {
		t.Fatal(err)
	}
	log := &brokenDisk{Log: file, dir: dir, how: how, limit: journal.MaxCommit}
	log.until.Store(1 << 20)
	e, err := New(outcomeConfig(t, log, 1+rnd.IntN(3)))
	if err != nil {
		t.Fatal(err)
	}
	log.until.Store(rnd.Int32N(20))
	log.limit = []int{journal.MaxCommit, 5}[rnd.IntN(2)] // so that a commit has several entries
	runs := rnd.IntN(4) > 0
	stop := func() {}
	if runs {
		stop = alive(t, e)
	} else { // requests after the end of Run
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_ = e.Run(ctx) // its snapshot may fail
	}
	said := make([]error, askedInstances)
	var asking sync.WaitGroup
	for i := range said {
		ask := func() { said[i] = e.Fire(t.Context(), "n", i, "t") }
		asking.Go(ask)
		if !runs {
			asking.Wait()
		}
	}
	asking.Wait()
	stop()
	file.Close() // it may have stopped
	if how == faults[1] && log.failed() != nil {
		tear(t, dir, rnd)
	}
	file, _, err = journal.Open(dir, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	next, err := New(outcomeConfig(t, file, 1+rnd.IntN(3)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(alive(t, next))
	for i, err := range said {
		m, failed := next.Marking(t.Context(), "n", i)
		if failed != nil {
			t.Fatal(failed)
		}
		unknown += judged(t, next, err, m[1] == 1)
	}
	return unknown
}

// judged checks what was said of a request against whether it was done; it
// returns 1 if that was not known.
func judged(t *testing.T, next *Engine, err error, done bool) int {
	t.Helper()
	if err != nil && strings.Contains(Public(err), string(filepath.Separator)+"tmp") {
		t.Errorf("another program gets %q", Public(err))
	}
	var u *UnknownError
	switch {
	case err == nil && !done:
		t.Error("a request was answered as done, and is not there")
	case errors.As(err, &u):
		if is, err := next.Outcome(t.Context(), u.Key); err != nil || is != done {
			t.Errorf("key %s: done %t, %v; want %t", u.Key, is, err, done)
		}
		return 1
	case err != nil && done:
		t.Errorf("a request was done that was answered with %v", err)
	case err != nil && !errors.Is(err, ErrNotExecuted):
		t.Errorf("%v; want that it was not executed", err)
	}
	return 0
}

func TestAKeyOfAnotherJournalOrOfNoneIsNotAnswered(t *testing.T) {
	file, _, err := journal.Open(t.TempDir(), journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	e, err := New(outcomeConfig(t, file, 1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(alive(t, e))
	now := e.recorder.head.Created
	for key, unknown := range map[string]bool{"": false, "1/2": false, "1/2/3x": false, "1/2/3": true, fmt.Sprintf("%d/%d/%d", now, e.Standing().Epoch, 1<<40): true,
		fmt.Sprintf("%d/1/1", now): true} {
		if done, err := e.Outcome(t.Context(), key); err == nil || done || errors.Is(err, ErrUnknown) != unknown {
			t.Errorf("%q: %t, %v; want an error, unknown %t", key, done, err, unknown)
		}
	}
	none, err := New(Config{Source: "s", Nets: outcomeConfig(t, nil, 1).Nets, Instances: 1, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := none.Outcome(t.Context(), "1/2/3"); !errors.Is(err, ErrUnknown) {
		t.Errorf("%v; want that it is not known", err)
	}
}
