// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/telemetry"
)

// records returns the records of a state, those of sources in some order.
func records(t *testing.T, state []byte) (all []string) {
	t.Helper()
	for rest := state; len(rest) > 0; {
		size, n := binary.Uvarint(rest[1:])
		if n <= 0 || uint64(len(rest)-1-n) < size {
			t.Fatal("the state is cut short")
		}
		end := 1 + n + int(size)
		all = append(all, string(rest[:end]))
		rest = rest[end:]
	}
	slices.Sort(all)
	return all
}

// A state that is made while messages come is the one of the moment at which it was
// begun: of every source, whatever the messages change, of regions that move, and of
// sources that make room for others.
func TestAStateIsOfOneMoment(t *testing.T) {
	type taker interface {
		step()
		compare()
	}
	for seed := range uint64(6) {
		plain, regions := newWorld(t, seed), newRegionWorld(t, seed)
		for what, w := range map[string]taker{"plain": plain, "regions": regions} {
			base := plain
			if what == "regions" {
				base = regions.world
			}
			m := base.m
			for range 30 {
				for range 1 + base.r.IntN(6) {
					w.step()
				}
				w.compare()
				want := keptBy(t, m)
				v := new(Saver).Begin(m)
				for _, msg := range base.net {
					v.Before(m, msg)
					_, _ = m.Take(msg, 1, base.now)
					if what == "plain" {
						base.ref.take(msg, base.now)
					} else {
						regions.ref.take(msg, base.now)
					}
				}
				base.net = nil
				v.Finish()
				got, err := v.State()
				if err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(records(t, want), records(t, got)); d != "" {
					t.Fatalf("seed %d, %s: (-at once +in pieces)\n%s", seed, what, d)
				}
			}
		}
	}
}

// A source for which another one has to go changes that one, too.
func TestAStateKeepsASourceThatMadeRoom(t *testing.T) {
	m := NewMerger(Rules{Limits: Limits{Sources: 2}}, t0)
	if _, err := m.Define("d", lineNet("n", 1, 1), t0); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b"} {
		msg := fired(name, t0, t0, 1, 10, 0)
		msg.Bye = true
		if _, err := m.Take(msg, 0, t0); err != nil {
			t.Fatal(err)
		}
	}
	m.Tick(t0)
	want := keptBy(t, m)
	v := new(Saver).Begin(m)
	msg := fired("c", t0, t0, 1, 10, 0)
	v.Before(m, msg)
	if _, err := m.Take(msg, 0, t0); err != nil {
		t.Fatal(err)
	}
	v.Finish()
	if got, err := v.State(); err != nil || !bytes.Equal(want, got) {
		t.Errorf("%v; (-at once +in pieces)\n%s", err, cmp.Diff(records(t, want), records(t, got)))
	}
}

// A state is made in pieces of a bounded size, all sources once.
func TestAStateIsMadeInPieces(t *testing.T) {
	m := NewMerger(Rules{}, t0)
	if _, err := m.Define("d", lineNet("n", worldRows, worldRows), t0); err != nil {
		t.Fatal(err)
	}
	const sources = 5000
	for i := range sources {
		var e engine
		e.start(fmt.Sprint("e", i), t0, worldRows)
		e.msg.Seq, e.msg.SentAt = 1, t0
		if _, err := m.Take(&e.msg, 0, t0); err != nil {
			t.Fatal(err)
		}
	}
	m.Tick(t0)
	v := new(Saver).Begin(m)
	made, largest := 0, 0
	for more := true; more; {
		more = v.Piece()
		all := 0
		for _, c := range v.nets[0].chunks {
			all += len(c)
		}
		made, largest = all, max(largest, all-made)
	}
	state, err := v.State()
	if err != nil || made < 2*pieceBytes || largest > pieceBytes+telemetry.MaxMessage/100 {
		t.Errorf("%v; %d bytes of sources, in pieces of %d", err, made, largest)
	}
	nets, err := readState(state)
	if err != nil || len(nets) != 1 || len(nets[0].sources) != sources {
		t.Fatalf("%v; %d nets", err, len(nets))
	}
}
