// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// The counters of a net begin with its first definition. A further one changes nothing.
func TestANetCountsSinceItsFirstDefinition(t *testing.T) {
	m := NewMerger(Rules{}, t0)
	for i, digest := range []string{"first", "second"} {
		if _, err := m.Define(digest, lineNet("n", 1+i, 1), t0+1+int64(i)); err != nil {
			t.Fatal(err)
		}
		view, _ := m.Tick(t0 + 10)
		if got := view.Net("n").Since; got != t0+1 {
			t.Errorf("after the %s definition the net counts since %d µs; want 1", digest, got-t0)
		}
	}
}

// The message about a fence that is refused says where a fence that is not lower counts
// less: the region's log was created again.
//
//promise:owner hostile
func TestAFenceIsRefusedWithTheReason(t *testing.T) {
	const of = ` of "a"`
	for name, c := range map[string]struct {
		fence uint64
		since int64
		says  string
	}{
		"a lower one of the same log":     {4, t0 + 5, `region "r" has fence 5` + of + `; message has 4`},
		"a lower one of the earlier log":  {4, t0 - 1, `region "r" has fence 5` + of + `; message has 4`},
		"the same of the earlier log":     {5, t0 - 1, `region "r" has fence 5` + of + ` in a log that was created later; message has 5`},
		"a higher one of the earlier log": {6, t0 - 1, `region "r" has fence 5` + of + ` in a log that was created later; message has 6`},
	} {
		m := NewMerger(Rules{}, t0)
		if _, err := m.Define("d", lineNet("n", 1, 1), t0); err != nil {
			t.Fatal(err)
		}
		send := func(source string, fence uint64, since, now int64) error {
			msg := fired(source, t0, now, 1, 1, 0)
			msg.Region, msg.Fence, msg.Since = "r", fence, since
			_, err := m.Take(msg, 0, now)
			return err
		}
		if err := send("a", 5, t0+5, t0+1e6); err != nil {
			t.Fatal(err)
		}
		if err := send("b", c.fence, c.since, t0+2e6); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
}

// A place of a process is in a scope, such as that of a timer. The union has the scopes of all
// definitions, so that it can be published and kept.
func TestAUnionHasTheScopesOfItsDefinitions(t *testing.T) {
	m := NewMerger(Rules{}, t0)
	for i, def := range []*petri.Net{
		{ID: "n", Shared: true, Scopes: []petri.Scope{{ID: "claim"}}, Places: []petri.Place{{ID: "p", Scope: "claim"}}},
		{ID: "n", Shared: true, Scopes: []petri.Scope{{ID: "bill", Parent: "claim"}, {ID: "claim"}}, Places: []petri.Place{{ID: "q", Scope: "bill"}}},
	} {
		if _, err := m.Define(fmt.Sprint(i), def, t0); err != nil {
			t.Fatal(err)
		}
	}
	view, _ := m.Tick(t0)
	n, err := view.Net("n").Published()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"claim", "bill"} {
		if !strings.Contains(string(n.PNML), fmt.Sprintf("id=%q", want)) {
			t.Errorf("there is no scope %q in\n%s", want, n.PNML)
		}
	}
	keptBy(t, m)
}

func TestTheFirstViewAfterARestartHasTheSources(t *testing.T) {
	m := restoredFrom(t, firedBy(t, "a", "b"), Share{}, 0, t0)
	view, _ := m.Tick(t0)
	if len(view.Sources) != 2 || view.States[Up] != 2 {
		t.Errorf("%d sources, states %+v", len(view.Sources), view.States)
	}
}

func TestTrafficHasTheBytesOfAllMessages(t *testing.T) {
	m := firedBy(t, "a")
	for seq, size := range []int{100, 23} {
		if _, err := m.Take(fired("a", t0, t0, uint64(2+seq), 10, stats.ColFailures), size, t0); err != nil {
			t.Fatal(err)
		}
	}
	m.Reject(telemetry.ErrUnknownID, 7)
	view, _ := m.Tick(t0)
	if got := view.Traffic; got.Messages != 4 || got.Bytes != 130 {
		t.Errorf("%d messages of %d bytes; want 4 of 130", got.Messages, got.Bytes)
	}
}
