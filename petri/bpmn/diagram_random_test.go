// SPDX-License-Identifier: Apache-2.0

package bpmn_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// diagrams draws processes at random: gateways of all kinds with flows back and forth, boundary
// events, links, escalations, compensation, and sub-processes of all kinds inside each other.
type diagrams struct {
	*rand.Rand
	last int // number of an id
}

// drawn is a level of a process while it is drawn.
type drawn struct {
	*diagrams
	nodes  strings.Builder
	in     []string // nodes into which flows may lead
	out    []string // nodes out of which they may
	splits map[string]bool
	flows  [][2]string
}

func (d *diagrams) id(kind string) string {
	d.last++
	return fmt.Sprintf("%s%d", kind, d.last)
}

// process returns the file of one process.
func (d *diagrams) process() string {
	const called = `<process id="called"><startEvent id="qs"/><exclusiveGateway id="qx"/><endEvent id="qe"/><endEvent id="qt"><errorEventDefinition/></endEvent>` +
		`<sequenceFlow id="q1" sourceRef="qs" targetRef="qx"/><sequenceFlow id="q2" sourceRef="qx" targetRef="qe"/><sequenceFlow id="q3" sourceRef="qx" targetRef="qt"/></process>`
	return `<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:c="http://camunda.org/schema/1.0/bpmn"><process id="p">` + d.level(2, "") + `</process>` + called + `</definitions>`
}

// level returns the content of a process or of a sub-process; depth is how many levels may be
// inside of it.
func (d *diagrams) level(depth int, around string) string {
	l := &drawn{diagrams: d, splits: map[string]bool{}}
	if around == "adHocSubProcess" {
		l.add("userTask", "", false, true)
	} else {
		l.add("startEvent", "", false, true)
	}
	if around == "" && d.IntN(3) == 0 {
		l.add("startEvent", `<timerEventDefinition><timeDuration>PT1H</timeDuration></timerEventDefinition>`, false, true)
	}
	for range 2 + 2*depth + d.IntN(3) {
		l.node(depth)
	}
	l.add("inclusiveGateway", "", true, true)
	if around != "adHocSubProcess" {
		l.end(around)
	}
	if depth > 0 && d.IntN(3) == 0 && around != "adHocSubProcess" {
		l.eventSubProcess()
	}
	l.connect()
	return l.text()
}

func (l *drawn) write(format string, args ...any) { fmt.Fprintf(&l.nodes, format, args...) }

// add adds a node with content and returns its id.
func (l *drawn) add(kind, content string, in, out bool) string {
	id := l.id(string(kind[0]) + "_")
	l.write(`<%s id="%s">%s</%s>`, kind, id, content, strings.Fields(kind)[0])
	if in {
		l.in = append(l.in, id)
	}
	if out {
		l.out = append(l.out, id)
	}
	return id
}

func (l *drawn) node(depth int) {
	switch k := l.IntN(18); {
	case k < 4:
		l.activity("userTask", "")
	case k < 6:
		l.splits[l.add("inclusiveGateway", "", true, true)] = true
	case k == 6:
		l.add("parallelGateway", "", true, true)
	case k == 7:
		l.add("exclusiveGateway", "", true, true)
	case k == 8:
		id := l.id("g_")
		l.write(`<complexGateway id="%s"><activationCondition>activationCount >= 1</activationCondition></complexGateway>`, id)
		l.in, l.out = append(l.in, id, id), append(l.out, id)
	case k == 9:
		l.eventGateway()
	case k == 10:
		name := l.id("link")
		l.add("intermediateThrowEvent", `<linkEventDefinition name="`+name+`"/>`, true, false)
		l.add("intermediateCatchEvent", `<linkEventDefinition name="`+name+`"/>`, false, true)
	case k == 11:
		l.add("intermediateThrowEvent", `<escalationEventDefinition/>`, true, true)
	case k == 12:
		l.compensation()
	case k == 13:
		l.activity("callActivity", `<extensionElements><c:out source="a" target="b"/></extensionElements>`)
	case depth > 0:
		kind := []string{"subProcess", "subProcess", "transaction", "adHocSubProcess"}[l.IntN(4)]
		l.activity(kind, l.level(depth-1, kind))
	default:
		l.activity("userTask", "")
	}
}

// activity adds an activity with boundary events, of which some never occur.
func (l *drawn) activity(kind, content string) {
	if kind != "adHocSubProcess" && l.IntN(4) == 0 {
		content += `<multiInstanceLoopCharacteristics isSequential="true"><loopCardinality>2</loopCardinality></multiInstanceLoopCharacteristics>`
	}
	attrs := ""
	if kind == "callActivity" {
		attrs = ` calledElement="called"`
	}
	host := l.id(kind[:1] + "_")
	l.write(`<%s id="%s"%s>%s</%s>`, kind, host, attrs, content, kind)
	l.in, l.out = append(l.in, host), append(l.out, host)
	if kind == "transaction" {
		x := l.id("b_")
		l.write(`<boundaryEvent id="%s" attachedToRef="%s"><cancelEventDefinition/></boundaryEvent>`, x, host)
		l.out = append(l.out, x)
	}
	for range l.IntN(3) {
		events := []string{`<timerEventDefinition><timeDuration>PT1H</timeDuration></timerEventDefinition>`, `<messageEventDefinition/>`,
			`<conditionalEventDefinition><condition>x</condition></conditionalEventDefinition>`, `<errorEventDefinition/>`, `<escalationEventDefinition/>`}
		kind := l.IntN(len(events))
		// An escalation that interrupts is left out: it is never followed by the flows of what
		// throws it, so the net has no path there.
		interrupts := kind == 3 || kind < 3 && l.IntN(2) == 0
		x := l.id("b_")
		l.write(`<boundaryEvent id="%s" attachedToRef="%s" cancelActivity="%v">%s</boundaryEvent>`, x, host, interrupts, events[kind])
		l.out = append(l.out, x)
	}
}

// end adds the end events; one inside may be thrown to a boundary event.
func (l *drawn) end(around string) {
	l.add("endEvent", "", true, false)
	events := []string{`<errorEventDefinition/>`, `<escalationEventDefinition/>`, `<terminateEventDefinition/>`}
	if around == "transaction" {
		events = append(events, `<cancelEventDefinition/>`)
	}
	if around != "" && l.IntN(3) > 0 {
		l.add("endEvent", events[l.IntN(len(events))], true, false)
	}
}

func (l *drawn) eventGateway() {
	gw := l.add("eventBasedGateway", "", true, false)
	for range 2 {
		x := l.add("intermediateCatchEvent", `<messageEventDefinition/>`, false, true)
		l.flow(gw, x)
	}
}

// compensation adds a task with a handler, and an event that compensates.
func (l *drawn) compensation() {
	task, handler, x := l.add("userTask", "", true, true), l.id("h_"), l.id("c_")
	l.write(`<userTask id="%s" isForCompensation="true"/><boundaryEvent id="%s" attachedToRef="%s"><compensateEventDefinition/></boundaryEvent><association id="%s" sourceRef="%s" targetRef="%s"/>`,
		handler, x, task, l.id("a_"), x, handler)
	l.add("intermediateThrowEvent", `<compensateEventDefinition/>`, true, true)
}

func (l *drawn) eventSubProcess() {
	inner := l.level(0, "eventSubProcess")
	begin := inner[strings.Index(inner, `<startEvent`):]
	id := begin[strings.Index(begin, `"`)+1:]
	id = id[:strings.Index(id, `"`)]
	inner = strings.Replace(inner, `<startEvent id="`+id+`"></startEvent>`, fmt.Sprintf(`<startEvent id="%s" isInterrupting="%v"><messageEventDefinition/></startEvent>`, id, l.IntN(2) == 0), 1)
	l.write(`<subProcess id="%s" triggeredByEvent="true">%s</subProcess>`, l.id("e_"), inner)
}

func (l *drawn) flow(from, to string) {
	if from != to || !strings.HasPrefix(from, "e_") { // an exclusive gateway is not its own alternative
		l.flows = append(l.flows, [2]string{from, to})
	}
}

// connect leads flows into each node, and some more, also back.
func (l *drawn) connect() {
	for _, to := range l.in {
		l.flow(l.any(l.out), to)
	}
	for range 1 + l.IntN(4) {
		l.flow(l.any(l.out), l.any(l.in))
	}
	for _, from := range l.out {
		if l.IntN(3) > 0 {
			l.flow(from, l.any(l.in))
		}
	}
}

func (l *drawn) any(of []string) string { return of[l.IntN(len(of))] }

func (l *drawn) text() string {
	for _, f := range l.flows {
		cond := ""
		if l.splits[f[0]] {
			cond = `<conditionExpression>x</conditionExpression>`
		}
		l.write(`<sequenceFlow id="%s" sourceRef="%s" targetRef="%s">%s</sequenceFlow>`, l.id("f_"), f[0], f[1], cond)
	}
	return l.nodes.String()
}
