// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/pnagent/pnagent/engine/journal"
	"github.com/pnagent/pnagent/internal/natstest"
)

// firstOf returns the number of the first commit in the stream.
func firstOf(t *testing.T, l *Log) uint64 {
	t.Helper()
	state, err := l.state(soon(t), patience)
	if err != nil {
		t.Fatal(err)
	}
	first, _ := bounds(state)
	return first
}

// pieces returns the number of messages in the bucket.
func pieces(t *testing.T, l *Log) uint64 {
	t.Helper()
	info, err := l.bucket.Info(soon(t))
	if err != nil {
		t.Fatal(err)
	}
	return info.State.Msgs
}

func TestASnapshotRemovesNothingThatIsStillNeeded(t *testing.T) {
	s := natstest.Start(t, natstest.JetStream(t.TempDir()))
	keep := uint64(0)
	l := openLog(t, Config{Conn: natstest.Connect(t, s), Name: "log", Keep: func() uint64 { return keep }})
	mustAppend(t, l, "1", "2", "3", "4", "5")
	for _, c := range []struct{ keep, upTo, first uint64 }{{0, 1, 1}, {1, 2, 1}, {3, 3, 3}, {9, 4, 5}, {2, 5, 5}} {
		keep = c.keep
		if err := save(l, c.upTo, "state"); err != nil {
			t.Fatal(err)
		}
		if got := firstOf(t, l); got != c.first {
			t.Errorf("up to %d, keeping from %d: the first is %d, want %d", c.upTo, c.keep, got, c.first)
		}
	}
}

// A writer that was paused while it saved a snapshot finishes late: the newer
// snapshot counts, and only what is older than the late one is removed.
func TestAnOlderWriterThatSavesLateDoesNoHarm(t *testing.T) {
	s, old := oneServer(t)
	mustAppend(t, old, "1", "2", "3", "4", "5", "6")
	next := openLog(t, Config{Conn: natstest.Connect(t, s), Name: "a log"})
	if err := save(old, 1, "at 1"); err != nil {
		t.Fatal(err)
	}
	err := old.SaveSnapshot(soon(t), 2, func(w io.Writer) error {
		if err := save(next, 4, "at 4"); err != nil {
			return err
		}
		_, err := io.WriteString(w, "at 2")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if state, upTo := load(t, next); state != "at 4" || upTo != 4 || firstOf(t, next) != 5 {
		t.Errorf("%q up to %d, the first is %d", state, upTo, firstOf(t, next))
	}
	if err := save(old, 3, "no"); !errors.Is(err, journal.ErrCovered) {
		t.Error(err)
	}
	if err := save(next, 5, "at 5"); err != nil {
		t.Fatal(err)
	}
	if n := pieces(t, next); n != 2 { // a name and a piece
		t.Errorf("%d messages are in the bucket", n)
	}
}

// Two processes that have read the same commits save the same snapshot.
func TestTwoSnapshotsUpToTheSameCommit(t *testing.T) {
	s, a := oneServer(t)
	mustAppend(t, a, "1", "2")
	b := openLog(t, Config{Conn: natstest.Connect(t, s), Name: "a log"})
	err := a.SaveSnapshot(soon(t), 2, func(w io.Writer) error {
		_, err := io.WriteString(w, "state")
		return errors.Join(err, save(b, 2, "state"))
	})
	if err != nil {
		t.Fatal(err)
	}
	if state, upTo := load(t, a); state != "state" || upTo != 2 {
		t.Errorf("%q up to %d", state, upTo)
	}
}

// If a snapshot is damaged, the one before counts, if it exists. The reader
// only gets a snapshot that is whole.
//
//promise:damage damage
func TestADamagedSnapshotIsPassedOver(t *testing.T) {
	_, l := oneServer(t)
	mustAppend(t, l, "1", "2", "3")
	state := strings.Repeat("state ", 100_000)
	if err := save(l, 1, state); err != nil {
		t.Fatal(err)
	}
	for i, damage := range []func(*jetstream.ObjectInfo) error{
		func(o *jetstream.ObjectInfo) error { // a piece is gone
			last, err := l.bucket.GetLastMsgForSubject(soon(t), l.pieceSubject(o.NUID))
			if err != nil {
				return err
			}
			return l.bucket.DeleteMsg(soon(t), last.Sequence)
		},
		func(o *jetstream.ObjectInfo) error { // a piece is replaced
			err := l.bucket.Purge(soon(t), jetstream.WithPurgeSubject(l.pieceSubject(o.NUID)))
			for range o.Chunks {
				_, e := l.js.Publish(soon(t), l.pieceSubject(o.NUID), []byte("other"))
				err = errors.Join(err, e)
			}
			return err
		},
	} {
		o, err := l.store.PutString(soon(t), snapshotName(uint64(i+2)), strings.Repeat("newer ", 100_000))
		if err == nil {
			err = damage(o)
		}
		if err != nil {
			t.Fatal(err)
		}
		if got, upTo := load(t, l); got != state || upTo != 1 {
			t.Errorf("damage %d: %d bytes up to %d", i, len(got), upTo)
		}
	}
	if err := l.bucket.Purge(soon(t), jetstream.WithPurgeSubject(l.nameSubject("none"))); err != nil {
		t.Fatal(err)
	}
	whole, err := l.snapshots(soon(t))
	if err != nil || len(whole) != 3 {
		t.Fatal(len(whole), err)
	}
	if err := l.bucket.Purge(soon(t), jetstream.WithPurgeSubject(l.pieceSubject(whole[2].object.NUID))); err != nil {
		t.Fatal(err)
	}
	upTo, err := l.LoadSnapshot(soon(t), func(io.Reader) error { t.Error("called"); return nil })
	if err == nil || upTo != 0 || !strings.Contains(err.Error(), "pieces") {
		t.Errorf("without a whole snapshot: up to %d, %v", upTo, err)
	}
}

// The pieces that a writer has left when it died are removed when they are old.
// Younger ones may belong to a snapshot that is still being written.
func TestPiecesOfAnUnfinishedSnapshotGo(t *testing.T) {
	_, l := oneServer(t)
	mustAppend(t, l, "1")
	if _, err := l.js.Publish(soon(t), l.pieceSubject("orphan"), []byte("piece")); err != nil {
		t.Fatal(err)
	}
	if err := save(l, 1, "state"); err != nil {
		t.Fatal(err)
	}
	if n := pieces(t, l); n != 3 {
		t.Errorf("%d messages, want those of the snapshot and the piece", n)
	}
	// Each request in turn fails, until one more than there are is to fail.
	whole, f := l.bucket, &failing{err: errors.New("refused")}
	for f.at = 1; f.calls == f.at-1; f.at++ {
		f.calls = 0
		l.bucket = failingStream{whole, f}
		if err := l.dropOrphans(soon(t), 0); errors.Is(err, f.err) != (f.calls == f.at) {
			t.Errorf("of %d requests number %d failed, and the error is %v", f.calls, f.at, err)
		}
	}
	l.bucket = whole
	if state, _ := load(t, l); pieces(t, l) != 2 || state != "state" {
		t.Errorf("%d messages, want those of the snapshot", pieces(t, l))
	}
}

// A follower that needs commits before a snapshot gets ErrCovered and must load
// it; one that is ahead of the stream gets ErrAhead.
func TestAFollowerWhereNothingIs(t *testing.T) {
	s := natstest.Start(t, natstest.JetStream(t.TempDir()))
	l := openLog(t, Config{Conn: natstest.Connect(t, s), Name: "log", AckWait: patience / 100})
	mustAppend(t, l, "1", "2", "3")
	if err := save(l, 2, "state"); err != nil {
		t.Fatal(err)
	}
	never := func(c journal.Commit) error { return fmt.Errorf("commit %d came", c.Sequence) }
	for from, want := range map[uint64]error{1: journal.ErrCovered, 2: journal.ErrCovered, 5: journal.ErrAhead} {
		if err := l.Follow(soon(t), from, never); !errors.Is(err, want) {
			t.Errorf("from %d: %v, want %v", from, err, want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	err := l.Follow(ctx, 3, func(journal.Commit) error {
		cancel()
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// A load of a snapshot returns an error if the server does not answer, even if
// there is no snapshot.
func TestALostAnswerIsNotAwaitedForever(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		s := natstest.Start(t, natstest.JetStream(t.TempDir()))
		way := natstest.NewWay(t, s)
		l := openLog(t, Config{Conn: natstest.Connect(t, way), Name: "log"})
		way.Set(natstest.Pass, natstest.Drop)
		loaded := make(chan error, 1)
		go func() {
			_, err := l.LoadSnapshot(context.Background(), func(io.Reader) error { return nil })
			loaded <- err
		}()
		if err := wait(soon(t), 50*time.Millisecond); err != nil {
			t.Fatal(err)
		}
		way.Set(natstest.Pass, natstest.Pass)
		way.Cut()
		select {
		case err := <-loaded:
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%v; want the end of the context", err)
			}
		case <-time.After(patience):
			t.Fatal("LoadSnapshot waits forever")
		}
	})
}
