// SPDX-License-Identifier: Apache-2.0

package bpmn

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/petri"
)

// faultLines reads an invalid file and returns the lines of the error.
func faultLines(t *testing.T, xml string) []string {
	t.Helper()
	f, err := Read(strings.NewReader(xml), "f", Limits{})
	if err == nil {
		t.Fatalf("the file was read; want an error\n%s", xml)
	}
	if f != nil {
		t.Error("Read returns a file and an error")
	}
	var fault *petri.Fault
	if !errors.As(err, &fault) {
		t.Errorf("no *petri.Fault in the chain of %v", err)
	}
	return strings.Split(err.Error(), "\n")
}

// begun returns a process that begins at s and ends at e; content comes
// between.
func begun(content string) string {
	return process(`<startEvent id="s"/><endEvent id="e"/>` + "\n" + content)
}

// path joins nodes with sequence flows x1, x2, ….
func path(ids string) string {
	var b strings.Builder
	nodes := strings.Fields(ids)
	for i := range nodes[1:] {
		b.WriteString(`<sequenceFlow id="x` + itoa(i+1) + `" sourceRef="` + nodes[i] + `" targetRef="` + nodes[i+1] + `"/>`)
	}
	return b.String()
}

func TestReadRefuses(t *testing.T) {
	tests := []struct {
		rule, xml string
		want      []string
	}{
		{"multi-instance with two numbers, or with events for each", begun(`<task id="t"/>
<task id="u"><multiInstanceLoopCharacteristics><loopCardinality>2</loopCardinality><loopDataInputRef>l</loopDataInputRef></multiInstanceLoopCharacteristics></task>
<task id="v"><multiInstanceLoopCharacteristics behavior="One"><loopCardinality>2</loopCardinality></multiInstanceLoopCharacteristics></task>
<task id="w"><standardLoopCharacteristics loopMaximum="few"/></task>
<task id="x"><multiInstanceLoopCharacteristics><loopCardinality>2</loopCardinality><loopDataOutputRef>o.p</loopDataOutputRef><outputDataItem name="y"/></multiInstanceLoopCharacteristics></task>` + path("s t u v w x e")),
			[]string{
				`f:3:1: multi-instance task with loopCardinality and a collection "u"; expected one of them`,
				`f:4:1: multi-instance task that throws events for its instances "v"; expected the behavior All`,
				`f:5:1: loopMaximum "few" of task "w"; expected a whole number`,
				`f:6:1: multi-instance task that collects results in "o.p" "x"; expected the name of a variable`,
			}},
		{"ad hoc sub-processes that have a start event or a terminate end event", begun(`<adHocSubProcess id="u" ordering="Sequential"><startEvent id="us"/><endEvent id="ue"><terminateEventDefinition/></endEvent></adHocSubProcess>` + path("s u e")),
			[]string{
				`f:2:47: none start event "us" in ad hoc sub-process "u"; expected none`,
				`f:2:68: terminate end event "ue" in ad hoc sub-process "u"; expected none`,
			}},
		{"compensation that nothing leads to, or sequence flows do", begun(`<task id="t" isForCompensation="true"/><task id="a"/><boundaryEvent id="b" attachedToRef="a"><compensateEventDefinition/></boundaryEvent>
<subProcess id="v" triggeredByEvent="true"><startEvent id="vs"><compensateEventDefinition/></startEvent></subProcess>` + path("s t a e")),
			[]string{
				`f:2:1: a sequence flow at compensating task "t"; expected none`,
				`f:2:54: no association of compensate boundary event "b"; expected one with an activity that is for compensation, of the same process or sub-process`,
				`f:3:1: compensating event sub-process of a process "v"; expected it in a sub-process`,
			}},
		{"codes that are expressions", begun(`<task id="t"/><boundaryEvent id="b" attachedToRef="t"><escalationEventDefinition escalationRef="${of}"/></boundaryEvent><endEvent id="c"><errorEventDefinition errorRef="=of"/></endEvent>` + path("s t e") + `<sequenceFlow id="z" sourceRef="b" targetRef="c"/>`),
			[]string{
				`f:2:15: the escalationCode "${of}" of boundary event "b"; expected a code that is not an expression`,
				`f:2:121: the errorCode "=of" of end event "c"; expected a code that is not an expression`,
			}},
		{"a cancel end event without a transaction, or one that nothing catches", begun(`<transaction id="t"><startEvent id="ts"/><endEvent id="tc"><cancelEventDefinition/></endEvent><sequenceFlow id="y" sourceRef="ts" targetRef="tc"/></transaction><endEvent id="c"><cancelEventDefinition/></endEvent>` + path("s t e") + `<sequenceFlow id="z" sourceRef="s" targetRef="c"/>`),
			[]string{
				`f:2:42: cancel end event "tc"; expected it in a transaction with a cancel boundary event`,
				`f:2:161: cancel end event "c"; expected it in a transaction with a cancel boundary event`,
			}},
		{"cancel, several and unknown event definitions", begun(`<task id="t"/><boundaryEvent id="b" attachedToRef="t"><cancelEventDefinition/></boundaryEvent><intermediateCatchEvent id="c"><messageEventDefinition/><timerEventDefinition><timeDuration>PT1S</timeDuration></timerEventDefinition></intermediateCatchEvent><intermediateThrowEvent id="d"><whimEventDefinition/></intermediateThrowEvent>` + path("s t c d e") + `<endEvent id="f"/><sequenceFlow id="y" sourceRef="b" targetRef="f"/>`),
			[]string{
				`f:2:15: cancel boundary event on task "b"; expected it on a transaction`,
				`f:2:95: multiple intermediate catch event "c"; expected message, timer, signal, conditional or link`,
				`f:2:254: unknown intermediate throw event "d"; expected none, message, signal, escalation, compensate or link`,
			}},
		{"event definitions elsewhere", begun(`<intermediateCatchEvent id="c"><eventDefinitionRef>m</eventDefinitionRef></intermediateCatchEvent>` + path("s c e")),
			[]string{
				`f:2:1: none intermediate catch event "c"; expected message, timer, signal, conditional or link`,
				`f:2:32: intermediate catch event "c" refers to the event definition "m", which is not in the file; expected one`,
			}},
		{"a catching event that waits for nothing", begun(`<intermediateCatchEvent id="c"/>` + path("s c e")),
			[]string{
				`f:2:1: none intermediate catch event "c"; expected message, timer, signal, conditional or link`,
			}},
		{"an event start inside a sub-process", begun(`<subProcess id="u"><startEvent id="us"><messageEventDefinition/></startEvent></subProcess>` + path("s u e")),
			[]string{
				`f:2:20: message start event "us"; expected none in a sub-process`,
			}},
		{"an error as a start of a process", process(`<startEvent id="s"><errorEventDefinition/></startEvent>`),
			[]string{
				`f:1:82: error start event "s"; expected none, message, timer, signal or conditional`,
			}},
		{"event gateways that are parallel, instantiate or lead nowhere", begun(`<eventBasedGateway id="g" eventGatewayType="Parallel"/><eventBasedGateway id="h" instantiate="true"/>` + path("s g h e") + `<eventBasedGateway id="i"/><sequenceFlow id="y" sourceRef="s" targetRef="i"/>`),
			[]string{
				`f:2:1: parallel event based gateway "g"; expected an exclusive one`,
				`f:2:56: instantiating event based gateway "h"; expected one that begins a process`,
				`f:2:153: event based gateway "g" leads to event based gateway "h"; expected a catching event or a receive task without boundary events that waits once`,
				`f:2:204: event based gateway "h" leads to none end event "e"; expected a catching event or a receive task without boundary events that waits once`,
				`f:2:255: no sequence flow out of event based gateway "i"; expected one to each event that it waits for`,
			}},
		{"an event behind a gateway that others lead to", begun(`<eventBasedGateway id="g"/><intermediateCatchEvent id="c"><messageEventDefinition/></intermediateCatchEvent>` + path("s g c e") + `<sequenceFlow id="y" sourceRef="s" targetRef="c"/>`),
			[]string{
				`f:2:28: several sequence flows into message intermediate catch event "c"; expected only that of the event based gateway "g"`,
			}},
		{"complex gateways that do not count", begun(`<complexGateway id="g"/><complexGateway id="h"><activationCondition>${a and b}</activationCondition></complexGateway><complexGateway id="i"><activationCondition>2 of 3</activationCondition></complexGateway>` + path("s g h i e")),
			[]string{
				`f:2:1: no activation condition at complex gateway "g"; expected "activationCount >= k" or "k of n"`,
				`f:2:48: the activation condition "${a and b}" of complex gateway "h"; expected "activationCount >= k" or "k of n"`,
				`f:2:141: complex gateway "i" waits for 2 of 1 tokens; expected a number from 1 to that of its incoming sequence flows`,
			}},
		{"several flows without conditions beside those with one", begun(`<exclusiveGateway id="g"/>` + path("s g e") + `<sequenceFlow id="y" sourceRef="g" targetRef="e"/><sequenceFlow id="z" sourceRef="g" targetRef="e"><conditionExpression>a</conditionExpression></sequenceFlow>`),
			[]string{
				`f:2:78: sequence flow "x2" without a condition out of exclusive gateway "g", where others have one; expected a condition`,
				`f:2:129: sequence flow "y" without a condition out of exclusive gateway "g", where others have one; expected a condition`,
			}},
		{"conditions behind a parallel gateway", begun(`<parallelGateway id="g"/>` + path("s g e") + `<sequenceFlow id="z" sourceRef="g" targetRef="e"><conditionExpression>a</conditionExpression></sequenceFlow>`),
			[]string{
				`f:2:128: condition or default on sequence flow "z" out of parallel gateway "g"; expected none`,
			}},
		{"a default that is no outgoing flow", begun(`<task id="t" default="x1"/>` + path("s t e")),
			[]string{
				`f:2:1: task "t" has the default flow "x1"; expected one of its outgoing sequence flows`,
			}},
		{"flows to nowhere and out of a sub-process", begun(`<subProcess id="u"><task id="t"/><sequenceFlow id="y" sourceRef="t" targetRef="e"/></subProcess><sequenceFlow id="z" sourceRef="" targetRef="s"/>` + path("s u e")),
			[]string{
				`f:2:34: sequence flow "y" ends at "e", which is not a flow node of the same process or sub-process`,
				`f:2:97: sequence flow "z" starts at "", which is not a flow node of the same process or sub-process`,
			}},
		{"flows into starts and out of ends", begun(path("s e s")),
			[]string{
				`f:1:82: a sequence flow into none start event "s"; expected none`,
				`f:1:102: a sequence flow out of none end event "e"; expected none`,
			}},
		{"a circle that nothing begins", process(`<task id="t"/><task id="u"/>` + path("t u t")),
			[]string{
				`f:1:66: <process> "p" has no beginning; expected a start event or a flow node without incoming sequence flows`,
			}},
		{"links to nowhere and to two targets", begun(`<intermediateThrowEvent id="t"><linkEventDefinition name="a"/></intermediateThrowEvent><intermediateThrowEvent id="u"><linkEventDefinition name="b"/></intermediateThrowEvent><intermediateCatchEvent id="c"><linkEventDefinition name="b"/></intermediateCatchEvent><intermediateCatchEvent id="d"><linkEventDefinition name="b"/></intermediateCatchEvent>` + path("s t") + `<sequenceFlow id="y" sourceRef="s" targetRef="u"/>`),
			[]string{
				`f:2:1: link intermediate throw event "t" leads to the link "a"; expected a catching link event of that name in the same process or sub-process`,
				`f:2:262: link intermediate catch event "d" has the link name "b" of another; expected one target of a link`,
			}},
		{"boundary events on nothing, on a gateway, and errors that do not interrupt", begun(`<task id="t"/><parallelGateway id="g"/><boundaryEvent id="a"><messageEventDefinition/></boundaryEvent><boundaryEvent id="b" attachedToRef="g"><messageEventDefinition/></boundaryEvent><boundaryEvent id="c" attachedToRef="t" cancelActivity="false"><errorEventDefinition/></boundaryEvent>` + path("s t g e")),
			[]string{
				`f:2:40: message boundary event "a" is attached to "", which is not an activity of the same process or sub-process`,
				`f:2:103: message boundary event on parallel gateway "b"; expected it on an activity`,
				`f:2:184: non-interrupting error boundary event "c"; expected an error to interrupt`,
			}},
		{"event sub-processes with flows or without one start", begun(`<subProcess id="u" triggeredByEvent="true"><startEvent id="us"><messageEventDefinition/></startEvent></subProcess><subProcess id="v" triggeredByEvent="true"><task id="t"/></subProcess>` + path("s u e")),
			[]string{
				`f:2:1: sequence flows or boundary events on event sub-process "u"; expected none`,
				`f:2:115: 0 start events in event sub-process "v"; expected one`,
			}},
		{"an event sub-process that runs several times", begun(`<subProcess id="u" triggeredByEvent="true"><multiInstanceLoopCharacteristics><loopCardinality>2</loopCardinality></multiInstanceLoopCharacteristics><startEvent id="us"><signalEventDefinition/></startEvent></subProcess>` + path("s e")),
			[]string{
				`f:2:1: loop or multi-instance event sub-process "u"; expected one that runs once each time its event occurs`,
			}},
		{"a flow to a catching link that nothing throws", begun(`<intermediateCatchEvent id="l"><linkEventDefinition name="x"/></intermediateCatchEvent>` + path("s l e")),
			[]string{
				`f:2:1: link intermediate catch event "l" has a sequence flow and no throwing link event leads to it; expected one of that name in the same process or sub-process`,
			}},
		{"a collection that is not closed", strings.Replace(begun(`<task id="t"><multiInstanceLoopCharacteristics c:collection="${xs"/></task>`+path("s t e")), "<definitions ", `<definitions xmlns:c="http://camunda.org/schema/1.0/bpmn" `, 1),
			[]string{
				`f:2:1: the collection "${xs" of multi-instance task "t"; expected an expression that ends with }, or the name of a variable`,
			}},
		{"a process that calls itself", begun(`<subProcess id="u"><callActivity id="c" calledElement="p"/></subProcess>` + path("s u e")),
			[]string{
				`f:2:20: a process that calls itself, here by call activity "c"; expected calls that end`,
			}},
		{"a called process that begins with an event", `<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"><process id="p"><callActivity id="c" calledElement="q"/></process><process id="q"><startEvent id="m"><messageEventDefinition/></startEvent></process></definitions>`,
			[]string{
				`f:1:82: no none start event in the process that is called by call activity "c"; expected one`,
			}},
		{"quantities that are no numbers", begun(`<task id="t" startQuantity="0" completionQuantity="many"/>` + path("s t e")),
			[]string{
				`f:2:1: startQuantity "0" of task "t"; expected a whole number from 1 to 4294967295`,
				`f:2:1: completionQuantity "many" of task "t"; expected a whole number from 1 to 4294967295`,
			}},
		{"a receive task that instantiates", begun(`<receiveTask id="t" instantiate="true"/>` + path("s t e")),
			[]string{
				`f:2:1: instantiating receive task "t"; expected one that begins a process, once and without boundary events`,
			}},
		{"ids given twice", begun(`<task id="s"/><sequenceFlow sourceRef="s" targetRef="e"/>`),
			[]string{
				`f:2:1: <task> has the id "s" of the element at line 1; expected every id once`,
			}},
		{"choreographies", `<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"><choreography id="c"/></definitions>`,
			[]string{
				`f:1:66: choreography "c"; expected processes`,
			}},
		{"elements that are no flow nodes", begun(`<choreographyTask id="c"/>` + path("s e")),
			[]string{
				`f:2:1: choreography task "c" in <process>; expected flow nodes and sequence flows of BPMN 2.0`,
			}},
		{"another root", `<pnml/>`,
			[]string{
				`f:1:1: the root element is <pnml> in the namespace ""; expected <definitions> in http://www.omg.org/spec/BPMN/20100524/MODEL`,
			}},
		{"the first draft of BPMN 2.0", `<definitions xmlns="http://schema.omg.org/spec/BPMN/2.0"/>`,
			[]string{
				`f:1:1: the root element is <definitions> in the namespace "http://schema.omg.org/spec/BPMN/2.0"; expected <definitions> in http://www.omg.org/spec/BPMN/20100524/MODEL`,
			}},
		{"no XML", `process`,
			[]string{
				`f:1:1: the text "process" outside any element; expected an XML document with the root <definitions>`,
			}},
		{"an empty file", ``,
			[]string{
				`f:1:1: the file has no root element; expected an XML document with the root <definitions>`,
			}},
		{"two roots", process(``) + `<definitions/>`,
			[]string{
				`f:1:106: a second root element <definitions>; expected the end of the file`,
			}},
		{"an end within", process(``)[:90],
			[]string{
				`f:1:82: the file ends inside what begins here; expected a complete XML document`,
			}},
		{"entities", `<!DOCTYPE d [<!ENTITY a "b">]>` + process(`&a;`),
			[]string{
				`f:1:1: a DOCTYPE with declarations of its own; expected none: entities are not expanded`,
			}},
		{"an attribute twice", process(`<task id="a" id="b"/>`),
			[]string{
				`f:1:82: <task> has the attribute id twice; expected it once`,
			}},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, faultLines(t, tt.xml)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}
