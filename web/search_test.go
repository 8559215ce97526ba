// SPDX-License-Identifier: Apache-2.0

package web

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/web/api"
)

// claimAndOrders is a process with an instance that waits, beside the net of orders.
func claimAndOrders() *merge.View {
	def := &petri.Net{ID: "claim", Name: "Insurance claim", Model: &petri.Model{Kind: petri.ModelBPMN},
		Places:      []petri.Place{{ID: "toPay", Name: "both → Pay", Called: petri.Called{Kind: "service task", Name: "Pay"}}},
		Transitions: []petri.Transition{{ID: "pay", Name: "Pay", Called: petri.Called{Kind: "service task", Name: "Pay"}}}}
	rows := stats.NewRows(1, 1)
	rows.Columns = stats.ColTokens | stats.ColOldest | stats.ColStuck
	rows.Places[0] = stats.Place{Tokens: 2, Oldest: noon.UnixMicro() - 60e6, Stuck: []stats.Token{{Instance: "desk/payroll 7", Injected: noon.UnixMicro() - 60e6}}}
	v := orders()
	claim := (&merge.View{At: v.At, Nets: []*merge.NetView{{Name: "claim", Def: def, Final: []bool{false}, Rows: rows, Up: 1}}}).Sum()
	v.Nets = append(claim.Nets, v.Nets...)
	return v
}

// TestTheSearchFindsWhatIsInAnyNet looks for the words of processes, names, ids and instances.
func TestTheSearchFindsWhatIsInAnyNet(t *testing.T) {
	st := newStage(t, nil)
	st.show(claimAndOrders())
	for query, want := range map[string][]string{
		"PAY":          {"place claim toPay", "transition claim pay", "place orders due", "transition orders pay", "instance claim desk/payroll 7"},
		"service+task": {"place claim toPay", "transition claim pay"},
		"payroll":      {"instance claim desk/payroll 7"},
		"nowhere":      nil,
	} {
		answer := st.get("/api/v1/search?q=" + query)
		d, err := api.Decode[api.Matches](answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, m := range d.Matches {
			got = append(got, m.Kind+" "+m.Net+" "+m.ID)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", query, diff)
		}
	}
	for _, query := range []string{"", strings.Repeat("a", maxQuery+1)} {
		if code := st.get("/api/v1/search?q=" + query).Code; code != http.StatusBadRequest {
			t.Errorf("a query of %d bytes is answered with %d", len(query), code)
		}
	}
}

// TestATrendIsThatOfTheOldestToken compares the points with what was kept, the net with the oldest token first.
func TestATrendIsThatOfTheOldestToken(t *testing.T) {
	st := newStage(t, nil)
	v := claimAndOrders()
	for k := range 200 {
		next := *v
		next.Generation = v.Generation + uint64(k) + 1
		next.At = v.At + int64(k)*1e6
		st.now = time.UnixMicro(next.At)
		st.show(&next)
	}
	d, err := api.Decode[api.Trends](st.get("/api/v1/trends").Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range d.Nets {
		if n.Net != "claim" {
			continue
		}
		if len(n.Points) > maxTrendPoints || len(n.Points) < maxTrendPoints/2 {
			t.Errorf("got %d points; want at most %d", len(n.Points), maxTrendPoints)
		}
		last := n.Points[len(n.Points)-1]
		if *last[0] != float64(v.At/1000+199_000) || last[1] == nil || *last[1] != 259 {
			t.Errorf("the last point is %v, %v; want an age of 259 s", *last[0], last[1])
		}
		return
	}
	t.Errorf("got %+v; want one of the claims", d.Nets)
}
