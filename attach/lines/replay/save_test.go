// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
)

func compiled(t *testing.T, net string) *petri.Tables {
	t.Helper()
	tables, err := petri.Compile(netOf(net))
	if err != nil {
		t.Fatal(err)
	}
	return tables
}

const line = "open: start* -> p; take: p -> q; done: q -> end"

func TestAnInvalidStateIsRejected(t *testing.T) {
	tables := compiled(t, line)
	saved := New(Config{Tables: tables, Limit: 10})
	saved.Fire([]byte("a"), 0, 1)
	saved.Put([]byte("b"), 1, 5, 2)
	good := saved.AppendState(nil)
	counts := make([]byte, len(saved.Counts.all()))
	numbers := func(all ...uint64) []byte {
		b := slices.Clone(counts)
		for _, n := range all {
			b = binary.AppendUvarint(b, n)
		}
		return b
	}
	const last, before = 20, 0 // the encodings of 10 and 0 by AppendVarint
	states := map[string][]byte{
		"more than a state":       append(slices.Clone(good), 0),
		"an instance twice":       numbers(2, 1, 'x', last, 0, 1, 'x', last, 0),
		"a place that is none":    numbers(1, 1, 'x', last, 1, uint64(tables.Places()), 1, before),
		"no tokens":               numbers(1, 1, 'x', last, 1, 0, 0, before),
		"tokens beyond 32 bits":   numbers(1, 1, 'x', last, 1, 0, math.MaxUint32+1, before),
		"more runs than are kept": numbers(1, 1, 'x', last, maxRuns+1),
		"a name that is too long": numbers(1, maxName+1),
		"a number of 11 bytes":    slices.Repeat([]byte{0xff}, 11),
	}
	for cut := range good {
		states["cut off"] = good[:cut]
		for name, state := range states {
			if err := New(Config{Tables: tables, Limit: 10}).LoadState(state); !errors.Is(err, ErrState) {
				t.Errorf("%s (%d bytes): %v", name, len(state), err)
			}
		}
	}
	edge := numbers(1, 1, 'x', last, 1, uint64(tables.Places()-1), math.MaxUint32, before, 0)
	for name, state := range map[string][]byte{"what was saved": good, "the last place, full": edge} {
		if err := New(Config{Tables: tables, Limit: 10}).LoadState(state); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The instances with the latest events are kept.
func TestAStateOfMoreInstancesThanAreKeptEvictsTheOldest(t *testing.T) {
	tables := compiled(t, line)
	saved := New(Config{Tables: tables, Limit: 3})
	for k, name := range []string{"a", "b", "c", "a"} {
		saved.Put([]byte(name), 1, 1, int64(k))
	}
	r := New(Config{Tables: tables, Limit: 2})
	if err := r.LoadState(saved.AppendState(nil)); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"a": true, "b": false, "c": true} {
		if _, _, open := r.Held(name, 1); open != want {
			t.Errorf("%s is open: %v", name, open)
		}
	}
	if r.Counts.Evicted != 1 || r.Open() != 2 {
		t.Errorf("%d evicted, %d open", r.Counts.Evicted, r.Open())
	}
}

func TestAStateReaderThatIsBrokenGivesZeros(t *testing.T) {
	for name, read := range map[string]func(s *StateReader){
		"a number beyond its bound": func(s *StateReader) { s.Uvarint(4) },
		"a text beyond its bound":   func(s *StateReader) { s.Text(4) },
		"a text that is cut off":    func(s *StateReader) { s.Text(5) },
	} {
		s := StateReader{Rest: []byte{5, 'a', 'b', 'c', 'd'}}
		read(&s)
		s.Rest = []byte{2, 2, 2}
		if !s.Broken || s.Uvarint(9) != 0 || s.Varint() != 0 || s.Text(9) != nil {
			t.Errorf("%s: %+v", name, s)
		}
	}
	s := StateReader{Rest: []byte{5, 6, 1, 'x'}}
	if n, v, text := s.Uvarint(5), s.Varint(), s.Text(1); n != 5 || v != 3 || string(text) != "x" || s.Broken || len(s.Rest) != 0 {
		t.Errorf("read %d, %d, %q, then %+v", n, v, text, s)
	}
	if s.Varint() != 0 || !s.Broken {
		t.Error("the reader returned data after the end")
	}
}

// An instance stores at most maxRuns times of its tokens.
func TestTimesThatAnInstanceKeepsAreBounded(t *testing.T) {
	r := New(Config{Tables: compiled(t, line), Limit: 1})
	const tokens = maxRuns + 5
	for k := range int64(tokens) {
		r.Put([]byte("a"), 1, 1, 1000+k)
	}
	r.Put([]byte("a"), 2, 1, 9000) // the first token of its place
	rows := stats.NewRows(4, 3)
	r.Look(10_000, rows)
	if p := rows.Places[1]; p.Tokens != tokens || p.LastInjection != 1000+tokens-1 || r.Counts.Blurred != 6 || rows.Places[2].Oldest != 9000 {
		t.Errorf("%d tokens, the last at %d, %d blurred, %+v", p.Tokens, p.LastInjection, r.Counts.Blurred, rows.Places[2])
	}
	if held, leftOut, _ := r.Held("a", 2*maxRuns); len(held) != maxRuns+1 || leftOut != 0 {
		t.Errorf("%d rows, %d left out", len(held), leftOut)
	}
}

// Put and Fire return whether the marking allowed the event.
func TestWhatIsTakenMustBeThere(t *testing.T) {
	r := New(Config{Tables: compiled(t, line), Limit: 1, EndsByEvent: true})
	for k, c := range []struct {
		n       int64
		fit     bool
		tokens  uint64
		missing uint64
		refused uint64
	}{
		{2, true, 2, 0, 0}, {-1, true, 1, 0, 0}, {-3, false, 0, 2, 0}, {0, true, 0, 2, 0},
		{math.MaxUint32, true, math.MaxUint32, 2, 0}, {1, true, math.MaxUint32, 2, 1}, {-math.MaxUint32, true, 0, 2, 1},
		{math.MinInt64, false, 0, 2 + math.MaxUint32, 1},
	} {
		fit := r.Put([]byte("a"), 1, c.n, int64(k))
		rows := stats.NewRows(4, 3)
		r.Look(100, rows)
		if got := rows.Places[1].Tokens; fit != c.fit || got != c.tokens || r.Counts.Missing != c.missing || r.Counts.Refused != c.refused {
			t.Errorf("%d: put %d: fit %v, %d tokens, %d missing, %d refused; want %+v", k, c.n, fit, got, r.Counts.Missing, r.Counts.Refused, c)
		}
	}
}
