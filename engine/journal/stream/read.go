// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"context"
	"fmt"
	"iter"

	"github.com/pnagent/pnagent/engine/journal"
)

// Read first waits for the answers to the commits that were sent. So it returns
// all that Append has accepted, unless the log has stopped.
func (l *Log) Read(ctx context.Context, from uint64) iter.Seq2[journal.Commit, error] {
	return func(yield func(journal.Commit, error) bool) {
		if err := l.read(ctx, from, yield); err != nil {
			yield(journal.Commit{}, fmt.Errorf("read stream %s from commit %d: %w", l.name, from, err))
		}
	}
}

func (l *Log) read(ctx context.Context, from uint64, yield func(journal.Commit, error) bool) error {
	last, err := l.readable(ctx, from)
	if err != nil || from > last {
		return err
	}
	t := l.newTail(from)
	defer t.close()
	for from <= last {
		c, err := t.read(ctx)
		if err != nil {
			return err
		}
		l.foundAt(c.Sequence, t.server)
		if !yield(c, nil) {
			return nil
		}
		from = c.Sequence + 1
	}
	return nil
}

// readable returns the last commit that is in the stream now.
func (l *Log) readable(ctx context.Context, from uint64) (uint64, error) {
	l.mu.Lock()
	sent, err := l.pipe.sent, l.usable()
	closed := l.closed
	l.mu.Unlock()
	switch {
	case closed:
		return 0, journal.ErrClosed
	case err == nil:
		_ = l.Confirm(ctx, sent) // commits that were rejected are not in the stream
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	state, err := l.state(ctx, l.config.AckWait)
	if err != nil {
		return 0, err
	}
	first, last := bounds(state)
	switch {
	case from > last+1:
		return 0, fmt.Errorf("the last is %d: %w", last, journal.ErrAhead)
	case from < first:
		return 0, fmt.Errorf("the first is %d: %w", first, journal.ErrCovered)
	}
	return last, nil
}
