// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"net/http"
	"testing"
	"unicode/utf8"

	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
)

// FuzzNames gives a net, a place, a transition and a source any names. The
// scrape can be parsed, and each series is under its name.
func FuzzNames(f *testing.F) {
	f.Add("orders", "awaiting payment", "pay", "host-1")
	f.Add("", "\"\\\n", "{}=,#", "a/../b")
	f.Add("\xff", "\xed\xa0\x80", "ü\x00", "\u2028")
	f.Fuzz(func(t *testing.T, net, place, transition, source string) {
		rows := stats.NewRows(1, 1)
		rows.Columns = stats.AllColumns
		rows.Places[0].Tokens = 3
		rows.Blocks = []stats.Block{{Reason: 250, Instances: 8}}
		view := &merge.View{
			Nets: []*merge.NetView{{Name: net, Rows: rows, Def: &petri.Net{Places: []petri.Place{{ID: place}},
				Transitions: []petri.Transition{{ID: transition}}}}},
			Sources: []merge.Source{{Name: source, Net: net}},
		}
		e := newExporter(t, view, nil)
		families := scraped(t, e, "/metrics")
		for labels, want := range map[string]struct {
			family string
			value  float64
		}{
			"net=" + valid(net) + ",place=" + valid(place):                                                          {"petrinet_place_tokens", 3},
			"net=" + valid(net) + ",source=" + valid(source):                                                        {"petrinet_source_up", 1},
			"net=" + valid(net) + ",transition=" + valid(transition) + ",place=" + valid(place) + ",reason=unknown": {"petrinet_transition_blocked_instances", 8},
		} {
			if got, ok := value(families, want.family, labels); !ok || got != want.value {
				t.Errorf("%s{%q} is %v, %v", want.family, labels, got, ok)
			}
		}
		for _, name := range []string{net, place} {
			if got := valid(name); !utf8.ValidString(got) || utf8.ValidString(name) && got != name {
				t.Errorf("%q became %q", name, got)
			}
		}
		if w := get(e.Handler(), "/endpoints", ""); w.Code != http.StatusOK {
			t.Errorf("the landing page answers %d", w.Code)
		}
	})
}
