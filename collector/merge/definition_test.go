// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/pnml"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

func pnmlLimits() pnml.Limits { return pnml.DefaultLimits() }

func TestReadDefinitionRefuses(t *testing.T) {
	const good = `<pnml><net id="n" type="ptnet"><place id="p"/></net></pnml>`
	for name, test := range map[string]struct {
		net, digest, pnml string
		want              telemetry.Reason
	}{
		"nothing":                    {"n", telemetry.Digest([]byte(good)), good, ""},
		"bytes of another digest":    {"n", telemetry.Digest([]byte("x")), good, telemetry.WrongDigest},
		"what is not PNML":           {"n", telemetry.Digest([]byte("x")), "x", BadDefinition},
		"a file without the net":     {"m", telemetry.Digest([]byte(good)), good, BadDefinition},
		"a net that is not valid":    {"n", telemetry.Digest([]byte(`<pnml><net id="n"><arc id="a" source="x" target="y"/></net></pnml>`)), `<pnml><net id="n"><arc id="a" source="x" target="y"/></net></pnml>`, BadDefinition},
		"a definition of no content": {"n", telemetry.Digest(nil), "", BadDefinition},
	} {
		_, err := ReadDefinition(telemetry.Definition{Net: test.net, Digest: test.digest, PNML: []byte(test.pnml)}, pnmlLimits())
		if got := telemetry.ReasonOf(err); got != test.want {
			t.Errorf("%s: %v, expected %q", name, err, test.want)
		}
	}
}

func place(id, name string) petri.Place {
	return petri.Place{ID: id, Name: name, Pos: petri.Pos{Line: 3}}
}

func TestUnion(t *testing.T) {
	var u union
	first := &petri.Net{ID: "n", Name: "old", Places: []petri.Place{place("p", "P"), place("q", "Q")},
		Transitions: []petri.Transition{{ID: "t"}},
		Arcs:        []petri.Arc{{ID: "a", Source: "p", Target: "t", Weight: 1}, {ID: "b", Source: "t", Target: "q", Weight: 1}}}
	c := u.add(first, true)
	def := u.def
	if !c.same || len(def.Places) != 2 {
		t.Fatalf("got %+v; want two places that map to themselves", c)
	}

	t.Run("the same definition again changes nothing", func(t *testing.T) {
		again := *first
		again.File, again.Pos = "other.pnml", petri.Pos{Line: 9}
		if c := u.add(&again, true); !c.same || u.def != def {
			t.Error("another pointer")
		}
	})
	t.Run("the newest model wins", func(t *testing.T) {
		drawn := *first
		drawn.Model = petri.NewModel(petri.ModelBPMN, []byte("<definitions/>"))
		u.add(&drawn, false)
		if u.def.Model != nil {
			t.Error("the model of a definition whose names do not count is there")
		}
		u.add(&drawn, true)
		if u.def.Model != drawn.Model {
			t.Errorf("model %+v; want that of the newest definition", u.def.Model)
		}
	})
	t.Run("rows append, and the newest names win", func(t *testing.T) {
		second := &petri.Net{ID: "n", Name: "new", Places: []petri.Place{place("r", "R"), place("p", "P2")},
			Transitions: []petri.Transition{{ID: "t"}}, Arcs: []petri.Arc{{ID: "a", Source: "p", Target: "t", Weight: 7}}}
		c := u.add(second, true)
		if d := cmp.Diff([]int32{2, 0}, c.places); d != "" || c.same {
			t.Error(d)
		}
		var names []string
		for _, p := range u.def.Places {
			names = append(names, p.Name)
		}
		if d := cmp.Diff([]string{"P2", "Q", "R"}, names); d != "" || u.def.Name != "new" {
			t.Errorf("net %q, names of places (-want +got): %s", u.def.Name, d)
		}
		// The arc to q, which the new definition does not have, stays.
		want := []petri.Arc{{ID: "a", Source: "p", Target: "t", Weight: 7}, {ID: "b", Source: "t", Target: "q", Weight: 1}}
		if d := cmp.Diff(want, u.def.Arcs); d != "" {
			t.Error(d)
		}
		if len(def.Places) != 2 || def.Places[0].Name != "P" {
			t.Error("the former definition was changed")
		}
	})
}

// A place is final as long as no definition in use takes its tokens.
func TestFinalPlacesFollowTheDefinition(t *testing.T) {
	m := NewMerger(Rules{}, t0)
	def := &petri.Net{ID: "n", Places: []petri.Place{{ID: "p"}, {ID: "end"}}, Transitions: []petri.Transition{{ID: "t"}},
		Arcs: []petri.Arc{{Source: "p", Target: "t", Weight: 1}, {Source: "t", Target: "end", Weight: 1}}}
	grown := *def
	grown.Transitions = append(grown.Transitions[:1:1], petri.Transition{ID: "archive"})
	grown.Arcs = append(grown.Arcs[:2:2], petri.Arc{Source: "end", Target: "archive", Weight: 1})
	for _, step := range []struct {
		digest string
		def    *petri.Net
		final  []bool
	}{{"1", def, []bool{false, true}}, {"2", &grown, []bool{false, false}}} {
		if _, err := m.Define(step.digest, step.def, t0); err != nil {
			t.Fatal(err)
		}
		view, _ := m.Tick(t0)
		if d := cmp.Diff(step.final, view.Nets[0].Final); d != "" {
			t.Errorf("definition %s (-want +got):\n%s", step.digest, d)
		}
	}
}

func TestTheOldestTokenOfANetIsNotInAFinalPlace(t *testing.T) {
	rows := func(oldest ...int64) *stats.Rows {
		r := stats.NewRows(len(oldest), 0)
		for i, at := range oldest {
			r.Places[i].Oldest = at
		}
		return r
	}
	for _, c := range []struct {
		rule string
		net  NetView
		want int
	}{
		{"no tokens", NetView{Rows: rows(0, 0)}, -1},
		{"the oldest", NetView{Rows: rows(0, 9, 7, 8)}, 2},
		{"the first of equal ones", NetView{Rows: rows(7, 7)}, 0},
		{"not one that is final", NetView{Rows: rows(9, 1, 8), Final: []bool{false, true, false}}, 2},
		{"only final ones", NetView{Rows: rows(0, 1), Final: []bool{false, true}}, -1},
	} {
		got := c.net.Sum().OldestPlace
		if c.net.OldestSince == 0 {
			got = -1
		}
		if got != c.want {
			t.Errorf("%s: place %d, want %d", c.rule, got, c.want)
		}
	}
}
