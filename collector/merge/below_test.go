// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// sum is the message of a collector below, as package uplink publishes it.
func sum(t *testing.T, m *Merger, name string, seq uint64, now int64) *telemetry.Snapshot {
	t.Helper()
	view, _ := m.Tick(now)
	n := view.Nets[0]
	msg := &telemetry.Snapshot{Source: name, Net: "n", Digest: benchDigest, Epoch: t0, Seq: seq, SentAt: now, Interval: time.Second, Full: true,
		Region: BelowRegion + name, Fence: 1, Since: t0, Remnants: view.Remnants("n", 1<<18), Rows: *stats.NewRows(len(n.Def.Places), len(n.Def.Transitions))}
	if err := view.FillRows("n", &msg.Rows); err != nil {
		t.Fatal(err)
	}
	return wired(t, msg)
}

// lostRows returns what sources lost, by their names without the collectors below.
func lostRows(t *testing.T, m *Merger, now int64) map[string]telemetry.Remnant {
	t.Helper()
	view, _ := m.Tick(now)
	lost := map[string]telemetry.Remnant{}
	for _, r := range view.Nets[0].Remnants {
		path := PathOf(r.Source)
		p := r.published()
		p.Path, p.SilentSince = nil, 0
		if p.Left != 0 {
			p.Left = 1
		}
		if len(p.Fired)+len(p.Places)+len(p.Enabled) == 0 && !p.Deadlocked {
			continue
		}
		lost[path[len(path)-1]] = p
	}
	return lost
}

// The root of a tree knows of the same lost rows as a collector that receives every engine,
// however the engines are divided and in whatever order messages arrive.
//
//promise:unknown kill none messages
func TestRootOfATreeKnowsWhatIsLostAsFlat(t *testing.T) {
	const places, transitions = 4, 3
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 11))
		def := lineNet("n", places, transitions)
		level := func() *Merger {
			m := NewMerger(Rules{ForgetAfter: 10 * time.Second}, t0)
			if _, err := m.Define(benchDigest, def, t0); err != nil {
				t.Fatal(err)
			}
			return m
		}
		flat, root := level(), level()
		below := make([]*Merger, 1+r.IntN(3))
		for i := range below {
			below[i] = level()
		}
		engines := make([]*telemetry.Snapshot, 2+r.IntN(6))
		ends := make([]int64, len(engines)) // when it falls silent
		for i := range engines {
			engines[i] = randomSource(r, fmt.Sprint("engine", i), places, transitions, t0)
			engines[i].Epoch, engines[i].Rows.Columns = t0, stats.Columns(r.Uint32())&stats.AllColumns|stats.ColFirings|stats.ColTokens
			ends[i] = []int64{5, 25, 100}[r.IntN(3)]
		}
		for s := int64(1); s <= 30; s++ {
			now := t0 + s*1e6
			for _, i := range r.Perm(len(engines)) {
				e := engines[i]
				if s > ends[i] {
					continue
				}
				e.Seq, e.SentAt = uint64(s), now
				for _, m := range []*Merger{flat, below[i%len(below)]} {
					if _, err := m.Take(wired(t, e), 0, now); err != nil {
						t.Fatal(err)
					}
				}
			}
			flat.Tick(now)
			for _, i := range r.Perm(len(below)) {
				if view, _ := below[i].Tick(now); view.Nets[0].Rows.Columns == 0 {
					continue
				}
				if _, err := root.Take(sum(t, below[i], fmt.Sprint("child", i), uint64(s), now), 0, now); err != nil {
					t.Fatal(err)
				}
			}
			if d := cmp.Diff(lostRows(t, flat, now), lostRows(t, root, now)); d != "" {
				t.Fatalf("seed %d, second %d (-flat +root):\n%s", seed, s, d)
			}
		}
	}
}

// A collector that starts again knows what the ones below had lost, and a collector below
// that starts again names the sources that come back.
func TestARestartKeepsWhatIsLostBelow(t *testing.T) {
	low, all := speakers(t, "a", "b")
	root := NewMerger(Rules{}, t0)
	seq := uint64(0)
	publish := func(now int64) {
		t.Helper()
		seq++
		if _, err := root.Take(sum(t, low, "low", seq, now), 0, now); err != nil {
			t.Fatal(err)
		}
	}
	define := func(m *Merger) {
		t.Helper()
		if _, err := m.Define(benchDigest, lineNet("n", 1, 1), t0); err != nil {
			t.Fatal(err)
		}
	}
	again := func(m *Merger, now int64) *Merger {
		t.Helper()
		state, err := new(Saver).save(m)
		if err != nil {
			t.Fatal(err)
		}
		next := NewMerger(Rules{ForgetAfter: time.Minute}, now)
		if err := next.Restore([][]byte{state}, Admission{PNML: pnmlLimits()}, now); err != nil {
			t.Fatal(err)
		}
		define(next)
		return next
	}
	define(root)
	run := func(from, to int64, speak ...*speaker) {
		t.Helper()
		for s := from; s <= to; s++ {
			for _, e := range speak {
				if err := e.says(t0+s*1e6, 0, t0, stats.AllColumns, false); err != nil {
					t.Fatal(err)
				}
			}
			publish(t0 + s*1e6)
		}
	}
	a, b := all[0], all[1]
	run(1, 70, b)
	before := remnant(root, "low\x1fa", t0+70e6)
	if before == nil || before.Left == 0 || before.SilentSince != t0 || len(before.Places) != 1 {
		t.Fatalf("the root has %+v", before)
	}
	root = again(root, t0+71e6)
	after := remnant(root, "low\x1fa", t0+71e6)
	if after == nil || after.Left == 0 || after.Left > before.Left || len(after.Places) != 1 {
		t.Fatalf("after its restart the root has %+v", after)
	}
	low = again(low, t0+72e6)
	a.m, b.m = low, low
	run(72, 80, b)
	if view, _ := root.Tick(t0 + 80e6); slices.ContainsFunc(view.Nets[0].Answers, func(a Answer) bool { return a.Source == "low\x1fa" }) {
		t.Error("a source answers that is silent")
	}
	run(81, 85, a, b)
	view, _ := root.Tick(t0 + 85e6)
	i := slices.IndexFunc(view.Nets[0].Answers, func(a Answer) bool { return a.Source == "low\x1fa" })
	if i < 0 || view.Nets[0].Answers[i].Bye || !view.Nets[0].Answers[i].Columns.Has(stats.ColOldest) {
		t.Errorf("the root has the answers %+v", view.Nets[0].Answers)
	}
	run(86, 500, a, b)
	if view, _ := root.Tick(t0 + 500e6); len(view.Nets[0].Answers) != 0 {
		t.Errorf("minutes later the root has the answers %+v", view.Nets[0].Answers)
	}
}

func TestARemnantOutsideTheDefinitionIsRejected(t *testing.T) {
	m, _ := speakers(t, "a")
	for _, l := range []telemetry.Remnant{{Left: 1, Places: []uint32{1}}, {Left: 1, Enabled: []uint32{0, 1}}, {Fired: []uint32{7}}} {
		msg := &telemetry.Snapshot{Source: "low", Net: "n", Digest: benchDigest, Epoch: t0, Seq: 1, SentAt: t0, Interval: time.Second, Full: true,
			Rows: *stats.NewRows(1, 1), Remnants: &telemetry.Remnants{Lost: []telemetry.Remnant{l}}}
		if _, err := m.Take(msg, 0, t0); telemetry.ReasonOf(err) != WrongSize || !strings.Contains(err.Error(), "remnant") {
			t.Errorf("%+v: %v", l, err)
		}
	}
}
