// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/pnagent/pnagent/journal/stream"
)

// left is one time that an owner was made to leave.
type left struct {
	at   time.Time // just before it was told or killed
	heir string
}

// takeovers has the owner of the region one leave so often, by a signal, and
// returns how long after the signal the first firing of its heir was in the log.
func (b *bench) takeovers(ctx context.Context, g game, signal syscall.Signal) (took []time.Duration, err error) {
	w, err := b.newWorld(ctx, g, false)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	for _, p := range w.parts[1:] {
		if err := w.play(ctx, "engine-"+p.Name, p.Name); err != nil {
			return nil, err
		}
	}
	all, err := w.relay(ctx, b.takeoverCount, signal)
	if err == nil {
		err = errors.Join(w.end(), w.conserves(ctx, 0))
	}
	if err != nil {
		return nil, err
	}
	first, err := w.firstFirings(ctx, "one")
	if err != nil {
		return nil, err
	}
	for _, l := range all {
		at, ok := first[l.heir]
		if !ok {
			return nil, fmt.Errorf("%q has never fired", l.heir)
		}
		if at.Before(l.at) { // on a busy machine a stand-by may not hear of its owner in time
			fmt.Fprintf(os.Stderr, "%s took over before the owner was told to go, which is not counted\n", l.heir)
			continue
		}
		took = append(took, at.Sub(l.at))
	}
	if len(took) == 0 {
		return nil, errors.New("no owner was there to leave")
	}
	return took, nil
}

// relay has members own the region one, one after the other.
func (w *world) relay(ctx context.Context, times int, signal syscall.Signal) (all []left, err error) {
	name := func(i int) string { return "member-" + strconv.Itoa(i) }
	if err := w.play(ctx, name(0), "one"); err != nil {
		return nil, err
	}
	if err := w.settled(ctx, "one", name(0), ""); err != nil {
		return nil, err
	}
	for i := range times {
		owner, heir := name(i), name(i+1)
		if err := w.play(ctx, heir, "one"); err != nil {
			return nil, err
		}
		if err := w.settled(ctx, "one", owner, heir); err != nil {
			return nil, err
		}
		p := w.engines[owner]
		all = append(all, left{time.Now(), heir})
		if err := w.leave(owner, p, signal); err != nil {
			return nil, err
		}
		if err := w.settled(ctx, "one", heir, ""); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// leave sends an owner a signal and waits for its end.
func (w *world) leave(source string, p *process, signal syscall.Signal) error {
	delete(w.engines, source)
	if signal == syscall.SIGKILL {
		return p.kill()
	}
	return p.stop()
}

// firstFirings returns when the first commit with a firing of each owner of a
// region was stored, by the owner's name.
func (w *world) firstFirings(ctx context.Context, part string) (map[string]time.Time, error) {
	messages, err := w.messages(ctx, part)
	if err != nil {
		return nil, err
	}
	first, owner := map[string]time.Time{}, ""
	for _, m := range messages[1:] { // the first one is the header
		c, err := parseCommit(m.payload)
		if err != nil {
			return nil, fmt.Errorf("commit %d of %q: %w", m.sequence, part, err)
		}
		if c.owner != "" {
			owner = c.owner
		}
		if _, known := first[owner]; c.fired && !known {
			first[owner] = m.stored
		}
	}
	return first, nil
}

// message is a commit as the server has it.
type message struct {
	sequence uint64
	stored   time.Time // by the server's clock
	payload  []byte
}

// messages reads the whole log of a region, as the server has it.
func (w *world) messages(ctx context.Context, part string) ([]message, error) {
	name, err := stream.NameOf(logName(part))
	if err != nil {
		return nil, err
	}
	js, err := jetstream.New(w.conn)
	if err != nil {
		return nil, err
	}
	s, err := js.Stream(ctx, name)
	if err != nil {
		return nil, err
	}
	consumer, err := s.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{})
	if err != nil {
		return nil, err
	}
	in, err := consumer.Messages()
	if err != nil {
		return nil, err
	}
	defer in.Stop()
	var all []message
	for range s.CachedInfo().State.Msgs {
		m, err := in.Next(jetstream.NextMaxWait(endWithin))
		if err != nil {
			return nil, err
		}
		meta, err := m.Metadata()
		if err != nil {
			return nil, err
		}
		all = append(all, message{meta.Sequence.Stream, meta.Timestamp, m.Data()})
	}
	if len(all) == 0 {
		return nil, nats.ErrMsgNotFound
	}
	return all, nil
}

// commit is what a commit of the region of a ping-pong says here.
type commit struct {
	owner string // who owns the region from here on; "" if it does not say
	fired bool   // tokens have left for the other region, which is what a firing does
}

// The sections of a commit of one net; see package engine.
const (
	sectionCrossings = 1
	sectionOwnership = 3
)

var errCommit = errors.New("a commit that is none")

// parseCommit reads the time of a commit and its sections.
func parseCommit(payload []byte) (c commit, err error) {
	_, n := binary.Uvarint(payload)
	if n <= 0 {
		return c, errCommit
	}
	for rest := payload[n:]; len(rest) > 0; {
		kind, n1 := binary.Uvarint(rest)
		if n1 <= 0 {
			return c, errCommit
		}
		length, n2 := binary.Uvarint(rest[n1:])
		if n2 <= 0 || length > uint64(len(rest)-n1-n2) {
			return c, errCommit
		}
		body := rest[n1+n2:][:length]
		switch kind {
		case sectionCrossings:
			c.fired = true
		case sectionOwnership:
			var o struct {
				Owner   string
				Release bool
			}
			if err := json.Unmarshal(body, &o); err != nil {
				return c, fmt.Errorf("%w: %w", errCommit, err)
			}
			if !o.Release {
				c.owner = o.Owner
			}
		}
		rest = rest[n1+n2+int(length):]
	}
	return c, nil
}
