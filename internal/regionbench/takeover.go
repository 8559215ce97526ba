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
	at   time.Time // just before the signal
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
	reigns, err := w.reigns(ctx, "one")
	if err != nil {
		return nil, err
	}
	for _, l := range all {
		d, ok := stoodStill(l, reigns)
		if !ok { // on a busy machine a stand-by may not hear of its owner in time
			fmt.Fprintf(os.Stderr, "%s owned the region when its owner was told to go, which is not counted\n", l.heir)
			continue
		}
		took = append(took, d)
	}
	if len(took) == 0 {
		return nil, errors.New("no owner was there to leave")
	}
	return took, nil
}

// healed is how long after one owner was stopped and went on the next one is
// stopped: what its absence has left in the others has to be over by then.
const healed = 3 * time.Second

// relay has two members own the region one in turns. One that has left comes back
// under its name; one that was stopped goes on.
func (w *world) relay(ctx context.Context, times int, signal syscall.Signal) (all []left, err error) {
	name := func(i int) string { return "member-" + strconv.Itoa(i%2) }
	if err := w.play(ctx, name(0), "one"); err != nil {
		return nil, err
	}
	if err := w.settled(ctx, "one", name(0), ""); err != nil {
		return nil, err
	}
	for i := range times {
		owner, heir := name(i), name(i+1)
		if w.engines[heir] == nil {
			if err := w.play(ctx, heir, "one"); err != nil {
				return nil, err
			}
		}
		if err := w.settled(ctx, "one", owner, heir); err != nil {
			return nil, err
		}
		all = append(all, left{time.Now(), heir})
		if err := w.leave(owner, signal); err != nil {
			return nil, err
		}
		if err := w.settled(ctx, "one", heir, ""); err != nil {
			return nil, err
		}
		if signal == syscall.SIGSTOP {
			if err := errors.Join(w.engines[owner].cmd.Process.Signal(syscall.SIGCONT), pause(ctx, healed)); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// leave sends an owner a signal and, unless that stops it, waits for its end.
func (w *world) leave(source string, signal syscall.Signal) error {
	p := w.engines[source]
	if signal == syscall.SIGSTOP {
		return p.cmd.Process.Signal(signal)
	}
	delete(w.engines, source)
	if signal == syscall.SIGKILL {
		return p.kill()
	}
	return p.stop()
}

// reign is the time of one owner of a region.
type reign struct {
	owner string
	began time.Time // when its first commit was stored
	fired time.Time // and its first one with a firing; zero if there is none
}

// stoodStill returns how long after the signal the heir has fired. ok is false if
// the heir owned the region by then.
func stoodStill(l left, reigns []reign) (d time.Duration, ok bool) {
	for _, r := range reigns {
		if r.owner == l.heir && r.began.After(l.at) && !r.fired.IsZero() {
			return r.fired.Sub(l.at), true
		}
	}
	return 0, false
}

// reigns returns the owners of a region, one after the other.
func (w *world) reigns(ctx context.Context, part string) ([]reign, error) {
	messages, err := w.messages(ctx, part)
	if err != nil {
		return nil, err
	}
	var all []reign
	for _, m := range messages[1:] { // the first one is the header
		c, err := parseCommit(m.payload)
		if err != nil {
			return nil, fmt.Errorf("commit %d of %q: %w", m.sequence, part, err)
		}
		if c.owner != "" {
			all = append(all, reign{owner: c.owner, began: m.stored})
		}
		if n := len(all); c.fired && n > 0 && all[n-1].fired.IsZero() {
			all[n-1].fired = m.stored
		}
	}
	return all, nil
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

// markSize is what stands before a commit: a zero, that it is whole, and the mark
// of the commit before it.
const markSize = 10

// parseCommit reads the time of a commit and its sections.
func parseCommit(payload []byte) (c commit, err error) {
	if len(payload) < markSize || payload[0] != 0 {
		return c, errCommit
	}
	payload = payload[markSize:]
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
