// SPDX-License-Identifier: Apache-2.0

package petri_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/petri"
)

// scoped returns a net with scopes outer and outer/inner, and other, each with a place of
// its name, and a place net outside of them.
func scoped(arcs ...petri.Arc) *petri.Net {
	for i := range arcs {
		arcs[i].ID, arcs[i].Weight, arcs[i].Pos = fmt.Sprint("a", i), 1, petri.Pos{Line: 9, Column: i + 1}
	}
	return &petri.Net{ID: "n",
		Scopes:      []petri.Scope{{ID: "inner", Parent: "outer"}, {ID: "outer"}, {ID: "other"}},
		Places:      []petri.Place{{ID: "net"}, {ID: "outer", Scope: "outer"}, {ID: "inner", Scope: "inner"}, {ID: "other", Scope: "other"}},
		Transitions: []petri.Transition{{ID: "t", Pos: petri.Pos{Line: 8}}}, Arcs: arcs}
}

func TestValidateReportsFaultsOfScopes(t *testing.T) {
	from := func(place string, kind petri.ArcKind) petri.Arc {
		return petri.Arc{Source: place, Target: "t", Kind: kind}
	}
	with := func(n *petri.Net, change func(*petri.Net)) *petri.Net {
		change(n)
		return n
	}
	runs := func(change func(s *petri.Scope)) *petri.Net { // of outer
		n := scoped(petri.Arc{Source: "t", Target: "outer"}, petri.Arc{Source: "outer", Target: "u"})
		n.Shared, n.Transitions = true, append(n.Transitions, petri.Transition{ID: "u"})
		s := &n.Scopes[1]
		s.Begin, s.End, s.Pos = "t", "u", petri.Pos{Line: 7}
		s.Out = []petri.Assignment{{Name: "a", Source: "b"}}
		change(s)
		return n
	}
	deep := scoped()
	for i := range petri.MaxScopeDepth + 1 {
		deep.Scopes = append(deep.Scopes, petri.Scope{ID: fmt.Sprint(i + 1), Parent: strings.TrimPrefix(fmt.Sprint(i), "0")})
	}
	for _, c := range []struct {
		rule string
		net  *petri.Net
		want string // "" for a valid net
	}{
		{"inputs of a chain", scoped(from("net", 0), from("inner", petri.Read), from("outer", 0)), ""},
		{"inputs of two chains", scoped(from("other", 0), from("inner", petri.Read)), `9:2: transition "t" has inputs in scopes "other" and "inner"; expected one to enclose the other`},
		{"inhibitor and reset arcs of any scope", scoped(from("inner", 0), from("other", petri.Inhibitor), from("other", petri.Reset)), ""},
		{"joins in one scope", scoped(from("inner", petri.Join), from("outer", petri.Normal)), ""},
		{"joins in two scopes", scoped(from("outer", petri.Join), from("inner", petri.Join)), `9:2: join arc "a1" is in another scope than the join arc before it`},
		{"joins in an outer scope", scoped(from("outer", petri.Join), from("inner", petri.Read)), `8:0: transition "t" joins in a scope that encloses the one of its other inputs`},
		{"an id is there", with(scoped(), func(n *petri.Net) { n.Scopes[0].ID = "" }), "a scope without an id"},
		{"an id is there once", with(scoped(), func(n *petri.Net) { n.Scopes[2].ID = "outer" }), `a scope has the id "outer" of the scope at line 0`},
		{"a parent exists", with(scoped(), func(n *petri.Net) { n.Scopes[2].Parent = "x" }), `scope "other" is in scope "x", which net "n" does not have`},
		{"the scope of a place exists", with(scoped(), func(n *petri.Net) { n.Places[0].Scope = "x" }), `place "net" is in scope "x", which net "n" does not have`},
		{"no scope encloses itself", with(scoped(), func(n *petri.Net) { n.Scopes[1].Parent = "inner" }), `scope "inner" encloses itself`},
		{"scopes are not too deep", deep, `scope "201" encloses itself or is in more than 200 others`},
		{"the initial marking is outside of scopes", with(scoped(), func(n *petri.Net) { n.Places[2].Initial = 2 }),
			`place "inner" of scope "inner" has 2 tokens in the initial marking; expected none in a scope`},
		{"a run gives variables", runs(func(*petri.Scope) {}), ""},
		{"it begins around the scope", runs(func(s *petri.Scope) { s.Begin = "v" }), `7:0: a run of scope "outer" begins with transition "v"; expected one that acts around the scope`},
		{"it ends in the scope", runs(func(s *petri.Scope) { s.Begin, s.End = "u", "t" }), `7:0: a run of scope "outer" begins with transition "u"; expected one that acts around the scope`},
		{"it ends with another transition", runs(func(s *petri.Scope) { s.End = "t" }), `7:0: a run of scope "outer" begins or ends with a transition of another scope`},
		{"something leaves it from inside", runs(func(s *petri.Scope) { s.Leave = []string{"t"} }), `7:0: something leaves a run of scope "outer" with transition "t"; expected one that acts in the scope`},
		{"all variables are those of a run apart", runs(func(s *petri.Scope) { s.In = []petri.Assignment{{}} }), `7:0: scope "outer" passes on all variables; expected it to be apart, and no value`},
		{"a variable has one value", runs(func(s *petri.Scope) { s.Out[0].Value.Text = "1" }), `7:0: the variable "a" of scope "outer" is a copy and has a value, or neither`},
		{"and has one", runs(func(s *petri.Scope) { s.Out[0].Source = "" }), `7:0: the variable "a" of scope "outer" is a copy and has a value, or neither`},
		{"the net shares variables", with(runs(func(*petri.Scope) {}), func(n *petri.Net) { n.Shared = false }), `7:0: scope "outer" has variables, but its net shares none`},
	} {
		t.Run(c.rule, func(t *testing.T) {
			err := c.net.Validate()
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), c.want)) {
				t.Errorf("got  %v\nwant %s…", err, c.want)
			}
		})
	}
}

// A transition acts in the innermost scope of what it takes, reads or joins.
func TestTablesHaveTheScopeOfATransition(t *testing.T) {
	for _, c := range []struct {
		arcs []petri.Arc
		want int32
	}{
		{nil, 0},
		{[]petri.Arc{{Source: "net", Target: "t"}, {Source: "t", Target: "inner"}}, 0},
		{[]petri.Arc{{Source: "net", Target: "t"}, {Source: "inner", Target: "t", Kind: petri.Inhibitor}}, 0},
		{[]petri.Arc{{Source: "inner", Target: "t", Kind: petri.Read}, {Source: "outer", Target: "t"}}, 1},
		{[]petri.Arc{{Source: "outer", Target: "t"}, {Source: "net", Target: "t"}}, 2},
	} {
		tables, err := petri.Compile(scoped(c.arcs...))
		if err != nil {
			t.Fatal(err)
		}
		if got := tables.ActsIn(0); got != c.want || !tables.Scoped() || tables.Plain() {
			t.Errorf("%+v: acts in scope %d, want %d", c.arcs, got, c.want)
		}
	}
}
