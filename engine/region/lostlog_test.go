// SPDX-License-Identifier: Apache-2.0

package region

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/engine"
	"github.com/pnagent/pnagent/engine/journal"
	"github.com/pnagent/pnagent/petri/split"
)

func textLog(to io.Writer) *slog.Logger {
	return slog.New(slog.NewTextHandler(to, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// entries is a log for reading. A snapshot has replaced the commits up to
// removed.
type entries struct {
	Log
	kept    [][]byte // from commit 1 on
	removed int
	fails   error
	heals   time.Time // from then on it holds chained(9); zero for never
}

// chained returns entries. Each except the first has the mark of those before
// it.
func chained(n int) (all [][]byte) {
	for k := range n {
		e := binary.BigEndian.AppendUint64([]byte{0, 4}, 0)
		if k > 0 {
			_, before, _ := engine.Linked(all[k-1])
			e = binary.BigEndian.AppendUint64([]byte{0, 4}, uint64(before))
		}
		all = append(all, append(e, byte(k)))
	}
	return all
}

// mark returns the mark of the log up to a commit.
func (l *entries) mark(number int) engine.Mark {
	_, upTo, _ := engine.Linked(l.kept[number-1])
	return upTo
}

func (l *entries) First(context.Context) (uint64, error) { return uint64(l.removed) + 1, nil }

func (l *entries) Read(_ context.Context, from uint64) iter.Seq2[journal.Commit, error] {
	return func(yield func(journal.Commit, error) bool) {
		if !l.heals.IsZero() && time.Now().After(l.heals) {
			l.kept = chained(9)
		}
		err := l.fails
		switch {
		case err != nil:
		case from <= uint64(l.removed):
			err = journal.ErrCovered
		case from > uint64(len(l.kept))+1:
			err = journal.ErrAhead
		}
		if err != nil {
			yield(journal.Commit{}, fmt.Errorf("commit %d: %w", from, err))
			return
		}
		for ; from <= uint64(len(l.kept)); from++ {
			if !yield(journal.Commit{Sequence: from, Payload: l.kept[from-1]}, nil) {
				return
			}
		}
	}
}

func TestALogFitsIfItHoldsWhatWasRead(t *testing.T) {
	whole := chained(9)
	mark := func(number int) engine.Mark { return (&entries{kept: whole}).mark(number) }
	bare := []byte("an entry of a version that wrote no marks")
	away := errors.New("away")
	for name, c := range map[string]struct {
		log  entries
		at   engine.Cursor
		want bool
		err  error
	}{
		"the start":                                 {entries{kept: whole}, engine.Cursor{}, true, nil},
		"the start of a log without commits":        {entries{}, engine.Cursor{}, true, nil},
		"the start of a log that lacks it":          {entries{kept: whole, removed: 1}, engine.Cursor{}, false, nil},
		"a commit in the middle":                    {entries{kept: whole}, engine.Cursor{Position: 5, Mark: mark(5)}, true, nil},
		"the last commit":                           {entries{kept: whole}, engine.Cursor{Position: 9, Mark: mark(9)}, true, nil},
		"another commit of that number":             {entries{kept: whole}, engine.Cursor{Position: 5, Mark: mark(6)}, false, nil},
		"a commit that is lost":                     {entries{kept: whole[:8]}, engine.Cursor{Position: 9, Mark: mark(9)}, false, nil},
		"a commit that is lost with others":         {entries{kept: whole[:5]}, engine.Cursor{Position: 9, Mark: mark(9)}, false, nil},
		"the last one removed, followed by its own": {entries{kept: whole, removed: 5}, engine.Cursor{Position: 5, Mark: mark(5)}, true, nil},
		"the last one removed, followed by others":  {entries{kept: whole, removed: 5}, engine.Cursor{Position: 5, Mark: mark(4)}, false, nil},
		"the last one removed, nothing follows":     {entries{kept: whole, removed: 9}, engine.Cursor{Position: 9, Mark: mark(9)}, true, nil},
		"the next one removed":                      {entries{kept: whole, removed: 6}, engine.Cursor{Position: 5, Mark: mark(5)}, false, nil},
		"a cursor without a mark":                   {entries{fails: away}, engine.Cursor{Position: 5}, true, nil},
		"an entry without a mark":                   {entries{kept: [][]byte{bare, bare, bare}}, engine.Cursor{Position: 2, Mark: 7}, true, nil},
		"an entry without a mark before another":    {entries{kept: [][]byte{bare, whole[4]}}, engine.Cursor{Position: 1, Mark: mark(4)}, true, nil},
		"one without a mark, then others":           {entries{kept: [][]byte{bare, whole[4]}}, engine.Cursor{Position: 1, Mark: mark(3)}, false, nil},
		"no answer":                                 {entries{kept: whole, fails: away}, engine.Cursor{Position: 5, Mark: mark(5)}, false, away},
		"no answer at the start":                    {entries{kept: whole, fails: away}, engine.Cursor{}, false, away},
	} {
		got, err := fits(t.Context(), &c.log, c.at)
		if got != c.want || !errors.Is(err, c.err) {
			t.Errorf("%s: %t, %v; want %t, %v", name, got, err, c.want, c.err)
		}
	}
}

// own is the log of a part, which may not answer.
type own struct {
	Log
	file   journal.Log
	silent int // how often it does not answer
}

func (l *own) Read(ctx context.Context, from uint64) iter.Seq2[journal.Commit, error] {
	if l.silent > 0 {
		l.silent--
		return func(yield func(journal.Commit, error) bool) { yield(journal.Commit{}, errors.New("no answer")) }
	}
	return l.file.Read(ctx, from)
}

// full is a file without space for more data.
type full struct {
	journal.Log
	err error
}

func (f *full) Append(ctx context.Context, last uint64, commits ...[]byte) (uint64, error) {
	if f.err != nil {
		return last, f.err
	}
	return f.Log.Append(ctx, last, commits...)
}

// reader is part two, owned by m1, after it has read the log of part one up to
// commit 8: tokens came with commits 3 and 6. It no longer plays.
type reader struct {
	m      *Member
	r      *replica
	e      *engine.Engine
	file   *full
	up     *entries
	logged strings.Builder
}

func newReader(t *testing.T) *reader {
	t.Helper()
	x := &reader{m: memberOf(t, "m1"), up: &entries{kept: chained(9)}}
	x.m.cfg.Log = textLog(&x.logged)
	x.r = x.m.replicas[1]
	f, _, err := journal.Open(t.TempDir(), journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	x.file = &full{Log: f}
	cfg := x.m.cfg.Engine
	cfg.Journal, cfg.Part = x.file, &x.m.cfg.Parts[1].Part
	if x.e, err = engine.New(cfg); err != nil {
		t.Fatal(err)
	}
	if err := x.e.Lead(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- x.e.Run(ctx) }()
	for n := 1; n <= 8; n++ {
		var tokens []split.Crossing
		if n == 3 || n == 6 {
			tokens = []split.Crossing{{Place: 1, Tokens: uint32(n)}}
		}
		if err := x.e.Arrive(ctx, 0, engine.Cursor{Position: uint64(n), Mark: x.up.mark(n)}, tokens); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second) // so that the engine keeps each point
	}
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if at := x.e.Standing().Cursors[0].Position; at != 8 {
		t.Fatalf("the part has read up to %d; want 8", at)
	}
	x.r.use(&own{file: f})
	return x
}

// keep makes the upstream log keep its first n commits and have other commits
// after them.
func (x *reader) keep(n int) {
	x.up.kept = x.up.kept[:n:n]
	for k := range 9 {
		x.up.kept = append(x.up.kept, append(binary.BigEndian.AppendUint64([]byte{0, 4}, uint64(1000+k)), 'x'))
	}
	if n > 0 { // the first of the other commits follows what is left
		_, before, _ := engine.Linked(x.up.kept[n-1])
		x.up.kept[n] = append(binary.BigEndian.AppendUint64([]byte{0, 4}, uint64(before)), 'x')
	} else {
		x.up.kept[0] = append(binary.BigEndian.AppendUint64([]byte{0, 4}, 0), 'x')
	}
}

func TestWhereALogThatHasLostCommitsIsReadAgain(t *testing.T) {
	for name, c := range map[string]struct {
		change func(x *reader)
		reason string // why it is not read again; "" if it can be read on
		from   uint64 // the last commit that counts as read
	}{
		"nothing is lost":                         {func(*reader) {}, "", 8},
		"what is lost was not read":               {func(x *reader) { x.keep(8) }, "", 8},
		"no token came with the last commit":      {func(x *reader) { x.keep(7) }, "", 7},
		"nor with the one before":                 {func(x *reader) { x.keep(6) }, "", 6},
		"the last tokens are lost":                {func(x *reader) { x.keep(5) }, `the log of "one" has lost commits between 5 and 8, and its part has the 6 tokens that came with them again`, 8},
		"all tokens are lost":                     {func(x *reader) { x.keep(2) }, `the log of "one" has lost commits between 2 and 8, and its part has the 9 tokens that came with them again`, 8},
		"all is lost":                             {func(x *reader) { x.keep(0) }, `the log of "one" has lost commits between 0 and 8, and its part has the 9 tokens that came with them again`, 8},
		"tokens are lost, and may come again":     {func(x *reader) { x.keep(5); x.m.cfg.Again = true }, "", 5},
		"all is lost, and may come again":         {func(x *reader) { x.keep(0); x.m.cfg.Again = true }, "", 0},
		"all is lost, and another is removed":     {func(x *reader) { x.keep(0); x.up.removed = 1 }, `the log of "one" has lost commits up to 8 that were read; no commit in common is known`, 8},
		"all is lost, and the others are removed": {func(x *reader) { x.keep(0); x.up.removed = 9 }, `the log of "one" has lost commits: those after 8 were removed before they were read`, 8},
		"what is not lost may be skipped":         {func(x *reader) { x.keep(0); x.up.removed = 9; x.m.cfg.Again = true }, "", 9},
		"it does not answer":                      {func(x *reader) { x.up.fails = errors.New("away") }, `the log of "one" does not answer: commit 8: away`, 8},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := newReader(t)
				c.change(x)
				reason, err := x.r.rewind(t.Context(), x.e, []Log{x.up})
				if err != nil || reason != c.reason {
					t.Errorf("%q, %v; want %q", reason, err, c.reason)
				}
				want := engine.Cursor{Position: c.from}
				if c.from > 0 && c.from < 9 {
					want.Mark = (&entries{kept: chained(9)}).mark(int(c.from))
				}
				if got := x.e.Known(0)[0].Cursor; got != want {
					t.Errorf("read up to %+v; want %+v", got, want)
				}
				if again := strings.Contains(x.logged.String(), "is read again"); again != (c.from != 8) {
					t.Errorf("the member logs %q", x.logged.String())
				}
			})
		})
	}
}

func TestWhatCannotBeWrittenDownIsNotReadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newReader(t)
		x.keep(7)
		x.file.err = fmt.Errorf("%w: full", journal.ErrStopped)
		if reason, err := x.r.rewind(t.Context(), x.e, []Log{x.up}); !errors.Is(err, journal.ErrStopped) || reason != "" {
			t.Errorf("%q, %v; want the error that the log accepts no commit", reason, err)
		}
		if err := x.r.awaitFit(t.Context(), x.e, []Log{x.up}); !errors.Is(err, journal.ErrStopped) {
			t.Errorf("%v; want the error that the log accepts no commit", err)
		}
	})
}

// A part is stopped as long as one of its logs does not answer or does not
// fit. It logs the reason once. When the logs fit, the same owner continues.
//
//promise:notempty lostlog dark
func TestAPartIsStoppedUntilItsLogsFit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newReader(t)
		x.r.log.(*own).silent = 3
		x.keep(5)
		began, ended := time.Now(), make(chan error, 1)
		x.up.heals = began.Add(6500 * time.Millisecond) // then the server has found the commits
		go func() { ended <- x.r.awaitFit(t.Context(), x.e, []Log{x.up}) }()
		const lost = `the log of "one" has lost commits between 5 and 8, and its part has the 6 tokens that came with them again`
		var reasons []string
		for range 6 {
			synctest.Wait()
			reasons = append(reasons, x.r.status().Stopped)
			time.Sleep(stoppedCheckEvery)
		}
		synctest.Wait() // it has checked once more
		const silent = "the part's own log does not answer"
		if d := cmp.Diff([]string{silent, silent, silent, lost, lost, lost}, reasons); d != "" {
			t.Errorf("each second (-want +got):\n%s", d)
		}
		if log := x.logged.String(); strings.Count(log, "the part is stopped") != 2 || strings.Count(log, silent) != 1 {
			t.Errorf("the member logs\n%swant each reason once", log)
		}
		select {
		case err := <-ended:
			t.Fatalf("the member ends with %v", err)
		default:
		}
		if err := <-ended; !errors.Is(err, errRewound) || time.Since(began) != 7*time.Second {
			t.Errorf("after %v: %v; want the part to continue after 7 s", time.Since(began), err)
		}
		if s := x.e.Standing(); !s.Released || s.Heir != "m1" {
			t.Errorf("%+v; want a release for m1", s)
		}
	})
}

func TestAPartWhoseOwnLogIsAnotherOneIsNoLongerStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newReader(t)
		x.r.use(&own{file: &entries{kept: chained(60)}})
		if err := x.r.awaitFit(t.Context(), x.e, []Log{x.up}); !errors.Is(err, engine.ErrRewritten) {
			t.Errorf("%v; want the error that the log is not the one that was read", err)
		}
		ctx, stop := context.WithCancel(t.Context())
		stop()
		x = newReader(t)
		x.keep(5)
		if err := x.r.awaitFit(ctx, x.e, []Log{x.up}); err != nil || x.e.Standing().Released {
			t.Errorf("after the end: %v; want no error, and the part unchanged", err)
		}
	})
}
