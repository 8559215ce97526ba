// SPDX-License-Identifier: Apache-2.0

package bpmn_test

import (
	"strings"
	"testing"
)

// Data goes into an activity and out of it as its mapping has it, and of several tokens that
// end in a sub-process all changes count.
func TestDataOfActivities(t *testing.T) {
	gate := func(n, condition string) string { // where the data of n leads
		return process(`<startEvent id="s"/>`+n+`<exclusiveGateway id="g" default="g-no"/><endEvent id="yes"/><endEvent id="no"/>`+
			`<sequenceFlow id="y" sourceRef="g" targetRef="yes"><conditionExpression>`+condition+`</conditionExpression></sequenceFlow>`, "s>n>g>no")
	}
	task := func(kind, extensions string) string {
		return `<` + kind + ` id="n"><extensionElements>` + extensions + `</extensionElements></` + kind + `>`
	}
	inner := func(extensions string) string {
		return `<subProcess id="n"><extensionElements>` + extensions + `</extensionElements><userTask id="u"/></subProcess>`
	}
	call := func(extensions, condition string) string {
		return strings.Replace(gate(`<callActivity id="n" calledElement="q"><extensionElements>`+extensions+`</extensionElements></callActivity>`, condition), "</definitions>",
			`<process id="q"><userTask id="u"/></process></definitions>`, 1)
	}
	const forked = `<subProcess id="n"><startEvent id="ns"/><parallelGateway id="f"/><userTask id="a"/><userTask id="b"/><endEvent id="ne"/>` +
		`<sequenceFlow id="1" sourceRef="ns" targetRef="f"/><sequenceFlow id="2" sourceRef="f" targetRef="a"/><sequenceFlow id="3" sourceRef="f" targetRef="b"/>` +
		`<sequenceFlow id="4" sourceRef="a" targetRef="ne"/><sequenceFlow id="5" sourceRef="b" targetRef="ne"/></subProcess>`
	const inOut = `<c:inputOutput><c:inputParameter name="x">${a + 1}</c:inputParameter><c:inputParameter name="y">=x * 2</c:inputParameter><c:inputParameter name="z">a text</c:inputParameter>` +
		`<c:outputParameter name="r">${x + y}</c:outputParameter></c:inputOutput>`
	const io = `<z:ioMapping><z:input source="= a + 1" target="x"/><z:output source="= x + y" target="r"/></z:ioMapping>`
	for _, s := range []scenario{
		{"an output parameter", gate(task("userTask", inOut), "r == 7"), `{"a": 1}`, `n,{"x":2,"y":5}`, "yes/end"},
		{"of work", gate(task("serviceTask", inOut), "r == 6"), `{"a": 1}`, "", "yes/end"},
		{"inputs are local", gate(task("serviceTask", inOut), "a == 1 &amp;&amp; x == 3 &amp;&amp; y == nil &amp;&amp; z == nil"), `{"a": 1, "x": 3}`, "", "yes/end"},
		{"other results return, too", gate(task("userTask", inOut), "b == 1"), `{"a": 1}`, `n,{"x":2,"y":5,"b":1}`, "yes/end"},
		{"not beside an output of Zeebe", gate(task("userTask", io), "b == nil &amp;&amp; r == 7 &amp;&amp; a == 1"), `{"a": 1}`, `n,{"x":2,"y":5,"b":1}`, "yes/end"},
		{"a script in FEEL of Zeebe", gate(task("scriptTask", `<z:script expression="= a + 1" resultVariable="b"/>`), "b == 2 &amp;&amp; a == 1"), `{"a": 1}`, "", "yes/end"},
		{"its outputs replace the result", gate(task("scriptTask", `<z:script expression="= a + 1" resultVariable="b"/><z:ioMapping><z:output source="= b * 3" target="r"/></z:ioMapping>`), "b == nil &amp;&amp; r == 6"), `{"a": 1}`, "", "yes/end"},
		{"a script in UEL", gate(`<scriptTask id="n" scriptFormat="juel" c:resultVariable="b"><script>${a + 1}</script></scriptTask>`, "b == 2"), `{"a": 1}`, "", "yes/end"},
		{"a script that is a text", gate(`<scriptTask id="n" scriptFormat="juel" c:resultVariable="b"><script>a text</script></scriptTask>`, "b == \"a text\""), `{"a": 1}`, "", "yes/end"},
		{"a script in FEEL", gate(`<scriptTask id="n" scriptFormat="feel" c:resultVariable="b"><script>a + 1</script></scriptTask>`, "b == 2"), `{"a": 1}`, "", "yes/end"},
		{"an expression of Camunda", gate(`<serviceTask id="n" c:expression="${a + 1}" c:resultVariable="b"/>`, "b == 2"), `{"a": 1}`, "", "yes/end"},
		{"a script that runs several times", gate(`<scriptTask id="n" scriptFormat="juel" c:resultVariable="a"><script>${a + 1}</script><multiInstanceLoopCharacteristics isSequential="true"><loopCardinality>3</loopCardinality></multiInstanceLoopCharacteristics></scriptTask>`, "a == 4"), `{"a": 1}`, "", "yes/end"},
		{"a mapping of a sub-process", gate(inner(inOut), "r == 10 &amp;&amp; a == 1 &amp;&amp; x == nil"), `{"a": 1}`, `u,{"x":5,"y":5}`, "yes/end"},
		{"inputs of an ad hoc sub-process are local, also where the event that ends it brings them", gate(`<adHocSubProcess id="n"><extensionElements>`+inOut+`</extensionElements><userTask id="u"/></adHocSubProcess>`,
			"a == 1 &amp;&amp; x == 3 &amp;&amp; y == nil &amp;&amp; r == 7"), `{"a": 1, "x": 3}`, `n,{"x":2,"y":5}`, "yes/end"},
		{"of parallel ends, the last to change a variable counts", gate(forked, "x == 1 &amp;&amp; y == 2"), `{"x": 0, "y": 0}`, `a,{"x":1,"y":0} b,{"y":2}`, "yes/end"},
		{"even if it sets an earlier value, as a completion in Camunda does", gate(forked, "x == 0 &amp;&amp; y == 2"), `{"x": 0, "y": 0}`, `a,{"x":1,"y":0} b,{"x":0,"y":2}`, "yes/end"},
		{"or the last one", gate(forked, "x == 2"), `{"x": 0}`, `a,{"x":1} b,{"x":2}`, "yes/end"},
		{"a called process keeps its data", call("", "x == 0"), `{"x": 0}`, `n:u,{"x":1}`, "u/start yes/end"},
		{"but for what is mapped out", call(`<c:out source="x" target="r"/><c:out sourceExpression="${x + 1}" target="q"/>`, "x == 0 &amp;&amp; r == 1 &amp;&amp; q == 2"), `{"x": 0}`, `n:u,{"x":1}`, "u/start yes/end"},
		{"or everything", call(`<c:out variables="all"/>`, "x == 1"), `{"x": 0}`, `n:u,{"x":1}`, "u/start yes/end"},
		{"also in Zeebe", call(`<z:calledElement processId="q"/>`, "x == 1"), `{"x": 0}`, `n:u,{"x":1}`, "u/start yes/end"},
		{"not if it does not propagate", call(`<z:calledElement processId="q" propagateAllChildVariables="false"/>`, "x == 0"), `{"x": 0}`, `n:u,{"x":1}`, "u/start yes/end"},
		{"a called process gets what is mapped in", call(`<c:in source="x" target="y"/><c:out variables="all"/>`, "x == 5 &amp;&amp; y == 5"), `{"x": 5}`, `n:u`, "u/start yes/end"},
		{"a copy reads its source, whatever was copied before", call(`<c:in source="x" target="y"/><c:in source="y" target="z"/><c:out source="y" target="x"/><c:out source="x" target="r"/><c:out source="z" target="q"/>`, "x == 5 &amp;&amp; r == nil &amp;&amp; q == 7"), `{"x": 5, "y": 7}`, `n:u`, "u/start yes/end"},
		{"and nothing else", call(`<c:in source="x" target="y"/><c:out source="x" target="r"/>`, "r == nil"), `{"x": 5}`, `n:u`, "u/start yes/end"},
	} {
		s.run(t)
	}
}

// Parallel branches of a process share its variables.
func TestVariablesAreShared(t *testing.T) {
	branches := func(n, flows, condition string) string {
		return process(`<startEvent id="s"/><parallelGateway id="f"/><inclusiveGateway id="i"/><parallelGateway id="j"/><userTask id="a"/>`+n+`<exclusiveGateway id="g" default="g-no"/><endEvent id="yes"/><endEvent id="no"/><endEvent id="e"/>`+
			`<sequenceFlow id="y" sourceRef="g" targetRef="yes"><conditionExpression>`+condition+`</conditionExpression></sequenceFlow>`, flows)
	}
	const b = `<userTask id="b"/>`
	const mapped = `<subProcess id="b"><extensionElements><c:inputOutput><c:inputParameter name="x">${y + 1}</c:inputParameter><c:outputParameter name="r">${x}</c:outputParameter></c:inputOutput></extensionElements><userTask id="u"/></subProcess>`
	const many = `<subProcess id="b"><multiInstanceLoopCharacteristics><loopCardinality>2</loopCardinality></multiInstanceLoopCharacteristics><userTask id="u"/></subProcess>`
	called := func(flows, condition string) string {
		return strings.Replace(branches(`<callActivity id="b" calledElement="q"><extensionElements><c:in variables="all"/><c:out source="x" target="r"/></extensionElements></callActivity>`, flows, condition), "</definitions>",
			`<process id="q"><userTask id="u"/></process></definitions>`, 1)
	}
	const zero = `{"x":0,"y":0}`
	const rest = "i>e"
	for _, s := range []scenario{
		{"the last of two branches does not undo the first", branches(b, "s>f>a>j f>b>j j>g>no "+rest, "x == 1"), zero, `a,{"x":1,"y":0} b`, "yes/end"},
		{"in any order of the flows", branches(b, "s>f>b>j f>a>j j>g>no "+rest, "x == 1"), zero, `a,{"x":1,"y":0} b`, "yes/end"},
		{"and of the tokens", branches(b, "s>f>b>j f>a>j j>g>no "+rest, "x == 1"), zero, `b a,{"x":1,"y":0}`, "yes/end"},
		{"a new variable is there, too", branches(b, "s>f>a>e f>b>g>no "+rest, "z == 1"), zero, `a,{"z":1} b`, "e/end yes/end"},
		{"a gateway sees what another branch wrote", branches(b, "s>f>a>e f>b>g>no "+rest, "x == 1"), zero, `a,{"x":1} b`, "e/end yes/end"},
		{"what ends does not change any more what is left", branches(b, "s>f>a>e f>b>g>no "+rest, "y == 0"), zero, `a,{"x":1} b`, "e/end yes/end"},
		{"an inclusive join", branches(b, "s>f>a>i f>b>i i>g>no", "x == 1 &amp;&amp; y == 2"), zero, `a,{"x":1,"y":0} b,{"x":1,"y":2}`, "yes/end"},
		{"a body that runs several times changes what is outside", branches(many, "s>f>a>g>no f>b>e "+rest, "x == 1"), zero, `u,{"x":1} a`, "b/active b/run u/start yes/end"},
		{"an input is local", branches(mapped, "s>f>a>j f>b>j j>g>no "+rest, "x == 7 &amp;&amp; r == 1"), zero, `a,{"x":7,"y":0} u`, "yes/end"},
		{"another branch does not see it", branches(mapped, "s>f>a>g>no f>b>e "+rest, "x == 0"), zero, `u,{"x":5,"y":0} a`, "e/end yes/end"},
		{"but the rest of the sub-process", branches(mapped, "s>f>a>g>no f>b>e "+rest, "y == 5"), zero, `u,{"x":1,"y":5} a`, "e/end yes/end"},
		{"a called process does not see what others write", called("s>f>a>j f>b>j j>g>no "+rest, "x == 7 &amp;&amp; r == 0"), zero, `a,{"x":7,"y":0} b:u`, "u/start yes/end"},
		{"nor others what it writes", called("s>f>a>g>no f>b>e "+rest, "x == 0"), zero, `b:u,{"x":5} a`, "e/end u/start yes/end"},
		{"a conditional event sees what another branch wrote", branches(`<intermediateCatchEvent id="b"><conditionalEventDefinition><condition>${x == 1}</condition></conditionalEventDefinition></intermediateCatchEvent>`,
			"s>f>a>e f>b>g>no "+rest, "x == 1"), zero, `a,{"x":1}`, "e/end yes/end"},
	} {
		s.run(t)
	}
}

// The result of an activity is written wherever the activity is.
func TestVariablesOfTheLastActivity(t *testing.T) {
	const gate = `<userTask id="u"/><exclusiveGateway id="g" default="g-no"/><userTask id="yes"/><userTask id="no"/><sequenceFlow id="y" sourceRef="g" targetRef="yes"><conditionExpression>${b == 2}</conditionExpression></sequenceFlow>`
	const script = `<scriptTask id="sc" scriptFormat="feel" c:resultVariable="b"><script>=2</script></scriptTask>`
	event := func(content, flows string) string {
		return strings.Replace(sub("w", `<startEvent id="ws" isInterrupting="false"><signalEventDefinition signalRef="x"/></startEvent>`+content, flows), ">", ` triggeredByEvent="true">`, 1)
	}
	for _, s := range []scenario{
		{"of an event sub-process of the process", process(`<startEvent id="s"/>`+gate+event(`<userTask id="v"/>`, "ws>v"), "s>u>g>no"), `{"b":1}`, `ws v,{"b":2} u`, "p/active ws/armed y"},
		{"and an expression", process(`<startEvent id="s"/>`+gate+event(script, "ws>sc"), "s>u>g>no"), `{"b":1}`, `ws u`, "p/active ws/armed y"},
		{"an event sub-process of Zeebe with outputs begins with what is around", process(`<startEvent id="s"/><userTask id="x"/>`+event(`<extensionElements><z:ioMapping><z:output source="= b" target="r"/></z:ioMapping></extensionElements>`+gate, "ws>u>g>no"), "s>x"), `{"b":2}`, `ws u`, "p/active s-x ws/armed y"},
		{"of a sub-process", process(`<startEvent id="s"/>`+gate+sub("n", `<startEvent id="ns"/>`+script, "ns>sc"), "s>n>u>g>no"), `{"b":1}`, `u`, "y"},
		{"beside others", process(`<startEvent id="s"/>`+gate+sub("n", `<startEvent id="ns"/><userTask id="v"/>`+script, "ns>v ns>sc"), "s>n>u>g>no"), `{"b":1}`, `v u`, "y"},
	} {
		s.run(t)
	}
}

// An error or an escalation that leaves an activity has the variables around it and, in
// Camunda, what the out elements of a call say. The called process has a task v after the
// event, if that does not interrupt.
func TestVariablesOfThrownEvents(t *testing.T) {
	const gate = `<exclusiveGateway id="g" default="g-no"/><userTask id="yes"/><userTask id="no"/><sequenceFlow id="y" sourceRef="g" targetRef="yes"><conditionExpression>CONDITION</conditionExpression></sequenceFlow>`
	const escalation, err = `<escalationEventDefinition/>`, `<errorEventDefinition errorRef="x"/>`
	called := func(id, content, flows string) string {
		return strings.Replace(strings.TrimSuffix(sub(id, content, flows), `</subProcess>`)+`</process>`, "<subProcess", "<process", 1)
	}
	calls := func(id, called, extensions string) string {
		return `<callActivity id="` + id + `" calledElement="` + called + `"><extensionElements>` + extensions + `</extensionElements></callActivity>`
	}
	q := called("q", `<startEvent id="qs"/><userTask id="u"/><intermediateThrowEvent id="th">`+escalation+`</intermediateThrowEvent><userTask id="v"/>`, "qs>u>th>v")
	failing := called("q", `<startEvent id="qs"/><userTask id="u"/><endEvent id="th">`+err+`</endEvent>`, "qs>u>th")
	waiting := called("q", `<startEvent id="qs"/><userTask id="u"/><userTask id="v"/>`, "qs>u>v")
	nested := called("q", `<startEvent id="qs"/>`+sub("w", `<startEvent id="ws"/><userTask id="u"/><userTask id="v"/>`, "ws>u>v"), "qs>w")
	with := func(xml, condition string, processes ...string) string {
		xml = strings.Replace(xml, "CONDITION", strings.ReplaceAll(condition, "&", "&amp;"), 1)
		return strings.Replace(xml, "</definitions>", strings.Join(processes, "")+"</definitions>", 1)
	}
	boundary := func(content, attrs, event string) string {
		return process(`<startEvent id="s"/>`+content+`<boundaryEvent id="b" attachedToRef="n" `+attrs+`>`+event+`</boundaryEvent>`+gate, "s>n b>g>no")
	}
	inside := func(content, attrs, event string) string {
		w := strings.Replace(sub("w", `<startEvent id="b" `+attrs+`>`+event+`</startEvent>`+gate, "b>g>no"), ">", ` triggeredByEvent="true">`, 1)
		return process(`<startEvent id="s"/>`+content+w, "s>n")
	}
	const out = `<c:in source="a" target="x"/><c:out source="x" target="r"/>`
	const stays, goesOn = `cancelActivity="false"`, `isInterrupting="false"`
	call := calls("n", "q", out)
	looped := strings.Replace(call, "</callActivity>", multi("", `<loopCardinality>2</loopCardinality>`)+"</callActivity>", 1)
	two := calls("m", "q", out+`<c:out sourceExpression="${x + 1}" target="x"/>`)
	middle := called("o", `<startEvent id="os"/>`+two, "os>m")
	input := sub("n", `<extensionElements><c:inputOutput><c:inputParameter name="a">5</c:inputParameter></c:inputOutput></extensionElements>`+
		`<startEvent id="ns"/><userTask id="u"/><intermediateThrowEvent id="th">`+escalation+`</intermediateThrowEvent><userTask id="v"/>`, "ns>u>th>v")
	const x1 = `{"a":1}`
	for _, s := range []scenario{
		{"to a boundary event", with(boundary(call, "", escalation), "r == 2 && a == 1 && x == nil", q), x1, `n:u,{"x":2}`, "qs-u y"},
		{"that does not interrupt", with(boundary(call, stays, escalation), "r == 2 && a == 1 && x == nil", q), x1, `n:u,{"x":2}`, "b/armed n/active n:th-v qs-u y"},
		{"to an event sub-process", with(inside(call, "", escalation), "r == 2 && a == 1 && x == nil", q), x1, `n:u,{"x":2}`, "p/active qs-u y"},
		{"that does not interrupt, either", with(inside(call, goesOn, escalation), "r == 2 && a == 1 && x == nil", q), x1, `n:u,{"x":2}`, "b/armed n/active n:th-v p/active qs-u y"},
		{"an error to a boundary event", with(boundary(call, "", err), "r == 2 && a == 1 && x == nil", failing), x1, `n:u,{"x":2}`, "qs-u y"},
		{"or an event sub-process", with(inside(call, "", err), "r == 2 && a == 1 && x == nil", failing), x1, `n:u,{"x":2}`, "p/active qs-u y"},
		{"an error that is reported by the name of the event has what is given, and what out says", with(boundary(call, "", err), "r == 2 && a == 1 && x == nil && e == 1", waiting), x1, `n:u,{"x":2} b,{"e":1}`, "qs-u y"},
		{"out sees what is given", with(boundary(call, "", err), "r == 3 && a == 1", waiting), x1, `n:u,{"x":2} b,{"x":3}`, "qs-u y"},
		{"with everything", with(boundary(calls("n", "q", `<c:out variables="all"/>`), "", err), "x == 2 && a == 1", waiting), x1, `n:u,{"x":2} b`, "qs-u y"},
		{"from a sub-process of the called process", with(boundary(call, "", err), "r == 2 && a == 1 && x == nil", nested), x1, `n:u,{"x":2} b`, "w/active ws-u y"},
		{"without out it has only what is given", with(boundary(calls("n", "q", ""), "", err), "a == 1 && x == nil && e == 1", waiting), x1, `n:u,{"x":2} b,{"e":1}`, "qs-u y"},
		{"an escalation that is reported", with(boundary(call, "", escalation), "r == 2 && a == 1 && x == nil && e == 1", waiting), x1, `n:u,{"x":2} b,{"e":1}`, "qs-u y"},
		{"and does not interrupt", with(boundary(call, stays, escalation), "r == 2 && a == 1 && x == nil", waiting), x1, `n:u,{"x":2} b`, "b/armed n/active n:u-v qs-u y"},
		{"each time", with(boundary(looped, stays, escalation), "r == 3 && a == 1 && x == nil", q), x1, `n:u,{"x":2} n:u,{"x":3}`, "b/armed g-no n/active n/run×2 n:th-v×2 qs-u y"},
		{"everything", with(boundary(calls("n", "q", `<c:out variables="all"/>`), stays, escalation), "a == 2", q), x1, `n:u,{"a":2}`, "b/armed n/active n:th-v qs-u y"},
		{"not what leaves at the end only", with(boundary(calls("n", "q", out+`<c:inputOutput><c:outputParameter name="o">1</c:outputParameter></c:inputOutput>`), stays, escalation), "r == 2 && o == nil", q), x1, `n:u,{"x":2}`, "b/armed n/active n:th-v qs-u y"},
		{"nor without out", with(boundary(calls("n", "q", ""), stays, escalation), "a == 1", q), x1, `n:u,{"a":2}`, "b/armed n/active n:th-v qs-u y"},
		{"nor in Zeebe", with(boundary(calls("n", "q", `<z:calledElement processId="q"/>`), stays, escalation), "a == 1", q), x1, `n:u,{"a":2}`, "b/armed n/active n:th-v qs-u y"},
		{"through two calls", with(boundary(calls("n", "o", `<c:out source="r" target="r"/><c:out sourceExpression="${x * 2}" target="t"/>`), "", escalation), "r == 2 && t == 6 && x == nil && a == 1", middle, q), x1, `n:m:u,{"x":2}`, "m/active m:qs-u qs-u y"},
		{"inputs do not leave", with(boundary(input, stays, escalation), "a == 1 && c == 2"), x1, `u,{"a":7,"c":2}`, "b/armed n/active th-v y"},
	} {
		s.run(t)
	}
}

// What a compensation handler returns is written, as what any other activity returns.
func TestVariablesOfCompensation(t *testing.T) {
	const gate = `<exclusiveGateway id="g" default="g-no"/><userTask id="yes"/><userTask id="no"/><sequenceFlow id="y" sourceRef="g" targetRef="yes"><conditionExpression>${a == 1 &amp;&amp; b == 2}</conditionExpression></sequenceFlow>`
	const throw = `<intermediateThrowEvent id="th"><compensateEventDefinition/></intermediateThrowEvent>` + gate
	undone := func(task, handler string) string {
		return task + `<boundaryEvent id="cb" attachedToRef="u"><compensateEventDefinition/></boundaryEvent>` + handler + `<association sourceRef="cb" targetRef="h"/>`
	}
	const task, handler = `<userTask id="u"/>`, `<userTask id="h" isForCompensation="true"/>`
	const many = `<userTask id="u"><multiInstanceLoopCharacteristics><loopCardinality>2</loopCardinality></multiInstanceLoopCharacteristics></userTask>`
	own := strings.Replace(sub("w", `<startEvent id="ws"><compensateEventDefinition/></startEvent><userTask id="h"/>`, "ws>h"), ">", ` triggeredByEvent="true">`, 1)
	for _, s := range []scenario{
		{"of a task", process(`<startEvent id="s"/>`+undone(task, handler)+throw, "s>u>th>g>no"), `{"a":1}`, `u h,{"b":2}`, "p/active y"},
		{"of one in a completed sub-process", process(`<startEvent id="s"/>`+sub("n", `<startEvent id="ns"/>`+undone(task, handler), "ns>u")+throw, "s>n>th>g>no"), `{"a":1}`, `u h,{"b":2}`, "n/completed p/active y"},
		{"of one that ran several times, the last counts", process(`<startEvent id="s"/>`+undone(many, handler)+throw, "s>u>th>g>no"), `{"a":1}`, `u u h,{"b":1} h,{"b":2}`, "p/active u/completed y"},
		{"a handler that runs several times", process(`<startEvent id="s"/>`+undone(task, strings.Replace(many, ` id="u"`, ` id="h" isForCompensation="true"`, 1))+throw, "s>u>th>g>no"), `{"a":1}`, `u h,{"b":1} h,{"b":2}`, "p/active y"},
		{"of a task with inputs, which the handler sees", process(`<startEvent id="s"/>`+undone(`<userTask id="u"><extensionElements><c:inputOutput><c:inputParameter name="x">${a + 1}</c:inputParameter></c:inputOutput></extensionElements></userTask>`,
			`<userTask id="h" isForCompensation="true"><extensionElements><c:inputOutput><c:outputParameter name="b">${x}</c:outputParameter></c:inputOutput></extensionElements></userTask>`)+throw, "s>u>th>g>no"), `{"a":1}`, `u h`, "p/active y"},
		{"and of one in a sub-process with inputs", process(`<startEvent id="s"/>`+sub("n", `<extensionElements><c:inputOutput><c:inputParameter name="x">${a + 1}</c:inputParameter></c:inputOutput></extensionElements><startEvent id="ns"/>`+undone(task,
			`<userTask id="h" isForCompensation="true"><extensionElements><c:inputOutput><c:outputParameter name="b">${x}</c:outputParameter></c:inputOutput></extensionElements></userTask>`), "ns>u")+throw, "s>n>th>g>no"), `{"a":1}`, `u h`, "n/completed p/active y"},
		{"the last activity of an event sub-process", process(`<startEvent id="s"/>`+sub("n", `<startEvent id="ns"/><userTask id="u"/>`+own, "ns>u")+throw, "s>n>th>g>no"), `{"a":1}`, `u h,{"b":2}`, "n/completed p/active y"},
	} {
		s.run(t)
	}
}

// A boundary event of a call has the variables around the call, not those of the called process.
func TestVariablesOfBoundaryEventsOfCalls(t *testing.T) {
	const called = `<process id="q"><userTask id="u"/><userTask id="v"/><sequenceFlow id="u-v" sourceRef="u" targetRef="v"/></process></definitions>`
	const gate = `<exclusiveGateway id="g" default="g-no"/><userTask id="yes"/><userTask id="no"/><sequenceFlow id="y" sourceRef="g" targetRef="yes"><conditionExpression>${a == 1}</conditionExpression></sequenceFlow>`
	const signal, stays = `<signalEventDefinition signalRef="x"/>`, `cancelActivity="false"`
	on := func(attrs, event string) string {
		return strings.Replace(process(`<startEvent id="s"/><parallelGateway id="f"/><userTask id="w"/><callActivity id="n" calledElement="q"/><boundaryEvent id="b" attachedToRef="n" `+attrs+`>`+event+`</boundaryEvent>`+gate,
			"s>f>n f>w b>g>no"), "</definitions>", called, 1)
	}
	within := strings.Replace(process(`<startEvent id="s"/><callActivity id="n" calledElement="q"/><subProcess id="es" triggeredByEvent="true"><startEvent id="b">`+condition("${x == 1}")+`</startEvent></subProcess>`, "s>n"), "</definitions>", called, 1)
	for _, s := range []scenario{
		{"a signal that interrupts", on("", signal), `{"a":1}`, `n:u,{"a":5} b`, "f-w u/start y"},
		{"or does not", on(stays, signal), `{"a":1}`, `n:u,{"a":5} b`, "b/armed f-w n/active n:u-v u/start y"},
		{"has what a branch beside the call wrote", on(stays, signal), `{"a":0}`, `w,{"a":1} b`, "b/armed n/active n:u/start u/start w/end y"},
		{"a condition that held", on(stays, condition("${x == 1}")), `{"a":1,"x":1}`, ``, "b/armed f-w n/active n:u/start u/start y"},
		{"that a branch beside the call makes hold", on("", condition("${x == 1}")), `{"a":1,"x":0}`, `w,{"x":1}`, "u/start w/end y"},
		{"that the called process does not make hold", on("", condition("${x == 1}")), `{"a":1,"x":0}`, `n:u,{"x":1}`, "b/watched f-w n/active n:u-v u/start"},
		{"nor in an event sub-process around the call", within, `{"x":0}`, `n:u,{"x":1}`, "b/armed b/watched n/active n:u-v p/active u/start"},
	} {
		s.run(t)
	}
}
