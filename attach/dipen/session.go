// SPDX-License-Identifier: Apache-2.0

package dipen

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/pnagent/pnagent/attach/dipen/replica"
)

const (
	lookEvery  = time.Second
	maxChanges = 1 << 20 // of one revision; etcd allows 128 in a transaction by default
)

// session reads from one endpoint until an error, and returns it; the next
// session continues from there.
func (s *source) session(ctx context.Context) error {
	if err := s.gate.login(ctx); err != nil {
		return err
	}
	if err := s.look(ctx); err != nil {
		return err
	}
	if !s.loaded() {
		if err := s.begin(ctx); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	looked := make(chan struct{})
	go func() {
		defer close(looked)
		cancel(s.keepLooking(ctx))
	}()
	err := s.follow(ctx)
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	cancel(nil)
	<-looked
	return err
}

// keepLooking calls look once a second, and returns when two calls in a row fail.
func (s *source) keepLooking(ctx context.Context) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	failed := false
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		err := s.look(ctx)
		if err != nil && (failed || errors.Is(err, errOther)) {
			return err
		}
		failed = err != nil
	}
}

// errOther reports that etcd is another cluster, or was restored to an earlier revision.
var errOther = errors.New("etcd is another cluster, or was restored to an earlier revision")

// look requests the newest revision, and records when it had been reached.
func (s *source) look(ctx context.Context) error {
	// The watch may already be ahead of the answer when it arrives.
	asked := s.now()
	applied, newest := s.revisions()
	revision, cluster, err := s.gate.newest(ctx, s.cfg.Prefix)
	if err != nil {
		return err
	}
	return s.noteLook(revision, cluster, asked, max(applied, newest))
}

// begin reads all keys for the first time: at the revision where the previous
// process stopped, or at the newest one.
func (s *source) begin(ctx context.Context) error {
	applied, newest := s.revisions()
	err := s.load(ctx, cmp.Or(applied, newest))
	if errors.Is(err, errCompacted) {
		return s.skip(ctx)
	}
	return err
}

// skip continues at the oldest revision that etcd still has.
func (s *source) skip(ctx context.Context) error {
	for {
		oldest, err := s.oldest(ctx)
		if err != nil {
			return err
		}
		if err := s.load(ctx, oldest); !errors.Is(err, errCompacted) {
			return err
		}
	}
}

// oldest returns the oldest revision that etcd still has. A watch from an
// earlier revision returns it.
func (s *source) oldest(ctx context.Context) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	stream, err := s.gate.watch(ctx, s.cfg.Prefix, 1)
	if err != nil {
		return 0, err
	}
	defer stream.Close()
	lines := newLines(stream)
	for {
		a, err := lines.next()
		if err != nil {
			return 0, err
		}
		if r := &a.Result; r.Canceled && r.Compact > 0 {
			return int64(r.Compact), nil
		} else if !r.Created {
			return 1, nil
		}
	}
}

// load reads all keys at one revision.
func (s *source) load(ctx context.Context, revision int64) error {
	p := s.cfg.Prefix
	s.edit(func(r *replica.Replica) { r.Begin(revision) })
	// Tokens are many and their values may be large, so only their keys are
	// read.
	for _, part := range []rangeRequest{
		{Key: []byte(p), End: []byte(p + "pl/"), Limit: pageNames},
		{Key: []byte(p + "pl0"), End: after(p), Limit: pageNames},
		{Key: []byte(p + "pl/"), End: []byte(p + "pl0"), Limit: pageKeys, KeysOnly: true},
	} {
		part.Revision = revision
		for more := true; more; {
			a, err := s.gate.page(ctx, p, part)
			if err != nil {
				return fmt.Errorf("reading all keys at revision %d: %w", revision, err)
			}
			s.add(a.Kvs)
			if more = a.More && len(a.Kvs) > 0; more {
				part.Key = append(a.Kvs[len(a.Kvs)-1].Key, 0)
			}
		}
	}
	return s.commit()
}

func (s *source) add(kvs []keyValue) {
	now := s.now()
	s.edit(func(r *replica.Replica) {
		for i := range kvs {
			kv := &kvs[i]
			r.Add(replica.KV{Key: string(kv.Key[len(s.cfg.Prefix):]), Value: kv.Value, Create: int64(kv.Create)}, now)
		}
	})
}

// follow watches until the stream ends.
func (s *source) follow(ctx context.Context) error {
	applied, _ := s.revisions()
	stream, err := s.gate.watch(ctx, s.cfg.Prefix, applied+1)
	if err != nil {
		return fmt.Errorf("watching: %w", err)
	}
	defer stream.Close()
	c := changes{source: s}
	for lines := newLines(stream); ; {
		a, err := lines.next()
		if errors.Is(err, errTooLarge) {
			return s.passOver(ctx)
		}
		if err != nil {
			return fmt.Errorf("watching: %w", err)
		}
		switch r := &a.Result; {
		case r.Canceled && r.Compact > 0:
			// etcd also cancels a watch that it considers slow. Then no change is
			// missing, and the next watch continues with the next revision.
			applied, _ = s.revisions()
			if int64(r.Compact) > applied+1 {
				if err := s.skip(ctx); err != nil {
					return err
				}
			}
			return errAgain
		case r.Canceled:
			return fmt.Errorf("watching: etcd ended it: %.200s", r.Reason)
		case r.Created:
			s.connected(true)
		default:
			if err := c.take(a); err != nil {
				return err
			}
		}
	}
}

// errAgain ends a session; the next one starts at once.
var errAgain = errors.New("continuing with another watch")

// passOver continues after an answer that is too large to read. It reads the
// keys as they are now.
func (s *source) passOver(ctx context.Context) error {
	s.edit(func(r *replica.Replica) { r.Drop(replica.FaultLongLine) })
	_, newest := s.revisions()
	if err := s.load(ctx, newest); err != nil {
		return err
	}
	return errAgain
}

// changes collects the changes of one revision, which may come in several answers.
type changes struct {
	source   *source
	revision int64
	events   []replica.Event
}

// take adds the changes of an answer, and applies those of complete revisions.
func (c *changes) take(a *watchAnswer) error {
	bad := 0
	for i := range a.Result.Events {
		revision, e, ok := a.Result.Events[i].event(c.source.cfg.Prefix)
		if !ok {
			bad++
			continue
		}
		if revision != c.revision {
			if err := c.flush(); err != nil {
				return err
			}
		}
		if len(c.events) >= maxChanges {
			return fmt.Errorf("watching: more than %d changes in revision %d", maxChanges, revision)
		}
		c.revision, c.events = revision, append(c.events, e)
	}
	if bad > 0 {
		c.source.edit(func(r *replica.Replica) {
			for range bad {
				r.Drop(replica.FaultBadValue)
			}
		})
	}
	if a.Result.Fragment {
		return nil
	}
	if err := c.flush(); err != nil {
		return err
	}
	if len(a.Result.Events) == 0 { // a progress notification
		c.source.reached(int64(a.Result.Header.Revision))
	}
	return nil
}

func (c *changes) flush() error {
	if len(c.events) == 0 {
		return nil
	}
	err := c.source.apply(c.revision, c.events)
	clear(c.events)
	c.events = c.events[:0]
	return err
}

// lines reads the answers of a watch, one a line that has at most maxLine bytes.
type lines struct{ *bufio.Scanner }

func newLines(r io.Reader) lines {
	s := bufio.NewScanner(r)
	s.Buffer(nil, maxLine)
	return lines{s}
}

// next returns the next answer.
func (l lines) next() (*watchAnswer, error) {
	for l.Scan() {
		if len(bytes.TrimSpace(l.Bytes())) > 0 {
			a, err := readWatch(l.Bytes())
			return a, cmp.Or(l.Err(), err) // the stream may have ended in the line
		}
	}
	err := l.Err()
	if errors.Is(err, bufio.ErrTooLong) {
		err = fmt.Errorf("%w: a line of more than %d bytes", errTooLarge, maxLine)
	}
	return nil, cmp.Or(err, io.EOF)
}
