// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"regexp"
	"slices"
	"testing"

	"github.com/pnagent/pnagent/stats"
)

// recordsOf takes a state apart.
func recordsOf(t *testing.T, state []byte) (out []record) {
	t.Helper()
	for len(state) > 0 {
		kind := state[0]
		if state = state[1:]; kind == recordMore {
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
	m.nets["small"].past["gone"] = past{epoch: 1, seq: 2, counted: 3}
	m.Tick(t0)
	k := new(Saver)
	state, err := k.save(m)
	if err != nil {
		t.Fatal(err)
	}
	shown, err := k.shown(m)
	if err != nil {
		t.Fatal(err)
	}
	var kinds []byte
	for _, r := range recordsOf(t, state) {
		kinds = append(kinds, r.kind)
	}
	if got := string(kinds); !regexp.MustCompile(`^ns(\+r)+rnsrp$`).MatchString(got) {
		t.Fatalf("records %s", got)
	}
	small := bytes.IndexByte(kinds[1:], recordNet) + 1 // where the other net begins
	change := func(how func([]record) []record) []byte { return stateOf(how(recordsOf(t, state))) }
	payload := func(at int, how func([]byte) []byte) []byte {
		return change(func(r []record) []record {
			r[at].payload = how(bytes.Clone(r[at].payload))
			return r
		})
	}
	without := func(at int) []byte { return change(func(r []record) []record { return slices.Delete(r, at, at+1) }) }
	last := bytes.LastIndexByte(kinds[:small], recordSource)
	for what, bad := range map[string][]byte{
		"cut":                              state[:len(state)-1],
		"unknown record":                   append([]byte{'?', 0}, state...),
		"unknown record of a net":          append(bytes.Clone(state), '?', 0),
		"without a net":                    {recordPast, 0},
		"without a sum":                    without(small + 1),
		"ends in a part":                   append(bytes.Clone(state), recordMore),
		"ends after a part":                stateOf(recordsOf(t, state)[:last]),
		"the last part is missing":         without(last),
		"the first part is missing":        change(func(r []record) []record { return slices.Delete(r, 2, 4) }),
		"length too long":                  {recordNet, 0xff, 0xff, 0xff, 0xff, 0x0f},
		"a record without a length":        {recordNet},
		"a net that is no JSON":            payload(small, func(b []byte) []byte { return b[1:] }),
		"a net of no name":                 payload(small, func(b []byte) []byte { return bytes.Replace(b, []byte(`"small"`), []byte(`""`), 1) }),
		"a net of another name":            payload(small, func(b []byte) []byte { return bytes.Replace(b, []byte(`"small"`), []byte(`"other"`), 1) }),
		"a net that is no PNML":            payload(small, func(b []byte) []byte { return b[:len(b)-20] }),
		"a sum that is no snapshot":        payload(small+1, func(b []byte) []byte { return b[:len(b)-1] }),
		"a sum of other rows":              change(func(r []record) []record { r[small+1] = oneRow(t, 2); return r }),
		"a source without a digest":        payload(small+2, func([]byte) []byte { return nil }),
		"a digest that is cut":             payload(small+2, func([]byte) []byte { return []byte{200, 1} }),
		"a source of digest alone":         payload(small+2, func(b []byte) []byte { return b[:1+b[0]] }),
		"a source that is no snapshot":     payload(small+2, func(b []byte) []byte { return b[:len(b)-1] }),
		"a part that is no snapshot":       payload(last, func(b []byte) []byte { return b[:len(b)-1] }),
		"a past source that is no JSON":    payload(len(kinds)-1, func(b []byte) []byte { return b[1:] }),
		"a past source of no name":         payload(len(kinds)-1, func(b []byte) []byte { return bytes.Replace(b, []byte(`"gone"`), []byte(`""`), 1) }),
		"a part goes on in another net":    change(func(r []record) []record { return slices.Delete(r, last, last+1) }),
		"a part of another record":         change(func(r []record) []record { return slices.Insert(r, small+2, record{recordMore, nil}, r[small+1]) }),
		"a net that is a part":             change(func(r []record) []record { return slices.Insert(r, small, record{recordMore, nil}) }),
		"a past source that is a part":     change(func(r []record) []record { return slices.Insert(r, len(r)-1, record{recordMore, nil}) }),
		"a past source before a part":      change(func(r []record) []record { return slices.Insert(r, last, r[len(r)-1]) }),
		"a past source between parts":      change(func(r []record) []record { return slices.Insert(r, last-1, r[len(r)-1]) }),
		"a past source before all parts":   change(func(r []record) []record { return slices.Insert(r, 3, r[len(r)-1]) }),
		"a part of another source":         change(func(r []record) []record { return slices.Insert(r, last, r[small+2]) }),
		"what was shown instead of states": shown,
	} {
		if err := NewMerger(Rules{}, t0).Restore(bad, Admission{PNML: pnmlLimits()}, t0); !errors.Is(err, ErrState) {
			t.Errorf("%s: got error %v; want ErrState", what, err)
		}
	}
	fresh := func() *Merger { return NewMerger(Rules{}, t0) }
	if err := fresh().Restore(state, Admission{PNML: pnmlLimits()}, t0); err != nil {
		t.Errorf("the whole: %v", err)
	}
	if err := fresh().RestoreShown(shown, Admission{PNML: pnmlLimits()}, t0); err != nil {
		t.Errorf("what was shown: %v", err)
	}
	for what, bad := range map[string][]byte{
		"cut": shown[:len(shown)-1], "a state": state,
		"other rows": stateOf([]record{recordsOf(t, state)[small], {recordShown, oneRow(t, 2).payload}}),
	} {
		if err := fresh().RestoreShown(bad, Admission{PNML: pnmlLimits()}, t0); !errors.Is(err, ErrState) {
			t.Errorf("what was shown, %s: %v", what, err)
		}
	}
	tight := pnmlLimits()
	tight.Nodes = 10
	if err := fresh().Restore(state, Admission{PNML: tight}, t0); !errors.Is(err, ErrState) {
		t.Errorf("a net beyond the limits: %v", err)
	}
}

// oneRow returns a sum of the net "small" with that many places.
func oneRow(t *testing.T, places int) record {
	t.Helper()
	rows := stats.NewRows(places, 1)
	rows.Columns = stats.ColArrivals | stats.ColFirings
	out, err := new(Saver).counters(nil, recordSum, &savingNet{head: savedNet{ID: "small"}, d: definition{digest: benchDigest}}, rows, t0)
	if err != nil {
		t.Fatal(err)
	}
	return recordsOf(t, out)[0]
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
	state, err := new(Saver).save(m)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(state)
	f.Fuzz(func(_ *testing.T, state []byte) {
		m := NewMerger(Rules{}, t0)
		_ = m.Restore(state, Admission{Share: Share{Index: 1, Count: 2}, PNML: pnmlLimits()}, t0)
		m.Tick(t0)
		_, _ = new(Saver).save(m)
	})
}
