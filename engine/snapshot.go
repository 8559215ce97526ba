// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/pnagent/pnagent/engine/journal"
)

// snapshotAfter is the default of Config.SnapshotAfter.
const snapshotAfter = 64 << 20

// keepEvery is the time between two looks at a journal that has something to do.
const keepEvery = 50 * time.Millisecond

// keep syncs the journal and saves the state regularly until ctx ends. While nothing is written
// it sleeps, if the journal can say that it has nothing to do; other logs may stop by themselves.
func (e *Engine) keep(ctx context.Context) error {
	r := e.recorder
	resting, _ := r.log.(interface{ Idle() bool })
	pause := time.NewTimer(keepEvery)
	defer pause.Stop()
	var notBefore time.Time // the next snapshot, after one that failed
	for {
		select {
		case <-pause.C:
		case <-ctx.Done():
			return nil
		}
		if err := r.log.Sync(context.WithoutCancel(ctx), e.cfg.Clock()); err != nil {
			return fmt.Errorf("syncing the journal: %w", err)
		}
		r.mu.Lock()
		grown, failed := r.grown, r.failed
		r.mu.Unlock()
		if failed != nil {
			return failed // which so far only a call from outside may have returned
		}
		due := grown > e.cfg.SnapshotAfter
		if due && !time.Now().Before(notBefore) {
			before := e.snapshotsFailed.Load()
			if err := e.trySnapshot(ctx); err != nil {
				return err
			}
			if e.snapshotsFailed.Load() != before {
				notBefore = time.Now().Add(snapshotRetry)
			}
		}
		if resting != nil && !due && resting.Idle() {
			select {
			case <-r.written:
			case <-ctx.Done():
				return nil
			}
		}
		pause.Reset(keepEvery)
	}
}

// SaveSnapshot saves a snapshot of the journal now. The engine must run. A snapshot that
// fails is logged; the error is that of a journal that has failed.
func (e *Engine) SaveSnapshot(ctx context.Context) error { return e.trySnapshot(ctx) }

// snapshotRetry is how long after a snapshot that failed the next one is tried.
const snapshotRetry = time.Second

// trySnapshot saves the state. A snapshot that fails is logged and counted: the
// log is complete without it, and the next one is tried later. The error is
// that of a log that has failed.
func (e *Engine) trySnapshot(ctx context.Context) error {
	err := e.saveState(ctx)
	switch failure := e.recorder.failure(); {
	case err == nil:
		return nil
	case failure != nil:
		return failure
	case errors.Is(err, journal.ErrStopped):
		return err
	case ctx.Err() != nil:
		return nil //nolint:nilerr // the caller ends in any case, and its next process saves
	}
	e.snapshotsFailed.Add(1)
	e.cfg.Log.Warn("snapshot not saved", "source", e.cfg.Source, "region", e.region(), "failed", e.snapshotsFailed.Load(), "err", err)
	return nil
}

// saveState saves the state of all instances as a snapshot of the journal. The
// workers are paused while it is built, not while it is written.
func (e *Engine) saveState(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	release := make(chan struct{})
	arrived := make(chan error, len(e.workers))
	var still sync.WaitGroup
	for _, w := range e.workers {
		still.Go(func() {
			err := e.call(ctx, w, func(int64) {
				arrived <- nil
				<-release
			})
			if err != nil {
				arrived <- err
			}
		})
	}
	var failed error
	for range e.workers {
		failed = errors.Join(failed, <-arrived)
	}
	var state []byte
	var upTo uint64
	var grown int
	if failed == nil {
		state, upTo, grown, failed = e.appendState()
	}
	close(release)
	still.Wait()
	if failed != nil {
		return failed
	}
	err := e.recorder.log.SaveSnapshot(ctx, upTo, func(dst io.Writer) error {
		_, err := dst.Write(state)
		return err
	})
	if err != nil {
		return fmt.Errorf("saving the journal's snapshot: %w", err)
	}
	e.recorder.mu.Lock()
	defer e.recorder.mu.Unlock()
	e.recorder.grown -= grown
	return nil
}

// saveHeader returns the header of a snapshot. The workers must be paused.
func (e *Engine) saveHeader() (head header, err error) {
	r := e.recorder
	if r.head.Part != nil {
		head = r.head
		head.Queues = e.queuesSoFar()
		head.Part, err = e.savePart()
		return head, err
	}
	var counts [][]byte
	for k := range e.cfg.Nets {
		text, err := e.counts(k)
		if err != nil {
			return head, err
		}
		counts = append(counts, text)
	}
	queues := e.queuesSoFar()
	r.mu.Lock()
	defer r.mu.Unlock()
	head = r.head
	head.Owns, head.Counts, head.Queues, head.Starts = r.owns, counts, queues, slices.Clone(r.starts)
	return head, nil
}

// queuesSoFar returns what commits have recorded of the queues. The workers
// must be paused.
func (e *Engine) queuesSoFar() []queueCounts {
	all := slices.Clone(e.recorder.queues)
	for _, w := range e.workers {
		for net := range w.noted {
			for p, more := range w.noted[net] {
				all[net].add(p, more)
			}
		}
	}
	return all
}

// appendState returns the state of all shards, which must be paused, the number
// of the last commit in it, and by how much the log has grown since the last
// snapshot.
func (e *Engine) appendState() (state []byte, upTo uint64, grown int, err error) {
	r := e.recorder
	head, err := e.saveHeader()
	if err != nil {
		return nil, 0, 0, err
	}
	if state, err = json.Marshal(head); err != nil {
		return nil, 0, 0, err
	}
	state = append(state, '\n')
	for k := range e.cfg.Nets {
		state = binary.AppendUvarint(state, uint64(len(e.workers)))
		for _, w := range e.workers {
			state = w.shards[k].AppendState(state)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return state, r.last, r.grown, r.failed
}
