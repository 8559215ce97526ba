// SPDX-License-Identifier: Apache-2.0

package web

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
)

// chain is a line of places and transitions, p0 to t0 to p1 and so on.
func chain(places int) *petri.Net {
	n := &petri.Net{ID: "orders"}
	for i := range places {
		n.Places = append(n.Places, petri.Place{ID: fmt.Sprintf("p%d", i)})
		n.Transitions = append(n.Transitions, petri.Transition{ID: fmt.Sprintf("t%d", i)})
		n.Arcs = append(n.Arcs, petri.Arc{ID: fmt.Sprintf("a%d", i), Source: fmt.Sprintf("p%d", i), Target: fmt.Sprintf("t%d", i), Weight: 1})
		if i > 0 {
			n.Arcs = append(n.Arcs, petri.Arc{ID: fmt.Sprintf("b%d", i), Source: fmt.Sprintf("t%d", i-1), Target: fmt.Sprintf("p%d", i), Weight: 1})
		}
	}
	return n
}

func TestTheSurroundingsOfANodeReachSomeArcsInEitherDirection(t *testing.T) {
	for _, c := range []struct {
		place, transition string
		steps             int
		want              []string
	}{
		{"p5", "", 1, []string{"p5", "t4", "t5"}},
		{"p5", "", 2, []string{"p4", "p5", "p6", "t4", "t5"}},
		{"", "t0", 1, []string{"p0", "p1", "t0"}},
		{"p0", "", 3, []string{"p0", "p1", "t0", "t1"}},
		{"", "", 3, nil},
		{"t5", "", 3, nil},
	} {
		if got := slices.Sorted(maps.Keys(around(chain(20), c.place, c.transition, c.steps))); !slices.Equal(got, c.want) {
			t.Errorf("%d steps around place %q or transition %q: %v; expected %v", c.steps, c.place, c.transition, got, c.want)
		}
	}
}

func TestTheSurroundingsOfANodeAreLaidOutApart(t *testing.T) {
	st, view := newStage(t, nil), orders()
	def := chain(400)
	for i := range def.Transitions { // a place with many transitions
		def.Arcs = append(def.Arcs, petri.Arc{ID: fmt.Sprintf("c%d", i), Source: def.Transitions[i].ID, Target: "p399", Weight: 1})
	}
	view.Nets[0].Def, view.Nets[0].Rows = def, stats.NewRows(400, 400)
	st.show(view.Sum())
	ids := func(path string) (ids []string, w, h float64) {
		t.Helper()
		answer := st.get(path)
		doc := object(t, answer.Body.Bytes())
		for _, n := range doc["nodes"].([]any) {
			ids = append(ids, n.(map[string]any)["id"].(string))
		}
		if again := st.get(path, "If-None-Match", answer.Header().Get("ETag")); again.Code != http.StatusNotModified {
			t.Errorf("%s again answers %d", path, again.Code)
		}
		return ids, doc["width"].(float64), doc["height"].(float64)
	}
	got, w, h := ids("/api/v1/drawing?net=orders&place=p7&steps=2")
	if d := cmp.Diff([]string{"p6", "p7", "p8", "p399", "t6", "t7"}, got); d != "" {
		t.Errorf("around p7 (-want +got):\n%s", d)
	}
	if w > 1000 || h > 600 {
		t.Errorf("%d nodes are drawn %v by %v", len(got), w, h)
	}
	if _, w, h := ids("/api/v1/drawing?net=orders&upright="); w > h {
		t.Errorf("for an upright screen the net is drawn %v by %v", w, h)
	}
	if all, _, _ := ids("/api/v1/drawing?net=orders&place=p399&steps=2"); len(all) != 800 {
		t.Errorf("around a place with hundreds of neighbours are %d nodes; expected all 800", len(all))
	}
}
