// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/pnagent/pnagent/petri/split"
)

// Limits of what may wait before readers of upstream logs block.
const (
	maxArrivals = 4096
	maxWaiting  = 16 << 20 // bytes
)

// crossingSize is that of a split.Crossing without its data, in bytes.
const crossingSize = 40

// arrival holds tokens from an upstream part.
type arrival struct {
	upstream int
	upTo     Cursor
	tokens   []split.Crossing
	size     int64 // in memory, about, bytes
}

func newArrival(upstream int, upTo Cursor, tokens []split.Crossing) arrival {
	a := arrival{upstream: upstream, upTo: upTo, tokens: tokens, size: int64(len(tokens)) * crossingSize}
	for i := range tokens {
		a.size += int64(len(tokens[i].Data))
	}
	return a
}

// inbox passes tokens from the readers of upstream logs to the worker.
type inbox struct {
	waiting chan arrival
	next    []arrival     // received to wake up the worker, not yet put into places
	size    atomic.Int64  // of all arrivals
	room    chan struct{} // holds one when size has fallen below maxWaiting
}

func newInbox() *inbox {
	return &inbox{waiting: make(chan arrival, maxArrivals), room: make(chan struct{}, 1)}
}

func (b *inbox) put(ctx context.Context, a arrival) error {
	for b.size.Load() >= maxWaiting {
		select {
		case <-b.room:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	b.grow(a.size)
	select {
	case b.waiting <- a:
		return nil
	case <-ctx.Done():
		b.grow(-a.size)
		return ctx.Err()
	}
}

// grow changes the size and signals if there is room.
func (b *inbox) grow(by int64) {
	if b.size.Add(by) < maxWaiting {
		wake(b.room)
	}
}

// take returns the next arrival, if there is one.
func (b *inbox) take() (arrival, bool) {
	if len(b.next) > 0 {
		a := b.next[0]
		b.next[0] = arrival{}
		b.next = b.next[:0]
		b.grow(-a.size)
		return a, true
	}
	select {
	case a := <-b.waiting:
		b.grow(-a.size)
		return a, true
	default:
		return arrival{}, false
	}
}

// arrive puts tokens from upstream into their places, at most as many as one
// commit may hold. The worker's next commit records them.
func (w *worker) arrive(now int64) error {
	if w.inbox == nil {
		return nil
	}
	for tokens := 0; tokens < w.batch; {
		a, ok := w.inbox.take()
		if !ok {
			return nil
		}
		r := &w.reached[a.upstream]
		r.cursor = a.upTo
		for _, x := range a.tokens {
			r.tokens += uint64(x.Tokens)
			i, err := w.shards[0].Index(x.Instance)
			if err == nil {
				err = w.shards[0].arrive(i, int(x.Place), x.Data, x.Tokens, now)
			}
			if err != nil {
				return fmt.Errorf("tokens from commit %d of upstream part %d: %w", a.upTo.Position, a.upstream, err)
			}
		}
		tokens += max(len(a.tokens), 1)
	}
	return nil
}

// appendCrossings appends the cursors into upstream logs and the tokens that
// leave for other parts to the worker's next commit.
func (w *worker) appendCrossings(commit []byte) []byte {
	for up, to := range w.reached {
		if to.cursor.Position > 0 {
			commit, w.section = appendReach(commit, w.section, up, to)
		}
	}
	if w.recorder.hash == nil {
		return commit
	}
	if p := &w.pending[0]; len(p.crossings) > 0 {
		w.section = split.AppendCrossings(w.section[:0], p.crossings)
		p.crossings = p.crossings[:0]
		commit = appendSection(commit, 1+sectionCrossings, w.section)
	}
	return commit
}

// arriving returns the channel of tokens from upstream; nil if there is no upstream.
func (w *worker) arriving() <-chan arrival {
	if w.inbox == nil {
		return nil
	}
	return w.inbox.waiting
}
