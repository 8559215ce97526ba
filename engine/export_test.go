// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"io"

	"github.com/pnagent/pnagent/petri/split"
)

// Turn does what the worker of a part does between two looks at the clock.
func (e *Engine) Turn() error {
	w := e.workers[0]
	now := w.now()
	if err := w.arrive(now); err != nil {
		return err
	}
	w.follow(now)
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
	w.follow(now)
	return w.flush(now)
}

// Save saves a snapshot of a stopped part.
func (e *Engine) Save(ctx context.Context) error {
	state, upTo, _, err := e.appendState()
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

// Joiner puts the entries of a log together to commits.
type Joiner struct{ joiner }

// Add returns the commit that an entry is or completes; nil if more is to come.
func (j *Joiner) Add(entry []byte) ([]byte, error) { return j.add(entry) }

// Logged is what a commit of a part says.
type Logged struct {
	Ops       []byte         // of the one net
	Cursors   map[int]uint64 // by upstream part
	Crossings []split.Crossing
}

// ReadCommit reads a commit of a part.
func ReadCommit(commit []byte) (*Logged, error) {
	l := &Logged{Cursors: map[int]uint64{}}
	return l, eachSection(commit, 1, func(kind int, body []byte, _ int64) (err error) {
		switch kind {
		case 0:
			l.Ops = append(l.Ops, body...)
		case 1 + sectionCrossings:
			l.Crossings, _, err = split.ReadCrossings(body, l.Crossings)
		case 1 + sectionReach:
			part, to, failed := readReach(body)
			l.Cursors[int(part)], err = to.cursor.Position, failed
		}
		return err
	})
}
