// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/engine/journal"
	"github.com/pnagent/pnagent/petri/split"
)

func TestSectionsAreReadAsTheyWereWritten(t *testing.T) {
	type section struct {
		Kind int
		Body string
		Now  int64
	}
	commit := appendSection(appendSection(appendSection(appendTime(nil, 1_700_000_000_000_000), 0, []byte("ops")), 1+sectionCrossings, nil), 1+sectionOwnership, []byte("{}"))
	var got []section
	err := eachSection(commit, 1, func(kind int, body []byte, now int64) error {
		got = append(got, section{kind, string(body), now})
		return nil
	})
	want := []section{{0, "ops", 1_700_000_000_000_000}, {1, "", 1_700_000_000_000_000}, {2, "{}", 1_700_000_000_000_000}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestCommitsThatAreNoneAreRefused(t *testing.T) {
	for name, commit := range map[string][]byte{
		"nothing":                    {},
		"half a time":                {0x80},
		"a kind without a length":    {1, 0},
		"half a kind":                {1, 0x80},
		"half a length":              {1, 0, 0x80},
		"a section that ends early":  {1, 0, 3, 'a', 'b'},
		"a length beyond all":        binary.AppendUvarint([]byte{1, 0}, 1<<63),
		"a kind that there is not":   {1, 1 + sectionKinds, 0},
		"a second section that ends": {1, 0, 1, 'a', 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			if err := eachSection(commit, 1, func(int, []byte, int64) error { return nil }); !errors.Is(err, ErrReplay) {
				t.Errorf("%v; want ErrReplay", err)
			}
		})
	}
}

// reachOf is the body of a reach section.
func reachOf(upstream int, position, tokens uint64, back bool) []byte {
	_, body := appendReach(nil, nil, upstream, reach{Cursor{position, 0xfedcba9876543210}, tokens, back})
	return body
}

func points(positions ...uint64) (all []Point) {
	for _, p := range positions {
		all = append(all, Point{Cursor: Cursor{Position: p}})
	}
	return all
}

// A cursor goes back only where the log is to be read again.
func TestCursorsGoForward(t *testing.T) {
	const mark = 0xfedcba9876543210
	for _, c := range []struct {
		name string
		kind int
		body []byte
		want []Point // nil if it is refused
	}{
		{"further, with a mark", sectionReach, reachOf(1, 9, 3, false), []Point{points(5)[0], {Cursor{9, mark}, 3, 8}}},
		{"back, with a mark", sectionReach, reachOf(1, 6, 0, false), nil},
		{"back, to read again", sectionReach, reachOf(1, 6, 0, true), []Point{points(5)[0], {Cursor{6, mark}, 0, 8}}},
		{"with a mark, of a part that there is not", sectionReach, reachOf(2, 9, 0, false), nil},
		{"with half a mark", sectionReach, reachOf(1, 9, 0, false)[:7], nil},
		{"with a mark and more", sectionReach, append(reachOf(1, 9, 0, false), 0), nil},
		{"with an unknown flag", sectionReach, []byte{1, 9, 0, 2, 0, 0, 0, 0, 0, 0, 0, 1}, nil},
		{"with a mark and nothing", sectionReach, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &recorder{hash: sha256.New()}
			for _, p := range points(5, 7) {
				r.readings = append(r.readings, reading{Now: p})
			}
			err := r.replay(c.kind, c.body, 8)
			got := []Point{r.readings[0].Now, r.readings[1].Now}
			switch {
			case c.want != nil && (err != nil || !slices.Equal(got, c.want)):
				t.Errorf("%v, %v; want %v", got, err, c.want)
			case c.want == nil && (!errors.Is(err, ErrReplay) || !slices.Equal(got, points(5, 7))):
				t.Errorf("%v, %v; want ErrReplay and no change", got, err)
			}
		})
	}
}

func TestOwnersFollowEachOther(t *testing.T) {
	now := ownership{Epoch: 3, Owner: "a"}
	for _, c := range []struct {
		name string
		next ownership
		ok   bool
	}{
		{"another one", ownership{Epoch: 4, Owner: "b"}, true},
		{"the same again", ownership{Epoch: 4, Owner: "a"}, true},
		{"a release", ownership{Epoch: 3, Owner: "a", Release: true, Heir: "b"}, true},
		{"in the same epoch", ownership{Epoch: 3, Owner: "b"}, false},
		{"in an earlier one", ownership{Epoch: 2, Owner: "b"}, false},
		{"a release by another owner", ownership{Epoch: 3, Owner: "b", Release: true}, false},
		{"a release of another epoch", ownership{Epoch: 4, Owner: "a", Release: true}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := now
			err := o.follow(c.next)
			if c.ok != (err == nil) || !c.ok && (!errors.Is(err, ErrReplay) || o != now) {
				t.Errorf("%+v, %v; want it taken: %t", o, err, c.ok)
			}
		})
	}
}

func commitOf(tokens ...split.Crossing) []byte {
	return appendSection(appendTime(nil, 7), 1+sectionCrossings, split.AppendCrossings(nil, tokens))
}

// Tokens cross with whole commits only: one that was cut short by the death of
// its owner puts none, whichever process writes behind it.
func TestTokensCrossWithWholeCommits(t *testing.T) {
	a, b := split.Crossing{Instance: 1, Place: 2, Tokens: 3}, split.Crossing{Instance: 4, Place: 5, Tokens: 6, Data: []byte("x")}
	whole := commitOf(a, b)
	part := func(which byte, bytes []byte) []byte { return append([]byte{0, which}, bytes...) }
	owns := appendSection(appendTime(nil, 9), 1+sectionOwnership, []byte(`{"epoch":2,"owner":"b"}`))
	for _, c := range []struct {
		name    string
		entries [][]byte
		want    [][]split.Crossing // with each
		begun   []bool
	}{
		{"one entry", [][]byte{whole}, [][]split.Crossing{{a, b}}, []bool{false}},
		{"three entries", [][]byte{part(partFirst, whole[:3]), part(partMore, whole[3:9]), part(partLast, whole[9:])},
			[][]split.Crossing{nil, nil, {a, b}}, []bool{true, true, false}},
		{"cut short before the next owner", [][]byte{part(partFirst, whole[:3]), part(partMore, whole[3:9]), owns, commitOf(b)},
			[][]split.Crossing{nil, nil, nil, {b}}, []bool{true, true, false, false}},
		{"cut short and started again", [][]byte{part(partFirst, whole[:3]), part(partFirst, whole[:5]), part(partLast, whole[5:])},
			[][]split.Crossing{nil, nil, {a, b}}, []bool{true, true, false}},
	} {
		t.Run(c.name, func(t *testing.T) {
			u := Upstream{Plan: "x"}
			for k, entry := range c.entries {
				got, err := u.Read(journal.Commit{Sequence: uint64(k + 2), Payload: entry})
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(c.want[k], append([]split.Crossing(nil), got...)); diff != "" || u.Begun() != c.begun[k] {
					t.Errorf("entry %d, begun: %t (-want +got):\n%s", k, u.Begun(), diff)
				}
			}
		})
	}
}

// Parts that put tokens into each other read each other's commits. A commit for
// each of those readings would lead to endless commits.
func TestACommitThatOnlyRecordsReadingIsQuiet(t *testing.T) {
	cursor, _ := appendReach(appendTime(nil, 7), nil, 0, reach{cursor: Cursor{Position: 9}})
	for name, c := range map[string]struct {
		entry []byte
		quiet bool
	}{
		"a cursor":                  {cursor, true},
		"a cursor and a crossing":   {append(slices.Clone(cursor), commitOf(split.Crossing{Tokens: 1})[1:]...), false},
		"a firing":                  {appendSection(appendTime(nil, 7), 0, []byte("x")), false},
		"an owner":                  {appendSection(appendTime(nil, 7), 1+sectionOwnership, []byte("{}")), false},
		"the beginning of a commit": {[]byte{0, partFirst, 1}, true},
	} {
		u := Upstream{Plan: "x"}
		if _, err := u.Read(journal.Commit{Sequence: 2, Payload: c.entry}); err != nil || u.Quiet() != c.quiet {
			t.Errorf("%s: quiet %t, %v; want %t", name, u.Quiet(), err, c.quiet)
		}
	}
}

func TestLogsUpstreamThatDoNotFitAreRefused(t *testing.T) {
	header := func(h header) []byte {
		text, err := json.Marshal(h)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	for name, c := range map[string]journal.Commit{
		"of whole nets":   {Sequence: 1, Payload: header(headerWith(""))},
		"of another plan": {Sequence: 1, Payload: header(headerWith("y"))},
	} {
		u := Upstream{Plan: "x"}
		if _, err := u.Read(c); !errors.Is(err, ErrJournal) {
			t.Errorf("%s: %v; want ErrJournal", name, err)
		}
	}
	for name, c := range map[string]journal.Commit{
		"without a header":          {Sequence: 1, Payload: []byte("?")},
		"an invalid commit":         {Sequence: 2, Payload: []byte{1, 0}},
		"invalid crossings":         {Sequence: 2, Payload: appendSection(appendTime(nil, 7), 1+sectionCrossings, []byte{9})},
		"bytes behind crossings":    {Sequence: 2, Payload: appendSection(appendTime(nil, 7), 1+sectionCrossings, []byte{0, 0})},
		"the end of another commit": {Sequence: 2, Payload: []byte{0, partLast, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			u := Upstream{Plan: "x"}
			if _, err := u.Read(c); !errors.Is(err, ErrReplay) {
				t.Errorf("%v; want ErrReplay", err)
			}
		})
	}
}

func headerWith(plan string) (h header) {
	if plan != "" {
		h.Part = &partHeader{Name: "p", Plan: plan}
	}
	return h
}

// FuzzUpstream reads any three entries of a log.
func FuzzUpstream(f *testing.F) {
	whole := commitOf(split.Crossing{Instance: 1, Place: 2, Tokens: 3, Data: []byte("x")})
	f.Add(whole, []byte{0, partFirst, 1}, append([]byte{0, partLast}, whole[1:]...))
	f.Add([]byte{1, 2, 2, 0, 9}, []byte{1, 3, 2, '{', '}'}, []byte{})
	f.Fuzz(func(t *testing.T, a, b, c []byte) {
		u, r := Upstream{Plan: "x"}, &recorder{readings: make([]reading, 2), hash: sha256.New()}
		for k, entry := range [][]byte{a, b, c} {
			tokens, err := u.Read(journal.Commit{Sequence: uint64(k + 2), Payload: entry})
			if err != nil {
				if !errors.Is(err, ErrReplay) && !errors.Is(err, ErrRewritten) {
					t.Fatalf("%v is neither ErrReplay nor ErrRewritten", err)
				}
				continue
			}
			for _, x := range tokens {
				if x.Tokens == 0 || x.Instance < 0 || x.Place < 0 {
					t.Fatalf("%+v crosses", x)
				}
			}
			_ = eachSection(entry, 1, func(kind int, body []byte, _ int64) error { // a log may be anything
				before := r.cursors()
				if kind > 0 && kind != 1+sectionCrossings {
					_ = r.replay(kind-1, body, 9)
				}
				_, to, err := readReach(body)
				for i, now := range r.cursors() {
					if now.Position < before[i].Position && (err != nil || !to.back) {
						t.Fatalf("cursors %v after %v", r.cursors(), before)
					}
				}
				return nil
			})
		}
	})
}
