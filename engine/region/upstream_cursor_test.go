// SPDX-License-Identifier: Apache-2.0

package region

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/engine"
	"github.com/pnagent/pnagent/engine/journal"
)

// scripted is an upstream log that ends with an error. A step without a payload
// is a pause.
type scripted struct {
	Log
	steps []step
	froms []uint64
	over  error
}

type step struct {
	payload []byte
	pause   time.Duration
}

func (l *scripted) Follow(_ context.Context, from uint64, each func(journal.Commit) error) error {
	l.froms = append(l.froms, from)
	n := uint64(0)
	for _, s := range l.steps {
		time.Sleep(s.pause)
		if s.payload == nil {
			continue
		}
		if n++; n < from {
			continue
		}
		if err := each(journal.Commit{Sequence: n, Payload: s.payload}); err != nil {
			return err
		}
	}
	return l.over
}

// payloads returns commits of real logs whose marks fit everywhere. Three are
// of part one: its first commit, one with firings, and one with five tokens for
// part two. quiet only records how far another log was read.
func payloads(t *testing.T) (first, busy, tokens, quiet []byte) {
	t.Helper()
	read := func(log journal.Log) (all [][]byte) {
		for c, err := range log.Read(t.Context(), 1) {
			if err != nil {
				t.Fatal(err)
			}
			p := slices.Clone(c.Payload)
			if _, _, ok := engine.Linked(p); ok {
				clear(p[2:10])
			}
			all = append(all, p)
		}
		return all
	}
	x := newReader(t)
	all := read(x.file)
	quiet = all[len(all)-1] // of commit 8, with which no token came
	m := memberOf(t, "m1")
	f, _, err := journal.Open(t.TempDir(), journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	cfg := m.cfg.Engine
	cfg.Journal, cfg.Part = f, &m.cfg.Parts[0].Part
	e, err := engine.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Lead(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), time.Second)
	defer stop()
	if err := e.Run(ctx); err != nil {
		t.Fatal(err)
	}
	all = read(f)
	up := engine.Upstream{Plan: m.cfg.Parts[1].Plan}
	for k, p := range all {
		out, err := up.Read(journal.Commit{Sequence: uint64(k + 1), Payload: p})
		if err != nil {
			t.Fatal(err)
		}
		if len(out) > 0 && tokens == nil {
			tokens = p
		}
	}
	return all[0], all[1], tokens, quiet
}

// Parts that put tokens into each other do not record each other's cursors
// forever. Without tokens, a cursor moves once in each second with upstream
// commits, and after 4096 commits.
func TestACursorMovesWithTokensAndOnceInAWhile(t *testing.T) {
	end := errors.New("the end")
	for name, c := range map[string]struct {
		script func(first, busy, tokens, quiet []byte) []step
		want   uint64
	}{
		"fewer than 4096 commits": {func(first, busy, _, _ []byte) []step {
			return append([]step{{payload: first}}, slices.Repeat([]step{{payload: busy}}, 4094)...)
		}, 0},
		"4096 commits": {func(first, busy, _, _ []byte) []step {
			return append([]step{{payload: first}}, slices.Repeat([]step{{payload: busy}}, 4095)...)
		}, 4096},
		"4096 commits, and more": {func(first, busy, _, _ []byte) []step {
			return append([]step{{payload: first}}, slices.Repeat([]step{{payload: busy}}, 6000)...)
		}, 4096},
		"less than a second": {func(first, busy, _, _ []byte) []step { return []step{{payload: first}, {busy, time.Second - 1}} }, 0},
		"a second": {func(first, busy, _, _ []byte) []step {
			return []step{{payload: first}, {busy, time.Second}, {payload: busy}}
		}, 2},
		"a second after the last": {func(first, busy, _, _ []byte) []step {
			return []step{{payload: first}, {busy, time.Second}, {busy, time.Second - 1}, {busy, 1}}
		}, 4},
		"what others have read": {func(first, _, _, quiet []byte) []step {
			return []step{{payload: first}, {quiet, time.Minute}, {quiet, time.Minute}}
		}, 0},
		"tokens": {func(first, _, tokens, _ []byte) []step { return []step{{payload: first}, {payload: tokens}} }, 2},
		"4096 commits after tokens": {func(first, busy, tokens, _ []byte) []step {
			return append([]step{{payload: first}, {payload: tokens}}, slices.Repeat([]step{{payload: busy}}, 4096)...)
		}, 4098},
		"4095 commits after tokens": {func(first, busy, tokens, _ []byte) []step {
			return append([]step{{payload: first}, {payload: tokens}}, slices.Repeat([]step{{payload: busy}}, 4095)...)
		}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				log := &scripted{steps: c.script(payloads(t)), over: end}
				m := memberOf(t, "m1")
				e := owned(t, m, 1, "m1")
				ctx, stop := context.WithCancel(t.Context())
				ended := make(chan error, 1)
				go func() { ended <- e.Run(ctx) }()
				synctest.Wait()
				for range 2 { // the second time it continues from its cursor
					if err := m.replicas[1].readUpstream(ctx, e, 0, log); !errors.Is(err, end) || !strings.Contains(err.Error(), `"one" upstream`) {
						t.Errorf("%v; want the error at the end of the log of part one", err)
					}
					synctest.Wait()
					for k := range log.steps { // no further commits come
						log.steps[k].pause = 0
					}
				}
				if d := cmp.Diff([]uint64{1, c.want + 1}, log.froms); d != "" {
					t.Errorf("the positions read from (-want +got):\n%s", d)
				}
				stop()
				if err := <-ended; err != nil {
					t.Error(err)
				}
				tokens := uint64(0)
				if strings.Contains(name, "tokens") {
					tokens = 5
				}
				if at := e.Known(0)[0]; at.Position != c.want || at.Tokens != tokens {
					t.Errorf("the part has read %+v; want up to %d, %d tokens", at, c.want, tokens)
				}
			})
		})
	}
}

func TestALogUpstreamThatCannotBeReadEndsThat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		end := errors.New("the end")
		first, busy, _, _ := payloads(t)
		m := memberOf(t, "m1")
		e := owned(t, m, 1, "m1")
		for name, c := range map[string]struct {
			log  scripted
			want []error
		}{
			"it ends":                  {scripted{over: end}, []error{end}},
			"commits are removed":      {scripted{over: journal.ErrCovered}, []error{errLost, journal.ErrCovered}},
			"a commit is none":         {scripted{steps: []step{{payload: first}, {payload: []byte{0, 9, 9}}}, over: end}, []error{engine.ErrReplay}},
			"it is of nothing we know": {scripted{steps: []step{{payload: busy}}, over: end}, nil},
		} {
			err := m.replicas[1].readUpstream(t.Context(), e, 0, &c.log)
			if err == nil || !strings.HasPrefix(err.Error(), `reading the log of "one" upstream`) || c.want == nil && errors.Is(err, end) {
				t.Errorf("%s: %v; want an error", name, err)
			}
			for _, want := range c.want {
				if !errors.Is(err, want) {
					t.Errorf("%s: %v; want %v", name, err, want)
				}
			}
			if errors.Is(err, errLost) != slices.Contains(c.want, errLost) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}
