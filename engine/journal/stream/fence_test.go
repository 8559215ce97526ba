// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/engine/journal"
	"github.com/pnagent/pnagent/internal/natstest"
)

// perFlow runs a test with two logs named "log": the server answers every
// commit of the first, and few of the second.
func perFlow(t *testing.T, test func(t *testing.T, c Config)) {
	t.Run("an answer to each", func(t *testing.T) { test(t, Config{Name: "log"}) })
	t.Run("few answers", func(t *testing.T) { test(t, Config{Name: "log", few: true}) })
}

// inBubble runs a test in a synctest bubble.
func inBubble(test func(t *testing.T, c Config)) func(t *testing.T, c Config) {
	return func(t *testing.T, c Config) {
		natstest.Bubble(t, func(t *testing.T) { test(t, c) })
	}
}

// Another process appends while a writer's commits are on their way. None of
// them is stored, even if the stream reaches the sequence that one of them
// expects.
//
//promise:refused pause
//promise:owner pause
func TestOfAFencedWritersPipelineNothingIsStored(t *testing.T) { perFlow(t, fencedPipeline) }

func fencedPipeline(t *testing.T, c Config) {
	s := natstest.Start(t, natstest.JetStream(t.TempDir()))
	way := natstest.NewWay(t, s)
	c.Conn = natstest.Connect(t, way)
	old := openLog(t, c)
	mustAppend(t, old, "1", "2")
	next := openLog(t, Config{Conn: natstest.Connect(t, s), Name: "log"})

	way.Set(natstest.Hold, natstest.Pass)
	last := old.Last()
	for k := range 50 {
		var err error
		if last, err = old.Append(soon(t), last, fmt.Append(nil, "old ", k)); err != nil {
			t.Fatal(err)
		}
	}
	if old.Last() != 52 || old.Durable() != 2 {
		t.Errorf("last %d, durable %d", old.Last(), old.Durable())
	}
	mustAppend(t, next, "new 3", "new 4")
	way.Set(natstest.Pass, natstest.Pass)

	err := old.Confirm(soon(t), 3)
	if !errors.Is(err, journal.ErrStopped) || !errors.Is(err, journal.ErrNotLast) || !strings.Contains(err.Error(), "pnagent-log-log") {
		t.Errorf("confirmed: %v", err)
	}
	n, err := old.Append(soon(t), last, []byte("no"))
	if !errors.Is(err, journal.ErrStopped) || !errors.Is(err, journal.ErrNotLast) || n != 4 {
		t.Errorf("appended after %d: %v", n, err)
	}
	if err := old.Confirm(soon(t), 2); err != nil {
		t.Errorf("Confirm of commits that were confirmed before: %v", err)
	}
	for name, err := range map[string]error{"sync": old.Sync(soon(t), 0), "save": save(old, 2, "state")} {
		if !errors.Is(err, journal.ErrStopped) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := old.Refresh(soon(t)); err != nil || old.Last() != 4 {
		t.Errorf("last %d, %v", old.Last(), err)
	}
	mustAppend(t, old, "5")
	if got, want := list(t, next, 1), []string{"1", "2", "new 3", "new 4", "5"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Writers take the log from each other while they send as fast as they can.
// Each stored commit is directly after the one that its writer sent before.
func TestWritersThatFightLeaveNoPartOfAPipelineBehindAGap(t *testing.T) { perFlow(t, fighters) }

func fighters(t *testing.T, c Config) {
	s := natstest.Start(t, natstest.JetStream(t.TempDir()))
	ctx, cancel := context.WithCancel(context.Background())
	var fighters sync.WaitGroup
	for k := range 3 {
		c.Conn, c.Window = natstest.Connect(t, s), Window{Commits: 32}
		l := openLog(t, c)
		fighters.Go(func() { fight(ctx, t, l, k) })
	}
	watcher := openLog(t, Config{Conn: natstest.Connect(t, s), Name: "log"})
	var before struct{ writer, run, k int }
	runs := 0
	err := watcher.Follow(soon(t), 1, func(c journal.Commit) error {
		now := before
		if _, err := fmt.Sscanf(string(c.Payload), "%d %d %d", &now.writer, &now.run, &now.k); err != nil {
			return err
		}
		before.k++
		if now.k == 0 {
			runs++
		} else if now != before {
			return fmt.Errorf("commit %d is %v, want %v", c.Sequence, now, before)
		}
		before = now
		if runs == 20 {
			return errEnough
		}
		return nil
	})
	cancel()
	fighters.Wait()
	if !errors.Is(err, errEnough) {
		t.Error(err)
	}
}

// fight takes over and writes until another writer takes over, again and again.
func fight(ctx context.Context, t *testing.T, l *Log, writer int) {
	for run := 0; ctx.Err() == nil; run++ {
		if err := l.Refresh(ctx); err != nil {
			if ctx.Err() == nil {
				t.Error(err)
			}
			return
		}
		last, err := l.Last(), error(nil)
		for k := 0; err == nil && k < 200; k++ {
			last, err = l.Append(ctx, last, fmt.Append(nil, writer, " ", run, " ", k))
		}
		if err != nil && !errors.Is(err, journal.ErrNotLast) && ctx.Err() == nil {
			t.Error(err)
			return
		}
	}
}

// A process that has only followed appends after the last commit that it has
// read. The server checks that this is the last one.
func TestAFollowerTakesOverByAppending(t *testing.T) {
	s, first := oneServer(t)
	mustAppend(t, first, "1", "2")
	second := openLog(t, Config{Conn: natstest.Connect(t, s), Name: "a log"})
	third := openLog(t, Config{Conn: natstest.Connect(t, s), Name: "a log"})
	mustAppend(t, first, "3")
	if c, err := followTo(soon(t), second, 3); err != nil || c.last != 3 {
		t.Fatal(c.last, err)
	}
	mustAppend(t, second, "4")
	// The third log has not read 3 and 4.
	n, err := third.Append(soon(t), 2, []byte("no"))
	if err == nil {
		err = third.Confirm(soon(t), n)
	}
	if !errors.Is(err, journal.ErrNotLast) || !errors.Is(err, journal.ErrStopped) {
		t.Errorf("%v", err)
	}
	// The first log has not read 4 either. It sends after its own last commit.
	if _, err := first.Append(soon(t), 3, []byte("no")); err == nil {
		err = first.Confirm(soon(t), 4)
		if !errors.Is(err, journal.ErrNotLast) {
			t.Errorf("%v", err)
		}
	}
	if got, want := list(t, second, 1), []string{"1", "2", "3", "4"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// The commit is stored and the answer is lost. The log stops, and the writer
// finds its commit when it reads the end of the stream.
func TestAWriterFindsTheCommitWhoseAnswerWasLost(t *testing.T) { perFlow(t, inBubble(lostAnswer)) }

func lostAnswer(t *testing.T, c Config) {
	s := natstest.Start(t, natstest.JetStream(t.TempDir()))
	way := natstest.NewWay(t, s)
	c.Conn, c.AckWait = natstest.Connect(t, way), 200*time.Millisecond
	l := openLog(t, c)
	mustAppend(t, l, "1")
	way.Set(natstest.Pass, natstest.Drop)
	if _, err := l.Append(soon(t), 1, []byte("2")); err != nil {
		t.Fatal(err)
	}
	err := l.Confirm(soon(t), 2)
	if !errors.Is(err, journal.ErrStopped) || !errors.Is(err, nats.ErrTimeout) || errors.Is(err, journal.ErrNotLast) {
		t.Errorf("%v", err)
	}
	way.Set(natstest.Pass, natstest.Pass)
	way.Cut() // the rest of the stream would start in the middle of what was dropped
	if err := l.Refresh(soon(t)); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, l, "3")
	if got, want := list(t, l, 1), []string{"1", "2", "3"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// The connection is cut while commits are on their way. A prefix of them is
// stored, at least those that were confirmed, and the log continues after it.
//
//promise:durable cut
func TestACutPipelineLeavesABeginning(t *testing.T) { perFlow(t, inBubble(cutPipeline)) }

func cutPipeline(t *testing.T, c Config) {
	s := natstest.Start(t, natstest.JetStream(t.TempDir()))
	way := natstest.NewWay(t, s)
	c.Conn = natstest.Connect(t, way)
	l := openLog(t, c)
	last := uint64(0)
	for round := range 10 {
		var err error
		for err == nil {
			if last, err = l.Append(soon(t), last, fmt.Append(nil, last+1)); last%500 == uint64(50*round) {
				way.Cut()
			}
		}
		if !errors.Is(err, journal.ErrStopped) {
			t.Fatal(err)
		}
		sure := l.Durable()
		if err := l.Refresh(soon(t)); err != nil {
			t.Fatal(err)
		}
		if last = l.Last(); last < sure {
			t.Errorf("the last is %d, %d was confirmed", last, sure)
		}
	}
	for i, text := range list(t, l, 1) {
		if text != fmt.Sprint(i+1) {
			t.Fatalf("commit %d is %q", i+1, text)
		}
	}
}

// Without answers, a writer can send one window of commits. Waiting for room
// ends with the context.
//
//promise:bounds dark
func TestTheWindowBoundsWhatIsOnItsWay(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		s := natstest.Start(t, natstest.JetStream(t.TempDir()))
		way := natstest.NewWay(t, s)
		for name, c := range map[string]struct {
			window Window
			size   int
			want   uint64
			few    bool
		}{
			"commits":         {Window{Commits: 3}, 1, 3, false},
			"bytes":           {Window{Bytes: 100}, 40, 2, false},
			"one large":       {Window{Bytes: 100}, 1000, 1, false},
			"as many as fit":  {Window{Commits: 5, Bytes: 100}, 20, 5, false},
			"exactly as many": {Window{Commits: 50, Bytes: 100}, 20, 5, false},
			"few answers":     {Window{Commits: 50, Bytes: 60}, 10, 6, true},
		} {
			l := openLog(t, Config{Conn: natstest.Connect(t, way), Name: name, Window: c.window, few: c.few})
			way.Set(natstest.Hold, natstest.Pass)
			ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
			group := slices.Repeat([][]byte{make([]byte, c.size)}, 9)
			n, err := l.Append(ctx, 0, group...)
			cancel()
			if !errors.Is(err, context.DeadlineExceeded) || n != c.want {
				t.Errorf("%s: %d, want %d: %v", name, n, c.want, err)
			}
			way.Set(natstest.Pass, natstest.Pass)
			if n, err := l.Append(soon(t), n, group...); err != nil || n != c.want+9 {
				t.Errorf("%s: %d, %v", name, n, err)
			}
			if err := l.Close(); err != nil || l.Durable() != c.want+9 {
				t.Errorf("%s: durable %d, %v", name, l.Durable(), err)
			}
		}
	})
}

// A log without waiting callers gets one answer for flowMost commits. A caller
// that then waits gets the answer to the last commit at once, and from then on
// the server answers each commit.
func TestAnswersAreFewUntilACallerWaits(t *testing.T) {
	s := natstest.Start(t, natstest.JetStream(t.TempDir()))
	nc := natstest.Connect(t, s)
	l := openLog(t, Config{Conn: natstest.Connect(t, s), Name: "log"})
	answers, err := nc.SubscribeSync(l.inbox + ".>")
	if err != nil {
		t.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	received := func() (n int) {
		if err := nc.Flush(); err != nil {
			t.Fatal(err)
		}
		n, _, err := answers.Pending()
		if err != nil {
			t.Fatal(err)
		}
		for range n {
			if _, err := answers.NextMsg(patience); err != nil {
				t.Fatal(err)
			}
		}
		return n
	}
	write := func(commits int) {
		t.Helper()
		last := l.Last()
		for range commits {
			if last, err = l.Append(soon(t), last, []byte("commit")); err != nil {
				t.Fatal(err)
			}
		}
	}
	confirm := func() {
		t.Helper()
		if err := l.Confirm(soon(t), l.Last()); err != nil {
			t.Fatal(err)
		}
	}
	write(seldom)
	confirm()
	n := 0
	until(t, "there is an answer to each commit while a caller waits, and one that the batch has begun", func() bool {
		n += received()
		return n >= seldom+1
	})
	if n != seldom+1 {
		t.Errorf("%d answers for %d commits while a caller waits for the last; want one each", n, seldom)
	}
	write(seldom)
	until(t, "all have an answer", func() bool { return l.Durable() == l.Last() })
	received()
	write(10 * flowMost)
	confirm()
	if n := received(); n < 10 || n > 30 { // among them those to starts and ends of batches; the first commits of a batch may have more
		t.Errorf("%d answers for %d commits; want one for %d", n, 10*flowMost, flowMost)
	}
	write(seldom)
	confirm()
	if n := received(); n < seldom || n > seldom+3 {
		t.Errorf("%d answers for %d commits after a caller has waited; want one each", n, seldom)
	}
}

// A commit without a waiting caller is confirmed after a while, and answers to
// a slow writer do not count as missing.
func TestCommitsWithoutAWaitingCallerAreConfirmed(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		s := natstest.Start(t, natstest.JetStream(t.TempDir()))
		l := openLog(t, Config{Conn: natstest.Connect(t, s), Name: "log", AckWait: 400 * time.Millisecond, few: true})
		last := uint64(0)
		for range 30 {
			var err error
			if last, err = l.Append(soon(t), last, []byte("commit")); err != nil {
				t.Fatal(err)
			}
			if err := wait(soon(t), 30*time.Millisecond); err != nil {
				t.Fatal(err)
			}
		}
		until(t, "all is confirmed", func() bool { return l.Durable() == last })
		if err := l.Sync(soon(t), 0); err != nil {
			t.Error(err)
		}
	})
}

// A caller can append after commits that this log itself has not read.
func TestALogIsWrittenBehindCommitsThatItHasNotRead(t *testing.T) {
	s, first := oneServer(t)
	second := openLog(t, Config{Conn: natstest.Connect(t, s), Name: first.config.Name})
	mustAppend(t, first, "a", "b", "c")
	if err := first.Confirm(soon(t), 3); err != nil {
		t.Fatal(err)
	}
	if n, err := second.Append(soon(t), 3, []byte("d")); n != 4 || err != nil {
		t.Errorf("%d, %v; want commit 4", n, err)
	}
	if n, err := first.Append(soon(t), 2, []byte("x")); n != 3 || !errors.Is(err, journal.ErrNotLast) {
		t.Errorf("%d, %v; want commit 3 in the stream", n, err)
	}
}

// When the window is full before an answer is due, the log requests one.
func TestAWindowOfBytesIsAnsweredWhenItIsFull(t *testing.T) {
	s, _ := oneServer(t)
	l := openLog(t, Config{Conn: natstest.Connect(t, s), Name: "small", Window: Window{Bytes: 100}})
	commit := make([]byte, 10)
	for n := range uint64(5 * seldom) {
		if last, err := l.Append(soon(t), n, commit); last != n+1 || err != nil {
			t.Fatalf("append after commit %d: %d, %v", n, last, err)
		}
	}
}

// If no server answers, the log does not take its stream for an empty one.
//
//promise:notempty dark
func TestALogThatCannotBeAskedIsNotEmpty(t *testing.T) {
	s, l := oneServer(t)
	natstest.Stop(s)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	var got error
	for _, err := range l.Read(ctx, 1) {
		got = err
	}
	if got == nil || errors.Is(got, journal.ErrAhead) {
		t.Errorf("%v; want the error that the end is unknown", got)
	}
}
