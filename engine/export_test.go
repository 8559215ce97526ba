// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"io"
)

// Turn does what the worker of a part does between two looks at the clock.
func (e *Engine) Turn() error {
	w := e.workers[0]
	now := w.now()
	if err := w.arrive(now); err != nil {
		return err
	}
	w.step(now)
	return w.flush(now)
}

// Put has tokens come from outside, and writes that down.
func (e *Engine) Put(instance, place int, data []byte, n uint32) error {
	w := e.workers[0]
	now := w.now()
	i, err := w.shards[0].Index(instance)
	if err == nil {
		err = w.shards[0].put(i, place, data, n, now)
	}
	if err != nil {
		return err
	}
	return w.flush(now)
}

// Save saves a snapshot of a part that stands still.
func (e *Engine) Save(ctx context.Context) error {
	state, upTo, err := e.appendState()
	if err != nil {
		return err
	}
	return e.recorder.log.SaveSnapshot(ctx, upTo, func(dst io.Writer) error {
		_, err := dst.Write(state)
		return err
	})
}

// Snapshot saves a snapshot of an engine that runs.
func (e *Engine) Snapshot(ctx context.Context) error { return e.saveState(ctx) }
