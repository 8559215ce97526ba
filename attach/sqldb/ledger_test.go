// SPDX-License-Identifier: Apache-2.0

package sqldb

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/attach/internal/ledger"
)

func TestARowIsCountedOnceAlthoughItIsReadAgain(t *testing.T) {
	const overlap = 100
	c := cursor{At: 1000, Floor: 1000, seen: seen{}}
	for _, step := range []struct {
		rule string
		row  flowRow
		now  int64
		want bool
	}{
		{"a row before the start of counting is not counted", flowRow{id: "old", at: 999}, 1005, false},
		{"a new row is counted", flowRow{id: "a", at: 1010}, 1020, true},
		{"the same row is not counted again", flowRow{id: "a", at: 1010}, 1030, false},
		{"another row of the same time is counted", flowRow{id: "b", at: 1010}, 1030, true},
		{"a row that commits late is counted", flowRow{id: "c", at: 1001}, 1040, true},
		{"a row in the future is counted", flowRow{id: "d", at: 9000}, 1050, true},
	} {
		if got := c.take(&step.row, step.now); got != step.want {
			t.Errorf("%s: %v", step.rule, got)
		}
	}
	if c.At != 1050 {
		t.Errorf("the cursor is at %d; expected the time of the poll, not that of a row in the future", c.At)
	}
	if c.forget(overlap); len(c.seen) != 4 {
		t.Errorf("%d rows are remembered; expected those since the start", len(c.seen))
	}
	if c.take(&flowRow{id: "e", at: 1150}, 1150); c.from(overlap) != 1050 {
		t.Errorf("reads from %d; expected 1050", c.from(overlap))
	}
	if c.forget(overlap); len(c.seen) != 2 {
		t.Errorf("%d rows are remembered; expected d and e", len(c.seen))
	}
}

// TestEveryRowIsCountedOnce compares the cursor with a set of all ids, over polls
// in which rows appear late, in any order and over restarts.
func TestEveryRowIsCountedOnce(t *testing.T) {
	const overlap = 50
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		c := cursor{At: 100, Floor: 100, seen: seen{}}
		var table []flowRow // committed
		counted := map[string]int{}
		for now := int64(100); now < 400; now += 1 + r.Int64N(10) {
			for range r.IntN(4) { // each row is late by less than the overlap
				table = append(table, flowRow{id: fmt.Sprint(len(table)), at: max(now-r.Int64N(overlap/2), 100)})
			}
			from := c.from(overlap)
			for _, i := range r.Perm(len(table)) {
				if table[i].at >= from && c.take(&table[i], now) {
					counted[table[i].id]++
				}
			}
			c.forget(overlap)
			if r.IntN(5) == 0 {
				text, err := json.Marshal(&c)
				if err != nil {
					t.Fatal(err)
				}
				c = cursor{}
				if err := json.Unmarshal(text, &c); err != nil {
					t.Fatal(err)
				}
			}
		}
		for _, row := range table {
			if counted[row.id] != 1 {
				t.Fatalf("seed %d: row %s at %d is counted %d times", seed, row.id, row.at, counted[row.id])
			}
		}
	}
}

func TestFlowCountsWhereTheNodeHasARow(t *testing.T) {
	l := layoutOf(t, `<task id="a"/><boundaryEvent id="b" attachedToRef="a"/><subProcess id="u"><task id="c"/></subProcess>`)
	n := &netLedger{layout: l, Ledger: ledger.New(l.Net, ledger.Flow)}
	for _, row := range []flowRow{{node: "a", at: 5}, {node: "b", at: 6}, {node: "u", at: 7}, {node: "gone", at: 8}} {
		n.started(&row)
	}
	for _, row := range []flowRow{{node: "a", at: 9, canceled: true, micros: 4}, {node: "b", at: 9}, {node: "u", at: 9}, {node: "gone", at: 9}} {
		n.ended(&row)
	}
	type counts struct{ Arrivals, Departures, Firings uint64 }
	got := map[string]counts{}
	for _, id := range []string{"a", "b", "u", "gone"} {
		var k counts
		k.Arrivals, k.Departures, k.Firings = n.Counts(n.placeOf(id), n.FindTransition(id))
		got[id] = k
	}
	want := map[string]counts{
		"a":    {1, 1, 0}, // canceled
		"b":    {0, 0, 1}, // its token is that of a
		"u":    {0, 0, 1}, // its tokens are those inside
		"gone": {1, 1, 1}, // not in the model
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
