// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		if err := child(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

func mustOpen(t testing.TB, dir string, o Options) *File {
	t.Helper()
	f, w, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(w) != 0 {
		t.Fatal(w)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func mustAppend(t testing.TB, f *File, commits ...string) {
	t.Helper()
	var group [][]byte
	for _, c := range commits {
		group = append(group, []byte(c))
	}
	if _, err := f.Append(context.Background(), f.Last(), group...); err != nil {
		t.Fatal(err)
	}
}

// list returns the commits from a number on, and the error at the end.
func list(f *File, from uint64) (commits []string, err error) {
	for c, err := range f.Read(context.Background(), from) {
		if err != nil {
			return commits, err
		}
		commits = append(commits, fmt.Sprintf("%d:%s", c.Sequence, c.Payload))
	}
	return commits, nil
}

func TestCommitsAreThereInOrderAfterClosingAndOpening(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "journal")
	for i := range 4 {
		f := mustOpen(t, dir, Options{Mode: SyncMode(i % 3), SegmentBytes: 64})
		mustAppend(t, f, fmt.Sprint("a", i), "", strings.Repeat("x", i*1000))
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Errorf("closing again: %v", err)
		}
	}
	f := mustOpen(t, dir, Options{})
	got, err := list(f, 1)
	if err != nil || len(got) != 12 || got[0] != "1:a0" || got[1] != "2:" || got[9] != "10:a3" || len(got[11]) != 3003 {
		t.Errorf("%.40q, %v", got, err)
	}
	if got, err := list(f, 11); err != nil || len(got) != 2 {
		t.Errorf("from 11: %.40q, %v", got, err)
	}
	if f.Last() != 12 || f.Durable() != 12 {
		t.Errorf("last %d, durable %d", f.Last(), f.Durable())
	}
}

//promise:owner stop
func TestASecondOpenerIsRefused(t *testing.T) {
	dir := t.TempDir()
	f := mustOpen(t, dir, Options{})
	if _, _, err := Open(dir, Options{}); !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), dir) {
		t.Errorf("second opener: %v", err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	mustOpen(t, dir, Options{})
}

// The lock is on the directory, so a second process is refused even after the
// file "lock" was removed.
//
//promise:owner damage
func TestASecondOpenerIsRefusedWithoutTheLockFile(t *testing.T) {
	dir := t.TempDir()
	f := mustOpen(t, dir, Options{})
	mustAppend(t, f, "1")
	if err := os.Remove(filepath.Join(dir, lockName)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Open(dir, Options{}); !errors.Is(err, ErrLocked) {
		t.Errorf("second opener: %v", err)
	}
	mustAppend(t, f, "2")
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if got, err := list(mustOpen(t, dir, Options{}), 1); err != nil || !slices.Equal(got, []string{"1:1", "2:2"}) {
		t.Errorf("%q, %v", got, err)
	}
}

// A reader of an open journal gets an error for a missing segment, not the end
// of the log.
func TestAMissingSegmentIsNotTheEndOfTheLog(t *testing.T) {
	for missing := range 3 {
		dir := t.TempDir()
		f := mustOpen(t, dir, Options{SegmentBytes: 1})
		for i := range 3 {
			mustAppend(t, f, fmt.Sprint(i+1))
		}
		if err := os.Remove(filepath.Join(dir, segmentName(uint64(missing+1)))); err != nil {
			t.Fatal(err)
		}
		if got, err := list(f, 1); !errors.Is(err, ErrCovered) || len(got) != missing {
			t.Errorf("without segment %d: %q, %v; want %d commits and %v", missing+1, got, err, missing, ErrCovered)
		}
	}
}

// A reader of an open journal gets an error for new damage.
//
//promise:damage damage
func TestADamagedSegmentIsNotTheEndOfTheLog(t *testing.T) {
	for damaged := range 3 {
		for name, change := range map[string]func(b []byte) []byte{
			"the header":    func(b []byte) []byte { b[3]++; return b },
			"the record":    func(b []byte) []byte { b[headerSize+2]++; return b },
			"the payload":   func(b []byte) []byte { b[headerSize+recordHeader]++; return b },
			"it is cut":     func(b []byte) []byte { return b[:len(b)-1] },
			"it is emptied": func([]byte) []byte { return nil },
		} {
			dir := t.TempDir()
			f := mustOpen(t, dir, Options{SegmentBytes: 1})
			for i := range 3 {
				mustAppend(t, f, fmt.Sprint(i+1))
			}
			path := filepath.Join(dir, segmentName(uint64(damaged+1)))
			if err := os.WriteFile(path, change(must(os.ReadFile(path))), 0o600); err != nil {
				t.Fatal(err)
			}
			var corrupt *CorruptError
			if got, err := list(f, 1); !errors.As(err, &corrupt) || len(got) != damaged {
				t.Errorf("%s of segment %d: %q, %v; want %d commits and a CorruptError", name, damaged+1, got, err, damaged)
			}
		}
	}
}

// After a snapshot that cannot be stored, the journal still takes commits. It
// also takes snapshots once there is space again.
func TestASnapshotThatFailsStopsNothing(t *testing.T) {
	for _, op := range []string{"create", "write", "sync", "rename", "syncdir"} {
		dir := newMemDir()
		f, _, err := openIn(dir, must(Options{Mode: SyncAlways, SegmentBytes: 1}.checked()))
		if err != nil {
			t.Fatal(err)
		}
		mustAppend(t, f, "1", "2")
		mustAppend(t, f, "3")
		save := func() error {
			return f.SaveSnapshot(t.Context(), 3, func(w io.Writer) error { _, err := w.Write([]byte("state")); return err })
		}
		dir.fault = func(what string) error {
			if what == op {
				return errFull
			}
			return nil
		}
		if err := save(); !errors.Is(err, errFull) || errors.Is(err, ErrStopped) {
			t.Errorf("%s: %v", op, err)
		}
		if upTo, err := f.LoadSnapshot(t.Context(), func(io.Reader) error { return nil }); upTo != 0 || err != nil {
			t.Errorf("%s: a snapshot up to %d, %v", op, upTo, err)
		}
		dir.fault = func(string) error { return nil }
		mustAppend(t, f, "4")
		after := dir.powerLoss(rand.New(rand.NewPCG(1, 2)))
		again, _, err := openIn(after, f.options)
		if err != nil {
			t.Fatalf("%s: %v", op, err)
		}
		from := again.newest
		if got, err := list(again, from+1); err != nil || len(got) != int(4-from) {
			t.Errorf("%s: %q after %d, %v", op, got, from, err)
		}
		if err := save(); err != nil || f.newest != 3 {
			t.Errorf("%s: saved again: %v", op, err)
		}
	}
}

// A segment counts only when its name is durable. If Append cannot make it
// durable, it returns an error and the journal stops.
func TestASegmentWhoseNameIsNotDurableIsRefused(t *testing.T) {
	dir := newMemDir()
	f, _, err := openIn(dir, must(Options{Mode: SyncAlways, SegmentBytes: 1}.checked()))
	if err != nil {
		t.Fatal(err)
	}
	mustAppend(t, f, "1")
	dir.fault = func(what string) error {
		if what == "syncdir" {
			return errFull
		}
		return nil
	}
	if last, err := f.Append(t.Context(), 1, []byte("2")); !errors.Is(err, ErrStopped) || !errors.Is(err, errFull) || last != 1 {
		t.Errorf("%d, %v", last, err)
	}
}

func TestWhenCommitsAreDurable(t *testing.T) {
	ctx := context.Background()
	const ms = 1000
	at := int64(1_700_000_000_000_000)
	for mode, want := range map[SyncMode][6]uint64{
		SyncAlways:   {1, 1, 2, 2, 3, 4},
		SyncInterval: {0, 1, 1, 2, 2, 4},
		SyncNone:     {0, 0, 0, 0, 0, 0},
	} {
		f := mustOpen(t, t.TempDir(), Options{Mode: mode, Interval: 100 * time.Millisecond})
		var got [6]uint64
		sync := func(now int64) {
			if err := f.Sync(ctx, now); err != nil {
				t.Fatal(err)
			}
		}
		mustAppend(t, f, "1")
		got[0] = f.Durable()
		sync(at) // the first one
		got[1] = f.Durable()
		mustAppend(t, f, "2")
		sync(at + 99*ms) // too early
		got[2] = f.Durable()
		sync(at + 100*ms)
		got[3] = f.Durable()
		mustAppend(t, f, "3")
		got[4] = f.Durable()
		mustAppend(t, f, "4")
		sync(at - 3600*1000*ms) // the clock was set back
		got[5] = f.Durable()
		if got != want {
			t.Errorf("%v: durable %v, want %v", mode, got, want)
		}
	}
}

func TestWhatIsNotThereCanNotBeRead(t *testing.T) {
	f := mustOpen(t, t.TempDir(), Options{SegmentBytes: 1})
	if got, err := list(f, 1); err != nil || len(got) != 0 {
		t.Errorf("an empty journal: %q, %v", got, err)
	}
	for i := range 6 {
		mustAppend(t, f, fmt.Sprint(i+1))
	}
	if err := f.SaveSnapshot(context.Background(), 4, func(io.Writer) error { return nil }); err != nil {
		t.Fatal(err)
	}
	for from, want := range map[uint64]error{0: ErrCovered, 4: ErrCovered, 8: ErrAhead} {
		if got, err := list(f, from); !errors.Is(err, want) || len(got) != 0 {
			t.Errorf("from %d: %q, %v; want %v", from, got, err, want)
		}
	}
	for from, want := range map[uint64][]string{5: {"5:5", "6:6"}, 7: nil} {
		if got, err := list(f, from); err != nil || !slices.Equal(got, want) {
			t.Errorf("from %d: %q, %v; want %v", from, got, err, want)
		}
	}
	read := uint64(0)
	for c, err := range f.Read(context.Background(), 5) {
		read = c.Sequence
		if err != nil {
			t.Error(err)
		}
		break
	}
	if read != 5 {
		t.Errorf("reading from 5 starts with %d", read)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	calls := 0
	for _, err := range f.Read(ctx, 5) {
		calls++
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	if calls != 1 {
		t.Errorf("a reader whose context has ended gets %d results; want one error", calls)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := list(f, 5); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
}

func TestASnapshotReplacesTheCommitsAndSnapshotsBefore(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	f := mustOpen(t, dir, Options{SegmentBytes: 1})
	if upTo, err := f.LoadSnapshot(ctx, func(io.Reader) error { t.Error("called"); return nil }); upTo != 0 || err != nil {
		t.Errorf("without a snapshot: %d, %v", upTo, err)
	}
	mustAppend(t, f, "1", "2")
	mustAppend(t, f, "3")
	mustAppend(t, f, "4")
	state := bytes.Repeat([]byte("state "), chunkSize/2)
	for _, upTo := range []uint64{1, 3} {
		if err := f.SaveSnapshot(ctx, upTo, func(w io.Writer) error { _, err := w.Write(state[:upTo*chunkSize]); return err }); err != nil {
			t.Fatal(err)
		}
	}
	if names, want := must(f.dir.names()), []string{snapshotName(3), segmentName(4), lockName}; !equalSets(names, want) {
		t.Errorf("files %q, want %q", names, want)
	}
	for upTo, want := range map[uint64]error{0: ErrAhead, 2: ErrCovered, 5: ErrAhead} {
		if err := f.SaveSnapshot(ctx, upTo, func(io.Writer) error { t.Error("called"); return nil }); !errors.Is(err, want) {
			t.Errorf("up to %d: %v, want %v", upTo, err, want)
		}
	}
	for range 2 {
		upTo, err := f.LoadSnapshot(ctx, func(r io.Reader) error {
			got, err := io.ReadAll(r)
			if !bytes.Equal(got, state[:3*chunkSize]) {
				t.Errorf("a state of %d bytes", len(got))
			}
			return err
		})
		if upTo != 3 || err != nil {
			t.Errorf("up to %d, %v", upTo, err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		f = mustOpen(t, dir, Options{})
	}
}

func TestASnapshotThatItsWriterGivesUpLeavesAllAsItWas(t *testing.T) {
	f := mustOpen(t, t.TempDir(), Options{})
	mustAppend(t, f, "1")
	no := errors.New("no")
	ctx, cancel := context.WithCancel(context.Background())
	for name, write := range map[string]func(io.Writer) error{
		"error":   func(io.Writer) error { return no },
		"context": func(w io.Writer) error { cancel(); _, err := w.Write(nil); return err },
	} {
		if err := f.SaveSnapshot(ctx, 1, write); !errors.Is(err, no) && !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if names, want := must(f.dir.names()), []string{segmentName(1), lockName}; !equalSets(names, want) {
		t.Errorf("files %q, want %q", names, want)
	}
	mustAppend(t, f, "2")
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func equalSets(a, b []string) bool {
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(a, b)
}

func TestSyncModesAreText(t *testing.T) {
	for _, m := range []SyncMode{SyncInterval, SyncAlways, SyncNone} {
		var got SyncMode
		if err := got.UnmarshalText(must(m.MarshalText())); err != nil || got != m {
			t.Errorf("%v becomes %v, %v", m, got, err)
		}
	}
	var m SyncMode
	if err := m.UnmarshalText([]byte("often")); err == nil || !strings.Contains(err.Error(), "interval, always or none") {
		t.Error(err)
	}
	for _, o := range []Options{{Mode: 3}, {Interval: -1}, {SegmentBytes: -1}} {
		if _, _, err := Open(t.TempDir(), o); err == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
}

func TestWhatAppendAcceptedIsConfirmedAtOnce(t *testing.T) {
	ctx, f := context.Background(), mustOpen(t, t.TempDir(), Options{Mode: SyncNone})
	mustAppend(t, f, "1", "2")
	for upTo, want := range map[uint64]error{0: nil, 1: nil, 2: nil, 3: ErrAhead} {
		if err := f.Confirm(ctx, upTo); !errors.Is(err, want) {
			t.Errorf("up to %d: %v, want %v", upTo, err, want)
		}
	}
	if got := f.CommitLimit(); got != MaxCommit {
		t.Errorf("a commit of at most %d bytes", got)
	}
}
