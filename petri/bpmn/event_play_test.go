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
		{"an intermediate event whose condition holds already occurs at once", catch, `{"x": 1}`, "", "e/end"},
		{"another one waits", catch, `{"x": 2}`, "", "s-c"},
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
		{"or not", onSub("", "${x == 1}"), `{"x": 0}`, `u,{"x":2}`, "c/watched n/active n/vars u-v"},
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
