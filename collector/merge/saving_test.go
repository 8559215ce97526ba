// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/telemetry"
)

// keptOf returns what frames have of each net, without what changes with each message of a source
// although its rows do not.
func keptOf(t *testing.T, frames ...[]byte) map[string]any {
	t.Helper()
	nets, err := readState(frames...)
	if err != nil {
		t.Fatal(err)
	}
	kept := map[string]any{}
	for _, n := range nets {
		var sources []any
		for _, h := range n.sources {
			h.received, h.seq, h.messageAt, h.rowsAt = 0, 0, 0, 0
			h.msg.SentAt, h.msg.State = 0, nil
			sources = append(sources, []any{h.digest, h.counted, h.epoch, h.marks, h.msg})
		}
		for i := range n.past {
			n.past[i].Seq = 0
		}
		for _, msg := range []*telemetry.Snapshot{n.base, n.debt, n.shown} {
			if msg != nil {
				msg.SentAt = 0
				grow(&msg.Rows, worldRows, worldRows)
			}
		}
		kept[n.ID] = []any{n.savedNet, string(n.definition.PNML), n.base, n.debt, n.shown.Rows, sources, n.past}
	}
	return kept
}

// A log has what a state of the last frame's moment has: of every source, whatever messages change
// while the frame is made, of regions that move, and of sources that make room for others.
func TestALogHasWhatAStateHas(t *testing.T) {
	type taker interface {
		step()
		compare()
	}
	for seed := range uint64(8) {
		plain, regions := newWorld(t, seed), newRegionWorld(t, seed)
		for what, w := range map[string]taker{"plain": plain, "regions": regions} {
			base := plain
			if what == "regions" {
				base = regions.world
			}
			m := base.m
			var log keptLog
			firsts := 0
			for range 60 {
				for range 1 + base.r.IntN(6) {
					w.step()
				}
				w.compare()
				v := log.saver.Begin(m, base.r.IntN(2) == 0)
				for range base.r.IntN(3) {
					if v != nil {
						v.passSome(base.r.IntN(3))
					}
					if len(base.net) > 0 {
						msg := base.net[0]
						base.net = base.net[1:]
						_, _ = m.Take(msg, 1, base.now)
						if what == "plain" {
							base.ref.take(msg, base.now)
						} else {
							regions.ref.take(msg, base.now)
						}
					}
				}
				if v != nil {
					for v.Piece() {
					}
					f, err := v.Frame()
					if err != nil {
						t.Fatal(err)
					}
					if f.First {
						log.frames, firsts = nil, firsts+1
					}
					if len(f.Records) > 0 {
						log.frames = append(log.frames, f.Records)
					}
				}
				w.compare()
				log.keep(t, m, true)
				if d := cmp.Diff(keptOf(t, keptBy(t, m)), keptOf(t, log.frames...)); d != "" {
					t.Fatalf("seed %d, %s: (-state +log)\n%s", seed, what, d)
				}
			}
			if firsts > 1 || len(log.frames) < 20 {
				t.Errorf("seed %d, %s: %d logs, the last of %d frames; expected one of many", seed, what, firsts, len(log.frames))
			}
		}
	}
}

// passSome looks at some sources, as a piece does that is full.
func (v *Saving) passSome(sources int) {
	if v.moved == nil {
		v.moved = make(map[*net]bool)
	}
	if v.net == 0 && v.source == 0 {
		v.k.passes++
	}
	for range sources {
		v.pass(len(v.out) + 1)
	}
}

// A frame is made in pieces of a bounded size, all sources once.
func TestAFrameIsMadeInPieces(t *testing.T) {
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
	v := new(Saver).Begin(m, false)
	made, largest := 0, 0
	for more := true; more; {
		more = v.Piece()
		made, largest = len(v.out), max(largest, len(v.out)-made)
	}
	f, err := v.Frame()
	if err != nil || !f.First || made < 2*pieceBytes || largest > pieceBytes+telemetry.MaxMessage/100 {
		t.Errorf("%v; %d bytes of sources, in pieces of %d", err, made, largest)
	}
	nets, err := readState(f.Records)
	if err != nil || len(nets) != 1 || len(nets[0].sources) != sources {
		t.Fatalf("%v; %d nets", err, len(nets))
	}
}
