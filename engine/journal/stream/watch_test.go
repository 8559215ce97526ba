// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/engine/journal"
	"github.com/pnagent/pnagent/internal/natstest"
)

// A log stops when answers are missing for the AckWait, plus or minus two ticks
// of its clock. A log that gets its answers does not stop.
func TestHowLongAnAnswerMayBeMissing(t *testing.T) { perFlow(t, inBubble(howLongAnAnswerMayBeMissing)) }

func howLongAnAnswerMayBeMissing(t *testing.T, c Config) {
	s := natstest.Start(t, natstest.JetStream(t.TempDir()))
	for _, wait := range []time.Duration{400 * time.Millisecond, 4 * time.Second, 20 * time.Second} {
		way := natstest.NewWay(t, s)
		c.Name, c.AckWait, c.Conn = fmt.Sprint("log ", wait), wait, natstest.Connect(t, way)
		l := openLog(t, c)
		mustAppend(t, l, "1")
		time.Sleep(10*wait + wait/3) // idle, and then between two ticks
		mustAppend(t, l, "2")
		way.Set(natstest.Pass, natstest.Hold)
		began := time.Now()
		if _, err := l.Append(soon(t), 2, []byte("3")); err != nil {
			t.Fatal(err)
		}
		err := l.Confirm(soon(t), 3)
		look := min(wait/4, time.Second)
		if took := time.Since(began); !errors.Is(err, journal.ErrStopped) || !errors.Is(err, nats.ErrTimeout) || took < wait || took > wait+2*look {
			t.Errorf("%v after %v, want a time-out after %v", err, took, wait)
		}
		if text := fmt.Sprintf("commit 3: %v after %v: ", errUnanswered, wait); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%v, want %q", err, text)
		}
	}
}

// While answers are missing, but not for too long, a writer continues until its
// window is full.
func TestAWriterContinuesWhileAnswersAreMissing(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		s := natstest.Start(t, natstest.JetStream(t.TempDir()))
		way := natstest.NewWay(t, s)
		l := openLog(t, Config{Conn: natstest.Connect(t, way), Name: "log"})
		mustAppend(t, l, "1")
		way.Set(natstest.Pass, natstest.Hold)
		for n := uint64(1); n < 5; n++ {
			began := time.Now()
			if last, err := l.Append(soon(t), n, []byte("more")); err != nil || last != n+1 || time.Since(began) > 0 {
				t.Errorf("%d after %v: %v", last, time.Since(began), err)
			}
			time.Sleep(900 * time.Millisecond)
		}
		way.Set(natstest.Pass, natstest.Pass)
		if err := l.Confirm(soon(t), 5); err != nil {
			t.Error(err)
		}
		time.Sleep(3 * time.Second)
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.pipe.batch != "" {
			t.Error("the log lets the server drop the batch")
		}
	})
}

// A log wakes nothing while it has no commit on its way: when it is opened, once its batch has
// ended, and after it has stopped.
func TestALogAtRestLooksAtNothing(t *testing.T) { perFlow(t, inBubble(restingLog)) }

func restingLog(t *testing.T, c Config) {
	s := natstest.Start(t, natstest.JetStream(t.TempDir()))
	way := natstest.NewWay(t, s)
	c.Name, c.Conn, c.AckWait = "log", natstest.Connect(t, way), 4*time.Second
	l := openLog(t, c)
	rests := func(when string, want bool) {
		t.Helper()
		synctest.Wait()
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.rests != want {
			t.Errorf("%s: at rest is %v", when, l.rests)
		}
	}
	idle := func(when string, want bool) {
		t.Helper()
		if got := l.Idle(); got != want {
			t.Errorf("%s: idle is %v", when, got)
		}
	}
	time.Sleep(2 * time.Second)
	rests("opened", true)
	idle("opened", true)
	for n := range 3 {
		mustAppend(t, l, fmt.Sprint(n))
		rests("a commit", false)
		time.Sleep(3 * time.Second)
		rests("its batch has ended", true)
		idle("its batch has ended", true)
	}
	way.Set(natstest.Pass, natstest.Hold)
	if _, err := l.Append(soon(t), 3, []byte("lost")); err != nil {
		t.Fatal(err)
	}
	time.Sleep(3 * time.Second)
	rests("an answer is missing", false)
	idle("an answer is missing", false)
	time.Sleep(3 * time.Second)
	rests("stopped", true)
	idle("stopped: the engine is to ask why", false)
	if err := l.Sync(t.Context(), 0); !errors.Is(err, journal.ErrStopped) {
		t.Error(err)
	}
	way.Set(natstest.Pass, natstest.Pass)
}

// When its connection is cut or closed, a log with commits on their way stops
// at once. A log without continues when the connection is back.
func TestALogWhoseConnectionEnds(t *testing.T) { perFlow(t, inBubble(connectionEnds)) }

func connectionEnds(t *testing.T, c Config) {
	s := natstest.Start(t, natstest.JetStream(t.TempDir()))
	for name, k := range map[string]struct {
		end func(*natstest.Way, *nats.Conn)
		is  error
	}{
		"cut":    {func(w *natstest.Way, _ *nats.Conn) { w.Cut() }, nats.ErrDisconnected},
		"closed": {func(_ *natstest.Way, nc *nats.Conn) { nc.Close() }, nats.ErrConnectionClosed},
	} {
		way := natstest.NewWay(t, s)
		c.Name, c.Conn = name, natstest.Connect(t, way)
		l := openLog(t, c)
		mustAppend(t, l, "1")
		if name == "cut" {
			way.Cut()
			time.Sleep(100 * time.Millisecond)
			mustAppend(t, l, "2")
		} else {
			mustAppend(t, l, "2")
		}
		way.Set(natstest.Pass, natstest.Hold)
		if _, err := l.Append(soon(t), 2, []byte("3")); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		k.end(way, c.Conn)
		err := l.Confirm(soon(t), 3)
		if took := time.Since(began); took > 100*time.Millisecond || !errors.Is(err, journal.ErrStopped) || !errors.Is(err, k.is) || !strings.Contains(err.Error(), "commit 3: ") {
			t.Errorf("%s: %v after %v", name, err, took)
		}
		if n := l.Durable(); n != 2 {
			t.Errorf("%s: %d is durable", name, n)
		}
	}
}

// If the connection does not accept a commit, the log stops with the reason.
func TestACommitThatCanNotBePublished(t *testing.T) {
	s := natstest.Start(t, natstest.Options())
	nc := natstest.Connect(t, s)
	nc.Close()
	l, _ := scriptedLog(t, nc, &script{})
	l.replyTo, l.subject = replySubject, "subject"
	l.message = nats.Msg{Subject: "subject", Header: nats.Header{"Nats-Expected-Last-Sequence": {""}}}
	n, err := l.send(t.Context(), []byte("1"))
	if n != 1 || !errors.Is(err, journal.ErrStopped) || !errors.Is(err, nats.ErrConnectionClosed) || !strings.Contains(err.Error(), "commit 1: publish: ") {
		t.Errorf("%d, %v", n, err)
	}
	if n, err := l.Append(t.Context(), 1, []byte("2")); n != 1 || !errors.Is(err, journal.ErrStopped) || !strings.Contains(err.Error(), "append to stream S after commit 1: ") {
		t.Errorf("%d, %v", n, err)
	}
	l.begin(0)
	l.pipe.add(1)
	l.mu.Lock()
	l.ask()
	l.mu.Unlock()
	if err := l.Sync(t.Context(), 0); !errors.Is(err, nats.ErrConnectionClosed) || !strings.Contains(err.Error(), "the end of a batch after commit 1: publish: ") {
		t.Error(err)
	}
}

// Two processes that write in turn, each after it has read the other's commit,
// do not need any request to the server.
func TestTwoThatWriteInTurn(t *testing.T) { perFlow(t, writeInTurn) }

func writeInTurn(t *testing.T, c Config) {
	s := natstest.Start(t, natstest.JetStream(t.TempDir()))
	var logs [2]*Log
	for i := range logs {
		c.Conn = natstest.Connect(t, s)
		logs[i] = openLog(t, c)
	}
	var want []string
	for n := uint64(0); n < 30; n++ {
		l := logs[n/3%2]
		if n > 0 && n%3 == 0 {
			err := l.Follow(soon(t), n-min(n, 3)+1, func(c journal.Commit) error {
				if l.Last() != max(c.Sequence, n-3) {
					t.Errorf("commit %d comes, and the last is %d", c.Sequence, l.Last())
				}
				if c.Sequence == n {
					return errEnough
				}
				return nil
			})
			if !errors.Is(err, errEnough) {
				t.Fatal(err)
			}
		}
		text := fmt.Sprint("commit ", n+1)
		want = append(want, text)
		last, err := l.Append(soon(t), n, []byte(text))
		if err == nil {
			err = l.Confirm(soon(t), last)
		}
		if err != nil || last != n+1 {
			t.Fatalf("%d: %d, %v", n, last, err)
		}
	}
	for _, l := range logs {
		if got := list(t, l, 1); !slices.Equal(got, want) {
			t.Errorf("%q", got)
		}
	}
}

// A reader at the end of the stream waits without a limit for the next commit.
func TestAReaderAtTheEndWaits(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		s, l := oneServer(t)
		reader := openLog(t, Config{Conn: natstest.Connect(t, s), Name: "a log", AckWait: time.Second})
		mustAppend(t, l, "1", "2")
		for n := uint64(3); n < 6; n++ {
			ctx, cancel := context.WithCancel(t.Context())
			received := make(chan string, 9)
			done := make(chan error, 1)
			go func() {
				done <- reader.Follow(ctx, n, func(c journal.Commit) error { received <- string(c.Payload); return nil })
			}()
			time.Sleep(time.Minute)
			mustAppend(t, l, fmt.Sprint(n))
			if got := <-received; got != fmt.Sprint(n) {
				t.Errorf("%q", got)
			}
			cancel()
			if err := <-done; !errors.Is(err, context.Canceled) || len(received) > 0 {
				t.Error(err)
			}
		}
	})
}
