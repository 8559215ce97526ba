// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A list keeps what sorting everything and cutting it would, in whatever order
// it is added.
func TestAHeldListKeepsTheOldest(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for range 200 {
		l := HeldList{Limit: 1 + r.IntN(20)}
		var all []Held
		var total uint64
		for range r.IntN(200) {
			h := Held{Place: r.Int32N(4), Tokens: 1 + r.Uint64N(3), Injected: r.Int64N(60)}
			l.Add(h)
			total += h.Tokens
			i := slices.IndexFunc(all, func(o Held) bool { return o.Compare(&h) == 0 })
			if i < 0 {
				all = append(all, h)
			} else {
				all[i].Tokens += h.Tokens
			}
		}
		slices.SortFunc(all, func(a, b Held) int { return a.Compare(&b) })
		got, kept := slices.Clone(l.Oldest()), uint64(0)
		for i, h := range got {
			kept += h.Tokens
			if len(all) > l.Limit { // of what was cut between, not all tokens of a row need be counted in it
				got[i].Tokens, all[i].Tokens = 0, 0
			}
		}
		if d := cmp.Diff(all[:min(len(all), l.Limit)], got); d != "" && len(all) > 0 {
			t.Fatalf("(-want +got):\n%s", d)
		}
		if kept+l.LeftOut != total {
			t.Fatalf("%d kept and %d left out, of %d", kept, l.LeftOut, total)
		}
	}
}

func TestWordsSayWhatIsWaitedFor(t *testing.T) {
	for want, w := range map[string]Wait{
		"waits for a token in Labels":                          {Reason: ReasonMissing, Count: 1},
		"waits for 3 tokens in Labels":                         {Reason: ReasonMissing, Count: 3},
		"a token in Labels must go first":                      {Reason: ReasonInhibited, Count: 1},
		"2 tokens in Labels must go first":                     {Reason: ReasonInhibited, Count: 2},
		"the guard is false":                                   {Reason: ReasonGuarded},
		"the action is running":                                {Reason: ReasonRunning},
		"can fire and waits for its turn":                      {Reason: ReasonEnabled},
		"waits until its time has come":                        {Reason: ReasonDelayed},
		"waits to be fired from outside":                       {Reason: ReasonManual},
		"nothing in its instance can ever enable it":           {Reason: ReasonDead},
		"failed permanently: an operator must act":             {Reason: ReasonIncident},
		"waits for something that its engine does not report":  {},
		"waits for something that its engine does not report ": {Reason: reasons},
	} {
		if got := w.Reason.Words("Labels", w.Count); got != want && got+" " != want {
			t.Errorf("%v: %q, want %q", w.Reason, got, want)
		}
	}
	if got := ReasonMissing.Words("", 0); got != "waits for a token" {
		t.Errorf("without a place: %q", got)
	}
}

func TestReasonsAreKnownByTheirNames(t *testing.T) {
	for r := ReasonUnknown; r <= LastReason; r++ {
		if got := ReasonNamed(r.String()); got != r {
			t.Errorf("%v is read as %v", r, got)
		}
	}
	if got := ReasonNamed("nonsense"); got != ReasonUnknown {
		t.Errorf("nonsense is read as %v", got)
	}
}
