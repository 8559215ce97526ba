// SPDX-License-Identifier: Apache-2.0

package pnml

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/petri"
)

// subProcess is a net as WoPeD writes it: the sub-process s between in and out has
// the content of a page, which repeats both places.
func subProcess(page string) string {
	return `<pnml><net id="n" type="ptnet"><place id="in"><initialMarking><text>1</text></initialMarking></place><place id="out"/>` +
		`<transition id="s"><toolspecific tool="WoPeD" version="1.0"><subprocess>true</subprocess></toolspecific></transition>` +
		`<arc id="1" source="in" target="s"/><arc id="2" source="s" target="out"/>` + page + `</net></pnml>`
}

// arcsOf returns the arcs of a net as "source>target".
func arcsOf(n *petri.Net) (arcs []string) {
	for _, a := range n.Arcs {
		arcs = append(arcs, a.Source+">"+a.Target)
	}
	return arcs
}

func TestSubProcessIsReplacedByItsNet(t *testing.T) {
	const inner = `<page id="u"><net><place id="m"/><place id="k"/><place id="out"/><transition id="b"/><transition id="c"/>` +
		`<arc id="5" source="m" target="b"/><arc id="6" source="b" target="k"/><arc id="7" source="k" target="c"/><arc id="8" source="c" target="out"/></net></page>`
	const own = `<place id="in"/><place id="m"/><place id="out"/><transition id="a"/><transition id="u"/>` +
		`<arc id="3" source="in" target="a"/><arc id="9" source="a" target="m"/><arc id="4" source="m" target="u"/><arc id="10" source="u" target="out"/>`
	for _, content := range []string{own + inner, inner + own} {
		f := read(t, subProcess(`<page id="s"><net><name><text>sub</text></name>`+content+`</net></page>`))
		n := f.Nets[0]
		var places []string
		for _, p := range n.Places {
			places = append(places, p.ID)
		}
		arcs := map[string]bool{}
		for _, a := range arcsOf(n) {
			arcs[a] = true
		}
		want := map[string]bool{"in>a": true, "a>m": true, "m>b": true, "b>k": true, "k>c": true, "c>out": true}
		if d := cmp.Diff(want, arcs); d != "" || len(places) != 4 || len(n.Transitions) != 3 || n.Places[0].Initial != 1 || n.Name != "" {
			t.Errorf("places %v, transitions %v\n%s", places, n.Transitions, d)
		}
	}
}

func TestInvalidSubProcessIsRefused(t *testing.T) {
	tests := []struct {
		rule, page string
		want       []string
	}{
		{"no transition of the page's id", `<page id="x"><net></net></page>`,
			[]string{`f:1:322: a net in the page "x"; expected a page with the id of the transition that stands for this sub-process`}},
		{"two nets", `<page id="s"><net><place id="in"/><place id="out"/></net><net></net></page>`,
			[]string{`f:1:366: a second net of the sub-process "s"; expected one`}},
		{"a place is missing", `<page id="s"><net><place id="in"/></net></page>`,
			[]string{`f:1:272: arc "2" joins place "out" and sub-process "s", whose net does not have the place; expected the place in it`}},
		{"another marking", `<page id="s"><net><place id="in"/><place id="out"><initialMarking><text>2</text></initialMarking></place></net></page>`,
			[]string{`f:1:343: place "out" has 2 tokens in a sub-process and 0 outside; expected the same number`}},
		{"a place that is not next to it", `<page id="s"><net><place id="in"/><place id="out"/><place id="in"/></net></page>`, nil},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			got := faultLines(t, subProcess(tt.page))
			if d := cmp.Diff(tt.want, got); d != "" && tt.want != nil {
				t.Errorf("-want +got\n%s", d)
			}
		})
	}
}

// TAPAAL writes the weight as an attribute beside the inscription, which is 1 for an
// arc from a transition and a time interval for one to it.
func TestWeightOfTAPAAL(t *testing.T) {
	for _, tt := range []struct{ attrs, tag string }{
		{`inscription="1" weight="3"`, "arc"}, {`weight="3" inscription="1"`, "arc"}, {`inscription="[0,inf)" weight="3"`, "arc"},
		{`weight="3"`, "inputArc"}, {`weight="3"`, "inhibitorArc"}, {`multiplicity="3"`, "arc"},
	} {
		f := read(t, net(`<place id="p"/><transition id="t"/><`+tt.tag+` id="a" source="p" target="t" `+tt.attrs+`/>`))
		a := f.Nets[0].Arcs[0]
		if a.Weight != 3 || (a.Kind == petri.Inhibitor) != (tt.tag == "inhibitorArc") || len(f.Warnings) != 0 {
			t.Errorf("%s %s: %+v, %v", tt.tag, tt.attrs, a, f.Warnings)
		}
	}
	for _, attrs := range []string{`inscription="2" weight="3"`, `inscription="1" weight="1.5"`, `weight="K"`} {
		faultLines(t, net(`<place id="p"/><transition id="t"/><arc id="a" source="p" target="t" `+attrs+`/>`))
	}
	faultLines(t, net(`<place id="p"/><transition id="t"/><transportArc source="p" transition="t" target="p"/>`))
}

func TestFractionalWeightIsRefused(t *testing.T) {
	for _, arc := range []string{
		`weight="0.5">`, `multiplicity="0.5">`, `inscription="0.5">`, `><weight>0.5</weight>`, `><multiplicity><value>0.5</value></multiplicity>`,
		`><value>0.5</value>`, `><text>0.5</text>`, `><inscription><text>1.5</text></inscription>`, `><inscription>1,5</inscription>`,
	} {
		got := faultLines(t, net(`<place id="p"/><transition id="t"/><arc id="a" source="p" target="t" `+arc+`</arc>`))
		if len(got) != 1 {
			t.Errorf("%s: %v", arc, got)
		}
	}
}
