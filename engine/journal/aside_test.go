// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"testing"
	"time"
)

// roomy begins no segment for a commit.
var roomy = Options{SegmentBytes: 1 << 20}

// slowDisk returns a journal whose next sync of a file, after the one commit that it has,
// waits: entered is closed when it has begun, and it ends with the error that is sent.
func slowDisk(t *testing.T, o Options) (dir *memDir, f *File, entered chan struct{}, end chan error) {
	dir = newMemDir()
	f, _, err := openIn(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	mustAppend(t, f, "1")
	entered, end = make(chan struct{}), make(chan error)
	dir.fault = func(op string) error {
		if op != "sync" {
			return nil
		}
		dir.fault = func(string) error { return nil }
		close(entered)
		return <-end
	}
	return dir, f, entered, end
}

// within fails the test if something does not end: it waits for the disk.
func within(t *testing.T, what string, done <-chan error) error {
	t.Helper()
	select {
	case err := <-done:
		return err
	case <-time.After(time.Minute):
		t.Fatal(what + " waits for the disk")
		return nil
	}
}

func begin(do func() error) <-chan error {
	done := make(chan error, 1)
	go func() { done <- do() }()
	return done
}

// Commits are appended while the disk syncs earlier ones. They are not durable by that sync.
//
//promise:durable load
func TestCommitsAreAppendedWhileTheDiskSyncs(t *testing.T) {
	ctx := context.Background()
	dir, f, entered, end := slowDisk(t, roomy)
	syncing := begin(func() error { return f.Sync(ctx, 1e15) })
	<-entered
	appended := begin(func() error { _, err := f.Append(ctx, 1, []byte("2")); return err })
	if err := within(t, "Append", appended); err != nil || f.Last() != 2 || f.Durable() != 0 {
		t.Fatalf("%v, last %d, durable %d", err, f.Last(), f.Durable())
	}
	if err := f.Confirm(ctx, 2); err != nil {
		t.Error(err)
	}
	end <- nil
	if err := within(t, "Sync", syncing); err != nil || f.Durable() != 1 || f.Idle() {
		t.Fatalf("%v, durable %d, idle: %v", err, f.Durable(), f.Idle())
	}
	if err := f.Sync(ctx, 1e15+100_000); err != nil || f.Durable() != 2 || !f.Idle() {
		t.Fatalf("%v, durable %d, idle: %v", err, f.Durable(), f.Idle())
	}
	next, _, err := openIn(dir.powerLoss(rand.New(rand.NewPCG(1, 1))), roomy)
	if err != nil || next.Last() != 2 {
		t.Fatalf("after a power loss the last commit is %d, %v", next.Last(), err)
	}
}

// A segment that is being synced is not replaced, closed, or covered by a snapshot.
func TestASegmentStaysWhileItIsSynced(t *testing.T) {
	ctx := context.Background()
	for name, do := range map[string]func(f *File) error{
		"a commit of the next segment": func(f *File) error { _, err := f.Append(ctx, 1, []byte("2")); return err },
		"a snapshot": func(f *File) error {
			return f.SaveSnapshot(ctx, 1, func(w io.Writer) error { _, err := w.Write([]byte("state")); return err })
		},
		"another sync": func(f *File) error { return f.Sync(ctx, 1e15+200_000) },
		"close":        func(f *File) error { return f.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			_, f, entered, end := slowDisk(t, Options{SegmentBytes: 1})
			syncing := begin(func() error { return f.Sync(ctx, 1e15) })
			<-entered
			done := begin(func() error { return do(f) })
			select {
			case err := <-done:
				t.Errorf("it does not wait: %v", err)
			case <-time.After(50 * time.Millisecond):
			}
			end <- nil
			if err := errors.Join(within(t, "Sync", syncing), within(t, name, done)); err != nil || f.Durable() < 1 {
				t.Errorf("%v, durable %d", err, f.Durable())
			}
		})
	}
}

// After a sync that fails, commits that were appended meanwhile are not acknowledged.
func TestWhatIsAppendedDuringASyncThatFailsIsNotAcknowledged(t *testing.T) {
	ctx := context.Background()
	_, f, entered, end := slowDisk(t, roomy)
	syncing := begin(func() error { return f.Sync(ctx, 1e15) })
	<-entered
	mustAppend(t, f, "2")
	end <- errDropped
	if err := within(t, "Sync", syncing); !errors.Is(err, ErrStopped) || !errors.Is(err, errDropped) {
		t.Fatal(err)
	}
	if err := f.Confirm(ctx, 2); !errors.Is(err, ErrStopped) || f.Durable() != 0 {
		t.Errorf("%v, durable %d", err, f.Durable())
	}
	if _, err := f.Append(ctx, 2, []byte("3")); !errors.Is(err, ErrStopped) {
		t.Error(err)
	}
	if err := f.Close(); !errors.Is(err, errDropped) {
		t.Error(err)
	}
}
