// SPDX-License-Identifier: Apache-2.0

package journaltest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/engine/journal"
)

// Place prepares an empty log and returns a function that opens it. A test
// closes the log before it opens it again.
type Place func(t testing.TB) (open func() journal.Log)

// Run checks each rule over a log of its own.
func Run(t *testing.T, place Place) {
	for _, law := range []struct {
		name  string
		check func(*testing.T, func() journal.Log)
	}{
		{"commits are there in order after closing and opening", inOrder},
		{"an append that is not after the last commit changes nothing", onlyBehindTheLast},
		{"a commit has at most the limit", bounded},
		{"what was appended may be overwritten", notKept},
		{"an append whose context has ended changes nothing", endedAppend},
		{"what is confirmed is not ahead of the last", confirmed},
		{"what is not there can not be read", notThere},
		{"a reader may stop", readerStops},
		{"without a snapshot none is loaded", noSnapshot},
		{"a snapshot stands for the commits up to a number", snapshot},
		{"a snapshot that its writer gives up leaves all as it was", givenUp},
		{"the numbers continue after a snapshot of everything", numbersContinue},
		{"a closed log refuses", closed},
		{"writers, readers and snapshots go at once", atOnce},
	} {
		t.Run(law.name, func(t *testing.T) { law.check(t, place(t)) })
	}
}

func ended() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

func mustClose(t testing.TB, l journal.Log) {
	t.Helper()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

// mustAppend appends and confirms texts.
func mustAppend(t testing.TB, l journal.Log, texts ...string) {
	t.Helper()
	group := make([][]byte, len(texts))
	for i, text := range texts {
		group[i] = []byte(text)
	}
	last := l.Last()
	n, err := l.Append(context.Background(), last, group...)
	if err == nil {
		err = l.Confirm(context.Background(), n)
	}
	if want := last + uint64(len(texts)); err != nil || n != want || l.Last() != want {
		t.Fatalf("appended after %d: %d, last %d, want %d: %v", last, n, l.Last(), want, err)
	}
}

// list returns the commits from a number on, and the error at the end.
func list(l journal.Log, from uint64) (commits []string, err error) {
	for c, err := range l.Read(context.Background(), from) {
		if err != nil {
			return commits, err
		}
		commits = append(commits, fmt.Sprintf("%d:%s", c.Sequence, c.Payload))
	}
	return commits, nil
}

func wantCommits(t testing.TB, l journal.Log, from uint64, want ...string) {
	t.Helper()
	if got, err := list(l, from); err != nil || !slices.Equal(got, want) {
		t.Errorf("from %d: %.200q, %v; want %.200q", from, got, err, want)
	}
}

func save(l journal.Log, upTo uint64, state []byte) error {
	return l.SaveSnapshot(context.Background(), upTo, func(w io.Writer) error { _, err := w.Write(state); return err })
}

func wantSnapshot(t testing.TB, l journal.Log, upTo uint64, state []byte) {
	t.Helper()
	got, err := l.LoadSnapshot(context.Background(), func(r io.Reader) error {
		b, err := io.ReadAll(r)
		if !bytes.Equal(b, state) {
			t.Errorf("loaded a state of %d bytes, want %d", len(b), len(state))
		}
		return err
	})
	if got != upTo || err != nil {
		t.Errorf("a snapshot up to %d, want %d: %v", got, upTo, err)
	}
}

func inOrder(t *testing.T, open func() journal.Log) {
	long := strings.Repeat("x", 3000)
	for i := range 4 {
		l := open()
		if l.Last() != uint64(3*i) || l.Durable() != l.Last() {
			t.Errorf("after opening: last %d, durable %d", l.Last(), l.Durable())
		}
		mustAppend(t, l, fmt.Sprint("a", i), "", long)
		if l.Durable() > l.Last() {
			t.Errorf("last %d, durable %d", l.Last(), l.Durable())
		}
		if err := l.Sync(context.Background(), 1_700_000_000_000_000); err != nil {
			t.Error(err)
		}
		mustClose(t, l)
	}
	l := open()
	defer mustClose(t, l)
	wantCommits(t, l, 1, "1:a0", "2:", "3:"+long, "4:a1", "5:", "6:"+long, "7:a2", "8:", "9:"+long, "10:a3", "11:", "12:"+long)
	wantCommits(t, l, 11, "11:", "12:"+long)
	wantCommits(t, l, 13)
}

func onlyBehindTheLast(t *testing.T, open func() journal.Log) {
	l := open()
	defer mustClose(t, l)
	mustAppend(t, l, "1", "2")
	for _, last := range []uint64{0, 1, 3, 1 << 60} {
		if n, err := l.Append(context.Background(), last, []byte("no")); !errors.Is(err, journal.ErrNotLast) || n != 2 {
			t.Errorf("append after %d: %d, %v", last, n, err)
		}
	}
	mustAppend(t, l, "3")
	wantCommits(t, l, 1, "1:1", "2:2", "3:3")
}

func bounded(t *testing.T, open func() journal.Log) {
	ctx, l := context.Background(), open()
	defer mustClose(t, l)
	limit := l.CommitLimit()
	if limit < 1000 || limit > journal.MaxCommit {
		t.Fatalf("a limit of %d bytes", limit)
	}
	most := make([]byte, limit)
	many := make([][]byte, journal.MaxGroup/limit+2)
	for i := range many {
		many[i] = most
	}
	for name, group := range map[string][][]byte{"a commit": {{}, append(slices.Clone(most), 0)}, "a group": many} {
		if n, err := l.Append(ctx, 0, group...); !errors.Is(err, journal.ErrTooLarge) || n != 0 {
			t.Errorf("%s: %d, %v", name, n, err)
		}
	}
	if n, err := l.Append(ctx, 0, most, nil); err != nil || n != 2 {
		t.Errorf("the largest commit: %d, %v", n, err)
	}
	if n, err := l.Append(ctx, 2); err != nil || n != 2 {
		t.Errorf("no commits: %d, %v", n, err)
	}
	if err := l.Confirm(ctx, 2); err != nil {
		t.Error(err)
	}
	wantCommits(t, l, 1, "1:"+string(most), "2:")
}

func notKept(t *testing.T, open func() journal.Log) {
	ctx, l := context.Background(), open()
	defer mustClose(t, l)
	buffer := make([]byte, 1)
	for i := range uint64(9) {
		buffer[0] = '1' + byte(i)
		if _, err := l.Append(ctx, i, buffer); err != nil {
			t.Fatal(err)
		}
	}
	wantCommits(t, l, 1, "1:1", "2:2", "3:3", "4:4", "5:5", "6:6", "7:7", "8:8", "9:9")
}

func endedAppend(t *testing.T, open func() journal.Log) {
	l := open()
	defer mustClose(t, l)
	if n, err := l.Append(ended(), 0, []byte("no")); !errors.Is(err, context.Canceled) || n != 0 {
		t.Errorf("%d, %v", n, err)
	}
	mustAppend(t, l, "1")
	wantCommits(t, l, 1, "1:1")
}

func confirmed(t *testing.T, open func() journal.Log) {
	l := open()
	defer mustClose(t, l)
	mustAppend(t, l, "1", "2")
	for upTo, want := range map[uint64]error{0: nil, 1: nil, 2: nil, 3: journal.ErrAhead} {
		if err := l.Confirm(context.Background(), upTo); !errors.Is(err, want) {
			t.Errorf("up to %d: %v, want %v", upTo, err, want)
		}
	}
}

func notThere(t *testing.T, open func() journal.Log) {
	l := open()
	defer mustClose(t, l)
	wantCommits(t, l, 1)
	mustAppend(t, l, "1", "2")
	for from, want := range map[uint64]error{0: journal.ErrCovered, 4: journal.ErrAhead} {
		if got, err := list(l, from); !errors.Is(err, want) || len(got) != 0 {
			t.Errorf("from %d: %q, %v; want %v", from, got, err, want)
		}
	}
	calls := 0
	for _, err := range l.Read(ended(), 1) {
		calls++
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	if calls != 1 {
		t.Errorf("a reader whose context has ended gets %d results; want one error", calls)
	}
}

func readerStops(t *testing.T, open func() journal.Log) {
	l := open()
	defer mustClose(t, l)
	mustAppend(t, l, "1", "2", "3")
	read := uint64(0)
	for c, err := range l.Read(context.Background(), 2) {
		read = c.Sequence
		if err != nil {
			t.Error(err)
		}
		break
	}
	if read != 2 {
		t.Errorf("reading from 2 starts with %d", read)
	}
	wantCommits(t, l, 1, "1:1", "2:2", "3:3")
}

func noSnapshot(t *testing.T, open func() journal.Log) {
	l := open()
	defer mustClose(t, l)
	mustAppend(t, l, "1")
	upTo, err := l.LoadSnapshot(context.Background(), func(io.Reader) error { t.Error("called"); return nil })
	if upTo != 0 || err != nil {
		t.Errorf("up to %d, %v", upTo, err)
	}
}
