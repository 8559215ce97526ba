// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// What a source answers has its own indices and its own clock.
func TestATokenIsTranslatedFromItsSource(t *testing.T) {
	a := &Respondent{Source: "a", rows: columns{places: []int32{4, 5}, transitions: []int32{7, 6}}, Shift: 1000}
	token := func(at int64, waits ...stats.Wait) stats.FoundToken {
		return stats.FoundToken{Token: stats.Token{Injected: at, Waits: waits}}
	}
	got := []stats.FoundToken{token(50, stats.Wait{Transition: 1, Place: 1, Until: 60}, stats.Wait{Place: stats.NoPlace}, stats.Wait{Place: 0}), token(2)}
	err := a.Translate(got)
	want := []stats.FoundToken{token(1050, stats.Wait{Transition: 6, Place: 5, Until: 1060}, stats.Wait{Transition: 7, Place: stats.NoPlace}, stats.Wait{Transition: 7, Place: 4}), token(1002)}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, d)
	}
	a.Shift = -1000 // a time is never 0, which is none
	got = []stats.FoundToken{token(50, stats.Wait{Until: 60})}
	if err := a.Translate(got); err != nil || got[0].Injected != 1 || got[0].Waits[0].Until != 1 {
		t.Errorf("%+v, %v; want times of 1", got, err)
	}
	for _, w := range []stats.Wait{{Transition: 2}, {Place: 2}} {
		if err := a.Translate([]stats.FoundToken{token(50, w)}); telemetry.ReasonOf(err) != telemetry.BadIndex {
			t.Errorf("%+v: %v; want that it is outside", w, err)
		}
	}
}
