// SPDX-License-Identifier: Apache-2.0

package pnml

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/petri"
)

// What PNML cannot express is written and read back.
func TestWriteKeepsEverythingOfANet(t *testing.T) {
	n := &petri.Net{
		ID:     "n",
		Places: []petri.Place{{ID: "p", Initial: 1}, {ID: "q"}, {ID: "r"}},
		Transitions: []petri.Transition{
			{ID: "split", Guard: "  a < \"b\"\n", Trigger: petri.Trigger{Kind: petri.TriggerWork, Name: " ship "}},
			{ID: "join", Preempts: true, Alternative: true, Trigger: petri.Trigger{Kind: petri.TriggerDelay, Micros: math.MaxInt64, Name: "P1D"}},
			{ID: "time", Trigger: petri.Trigger{Kind: petri.TriggerTime, Micros: -1}},
			{ID: "event", Trigger: petri.Trigger{Kind: petri.TriggerEvent}},
			{ID: "plain", Trigger: petri.Trigger{Name: "only a name"}},
		},
		Arcs: []petri.Arc{
			{ID: "a", Source: "p", Target: "split", Weight: 1},
			{ID: "b", Source: "split", Target: "q", Kind: petri.Branch, Weight: 2, Guard: "x && 'y'"},
			{ID: "c", Source: "split", Target: "r", Kind: petri.Branch, Weight: 1, Default: true},
			{ID: "d", Source: "q", Target: "join", Kind: petri.Join, Weight: 1},
			{ID: "e", Source: "r", Target: "join", Kind: petri.Join, Weight: 1},
		},
	}
	const want = `<?xml version="1.0" encoding="UTF-8"?>
<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml">
  <net id="n" type="http://www.pnml.org/version-2009/grammar/ptnet">
    <page id="page">
      <place id="p">
        <initialMarking><text>1</text></initialMarking>
      </place>
      <place id="q">
      </place>
      <place id="r">
      </place>
      <transition id="split">
        <toolspecific tool="pnagent" version="1">
          <guard value="  a &lt; &#34;b&#34;&#xA;"/>
          <trigger kind="work" name=" ship "/>
        </toolspecific>
      </transition>
      <transition id="join">
        <toolspecific tool="pnagent" version="1">
          <trigger kind="delay" name="P1D" micros="9223372036854775807"/>
          <alternative/>
          <preempts/>
        </toolspecific>
      </transition>
      <transition id="time">
        <toolspecific tool="pnagent" version="1">
          <trigger kind="time" micros="-1"/>
        </toolspecific>
      </transition>
      <transition id="event">
        <toolspecific tool="pnagent" version="1">
          <trigger kind="event"/>
        </toolspecific>
      </transition>
      <transition id="plain">
        <toolspecific tool="pnagent" version="1">
          <trigger kind="none" name="only a name"/>
        </toolspecific>
      </transition>
      <arc id="a" source="p" target="split">
      </arc>
      <arc id="b" source="split" target="q">
        <type value="branch"/>
        <inscription><text>2</text></inscription>
        <toolspecific tool="pnagent" version="1">
          <guard value="x &amp;&amp; &#39;y&#39;"/>
        </toolspecific>
      </arc>
      <arc id="c" source="split" target="r">
        <type value="branch"/>
        <toolspecific tool="pnagent" version="1">
          <default/>
        </toolspecific>
      </arc>
      <arc id="d" source="q" target="join">
        <type value="join"/>
      </arc>
      <arc id="e" source="r" target="join">
        <type value="join"/>
      </arc>
    </page>
  </net>
</pnml>
`
	if diff := cmp.Diff(want, string(roundTrip(t, n))); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestReadIgnoresOtherTools(t *testing.T) {
	const other = `<toolspecific tool="WoPeD" version="1"><guard value="x"/><trigger kind="?"/></toolspecific>`
	f := read(t, net(`<transition id="t">`+other+`</transition>`))
	if tr := f.Nets[0].Transitions[0]; tr.Guard != "" || tr.Trigger != (petri.Trigger{}) || len(f.Warnings) != 0 {
		t.Errorf("transition %+v, warnings %v", tr, f.Warnings)
	}
}

func TestReadRefusesInvalidExtensions(t *testing.T) {
	transition := func(content string) string {
		return net(`<transition id="t"><toolspecific tool="pnagent" version="1">` + content + `</toolspecific></transition>`)
	}
	tests := []struct {
		rule, xml string
		want      []string
	}{
		{"another version", net(`<transition id="t"><toolspecific tool="pnagent" version="2"><x/></toolspecific></transition>`),
			[]string{`f:1:51: <toolspecific> of pnagent in version "2"; expected version 1`}},
		{"two guards", transition(`<guard value="a"/><guard value="b"/>`),
			[]string{`f:1:110: a second guard "b" after "a"; expected one`}},
		{"two triggers", transition(`<trigger kind="event"/><trigger kind="event"/>`),
			[]string{`f:1:115: a second trigger; expected one`}},
		{"an unknown trigger", transition(`<trigger kind="whim"/>`),
			[]string{`f:1:92: the kind "whim" of a trigger; expected event, work, delay or time`}},
		{"a time that is no number", transition(`<trigger kind="delay" micros="1s"/>`),
			[]string{`f:1:92: the time "1s" of a trigger; expected a whole number of microseconds`}},
		{"a guard on an arc that is no branch", pt("", `<toolspecific tool="pnagent" version="1"><guard value="a"/></toolspecific>`),
			[]string{`f:1:67: normal arc "a" has a guard or is a default; expected that of branch arcs only`}},
		{"a branch into a transition", pt(`type="branch"`, ""),
			[]string{`f:1:67: branch arc "a" leads from place "p" to transition "t"; expected it to lead from a transition to a place`}},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, faultLines(t, tt.xml)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}
