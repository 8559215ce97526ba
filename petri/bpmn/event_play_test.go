// SPDX-License-Identifier: Apache-2.0

package bpmn_test

import (
	"strings"
	"testing"
)

func condition(text string) string {
	return `<conditionalEventDefinition><condition>` + text + `</condition></conditionalEventDefinition>`
}

func TestConditionalEvents(t *testing.T) {
	catch := process(`<startEvent id="s"/><intermediateCatchEvent id="c">`+condition("${x == 1}")+`</intermediateCatchEvent><endEvent id="e"/>`, "s>c>e")
	const ends = `<endEvent id="e"/><userTask id="late"/>`
	boundary := func(attrs, text string) string {
		return `<boundaryEvent id="c" attachedToRef="n" ` + attrs + `>` + condition(text) + `</boundaryEvent>`
	}
	onTask := func(attrs, text string) string {
		return process(`<startEvent id="s"/><userTask id="n"/>`+ends+boundary(attrs, text), "s>n>e c>late")
	}
	onSub := func(attrs, text string) string {
		return process(`<startEvent id="s"/>`+ends+boundary(attrs, text)+sub("n", `<startEvent id="ns"/><userTask id="u"/><userTask id="v"/><endEvent id="ne"/>`, "ns>u>v>ne"), "s>n>e c>late")
	}
	inSub := func(attrs, text string) string {
		return process(`<startEvent id="s"/><userTask id="u"/><userTask id="v"/><endEvent id="e"/><subProcess id="w" triggeredByEvent="true"><startEvent id="c" `+attrs+`>`+
			condition(text)+`</startEvent><userTask id="late"/><sequenceFlow id="c-late" sourceRef="c" targetRef="late"/></subProcess>`, "s>u>v>e")
	}
	const stays = `cancelActivity="false"`
	for _, s := range []scenario{
		{"a change of a variable, an extension of Flowable, occurs by its name", process(`<startEvent id="s"/><userTask id="n"/>`+ends+`<boundaryEvent id="c" attachedToRef="n"><extensionElements>`+
			`<x:variableListenerEventDefinition xmlns:x="http://flowable.org/bpmn" variableName="v"/></extensionElements></boundaryEvent>`, "s>n>e c>late"), `{}`, "c", "c-late"},
		{"an intermediate event whose condition holds already occurs at once", catch, `{"x": 1}`, "", "e/end"},
		{"another one waits", catch, `{"x": 2}`, "", "s-c"},
		{"until a branch beside it makes its condition hold", process(`<startEvent id="s"/><parallelGateway id="f"/><userTask id="a"/><intermediateCatchEvent id="c">`+condition("${x == 1}")+
			`</intermediateCatchEvent><userTask id="late"/><endEvent id="e"/>`, "s>f>a>e f>c>late"), `{"x": 2}`, `a,{"x":1}`, "c-late e/end"},
		{"a variable that does not exist does not fulfil a condition", catch, `{}`, "+1h", "s-c"},
		{"it occurs when a call says so", catch, `{}`, "c", "e/end"},
		{"so does a condition of FEEL", process(`<startEvent id="s"/><intermediateCatchEvent id="c">`+condition("= x = 1")+`</intermediateCatchEvent><endEvent id="e"/>`, "s>c>e"), `{"x": 1}`, "", "e/end"},
		{"at an event gateway, it goes before what waits", process(`<startEvent id="s"/><eventBasedGateway id="g"/><intermediateCatchEvent id="c">`+condition("${x == 1}")+
			`</intermediateCatchEvent><intermediateCatchEvent id="t"><timerEventDefinition><timeDuration>PT1H</timeDuration></timerEventDefinition></intermediateCatchEvent><endEvent id="e"/><endEvent id="f"/>`,
			"s>g>c>e g>t>f"), `{"x": 1}`, "", "e/end"},
		{"a boundary event interrupts its task at once", onTask("", "${x == 1}"), `{"x": 1}`, "", "c-late"},
		{"or not, and then it occurs once", onTask(stays, "${x == 1}"), `{"x": 1}`, "", "c-late c/armed n/active"},
		{"by a call it can occur again", onTask(stays, "${x == 1}"), `{"x": 1}`, "c", "c-late×2 c/armed n/active"},
		{"its task ends without it", onTask(stays, "${x == 1}"), `{"x": 0}`, "n", "e/end"},
		{"one of a sub-process occurs when a node inside makes the condition hold", onSub("", "${x == 1}"), `{"x": 0}`, `u,{"x":1}`, "c-late"},
		{"or not", onSub("", "${x == 1}"), `{"x": 0}`, `u,{"x":2}`, "c/watched n/active u-v"},
		{"also by the last one inside", onSub("", "${x == 1}"), `{"x": 0}`, `u v,{"x":1}`, "c-late"},
		{"or one beside the sub-process", process(`<startEvent id="s"/><parallelGateway id="f"/><userTask id="a"/><userTask id="late"/><endEvent id="e"/>`+boundary("", "${x == 1}")+
			sub("n", `<startEvent id="ns"/><userTask id="u"/>`, "ns>u"), "s>f>a>e f>n c>late"), `{}`, `a,{"x":1}`, "c-late e/end"},
		{"a variable of a run inside does not count", process(`<startEvent id="s"/>`+ends+boundary("", "${x == 1}")+sub("n", `<startEvent id="ns"/>`+
			sub("m", `<extensionElements><c:inputOutput><c:inputParameter name="x">${1}</c:inputParameter></c:inputOutput></extensionElements><startEvent id="ms"/><userTask id="u"/><userTask id="v"/>`, "ms>u>v"), "ns>m"), "s>n>e c>late"),
			`{"x": 0}`, "u", "c/watched m/active n/active u-v"},
		{"without an interruption the sub-process continues", onSub(stays, "${x == 1}"), `{"x": 0}`, `u,{"x":1} v`, "c-late e/end"},
		{"a start interrupts the process at once", inSub("", "${x == 1}"), `{"x": 1}`, "", "c-late p/active"},
		{"or when a node makes the condition hold", inSub("", "${x == 1}"), `{}`, `u,{"x":1}`, "c-late p/active"},
		{"one that does not interrupt occurs once", inSub(`isInterrupting="false"`, "${x == 1}"), `{}`, `u,{"x":1} v,{"x":1}`, "c-late c/armed e/end p/active"},
		{"its token has the data with which the condition holds", process(`<startEvent id="s"/><userTask id="u"/><userTask id="v"/><endEvent id="e"/>`+
			strings.Replace(sub("w", `<startEvent id="c">`+condition("${x == 1}")+`</startEvent><exclusiveGateway id="g" default="g-no"/><userTask id="no"/><userTask id="yes"/>`+
				`<sequenceFlow id="g-yes" sourceRef="g" targetRef="yes"><conditionExpression>${x == 1}</conditionExpression></sequenceFlow>`, "c>g>no"), ">", ` triggeredByEvent="true">`, 1), "s>u>v>e"), `{"x": 0}`, `u,{"x":1}`, "g-yes p/active"},
	} {
		s.run(t)
	}
}

func TestTimersByExpression(t *testing.T) {
	at := func(kind, text string) string {
		return `<timerEventDefinition><` + kind + `>` + text + `</` + kind + `></timerEventDefinition>`
	}
	catch := func(kind, text string) string {
		return process(`<startEvent id="s"/><intermediateCatchEvent id="c">`+at(kind, text)+`</intermediateCatchEvent><endEvent id="e"/>`, "s>c>e")
	}
	boundary := func(kind, text string) string {
		return process(`<startEvent id="s"/><userTask id="n"/><endEvent id="e"/><userTask id="late"/><boundaryEvent id="c" attachedToRef="n" cancelActivity="false">`+
			at(kind, text)+`</boundaryEvent>`, "s>n>e c>late")
	}
	event := `<intermediateCatchEvent id="c">` + at("timeDuration", "${d}") + `</intermediateCatchEvent>`
	attached := `<userTask id="n"/><boundaryEvent id="c" attachedToRef="n" cancelActivity="false">` + at("timeDuration", "${d}") + `</boundaryEvent>`
	repeated := strings.ReplaceAll(attached, "timeDuration", "timeCycle")
	twice := process(`<startEvent id="s"/><parallelGateway id="f"/><userTask id="a"/><userTask id="b"/><exclusiveGateway id="m"/><endEvent id="e"/>`+event, "s>f>a>m f>b>m m>c c>e")
	beside := func(content, flows string) string { // a task that can change variables while a timer waits
		return process(`<startEvent id="s"/><parallelGateway id="f"/><userTask id="a"/><endEvent id="e"/><endEvent id="late"/>`+content, flows)
	}
	const hour, waits, over = `{"d": "PT1H"}`, "c/active", "e/end"
	for _, s := range []scenario{
		{"a duration counts from when the token arrives", catch("timeDuration", "${d}"), hour, "+59m", waits},
		{"and is over", catch("timeDuration", "${d}"), hour, "+60m", over},
		{"of FEEL", catch("timeDuration", "= d"), hour, "+60m", over},
		{"computed by FEEL", catch("timeDuration", `= duration("PT30M") * n`), `{"n": 2}`, "+59m", waits},
		{"and over", catch("timeDuration", `= duration("PT30M") * n`), `{"n": 2}`, "+60m", over},
		{"a text with an expression in it", catch("timeDuration", "PT${n}H"), `{"n": 2}`, "+119m", waits},
		{"and over then", catch("timeDuration", "PT${n}H"), `{"n": 2}`, "+120m", over},
		{"a date", catch("timeDate", "#{d}"), `{"d": "2000-01-01T02:00:00Z"}`, "+119m", waits},
		{"that comes", catch("timeDate", "#{d}"), `{"d": "2000-01-01T02:00:00Z"}`, "+120m", over},
		{"a date that is over is due at once", catch("timeDate", "#{d}"), `{"d": "1999-01-01"}`, "", over},
		{"a month, whose length the calendar says", catch("timeDuration", "P1M"), `{}`, "+743h", waits},
		{"of 31 days", catch("timeDuration", "P1M"), `{}`, "+744h", over},
		{"each token has its own time", twice, `{}`, `a,{"d":"PT9H"} b,{"d":"PT1H"} +2h`, "c/active e/end"},
		{"from its own arrival", twice, `{}`, `a,{"d":"PT1H"} +30m b +45m`, "c/active e/end"},
		{"a later change of a variable does not bring it forward", beside(event, "s>f>a>e f>c>late"), `{"d": "PT9H"}`, `a,{"d":"PT1H"} +8h`, "c/active e/end"},
		{"or delay it", beside(event, "s>f>a>e f>c>late"), `{"d": "PT1H"}`, `a,{"d":"PT9H"} +1h`, "e/end late/end"},
		{"or make an incident of it", beside(event, "s>f>a>e f>c>late"), `{"d": "PT1H"}`, `a,{"d":"soon"} +1h`, "e/end late/end"},
		{"nor at an event gateway", beside(event+`<eventBasedGateway id="g"/><receiveTask id="r"/>`, "s>f>a>e f>g>c>late g>r>e"), `{"d": "PT1H"}`, `a,{"d":"PT9H"} +1h`, "e/end late/end"},
		{"nor at a boundary event", beside(attached, "s>f>a>e f>n>e c>late"), `{"d": "PT1H"}`, `a,{"d":"PT9H"} +1h`, "e/end late/end n/active"},
		{"whose next time has the present variables", beside(repeated, "s>f>a>e f>n>e c>late"), `{"d": "R/PT1H"}`, `a,{"d":"R/PT9H"} +10h`, "c/armed e/end late/end×2 n/active"},
		{"what is no time when the token arrives waits for the first change that is one", beside(event, "s>f>a>e f>c>late"), `{"d": "soon"}`, `a,{"d":"PT1H"} +9h`, "e/end late/end"},
		{"and stays an incident until then", beside(event, "s>f>a>e f>c>late"), `{"d": "soon"}`, `a,{"d":"late"} +9h`, "c/active e/end"},
		{"what is not a time is an incident", catch("timeDuration", "${d}"), `{"d": "soon"}`, "+9h", waits},
		{"which a call resolves", catch("timeDuration", "${d}"), `{"d": 7}`, "c", over},
		{"a variable that does not exist is no time", catch("timeDuration", "${d}"), `{}`, "+9h", waits},
		{"a duration of a boundary event that does not interrupt occurs once", boundary("timeDuration", "${d}"), hour, "+9h", "c-late n/active"},
		{"a cycle again and again", boundary("timeCycle", "${d}"), `{"d": "R/PT1H"}`, "+3h", "c-late×3 c/armed n/active"},
		{"but it cannot count", boundary("timeCycle", "${d}"), `{"d": "R2/PT1H"}`, "+9h", "c/armed n/active"},
	} {
		s.run(t)
	}
}
