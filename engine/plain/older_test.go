// SPDX-License-Identifier: Apache-2.0

package plain

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/pnagent/pnagent/petri/petritest"
)

// olderLog writes a log in the form of older versions, which did not record
// when instances came to rest, and had no runs of firings.
func olderLog(t *testing.T, log []byte, transitions int) (out []byte) {
	t.Helper()
	next := func() uint64 {
		v, n := binary.Uvarint(log)
		if n <= 0 {
			t.Fatal("the log is incomplete")
		}
		log = log[n:]
		return v
	}
	for len(log) > 0 {
		head, what := next(), next()
		if n := uint64(transitions); head&1 == opFire && (what == n+opExact || what == n+opRest) {
			continue
		}
		if head&1 == opFire && what == uint64(transitions)+opRun {
			for k := next(); k > 0; k = next() {
				out = binary.AppendUvarint(binary.AppendUvarint(out, head), k-1)
			}
			continue
		}
		out = binary.AppendUvarint(binary.AppendUvarint(out, head), what)
		if head&1 == opInject {
			out = binary.AppendUvarint(out, next())
		}
	}
	return out
}

// running lists the clocks of a shard.
func running(s *Shard) (out []clock) {
	for i := range s.cells {
		s.clocks.each(i, func(k *clock) {
			out = append(out, clock{cell: k.cell, transition: k.transition, delayed: k.delayed, since: k.since, due: k.due})
		})
	}
	slices.SortFunc(out, func(a, b clock) int {
		return cmp.Or(cmp.Compare(a.cell, b.cell), cmp.Compare(a.transition, b.transition))
	})
	return out
}

// Replay of a log without the times at which instances came to rest leads to
// the same tokens and the same starts of delays. At those times everything was
// played that could be.
func TestAnOlderLogLeadsToTheSameTokensAndDelays(t *testing.T) {
	r := rand.New(rand.NewPCG(83, 1))
	clocks := 0
	for range 150 {
		tables := petritest.Compile(t, petritest.RandomNet(r))
		cfg := Config{Tables: tables, Modes: restful(r, tables), Stride: 1, Count: 4}
		for tr := range cfg.Modes {
			cfg.Modes[tr].Delay.Shape = Fixed
		}
		l := newLife(t, cfg)
		again := newShard(t, cfg)
		now := now0
		for range 15 {
			l.to(now, func(s *Shard) error {
				for range 1 + r.IntN(4) {
					act(t, r, r.IntN(4), []*Shard{s}, now)
				}
				return nil
			})
			last := l.since[len(l.since)-1]
			if err := again.Replay(olderLog(t, last.ops, tables.Transitions()), last.now); err != nil {
				t.Fatal(err)
			}
			now += r.Int64N(second)
		}
		now = l.since[len(l.since)-1].now
		again.Resume(now)
		if fired := again.Step(100, now); fired != 0 {
			t.Fatalf("%d firings after everything was played", fired)
		}
		if d := difference(presentOf(l.Shard, now), presentOf(again, now)); d != "" {
			t.Fatalf("(-played +replayed):\n%s", d)
		}
		want, got := running(l.Shard), running(again)
		if !slices.Equal(want, got) {
			t.Fatalf("clocks %+v, want %+v", got, want)
		}
		clocks += len(got)
	}
	if clocks < 150 {
		t.Errorf("only %d delays were running", clocks)
	}
}

// An older version recorded again at each start that an instance is at rest.
// Replay accepts that, and it changes nothing.
func TestAnOlderLogMaySayTwiceThatAnInstanceIsAtRest(t *testing.T) {
	cfg := Config{Tables: petritest.Compile(t, queueNet(1)), Stride: 1, Count: 2}
	once, twice := []byte{0, 4, 0, 0, 0, 1, 0, 2}, []byte{0, 4, 0, 0, 0, 1, 0, 2, 0, 2}
	want, got := newShard(t, cfg), newShard(t, cfg)
	if err := want.Replay(once, now0); err != nil {
		t.Fatal(err)
	}
	if err := got.ReplayOlder(twice, now0); err != nil {
		t.Fatal(err)
	}
	if d := difference(rowsOf(want, now0), rowsOf(got, now0)); d != "" || !bytes.Equal(want.AppendState(nil), got.AppendState(nil)) {
		t.Errorf("(-once +twice):\n%s", d)
	}
	if err := got.Replay([]byte{0, 2}, now0); err == nil {
		t.Error("a record of older versions is accepted in a newer log")
	}
}
