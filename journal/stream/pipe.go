// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"github.com/pnagent/pnagent/journal"
)

// pipe is what is on its way to the server.
type pipe struct {
	sent    uint64 // the last commit that was sent
	acked   uint64 // the last one that the server has said it has
	bytes   int    // of the commits between
	sizes   []int  // of each of them, at its number modulo the window
	stopped error  // why nothing more is sent
	other   uint64 // the last commit in the stream, where that is why; else 0
	batch   string // which the commits are part of; "" if the next begins one
	base    uint64 // the commit before the batch
}

// pending is how many commits are on their way.
func (p *pipe) pending() uint64 { return p.sent - p.acked }

// room says whether a commit of a size fits into the window.
func (p *pipe) room(size int, w Window) bool {
	return p.pending() == 0 || p.pending() < uint64(w.Commits) && p.bytes+size <= w.Bytes
}

// add counts a commit as sent.
func (p *pipe) add(size int) {
	if p.batch == "" {
		p.batch, p.base = nuid.Next(), p.sent
	}
	p.sent++
	p.bytes += size
	p.sizes[p.sent%uint64(len(p.sizes))] = size
}

// ack takes the commits up to a number off the window. It says whether they
// were on it.
func (p *pipe) ack(upTo uint64) bool {
	if upTo > p.sent {
		return false
	}
	for ; p.acked < upTo; p.acked++ {
		p.bytes -= p.sizes[(p.acked+1)%uint64(len(p.sizes))]
	}
	return true
}

// Append sends the commits, one message each, and returns when the connection
// has them; until the window has room it waits. After an error of ctx the
// number says how many of the group were sent. Any failure of a commit that was
// sent stops the log: see Refresh.
func (l *Log) Append(ctx context.Context, last uint64, commits ...[]byte) (uint64, error) {
	if err := ctx.Err(); err != nil {
		return l.Last(), err
	}
	l.writing.Lock()
	defer l.writing.Unlock()
	n, err := l.place(ctx, last, commits)
	for i := 0; i < len(commits) && err == nil; i++ {
		n, err = l.send(ctx, commits[i])
	}
	if err != nil {
		return n, fmt.Errorf("append to stream %s behind commit %d: %w", l.name, n, err)
	}
	return n, nil
}

// place checks that the commits can come behind the one numbered last. It
// returns the last commit that it knows of. Others may have appended since; the
// server finds out.
func (l *Log) place(ctx context.Context, last uint64, commits [][]byte) (uint64, error) {
	if err := checkGroup(commits, l.CommitLimit()); err != nil {
		return l.Last(), err
	}
	known, err := l.end()
	if err == nil && known < last { // the caller may know more than this Log
		var state jetstream.StreamState
		if state, err = l.state(ctx, l.config.AckWait); err == nil {
			l.found(state.LastSeq)
			known, err = l.end()
		}
	}
	switch {
	case err != nil:
		return known, err
	case known != last:
		return known, fmt.Errorf("expected it behind commit %d: %w", last, journal.ErrNotLast)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pipe.sent != last { // others have written in between
		l.pipe.sent, l.pipe.acked, l.pipe.batch = last, last, ""
	}
	return last, nil
}

// end is the last commit that is known, and the error that nothing more can be
// written.
func (l *Log) end() (uint64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.endLocked(), l.usable()
}

func (l *Log) endLocked() uint64 {
	if l.pipe.other > 0 {
		return l.pipe.other
	}
	return l.last()
}

// checkGroup holds a group to the bounds.
func checkGroup(commits [][]byte, limit int) error {
	total := 0
	for i, c := range commits {
		if len(c) > limit {
			return fmt.Errorf("commit %d of the group has %d bytes, expected at most %d: %w", i, len(c), limit, journal.ErrTooLarge)
		}
		if total += len(c); total > journal.MaxGroup {
			return fmt.Errorf("group of more than %d bytes: %w", journal.MaxGroup, journal.ErrTooLarge)
		}
	}
	return nil
}

// found takes note of a commit that is in the stream.
func (l *Log) found(sequence uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen = max(l.seen, sequence)
}

// send publishes one commit when there is room. It returns the number of the
// last commit that was sent.
func (l *Log) send(ctx context.Context, commit []byte) (uint64, error) {
	l.mu.Lock()
	for l.usable() == nil && !l.pipe.room(len(commit), l.config.Window) {
		if err := l.await(ctx); err != nil {
			defer l.mu.Unlock()
			return l.pipe.sent, err
		}
	}
	if err := l.usable(); err != nil {
		defer l.mu.Unlock()
		return l.endLocked(), err
	}
	l.pipe.add(len(commit))
	sent := l.pipe.sent
	reply := l.replyTo(l.inbox, l.pipe.batch, sent-l.pipe.base)
	l.mu.Unlock()

	l.message.Header[jetstream.ExpectedLastSeqHeader][0] = strconv.FormatUint(sent-1, 10)
	l.message.Reply, l.message.Data = reply, commit
	err := l.config.Conn.PublishMsg(&l.message)
	l.message.Data = nil
	if err != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.stop(fmt.Errorf("commit %d: publish: %w", sent, err), 0)
		return sent, l.pipe.stopped
	}
	return sent, nil
}

// await waits for a change of the pipe. The caller holds mu, which is let go
// meanwhile.
func (l *Log) await(ctx context.Context) error {
	if l.change == nil {
		l.change = make(chan struct{})
	}
	change := l.change
	l.mu.Unlock()
	defer l.mu.Lock()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-change:
		return nil
	}
}

// changed wakes who awaits a change. The caller holds mu.
func (l *Log) changed() {
	if l.change != nil {
		close(l.change)
		l.change = nil
	}
}

// Confirm waits until the server has said that it has the commits up to a
// number. After the log has stopped, it still knows of those of which it heard.
func (l *Log) Confirm(ctx context.Context, upTo uint64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		err := l.usable()
		switch {
		case upTo <= l.pipe.acked || l.pipe.pending() == 0 && upTo <= l.seen && err == nil:
			return nil
		case err != nil:
		case upTo > l.last():
			err = fmt.Errorf("the last is %d: %w", l.last(), journal.ErrAhead)
		default:
			err = l.await(ctx)
			if err == nil {
				continue
			}
		}
		return fmt.Errorf("stream %s: confirm up to commit %d: %w", l.name, upTo, err)
	}
}

// stop ends the writing. Only the first cause counts. The caller holds mu.
func (l *Log) stop(cause error, other uint64) {
	if l.pipe.stopped == nil {
		l.pipe.stopped = fmt.Errorf("%w: stream %s: %w", journal.ErrStopped, l.name, cause)
		l.pipe.other = other
		l.changed()
	}
}

// What stops a log besides what the server answers.
var (
	errUnanswered = errors.New("the server has not answered, so the commit may be in the stream or not")
	errCut        = errors.New("the connection was lost before the answer, so the commit may be in the stream or not")
)

// watch stops the log when answers are missing, for too long or because of the
// connection, and ends a batch that has been idle.
func (l *Log) watch() {
	// A server forgets a batch after 10 s.
	tick := time.NewTicker(min(l.config.AckWait/4, time.Second))
	defer tick.Stop()
	waits := int(l.config.AckWait / min(l.config.AckWait/4, time.Second))
	var before pipe
	for missing := 0; ; {
		select {
		case <-l.closing:
			return
		case s, ok := <-l.status:
			if !ok {
				return
			}
			l.disconnected(s)
		case <-tick.C:
			l.mu.Lock()
			switch now := &l.pipe; {
			case now.sent == before.sent && now.pending() == 0:
				now.batch = ""
			case now.acked == before.acked && now.batch == before.batch && now.pending() > 0:
				if missing++; missing >= waits {
					l.stop(fmt.Errorf("commit %d: %w after %v: %w", now.acked+1, errUnanswered, l.config.AckWait, nats.ErrTimeout), 0)
				}
			default:
				missing = 0
			}
			before = pipe{sent: l.pipe.sent, acked: l.pipe.acked, batch: l.pipe.batch}
			l.mu.Unlock()
		}
	}
}

// disconnected stops a log with commits on their way. Otherwise the next one
// begins a batch, since the server may not be the same one.
func (l *Log) disconnected(s nats.Status) {
	l.mu.Lock()
	defer l.mu.Unlock()
	cause := nats.ErrDisconnected
	if s == nats.CLOSED {
		cause = nats.ErrConnectionClosed
	}
	if l.pipe.pending() > 0 {
		l.stop(fmt.Errorf("commit %d: %w: %w", l.pipe.acked+1, errCut, cause), 0)
	}
	l.pipe.batch = ""
}
