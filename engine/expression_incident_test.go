// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/telemetry"
)

// incident returns the wait of the first token that waits for an incident of an element, by its
// id; nil if there is none.
func incidentOf(in *telemetry.Instance, element string) *telemetry.InstanceWait {
	for i := range in.Tokens {
		for k := range in.Tokens[i].Waits {
			w := &in.Tokens[i].Waits[k]
			if of, _, _ := strings.Cut(w.Transition, "/"); w.Reason == "incident" && of == element {
				return w
			}
		}
	}
	return nil
}

// waitsFor reports whether a token waits for a transition that can fire.
func waitsFor(in *telemetry.Instance, transition string) bool {
	return slices.ContainsFunc(in.Tokens, func(tok telemetry.InstanceToken) bool {
		return slices.ContainsFunc(tok.Waits, func(w telemetry.InstanceWait) bool { return w.Transition == transition && w.Reason == "manual" })
	})
}

// begin gives the first tokens of the instance of a net data.
func begin(t *testing.T, e *Engine, net string, places []string, data string) {
	t.Helper()
	for _, place := range places {
		if err := e.InjectData(t.Context(), net, 0, place, 1, []byte(data)); err != nil {
			t.Fatal(err)
		}
	}
}

// unmark takes the first tokens of a net away, and returns their places.
func unmark(net *petri.Net) (places []string) {
	for i := range net.Places {
		if p := &net.Places[i]; p.Initial > 0 {
			places, p.Initial = append(places, p.ID), 0
		}
	}
	return places
}

// An expression that cannot be evaluated, or whose value is none of those that its element takes,
// is an incident of the element, with the reason where the tokens of an instance are shown and in
// the log; the instance has failed. Nothing waits without a word, and nothing is passed as if the
// expression were true or false. Once the variables allow it, the instance continues by itself.
func TestAnExpressionThatCannotBeEvaluatedIsAnIncident(t *testing.T) {
	const zeebe = ` xmlns="http://camunda.org/schema/zeebe/1.0"`
	const camunda = ` xmlns="http://camunda.org/schema/1.0/bpmn"`
	to := func(element string) string { return "flow(fork," + element + ")" }
	gateway := func(kind, condition string, otherwise bool) string {
		text, fallback := "", ""
		if otherwise {
			text, fallback = `flow(w,else)<userTask id="else"/>`, ` default="w-else"`
		}
		return to("w") + `<` + kind + ` id="w"` + fallback + `/>` + text +
			`<sequenceFlow id="yes" sourceRef="w" targetRef="after"><conditionExpression>` + condition + `</conditionExpression></sequenceFlow>` +
			`<sequenceFlow id="no" sourceRef="w" targetRef="other"><conditionExpression>v == "other"</conditionExpression></sequenceFlow><userTask id="after"/><userTask id="other"/>`
	}
	catch := func(definition string) string {
		return to("w") + `<intermediateCatchEvent id="w">` + definition + `</intermediateCatchEvent>flow(w,after)<userTask id="after"/>`
	}
	boundary := func(definition string) string {
		return to("u") + `<userTask id="u"/><boundaryEvent id="w" attachedToRef="u">` + definition + `</boundaryEvent>flow(w,after)<userTask id="after"/>`
	}
	event := func(definition string) string {
		return to("u") + `<userTask id="u"/><subProcess id="sub" triggeredByEvent="true"><startEvent id="w" isInterrupting="false">` + definition + `</startEvent>flow(w,after)<userTask id="after"/></subProcess>`
	}
	timer := func(kind, value string) string {
		return `<timerEventDefinition><` + kind + `>` + value + `</` + kind + `></timerEventDefinition>`
	}
	task := func(content string) string {
		return to("w") + `<task id="w">` + content + `</task>flow(w,after)<userTask id="after"/>`
	}
	many := func(content string) string {
		return to("w") + `<userTask id="w"><multiInstanceLoopCharacteristics>` + content + `</multiInstanceLoopCharacteristics></userTask>flow(w,after)<userTask id="after"/>`
	}
	const condition = `<conditionalEventDefinition><condition>= v</condition></conditionalEventDefinition>`
	for _, c := range []struct {
		rule, content, data string
		fire                string // transitions that are fired first
		reason              string
		fixed, goes         string // data with which it continues; the transition that then can fire, or "" for the end of the incident
	}{
		{"a condition with an unknown variable, with a default flow", gateway("exclusiveGateway", "${v == 1}", true), `{}`, "", `unknown variable`, `{"v":1}`, "after"},
		{"a condition with an unknown variable", gateway("exclusiveGateway", "${v == 1}", false), `{}`, "", `unknown variable`, `{"v":1}`, "after"},
		{"a condition that is null, with a default flow", gateway("exclusiveGateway", "= v > 1", true), `{}`, "", `null`, `{"v":2}`, "after"},
		{"a condition that is null", gateway("exclusiveGateway", "= v > 1", false), `{"v":null}`, "", `null`, `{"v":2}`, "after"},
		{"a condition of UEL that is null", gateway("exclusiveGateway", "${v}", true), `{"v":null}`, "", `null`, `{"v":true}`, "after"},
		{"a condition that is a text", gateway("exclusiveGateway", "= v", true), `{"v":"x"}`, "", `true or false`, `{"v":true}`, "after"},
		{"a condition of UEL that is a list", gateway("exclusiveGateway", "${v}", true), `{"v":[1]}`, "", `true or false`, `{"v":true}`, "after"},
		{"no condition holds, and there is no default flow", gateway("exclusiveGateway", "${v == 1}", false), `{"v":2}`, "", `no condition`, `{"v":1}`, "after"},
		{"an inclusive gateway, with a default flow", gateway("inclusiveGateway", "${v == 1}", true), `{}`, "", `unknown variable`, `{"v":1}`, "after"},
		{"an inclusive gateway whose condition is null", gateway("inclusiveGateway", "= v > 1", true), `{}`, "", `null`, `{"v":2}`, "after"},
		{"an inclusive gateway whose condition is a text", gateway("inclusiveGateway", "= v", false), `{"v":"x"}`, "", `true or false`, `{"v":true}`, "after"},
		{"an inclusive gateway of which no condition holds", gateway("inclusiveGateway", "${v == 1}", false), `{"v":2}`, "", `none of its branches`, `{"v":1}`, "after"},
		{"a condition of a flow out of a task", gateway("task", "${v == 1}", true), `{}`, "", `unknown variable`, `{"v":1}`, "after"},
		{"a date of an intermediate event", catch(timer("timeDate", "= v")), `{}`, "", `of a timer`, `{"v":"1999-01-01"}`, "after"},
		{"a duration of an intermediate event", catch(timer("timeDuration", "${v}")), `{}`, "", `unknown variable`, `{"v":"PT1S"}`, "after"},
		{"a cycle of an intermediate event", catch(timer("timeCycle", "= v")), `{"v":"often"}`, "", `of a timer`, `{"v":"R/PT1S"}`, "after"},
		{"a date of a boundary event", boundary(timer("timeDate", "= v")), `{"v":7}`, "", `of a timer`, `{"v":"1999-01-01"}`, "after"},
		{"a duration of a boundary event", boundary(timer("timeDuration", "= v")), `{}`, "", `of a timer`, `{"v":"PT1S"}`, "after"},
		{"a cycle of a boundary event", boundary(timer("timeCycle", "${v}")), `{}`, "", `unknown variable`, `{"v":"R/PT1S"}`, "after"},
		{"a duration of the start of an event sub-process", event(timer("timeDuration", "= v")), `{}`, "", `of a timer`, `{"v":"PT1S"}`, "after"},
		{"a timer after an event gateway", to("g") + `<eventBasedGateway id="g"/>flow(g,w)<intermediateCatchEvent id="w">` + timer("timeDuration", "= v") + `</intermediateCatchEvent>flow(g,x)<intermediateCatchEvent id="x">event(s)</intermediateCatchEvent>flow(w,after)<userTask id="after"/>`,
			`{}`, "", `of a timer`, `{"v":"PT1S"}`, "after"},
		{"an intermediate conditional event", catch(condition), `{"v":"x"}`, "", `true or false`, `{"v":true}`, "after"},
		{"a conditional boundary event", boundary(condition), `{"v":"x"}`, "", `true or false`, `{"v":true}`, "after"},
		{"a conditional start of an event sub-process", event(condition), `{"v":"x"}`, "", `true or false`, `{"v":true}`, "after"},
		{"a loop condition", to("w") + `<task id="w"><standardLoopCharacteristics testBefore="true"><loopCondition>${v}</loopCondition></standardLoopCharacteristics></task>flow(w,after)<userTask id="after"/>`,
			`{}`, "", `unknown variable`, `{"v":false}`, "after"},
		{"a loop condition that is null", to("w") + `<task id="w"><standardLoopCharacteristics testBefore="true"><loopCondition>= v</loopCondition></standardLoopCharacteristics></task>flow(w,after)<userTask id="after"/>`,
			`{}`, "", `null`, `{"v":false}`, "after"},
		{"a number of instances", many(`<loopCardinality>${v}</loopCardinality>`), `{}`, "", `unknown variable`, `{"v":0}`, "after"},
		{"a number of instances that is a text", many(`<loopCardinality>= v</loopCardinality>`), `{"v":"many"}`, "", `many`, `{"v":0}`, "after"},
		{"a number of instances below 0", many(`<loopCardinality>= v</loopCardinality>`), `{"v":-1}`, "", `loopCardinality -1`, `{"v":0}`, "after"},
		{"a number of instances that is null", many(`<loopCardinality>= v</loopCardinality>`), `{}`, "", `null`, `{"v":0}`, "after"},
		{"a list of instances that is missing", many(`<loopDataInputRef>v</loopDataInputRef>`), `{}`, "", `found null; expected a list`, `{"v":[]}`, "after"},
		{"a list of instances that is a number", many(`<extensionElements><loopCharacteristics` + zeebe + ` inputCollection="= v"/></extensionElements>`), `{"v":7}`, "", `found 7; expected a list`, `{"v":[]}`, "after"},
		{"a list of instances that is null", many(`<extensionElements><loopCharacteristics` + zeebe + ` inputCollection="= v"/></extensionElements>`), `{}`, "", `found null; expected a list`, `{"v":[]}`, "after"},
		{"a completion condition", many(`<loopCardinality>2</loopCardinality><completionCondition>${v}</completionCondition>`), `{}`, "w", `unknown variable`, `{"v":true}`, "after"},
		{"a completion condition that is null", many(`<loopCardinality>2</loopCardinality><completionCondition>= v</completionCondition>`), `{}`, "w", `null`, `{"v":true}`, "after"},
		{"a completion condition that is a text", many(`<loopCardinality>2</loopCardinality><completionCondition>= v</completionCondition>`), `{"v":"x"}`, "w", `true or false`, `{"v":true}`, "after"},
		{"an input", task(`<extensionElements><inputOutput` + camunda + `><inputParameter name="x">${v}</inputParameter></inputOutput></extensionElements>`), `{}`, "", `unknown variable`, `{"v":1}`, "after"},
		{"an output", task(`<extensionElements><inputOutput` + camunda + `><outputParameter name="x">${v + 1}</outputParameter></inputOutput></extensionElements>`), `{}`, "", `unknown variable`, `{"v":1}`, "after"},
		{"an input of a call", to("w") + `<callActivity id="w" calledElement="q"><extensionElements><in` + camunda + ` sourceExpression="${v}" target="x"/></extensionElements></callActivity>flow(w,after)<userTask id="after"/>`,
			`{}`, "", `unknown variable`, `{"v":1}`, "after"},
		{"a called element", to("w") + `<callActivity id="w" calledElement="${v}"/>flow(w,after)<userTask id="after"/>`, `{}`, "", `unknown variable`, `{"v":"q"}`, "after"},
		{"a called element that is null", to("w") + `<callActivity id="w"><extensionElements><calledElement` + zeebe + ` processId="= v"/></extensionElements></callActivity>flow(w,after)<userTask id="after"/>`, `{}`, "", `null`, `{"v":"q"}`, "after"},
		{"a called element that is a number", to("w") + `<callActivity id="w"><extensionElements><calledElement` + zeebe + ` processId="= v"/></extensionElements></callActivity>flow(w,after)<userTask id="after"/>`, `{"v":7}`, "", `the called process 7; expected its id`, `{"v":"q"}`, "after"},
		{"a script task", to("w") + `<scriptTask id="w" scriptFormat="juel" resultVariable="r"` + ` xmlns:camunda="http://camunda.org/schema/1.0/bpmn" camunda:resultVariable="r"><script>${v + 1}</script></scriptTask>flow(w,after)<userTask id="after"/>`,
			`{}`, "", `unknown variable`, `{"v":1}`, "after"},
		{"the list of an ad hoc sub-process", to("w") + `<adHocSubProcess id="w"><extensionElements><adHoc` + zeebe + ` activeElementsCollection="= v"/></extensionElements><userTask id="after"/></adHocSubProcess>`, `{}`, "", ``, `{"v":["after"]}`, "after"},
		{"an unknown id in the list of an ad hoc sub-process", to("w") + `<adHocSubProcess id="w"><extensionElements><adHoc` + zeebe + ` activeElementsCollection="= v"/></extensionElements><userTask id="after"/></adHocSubProcess>`, `{"v":["x"]}`, "", `no condition`, `{"v":["after"]}`, "after"},
		{"the completion condition of an ad hoc sub-process", to("w") + `<adHocSubProcess id="w"><completionCondition>= v</completionCondition><userTask id="a"/></adHocSubProcess>flow(w,after)<userTask id="after"/>`, `{}`, "a/begins a", `null`, `{"v":true}`, "after"},
		{"the completion condition of an ad hoc sub-process that is a text", to("w") + `<adHocSubProcess id="w"><completionCondition>= v</completionCondition><userTask id="a"/></adHocSubProcess>flow(w,after)<userTask id="after"/>`, `{"v":"x"}`, "a/begins a", `true or false`, `{"v":true}`, "after"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				nets := processes(t, `<process id="p"><startEvent id="start"/>flow(start,fork)<parallelGateway id="fork"/>flow(fork,fix)<userTask id="fix"/>`+c.content+`</process><process id="q"><startEvent id="qs"/></process>`)
				first := unmark(nets[0])
				e := newEngine(t, Config{Source: "s", Nets: eventNets(t, nets...), Instances: 1, Workers: 1, Log: slog.New(slog.NewTextHandler(&log, nil))})
				defer start(t, e)()
				look := func() *telemetry.Instance {
					in, err := e.Instance(t.Context(), "p", "s/0")
					if err != nil {
						t.Fatal(err)
					}
					return in
				}
				begin(t, e, "p", first, c.data)
				for _, id := range strings.Fields(c.fire) {
					synctest.Wait()
					if err := e.Fire(t.Context(), "p", 0, id); err != nil {
						t.Fatal(err)
					}
				}
				time.Sleep(time.Minute)
				synctest.Wait()
				in := look()
				w := incidentOf(in, "w")
				if w == nil || !strings.Contains(w.What, c.reason) || w.What == "" {
					t.Errorf("incident %+v; expected one with the reason %q in %+v", w, c.reason, in.Tokens)
				}
				if waitsFor(in, "after") || waitsFor(in, "other") || waitsFor(in, "else") {
					t.Errorf("the element was passed: %+v", in.Tokens)
				}
				if got := log.String(); !strings.Contains(got, "instance=s/0 ") || !strings.Contains(strings.ReplaceAll(got, `"`, ""), "transition=w") || !strings.Contains(got, c.reason) {
					t.Errorf("the log has no reason %q with the instance: %s", c.reason, got)
				}
				if err := e.FireData(t.Context(), "p", 0, "fix", []byte(c.fixed)); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Minute)
				synctest.Wait()
				if in = look(); incidentOf(in, "w") != nil || !waitsFor(in, c.goes) {
					t.Errorf("it does not continue with %s: %+v", c.fixed, in.Tokens)
				}
			})
		})
	}
}

