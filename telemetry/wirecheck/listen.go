// SPDX-License-Identifier: Apache-2.0

package wirecheck

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/telemetry"
)

const (
	connectWithin = 5 * time.Second
	askWithin     = 2 * time.Second
	buffered      = 1 << 14 // messages
)

// Listen checks the messages of all sources for d, or until ctx ends. The error
// is that of subscribing, if there is no connection within 5 s.
func Listen(ctx context.Context, nc *nats.Conn, subjects telemetry.Subjects, d time.Duration) (*Report, error) {
	l := &listener{nc: nc, subjects: subjects, messages: make(chan *nats.Msg, buffered), answers: make(chan answer),
		checker: New(subjects, time.Now().UnixMicro())}
	defer l.unsubscribe()
	if err := l.subscribe(ctx); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	for ctx.Err() == nil {
		select {
		case msg := <-l.messages:
			l.take(msg)
		case a := <-l.answers:
			l.defined(a)
		case <-ctx.Done():
		}
	}
	for l.pending > 0 { // each ends within askWithin
		l.defined(<-l.answers)
	}
	r := l.checker.Report(time.Now().UnixMicro())
	for _, sub := range l.subs {
		if n, err := sub.Dropped(); err == nil && n > 0 {
			r.Wrong = append(r.Wrong, fmt.Sprintf("this check could not keep up: it dropped %d messages, so gaps may be its own", n))
		}
	}
	return r, nil
}

type listener struct {
	nc       *nats.Conn
	subjects telemetry.Subjects
	subs     []*nats.Subscription
	messages chan *nats.Msg
	answers  chan answer
	checker  *Checker
	decoder  telemetry.Decoder
	snapshot telemetry.Snapshot
	pending  int // requests for definitions
}

// answer is what a request for a definition returned.
type answer struct {
	net, digest string
	pnml        []byte
	err         error
}

func (l *listener) subscribe(ctx context.Context) error {
	for _, subject := range []string{l.subjects.Snapshots(), l.subjects.Byes(), l.subjects.Shared(0, 0, false), l.subjects.Notices()} {
		sub, err := l.nc.ChanSubscribe(subject, l.messages)
		if err != nil {
			return err
		}
		l.subs = append(l.subs, sub)
	}
	ctx, cancel := context.WithTimeout(ctx, connectWithin)
	defer cancel()
	if err := l.nc.FlushWithContext(ctx); err != nil {
		return err
	}
	return l.nc.Publish(l.subjects.Hello(), nil)
}

func (l *listener) unsubscribe() {
	for _, sub := range l.subs {
		_ = sub.Unsubscribe() // it fails only on a closed connection
	}
}

// take checks a message, and requests the definition that it names first. The
// checker wants each digest at most once a second.
func (l *listener) take(msg *nats.Msg) {
	if strings.HasPrefix(msg.Subject, l.subjects.Prefix()+".notice.") {
		l.checker.Notice(msg.Subject, msg.Data)
		return
	}
	msg.Subject, _ = l.subjects.Plain(msg.Subject)
	err := l.decoder.DecodeMsg(l.subjects, msg, &l.snapshot)
	if !l.checker.Receive(msg.Subject, &l.snapshot, err, time.Now().UnixMicro()) {
		return
	}
	l.pending++
	go func(net, digest string) {
		ctx, cancel := context.WithTimeout(context.Background(), askWithin)
		defer cancel()
		d, err := telemetry.RequestDefinition(ctx, l.nc, l.subjects, net, digest)
		l.answers <- answer{net, digest, d.PNML, err}
	}(l.snapshot.Net, l.snapshot.Digest)
}

func (l *listener) defined(a answer) {
	l.pending--
	l.checker.Defined(a.net, a.digest, a.pnml, a.err)
}
