// SPDX-License-Identifier: Apache-2.0

package pnml

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/internal/seeds"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/petritest"
)

// ProM, pm4py and others mark a silent transition by its activity, in a section of any tool and version.
func TestAnInvisibleActivityIsSilent(t *testing.T) {
	for activity, want := range map[string]bool{
		`<toolspecific tool="ProM" version="6.4" activity="$invisible$" localNodeID="1"/>`:                                           true,
		`<toolspecific tool="other" version="1"><x/></toolspecific><toolspecific tool="ProM" version="6.4" activity="$invisible$"/>`: true,
		`<toolspecific tool="pnagent" version="1" activity="$invisible$"/>`:                                                          true,
		`<toolspecific tool="ProM" version="6.4" activity="pay"/>`:                                                                   false,
		`<toolspecific tool="ProM" version="6.4" localNodeID="$invisible$"/>`:                                                        false,
	} {
		f := read(t, net(`<transition id="t">`+activity+`</transition>`))
		if got := f.Nets[0].Transitions[0].Silent; got != want || len(f.Warnings) > 0 {
			t.Errorf("%s: silent is %v, warnings %v", activity, got, f.Warnings)
		}
	}
}

func TestFinalMarkingsAreRead(t *testing.T) {
	const places = `<place id="p"/><place id="q"/>`
	marking := func(content string) string {
		return places + `<finalmarkings><marking>` + content + `</marking></finalmarkings>`
	}
	for _, c := range []struct {
		rule, net string
		want      []petri.Marking
		warning   string
	}{
		{"none", places, nil, ""},
		{"one", marking(`<place idref="p"><text> 2 </text></place><place idref="q"><text>0</text></place>`), []petri.Marking{{"p": 2}}, ""},
		{"before its places", `<finalmarkings><marking><place idref="p"><text>1</text></place></marking></finalmarkings>` + places, []petri.Marking{{"p": 1}}, ""},
		{"several", marking(`<place idref="p"><text>1</text></place></marking><marking><place idref="q"><text>3</text></place>`), []petri.Marking{{"p": 1}, {"q": 3}}, ""},
		{"without a token", marking(``), nil, "ignored a final marking with no token"},
		{"of another net", marking(`<place idref="x"><text>1</text></place>`), nil, "ignored a final marking with a place that is not of the net"},
		{"without a number", marking(`<place idref="p"><text>one</text></place>`), nil, `ignored a final marking with the number of tokens "one"`},
		{"with a place twice", marking(`<place idref="p"><text>1</text></place><place idref="p"><text>1</text></place>`), nil, `ignored a final marking with the place "p" twice`},
		{"in a page", `<page id="g">` + marking(`<place idref="p"><text>1</text></place>`) + `</page>`, []petri.Marking{{"p": 1}}, ""},
		{"beside something else", places + `<finalmarkings><x/></finalmarkings>`, nil, "ignored <x> in <finalmarkings>"},
		{"with something else", marking(`<x/><place idref="p"><text>1</text></place>`), []petri.Marking{{"p": 1}}, "ignored <x> in <marking>"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			f := read(t, net(c.net))
			if d := cmp.Diff(c.want, f.Nets[0].FinalMarkings); d != "" {
				t.Error(d)
			}
			if warnings := strings.Join(warningsOf(f), "\n"); c.warning == "" && warnings != "" || !strings.Contains(warnings, c.warning) {
				t.Errorf("warnings %q, want %q", warnings, c.warning)
			}
		})
	}
}

// What PNML cannot express is written and read back.
func TestWriteKeepsEverythingOfANet(t *testing.T) {
	n := &petri.Net{
		ID:     "n",
		Scopes: []petri.Scope{{ID: "s", Parent: "<o>"}, {ID: "<o>", Local: []string{" a\n", "<b>", ""}}, {ID: "u", Apart: true, Local: []string{"c"}}},
		Shared: true,
		Model:  &petri.Model{Kind: "bpmn", Packed: []byte("\x00any\xff")},
		Places: []petri.Place{
			{ID: "p", Initial: 1},
			{ID: "q", Scope: "<o>", Data: petri.DataAround},
			{ID: "r", Scope: "<o>", Open: true, Role: petri.RoleData, Element: "e", Called: petri.Called{Kind: "user task", Name: "<a>"}},
			{ID: "s", Open: true},
			{ID: "t"},
		},
		Transitions: []petri.Transition{
			{ID: "split", Called: petri.Called{Kind: "gateway", Name: " g "}, Guard: "  a < \"b\"\n", Trigger: petri.Trigger{Kind: petri.TriggerWork, Name: " ship "}},
			{ID: "join", Preempts: true, Alternative: true, Trigger: petri.Trigger{Kind: petri.TriggerDelay, Micros: math.MaxInt64, Name: "P1D"}},
			{ID: "time", Trigger: petri.Trigger{Kind: petri.TriggerTime, Micros: -1, Begins: true, Times: 3}},
			{ID: "event", Trigger: petri.Trigger{Kind: petri.TriggerEvent}},
			{ID: "caught", Trigger: petri.Trigger{Kind: petri.TriggerEvent, Name: "n", Event: petri.Event{Kind: petri.EventMessage, Name: "a \"b\"", Key: " order "}}},
			{ID: "thrown", Throws: petri.Event{Kind: petri.EventSignal, Name: "stop"}},
			{ID: "plain", Trigger: petri.Trigger{Name: "only a name"}},
		},
		Arcs: []petri.Arc{
			{ID: "a", Source: "p", Target: "split", Weight: 1},
			{ID: "b", Source: "split", Target: "q", Kind: petri.Branch, Weight: 2, Guard: "x && 'y'", Aside: petri.AsideAll},
			{ID: "c", Source: "split", Target: "r", Kind: petri.Branch, Weight: 1, Default: true},
			{ID: "d", Source: "q", Target: "join", Kind: petri.Join, Weight: 1},
			{ID: "e", Source: "r", Target: "join", Kind: petri.Join, Weight: 1, Aside: petri.AsideOwn},
		},
	}
	const want = `<?xml version="1.0" encoding="UTF-8"?>
<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml">
  <net id="n" type="http://www.pnml.org/version-2009/grammar/ptnet">
    <toolspecific tool="pnagent" version="1">
      <shared/>
      <scope id="s" parent="&lt;o&gt;"/>
      <scope id="&lt;o&gt;">
        <local value=" a&#xA;"/>
        <local value="&lt;b&gt;"/>
        <local value=""/>
      </scope>
      <scope id="u">
        <apart/>
        <local value="c"/>
      </scope>
      <model kind="bpmn" gzip="AGFuef8="/>
    </toolspecific>
    <page id="page">
      <place id="p">
        <initialMarking><text>1</text></initialMarking>
      </place>
      <place id="q">
        <toolspecific tool="pnagent" version="1">
          <scope value="&lt;o&gt;"/>
          <around/>
        </toolspecific>
      </place>
      <place id="r">
        <toolspecific tool="pnagent" version="1">
          <scope value="&lt;o&gt;"/>
          <open/>
          <role value="data"/>
          <called kind="user task" name="&lt;a&gt;"/>
          <element value="e"/>
        </toolspecific>
      </place>
      <place id="s">
        <toolspecific tool="pnagent" version="1">
          <open/>
        </toolspecific>
      </place>
      <place id="t">
      </place>
      <transition id="split">
        <toolspecific tool="pnagent" version="1">
          <guard value="  a &lt; &#34;b&#34;&#xA;"/>
          <trigger kind="work" name=" ship "/>
          <called kind="gateway" name=" g "/>
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
          <trigger kind="time" micros="-1" begins="3"/>
        </toolspecific>
      </transition>
      <transition id="event">
        <toolspecific tool="pnagent" version="1">
          <trigger kind="event"/>
        </toolspecific>
      </transition>
      <transition id="caught">
        <toolspecific tool="pnagent" version="1">
          <trigger kind="event" name="n"/>
          <catches kind="message" name="a &#34;b&#34;" key=" order "/>
        </toolspecific>
      </transition>
      <transition id="thrown">
        <toolspecific tool="pnagent" version="1">
          <throws kind="signal" name="stop"/>
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
          <aside value="all"/>
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
        <toolspecific tool="pnagent" version="1">
          <aside value="own"/>
        </toolspecific>
      </arc>
    </page>
  </net>
</pnml>
`
	if diff := cmp.Diff(want, string(roundTrip(t, n))); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// exchangeOf makes runs of the first scope of a net get and give variables, if transitions can begin and end them.
func exchangeOf(r *rand.Rand, n *petri.Net) {
	if len(n.Scopes) == 0 || !n.Shared {
		return
	}
	n.Places = append(n.Places, petri.Place{ID: "first"}, petri.Place{ID: "in it", Scope: n.Scopes[0].ID})
	n.Transitions = append(n.Transitions, petri.Transition{ID: "begin it"}, petri.Transition{ID: "end it"})
	for _, a := range [][2]string{{"first", "begin it"}, {"begin it", "in it"}, {"in it", "end it"}} {
		n.Arcs = append(n.Arcs, petri.Arc{ID: a[0] + a[1], Source: a[0], Target: a[1], Weight: 1})
	}
	s := &n.Scopes[0]
	s.Begin, s.End = "begin it", "end it"
	for _, to := range []*[]petri.Assignment{&s.In, &s.Out} {
		if s.Apart && r.IntN(2) == 0 {
			*to = append(*to, petri.Assignment{Leaves: r.IntN(2) == 0})
		}
		for range r.IntN(3) {
			a := petri.Assignment{Name: []string{"a", " b\t", "<c>\r\n"}[r.IntN(3)], Inner: r.IntN(2) == 0, Leaves: r.IntN(2) == 0}
			if r.IntN(2) == 0 {
				a.Source = "<\"d\">"
			} else {
				a.Value = petri.Expression{Text: "= \n<x", Of: `"of" it`}
			}
			*to = append(*to, a)
		}
	}
	if r.IntN(2) == 0 {
		s.Leave = []string{"end it", "end it"}
	}
}

// The variables of random nets are kept.
func TestRandomVariablesAreKept(t *testing.T) {
	for seed := range seeds.Of(50, 300) {
		r := rand.New(rand.NewPCG(seed, 1))
		n := petritest.RandomNet(r)
		n.Shared = r.IntN(4) > 0
		for k := range r.IntN(4) {
			s := petri.Scope{ID: fmt.Sprint("scope ", k), Apart: r.IntN(2) == 0}
			for range r.IntN(3) {
				s.Local = append(s.Local, []string{"a", " b\t", "<c>\r\n", ""}[r.IntN(4)])
			}
			if k > 0 {
				s.Parent = fmt.Sprint("scope ", r.IntN(k))
			}
			n.Scopes = append(n.Scopes, s)
		}
		exchangeOf(r, n)
		for k := range n.Places {
			n.Places[k].Data = petri.PlaceData(r.IntN(2))
		}
		roundTrip(t, n)
	}
}

func TestReadIgnoresOtherTools(t *testing.T) {
	const other = `<toolspecific tool="WoPeD" version="1"><guard value="x"/><trigger kind="?"/></toolspecific>`
	f := read(t, net(`<transition id="t">`+other+`</transition>`))
	if tr := f.Nets[0].Transitions[0]; tr.Guard != "" || tr.Trigger != (petri.Trigger{}) || len(f.Warnings) != 0 {
		t.Errorf("transition %+v, warnings %v", tr, f.Warnings)
	}
}

func TestAModelThatIsMissingKeepsItsReason(t *testing.T) {
	var out bytes.Buffer
	want := &petri.Model{Kind: "bpmn", Missing: `larger than "4 MiB"`}
	if err := Write(&out, &petri.Net{ID: "n", Model: want}); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, read(t, out.String()).Nets[0].Model); d != "" {
		t.Error(d)
	}
}

// A model only changes how a net is shown, so the net is read without it.
func TestInvalidModelsAreIgnored(t *testing.T) {
	long := base64.StdEncoding.EncodeToString(make([]byte, petri.MaxModelPacked+1))
	for rule, c := range map[string]struct{ models, warning string }{
		"not base64": {`<model kind="bpmn" gzip="%"/>`, "ignored a <model> whose text is not base64, or too long"},
		"too long":   {`<model kind="bpmn" gzip="` + long + `"/>`, "ignored a <model> whose text is not base64, or too long"},
		"a second":   {`<model kind="bpmn" gzip="AA=="/><model kind="x" gzip=""/>`, "ignored a second <model>"},
	} {
		f := read(t, net(`<toolspecific tool="pnagent" version="1">`+c.models+`</toolspecific><place id="p"/>`))
		n := f.Nets[0]
		if warnings := strings.Join(warningsOf(f), "\n"); !strings.Contains(warnings, c.warning) || len(n.Places) != 1 {
			t.Errorf("%s: warnings %q, net %+v; want %q", rule, warnings, n, c.warning)
		}
		if second := rule == "a second"; second != (n.Model != nil) || second && n.Model.Kind != "bpmn" {
			t.Errorf("%s: model %+v", rule, n.Model)
		}
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
			[]string{`f:1:110: a second <guard>; expected one`}},
		{"two guards in two sections", transition(`<guard value="a"/></toolspecific><toolspecific tool="pnagent" version="1"><guard value="b"/>`),
			[]string{`f:1:166: a second guard "b" after "a"; expected one`}},
		{"two triggers", transition(`<trigger kind="event"/><trigger kind="event"/>`),
			[]string{`f:1:115: a second <trigger>; expected one`}},
		{"an unknown kind of aside", net(`<place id="p"/><transition id="t"/><arc id="a" source="p" target="t"><toolspecific tool="pnagent" version="1"><aside value="some"/></toolspecific></arc>`),
			[]string{`f:1:142: value "some" of <aside>; expected all or own`}},
		{"an unknown trigger", transition(`<trigger kind="whim"/>`),
			[]string{`f:1:92: kind "whim" of <trigger>; expected event, work, delay, time or timer`}},
		{"how often it begins that is no number", transition(`<trigger kind="delay" begins="R3"/>`),
			[]string{`f:1:92: begins "R3" of <trigger>; expected a whole number, 0 without end`}},
		{"a time that is no number", transition(`<trigger kind="delay" micros="1s"/>`),
			[]string{`f:1:92: micros "1s" of <trigger>; expected a whole number of microseconds`}},
		{"two events", transition(`<throws kind="signal" name="a"/><throws kind="signal" name="b"/>`),
			[]string{`f:1:124: a second <throws>; expected one`}},
		{"an unknown event", transition(`<throws kind="whim" name="a"/>`),
			[]string{
				`f:1:32: transition "t" throws an event of kind 0; expected a message or a signal`,
				`f:1:92: kind "whim" of <throws>; expected message or signal`,
			}},
		{"an event without a name", transition(`<trigger kind="event"/><catches kind="signal"/>`),
			[]string{`f:1:32: transition "t" catches a signal with a name of 0 bytes; expected 1 to 255`}},
		{"a place with data of its own, as earlier versions wrote", net(`<place id="p"><toolspecific tool="pnagent" version="1"><own/></toolspecific></place>`),
			[]string{`f:1:87: a place whose tokens carry data of their own in a net that shares variables; expected none`}},
		{"an arc with data, as earlier versions read", pt("", `<toolspecific tool="pnagent" version="1"><data value="x"/></toolspecific>`),
			[]string{`f:1:143: an arc with data for its tokens; expected variables of the net, and of its scopes`}},
		{"an arc for each element, as earlier versions wrote", pt("", `<toolspecific tool="pnagent" version="1"><each/></toolspecific>`),
			[]string{`f:1:143: an arc for each element of a list; expected a scope with a loop`}},
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
