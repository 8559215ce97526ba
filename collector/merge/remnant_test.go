// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"testing"
	"time"

	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// speaker publishes for one source of a net of one place and one transition.
type speaker struct {
	t    *testing.T
	m    *Merger
	name string
	seq  uint64
	late int64 // how long its messages take
}

func (s *speaker) says(now, tokens, epoch int64, columns stats.Columns, bye bool) error {
	s.t.Helper()
	s.seq++
	rows := stats.NewRows(1, 1)
	rows.Columns = columns
	if tokens > 0 && columns.Has(stats.ColOldest) {
		rows.Places[0] = stats.Place{Tokens: uint64(tokens), Oldest: t0 - 60e6}
	}
	rows.Transitions[0].Firings = s.seq
	_, err := s.m.Take(&telemetry.Snapshot{Source: s.name, Net: "n", Digest: benchDigest, Epoch: epoch, Seq: s.seq, SentAt: now - s.late, Interval: time.Second, Full: true, Bye: bye, Rows: *rows}, 0, now)
	return err
}

func speakers(t *testing.T, names ...string) (*Merger, []*speaker) {
	m := NewMerger(Rules{ForgetAfter: time.Minute}, t0)
	if _, err := m.Define(benchDigest, lineNet("n", 1, 1), t0); err != nil {
		t.Fatal(err)
	}
	var out []*speaker
	for _, name := range names {
		s := &speaker{t: t, m: m, name: name}
		if err := s.says(t0, 1, t0, stats.AllColumns, false); err != nil {
			t.Fatal(err)
		}
		out = append(out, s)
	}
	m.Tick(t0)
	return m, out
}

// remnant returns what a source does not report any more, as of a Tick.
func remnant(m *Merger, name string, now int64) *Remnant {
	view, _ := m.Tick(now)
	for _, r := range view.Nets[0].Remnants {
		if r.Source == name {
			return r
		}
	}
	return nil
}

func TestAViewKeepsWhatASourceHeldThatSaysNothing(t *testing.T) {
	m, all := speakers(t, "a", "b")
	a, b := all[0], all[1]
	run := func(from, to int64) {
		for s := from; s <= to; s++ {
			if err := b.says(t0+s*1e6, 0, t0, stats.AllColumns, false); err != nil {
				t.Fatal(err)
			}
			m.Tick(t0 + s*1e6)
		}
	}
	run(1, 10)
	if r := remnant(m, "a", t0+10e6); r == nil || r.Left != 0 || len(r.Places) != 1 || r.Places[0].Tokens != 1 || r.Places[0].Oldest != t0-60e6 {
		t.Fatalf("a silent source held %+v", r)
	}
	run(11, 70)
	view, _ := m.Tick(t0 + 70e6)
	if r := remnant(m, "a", t0+70e6); r == nil || r.Left == 0 || len(r.Places) != 1 || view.Nets[0].Rows.Places[0].Tokens != 0 {
		t.Fatalf("a forgotten source held %+v; the sums have %d tokens", r, view.Nets[0].Rows.Places[0].Tokens)
	}
	if s := view.Sources[0]; s.Name != "a" || s.State != Gone || !s.Forgotten {
		t.Errorf("%+v", s)
	}
	// Another process of it reports nothing of ages, and then everything.
	a.seq = 0
	if err := a.says(t0+71e6, 0, t0+70e6, stats.ColFirings, false); err != nil {
		t.Fatal(err)
	}
	if err := a.says(t0+72e6, 0, t0+70e6, stats.AllColumns, false); err != nil {
		t.Fatal(err)
	}
	if r := remnant(m, "a", t0+72e6); r != nil {
		t.Errorf("a source that reports everything held %+v", r)
	}
}

func TestAColumnThatIsNotReportedAnyMoreIsARemnant(t *testing.T) {
	m, all := speakers(t, "a", "b")
	a := all[0]
	if err := a.says(t0+1e6, 1, t0, stats.AllColumns&^stats.ColOldest, false); err != nil {
		t.Fatal(err)
	}
	if r := remnant(m, "a", t0+1e6); r == nil || r.Left == 0 || len(r.Places) != 1 {
		t.Fatalf("the source held %+v", r)
	}
	if err := a.says(t0+2e6, 0, t0, stats.AllColumns, false); err != nil {
		t.Fatal(err)
	}
	if r := remnant(m, "a", t0+2e6); r != nil {
		t.Errorf("the source reports the column again, and held %+v", r)
	}
}

func TestASourceThatSaidGoodbyeLeavesTheViewAndItsCountersStay(t *testing.T) {
	m, all := speakers(t, "a", "b")
	a, b := all[0], all[1]
	if err := a.says(t0+1e6, 0, t0, stats.AllColumns, true); err != nil {
		t.Fatal(err)
	}
	if r := remnant(m, "a", t0+1e6); r != nil {
		t.Errorf("after a goodbye the source held %+v", r)
	}
	var shown []bool
	for s := int64(2); s <= 70; s++ {
		if err := b.says(t0+s*1e6, 0, t0, stats.AllColumns, false); err != nil {
			t.Fatal(err)
		}
		view, _ := m.Tick(t0 + s*1e6)
		shown = append(shown, view.Sources[0].Name == "a")
	}
	if !shown[0] || !shown[50] || shown[len(shown)-1] {
		t.Errorf("shown after 2, 52 and 70 s: %v, %v, %v; want it for a minute", shown[0], shown[50], shown[len(shown)-1])
	}
	a.seq, a.late = 1, 70e6
	if err := a.says(t0+71e6, 1, t0, stats.AllColumns, false); telemetry.ReasonOf(err) != Duplicate { // its last message, once more
		t.Errorf("a late message: %v", err)
	}
	view, _ := m.Tick(t0 + 71e6)
	if len(view.Sources) != 1 || view.Nets[0].Rows.Places[0].Tokens != 0 || view.Nets[0].Rows.Transitions[0].Firings != 2+b.seq {
		t.Errorf("%d sources, %d tokens, %d firings; want b alone, and the firings of both", len(view.Sources), view.Nets[0].Rows.Places[0].Tokens, view.Nets[0].Rows.Transitions[0].Firings)
	}
}
