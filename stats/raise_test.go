// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// counters returns each counter of rows under a name, buckets of histograms in
// the coarsest schema included.
func counters(rows *Rows) map[string]uint64 {
	out := map[string]uint64{}
	numbers := func(at string, row any, names ...string) {
		v := reflect.ValueOf(row)
		for _, name := range names {
			f := v.FieldByName(name)
			if f.CanInt() {
				out[at+name] = uint64(f.Int())
			} else {
				out[at+name] = f.Uint()
			}
		}
	}
	histogram := func(at string, h Histogram) {
		out[at+"zero"], out[at+"sum"] = h.Zero, h.Sum
		h.Buckets = slices.Clone(h.Buckets)
		h.coarsen(MinSchema)
		for _, b := range h.Buckets {
			out[at+string('a'+b.Index)] = b.N
		}
	}
	numbers("net ", rows.Net, "Created", "Finished", "Failed")
	for i, p := range rows.Places {
		at := "place " + string(rune('0'+i)) + " "
		numbers(at, p, "Arrivals", "Departures", "LastInjection")
		histogram(at, p.Dwell)
	}
	for i, tr := range rows.Transitions {
		at := "transition " + string(rune('0'+i)) + " "
		numbers(at, tr, "Firings", "Failures", "Retries", "Cancels", "Timeouts", "Late", "LastFiring")
		histogram(at, tr.Duration)
	}
	for _, q := range rows.Queues {
		numbers("queue "+string(rune('0'+q.Priority))+" ", q, "Served", "QuoteSwitches")
	}
	return out
}

// below returns a counter of a that is less in b; "" if there is none.
func below(a, b map[string]uint64) string {
	for name, n := range a {
		if b[name] < n {
			return name
		}
	}
	return ""
}

// Raised rows are the least that are no less than both.
func TestRaisedRowsAreNoLessThanEither(t *testing.T) {
	r := rand.New(rand.NewPCG(14, 1))
	for range 400 {
		rows, floor := randomRows(r), randomRows(r)
		before, low := counters(rows), counters(floor)
		raised := cloneDeep(rows)
		if what := below(low, before); !raised.Raise(floor) && what != "" {
			t.Fatalf("%s was less, and that is not reported", what)
		}
		after := counters(raised)
		if what := below(before, after) + below(low, after); what != "" {
			t.Fatalf("%s: %d of %d and %d", what, after[what], before[what], low[what])
		}
		for name, n := range after {
			if coarse := len(name) > 2 && name[len(name)-2] == ' '; n != max(before[name], low[name]) && (!coarse || n > before[name]+low[name]) {
				t.Fatalf("%s: %d of %d and %d", name, n, before[name], low[name])
			}
		}
		for i := range raised.Places {
			if !raised.Places[i].Dwell.Valid() {
				t.Fatalf("%+v", raised.Places[i].Dwell)
			}
			if raised.Places[i].Tokens != rows.Places[i].Tokens {
				t.Fatal("tokens were raised")
			}
		}
		again := cloneDeep(raised)
		if again.Raise(floor) || again.Raise(rows) {
			t.Fatal("raised rows can be raised again")
		}
		sum := cloneDeep(rows)
		sum.Merge(floor)
		if sum.Raise(floor) || sum.Raise(rows) {
			t.Fatal("a sum is less than its parts")
		}
	}
}

// cloneDeep shares no memory with rows.
func cloneDeep(rows *Rows) *Rows {
	out := NewRows(len(rows.Places), len(rows.Transitions))
	out.Merge(rows)
	out.Columns = rows.Columns
	return out
}

func TestRaiseWritesToNoSharedMemory(t *testing.T) {
	r := rand.New(rand.NewPCG(14, 2))
	for range 100 {
		rows, floor := randomRows(r), randomRows(r)
		shared := *rows
		shared.Places, shared.Transitions = slices.Clone(rows.Places), slices.Clone(rows.Transitions)
		before, low := cloneDeep(rows), cloneDeep(floor)
		shared.Raise(floor)
		if !reflect.DeepEqual(counters(before), counters(rows)) || !reflect.DeepEqual(counters(low), counters(floor)) {
			t.Fatal("rows changed that were not to be raised")
		}
		shared.Places[0].Dwell.Observe(1)
		if !reflect.DeepEqual(counters(low), counters(floor)) {
			t.Fatal("the floor is shared")
		}
	}
}

func TestRaiseEachCounter(t *testing.T) {
	floor := Rows{Net: NetRow{Created: 1, Finished: 2, Failed: 3}, Columns: ColFirings,
		Places: []Place{{Arrivals: 4, Departures: 5, LastInjection: 6, Tokens: 99, Oldest: 99, Dwell: Histogram{Zero: 1, Sum: 2, Schema: 3, Buckets: []Bucket{{Index: 8, N: 3}}}}},
		Transitions: []Transition{{Firings: 7, Failures: 8, Retries: 9, Cancels: 10, Timeouts: 11, Late: 12, LastFiring: 13, Enabled: 99,
			Duration: Histogram{Zero: 4, Sum: 5, Schema: 2, Buckets: []Bucket{{Index: 6, N: 7}}}}},
		Queues: []Queue{{Priority: 1, Served: 14, QuoteSwitches: 15, Ready: 99}}}
	want := Rows{Net: floor.Net, Columns: ColFirings,
		Places:      []Place{{Arrivals: 4, Departures: 5, LastInjection: 6, Dwell: floor.Places[0].Dwell}},
		Transitions: []Transition{{Firings: 7, Failures: 8, Retries: 9, Cancels: 10, Timeouts: 11, Late: 12, LastFiring: 13, Duration: floor.Transitions[0].Duration}},
		Queues:      []Queue{{Priority: 1, Served: 14, QuoteSwitches: 15}}}
	got := NewRows(1, 1)
	if !got.Raise(&floor) || !reflect.DeepEqual(*got, want) {
		t.Errorf("%+v, want %+v", *got, want)
	}
	for field, n := range counters(&want) {
		if n == 0 {
			t.Errorf("%s is not tried", field)
		}
	}
	// A longer floor, and one that is shorter.
	more := NewRows(2, 2)
	more.Raise(&want)
	if len(more.Places) != 2 || more.Places[0].Arrivals != 4 || more.Places[1].Arrivals != 0 {
		t.Errorf("%+v", more)
	}
	if less := NewRows(1, 1); !less.Raise(more) || len(less.Places) != 1 || less.Transitions[0].Firings != 7 {
		t.Errorf("%+v", less)
	}
	q := []Queue{{Priority: 1, Served: 20, QuoteSwitches: 3}, {Priority: 3, Served: 1}}
	if !raiseQueues(&q, []Queue{{Priority: 1, Served: 2, QuoteSwitches: 4}, {Priority: 2, Served: 9}}) ||
		!reflect.DeepEqual(q, []Queue{{Priority: 1, Served: 20, QuoteSwitches: 4}, {Priority: 2, Served: 9}, {Priority: 3, Served: 1}}) {
		t.Errorf("%+v", q)
	}
}
