// SPDX-License-Identifier: Apache-2.0

package journaltest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/pnagent/pnagent/engine/journal"
)

func snapshot(t *testing.T, open func() journal.Log) {
	l := open()
	mustAppend(t, l, "1", "2")
	mustAppend(t, l, "3", "4")
	state := bytes.Repeat([]byte("state "), 500_000)
	for _, upTo := range []uint64{1, 3, 3} {
		if err := save(l, upTo, state[:upTo*1_000_000-5]); err != nil {
			t.Fatal(err)
		}
	}
	for upTo, want := range map[uint64]error{0: journal.ErrAhead, 2: journal.ErrCovered, 5: journal.ErrAhead} {
		err := l.SaveSnapshot(context.Background(), upTo, func(io.Writer) error { t.Error("called"); return nil })
		if !errors.Is(err, want) {
			t.Errorf("up to %d: %v, want %v", upTo, err, want)
		}
	}
	for range 2 {
		wantSnapshot(t, l, 3, state[:3_000_000-5])
		wantCommits(t, l, 4, "4:4")
		// Covered commits may still exist. If so, they are unchanged.
		if got, err := list(l, 3); !errors.Is(err, journal.ErrCovered) && fmt.Sprint(got) != "[3:3 4:4]" {
			t.Errorf("from 3: %q, %v", got, err)
		}
		mustClose(t, l)
		l = open()
	}
	mustClose(t, l)
}

func givenUp(t *testing.T, open func() journal.Log) {
	l := open()
	defer mustClose(t, l)
	mustAppend(t, l, "1", "2", "3")
	if err := save(l, 1, []byte("one")); err != nil {
		t.Fatal(err)
	}
	no := errors.New("no")
	ctx, cancel := context.WithCancel(context.Background())
	large := make([]byte, 3<<20)
	for name, write := range map[string]func(io.Writer) error{
		"error":      func(io.Writer) error { return no },
		"late error": func(w io.Writer) error { return errors.Join(must(w.Write(large)), no) },
		"context": func(w io.Writer) error {
			cancel()
			for { // until it returns the error
				if _, err := w.Write(large); err != nil {
					return err
				}
			}
		},
	} {
		this := context.Background()
		if name == "context" {
			this = ctx
		}
		if err := l.SaveSnapshot(this, 2, write); !errors.Is(err, no) && !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
	wantSnapshot(t, l, 1, []byte("one"))
	mustAppend(t, l, "4")
	wantCommits(t, l, 2, "2:2", "3:3", "4:4")
}

func must(_ int, err error) error { return err }

func numbersContinue(t *testing.T, open func() journal.Log) {
	l := open()
	mustAppend(t, l, "1", "2")
	if err := save(l, 2, nil); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"3", "4"} {
		mustClose(t, l)
		l = open()
		wantSnapshot(t, l, 2, nil)
		mustAppend(t, l, text)
	}
	wantCommits(t, l, 3, "3:3", "4:4")
	mustClose(t, l)
}

func closed(t *testing.T, open func() journal.Log) {
	ctx, l := context.Background(), open()
	mustAppend(t, l, "1", "2")
	mustClose(t, l)
	mustClose(t, l)
	_, appended := l.Append(ctx, 2, []byte("no"))
	_, read := list(l, 1)
	_, loaded := l.LoadSnapshot(ctx, func(io.Reader) error { t.Error("called"); return nil })
	for name, err := range map[string]error{"append": appended, "read": read, "load": loaded, "save": save(l, 1, nil), "sync": l.Sync(ctx, 0)} {
		if !errors.Is(err, journal.ErrClosed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := l.Confirm(ctx, 2); err != nil {
		t.Errorf("what was confirmed by Close: %v", err)
	}
	l = open()
	wantCommits(t, l, 1, "1:1", "2:2")
	mustClose(t, l)
}

// Several goroutines append, one saves snapshots, one reads. Every accepted
// commit is in the log once, in the order of the numbers.
func atOnce(t *testing.T, open func() journal.Log) {
	l := open()
	defer mustClose(t, l)
	const writers, each = 4, 100
	var writing sync.WaitGroup
	var mu sync.Mutex
	accepted := map[uint64]string{}
	for k := range writers {
		writing.Go(func() {
			for i := range each {
				text := fmt.Sprint(k, "/", i)
				n, err := appendSomewhere(l, text)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				accepted[n] = text
				mu.Unlock()
			}
		})
	}
	done := make(chan struct{})
	var others sync.WaitGroup
	others.Go(func() { saveUntil(t, l, done) })
	others.Go(func() { readUntil(t, l, done) })
	writing.Wait()
	close(done)
	others.Wait()
	if l.Last() != writers*each || len(accepted) != writers*each {
		t.Errorf("%d commits, %d accepted", l.Last(), len(accepted))
	}
	upTo, err := l.LoadSnapshot(context.Background(), func(io.Reader) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for n := upTo + 1; n <= writers*each; n++ {
		want = append(want, fmt.Sprintf("%d:%s", n, accepted[n]))
	}
	wantCommits(t, l, upTo+1, want...)
}

// appendSomewhere appends a text after the last commit, whatever that is.
func appendSomewhere(l journal.Log, text string) (uint64, error) {
	for {
		n, err := l.Append(context.Background(), l.Last(), []byte(text))
		if !errors.Is(err, journal.ErrNotLast) {
			return n, err
		}
	}
}

func saveUntil(t *testing.T, l journal.Log, done chan struct{}) {
	for now := int64(0); ; now += 100_000 {
		select {
		case <-done:
			return
		default:
		}
		if err := l.Sync(context.Background(), now); err != nil {
			t.Error(err)
		}
		if last := l.Last(); last > 0 {
			if err := save(l, last, fmt.Append(nil, last)); err != nil {
				t.Error(err)
			}
		}
	}
}

func readUntil(t *testing.T, l journal.Log, done chan struct{}) {
	for from := uint64(1); ; from = rand.Uint64N(l.Last()+1) + 1 {
		select {
		case <-done:
			return
		default:
		}
		upTo, covered := l.Last(), false
		for c, err := range l.Read(context.Background(), from) {
			if covered = errors.Is(err, journal.ErrCovered); covered {
				break
			}
			if err != nil || c.Sequence != from {
				t.Errorf("commit %d, want %d: %v", c.Sequence, from, err)
				return
			}
			from++
		}
		if !covered && from <= upTo {
			t.Errorf("a reader ends at commit %d; want all up to %d", from-1, upTo)
			return
		}
	}
}
