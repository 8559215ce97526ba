// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"math/rand/v2"
	"testing"
)

func TestWhatMergeMakesIsValid(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 1))
	for range 300 {
		l, h := randomLadder(r, now0), randomHistogram(r, 40, 30)
		later := randomLadder(r, now0+randomAge(r))
		other := randomHistogram(r, 40, 30)
		l.Merge(&later)
		h.Merge(&other)
		if !l.Valid() {
			t.Fatalf("ladder not valid: %+v", l)
		}
		if !h.Valid() {
			t.Fatalf("histogram not valid: %+v", h)
		}
	}
}

func TestLadderOfOtherSlotsIsNotValid(t *testing.T) {
	const at = 1000
	for name, slots := range map[string][]Slot{
		"empty slot":           {{Start: 1000}},
		"after the cut":        {{Start: 1001, N: 1}},
		"falling":              {{Start: 1000, N: 1}, {Start: 999, N: 1}},
		"twice":                {{Start: 999, N: 1}, {Start: 999, N: 1}},
		"before the epoch":     {{Start: -1, N: 1}},
		"not the slot's start": {{Start: 3, N: 1}},
	} {
		if l := (Ladder{At: at, Slots: slots}); l.Valid() {
			t.Errorf("%s: %v is valid", name, slots)
		}
	}
}

// The width of each slot is that of its time, whatever the slots before it are.
func TestALadderIsValidIfEachSlotIsThatOfItsTime(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	valid := 0
	for range 20_000 {
		l := Ladder{At: r.Int64N(1 << (4 + r.IntN(40)))}
		start, own := int64(0), true
		for range r.IntN(12) {
			start += 1 + r.Int64N(max(1, (l.At-start)/2))
			if start > l.At {
				break
			}
			begin := slotStart(start, l.At)
			if n := len(l.Slots); n > 0 && begin <= l.Slots[n-1].Start || r.IntN(20) == 0 {
				begin = start
			}
			own = own && slotStart(begin, l.At) == begin
			l.Slots = append(l.Slots, Slot{Start: begin, N: 1})
		}
		if l.Valid() != own {
			t.Fatalf("%+v: valid %t", l, l.Valid())
		}
		if own && len(l.Slots) > 4 {
			valid++
		}
	}
	if valid < 1000 {
		t.Errorf("only %d of the ladders with more than four slots are valid", valid)
	}
}

// The range is part of the wire.
func TestTheRangeOfBuckets(t *testing.T) {
	for schema, want := range map[int8][2]int32{3: {-159, 240}, 2: {-79, 120}, 0: {-19, 30}, -1: {-9, 15}, -4: {-1, 2}} {
		if first, last := IndexRange(schema); first != want[0] || last != want[1] {
			t.Errorf("schema %d: %d to %d, want %d to %d", schema, first, last, want[0], want[1])
		}
		h := Histogram{Schema: schema, Buckets: []Bucket{{want[0], 1}, {want[1], 1}}}
		if !h.Valid() {
			t.Errorf("schema %d: the first and the last are not valid", schema)
		}
	}
}

func TestHistogramOutOfRangeIsNotValid(t *testing.T) {
	first, last := IndexRange(MaxSchema)
	for name, h := range map[string]Histogram{
		"schema too fine":   {Schema: MaxSchema + 1},
		"schema too coarse": {Schema: MinSchema - 1},
		"empty bucket":      {Schema: 3, Buckets: []Bucket{{Index: 1}}},
		"falling":           {Schema: 3, Buckets: []Bucket{{2, 1}, {1, 1}}},
		"too short":         {Schema: 3, Buckets: []Bucket{{first - 1, 1}}},
		"too long":          {Schema: 3, Buckets: []Bucket{{last + 1, 1}}},
		"too many buckets":  {Schema: 3, Buckets: make([]Bucket, MaxBuckets+1)},
	} {
		if h.Valid() {
			t.Errorf("%s: valid", name)
		}
	}
}

// A row that only grew older is the same row.
func TestLadderEqualDoesNotDependOnTheTimeOfTheCut(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 1))
	for range 500 {
		a := randomLadder(r, now0)
		var b Ladder
		a.CutFor((now0+randomAge(r))/SlotWidth, &b)
		if !a.Equal(&b) || !b.Equal(&a) {
			t.Fatalf("not equal to itself later:\n%+v\n%+v", a, b)
		}
		if len(b.Slots) == 0 {
			continue
		}
		b.Slots[r.IntN(len(b.Slots))].N++
		if a.Equal(&b) || b.Equal(&a) {
			t.Fatalf("equal although one counts more:\n%+v\n%+v", a, b)
		}
	}
}

func TestRowsEqualSeesEveryChange(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 1))
	for range 200 {
		a, b := randomRows(r), randomRows(r)
		for i := range a.Places {
			if !a.Places[i].Equal(&a.Places[i]) {
				t.Fatal("a place's row is not equal to itself")
			}
			c := b.Places[i]
			c.Ages, c.Dwell, c.Stuck = a.Places[i].Ages, a.Places[i].Dwell, a.Places[i].Stuck
			want := c.Tokens == a.Places[i].Tokens && c.Arrivals == a.Places[i].Arrivals && c.Departures == a.Places[i].Departures &&
				c.Instances == a.Places[i].Instances && c.Oldest == a.Places[i].Oldest &&
				c.LastInjection == a.Places[i].LastInjection && c.Injected == a.Places[i].Injected
			if got := c.Equal(&a.Places[i]); got != want {
				t.Fatalf("equal %v, want %v", got, want)
			}
		}
		for i := range a.Transitions {
			c := a.Transitions[i]
			c.Duration.Sum++
			if c.Equal(&a.Transitions[i]) || !a.Transitions[i].Equal(&a.Transitions[i]) {
				t.Fatal("a transition's row does not see its duration")
			}
		}
	}
}
