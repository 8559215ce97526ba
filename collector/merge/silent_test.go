// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/pnagent/pnagent/telemetry"
)

// silentAt returns the silent sources of a Merger with two nets, one of which has
// that many rows.
func silentAt(t *testing.T, rows int, now int64) []byte {
	t.Helper()
	m := NewMerger(Rules{}, t0)
	for id, rows := range map[string]int{"n": rows, "small": 2} {
		if _, err := m.Define(id, lineNet(id, rows, 1), t0); err != nil {
			t.Fatal(err)
		}
		for seed, name := range []string{"a", "b"} {
			msg := randomSource(rand.New(rand.NewPCG(uint64(seed), 1)), name, rows, 1, t0)
			msg.Net, msg.Digest = id, id
			if _, err := m.Take(msg, 0, t0); err != nil {
				t.Fatal(err)
			}
		}
	}
	m.Tick(now)
	silent, err := m.Silent(now)
	if err != nil {
		t.Fatal(err)
	}
	return silent
}

// Records that are damaged anywhere are refused, and nothing of them is shown.
//
//promise:damage messages
func TestDamagedRecordsOfSilentSourcesAreRefused(t *testing.T) {
	now := t0 + 10e6
	good := silentAt(t, 3, now)
	records := recordsOf(t, good)
	inParts := silentAt(t, 9000, now)
	head := func(n savedNet) []byte {
		at := len(records) - 3 // the small net
		_, text, _ := bytes.Cut(records[at].payload, []byte("\n"))
		line, err := json.Marshal(n)
		if err != nil {
			t.Fatal(err)
		}
		changed := append([]record{}, records...)
		changed[at].payload = append(append(line, '\n'), text...)
		return stateOf(changed)
	}
	state, err := new(Saver).save(func() *Merger { m := NewMerger(Rules{}, t0); takeAll(t, m, good, now); m.Tick(now); return m }())
	if err != nil {
		t.Fatal(err)
	}
	for what, bad := range map[string][]byte{
		"cut":                       good[:len(good)-1],
		"cut within a source":       stateOf(recordsOf(t, inParts)[:2]),
		"a state with its sums":     state,
		"made at no time":           head(savedNet{ID: "small"}),
		"made after all time":       head(savedNet{ID: "small", At: telemetry.MaxTime + 1}),
		"regions":                   head(savedNet{ID: "small", At: now, Regions: []savedRegion{{Region: "r"}}}),
		"what is of no source":      stateOf(append(append([]record{}, records...), record{recordPast, []byte(`{"source":"x"}`)})),
		"an unknown kind of record": append(append([]byte{}, good...), '?', 0),
	} {
		m := NewMerger(Rules{}, now)
		n, err := m.TakeSilent(bad, Admission{PNML: pnmlLimits()}, now)
		if view, _ := m.Tick(now); n != 0 || !errors.Is(err, ErrState) || len(view.Nets)+len(view.Sources) > 0 {
			t.Errorf("%s: %d taken, %v, %d nets and %d sources", what, n, err, len(view.Nets), len(view.Sources))
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 { // whatever is in them, it ends with an answer
		bad := bytes.Clone(good)
		bad[r.IntN(len(bad))] ^= 1 << r.IntN(8)
		m := NewMerger(Rules{}, now)
		_, _ = m.TakeSilent(bad, Admission{PNML: pnmlLimits()}, now)
		m.Tick(now)
	}
}

func takeAll(t *testing.T, m *Merger, silent []byte, now int64) {
	t.Helper()
	if n, err := m.TakeSilent(silent, Admission{PNML: pnmlLimits()}, now); n != 4 || err != nil {
		t.Fatalf("%d taken, %v", n, err)
	}
}

// Of a silent source comes over all that is shown of it, and of two sidecars that
// divide the sources each takes its own.
func TestSilentSourcesAreShownAsWhereTheyWereReceived(t *testing.T) {
	now := t0 + 10e6
	good := silentAt(t, 3, now)
	m := NewMerger(Rules{}, now)
	takeAll(t, m, good, now)
	again, err := func() ([]byte, error) { m.Tick(now); return m.Silent(now) }()
	if err != nil || !bytes.Equal(again, good) {
		t.Errorf("got %x, %v; want %x, the message that was taken", again, err, good)
	}
	small := NewMerger(Rules{}, now)
	small.limits.Rows = 1
	if n, err := small.TakeSilent(good, Admission{PNML: pnmlLimits()}, now); n != 0 || telemetry.ReasonOf(err) != TooManyRows {
		t.Errorf("where there is no room for the rows of a net: %d taken, %v", n, err)
	}
	taken := 0
	for i := range 2 {
		share := Share{Index: i + 1, Count: 2}
		m := NewMerger(Rules{}, now)
		n, err := m.TakeSilent(good, Admission{PNML: pnmlLimits(), Share: share}, now)
		if err != nil {
			t.Fatal(err)
		}
		view, _ := m.Tick(now)
		for _, s := range view.Sources {
			if !share.Has(s.Net, s.Name) {
				t.Errorf("share %v takes %s of %s", share, s.Name, s.Net)
			}
		}
		taken += n
	}
	if taken != 4 {
		t.Errorf("all shares take %d", taken)
	}
}
