// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// recordsOf takes a state apart.
func recordsOf(t *testing.T, state []byte) (out []record) {
	t.Helper()
	for len(state) > 0 {
		kind := state[0]
		state = state[1:]
		if kind == recordMore {
			out = append(out, record{kind, nil})
			continue
		}
		size, n := binary.Uvarint(state)
		out = append(out, record{kind, state[n : n+int(size)]})
		state = state[n+int(size):]
	}
	return out
}

func stateOf(records []record) (out []byte) {
	for _, r := range records {
		if r.kind == recordMore {
			out = append(out, recordMore)
		} else {
			out = appendRecord(out, r.kind, r.payload)
		}
	}
	return out
}

// A state is taken as a whole or not at all, whichever of its records is damaged.
func TestUnreadableStateIsRefused(t *testing.T) {
	const places = 9000 // in parts
	m := NewMerger(Rules{}, t0)
	for id, rows := range map[string]int{"n": places, "small": 1} {
		if _, err := m.Define(id, lineNet(id, rows, 1), t0); err != nil {
			t.Fatal(err)
		}
		msg := randomSource(rand.New(rand.NewPCG(1, 1)), "a", rows, 1, t0)
		msg.Net, msg.Digest = id, id
		if _, err := m.Take(msg, 0, t0); err != nil {
			t.Fatal(err)
		}
	}
	m.Tick(t0)
	state := keptBy(t, m)
	records := recordsOf(t, ofEarlier(t, state))
	var kinds []byte
	for _, r := range records {
		kinds = append(kinds, r.kind)
	}
	if got := string(kinds); !regexp.MustCompile(`^tn(\+r)+rnro(\+b)*b(o(\+b)*b)(o(\+v)*v)(o(\+v)*v)$`).MatchString(got) {
		t.Fatalf("records %s", got)
	}
	small := bytes.IndexByte(kinds[2:], recordNet) + 2 // where the other net begins
	change := func(how func([]record) []record) []byte {
		return stateOf(how(recordsOf(t, stateOf(records))))
	}
	payload := func(at int, how func([]byte) []byte) []byte {
		return change(func(r []record) []record {
			r[at].payload = how(bytes.Clone(r[at].payload))
			return r
		})
	}
	without := func(at int) []byte { return change(func(r []record) []record { return slices.Delete(r, at, at+1) }) }
	last := bytes.LastIndexByte(kinds[:small], recordSource)
	past := record{recordPast, []byte(`{"source":"gone","epoch":1,"seq":2,"counted":3}`)}
	end := len(kinds) - 1
	for what, bad := range map[string][]byte{
		"cut":                              state[:len(state)-1],
		"unknown record":                   append([]byte{'?', 0}, state...),
		"unknown record of a net":          append(bytes.Clone(state), '?', 0),
		"without a net":                    {recordPast, 0},
		"without counters":                 change(func(r []record) []record { return r[:small+2] }),
		"ends in a part":                   append(bytes.Clone(state), recordMore),
		"ends after a part":                stateOf(records[:last]),
		"the last part is missing":         without(last),
		"the first part is missing":        change(func(r []record) []record { return slices.Delete(r, 2, 4) }),
		"length too long":                  {recordNet, 0xff, 0xff, 0xff, 0xff, 0x0f},
		"a record without a length":        {recordNet},
		"a time that is cut":               {recordTime, 1, 0xff},
		"a net that is not defined":        append(bytes.Clone(state), recordOf, 1, 'x'),
		"a net that is no JSON":            payload(small, func(b []byte) []byte { return b[1:] }),
		"a net of no name":                 payload(small, func(b []byte) []byte { return bytes.Replace(b, []byte(`"small"`), []byte(`""`), 1) }),
		"a net of another name":            payload(small, func(b []byte) []byte { return bytes.Replace(b, []byte(`"small"`), []byte(`"other"`), 1) }),
		"a net that is no PNML":            payload(small, func(b []byte) []byte { return b[:len(b)-20] }),
		"a head that is no JSON":           append(bytes.Clone(state), recordHead, 1, '{'),
		"a head of another net":            append(bytes.Clone(state), recordHead, 2, '{', '}'),
		"counters that are no snapshot":    payload(end, func(b []byte) []byte { return b[:len(b)-1] }),
		"counters of other rows":           change(func(r []record) []record { r[end] = oneRow(t, recordShown, 2); return r }),
		"a base of other rows":             change(func(r []record) []record { return append(r, oneRow(t, recordBase, 2)) }),
		"a debt of other rows":             change(func(r []record) []record { return append(r, oneRow(t, recordDebt, 2)) }),
		"a sum of other rows":              change(func(r []record) []record { return append(r, oneRow(t, recordSum, 2)) }),
		"changes of what was never shown":  change(func(r []record) []record { return append(r, changed(t, recordShownChanges, 1, 1, 0, 0)) }),
		"changes of no source":             change(func(r []record) []record { return append(r, record{recordChanges, []byte{1, 'a'}}) }),
		"rows without a group":             change(func(r []record) []record { return append(r, changed(t, recordRows, 1, 1, 0, 0)) }),
		"a group without a name":           append(bytes.Clone(state), recordGroup, 0),
		"a group of a name that is cut":    append(bytes.Clone(state), recordGroup, 1, 9),
		"a group that is cut":              append(bytes.Clone(state), recordGroup, 4, 1, 'a', recordSource, 7),
		"a source without a digest":        payload(small+1, func([]byte) []byte { return nil }),
		"a digest that is cut":             payload(small+1, func([]byte) []byte { return []byte{200, 1} }),
		"a source of digest alone":         payload(small+1, func(b []byte) []byte { return b[:1+b[0]] }),
		"a source that is no snapshot":     payload(small+1, func(b []byte) []byte { return b[:len(b)-1] }),
		"a part that is no snapshot":       payload(last, func(b []byte) []byte { return b[:len(b)-1] }),
		"a past source that is no JSON":    change(func(r []record) []record { return append(r, record{recordPast, []byte("{")}) }),
		"a past source of no name":         change(func(r []record) []record { return append(r, record{recordPast, []byte("{}")}) }),
		"a part goes on in another net":    change(func(r []record) []record { return slices.Delete(r, last, last+1) }),
		"a part of another record":         change(func(r []record) []record { return slices.Insert(r, small+1, record{recordMore, nil}, r[small+3]) }),
		"a net that is a part":             change(func(r []record) []record { return slices.Insert(r, small, record{recordMore, nil}) }),
		"a past source that is a part":     change(func(r []record) []record { return append(r, record{recordMore, nil}, past) }),
		"a past source before a part":      change(func(r []record) []record { return slices.Insert(r, last, past) }),
		"a past source between parts":      change(func(r []record) []record { return slices.Insert(r, last-1, past) }),
		"a past source before all parts":   change(func(r []record) []record { return slices.Insert(r, 3, past) }),
		"a part of another source":         change(func(r []record) []record { return slices.Insert(r, last, r[small+1]) }),
		"a frame that needs another frame": stateOf([]record{records[0], {recordOf, []byte("small")}, records[end]}),
	} {
		if err := NewMerger(Rules{}, t0).Restore([][]byte{bad}, Admission{PNML: pnmlLimits()}, t0); !errors.Is(err, ErrState) {
			t.Errorf("%s: got error %v; want ErrState", what, err)
		}
	}
	for what, good := range map[string][]byte{"the whole": state, "without groups": stateOf(records), "with a past source": change(func(r []record) []record { return append(r, past) })} {
		if err := NewMerger(Rules{}, t0).Restore([][]byte{good}, Admission{PNML: pnmlLimits()}, t0); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	tight := pnmlLimits()
	tight.Nodes = 10
	if err := NewMerger(Rules{}, t0).Restore([][]byte{state}, Admission{PNML: tight}, t0); !errors.Is(err, ErrState) {
		t.Errorf("a net beyond the limits: %v", err)
	}
}

// ofEarlier returns a state with snapshots instead of groups and of changes of rows, as in a state of
// an earlier release.
func ofEarlier(t *testing.T, state []byte) (out []byte) {
	t.Helper()
	nets, err := readState(state)
	if err != nil {
		t.Fatal(err)
	}
	var k snapshots
	rows := func(kind byte, meta []byte, msg *telemetry.Snapshot) {
		if out, err = k.rows(out, kind, meta, msg); err != nil {
			t.Fatal(err)
		}
	}
	var of *restored
	for _, r := range recordsOf(t, state) {
		switch r.kind {
		case recordGroup:
			name := string(r.payload[1 : 1+r.payload[0]])
			for _, h := range of.sources {
				if h.msg.Source == name {
					rows(recordSource, h.before(recordSource), h.msg)
				}
			}
		case recordShownRows:
			rows(recordShown, nil, of.shown)
		default:
			if r.kind == recordNet || r.kind == recordOf {
				of = nets[slices.IndexFunc(nets, func(n *restored) bool {
					return string(r.payload) == n.ID || bytes.HasPrefix(r.payload, []byte(`{"id":"`+n.ID+`"`))
				})]
			}
			out = append(out, stateOf([]record{r})...)
		}
	}
	return out
}

// oneRow returns counters of the net "small" with that many places.
func oneRow(t *testing.T, kind byte, places int) record {
	t.Helper()
	rows := stats.NewRows(places, 1)
	rows.Columns = stats.ColArrivals | stats.ColFirings
	out, err := new(Saver).counters(nil, kind, "small", definition{digest: benchDigest}, rows, t0)
	if err != nil {
		t.Fatal(err)
	}
	return recordsOf(t, out)[0]
}

// changed returns a record of changes of the net "small".
func changed(t *testing.T, kind byte, changes ...byte) record {
	t.Helper()
	msg := sumOf("small", definition{digest: benchDigest}, stats.NewRows(0, 0), t0)
	payload, err := new(snapshots).rest(nil, msg)
	if err != nil {
		t.Fatal(err)
	}
	return record{kind, append(payload, changes...)}
}

// A state that an earlier release wrote is read: its sums, sources, processes set aside, past
// sources, regions, and what it showed after that.
//
//promise:versions version
func TestTheStateOfAnEarlierReleaseIsRead(t *testing.T) {
	var frames [][]byte
	for _, name := range []string{"state", "shown"} {
		text, err := os.ReadFile(filepath.Join("testdata", "release1", name))
		if err != nil {
			t.Fatal(err)
		}
		frames = append(frames, text)
	}
	for n, firings := range map[int]uint64{1: 10 + 5 + 20 + 30 + 40, 2: 10 + 5 + 41 + 30 + 40} {
		m := NewMerger(Rules{}, t0+8e6)
		if err := m.Restore(frames[:n], Admission{PNML: pnmlLimits()}, t0+8e6); err != nil {
			t.Fatal(err)
		}
		m.Begin(t0 + 8e6)
		view, _ := m.Tick(t0 + 8e6)
		net := m.nets["n"]
		if got := view.Net("n").Rows.Transitions[0].Firings; got != firings || net.since != t0 || view.Net("n").Recalled != 3 {
			t.Errorf("%d frames: %d firings since %d, %d recalled; want %d", n, got, net.since, view.Net("n").Recalled, firings)
		}
		if len(net.aside) != 1 || net.past["past"].counted != 3 || net.fences["south"].Fence != 3 || net.sources["gone"].state != Gone || view.Net("other") == nil {
			t.Errorf("%d frames: %d set aside, past %+v, region %+v", n, len(net.aside), net.past["past"], net.fences["south"])
		}
		if _, err := m.Define("d", lineNet("n", 1, 1), t0); err != nil {
			t.Fatal(err)
		}
		if _, err := m.Take(fired("b", t0+5, t0+9e6, 10, 45, 0), 0, t0+9e6); err != nil { // it continued
			t.Fatal(err)
		}
		if view, _ = m.Tick(t0 + 9e6); view.Net("n").Rows.Transitions[0].Firings != 10+5+45+30+40 {
			t.Errorf("%d frames: %d firings then", n, view.Net("n").Rows.Transitions[0].Firings)
		}
	}
}

func FuzzState(f *testing.F) {
	m := NewMerger(Rules{}, t0)
	if _, err := m.Define(benchDigest, lineNet("n", 2, 2), t0); err != nil {
		f.Fatal(err)
	}
	if _, err := m.Take(randomSource(rand.New(rand.NewPCG(1, 1)), "a", 2, 2, t0), 0, t0); err != nil {
		f.Fatal(err)
	}
	m.Tick(t0)
	var k Saver
	state, err := k.save(m)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(state)
	next := randomSource(rand.New(rand.NewPCG(1, 1)), "a", 2, 2, t0)
	next.Seq++
	next.Rows.Transitions[1].Firings++
	next.Rows.Places[0].Dwell.Observe(7e6)
	if _, err := m.Take(next, 0, t0+1e6); err != nil {
		f.Fatal(err)
	}
	m.Tick(t0 + 1e6)
	changes, err := k.frame(m, false)
	if err != nil || bytes.IndexByte(changes.Records, recordChanges) < 0 {
		f.Fatal("no changes", err)
	}
	f.Add(append(bytes.Clone(state), changes.Records...))
	for _, name := range []string{"state", "shown"} {
		earlier, err := os.ReadFile(filepath.Join("testdata", "release1", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(earlier)
	}
	f.Fuzz(func(_ *testing.T, state []byte) {
		m := NewMerger(Rules{}, t0)
		_ = m.Restore([][]byte{state}, Admission{Share: Share{Index: 1, Count: 2}, PNML: pnmlLimits()}, t0)
		m.Tick(t0)
		_, _ = new(Saver).save(m)
	})
}
