// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pnagent/pnagent/internal/seeds"
)

const mostRows = 100

// written returns rows as changes have them: without stuck tokens and times of ladders without slots.
func written(rows *Rows) *Rows {
	out := &Rows{Places: slices.Clone(rows.Places), Transitions: slices.Clone(rows.Transitions)}
	for i := range out.Places {
		if p := &out.Places[i]; len(p.Ages.Slots) == 0 {
			p.Ages = Ladder{}
		}
		out.Places[i].Stuck, out.Places[i].Groups = nil, nil
	}
	return out
}

// The rows of one who applies all changes are those of the one who wrote them, in any story: rows that
// grow, fall, become coarser, or are added; with room to note what they were, with some, or with none.
func TestAppliedChangesAreTheRows(t *testing.T) {
	for seed := range seeds.Of(6, 200) {
		r := rand.New(rand.NewPCG(seed, 21))
		rows := quiet(r)
		p, n := packed(rows), &Notes{Room: []int{0, 150, 1 << 20}[r.IntN(3)]}
		var c Changes
		got := &Rows{}
		apply := func(b []byte) {
			t.Helper()
			if err := got.Apply(b, mostRows); err != nil {
				t.Fatal(err)
			}
			if d := differs(written(p.Rows()), got); d != "" {
				t.Fatalf("seed %d (-rows +applied):\n%s", seed, d)
			}
		}
		apply(c.Whole(nil, p))
		p.Note(n)
		for range 200 {
			for range r.IntN(6) {
				change(r, p)
			}
			apply(c.Noted(nil, p))
			if p.Notes() != n || len(slices.Collect(n.Places())) != 0 {
				t.Fatal("the notes did not begin again")
			}
		}
		last := written(p.Rows())
		for range 10 {
			change(r, p)
		}
		apply(between(last, written(p.Rows())))
		if _, any := c.Between(nil, last, last); any {
			t.Error("rows differ from themselves")
		}
	}
}

func between(last, next *Rows) []byte {
	b, _ := new(Changes).Between(nil, last, next)
	return b
}

// change replaces a row, as sources do or in any way, or adds rows.
func change(r *rand.Rand, p *Packed) {
	places, transitions := p.Size()
	i, j, other := r.IntN(places), r.IntN(transitions), quiet(r)
	row, that := *p.PlaceAt(i, new(Place)), *p.TransitionAt(j, new(Transition))
	switch r.IntN(8) {
	case 0:
		p.SetPlace(i, &other.Places[r.IntN(3)])
	case 1:
		p.SetTransition(j, &other.Transitions[r.IntN(2)])
	case 2:
		p.SetPlace(i, &Place{Tokens: r.Uint64(), Arrivals: math.MaxUint64, Oldest: math.MinInt64, Injected: TimeSum{Sec: math.MaxUint64, Micro: 7}})
	case 3:
		p.SetPlace(i, &Place{})
		p.SetTransition(j, &Transition{})
	case 4:
		if places < mostRows {
			p.Grow(places+1, transitions+1)
		}
	case 5:
		row.Dwell.Observe(r.Int64N(1 << 40))
		row.Ages.Merge(&other.Places[0].Ages)
		row.Ages.coarsen(row.Ages.At + r.Int64N(1000))
		p.SetPlace(i, &row)
	default:
		that.Firings++
		that.Duration.Observe(r.Int64N(1 << 30))
		p.SetTransition(j, &that)
	}
}

// What a row was is written in a few bytes: not the histogram of which one bucket changed.
func TestChangesAreSmall(t *testing.T) {
	var p Place
	r := rand.New(rand.NewPCG(1, 1))
	for range 1000 {
		p.Dwell.Observe(r.Int64N(1 << 40))
	}
	rows := packed(&Rows{Places: []Place{p}})
	whole := len(new(Changes).Whole(nil, rows))
	rows.Note(&Notes{Room: 1 << 20})
	p.Arrivals++
	p.Dwell.Observe(1000)
	rows.SetPlace(0, &p)
	if got := len(new(Changes).Noted(nil, rows)); got > 20 || whole < 100 {
		t.Errorf("%d bytes for one bucket, of %d in all; want a few", got, whole)
	}
	if got := len(new(Changes).Noted(nil, rows)); got > 4 {
		t.Errorf("%d bytes without a change", got)
	}
}

// Changes from any program are taken or refused: rows that are not there, numbers beyond their
// bits, and lists that fall.
func TestInvalidChangesAreRefused(t *testing.T) {
	for what, c := range map[string]struct {
		b    []byte
		want error
	}{
		"nothing":                 {nil, errChangesEnd},
		"without an end":          {[]byte{1, 1, 0}, errChangesEnd},
		"more":                    {[]byte{1, 1, 0, 0, 0}, errChangesLong},
		"a row that is not there": {[]byte{1, 1, 2, 0, 0, 0}, errChangesRow},
		"an unknown column":       {[]byte{1, 1, 1, 0x80, 0x10, 0, 0}, errChangesMask},
		"a list that is cut":      {[]byte{1, 1, 1, 0x80, 0x02, 2, 4, 2, 2}, errChangesEnd},
		"a list that falls":       {[]byte{1, 1, 1, 0x80, 0x02, 2, 4, 2, 2, 1, 2, 0, 0}, errChangesList},
		"a schema beyond 8 bits":  {[]byte{0, 1, 0, 1, 0x80, 0x10, 0x80, 0x80, 1, 0, 0, 0, 0}, errChangesList},
	} {
		if err := new(Rows).Apply(c.b, mostRows); !errors.Is(err, c.want) {
			t.Errorf("%s: got error %v; want %v", what, err, c.want)
		}
	}
	if err := new(Rows).Apply([]byte{101, 1, 0, 0}, mostRows); err == nil {
		t.Error("more rows than there may be were taken")
	}
}

func FuzzChanges(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 3))
	for range 4 {
		rows, next := quiet(r), quiet(r)
		f.Add(between(&Rows{}, rows), between(rows, next))
	}
	f.Fuzz(func(t *testing.T, first, second []byte) {
		rows := &Rows{}
		_ = rows.Apply(first, mostRows)
		err := rows.Apply(second, mostRows)
		if len(rows.Places) > mostRows || len(rows.Transitions) > mostRows {
			t.Errorf("%d places and %d transitions", len(rows.Places), len(rows.Transitions))
		}
		if err != nil {
			return
		}
		again := &Rows{}
		if err := again.Apply(between(&Rows{}, rows), mostRows); err != nil {
			t.Error(err)
		}
		valid := !slices.ContainsFunc(rows.Places, func(p Place) bool { return !p.Ages.Valid() })
		if d := cmp.Diff(written(rows), written(again), cmpopts.EquateEmpty()); d != "" && valid {
			t.Errorf("(-rows +applied):\n%s", d)
		}
	})
}

// Logs of counters outlive an upgrade: the bits of the numbers that the first form had are where they were.
func TestChangesOfTheFirstFormAreRead(t *testing.T) {
	took := Histogram{Sum: 7, Zero: 1}
	changes := []byte{0, 1, 0, // no place, one transition
		1, 0x81, 0x18, 6, 18, // row 0: duration, last firing and firings
		0, 2, 14, 0, // of the duration the schema, Zero, Sum, and no bucket
		0}
	want := &Rows{Transitions: []Transition{{Firings: 3, LastFiring: 9, Duration: took}}}
	got := &Rows{}
	if err := got.Apply(changes, mostRows); err != nil {
		t.Fatal(err)
	}
	if d := differs(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	var c Changes
	if d := cmp.Diff(changes, c.Whole(nil, packed(want))); d != "" {
		t.Errorf("written (-want +got):\n%s", d)
	}
}
