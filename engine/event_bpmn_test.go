// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/bpmn"
)

// processes returns the nets of BPMN processes that use the message m and the
// signal s. flow(a,b) in the text is a sequence flow, event(m) and event(s) are
// event definitions.
func processes(t *testing.T, text string) []*petri.Net {
	t.Helper()
	for {
		before, rest, ok := strings.Cut(text, "flow(")
		if !ok {
			break
		}
		ends, rest, _ := strings.Cut(rest, ")")
		from, to, _ := strings.Cut(ends, ",")
		text = before + `<sequenceFlow id="` + from + `-` + to + `" sourceRef="` + from + `" targetRef="` + to + `"/>` + rest
	}
	text = strings.NewReplacer("event(m)", `<messageEventDefinition messageRef="m"/>`, "event(n)", `<messageEventDefinition messageRef="n"/>`,
		"event(s)", `<signalEventDefinition signalRef="s"/>`).Replace(text)
	f, err := bpmn.Read(strings.NewReader(`<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"><message id="m" name="ask"/><message id="n" name="answer"/><signal id="s" name="stop"/>`+
		text+`</definitions>`), "f.bpmn", bpmn.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return f.Nets
}

func TestEventsOfProcesses(t *testing.T) {
	for _, c := range []struct {
		rule, text string
		instances  int
		want       []string // by net and instance
	}{
		{"a signal end event whose event sub-process interrupts the process leaves nothing behind the sub-process", `
<process id="p"><startEvent id="start"/>flow(start,sub)
  <subProcess id="sub"><startEvent id="in"/>flow(in,out)<endEvent id="out">event(s)</endEvent></subProcess>
  flow(sub,after)<userTask id="after"/>flow(after,end)<endEvent id="end"/>
  <subProcess id="handler" triggeredByEvent="true"><startEvent id="caught">event(s)</startEvent>flow(caught,handle)<userTask id="handle"/>flow(handle,handled)<endEvent id="handled"/></subProcess>
</process>`, 1, []string{"p/0 caught-handle p/active"}},
		{"the same with a boundary event of the sub-process that throws", `
<process id="p"><startEvent id="start"/>flow(start,sub)
  <subProcess id="sub"><startEvent id="in"/>flow(in,throw)<intermediateThrowEvent id="throw">event(s)</intermediateThrowEvent>flow(throw,inner)<userTask id="inner"/></subProcess>
  flow(sub,after)<userTask id="after"/>
  <boundaryEvent id="caught" attachedToRef="sub">event(s)</boundaryEvent>flow(caught,handle)<userTask id="handle"/>
</process>`, 1, []string{"p/0 caught-handle"}},
		{"a boundary event that does not interrupt leaves the sub-process as it is", `
<process id="p"><startEvent id="start"/>flow(start,sub)
  <subProcess id="sub"><startEvent id="in"/>flow(in,throw)<intermediateThrowEvent id="throw">event(s)</intermediateThrowEvent>flow(throw,inner)<userTask id="inner"/></subProcess>
  flow(sub,after)<userTask id="after"/>
  <boundaryEvent id="caught" attachedToRef="sub" cancelActivity="false">event(s)</boundaryEvent>flow(caught,handle)<userTask id="handle"/>
</process>`, 1, []string{"p/0 caught-handle sub/active caught/armed throw-inner"}},
		{"a process does not catch what it throws before it waits", `
<process id="p"><startEvent id="start"/>flow(start,throw)<intermediateThrowEvent id="throw">event(s)</intermediateThrowEvent>flow(throw,catch)
  <intermediateCatchEvent id="catch">event(s)</intermediateCatchEvent>flow(catch,end)<endEvent id="end"/></process>`, 1, []string{"p/0 throw-catch"}},
		{"a signal begins processes", `
<process id="p"><startEvent id="start"/>flow(start,throw)<endEvent id="throw">event(s)</endEvent></process>
<process id="q"><startEvent id="start2">event(s)</startEvent>flow(start2,work)<userTask id="work"/></process>`, 2,
			[]string{"p/0 throw/end", "p/1 throw/end", "q/0 start2-work", "q/1 start2-work"}},
		{"two pools converse", `
<process id="p"><startEvent id="start"/>flow(start,ask)<sendTask id="ask" messageRef="m"/>flow(ask,hear)<receiveTask id="hear" messageRef="n"/>flow(hear,end)<endEvent id="end"/></process>
<process id="q"><startEvent id="start2">event(m)</startEvent>flow(start2,answer)<intermediateThrowEvent id="answer">event(n)</intermediateThrowEvent>flow(answer,work)<userTask id="work"/></process>`, 3,
			[]string{"p/0 end/end", "p/1 end/end", "p/2 end/end", "q/0 answer-work", "q/1 answer-work", "q/2 answer-work"}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			e := newEngine(t, Config{Source: "s", Nets: eventNets(t, processes(t, c.text)...), Instances: c.instances, Workers: 1, Firings: 100})
			runToEnd(t, e)
			if d := cmp.Diff(c.want, allMarked(e)); d != "" {
				t.Error(d)
			}
		})
	}
}

// The name of a called process, of a job or of a decision may be an expression of FEEL. A
// mistake in it is a fault at its element before anything runs, whether or not the file has
// processes to call.
func TestNamesOfWorkAreCompiled(t *testing.T) {
	const zeebe = `<extensionElements xmlns:z="http://camunda.org/schema/zeebe/1.0">`
	for _, c := range []struct{ text, want string }{
		{`<callActivity id="c">` + zeebe + `<z:calledElement processId="=p."/></extensionElements></callActivity>`, `column 4: found the end`},
		{`<serviceTask id="c">` + zeebe + `<z:taskDefinition type="=x +"/></extensionElements></serviceTask>`, `column 5: found the end`},
		{`<businessRuleTask id="c">` + zeebe + `<z:calledDecision decisionId="= (x" resultVariable="r"/></extensionElements></businessRuleTask>`, `column 5: found the end`},
		{`<callActivity id="c">` + zeebe + `<z:calledElement processId="=p.id"/></extensionElements></callActivity>`, ""},
		{`<serviceTask id="c">` + zeebe + `<z:taskDefinition type="x +"/></extensionElements></serviceTask>`, ""},
	} {
		nets := processes(t, `<process id="p"><startEvent id="s"/>flow(s,c)`+c.text+`flow(c,e)<endEvent id="e"/></process>`)
		_, err := New(Config{Source: "s", Nets: eventNets(t, nets...), Instances: 1, Workers: 1})
		if want := `: the work of transition "c": ` + c.want; c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), "f.bpmn:1:") || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, expected %q", c.text, err, want)
		}
	}
}

// A call by an expression with a mistake has one fault, however many processes it may call.
func TestTheNameOfACallIsOneFault(t *testing.T) {
	nets := processes(t, `<process id="p"><startEvent id="s"/>flow(s,c)<callActivity id="c"><extensionElements><calledElement xmlns="http://camunda.org/schema/zeebe/1.0" processId="=p."/></extensionElements></callActivity></process>
<process id="q"><startEvent id="s2"/></process><process id="r"><startEvent id="s3"/></process>`)
	_, err := New(Config{Source: "s", Nets: eventNets(t, nets...), Instances: 1, Workers: 1})
	if want := `the work of transition "c/call other": column 4: found the end`; err == nil || strings.Count(err.Error(), "f.bpmn:") != 1 || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, expected only %s", err, want)
	}
}
