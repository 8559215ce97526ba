// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pnagent/pnagent/stats"
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
	kinds := map[byte]int{}
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
			log.saver.few = 1
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
				if base.r.IntN(3) > 0 {
					continue
				}
				log.keep(t, m, true)
				for _, f := range log.frames {
					for _, r := range recordsOf(t, f) {
						kinds[r.kind]++
					}
				}
				if d := cmp.Diff(keptOf(t, keptBy(t, m)), keptOf(t, log.frames...)); d != "" {
					t.Fatalf("seed %d, %s: (-state +log)\n%s", seed, what, d)
				}
			}
			if firsts > 1 || len(log.frames) < 20 {
				t.Errorf("seed %d, %s: %d logs, the last of %d frames; expected one of many", seed, what, firsts, len(log.frames))
			}
		}
	}
	if kinds[recordChanges] < 100 || kinds[recordShownChanges] < 100 || kinds[recordGroup] < 100 {
		t.Errorf("%d changes of sources, %d of what was shown, %d groups; expected many of each", kinds[recordChanges], kinds[recordShownChanges], kinds[recordGroup])
	}
}

// passSome looks at some sources, as a piece does that is full.
func (v *Saving) passSome(sources int) {
	if v.moved == nil {
		v.moved = make(map[*net]bool)
	}
	for range sources {
		v.pass(len(v.out) + 1)
	}
}

// manySources returns a Merger, that many sources of worldRows rows, and a function by which all of
// them send a message and some have fired.
func manySources(t *testing.T, sources int) (m *Merger, all map[string]*engine, fire func(now int64, from, to int)) {
	t.Helper()
	m = NewMerger(Rules{}, t0)
	if _, err := m.Define("d", lineNet("n", worldRows, worldRows), t0); err != nil {
		t.Fatal(err)
	}
	all = make(map[string]*engine)
	for i := range sources {
		name := fmt.Sprint("e", i)
		all[name] = &engine{}
		all[name].start(name, t0, worldRows)
	}
	return m, all, func(now int64, from, to int) {
		t.Helper()
		for i := range sources {
			e := all[fmt.Sprint("e", i)]
			if from <= i && i < to {
				e.msg.Rows.Transitions[0].Firings += uint64(1 + i)
			}
			if _, err := m.Take(e.all(now), 0, now); err != nil {
				t.Fatal(err)
			}
		}
		m.Tick(now)
	}
}

// firingsBySource returns the firings of each source that frames have.
func firingsBySource(t *testing.T, frames [][]byte) map[string]uint64 {
	t.Helper()
	nets, err := readState(frames...)
	if err != nil || len(nets) != 1 {
		t.Fatalf("%d nets; %v", len(nets), err)
	}
	all := map[string]uint64{}
	for _, h := range nets[0].sources {
		all[h.msg.Source] = h.msg.Rows.Transitions[0].Firings
	}
	return all
}

// A frame has a bounded number of bytes of rows, whatever changed. The next ones have the sources that
// it has not, in turn, although others continue. What fits one frame is in it.
//
//promise:bounds load
func TestTheRowsOfAFrameAreBounded(t *testing.T) {
	for _, large := range []bool{false, true} {
		const sources = 5000
		m, all, fire := manySources(t, sources)
		fire(t0, 0, sources)
		var k Saver
		var frames [][]byte
		next := func() int {
			t.Helper()
			f, err := k.frame(m, false)
			if err != nil {
				t.Fatal(err)
			}
			frames = append(frames, f.Records)
			return len(f.Records)
		}
		next()
		most := saveFew
		if large {
			k.first, most = 1<<30, saveRows
		}
		fire(t0+1e6, 0, 100)
		if made := next(); made > most/4 || k.behind || firingsBySource(t, frames)["e99"] != 200 {
			t.Errorf("%d bytes for 100 sources, behind: %v", made, k.behind)
		}
		fire(t0+2e6, 0, sources)
		bytes, rounds := 0, 0
		for i := int64(3); rounds == 0 || k.behind; i++ {
			made := next()
			if made > most+telemetry.MaxMessage/1000 {
				t.Errorf("a frame of %d bytes, of at most %d", made, most)
			}
			bytes, rounds = bytes+made, rounds+1
			fire(t0+i*1e6, 0, 100) // the first ones continue
		}
		if rounds < 2 || rounds > bytes/most+1 {
			t.Errorf("all sources are kept after %d frames of %d bytes", rounds, bytes)
		}
		got := firingsBySource(t, frames)
		for i := 100; i < sources; i++ { // the first ones continued
			name := fmt.Sprint("e", i)
			if want := all[name].msg.Rows.Transitions[0].Firings; got[name] != want {
				t.Fatalf("%s has %d firings; want %d", name, got[name], want)
			}
		}
	}
}

// A log begins again once it is larger than saveLeast and saveGrowth times its first frame, and not
// before. The first frame of the next one has all sources.
func TestALogBeginsAgainBySize(t *testing.T) {
	for _, c := range []struct {
		sources int
		small   bool // saveLeast is more
	}{{100, true}, {8000, false}} {
		m, all, fire := manySources(t, c.sources)
		var k Saver
		size, first := 0, 0
		for i := int64(1); ; i++ {
			fire(t0+i*1e6, 0, c.sources)
			f, err := k.frame(m, true)
			if err != nil {
				t.Fatal(err)
			}
			limit := max(saveGrowth*first, saveLeast)
			if f.First != (i == 1 || size > limit) || i > 1000 {
				t.Fatalf("%d sources: frame %d is a first one: %v; the log has %d bytes, of %d", c.sources, i, f.First, size, limit)
			}
			size += len(f.Records)
			if i == 1 {
				first = size
			} else if f.First {
				for name, got := range firingsBySource(t, [][]byte{f.Records}) {
					if want := all[name].msg.Rows.Transitions[0].Firings; got != want {
						t.Fatalf("%d sources: %s has %d firings; want %d", c.sources, name, got, want)
					}
				}
				break
			}
		}
		if small := saveGrowth*first < saveLeast; small != c.small {
			t.Errorf("%d sources: a first frame of %d bytes proves too little", c.sources, first)
		}
	}
}

// A frame is made in pieces of a bounded size, all sources once.
func TestAFrameIsMadeInPieces(t *testing.T) {
	const sources = 5000
	m, _, fire := manySources(t, sources)
	fire(t0, 0, sources)
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

// The tokens that are stuck, and their groups, follow the changes of a source: they come, stay while other rows change,
// and go.
func TestALogHasTheStuckTokens(t *testing.T) {
	m := NewMerger(Rules{}, t0)
	if _, err := m.Define("d", lineNet("n", worldRows, worldRows), t0); err != nil {
		t.Fatal(err)
	}
	var e engine
	e.start("e", t0, worldRows)
	e.msg.Rows.Columns |= stats.ColStuck | stats.ColGroups
	rows := e.msg.Rows.Places
	rows[0].Stuck = []stats.Token{{Instance: "always", Injected: t0}} // a column is there while a place has some
	rows[0].Tokens = 1
	groups := func(tokens []stats.Token) []stats.Group {
		if len(tokens) == 0 {
			return nil
		}
		return []stats.Group{{Reason: stats.ReasonIncident, Tokens: uint64(len(tokens)), Due: t0, Oldest: tokens[0]}}
	}
	rows[0].Groups = groups(rows[0].Stuck)
	var k Saver
	var frames [][]byte
	for i, stuck := range [][]stats.Token{nil, {{Instance: "a", Injected: t0}}, {{Instance: "a", Injected: t0}, {Instance: "b", Injected: t0 + 1}}, {{Instance: "b", Injected: t0 + 1}}, nil} {
		now := t0 + int64(i)*1e6
		rows[1].Stuck, rows[1].Groups, rows[1].Tokens = stuck, groups(stuck), uint64(len(stuck))
		rows[2].Arrivals++
		if _, err := m.Take(e.all(now), 0, now); err != nil {
			t.Fatal(err)
		}
		m.Tick(now)
		f, err := k.frame(m, false)
		if err != nil {
			t.Fatal(err)
		}
		frames = append(frames, f.Records)
		nets, err := readState(frames...)
		if err != nil {
			t.Fatal(err)
		}
		got := nets[0].sources[0].msg.Rows.Places
		if d := cmp.Diff([][]stats.Token{rows[0].Stuck, stuck}, [][]stats.Token{got[0].Stuck, got[1].Stuck}, cmpopts.EquateEmpty()); d != "" || got[2].Arrivals != rows[2].Arrivals {
			t.Errorf("frame %d: %d arrivals, of %d; tokens (-stuck +kept):\n%s", i, got[2].Arrivals, rows[2].Arrivals, d)
		}
		if d := cmp.Diff([][]stats.Group{groups(rows[0].Stuck), groups(stuck)}, [][]stats.Group{got[0].Groups, got[1].Groups}, cmpopts.EquateEmpty()); d != "" {
			t.Errorf("frame %d: groups (-sent +kept):\n%s", i, d)
		}
		if kinds := recordsOf(t, f.Records); i > 0 && !slices.ContainsFunc(kinds, func(r record) bool { return r.kind == recordChanges }) {
			t.Errorf("frame %d has no changes", i)
		}
	}
}
