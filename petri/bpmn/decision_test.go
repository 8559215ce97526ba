// SPDX-License-Identifier: Apache-2.0

package bpmn_test

import (
	"strings"
	"testing"

	"github.com/pnagent/pnagent/petri/bpmn"
	"github.com/pnagent/pnagent/petri/dmn"
)

// decisions is a file with a table of one output, one of two, one of several rules, and an expression.
const decisions = `<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/">
<decision id="rate" name="Rate"><decisionTable><input><inputExpression><text>amount</text></inputExpression></input><output name="rate"/>
<rule><inputEntry><text>&lt; 100</text></inputEntry><outputEntry><text>1</text></outputEntry></rule>
<rule><inputEntry><text>[100..1000)</text></inputEntry><outputEntry><text>amount / 100</text></outputEntry></rule>
<rule><inputEntry><text>[100..200)</text></inputEntry><outputEntry><text>7</text></outputEntry></rule></decisionTable></decision>
<decision id="offer" name="Offer"><decisionTable hitPolicy="FIRST"><input><inputExpression><text>amount</text></inputExpression></input><output name="price"/><output name="size"/>
<rule><inputEntry><text>&gt; 0</text></inputEntry><outputEntry><text>amount * 2</text></outputEntry><outputEntry><text>"big"</text></outputEntry></rule></decisionTable></decision>
<decision id="checks" name="Checks"><decisionTable hitPolicy="COLLECT"><input><inputExpression><text>amount</text></inputExpression></input><output name="check"/>
<rule><inputEntry><text>&gt; 10</text></inputEntry><outputEntry><text>"a"</text></outputEntry></rule><rule><inputEntry><text>&gt; 20</text></inputEntry><outputEntry><text>"b"</text></outputEntry></rule></decisionTable></decision>
<decision id="sum" name="Sum"><variable name="total"/><literalExpression><text>amount + 1</text></literalExpression></decision></definitions>`

// The result of a decision is what Camunda 7 ("The DMN Decision Result"), Camunda 8 ("Business rule tasks") and Flowable
// ("Decision tasks") make a variable of.
func TestDecisionsOfTasks(t *testing.T) {
	all, err := dmn.Read(strings.NewReader(decisions), "d.dmn", dmn.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	gate := func(task, condition string) string { // where the data of n leads
		return process(`<startEvent id="s"/>`+task+`<exclusiveGateway id="g" default="g-no"/><endEvent id="yes"/><endEvent id="no"/>`+
			`<sequenceFlow id="y" sourceRef="g" targetRef="yes"><conditionExpression>`+condition+`</conditionExpression></sequenceFlow>`, "s>n>g>no")
	}
	camunda := func(attrs string) string { return `<businessRuleTask id="n" c:resultVariable="r" ` + attrs + `/>` }
	zeebe := func(id string) string {
		return `<businessRuleTask id="n"><extensionElements><z:calledDecision decisionId="` + id + `" resultVariable="r"/></extensionElements></businessRuleTask>`
	}
	flowable := func(id string) string {
		return `<serviceTask id="n" c:type="dmn"><extensionElements><c:field name="decisionTableReferenceKey"><c:string>` + id + `</c:string></c:field></extensionElements></serviceTask>`
	}
	for _, s := range []scenario{
		{"Camunda 7, a list of all rows", gate(camunda(`c:decisionRef="rate"`), "r == [{\"rate\": 1}]"), `{"amount":50}`, "", "yes/end"},
		{"a single entry", gate(camunda(`c:decisionRef="rate" c:mapDecisionResult="singleEntry"`), "r == 3 && amount == 300"), `{"amount":300}`, "", "yes/end"},
		{"which is null where no rule matches", gate(camunda(`c:decisionRef="rate" c:mapDecisionResult="singleEntry"`), "r == nil && rate == 5"), `{"amount":5000,"rate":5}`, "", "yes/end"},
		{"a single result", gate(camunda(`c:decisionRef="offer" c:mapDecisionResult="singleResult"`), "r.price == 100 && r.size == \"big\""), `{"amount":50}`, "", "yes/end"},
		{"the entries of several rows", gate(camunda(`c:decisionRef="checks" c:mapDecisionResult="collectEntries"`), "r == [\"a\", \"b\"]"), `{"amount":50}`, "", "yes/end"},
		{"several rows are no single entry", gate(camunda(`c:decisionRef="checks" c:mapDecisionResult="singleEntry"`), "true"), `{"amount":50}`, "", "n/ran"},
		{"two rules of a unique table are an incident", gate(camunda(`c:decisionRef="rate"`), "true"), `{"amount":150}`, "", "n/ran"},
		{"Camunda 8, a value", gate(zeebe("rate"), "r == 3"), `{"amount":300}`, "", "yes/end"},
		{"a context", gate(zeebe("offer"), "r.size == \"big\""), `{"amount":300}`, "", "yes/end"},
		{"a list", gate(zeebe("checks"), "r == [\"a\"]"), `{"amount":15}`, "", "yes/end"},
		{"an expression", gate(zeebe("sum"), "r == 16"), `{"amount":15}`, "", "yes/end"},
		{"Flowable, each output is a variable", gate(flowable("offer"), "price == 600 && size == \"big\""), `{"amount":300}`, "", "yes/end"},
		{"which stays where no rule matches", gate(flowable("offer"), "price == 5 && size == nil"), `{"amount":-1,"price":5}`, "", "yes/end"},
		{"several rows are the variable of the decision", gate(flowable("checks"), "checks == [{\"check\": \"a\"}]"), `{"amount":15}`, "", "yes/end"},
		{"a decision that no file has is work", gate(camunda(`c:decisionRef="other"`), "r == nil"), `{"amount":15}`, "", "yes/end"},
		{"in each of several runs", gate(strings.Replace(zeebe("sum"), "</businessRuleTask>", `<multiInstanceLoopCharacteristics isSequential="true"><loopCardinality>2</loopCardinality></multiInstanceLoopCharacteristics></businessRuleTask>`, 1), "r == 16"), `{"amount":15}`, "", "yes/end"},
	} {
		t.Run(s.rule, func(t *testing.T) {
			if got := playedWith(t, all, strings.ReplaceAll(s.xml, "&& ", "&amp;&amp; "), s.data); got != s.want {
				t.Errorf("%s, want %s", got, s.want)
			}
		})
	}
	f, err := bpmn.ReadWith([]bpmn.Source{{Name: "f", Reader: strings.NewReader(gate(`<businessRuleTask id="n" c:decisionRef="rate"/>`, "true"))}}, all, bpmn.Limits{})
	if want := `the result of the decision "rate" is not kept: business rule task "n" has no resultVariable`; err != nil || len(f[0].Warnings) != 1 || !strings.Contains(f[0].Warnings[0].Msg, want) {
		t.Errorf("%v, %v", f, err)
	}
}
