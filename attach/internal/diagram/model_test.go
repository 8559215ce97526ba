// SPDX-License-Identifier: Apache-2.0

package diagram

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/petri"
)

// modelSpace is the namespace of BPMN 2.0's elements.
const modelSpace = "http://www.omg.org/spec/BPMN/20100524/MODEL"

func netOf(t *testing.T, process string) *Process {
	t.Helper()
	l, err := New("p", "", []byte(`<definitions xmlns="`+modelSpace+`"><process id="other"><task id="x"/></process><process id="p" name="P">`+process+`</process></definitions>`))
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Def.Validate(); err != nil {
		t.Fatal(err)
	}
	return l
}

func arcs(l *Process) string {
	var out []string
	for _, a := range l.Def.Arcs {
		out = append(out, a.ID)
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

func flow(from, to string) string {
	return `<sequenceFlow id="` + from + `-` + to + `" sourceRef="` + from + `" targetRef="` + to + `"/>`
}

func TestANodeIsATransitionWithAPlaceBeforeIt(t *testing.T) {
	for _, c := range []struct{ rule, process, want string }{
		{"a flow", `<startEvent id="s"/><userTask id="a"/>` + flow("s", "a"), "a/in>a s/in>s s>a/in"},
		{"a boundary event takes the token of its activity", `<task id="a"/><boundaryEvent id="b" attachedToRef="a"/><endEvent id="e"/>` + flow("b", "e"),
			"a/in>a a/in>b b>e/in e/in>e"},
		{"an event after an event gateway takes the token of the gateway", `<eventBasedGateway id="g"/><intermediateCatchEvent id="m"/><receiveTask id="r"/>` + flow("g", "m") + flow("g", "r"),
			"g/in>m g/in>r"},
		{"a flow into a sub-process leads to its start, and its end to its place",
			`<task id="a"/><subProcess id="u"><startEvent id="s"/><endEvent id="e"/>` + flow("s", "e") + `</subProcess><task id="z"/>` + flow("a", "u") + flow("u", "z"),
			"a/in>a a>s/in e/in>e e>u/in s/in>s s>e/in u/in>u u>z/in z/in>z"},
		{"a sub-process inside of another", `<task id="a"/><subProcess id="u"><transaction id="v"><task id="b"/></transaction></subProcess>` + flow("a", "u"),
			"a/in>a a>b/in b/in>b u/in>u v/in>v"},
		{"a flow without an end is left out", `<task id="a"/>` + flow("a", "nowhere"), "a/in>a"},
	} {
		if got := arcs(netOf(t, c.process)); got != c.want {
			t.Errorf("%s: %s; expected %s", c.rule, got, c.want)
		}
	}
}

func TestAModelThatCannotBeReadGivesANetToWhichRowsAdd(t *testing.T) {
	for _, model := range []string{"", "<", "<a/>", `<definitions xmlns="` + modelSpace + `"><process id="q"/></definitions>`} {
		l, err := New("p", "name", []byte(model))
		if err == nil || l == nil {
			t.Errorf("%q: %v", model, err)
			continue
		}
		if i, j := l.at("a"), l.fires("b"); i != 0 || j != 0 || l.Def.Places[0].ID != "a/in" || l.Def.Transitions[0].ID != "b" {
			t.Errorf("%q: place %d and transition %d", model, i, j)
		}
	}
}

func TestAnotherVersionAddsRowsAndMovesNone(t *testing.T) {
	l := netOf(t, `<task id="a"/><task id="b"/>`+flow("a", "b"))
	l.Merge(netOf(t, `<task id="c"/><task id="b"/>`+flow("c", "b")))
	var ids []string
	for _, p := range l.Def.Places {
		ids = append(ids, p.ID)
	}
	for _, p := range l.Def.Transitions {
		ids = append(ids, p.ID)
	}
	if diff := cmp.Diff([]string{"a/in", "b/in", "c/in", "a", "b", "c"}, ids); diff != "" {
		t.Error(diff)
	}
	if got, want := arcs(l), "a/in>a a>b/in b/in>b c/in>c c>b/in"; got != want {
		t.Errorf("arcs %s; expected %s", got, want)
	}
}

func FuzzNew(f *testing.F) {
	text, err := os.ReadFile("../../sqldb/testdata/camunda7/stuck.bpmn")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(strings.Replace(string(text), `id="stuck"`, `id="p"`, 1))
	f.Fuzz(func(t *testing.T, model string) {
		l, err := New("p", "", []byte(model))
		if err != nil {
			return
		}
		if err := l.Def.Validate(); err != nil {
			t.Error(err)
		}
	})
}

func TestATokenMayWaitForTheEventsThatTakeIt(t *testing.T) {
	n := netOf(t, `<task id="a"/><boundaryEvent id="b" attachedToRef="a"><timerEventDefinition/></boundaryEvent>`+
		`<intermediateCatchEvent id="c"><signalEventDefinition/></intermediateCatchEvent><eventBasedGateway id="g"/>`+
		`<intermediateCatchEvent id="d"><messageEventDefinition/></intermediateCatchEvent>`+flow("g", "d")+
		`<endEvent id="e"><errorEventDefinition/></endEvent><intermediateCatchEvent id="f"/>`)
	n.Merge(netOf(t, `<intermediateCatchEvent id="h"><conditionalEventDefinition/></intermediateCatchEvent>`))
	for node, want := range map[string][]Event{
		"a": {{"b", "timer"}}, "c": {{"c", "signal"}}, "g": {{"d", "message"}}, "h": {{"h", "conditional"}}, "e": nil, "f": nil, "d": nil,
	} {
		if diff := cmp.Diff(want, n.Events(node)); diff != "" {
			t.Errorf("%s: %s", node, diff)
		}
	}
}

func TestAnotherVersionHasCoordinatesAndKeepsWhatIsBeforeATask(t *testing.T) {
	n := netOf(t, `<task id="a"/>`)
	other := netOf(t, `<task id="b"/>`)
	other.Def.Places[0].At = &petri.Point{X: 10, Y: 20}
	n.Merge(other)
	if at := n.Def.Places[1].At; at == nil || *at != (petri.Point{X: 10, Y: 20}) {
		t.Errorf("the place of another version is at %v; expected 10, 20", at)
	}
	before, err := NewTasks("p", "", []Task{{ID: "a"}, {ID: "b"}})
	if err != nil {
		t.Fatal(err)
	}
	after, err := NewTasks("p", "", []Task{{ID: "a", Next: []string{"b", "c"}}, {ID: "b"}, {ID: "c"}})
	if err != nil {
		t.Fatal(err)
	}
	before.Merge(after)
	if got := before.Before("b"); got != nil || len(before.Before("c")) != 1 {
		t.Errorf("before b is %v; expected nothing, as in its own version", got)
	}
}

// The file goes along with the net, so that the live page shows it as its author drew it.
func TestANetHasItsFile(t *testing.T) {
	l := netOf(t, `<task id="a"/>`)
	texts, err := l.Def.Model.Texts()
	if err != nil || !strings.Contains(string(texts[0]), `<task id="a"/>`) {
		t.Errorf("texts %q, %v; want the file", texts, err)
	}
	before := l.Def.Model
	l.Merge(netOf(t, `<task id="b"/>`))
	if l.Def.Model != before {
		t.Error("another version replaced the file")
	}
	same := netOf(t, `<task id="a"/>`)
	l.Show(same)
	if l.Def.Model != before {
		t.Error("the same file replaced the file")
	}
	newer := netOf(t, `<task id="b"/>`)
	l.Show(newer)
	if l.Def.Model != newer.Def.Model {
		t.Error("the net does not show the file of a newer version")
	}
	l.Show(empty("p", ""))
	if l.Def.Model != newer.Def.Model {
		t.Error("a version without a file replaced the file")
	}
	l.Def.Model = before
	rows := empty("p", "")
	rows.Merge(l)
	if rows.Def.Model != before {
		t.Error("a net of rows did not get the file of a version")
	}
}
