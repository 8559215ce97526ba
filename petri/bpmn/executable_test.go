// SPDX-License-Identifier: Apache-2.0

package bpmn

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/petri"
)

// What an engine would have to decide while it plays is refused.
func TestRefusesWhatOnlyARunDecides(t *testing.T) {
	thrown := process(`<startEvent id="s"/><endEvent id="e"><errorEventDefinition/></endEvent><sequenceFlow id="x" sourceRef="s" targetRef="e"/>`)
	several := process(`<startEvent id="s"/><task id="t"><multiInstanceLoopCharacteristics/></task><sequenceFlow id="x" sourceRef="s" targetRef="t"/>`)
	for text, want := range map[string]string{
		thrown: "",
		strings.Replace(thrown, "<process ", `<process isExecutable="true" `, 1): `no code in error end event "e"; expected one, because the process is executable`,
		several: "",
		strings.Replace(several, "<process ", `<process isExecutable="true" `, 1): `multi-instance task without a number of instances "t"; expected loopCardinality or a collection, because the process is executable`,
	} {
		_, err := Read(strings.NewReader(text), "f", Limits{})
		if got := errorText(err); !strings.HasSuffix(got, want) || (want == "") != (err == nil) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// What never begins, and what is assumed of a drawing, is in the warnings.
func TestWarnsOfWhatNeverBeginsAndOfAssumptions(t *testing.T) {
	f := read(t, process(`<startEvent id="s"/><sequenceFlow id="x" sourceRef="s" targetRef="t"/>
<task id="t"><multiInstanceLoopCharacteristics/></task>
<task id="u"/>
<callActivity id="c" calledElement="${which}"/><sequenceFlow id="y" sourceRef="t" targetRef="c"/>
<intermediateCatchEvent id="l"><linkEventDefinition name="a"/></intermediateCatchEvent>`))
	if d := cmp.Diff([]string{
		`f:2:14: multi-instance task "t" has no number of instances: it runs once`,
		`f:3:1: no sequence flow leads to task "u", and there is a start event: it never begins`,
		`f:4:1: call activity "c" calls the process that "${which}" names: one piece of work`,
		`f:5:1: no throwing link event leads to link intermediate catch event "l": it never occurs`,
	}, warningsOf(f)); d != "" {
		t.Error("-want +got\n" + d)
	}
	if got := arcs(f.Nets[0], "u"); !slices.Contains(got, "normal u/start → u") || slices.ContainsFunc(f.Nets[0].Places, func(p petri.Place) bool { return p.ID == "u/start" && p.Initial > 0 }) {
		t.Errorf("u has %v; want an empty place before it", got)
	}
}

// What is not followed of a mapping of data is in the warnings, too.
func TestWarnsOfMappingsThatAreNotFollowed(t *testing.T) {
	f := read(t, strings.Replace(process(`<startEvent id="s"/><task id="t"><extensionElements><c:inputOutput>
<c:inputParameter name="a"><c:script scriptFormat="groovy">1</c:script></c:inputParameter>
<c:outputParameter name="b.c">${a}</c:outputParameter>
</c:inputOutput></extensionElements></task>
<endEvent id="e"><extensionElements><c:inputOutput><c:inputParameter name="a">1</c:inputParameter></c:inputOutput></extensionElements></endEvent>`+path("s t e")), "<definitions ", `<definitions xmlns:c="http://camunda.org/schema/1.0/bpmn" `, 1))
	if d := cmp.Diff([]string{
		`f:2:1: input parameter "a" of task "t" is a script, which is not evaluated; expected an expression`,
		`f:3:1: output parameter "b.c" of task "t" is not followed; expected the name of a variable`,
		`f:5:1: none end event "e" has a mapping of data, which is not followed`,
	}, warningsOf(f)); d != "" {
		t.Error("-want +got\n" + d)
	}
}

// What other engines evaluate and pnagent does not is in the warnings.
func TestWarnsOfDataThatIsNotFollowed(t *testing.T) {
	f := read(t, strings.Replace(process(`<startEvent id="s"/>
<serviceTask id="t" c:expression="${bean.total(a)}" c:resultVariable="b"/>
<scriptTask id="u" scriptFormat="groovy" c:resultVariable="b"><script>a + 1</script></scriptTask>
<scriptTask id="v" scriptFormat="juel" c:resultVariable="b.c"><script>${a}</script></scriptTask>
<task id="w"><dataInputAssociation id="i"><targetRef>x</targetRef><assignment/></dataInputAssociation>
<dataOutputAssociation id="o"><targetRef>x</targetRef><transformation>a + 1</transformation></dataOutputAssociation></task>
<endEvent id="e"/><correlationSubscription id="k"/>
<serviceTask id="x" c:expression="${bean.send(a)}"/>`+path("s t u v w x e")), "<definitions ", `<definitions xmlns:c="http://camunda.org/schema/1.0/bpmn" `, 1))
	if d := cmp.Diff([]string{
		`f:2:1: the expression or script of service task "t" calls a method: it is not evaluated, but a piece of work, which sets "b"`,
		`f:3:1: the expression or script of script task "u" is not evaluated: it is a piece of work, which sets "b"`,
		`f:4:1: result variable "b.c" of script task "v" is not followed; expected the name of a variable`,
		`f:5:67: the assignment in a data input association of task "w" is not evaluated`,
		`f:6:55: the transformation in a data output association of task "w" is not evaluated`,
		`f:7:19: correlationSubscription "k" is not followed: a message reaches the first instance that waits for it`,
		`f:8:1: the expression of service task "x" calls a method: it is not evaluated, but a piece of work`,
	}, warningsOf(f)); d != "" {
		t.Error("-want +got\n" + d)
	}
}
