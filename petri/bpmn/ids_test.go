// SPDX-License-Identifier: Apache-2.0

package bpmn_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/petri/bpmn"
)

// No id of a file is the same as that of a place or a transition of another element.
func TestIdsAreApart(t *testing.T) {
	const ends = `<startEvent id="s"/><endEvent id="e"/>`
	flow := func(id, from, to string) string {
		return `<sequenceFlow id="` + id + `" sourceRef="` + from + `" targetRef="` + to + `"><conditionExpression>= n > 1</conditionExpression></sequenceFlow>`
	}
	for _, c := range []struct {
		scenario
		warnings []string
	}{
		{scenario: scenario{"an exclusive gateway with a flow to itself", process(ends+`<exclusiveGateway id="g" default="g-e"/>`+flow("back", "g", "g"), "s>g>e"), `{"n": 1}`, "", "e/end"}},
		{scenario: scenario{"which is taken", process(ends+`<exclusiveGateway id="g" default="back"/>`+`<sequenceFlow id="back" sourceRef="g" targetRef="g"/>`+flow("go", "g", "e"), "s>g"), `{"n": 2}`, "", "e/end"}},
		{scenario: scenario{"flows without ids between the same nodes", process(ends+`<parallelGateway id="f"/><sequenceFlow sourceRef="f" targetRef="e"/><sequenceFlow sourceRef="f" targetRef="e"/>`, "s>f"), `{}`, "", "e/end×2"}},
		{scenario: scenario{"flows with the words of a gateway", process(ends+`<exclusiveGateway id="g"/><exclusiveGateway id="h"/>`+flow("flow in", "g", "e")+flow("in", "g", "e"), "s>g s>h h>g"), `{"n": 2}`, "", "e/end×2"}},
		{scenario{"a node with the id of a place of another", process(ends+`<userTask id="s/start"/>`, "s>s/start>e"), `{}`, "s%2Fstart", "e/end"},
			[]string{`f:1:211: the id "s/start" begins with that of another element; its places and transitions are called "s%2Fstart"`,
				`f:1:299: the id "s/start-e" begins with that of another element; its places and transitions are called "s%2Fstart-e"`}},
		{scenario{"a sub-process without an id", process(ends+`<subProcess triggeredByEvent="true"><startEvent id="c"><signalEventDefinition/></startEvent><userTask id="h"/><sequenceFlow id="x" sourceRef="c" targetRef="h"/></subProcess><userTask id="n"/>`, "s>n>e"), `{}`, "c h", "p/end"},
			[]string{`f:1:211: <subProcess> has no id; it is called "subProcess"`}},
	} {
		c.run(t)
		f, err := bpmn.Read(strings.NewReader(c.xml), "f", bpmn.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, w := range f.Warnings {
			got = append(got, w.Error())
		}
		if d := cmp.Diff(c.warnings, got); d != "" {
			t.Errorf("%s: warnings: -want +got\n%s", c.rule, d)
		}
	}
}
