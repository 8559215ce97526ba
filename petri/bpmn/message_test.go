// SPDX-License-Identifier: Apache-2.0

package bpmn

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/petri"
)

// pools returns a process of one node that sends, one of one node that receives, and
// a message flow between them.
func pools(sends, receives, flow string) string {
	return `<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:z="http://camunda.org/schema/zeebe/1.0" xmlns:c="http://camunda.org/schema/1.0/bpmn">
<message id="ma" name="a"/><message id="mb" name="b"/><signal id="sa" name="a"/>
<message id="mk" name="k"><extensionElements><z:subscription correlationKey="= order.id"/></extensionElements></message>
<process id="p">` + sends + `</process><process id="q">` + receives + `</process>
<collaboration>` + flow + `</collaboration></definitions>`
}

func TestNamesThatAreExpressionsAreKept(t *testing.T) {
	for _, name := range []string{"${a}", "x-#{a}", "= a"} {
		xml := pools(`<sendTask id="s" messageRef="m"/>`, `<endEvent id="e"><signalEventDefinition signalRef="g"/></endEvent>`, "")
		f := read(t, strings.Replace(xml, `<process`, `<message id="m" name="`+name+`"/><signal id="g" name="`+name+`"/><process`, 1))
		for i, id := range []string{"s", "e"} {
			if got := transition(t, f.Nets[i], id).Throws; got.Name != name || !got.Computed() {
				t.Errorf("%s throws %+v, want %s", id, got, name)
			}
		}
	}
}

func TestWhatNodesThrowAndCatch(t *testing.T) {
	const flow = `<messageFlow id="f" sourceRef="s" targetRef="r"/>`
	message := func(name, key string) petri.Event {
		return petri.Event{Kind: petri.EventMessage, Name: name, Key: key}
	}
	signal := petri.Event{Kind: petri.EventSignal, Name: "a"}
	tests := []struct {
		rule, sends, receives, flow string
		throws, catches             petri.Event
		warning                     string
	}{
		{"a throwing event sends its message, a catching one waits for it",
			`<endEvent id="s"><messageEventDefinition messageRef="ma"/></endEvent>`, `<startEvent id="r"><messageEventDefinition messageRef="ma"/></startEvent>`, "",
			message("a", ""), message("a", ""), ""},
		{"so do tasks", `<sendTask id="s" messageRef="ma"/>`, `<receiveTask id="r" messageRef="ma"/>`, "", message("a", ""), message("a", ""), ""},
		{"a signal is another event than the message of that name",
			`<endEvent id="s"><signalEventDefinition signalRef="sa"/></endEvent>`, `<intermediateCatchEvent id="r"><signalEventDefinition signalRef="sa"/></intermediateCatchEvent>`, "",
			signal, signal, ""},
		{"a message has the key of Zeebe's subscription", `<sendTask id="s" messageRef="mk"/>`, `<receiveTask id="r" messageRef="mk"/>`, "",
			message("k", "= order.id"), message("k", "= order.id"), ""},
		{"a start event has none", `<sendTask id="s" messageRef="mk"/>`, `<startEvent id="r"><messageEventDefinition messageRef="mk"/></startEvent>`, "",
			message("k", "= order.id"), message("k", ""), ""},
		{"work that an engine names sends the message", `<sendTask id="s" messageRef="ma" c:topic="mail"/>`, `<receiveTask id="r"/>`, "",
			petri.Event{}, petri.Event{}, ""},
		{"a message flow gives its ends a message", `<task id="s"/>`, `<receiveTask id="r"/>`, flow, message("f", ""), message("f", ""), ""},
		{"that of one end", `<endEvent id="s"><messageEventDefinition/></endEvent>`, `<receiveTask id="r" messageRef="mk"/>`, flow,
			message("k", "= order.id"), message("k", "= order.id"), ""},
		{"or of the other one", `<sendTask id="s" messageRef="ma"/>`, `<receiveTask id="r"/>`, flow, message("a", ""), message("a", ""), ""},
		{"or of the flow", `<sendTask id="s"/>`, `<receiveTask id="r"/>`, `<messageFlow id="f" messageRef="mb" sourceRef="s" targetRef="r"/>`, message("b", ""), message("b", ""), ""},
		{"two messages stay what they are", `<sendTask id="s" messageRef="ma"/>`, `<receiveTask id="r" messageRef="mb"/>`, flow, message("a", ""), message("b", ""),
			`f:5:16: message flow "f" leads from send task "s", which sends "a", to receive task "r", which waits for "b"; it carries nothing`},
		{"a flow to a pool carries nothing", `<sendTask id="s"/>`, `<receiveTask id="r"/>`, `<messageFlow id="f" sourceRef="s" targetRef="q"/>`, petri.Event{}, petri.Event{}, ""},
	}
	for _, tt := range tests {
		f := read(t, pools(tt.sends, tt.receives, tt.flow))
		if got := transition(t, f.Nets[0], "s").Throws; got != tt.throws {
			t.Errorf("%s: throws %+v, want %+v", tt.rule, got, tt.throws)
		}
		if got := transition(t, f.Nets[1], "r").Trigger.Event; got != tt.catches {
			t.Errorf("%s: catches %+v, want %+v", tt.rule, got, tt.catches)
		}
		var want []string
		if tt.warning != "" {
			want = []string{tt.warning}
		}
		if diff := cmp.Diff(want, warningsOf(f)); diff != "" {
			t.Errorf("%s: warnings -want +got\n%s", tt.rule, diff)
		}
	}
}
