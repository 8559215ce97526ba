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

	"github.com/pnagent/pnagent/engine/journal"
)

// pipe describes the commits that are on their way to the server.
type pipe struct {
	sent    uint64 // the last commit that was sent
	acked   uint64 // the last one that the server has acknowledged
	bytes   int    // of the commits that are sent and not acknowledged
	sizes   []int  // of each of these commits, at its number modulo the window
	stopped error  // the reason why nothing more is sent; nil if the log is writable
	other   uint64 // the last commit in the stream, if another writer's commit is the reason; else 0
	batch   string // id of the current batch; "" if the next commit starts one
	base    uint64 // the last commit before the batch
	flow    int    // the server answers once for this many commits of the batch
	most    int    // the largest flow
	seldom  uint64 // see the constant
	waited  uint64 // the last commit that was sent when a caller had to wait for an answer
	sending bool   // the connection does not have the last commit yet
	ending  bool   // the batch takes no more commits, and the server answers for all of it
}

// pending returns how many commits are on their way.
func (p *pipe) pending() uint64 { return p.sent - p.acked }

// room reports whether a commit of a size fits into the window.
func (p *pipe) room(size int, w Window) bool {
	return p.pending() == 0 || p.pending() < uint64(w.Commits) && p.bytes+size <= w.Bytes
}

// add counts a commit as sent.
func (p *pipe) add(size int) {
	if p.batch == "" {
		p.batch, p.base, p.flow = nuid.Next(), p.sent, 1
		if p.unwaited() {
			p.flow = p.most
		}
	}
	p.sent++
	p.bytes += size
	p.sizes[p.sent%uint64(len(p.sizes))] = size
}

// unwaited reports whether no caller has waited for an answer for a long time.
func (p *pipe) unwaited() bool { return p.sent-p.waited >= p.seldom }

// seldom is the number of commits without a waiting caller after which the
// server answers only one in flowMost: waking up for an answer costs a writer
// about as much as a commit.
const (
	seldom   = 64
	flowMost = 16
)

// ack removes the commits up to a number from the window and reports whether
// they were in it.
func (p *pipe) ack(upTo uint64) bool {
	if upTo > p.sent {
		return false
	}
	for ; p.acked < upTo; p.acked++ {
		p.bytes -= p.sizes[(p.acked+1)%uint64(len(p.sizes))]
	}
	if p.ending && p.pending() == 0 {
		p.endBatch()
	}
	return true
}

// endBatch makes the next commit start a new batch.
func (p *pipe) endBatch() { p.batch, p.ending = "", false }

// Append sends the commits, one message each, and returns when the connection
// has them. It waits until the window has room. After an error of ctx the
// number shows how many of the group were sent. If sending or storing any
// commit fails, the log stops: see Refresh.
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
		return n, fmt.Errorf("append to stream %s after commit %d: %w", l.name, n, err)
	}
	return n, nil
}

// place checks that the commits can follow the one numbered last, and returns
// the last known commit. Other writers may have appended since; the server
// checks that.
func (l *Log) place(ctx context.Context, last uint64, commits [][]byte) (uint64, error) {
	if err := checkGroup(commits, l.CommitLimit()); err != nil {
		return l.Last(), err
	}
	known, err := l.end()
	if err == nil && known < last { // the caller may have read further than this Log
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
		return known, fmt.Errorf("expected it after commit %d: %w", last, journal.ErrNotLast)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pipe.sent != last { // another writer has appended in between
		l.pipe.sent, l.pipe.acked, l.pipe.waited = last, last, last
		l.pipe.endBatch()
	}
	return last, nil
}

// end returns the last known commit, and an error if nothing more can be
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

// checkGroup checks the bounds of a group.
func checkGroup(commits [][]byte, limit int) error {
	total := 0
	for i, c := range commits {
		if len(c) > limit {
			return fmt.Errorf("commit %d of the group has %d bytes; expected at most %d: %w", i, len(c), limit, journal.ErrTooLarge)
		}
		if total += len(c); total > journal.MaxGroup {
			return fmt.Errorf("group of more than %d bytes: %w", journal.MaxGroup, journal.ErrTooLarge)
		}
	}
	return nil
}

// found records that a commit is in the stream.
func (l *Log) found(sequence uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen = max(l.seen, sequence)
}

// foundAt records that a commit was read from a server.
func (l *Log) foundAt(sequence uint64, server string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen, l.origin = max(l.seen, sequence), server
}

// send publishes one commit when there is room. It returns the number of the
// last commit that was sent.
func (l *Log) send(ctx context.Context, commit []byte) (uint64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := &l.pipe
	if p.flow < p.most && p.unwaited() {
		l.ask() // the next batch has fewer answers
	}
	for l.usable() == nil && (p.ending || !p.room(len(commit), l.config.Window)) {
		if !p.ending && l.needs() {
			continue
		}
		if err := l.await(ctx); err != nil {
			return p.sent, err
		}
	}
	if err := l.usable(); err != nil {
		return l.endLocked(), err
	}
	p.add(len(commit))
	if l.rests {
		l.rests = false
		l.roused <- struct{}{}
	}
	sent := p.sent
	reply := l.replyTo(l.inbox, p, opAppend)

	l.message.Header[jetstream.ExpectedLastSeqHeader][0] = strconv.FormatUint(sent-1, 10)
	l.message.Reply, l.message.Data = reply, commit
	p.sending = true
	l.mu.Unlock()
	err := l.config.Conn.PublishMsg(&l.message)
	l.mu.Lock()
	p.sending, l.message.Data = false, nil
	if err != nil {
		l.stop(fmt.Errorf("commit %d: publish: %w", sent, err), 0)
		return sent, p.stopped
	}
	if p.ending {
		l.publishEnd()
	}
	return sent, nil
}

// needs requests the answers that callers wait for. The caller holds mu; true
// means that mu was released meanwhile.
func (l *Log) needs() bool {
	l.pipe.waited = l.pipe.sent
	return l.pipe.flow > 1 && l.ask()
}

// ask makes the server answer for all commits on their way, by ending the
// batch. The caller holds mu; true means that mu was released meanwhile.
func (l *Log) ask() bool {
	p := &l.pipe
	if p.batch == "" || p.most == 1 || p.ending {
		return false
	}
	if p.pending() == 0 {
		p.endBatch()
		return false
	}
	p.ending = true
	if p.sending {
		return false // the goroutine that is sending will end the batch
	}
	l.publishEnd()
	return true
}

// publishEnd sends the end of the batch. The caller holds mu, which is released
// meanwhile; no commit is sent before the answer.
func (l *Log) publishEnd() {
	reply := l.replyTo(l.inbox, &l.pipe, opEnd)
	l.mu.Unlock()
	err := l.config.Conn.PublishRequest(l.subject, reply, nil)
	l.mu.Lock()
	if err != nil {
		l.stop(fmt.Errorf("the end of a batch after commit %d: publish: %w", l.pipe.sent, err), 0)
	}
}

// await waits for answers. The caller holds mu, which is released meanwhile.
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

// changed wakes the callers in await. The caller holds mu.
func (l *Log) changed() {
	if l.change != nil {
		close(l.change)
		l.change = nil
	}
}

// Confirm waits until the server has acknowledged the commits up to a number.
// After the log has stopped, it still returns nil for those that were
// acknowledged before.
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
		case l.needs():
			continue
		default:
			err = l.await(ctx)
			if err == nil {
				continue
			}
		}
		return fmt.Errorf("stream %s: confirm up to commit %d: %w", l.name, upTo, err)
	}
}

// stop makes the log read-only. Only the first cause counts. The caller holds
// mu.
func (l *Log) stop(cause error, other uint64) {
	if l.pipe.stopped == nil {
		l.pipe.stopped = fmt.Errorf("%w: stream %s: %w", journal.ErrStopped, l.name, cause)
		l.pipe.other = other
		l.changed()
	}
}

// Reasons to stop a log, besides answers of the server.
var (
	errUnanswered = errors.New("the server has not answered, so the commit may be in the stream or not")
	errCut        = errors.New("the connection was lost before the answer, so the commit may be in the stream or not")
)

// watch stops the log when answers are missing for too long or the connection
// is lost, and ends a batch that has been idle. It looks at nothing while the log rests.
func (l *Log) watch() {
	every := min(l.config.AckWait/4, time.Second) // a server drops an idle batch after 10 s
	next := time.NewTimer(every)
	defer next.Stop()
	var before pipe
	missing := 0
	for {
		select {
		case <-l.closing:
			return
		case s, ok := <-l.status:
			if !ok {
				return
			}
			l.disconnected(s)
		case <-l.roused:
			next.Reset(every)
		case <-next.C:
			if !l.look(&before, &missing, int(l.config.AckWait/every)) {
				next.Reset(every)
			}
		}
	}
}

// look compares the pipe with what it was a moment ago. missing counts how often in a row an
// answer was missing; after most times the log stops. rests reports that there is nothing to
// look at until the next commit.
func (l *Log) look(before *pipe, missing *int, most int) (rests bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch now := &l.pipe; {
	case now.sent == before.sent && now.pending() == 0:
		now.endBatch()
	case now.acked == before.acked && now.flow > 1 && !now.ending:
		l.ask()
	case now.acked == before.acked && now.batch == before.batch && now.pending() > 0:
		if *missing++; *missing >= most {
			l.stop(fmt.Errorf("commit %d: %w after %v: %w", now.acked+1, errUnanswered, l.config.AckWait, nats.ErrTimeout), 0)
		}
	default:
		*missing = 0
	}
	*before = pipe{sent: l.pipe.sent, acked: l.pipe.acked, batch: l.pipe.batch}
	l.rests = l.pipe.stopped != nil || l.pipe.batch == "" && l.pipe.pending() == 0
	return l.rests
}

// disconnected stops a log if commits are on their way. Otherwise the next
// commit starts a new batch, since the connection may be to another server.
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
	l.pipe.endBatch()
}
