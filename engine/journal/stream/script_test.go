// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/pnagent/pnagent/engine/journal"
	"github.com/pnagent/pnagent/internal/natstest"
)

// script replaces a stream with consumers: a test defines what its server
// answers, and reads the requests.
type script struct {
	jetstream.Stream // nil, so that a call of a method without a script panics
	began            time.Time
	cached           jetstream.StreamInfo
	info             func(n int) (jetstream.StreamState, error) // n counts from 0
	infos            int
	create           func(n int) (jetstream.ConsumerInfo, error) // nil: every request succeeds
	find             error
	remove           error
	made             []jetstream.ConsumerConfig
	at               []time.Duration
	removed          []string
}

func (s *script) CachedInfo() *jetstream.StreamInfo { return &s.cached }

func (s *script) Info(context.Context, ...jetstream.StreamInfoOpt) (*jetstream.StreamInfo, error) {
	s.infos++
	state, err := s.info(s.infos - 1)
	if err != nil {
		return nil, err
	}
	return &jetstream.StreamInfo{State: state}, nil
}

// pulled and pushed are consumers that consist only of a description.
type (
	pulled struct {
		jetstream.Consumer
		info jetstream.ConsumerInfo
	}
	pushed struct {
		jetstream.PushConsumer
		info jetstream.ConsumerInfo
	}
)

func (c pulled) CachedInfo() *jetstream.ConsumerInfo { return &c.info }
func (c pushed) CachedInfo() *jetstream.ConsumerInfo { return &c.info }

func (s *script) consumer(c jetstream.ConsumerConfig) (jetstream.ConsumerInfo, error) {
	s.made, s.at = append(s.made, c), append(s.at, time.Since(s.began))
	if s.create == nil {
		return jetstream.ConsumerInfo{}, nil
	}
	return s.create(len(s.made) - 1)
}

func (s *script) CreateConsumer(_ context.Context, c jetstream.ConsumerConfig) (jetstream.Consumer, error) {
	info, err := s.consumer(c)
	return pulled{info: info}, err
}

func (s *script) CreatePushConsumer(_ context.Context, c jetstream.ConsumerConfig) (jetstream.PushConsumer, error) {
	info, err := s.consumer(c)
	return pushed{info: info}, err
}

func (s *script) PushConsumer(context.Context, string) (jetstream.PushConsumer, error) {
	return nil, s.find
}

func (s *script) DeleteConsumer(_ context.Context, name string) error {
	s.removed = append(s.removed, name)
	return s.remove
}

// commits is the state of a stream with the commits of a range.
func commits(first, last uint64) jetstream.StreamState {
	return jetstream.StreamState{Msgs: last + 1 - first, FirstSeq: first, LastSeq: last}
}

// scriptedLog returns a log named S whose stream is a script, and the buffer
// that it logs to.
func scriptedLog(t *testing.T, nc *nats.Conn, s *script) (*Log, *bytes.Buffer) {
	t.Helper()
	var logged bytes.Buffer
	s.began = time.Now()
	c, err := Config{Conn: nc, Name: "S", AckWait: time.Second, Log: slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug}))}.checked()
	if err != nil {
		t.Fatal(err)
	}
	l := &Log{config: c, name: "S", stream: s, closing: make(chan struct{})}
	l.begin(0)
	return l, &logged
}

// published returns the messages published since its last call, without the
// inboxes.
func published(t *testing.T, s *server.Server, of *nats.Conn) func() []string {
	t.Helper()
	nc := natstest.Connect(t, s)
	sub, err := nc.SubscribeSync(">")
	if err == nil {
		err = nc.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	return func() (all []string) {
		t.Helper()
		if err := errors.Join(of.Flush(), nc.Flush()); err != nil {
			t.Fatal(err)
		}
		n, _, err := sub.Pending()
		for ; n > 0 && err == nil; n-- {
			var m *nats.Msg
			if m, err = sub.NextMsg(patience); err == nil && !strings.HasPrefix(m.Subject, "_INBOX.") {
				all = append(all, m.Subject+" "+string(m.Data))
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
}

// The effect of each message that a server can send to a reader. The reader has
// read up to commit 4, which was the second message of its consumer c.
func TestWhatAReaderMakesOfEachMessage(t *testing.T) {
	s := natstest.Start(t, natstest.Options())
	nc := natstest.Connect(t, s)
	received := published(t, s, nc)
	const ask = "$JS.API.CONSUMER.MSG.NEXT.S.c "
	type state struct {
		next, received, until, begun, asked uint64
		push                                bool
	}
	push := state{next: 5, received: 2}
	piece := state{next: 5, received: 2, until: 6000, begun: 3, asked: 4098}
	again := state{next: 5, received: 2, until: 6000, begun: 5, asked: 4100}
	anotherPiece := []string{ask + `{"batch":4096,"max_bytes":4194304,"no_wait":true}`}
	for name, c := range map[string]struct {
		from   state
		reply  string
		header string // lines
		want   state
		commit bool
		leaves bool     // whether the reader leaves the consumer
		why    string   // in the log; "" if nothing is logged
		sent   []string // to the server
	}{
		"the next commit":          {from: push, reply: "$JS.ACK.S.c.1.5.3.1000.7", want: state{next: 6, received: 3}, commit: true},
		"with a header":            {from: push, reply: "$JS.ACK.S.c.1.5.3.1000.7", header: "Nats-Expected-Last-Sequence: 4", want: state{next: 6, received: 3}, commit: true},
		"of an earlier consumer":   {from: push, reply: "$JS.ACK.S.b.1.5.3.1000.7", want: push},
		"a later commit":           {from: push, reply: "$JS.ACK.S.c.1.6.3.1000.7", want: push, leaves: true, why: "received commit 6 instead"},
		"an earlier commit":        {from: push, reply: "$JS.ACK.S.c.1.4.3.1000.7", want: push, leaves: true, why: "received commit 4 instead"},
		"of no consumer":           {from: push, want: push, leaves: true, why: "another consumer"},
		"a heartbeat":              {from: push, header: "Status: 100\nNats-Last-Consumer: 2", want: push},
		"a heartbeat with a loss":  {from: push, header: "Status: 100\nNats-Last-Consumer: 3", want: push, leaves: true, why: "messages were lost"},
		"an empty heartbeat":       {from: push, header: "Status: 100", want: push},
		"flow control":             {from: push, reply: "flow.1", header: "Status: 100\nNats-Last-Consumer: 3", want: push, sent: []string{"flow.1 "}},
		"flow control once more":   {from: push, header: "Status: 100\nNats-Last-Consumer: 3\nNats-Consumer-Stalled: flow.2", want: push, sent: []string{"flow.2 "}},
		"a consumer that is gone":  {from: push, header: "Status: 409\nDescription: Consumer Deleted", want: push, leaves: true, why: "409 Consumer Deleted"},
		"no pieces were asked for": {from: push, header: "Status: 404\nDescription: No Messages", want: push, leaves: true, why: "404 No Messages"},

		"a commit of a piece":         {from: piece, reply: "$JS.ACK.S.c.1.5.3.1000.7", want: state{next: 6, received: 3, until: 6000, begun: 3, asked: 4098}, commit: true},
		"the last of a piece":         {from: state{next: 5, received: 2, until: 7, begun: 3, asked: 5}, reply: "$JS.ACK.S.c.1.5.3.1000.7", want: state{next: 6, received: 3, until: 7, begun: 6, asked: 7}, commit: true, sent: []string{ask + `{"batch":2,"max_bytes":4194304,"no_wait":true}`}},
		"the last but one of a piece": {from: state{next: 5, received: 2, until: 7, begun: 3, asked: 6}, reply: "$JS.ACK.S.c.1.5.3.1000.7", want: state{next: 6, received: 3, until: 7, begun: 3, asked: 6}, commit: true},
		"the last but one of all":     {from: state{next: 5, received: 2, until: 6, begun: 3, asked: 5}, reply: "$JS.ACK.S.c.1.5.3.1000.7", want: state{next: 6, received: 3, until: 6, begun: 6, asked: 6}, commit: true, sent: []string{ask + `{"batch":1,"max_bytes":4194304,"no_wait":true}`}},
		"the last of all":             {from: state{next: 5, received: 2, until: 5, begun: 3, asked: 5}, reply: "$JS.ACK.S.c.1.5.3.1000.7", want: state{next: 6, received: 3, until: 5, begun: 3, asked: 5}, commit: true, leaves: true},
		"a whole piece":               {from: piece, header: "Status: 409\nDescription: Batch Completed", want: piece},
		"nothing more":                {from: piece, header: "Status: 404\nDescription: No Messages", want: again, sent: anotherPiece},
		"no time left":                {from: piece, header: "Status: 408\nDescription: Request Timeout", want: again, sent: anotherPiece},
		"no room left":                {from: piece, header: "Status: 409\nDescription: Message Size Exceeds MaxBytes", want: again, sent: anotherPiece},
		"an empty piece":              {from: state{next: 5, received: 2, until: 6000, begun: 5, asked: 4100}, header: "Status: 404\nDescription: No Messages", want: state{next: 5, received: 2, until: 6000, begun: 5, asked: 4100, push: true}, leaves: true, why: "a piece is empty"},
		"a consumer without help":     {from: piece, header: "Status: 409\nDescription: Leadership Change", want: piece, leaves: true, why: "409 Leadership Change"},
		"a heartbeat of a piece":      {from: piece, header: "Status: 100\nNats-Last-Consumer: 2", want: piece},
	} {
		l, logged := scriptedLog(t, nc, &script{})
		sub, err := nc.SubscribeSync("c")
		if err != nil {
			t.Fatal(err)
		}
		f := c.from
		tail := &tail{log: l, sub: sub, consumer: "c", next: f.next, received: f.received, until: f.until, begun: f.begun, asked: f.asked}
		m := &nats.Msg{Subject: "c", Reply: c.reply, Data: []byte("text"), Sub: sub, Header: nats.Header{}}
		for line := range strings.Lines(c.header) {
			key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
			m.Header.Set(key, value)
		}
		commit, ok := tail.take(m)
		if ok != c.commit || ok && (commit.Sequence != 5 || string(commit.Payload) != "text") || !ok && !reflect.DeepEqual(commit, journal.Commit{}) {
			t.Errorf("%s: commit %+v, %t; want a commit: %t", name, commit, ok, c.commit)
		}
		if got := (state{tail.next, tail.received, tail.until, tail.begun, tail.asked, tail.push}); got != c.want || (tail.sub == nil) != c.leaves || sub.IsValid() == c.leaves {
			t.Errorf("%s: %+v, left %t; want %+v, %t", name, got, tail.sub == nil, c.want, c.leaves)
		}
		if text := logged.String(); c.why == "" && text != "" || !strings.Contains(text, c.why) {
			t.Errorf("%s: logged %q, want %q", name, text, c.why)
		}
		if got := received(); !reflect.DeepEqual(got, c.sent) {
			t.Errorf("%s: sent %q, want %q", name, got, c.sent)
		}
		tail.leave()
	}
}

// If a reader can neither request the next piece nor report that it has room,
// it starts again and logs the reason.
func TestAReaderThatCannotSendStartsAgain(t *testing.T) {
	s := natstest.Start(t, natstest.Options())
	nc := natstest.Connect(t, s)
	sub, err := nc.SubscribeSync("c")
	if err != nil {
		t.Fatal(err)
	}
	nc.Close()
	for header, why := range map[string]string{
		"404": "asking for commits: nats: connection closed",
		"100": "flow control: nats: connection closed",
	} {
		l, logged := scriptedLog(t, nc, &script{})
		tail := &tail{log: l, sub: sub, consumer: "c", next: 5, until: 9, begun: 3, asked: 9}
		tail.take(&nats.Msg{Subject: "c", Reply: "flow", Sub: sub, Header: nats.Header{"Status": {header}}})
		if tail.sub != nil || !strings.Contains(logged.String(), why) || !strings.Contains(logged.String(), "starts again") {
			t.Errorf("%s: logged %q, want %q", header, logged, why)
		}
	}
}

// A reader that has its consumer and cannot ask for the first piece does not begin.
func TestAReaderThatCannotAskForItsFirstPiece(t *testing.T) {
	nc := natstest.Connect(t, natstest.Start(t, natstest.Options()))
	s := &script{info: func(int) (jetstream.StreamState, error) { return commits(1, 5000), nil }}
	s.create = func(int) (info jetstream.ConsumerInfo, _ error) {
		nc.Close()
		return info, nil
	}
	l, _ := scriptedLog(t, nc, s)
	tail := l.newTail(1)
	if err := tail.begin(soon(t)); !errors.Is(err, nats.ErrConnectionClosed) || len(s.made) != 1 || tail.sub != nil {
		t.Errorf("%v with %d consumers, subscribed: %t", err, len(s.made), tail.sub != nil)
	}
	tail.close()
}

// A piece has room for two of the largest commits.
func TestAPieceHasRoomForTheLargestCommits(t *testing.T) {
	o := natstest.Options()
	o.MaxPayload = 3 << 20
	s := natstest.Start(t, o)
	nc := natstest.Connect(t, s)
	received := published(t, s, nc)
	l, _ := scriptedLog(t, nc, &script{})
	sub, err := nc.SubscribeSync("c")
	if err != nil {
		t.Fatal(err)
	}
	tail := &tail{log: l, sub: sub, consumer: "c", next: 5, until: 5}
	if err := tail.askPiece(); err != nil {
		t.Fatal(err)
	}
	if got, want := received(), []string{`$JS.API.CONSUMER.MSG.NEXT.S.c {"batch":1,"max_bytes":6291456,"no_wait":true}`}; !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A reader that begins asks for the end of the stream. It makes the consumer
// that fits, at once or when the stream has the commits that it needs.
func TestHowAReaderBegins(t *testing.T) { natstest.Bubble(t, howAReaderBegins) }

func howAReaderBegins(t *testing.T) {
	server := natstest.Start(t, natstest.Options())
	wrong, closed := fmt.Errorf("%w: no", ErrSettings), fmt.Errorf("no: %w", nats.ErrConnectionClosed)
	always := func(s jetstream.StreamState) func(int) (jetstream.StreamState, error) {
		return func(int) (jetstream.StreamState, error) { return s, nil }
	}
	fails := func(times int, err error) func(int) (jetstream.ConsumerInfo, error) {
		return func(n int) (info jetstream.ConsumerInfo, _ error) {
			if n < times {
				return info, err
			}
			return info, nil
		}
	}
	for name, c := range map[string]struct {
		next   uint64
		push   bool
		info   func(n int) (jetstream.StreamState, error)
		create func(n int) (jetstream.ConsumerInfo, error)
		limit  time.Duration // of the context
		is     error
		took   time.Duration
		made   int    // consumers
		until  uint64 // of pieces
	}{
		"in the middle":        {next: 7, info: always(commits(3, 9)), made: 1},
		"at the first":         {next: 3, info: always(commits(3, 9)), made: 1},
		"at the end":           {next: 10, info: always(commits(3, 9)), made: 1},
		"where nothing is yet": {next: 1, info: always(jetstream.StreamState{}), made: 1},
		"where all was purged": {next: 10, info: always(jetstream.StreamState{FirstSeq: 10, LastSeq: 9}), made: 1},
		"before the first":     {next: 2, info: always(commits(3, 9)), is: journal.ErrCovered},
		"what was purged":      {next: 9, info: always(jetstream.StreamState{FirstSeq: 10, LastSeq: 9}), is: journal.ErrCovered},
		"near":                 {next: 10, info: always(commits(3, 1009)), made: 1},
		"far":                  {next: 10, info: always(commits(3, 1010)), made: 1, until: 1010},
		"far, but pushed":      {next: 10, push: true, info: always(commits(3, 1010)), made: 1},
		"ahead for too long":   {next: 11, info: always(commits(3, 9)), is: journal.ErrAhead, took: 1120 * time.Millisecond},
		"ahead for a while": {next: 11, info: func(n int) (jetstream.StreamState, error) { return commits(3, 6+uint64(n)), nil },
			made: 1, took: (20 + 40 + 80 + 160) * time.Millisecond},
		"no consumer for a while": {next: 5, info: always(commits(3, 9)), create: fails(7, nats.ErrTimeout), made: 8,
			took: (20 + 40 + 80 + 160 + 320 + 500 + 500) * time.Millisecond},
		"servers that are too old": {next: 5, info: always(commits(3, 9)), create: fails(1, wrong), made: 1, is: ErrSettings},
		"a closed connection":      {next: 5, info: always(commits(3, 9)), create: fails(1, closed), made: 1, is: nats.ErrConnectionClosed},
		"no stream": {next: 5, info: func(int) (jetstream.StreamState, error) { return jetstream.StreamState{}, nats.ErrConnectionClosed },
			is: nats.ErrConnectionClosed},
		"the end of the context": {next: 5, info: always(commits(3, 9)), create: fails(9, nats.ErrTimeout), limit: 100 * time.Millisecond,
			made: 3, is: context.DeadlineExceeded, took: 100 * time.Millisecond},
	} {
		func() {
			nc := natstest.Connect(t, server)
			s := &script{info: c.info, create: c.create}
			l, _ := scriptedLog(t, nc, s)
			ctx, cancel := context.WithTimeout(t.Context(), cmp.Or(c.limit, patience))
			defer cancel()
			subs := nc.NumSubscriptions()
			tail := l.newTail(c.next)
			tail.push = c.push
			s.began = time.Now()
			err := tail.begin(ctx)
			if took := time.Since(s.began); !errors.Is(err, c.is) || (c.is == nil) != (err == nil) || took != c.took || len(s.made) != c.made || tail.until != c.until {
				t.Errorf("%s: %v after %v, %d consumers, pieces up to %d; want %+v", name, err, took, len(s.made), tail.until, c)
			}
			if (tail.sub != nil) != (err == nil) {
				t.Errorf("%s: %v, and subscribed: %t", name, err, tail.sub != nil)
			}
			if err == nil {
				want := jetstream.ConsumerConfig{
					Name: tail.consumer, DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: c.next, AckPolicy: jetstream.AckNonePolicy,
					MaxDeliver: 1, InactiveThreshold: 5 * time.Second, MemoryStorage: true, Replicas: 1,
				}
				if c.until == 0 {
					want.DeliverSubject, want.FlowControl, want.IdleHeartbeat = tail.sub.Subject, true, 500*time.Millisecond
				}
				if got := s.made[len(s.made)-1]; !reflect.DeepEqual(got, want) || got.Name == "" {
					t.Errorf("%s: %+v, want %+v", name, got, want)
				}
			}
			tail.close()
			if got := nc.NumSubscriptions(); got != subs {
				t.Errorf("%s: %d subscriptions are left of %d", name, got, subs)
			}
		}()
	}
}

// A reader asks after 1.5 s whether a silent consumer still exists, and treats
// it as lost after 15 s even if it does. It keeps a consumer that sends
// heartbeats.
func TestWhenAReaderTakesItsConsumerForLost(t *testing.T) { natstest.Bubble(t, whenAConsumerIsLost) }

func whenAConsumerIsLost(t *testing.T) {
	nc := natstest.Connect(t, natstest.Start(t, natstest.Options()))
	for name, c := range map[string]struct {
		find  error
		beats time.Duration // 0 is no heartbeats
		want  []time.Duration
	}{
		"it is gone":              {find: jetstream.ErrConsumerNotFound, want: []time.Duration{0, 1500 * time.Millisecond, 3000 * time.Millisecond, 4500 * time.Millisecond}},
		"it is there":             {want: []time.Duration{0, 15 * time.Second, 30 * time.Second, 45 * time.Second}},
		"no answer":               {find: nats.ErrTimeout, want: []time.Duration{0, 15 * time.Second, 30 * time.Second, 45 * time.Second}},
		"heartbeats come":         {find: jetstream.ErrConsumerNotFound, beats: 900 * time.Millisecond, want: []time.Duration{0}},
		"now and then, from afar": {beats: 14 * time.Second, want: []time.Duration{0}},
	} {
		func() {
			s := &script{find: c.find, info: func(int) (jetstream.StreamState, error) { return commits(1, 4), nil }}
			l, _ := scriptedLog(t, nc, s)
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			s.began = time.Now()
			go func() {
				done <- l.Follow(ctx, 5, func(j journal.Commit) error { return fmt.Errorf("commit %d came", j.Sequence) })
			}()
			for end := s.began.Add(59 * time.Second); time.Now().Before(end); {
				if c.beats == 0 {
					time.Sleep(time.Until(end))
					break
				}
				time.Sleep(c.beats)
				synctest.Wait()
				m := &nats.Msg{Subject: s.made[0].DeliverSubject, Header: nats.Header{"Status": {"100"}, "Nats-Last-Consumer": {"0"}}}
				if err := l.config.Conn.PublishMsg(m); err != nil {
					t.Fatal(err)
				}
			}
			cancel()
			if err := <-done; !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "follow stream S at commit 4: ") {
				t.Errorf("%s: %v", name, err)
			}
			if got := s.at[:min(4, len(s.at))]; !reflect.DeepEqual(got, c.want) {
				t.Errorf("%s: consumers were made at %v, want %v", name, s.at, c.want)
			}
			if n := len(s.removed); n != 1 || s.removed[0] != s.made[len(s.made)-1].Name {
				t.Errorf("%s: %q were removed, want the last of %d", name, s.removed, len(s.made))
			}
		}()
	}
}

// A consumer that cannot be removed is left to the server. The log reports it
// at debug level only.
func TestAConsumerThatCanNotBeRemoved(t *testing.T) {
	server := natstest.Start(t, natstest.Options())
	for err, want := range map[error]bool{nil: false, nats.ErrTimeout: true} {
		s := &script{remove: err, info: func(int) (jetstream.StreamState, error) { return commits(1, 4), nil }}
		l, logged := scriptedLog(t, natstest.Connect(t, server), s)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		tail := l.newTail(5)
		if err := tail.begin(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := tail.read(ctx); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		tail.close()
		if got := strings.Contains(logged.String(), "was not removed"); got != want || len(s.removed) != 1 {
			t.Errorf("%v: %q is removed, logged %q", err, s.removed, logged)
		}
	}
}

// A reader of replicas makes consumers until one reads from a server that is
// not in doubt. If there is none, it reads from a server in doubt.
func TestAReaderLooksForAServerThatIsNotInDoubt(t *testing.T) {
	server := natstest.Start(t, natstest.Options())
	nc := natstest.Connect(t, server)
	failed := errors.New("no")
	for name, c := range map[string]struct {
		leaders string // of one consumer after the other; the last repeats
		doubted string
		remove  error
		want    string // the server
		made    int
		is      error
	}{
		"none is in doubt":     {leaders: "b", want: "b", made: 1},
		"the first is good":    {leaders: "bac", doubted: "ac", want: "b", made: 1},
		"the third is":         {leaders: "aab", doubted: "a", want: "b", made: 3},
		"the last one is":      {leaders: strings.Repeat("a", 15) + "b", doubted: "a", want: "b", made: 16},
		"it does not answer":   {leaders: "a", doubted: "a", want: "a", made: 16},
		"none can be removed":  {leaders: "ab", doubted: "a", remove: failed, made: 1, is: failed},
		"a single server":      {leaders: "-", doubted: "a", made: 1},
		"one that has no name": {leaders: "0", doubted: "a", made: 1},
	} {
		for _, last := range []uint64{9, 6000} {
			s := &script{remove: c.remove, create: func(n int) (info jetstream.ConsumerInfo, _ error) {
				switch leader := c.leaders[min(n, len(c.leaders)-1):][:1]; leader {
				case "-":
				case "0":
					info.Cluster = &jetstream.ClusterInfo{}
				default:
					info.Cluster = &jetstream.ClusterInfo{Leader: leader}
				}
				info.Config.Metadata = map[string]string{answeredBy: "2.14.0"}
				return info, nil
			}}
			s.cached.Config.Replicas = 3
			l, _ := scriptedLog(t, nc, s)
			for _, d := range c.doubted {
				l.config.Servers.doubt("S", string(d), 3)
			}
			subs := nc.NumSubscriptions()
			tail := &tail{log: l, next: 5}
			err := tail.subscribe(t.Context(), last)
			if !errors.Is(err, c.is) || (err == nil) != (c.is == nil) || tail.server != c.want && err == nil || len(s.made) != c.made {
				t.Errorf("%s: %v, server %q, %d consumers; want %+v", name, err, tail.server, len(s.made), c)
			}
			wantUntil := uint64(0)
			if last == 6000 {
				wantUntil = 6000
			}
			if err == nil && (tail.until != wantUntil || tail.sub == nil || nc.NumSubscriptions() != subs+1) || err != nil && (tail.sub != nil || nc.NumSubscriptions() != subs) {
				t.Errorf("%s: pieces up to %d, %d subscriptions more", name, tail.until, nc.NumSubscriptions()-subs)
			}
			for i, name := range s.removed {
				if s.made[i].Name != name {
					t.Errorf("%q is removed, want %q", name, s.made[i].Name)
				}
			}
			if err == nil && len(s.removed) != len(s.made)-1 {
				t.Errorf("%s: %d of %d consumers are removed", name, len(s.removed), len(s.made))
			}
			tail.leave()
		}
	}
}

// How long a log asks repeatedly for the end of its stream.
func TestHowLongAStreamIsAskedFor(t *testing.T) { natstest.Bubble(t, howLongAStreamIsAskedFor) }

func howLongAStreamIsAskedFor(t *testing.T) {
	nc := natstest.Connect(t, natstest.Start(t, natstest.Options()))
	missing := func(int) error { return jetstream.ErrStreamNotFound }
	for name, c := range map[string]struct {
		fails func(n int) error // nil: it answers
		limit time.Duration
		is    []error
		asked int
		took  time.Duration
	}{
		"it answers":      {fails: func(int) error { return nil }, asked: 1},
		"it answers late": {fails: func(n int) error { return []error{nats.ErrTimeout, nats.ErrNoResponders, nil}[min(n, 2)] }, asked: 3, took: 60 * time.Millisecond},
		"it answers very late": {fails: func(n int) error {
			if n < 50 {
				return nats.ErrTimeout
			}
			return nil
		}, asked: 51, took: (20+40+80+160+320)*time.Millisecond + 45*500*time.Millisecond},
		"it is gone": {fails: missing, is: []error{jetstream.ErrStreamNotFound}, asked: 7, took: 1120 * time.Millisecond},
		"it was gone for a while": {fails: func(n int) error {
			if n < 6 {
				return jetstream.ErrStreamNotFound
			}
			return nil
		}, asked: 7, took: 1120 * time.Millisecond},
		"it is gone, as far as can be known": {fails: func(n int) error {
			if n == 5 {
				return nats.ErrTimeout
			}
			return jetstream.ErrStreamNotFound
		}, is: []error{jetstream.ErrStreamNotFound}, asked: 10, took: 2620 * time.Millisecond},
		"the connection is closed": {fails: func(int) error { return fmt.Errorf("no: %w", nats.ErrConnectionClosed) }, is: []error{nats.ErrConnectionClosed}, asked: 1},
		"the context ends":         {fails: func(int) error { return nats.ErrTimeout }, limit: 100 * time.Millisecond, is: []error{context.DeadlineExceeded}, asked: 3, took: 100 * time.Millisecond},
	} {
		func() {
			s := &script{info: func(n int) (jetstream.StreamState, error) {
				if err := c.fails(n); err != nil {
					return commits(1, 1), err
				}
				return commits(3, 9), nil
			}}
			l, _ := scriptedLog(t, nc, s)
			ctx, cancel := context.WithCancel(t.Context())
			if c.limit > 0 {
				ctx, cancel = context.WithTimeout(t.Context(), c.limit)
			}
			defer cancel()
			began := time.Now()
			state, err := l.state(ctx, time.Second)
			if took := time.Since(began); took != c.took || s.infos != c.asked {
				t.Errorf("%s: %d requests in %v, want %d in %v", name, s.infos, took, c.asked, c.took)
			}
			want := commits(3, 9)
			if c.is != nil {
				want = jetstream.StreamState{}
			}
			if (err == nil) != (c.is == nil) || !reflect.DeepEqual(state, want) {
				t.Errorf("%s: %+v, %v", name, state, err)
			}
			for _, is := range c.is {
				if !errors.Is(err, is) {
					t.Errorf("%s: %v, want %v", name, err, is)
				}
			}
		}()
	}
	ended, cancel := context.WithCancel(t.Context())
	s := &script{info: func(int) (jetstream.StreamState, error) { cancel(); return commits(1, 1), io.ErrUnexpectedEOF }}
	l, _ := scriptedLog(t, nc, s)
	if _, err := l.state(ended, time.Second); !errors.Is(err, context.Canceled) || !errors.Is(err, io.ErrUnexpectedEOF) || s.infos != 1 {
		t.Errorf("%v after %d requests; want the end of the context, and the error of the last request", err, s.infos)
	}
}
