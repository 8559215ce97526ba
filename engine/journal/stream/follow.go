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

// Follow calls each with the commits from a number on, in order, each once, as
// they arrive. It continues over lost connections, restarts of servers and
// changes of the stream's leader. It ends with the error of ctx or of each,
// with ErrCovered if a snapshot has replaced a commit that it needs, and with
// ErrAhead if the stream stays shorter than what was requested or already read,
// after a server has lost acknowledged commits.
//
// A commit that is passed to each is safe in the sense of Confirm.
func (l *Log) Follow(ctx context.Context, from uint64, each func(journal.Commit) error) error {
	t := l.newTail(from)
	defer t.close()
	for {
		c, err := t.read(ctx)
		if err == nil {
			l.foundAt(c.Sequence, t.server)
			err = each(c)
		}
		if err != nil {
			return fmt.Errorf("follow stream %s at commit %d: %w", l.name, t.next-1, err)
		}
	}
}

// A server sends a heartbeat if it has sent nothing else for a beat. After
// quietBeats without a message the follower asks whether the consumer still
// exists: a busy server is only late, and a new consumer would be even later.
// After lostBeats the follower treats the consumer as lost in any case.
const (
	beat       = 500 * time.Millisecond
	quietBeats = 3
	lostBeats  = 30
)

// arrivals is how many messages may wait to be read. A server sends at most
// 32 MiB ahead, in messages of more than 128 bytes with subjects and header.
const arrivals = 1 << 18

// A reader that is far behind requests the commits piece by piece. Otherwise a
// server could send more than 64 MiB ahead to all push consumers of a
// connection; it would then close the connection as too slow.
const (
	far        = 1000 // commits
	pieceMost  = 4096 // commits
	pieceBytes = 4 << 20
)

// tail reads commits in order from its own consumer. It makes another consumer
// whenever a message may be missing.
type tail struct {
	log      *Log
	next     uint64 // the number of the next commit
	sub      *nats.Subscription
	messages chan *nats.Msg
	status   chan nats.Status
	quiet    *time.Timer // ends quietBeats after the last message, or later
	consumer string
	server   string    // the server that reads for the consumer, if the stream has replicas
	received uint64    // messages of the consumer so far
	heard    time.Time // the last message, or the beginning of the consumer
	until    uint64    // the commit up to which pieces are requested; 0 if the server pushes
	begun    uint64    // the first commit of the piece
	asked    uint64    // the last commit of the piece
	push     bool      // the next consumer pushes, since a piece was empty
}

func (l *Log) newTail(from uint64) *tail {
	return &tail{log: l, next: from, status: l.config.Conn.StatusChanged(nats.CONNECTED, nats.CLOSED), quiet: time.NewTimer(quietBeats * beat)}
}

// close removes the consumer.
func (t *tail) close() {
	t.quiet.Stop()
	t.log.config.Conn.RemoveStatusListener(t.status)
	t.leave()
	if t.consumer == "" || !t.log.config.Conn.IsConnected() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), beat)
	defer cancel()
	if err := t.log.stream.DeleteConsumer(ctx, t.consumer); err != nil {
		t.log.config.Log.Debug("a consumer was not removed", "stream", t.log.name, "consumer", t.consumer, "err", err)
	}
}

// leave ends the subscription. The server removes the consumer after a while.
func (t *tail) leave() {
	if t.sub == nil {
		return
	}
	if err := t.sub.Unsubscribe(); err != nil {
		t.log.config.Log.Debug("unsubscribe", "stream", t.log.name, "err", err)
	}
	t.sub = nil
}

// read waits for the next commit.
func (t *tail) read(ctx context.Context) (journal.Commit, error) {
	for {
		if t.sub == nil {
			if err := t.begin(ctx); err != nil {
				return journal.Commit{}, err
			}
		}
		select {
		case m := <-t.messages:
			t.heard = time.Now()
			if c, ok := t.take(m); ok {
				return c, nil
			}
		case <-t.quiet.C:
			t.look(ctx)
		case s := <-t.status:
			if s == nats.CLOSED {
				return journal.Commit{}, nats.ErrConnectionClosed
			}
			t.again("connected again")
		case <-t.log.closing:
			return journal.Commit{}, journal.ErrClosed
		case <-ctx.Done():
			return journal.Commit{}, ctx.Err()
		}
	}
}

// look makes another consumer instead of one that is silent and gone, or silent for too long.
func (t *tail) look(ctx context.Context) {
	silent := time.Since(t.heard)
	if silent < quietBeats*beat {
		t.quiet.Reset(quietBeats*beat - silent)
		return
	}
	if silent >= lostBeats*beat || t.gone(ctx) {
		t.again("no heartbeat")
	}
	t.quiet.Reset(quietBeats * beat)
}

// gone reports whether the server has no such consumer.
func (t *tail) gone(ctx context.Context) bool {
	one, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	_, err := t.log.stream.PushConsumer(one, t.consumer)
	return errors.Is(err, jetstream.ErrConsumerNotFound)
}

// again drops the consumer, so that the next read makes another one.
func (t *tail) again(why string) {
	t.log.config.Log.Info("a follower starts again", "stream", t.log.name, "commit", t.next, "reason", why)
	t.leave()
}

// begin makes a consumer that sends the commits from the next one on. It
// retries until it succeeds or until another try is useless.
func (t *tail) begin(ctx context.Context) error {
	var short time.Time
	for pause := retryFirst; ; pause = min(2*pause, retryMost) {
		state, err := t.log.state(ctx, t.log.config.AckWait)
		if err != nil {
			return err
		}
		switch first, last := bounds(state); {
		case t.next < first:
			return fmt.Errorf("the first is %d: %w", first, journal.ErrCovered)
		case t.next <= last+1:
			if err = t.subscribe(ctx, last); err == nil || errors.Is(err, ErrSettings) {
				return err
			}
		case short.IsZero(): // a new leader may not have all commits yet
			short = time.Now()
		case time.Since(short) > t.log.config.AckWait:
			return fmt.Errorf("the last is %d: %w", last, journal.ErrAhead)
		}
		if ctx.Err() != nil || errors.Is(err, nats.ErrConnectionClosed) {
			return errors.Join(ctx.Err(), err)
		}
		if err != nil {
			t.log.config.Log.Info("a follower has no consumer yet", "stream", t.log.name, "commit", t.next, "err", err)
		}
		if err := wait(ctx, pause); err != nil {
			return err
		}
	}
}

// bounds returns the first and the last commit of a stream. For an empty
// stream, first is the number of its next commit.
func bounds(s jetstream.StreamState) (first, last uint64) {
	if s.Msgs == 0 {
		return s.LastSeq + 1, s.LastSeq
	}
	return s.FirstSeq, s.LastSeq
}

// consume makes one consumer and drops the messages of an earlier one. last is
// the last commit of the stream. A consumer that reads in pieces has no request
// yet; until is where the pieces end.
func (t *tail) consume(ctx context.Context, last uint64) error {
	inbox := t.log.config.Conn.NewInbox()
	t.messages = make(chan *nats.Msg, arrivals)
	sub, err := t.log.config.Conn.ChanSubscribe(inbox, t.messages)
	if err != nil {
		return fmt.Errorf("subscribe: %w", err)
	}
	t.sub = sub
	t.consumer = nuid.Next()
	t.received = 0
	t.heard = time.Now()
	t.until = 0
	config := jetstream.ConsumerConfig{
		Name:              t.consumer,
		DeliverPolicy:     jetstream.DeliverByStartSequencePolicy,
		OptStartSeq:       t.next,
		AckPolicy:         jetstream.AckNonePolicy,
		MaxDeliver:        1,
		InactiveThreshold: 10 * beat,
		MemoryStorage:     true,
		Replicas:          1,
	}
	if last >= t.next+far && !t.push {
		t.until = last
		c, err := t.log.stream.CreateConsumer(ctx, config)
		if err != nil {
			return err
		}
		return t.suits(c.CachedInfo())
	}
	config.DeliverSubject, config.FlowControl, config.IdleHeartbeat = inbox, true, beat
	c, err := t.log.stream.CreatePushConsumer(ctx, config)
	if err != nil {
		return err
	}
	return t.suits(c.CachedInfo())
}

// askPiece requests the next commits. The server sends as many as fit into the
// piece, and reports if it has fewer.
func (t *tail) askPiece() error {
	n := min(t.until-t.next+1, pieceMost)
	t.begun = t.next
	size := max(pieceBytes, 2*min(t.log.config.Conn.MaxPayload(), headerSize+journal.MaxCommit)) // a server may announce any limit
	t.asked = t.next + n - 1
	subject := jetstream.DefaultAPIPrefix + "CONSUMER.MSG.NEXT." + t.log.name + "." + t.consumer
	return t.log.config.Conn.PublishRequest(subject, t.sub.Subject, fmt.Appendf(nil, `{"batch":%d,"max_bytes":%d,"no_wait":true}`, n, size))
}

// pieceIsShort continues after the commits that fitted into a piece.
func (t *tail) pieceIsShort() {
	if t.push = t.next == t.begun; t.push {
		t.again("a piece is empty")
		return
	}
	t.pieceEnds()
}

// pieceEnds continues after a piece. After the last piece, another consumer
// follows new commits.
func (t *tail) pieceEnds() {
	if t.next > t.until {
		t.leave()
	} else if err := t.askPiece(); err != nil {
		t.again("asking for commits: " + err.Error())
	}
}

// take handles a message of the consumer. ok is true if the message is the next
// commit.
func (t *tail) take(m *nats.Msg) (journal.Commit, bool) {
	if status := m.Header.Get("Status"); status != "" {
		t.control(m, status)
		return journal.Commit{}, false
	}
	meta, err := m.Metadata()
	switch {
	case err != nil:
		t.again("a message of another consumer: " + err.Error())
	case meta.Consumer != t.consumer:
	case meta.Sequence.Stream != t.next:
		t.again(fmt.Sprintf("received commit %d instead", meta.Sequence.Stream))
	default:
		t.received = meta.Sequence.Consumer
		if t.next++; t.until > 0 && t.next > t.asked {
			t.pieceEnds()
		}
		return journal.Commit{Sequence: meta.Sequence.Stream, Payload: m.Data}, true
	}
	return journal.Commit{}, false
}

// control handles a message of the server about the consumer.
func (t *tail) control(m *nats.Msg, status string) {
	if t.until > 0 {
		switch description := m.Header.Get("Description"); {
		case description == "Batch Completed": // after a complete piece
			return
		case status == "404", status == "408", description == "Message Size Exceeds MaxBytes":
			t.pieceIsShort()
			return
		}
	}
	if status != "100" { // the consumer is gone, or has another leader
		t.again("the server says " + status + " " + m.Header.Get("Description"))
		return
	}
	// The follower answers a request of flow control after it has read all that
	// was sent before. A heartbeat repeats the request if the answer was lost.
	flow := m.Reply
	if flow == "" {
		flow = m.Header.Get("Nats-Consumer-Stalled")
	}
	if flow != "" {
		if err := t.log.config.Conn.Publish(flow, nil); err != nil {
			t.again("flow control: " + err.Error())
		}
		return
	}
	if sent, err := strconv.ParseUint(m.Header.Get("Nats-Last-Consumer"), 10, 64); err == nil && sent != t.received {
		t.again("messages were lost")
	}
}
