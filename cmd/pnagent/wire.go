// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/telemetry"
	"github.com/pnagent/pnagent/telemetry/natslink"
	"github.com/pnagent/pnagent/telemetry/wirecheck"
)

// wireCmd is for authors of engines.
type wireCmd struct {
	Check wireCheckCmd `cmd:"" help:"Listen to engines, and say in plain words what is wrong with what they say. Ends with 1 where something is."`
}

type wireCheckCmd struct {
	NATS natsFlags     `embed:"" group:"NATS"`
	For  time.Duration `default:"10s" help:"How long to listen."`
	JSON bool          `help:"Print one JSON object instead of text."`
}

// errWrong ends the command with 1 after its report.
var errWrong = errors.New("wire check: something is wrong with what was heard")

// wireConnect is how long NATS may take to be there, wireBuffer how many
// messages wait at most, wireAsk how long an answer may take.
const (
	wireConnect = 5 * time.Second
	wireBuffer  = 1 << 14
	wireAsk     = 2 * time.Second
)

// Run listens and reports.
func (c *wireCheckCmd) Run(ctx context.Context, s streams, log *slog.Logger) error {
	if c.For <= 0 {
		return usageError{fmt.Errorf("--for: %v; expected more than nothing", c.For)}
	}
	link, subjects, err := c.NATS.connect("pnagent wire check", log)
	if err != nil {
		return err
	}
	defer link.Close()
	l := &wireListener{nc: link.Conn, subjects: subjects, messages: make(chan *nats.Msg, wireBuffer), answers: make(chan wireAnswer)}
	if err := l.subscribe(ctx); err != nil {
		return fmt.Errorf("wire check: no connection to NATS at %s: %w", natslink.Redact(c.NATS.URL), err)
	}
	r, err := l.listen(ctx, c.For)
	if err != nil {
		return err
	}
	if c.JSON {
		err = json.NewEncoder(s.out).Encode(r)
	} else {
		err = r.Write(s.out)
	}
	if err == nil && !r.Right() {
		return errWrong
	}
	return err
}

// wireListener hears engines for a while.
type wireListener struct {
	nc       *nats.Conn
	subjects telemetry.Subjects
	subs     []*nats.Subscription
	messages chan *nats.Msg
	answers  chan wireAnswer
}

// wireAnswer is what a request for a definition gave.
type wireAnswer struct {
	net, digest string
	pnml        []byte
	err         error
}

func (l *wireListener) subscribe(ctx context.Context) error {
	for _, subject := range []string{l.subjects.Snapshots(), l.subjects.Byes(), l.subjects.Shared(0, 0, false), l.subjects.Notices()} {
		sub, err := l.nc.ChanSubscribe(subject, l.messages)
		if err != nil {
			return err
		}
		l.subs = append(l.subs, sub)
	}
	ctx, cancel := context.WithTimeout(ctx, wireConnect)
	defer cancel()
	if err := l.nc.FlushWithContext(ctx); err != nil {
		return err
	}
	return l.nc.Publish(l.subjects.Hello(), nil)
}

// listen hears messages until the time is over or the context is.
func (l *wireListener) listen(ctx context.Context, d time.Duration) (*wirecheck.Report, error) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	checker := wirecheck.New(l.subjects, time.Now().UnixMicro())
	var decoder telemetry.Decoder
	var s telemetry.Snapshot
	pending := 0
	for ctx.Err() == nil || pending > 0 {
		select {
		case msg := <-l.messages:
			if ctx.Err() != nil {
				continue
			}
			if strings.HasPrefix(msg.Subject, l.subjects.Prefix()+".notice.") {
				checker.Notice(msg.Subject, msg.Data)
				continue
			}
			msg.Subject, _ = l.subjects.Plain(msg.Subject)
			err := decoder.DecodeMsg(l.subjects, msg, &s)
			if checker.Hear(msg.Subject, &s, err, time.Now().UnixMicro()) {
				pending++
				go l.ask(s.Net, s.Digest)
			}
		case a := <-l.answers:
			pending--
			checker.Defined(a.net, a.digest, a.pnml, a.err)
		case <-ctx.Done():
			if pending > 0 { // each is over soon
				a := <-l.answers
				pending--
				checker.Defined(a.net, a.digest, a.pnml, a.err)
			}
		}
	}
	r := checker.Report(time.Now().UnixMicro())
	for _, sub := range l.subs {
		if n, err := sub.Dropped(); err == nil && n > 0 {
			r.Wrong = append(r.Wrong, fmt.Sprintf("this check could not keep up: %d messages were not looked at, so gaps may be its own", n))
		}
	}
	return r, nil
}

// ask asks for a definition and hands over what comes. At most one for each
// digest and second is asked for.
func (l *wireListener) ask(net, digest string) {
	ctx, cancel := context.WithTimeout(context.Background(), wireAsk)
	defer cancel()
	d, err := telemetry.RequestDefinition(ctx, l.nc, l.subjects, net, digest)
	l.answers <- wireAnswer{net, digest, d.PNML, err}
}
