// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/pnagent/pnagent/engine/journal"
)

// Log is a journal.Log in a stream. Open returns it.
type Log struct {
	config  Config
	js      jetstream.JetStream
	stream  jetstream.Stream
	bucket  jetstream.Stream      // of the snapshots
	store   jetstream.ObjectStore // the same
	name    string                // of the stream
	subject string
	inbox   string // the prefix of the subjects for answers
	plain   bool   // the stream supports no batches
	replyTo func(inbox string, p *pipe, op string) string
	answers *nats.Subscription
	status  chan nats.Status
	closing chan struct{}
	roused  chan struct{} // has an element when a commit has ended a rest; of watch
	ended   sync.WaitGroup

	saving  sync.Mutex // held while a snapshot is saved
	writing sync.Mutex // held by one Append; before mu
	message nats.Msg   // the last message published; reused; guarded by writing

	mu     sync.Mutex // guards what follows
	closed bool
	seen   uint64 // the highest commit known to be in the stream
	origin string // the server from which the last commit was read, if the stream has replicas
	pipe   pipe
	rests  bool          // watch looks at nothing until the next commit
	change chan struct{} // closed when pipe changes, if a caller waits; else nil
}

var _ journal.Log = (*Log)(nil)

// Open opens the log called Name. If its stream is missing, Open creates it,
// unless the config is for an Existing one. If
// the settings of an existing stream could lose or repeat commits, the error
// wraps ErrSettings and lists them all.
func Open(ctx context.Context, config Config) (*Log, error) {
	config, err := config.checked()
	if err != nil {
		return nil, fmt.Errorf("open log %q: %w", config.Name, err)
	}
	name, err := NameOf(config.Name)
	if err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	l := &Log{config: config, name: name, subject: subjectPrefix + name[len(streamPrefix):], closing: make(chan struct{}), roused: make(chan struct{}, 1)}
	if err := l.open(ctx); err != nil {
		return nil, fmt.Errorf("open log %q: stream %s: %w", config.Name, name, err)
	}
	return l, nil
}

func (l *Log) open(ctx context.Context) (err error) {
	if l.js, err = jetstream.New(l.config.Conn); err != nil {
		return err
	}
	want := settings(l.name, l.subject, l.config.Replicas)
	if err := l.checkConn(want.Replicas); err != nil {
		return err
	}
	l.stream, err = openStream(ctx, l.js, want, &l.config)
	if err != nil {
		return err
	}
	if err := l.checkServers(&l.stream.CachedInfo().Config); err != nil {
		return err
	}
	if err := l.openBucket(ctx); err != nil {
		return err
	}
	l.inbox = l.config.Conn.NewInbox()
	l.message = nats.Msg{Subject: l.subject, Header: nats.Header{jetstream.ExpectedLastSeqHeader: {""}}}
	l.replyTo = replySubject
	if !l.stream.CachedInfo().Config.AllowBatchPublish {
		l.plain, l.replyTo, l.config.Window.Commits = true, plainReply, 1
		l.config.Log.Info("the NATS server is older than 2.14: commits are sent one after another", "stream", l.name)
	}
	l.begin(l.stream.CachedInfo().State.LastSeq)
	if l.answers, err = l.config.Conn.Subscribe(l.inbox+".>", l.answer); err != nil {
		return err
	}
	l.status = l.config.Conn.StatusChanged(nats.RECONNECTING, nats.DISCONNECTED, nats.CLOSED)
	l.ended.Go(l.watch)
	return nil
}

// Refresh reads the end of the stream and makes a stopped log writable again.
// The caller must then read the commits after the last one that was confirmed
// to it. They may include commits that it had sent and that were not confirmed.
// Others of those may still be under way: then the server rejects either them
// or the next Append, so the stream never holds both.
//
// Refresh retries until the stream answers or ctx ends.
func (l *Log) Refresh(ctx context.Context) error {
	l.writing.Lock()
	defer l.writing.Unlock()
	// Everything sent before is ahead of this request on the same connection.
	state, err := l.state(ctx, l.config.AckWait)
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed:
		err = journal.ErrClosed
	case err == nil:
		l.begin(state.LastSeq)
		return nil
	}
	return fmt.Errorf("refresh stream %s: %w", l.name, err)
}

// begin sets last as the end of the stream, with nothing on its way. The caller
// holds mu, or has the only reference.
func (l *Log) begin(last uint64) {
	l.seen = last
	window := l.config.Window.Commits
	l.pipe = pipe{sent: last, acked: last, waited: last, sizes: l.pipe.sizes, most: max(1, min(flowMost, window/4)), seldom: seldom}
	if l.config.few {
		l.pipe.seldom = 0
	}
	if l.pipe.sizes == nil {
		l.pipe.sizes = make([]int, window)
	}
	l.changed()
}

// state requests the stream's first and last commit until it gets them or ctx
// ends. It accepts the answer that the stream does not exist once patience has
// passed.
func (l *Log) state(ctx context.Context, patience time.Duration) (jetstream.StreamState, error) {
	var gone time.Time
	for pause := retryFirst; ; pause = min(2*pause, retryMost) {
		one, cancel := context.WithTimeout(ctx, askWait)
		info, err := l.stream.Info(one)
		cancel()
		if err == nil {
			return info.State, nil
		}
		switch {
		case ctx.Err() != nil:
			return jetstream.StreamState{}, errors.Join(ctx.Err(), err)
		case errors.Is(err, nats.ErrConnectionClosed):
			return jetstream.StreamState{}, err
		case !errors.Is(err, jetstream.ErrStreamNotFound):
			gone = time.Time{}
		case gone.IsZero():
			gone = time.Now()
		case time.Since(gone) > patience:
			return jetstream.StreamState{}, fmt.Errorf("%w: %w", journal.ErrMissing, err)
		}
		if err := wait(ctx, pause); err != nil {
			return jetstream.StreamState{}, err
		}
	}
}

// Intervals between repeated requests while servers do not answer.
const (
	askWait    = 2 * time.Second
	retryFirst = 20 * time.Millisecond
	retryMost  = 500 * time.Millisecond
)

// wait waits for d, or until ctx ends, and then returns the error of ctx.
func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// Last returns the number of the last commit that Append has sent, or that
// Open, Refresh or Follow has found.
func (l *Log) Last() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last()
}

func (l *Log) last() uint64 {
	if l.pipe.pending() > 0 {
		return l.pipe.sent
	}
	return max(l.pipe.acked, l.seen)
}

// Durable returns the number of the last commit that the server has
// acknowledged. The server's sync_interval decides what survives a power loss:
// see docs/design/regions.md.
func (l *Log) Durable() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pipe.pending() > 0 {
		return l.pipe.acked
	}
	return max(l.pipe.acked, l.seen)
}

// Sync waits for nothing. It returns an error if the log has stopped.
func (l *Log) Sync(ctx context.Context, _ int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.usable(); err != nil {
		return fmt.Errorf("sync stream %s: %w", l.name, err)
	}
	return nil
}

// Idle reports that no commit is on its way: until the next one, Sync and Confirm have nothing to
// report. It is for an engine, which then waits for that.
func (l *Log) Idle() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.pipe.pending() == 0 && l.usable() == nil
}

// usable returns the reason why nothing more can be written, or nil.
func (l *Log) usable() error {
	if l.closed {
		return journal.ErrClosed
	}
	return l.pipe.stopped
}

// CommitLimit returns the size of the largest commit in bytes: the server's
// limit for a payload, minus the header.
func (l *Log) CommitLimit() int {
	return int(min(l.config.Conn.MaxPayload()-headerSize, journal.MaxCommit))
}

// Close waits for missing answers, at most for the AckWait, and releases the
// connection. For a log that has stopped it returns the reason. A second Close
// does nothing.
func (l *Log) Close() error {
	l.writing.Lock()
	defer l.writing.Unlock()
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return nil
	}
	sent := l.pipe.sent
	l.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), 2*l.config.AckWait)
	defer cancel()
	err := l.Confirm(ctx, sent)
	l.mu.Lock()
	if err == nil {
		err = l.pipe.stopped
	}
	l.closed = true
	l.changed()
	l.mu.Unlock()
	close(l.closing)
	l.config.Conn.RemoveStatusListener(l.status)
	l.ended.Wait()
	_ = l.answers.Unsubscribe() // fails only if the connection has already ended it
	if err != nil {
		return fmt.Errorf("close stream %s: %w", l.name, err)
	}
	return nil
}
