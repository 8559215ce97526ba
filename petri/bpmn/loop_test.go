// SPDX-License-Identifier: Apache-2.0

package bpmn_test

import (
	"os"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/petri/bpmn"
)

// A multi-instance activity is what was drawn, and the one place where its runs wait.
func TestALoopIsNoProgram(t *testing.T) {
	for _, c := range []struct {
		loop, places, transitions string
		arcs                      int
	}{
		{multi("", `<loopCardinality>3</loopCardinality>`), "n/run s/start s-n n-e e/end", "s n/begin n e", 8},
		{multi(`isSequential="true" c:collection="l" c:elementVariable="x"`, ""), "n/run s/start s-n n-e e/end", "s n/begin n e", 8},
		{multi("", `<loopCardinality>3</loopCardinality><completionCondition>${done}</completionCondition>`), "n/run n/ran s/start s-n n-e e/end", "s n/begin n n/returns e", 10},
		{`<standardLoopCharacteristics testBefore="true"><loopCondition>${again}</loopCondition></standardLoopCharacteristics>`, "n/run n/ran s/start s-n n-e e/end", "s n/begin n n/returns e", 10},
	} {
		f, err := bpmn.Read(strings.NewReader(process(`<startEvent id="s"/><userTask id="n">`+c.loop+`</userTask><endEvent id="e"/>`, "s>n>e")), "f", bpmn.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		n := f.Nets[0]
		for i := range n.Places {
			if !strings.Contains(" "+c.places+" ", " "+n.Places[i].ID+" ") {
				t.Errorf("a place %q", n.Places[i].ID)
			}
		}
		for i := range n.Transitions {
			if !strings.Contains(" "+c.transitions+" ", " "+n.Transitions[i].ID+" ") {
				t.Errorf("a transition %q", n.Transitions[i].ID)
			}
		}
		if p, tr := len(strings.Fields(c.places)), len(strings.Fields(c.transitions)); len(n.Places) != p || len(n.Transitions) != tr || len(n.Arcs) != c.arcs {
			t.Errorf("%d places, %d transitions, %d arcs; expected %d, %d, %d", len(n.Places), len(n.Transitions), len(n.Arcs), p, tr, c.arcs)
		}
	}
}

// What editors write: data items without a name, lists that are associated with data inputs, and
// transactions that are cancelled.
func TestMultiInstanceAsOthersWriteIt(t *testing.T) {
	const list = `U,{"list":["a","b"]}`
	for _, c := range []struct{ rule, file, data, steps, want string }{
		{"a number", "mi-three", `{}`, "review", "review/run×2"},
		{"an element whose item has an id only", "mi-input-id", `{}`, list, "T/active T/run×2 i1 i2"},
		{"a list that is associated with a data input", "mi-data-input-association", `{}`, list, "T/run×2"},
		{"or with the name of the variable only", "mi-output-id", `{"list":[1,2,3]}`, "T,{\"y\":1}", "T/run×2"},
		{"a cancelled transaction ends all runs, and each is compensated", "mi-transaction-cancel", `{}`, "confirm",
			"onCancel/compensating trips/active tx/active tx/run×3 undo/in×3"},
		{"then the cancel event occurs once", "mi-transaction-cancel", `{}`, "confirm undo undo undo", "f2 trips/active"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			text, err := os.ReadFile("testdata/" + c.file + ".bpmn")
			if err != nil {
				t.Fatal(err)
			}
			scenario{c.rule, string(text), c.data, c.steps, c.want}.run(t)
		})
	}
}

// A handler that is a sub-process may fork.
func TestAHandlerMayFork(t *testing.T) {
	text, err := os.ReadFile("testdata/comp-handler-forks.bpmn")
	if err != nil {
		t.Fatal(err)
	}
	for steps, want := range map[string]string{
		"check":     "th/compensating trip/active u1 u2 undo/active",
		"check a b": "e/end trip/end",
	} {
		scenario{steps, string(text), `{}`, steps, want}.run(t)
	}
}

func TestVariablesOfRuns(t *testing.T) {
	gate := func(n, condition string) string {
		return process(`<startEvent id="s"/>`+n+`<exclusiveGateway id="g" default="g-no"/><endEvent id="yes"/><endEvent id="no"/>`+
			`<sequenceFlow id="y" sourceRef="g" targetRef="yes"><conditionExpression>`+condition+`</conditionExpression></sequenceFlow>`, "s>n>g>no")
	}
	const items = `<loopDataInputRef>_in</loopDataInputRef><loopDataOutputRef>_out</loopDataOutputRef><inputDataItem id="x"/><outputDataItem id="y"/>`
	const io = `<ioSpecification><dataInput id="_in" name="in"/><dataOutput id="_out" name="out"/></ioSpecification>`
	const associated = `<dataInputAssociation><sourceRef>list</sourceRef><targetRef>_in</targetRef></dataInputAssociation>` +
		`<dataOutputAssociation><sourceRef>_out</sourceRef><targetRef>all</targetRef></dataOutputAssociation>`
	// The handler's result is r: what it sees of the run.
	compensated := func(seen string) string {
		return process(`<startEvent id="s"/><endEvent id="e"/><task id="n">`+multi(`isSequential="true" c:collection="list" c:elementVariable="x"`, "")+`</task>`+
			`<boundaryEvent id="b" attachedToRef="n"><compensateEventDefinition/></boundaryEvent>`+
			`<scriptTask id="undo" isForCompensation="true" scriptFormat="feel" c:resultVariable="r"><script>`+seen+`</script></scriptTask><association sourceRef="b" targetRef="undo"/>`+
			throws("c", "")+`<exclusiveGateway id="g" default="g-e"/><endEvent id="yes"/>`+
			`<sequenceFlow id="y" sourceRef="g" targetRef="yes"><conditionExpression>= count(r) = 2</conditionExpression></sequenceFlow>`, "s>n>c>g>e")
	}
	for _, s := range []scenario{
		{"results by the id of the item, into the variable of the association", gate(`<userTask id="n">`+io+associated+multi("", items)+`</userTask>`, "= all = [1, 2]"),
			`{"list":[5,6]}`, `n,{"y":1} n,{"y":2}`, "yes/end"},
		{"without an association, those of the names", gate(`<userTask id="n">`+io+multi("", items)+`</userTask>`, "= out = [2, 1]"),
			`{"in":[5,6]}`, `n,{"y":2} n,{"y":1}`, "yes/end"},
		{"a handler sees the element of its run", compensated("if r = null then [x] else append(r, x)"), `{"list":[7,8]}`, "", "p/end yes/end"},
		{"an input of each run is its own", gate(`<userTask id="n"><extensionElements><c:inputOutput><c:inputParameter name="a">${a + loopCounter}</c:inputParameter>`+
			`<c:outputParameter name="b">${a}</c:outputParameter></c:inputOutput></extensionElements>`+multi(`isSequential="true"`, `<loopCardinality>3</loopCardinality>`)+`</userTask>`, "= a = 10 and b = 12"),
			`{"a":10}`, "n n n", "yes/end"},
		{"a process that runs several times gets the element", strings.Replace(gate(`<callActivity id="n" calledElement="q"><extensionElements><c:in source="x" target="v"/><c:out source="v" target="r"/></extensionElements>`+
			multi(`isSequential="true" c:collection="list" c:elementVariable="x"`, "")+`</callActivity>`, "= r = 9 and x = null"), "</definitions>", `<process id="q"><task id="u"/></process></definitions>`, 1),
			`{"list":[8,9]}`, "", "u/end yes/end"},
		{"and sees nothing that is not mapped", strings.Replace(gate(`<callActivity id="n" calledElement="q"><extensionElements><c:in source="list" target="v"/><c:out source="x" target="r"/></extensionElements>`+
			multi(`c:collection="list" c:elementVariable="x"`, "")+`</callActivity>`, "= r = null"), "</definitions>", `<process id="q"><task id="u"/></process></definitions>`, 1),
			`{"list":[8,9]}`, "", "u/end yes/end"},
		{"a loop inside of a loop has its own counter", gate(`<subProcess id="n">`+multi("", `<loopCardinality>2</loopCardinality>`)+`<userTask id="u">`+multi(`c:collection="list" c:elementVariable="x"`, `<completionCondition>= x = 6 and loopCounter = 1</completionCondition>`)+`</userTask></subProcess>`, "= x = null and loopCounter = null"),
			`{"list":[5,6,7]}`, "u u u u", "yes/end"},
	} {
		s.run(t)
	}
}
