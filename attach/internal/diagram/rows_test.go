// SPDX-License-Identifier: Apache-2.0

package diagram

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
	c := *NewCursor(1000)
	for _, step := range []struct {
		rule string
		row  Row
		now  int64
		want bool
	}{
		{"a row before the start of counting is not counted", Row{ID: "old", At: 999}, 1005, false},
		{"a new row is counted", Row{ID: "a", At: 1010}, 1020, true},
		{"the same row is not counted again", Row{ID: "a", At: 1010}, 1030, false},
		{"another row of the same time is counted", Row{ID: "b", At: 1010}, 1030, true},
		{"a row that commits late is counted", Row{ID: "c", At: 1001}, 1040, true},
		{"a row in the future is counted", Row{ID: "d", At: 9000}, 1050, true},
	} {
		if got := c.Take(&step.row, step.now); got != step.want {
			t.Errorf("%s: %v", step.rule, got)
		}
	}
	if c.At != 1050 {
		t.Errorf("the cursor is at %d; expected the time of the poll, not that of a row in the future", c.At)
	}
	c.Forget(overlap)
	if len(c.seen) != 4 {
		t.Errorf("%d rows are remembered; expected those since the start", len(c.seen))
	}
	c.Take(&Row{ID: "e", At: 1150}, 1150)
	if c.From(overlap) != 1050 {
		t.Errorf("reads from %d; expected 1050", c.From(overlap))
	}
	c.Forget(overlap)
	if len(c.seen) != 2 {
		t.Errorf("%d rows are remembered; expected d and e", len(c.seen))
	}
}

// TestEveryRowIsCountedOnce compares the cursor with a set of all ids, over polls
// in which rows appear late, in any order and over restarts.
func TestEveryRowIsCountedOnce(t *testing.T) {
	const overlap = 50
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		c := *NewCursor(100)
		var table []Row // committed
		counted := map[string]int{}
		for now := int64(100); now < 400; now += 1 + r.Int64N(10) {
			for range r.IntN(4) { // each row is late by less than the overlap
				table = append(table, Row{ID: fmt.Sprint(len(table)), At: max(now-r.Int64N(overlap/2), 100)})
			}
			from := c.From(overlap)
			for _, i := range r.Perm(len(table)) {
				if table[i].At >= from && c.Take(&table[i], now) {
					counted[table[i].ID]++
				}
			}
			c.Forget(overlap)
			if r.IntN(5) == 0 {
				text, err := json.Marshal(&c)
				if err != nil {
					t.Fatal(err)
				}
				c = Cursor{}
				if err := json.Unmarshal(text, &c); err != nil {
					t.Fatal(err)
				}
			}
		}
		for _, row := range table {
			if counted[row.ID] != 1 {
				t.Fatalf("seed %d: row %s at %d is counted %d times", seed, row.ID, row.At, counted[row.ID])
			}
		}
	}
}

func TestFlowCountsWhereTheNodeHasARow(t *testing.T) {
	n := netOf(t, `<task id="a"/><boundaryEvent id="b" attachedToRef="a"/><subProcess id="u"><task id="c"/></subProcess>`)
	for _, row := range []Row{{Node: "a", At: 5}, {Node: "b", At: 6}, {Node: "u", At: 7}, {Node: "gone", At: 8}} {
		n.Started(&row)
	}
	for _, row := range []Row{{Node: "a", At: 9, Canceled: true, Micros: 4}, {Node: "b", At: 9}, {Node: "u", At: 9}, {Node: "gone", At: 9}} {
		n.Ended(&row)
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

// TestAJoinLacksWhatTheVersionOfItsTokenSays merges a version with three flows into one
// with two.
func TestAJoinLacksWhatTheVersionOfItsTokenSays(t *testing.T) {
	process := func(branches ...string) *Process {
		text := `<parallelGateway id="j"/>`
		for _, b := range branches {
			text += `<task id="` + b + `"/>` + flow(b, "j")
		}
		return netOf(t, text)
	}
	one, two, none := process("a", "b"), process("a", "b", "c"), process("a")
	n := process("a", "b")
	for _, version := range []*Process{one, two, none} {
		n.Merge(version)
	}
	for instance, version := range map[string]*Process{"one": one, "two": two, "none": none} {
		if !n.Add(version, "j", ledger.Token{ID: instance, Instance: instance}, nil) {
			t.Fatal("no room")
		}
	}
	n.presence.missing()
	got := map[string]string{}
	for _, token := range n.presence.tokens {
		for _, w := range token.Waits {
			got[token.Instance] += fmt.Sprint(w.Reason, " ", w.Count)
		}
	}
	if diff := cmp.Diff(map[string]string{"one": "missing 1", "two": "missing 2", "none": "unknown 0"}, got); diff != "" {
		t.Error(diff)
	}
}
