// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pnagent/pnagent/engine/action"
	"github.com/pnagent/pnagent/engine/coloured"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
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
	located := regexp.MustCompile(`^f\.bpmn:1:\d+: .`)
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
		{"a number of instances below 0", many(`<loopCardinality>= v</loopCardinality>`), `{"v":-1}`, "", `found -1; expected a whole number from 0 to 10000`, `{"v":0}`, "after"},
		{"a number of instances that is null", many(`<loopCardinality>= v</loopCardinality>`), `{}`, "", `null`, `{"v":0}`, "after"},
		{"a list of instances that is missing", many(`<loopDataInputRef>v</loopDataInputRef>`), `{}`, "", `found null; expected a list`, `{"v":[]}`, "after"},
		{"a list of instances that is a number", many(`<extensionElements><loopCharacteristics` + zeebe + ` inputCollection="= v"/></extensionElements>`), `{"v":7}`, "", `found 7; expected a list`, `{"v":[]}`, "after"},
		{"a list of instances that is null", many(`<extensionElements><loopCharacteristics` + zeebe + ` inputCollection="= v"/></extensionElements>`), `{}`, "", `found null; expected a list`, `{"v":[]}`, "after"},
		{"a completion condition", many(`<loopCardinality>2</loopCardinality><completionCondition>${v}</completionCondition>`), `{}`, "w", `unknown variable`, `{"v":true}`, "after"},
		{"a completion condition that is null", many(`<loopCardinality>2</loopCardinality><completionCondition>= v</completionCondition>`), `{}`, "w", `null`, `{"v":true}`, "after"},
		{"a completion condition that is a text", many(`<loopCardinality>2</loopCardinality><completionCondition>= v</completionCondition>`), `{"v":"x"}`, "w", `true or false`, `{"v":true}`, "after"},
		{"an input", task(`<extensionElements><inputOutput` + camunda + `><inputParameter name="x">${v}</inputParameter></inputOutput></extensionElements>`), `{}`, "", `f.bpmn:1:515: input parameter "x" of task "w": unknown variable`, `{"v":1}`, "after"},
		{"an output", task(`<extensionElements><inputOutput` + camunda + `><outputParameter name="x">${v + 1}</outputParameter></inputOutput></extensionElements>`), `{}`, "", `f.bpmn:1:515: output parameter "x" of task "w": unknown variable`, `{"v":1}`, "after"},
		{"an input of a call", to("w") + `<callActivity id="w" calledElement="q"><extensionElements><in` + camunda + ` sourceExpression="${v}" target="x"/></extensionElements></callActivity>flow(w,after)<userTask id="after"/>`,
			`{}`, "", `unknown variable`, `{"v":1}`, "after"},
		{"a called element", to("w") + `<callActivity id="w" calledElement="${v}"/>flow(w,after)<userTask id="after"/>`, `{}`, "", `unknown variable`, `{"v":"q"}`, "after"},
		{"a called element that is null", to("w") + `<callActivity id="w"><extensionElements><calledElement` + zeebe + ` processId="= v"/></extensionElements></callActivity>flow(w,after)<userTask id="after"/>`, `{}`, "", `null`, `{"v":"q"}`, "after"},
		{"a called element that is a number", to("w") + `<callActivity id="w"><extensionElements><calledElement` + zeebe + ` processId="= v"/></extensionElements></callActivity>flow(w,after)<userTask id="after"/>`, `{"v":7}`, "", `called process of call activity "w": found 7; expected a text`, `{"v":"q"}`, "after"},
		{"the decision of a business rule task", to("w") + `<businessRuleTask id="w"><extensionElements><calledDecision` + zeebe + ` decisionId="= v" resultVariable="r"/></extensionElements></businessRuleTask>flow(w,after)<userTask id="after"/>`, `{}`, "", `found null; expected a text`, `{"v":"rate"}`, "after"},
		{"the decision of a business rule task that is a number", to("w") + `<businessRuleTask id="w"><extensionElements><calledDecision` + zeebe + ` decisionId="= v" resultVariable="r"/></extensionElements></businessRuleTask>flow(w,after)<userTask id="after"/>`, `{"v":7}`, "", `found 7; expected a text`, `{"v":"rate"}`, "after"},
		{"the job of a service task", to("w") + `<serviceTask id="w"><extensionElements><taskDefinition` + zeebe + ` type="= v"/></extensionElements></serviceTask>flow(w,after)<userTask id="after"/>`, `{}`, "", `found null; expected a text`, `{"v":"ship"}`, "after"},
		{"a called element of no process of the file", to("w") + `<callActivity id="w"><extensionElements><calledElement` + zeebe + ` processId="= v"/></extensionElements></callActivity>flow(w,after)<userTask id="after"/>`, `{"v":true}`, "", `called process of call activity "w": found true; expected a text`, `{"v":"unknown"}`, "after"},
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
				if w == nil || !strings.Contains(w.What, c.reason) || !located.MatchString(w.What) {
					t.Errorf("incident %+v; expected one with the reason %q and its position in %+v", w, c.reason, in.Tokens)
				}
				if waitsFor(in, "after") || waitsFor(in, "other") || waitsFor(in, "else") {
					t.Errorf("the element was passed: %+v", in.Tokens)
				}
				if got := log.String(); !strings.Contains(got, "instance=s/0 ") || !strings.Contains(strings.ReplaceAll(got, `"`, ""), "transition=w") || !strings.Contains(strings.ReplaceAll(got, `\"`, `"`), c.reason) {
					t.Errorf("the log has no reason %q with the instance: %s", c.reason, got)
				}
				if err := e.FireData(t.Context(), "p", 0, "fix", []byte(c.fixed)); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Minute)
				synctest.Wait()
				in = look()
				if incidentOf(in, "w") != nil || !waitsFor(in, c.goes) {
					t.Errorf("it does not continue with %s: %+v", c.fixed, in.Tokens)
				}
			})
		})
	}
}

// A call resumes what an expression has stopped, with the data that it lacks.
func TestARetryGivesAnExpressionItsData(t *testing.T) {
	for _, c := range []struct{ rule, content, transition, data string }{
		{"a condition of a flow", `<exclusiveGateway id="w"/><sequenceFlow id="yes" sourceRef="w" targetRef="after"><conditionExpression>${v == 1}</conditionExpression></sequenceFlow><sequenceFlow id="no" sourceRef="w" targetRef="other"><conditionExpression>${v == 2}</conditionExpression></sequenceFlow><userTask id="after"/><userTask id="other"/>`, "w/yes", `{"v":1}`},
		{"a condition of an inclusive gateway", `<inclusiveGateway id="w"/><sequenceFlow id="yes" sourceRef="w" targetRef="after"><conditionExpression>${v == 1}</conditionExpression></sequenceFlow><userTask id="after"/>`, "w", `{"v":1}`},
		{"a list of instances", `<userTask id="w"><multiInstanceLoopCharacteristics><loopDataInputRef>v</loopDataInputRef></multiInstanceLoopCharacteristics></userTask>flow(w,after)<userTask id="after"/>`, "w/begin", `{"v":[]}`},
		{"the name of a message", `<intermediateThrowEvent id="w"><messageEventDefinition messageRef="o"/></intermediateThrowEvent>flow(w,after)<userTask id="after"/>`, "w", `{"v":1}`},
		{"a timer", `<intermediateCatchEvent id="w"><timerEventDefinition><timeDuration>${v}</timeDuration></timerEventDefinition></intermediateCatchEvent>flow(w,after)<userTask id="after"/>`, "w", ``},
	} {
		t.Run(c.rule, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				nets := processes(t, `<message id="o" name="o-${v}"/><process id="p"><startEvent id="start"/>flow(start,w)`+c.content+`</process>`)
				first := unmark(nets[0])
				e := newEngine(t, Config{Source: "s", Nets: eventNets(t, nets...), Instances: 1, Workers: 1})
				defer start(t, e)()
				begin(t, e, "p", first, `{}`)
				synctest.Wait()
				rows := rowsOf(t, e, 0)
				if rows.Net.Failed != 1 {
					t.Errorf("%d instances have failed; expected the one", rows.Net.Failed)
				}
				if c.data != "" {
					if err := e.Fire(t.Context(), "p", 0, c.transition); err == nil {
						t.Error("it continues without the data")
					}
				}
				if err := e.FireData(t.Context(), "p", 0, c.transition, []byte(c.data)); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				in, err := e.Instance(t.Context(), "p", "s/0")
				if err != nil || incidentOf(in, "w") != nil || !waitsFor(in, "after") {
					t.Errorf("it does not continue: %+v, %v", in, err)
				}
			})
		})
	}
}

// Why an action failed is where the tokens of an instance are shown, while it waits for the next
// attempt and when it is an incident: bounded, and without paths of the disk. Snapshots, which go
// to more readers, do not have it.
func TestTheReasonOfAFailedActionIsInAnswers(t *testing.T) {
	for _, c := range []struct {
		rule   string
		act    action.Func
		retry  Retry
		reason string // of the wait
		want   string
	}{
		{"it waits for the next attempt", failsWith(errors.New("no route")), Retry{}, "delayed", "no route"},
		{"an incident", failsWith(errors.New("no route")), Retry{Attempts: 1}, "incident", "no route"},
		{"a path", failsWith(&fs.PathError{Op: "open", Path: "/etc/pay/card.key", Err: fs.ErrNotExist}), Retry{Attempts: 1}, "incident", "open card.key: file does not exist"},
		{"a panic", func(context.Context, *action.Run) (coloured.Outcome, error) { panic("no route") }, Retry{Attempts: 1}, "incident", "panic: no route"},
		{"a long one", failsWith(errors.New(strings.Repeat("x", 1000))), Retry{Attempts: 1}, "incident", strings.Repeat("x", stats.MaxWhat-3) + "…"},
		{"what the action reports", func(context.Context, *action.Run) (coloured.Outcome, error) {
			return coloured.Outcome{Kind: coloured.Failed, Err: "card refused"}, nil
		}, Retry{Attempts: 1}, "incident", "card refused"},
		{"no answer in time", func(ctx context.Context, _ *action.Run) (coloured.Outcome, error) {
			<-ctx.Done()
			return coloured.Outcome{}, ctx.Err()
		}, Retry{Attempts: 1}, "incident", "no answer within 5s"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				nets := eventNets(t, processes(t, `<process id="p"><startEvent id="start"/>flow(start,w)<serviceTask id="w"/>flow(w,after)<userTask id="after"/></process>`)...)
				w := declaredAt(t, nets, "w")
				w.Action, w.Retry, w.Timeout = c.act, c.retry, 5*time.Second
				e := newEngine(t, Config{Source: "s", Nets: nets, Instances: 1, Workers: 1, Log: slog.New(slog.NewTextHandler(&log, nil))})
				defer start(t, e)()
				time.Sleep(6 * time.Second)
				synctest.Wait()
				in, err := e.Instance(t.Context(), "p", "s/0")
				if err != nil || len(in.Tokens) != 1 || len(in.Tokens[0].Waits) != 1 {
					t.Fatalf("%+v, %v; expected one token that waits", in, err)
				}
				if w := in.Tokens[0].Waits[0]; w.Reason != c.reason || w.What != c.want || w.Transition != "w" {
					t.Errorf("%+v; expected %s with %q", w, c.reason, c.want)
				}
				if got := log.String(); !strings.Contains(got, "transition=w instance=s/0 ") && c.rule != "no answer in time" {
					t.Errorf("the log has no instance: %s", got)
				}
				rows := rowsOf(t, e, 0)
				for i := range rows.Places {
					for _, stuck := range rows.Places[i].Stuck {
						for _, w := range stuck.Waits {
							if w.What != "" {
								t.Errorf("a snapshot has %q", w.What)
							}
						}
					}
				}
			})
		})
	}
}

// declaredAt makes the transitions of the first net explicit, and returns one by its id.
func declaredAt(t *testing.T, nets []NetConfig, id string) *Transition {
	t.Helper()
	var err error
	if nets[0].Transitions, err = Declared(nets[0].Tables); err != nil {
		t.Fatal(err)
	}
	return &nets[0].Transitions[nets[0].at(id)]
}

func failsWith(err error) action.Func {
	return func(context.Context, *action.Run) (coloured.Outcome, error) { return coloured.Outcome{}, err }
}

// What cannot be evaluated after an action has ended is an incident, too: the action is not
// performed again by itself, because it may have had its effect.
func TestAnActionIsNotRepeatedForAnExpression(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		performed := 0
		nets := eventNets(t, processes(t, `<process id="p"><startEvent id="start"/>flow(start,w)<sendTask id="w" messageRef="o"/>flow(w,after)<userTask id="after"/></process><message id="o" name="o-${v}"/>`)...)
		declaredAt(t, nets, "w").Action = func(context.Context, *action.Run) (coloured.Outcome, error) {
			performed++
			return coloured.Outcome{Data: []byte(fmt.Sprintf(`{"try":%d%s}`, performed, strings.Repeat(`,"v":1`, performed-1)))}, nil
		}
		e := newEngine(t, Config{Source: "s", Nets: nets, Instances: 1, Workers: 1})
		defer start(t, e)()
		time.Sleep(time.Hour)
		synctest.Wait()
		in, err := e.Instance(t.Context(), "p", "s/0")
		if err != nil {
			t.Fatal(err)
		}
		if w := incidentOf(in, "w"); w == nil || !strings.Contains(w.What, `the name of its event: unknown variable "v"`) || performed != 1 {
			t.Errorf("incident %+v after %d runs; expected one after the first", w, performed)
		}
		if err := e.Fire(t.Context(), "p", 0, "w"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		in, err = e.Instance(t.Context(), "p", "s/0")
		if err != nil || !waitsFor(in, "after") || performed != 2 {
			t.Errorf("after the retry: %+v, %v, %d runs", in, err, performed)
		}
	})
}

// What a call returns with an escalation is evaluated after the work that throws it: if it cannot be, the
// work is not done again.
func TestWorkThatThrowsIsNotRepeatedForWhatACallReturns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		performed := 0
		nets := eventNets(t, processes(t, `<process id="p"><startEvent id="start"/>flow(start,n)<callActivity id="n" calledElement="q"><extensionElements>`+
			`<out xmlns="http://camunda.org/schema/1.0/bpmn" sourceExpression="${v}" target="r"/></extensionElements></callActivity>`+
			`<boundaryEvent id="b" attachedToRef="n"><escalationEventDefinition/></boundaryEvent>flow(b,after)<userTask id="after"/></process>`+
			`<process id="q"><startEvent id="qs"/>flow(qs,w)<endEvent id="w"><escalationEventDefinition/></endEvent></process>`)...)
		declaredAt(t, nets, "n:w").Action = func(context.Context, *action.Run) (coloured.Outcome, error) {
			performed++
			return coloured.Outcome{}, nil
		}
		e := newEngine(t, Config{Source: "s", Nets: nets, Instances: 1, Workers: 1})
		defer start(t, e)()
		look := func() *telemetry.Instance {
			synctest.Wait()
			in, err := e.Instance(t.Context(), "p", "s/0")
			if err != nil {
				t.Fatal(err)
			}
			return in
		}
		time.Sleep(time.Hour)
		if w := incidentOf(look(), "n:w"); w == nil || w.Transition != "n:w/returns" || !strings.Contains(w.What, `unknown variable "v"`) || performed != 1 {
			t.Errorf("incident %+v after %d runs; expected one after the first", w, performed)
		}
		if err := e.FireData(t.Context(), "p", 0, "n:w/returns", []byte(`{"v":1}`)); err != nil {
			t.Fatal(err)
		}
		if in := look(); !waitsFor(in, "after") || performed != 1 {
			t.Errorf("after the retry: %+v, %d runs", in, performed)
		}
	})
}
