// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
)

// Variables of a process that a request, a message or a repeated activity gives or reads. A
// gateway named choose has the flows yes and no, with the condition of the case; no is the
// default. See BPMN 2.0, 10.4 (data) and 13.3 (loops).
func TestVariablesOfProcesses(t *testing.T) {
	const amount = `{"amount":500}`
	choose := `<exclusiveGateway id="choose" default="no"/>
<sequenceFlow id="yes" sourceRef="choose" targetRef="high"><conditionExpression>CONDITION</conditionExpression></sequenceFlow>
<sequenceFlow id="no" sourceRef="choose" targetRef="low"/><userTask id="high"/><userTask id="low"/>`
	given := func(data string) []byte {
		if data == "" {
			return nil
		}
		return []byte(data)
	}
	fire := func(transition, data string) func(context.Context, *Engine) error {
		return func(ctx context.Context, e *Engine) error { return e.FireData(ctx, "p", 0, transition, given(data)) }
	}
	signal := func(data string) func(context.Context, *Engine) error {
		return func(ctx context.Context, e *Engine) error { _, err := e.Signal(ctx, "stop", given(data)); return err }
	}
	message := func(data string) func(context.Context, *Engine) error {
		return func(ctx context.Context, e *Engine) error {
			_, err := e.Message(ctx, "ask", "", given(data))
			return err
		}
	}
	for _, c := range []struct {
		rule, condition, text string
		steps                 []func(context.Context, *Engine) error
		want                  string // a marked place
	}{
		{"what a user gives leaves the other variables as they are", "=amount > 100 and score = 9",
			`<startEvent id="s"/>flow(s,ask)<userTask id="ask"/>flow(ask,work)<userTask id="work"/>flow(work,choose)`,
			[]func(context.Context, *Engine) error{fire("ask", amount), fire("work", `{"score":9}`)}, "yes"},
		{"and replaces those that it names", "=amount > 100",
			`<startEvent id="s"/>flow(s,ask)<userTask id="ask"/>flow(ask,work)<userTask id="work"/>flow(work,choose)`,
			[]func(context.Context, *Engine) error{fire("ask", amount), fire("work", `{"amount":5}`)}, "no"},
		{"what a message has goes over the variables", "=amount > 100 and sum = 3",
			`<startEvent id="s"/>flow(s,ask)<userTask id="ask"/>flow(ask,m)<intermediateCatchEvent id="m">event(m)</intermediateCatchEvent>flow(m,choose)`,
			[]func(context.Context, *Engine) error{fire("ask", amount), message(`{"sum":3}`)}, "yes"},
		{"a boundary event that does not interrupt has the variables", "=amount > 100",
			`<startEvent id="s"/>flow(s,ask)<userTask id="ask"/>flow(ask,work)<userTask id="work"/>
<boundaryEvent id="b" attachedToRef="work" cancelActivity="false">event(s)</boundaryEvent>flow(b,choose)`,
			[]func(context.Context, *Engine) error{fire("ask", amount), signal("")}, "yes"},
		{"and those of the signal over them, each time", "=amount > 100 and level = 2",
			`<startEvent id="s"/>flow(s,ask)<userTask id="ask"/>flow(ask,work)<userTask id="work"/>
<boundaryEvent id="b" attachedToRef="work" cancelActivity="false">event(s)</boundaryEvent>flow(b,choose)`,
			[]func(context.Context, *Engine) error{fire("ask", amount), signal(`{"level":1}`), fire("low", ""), signal(`{"level":2}`)}, "yes"},
		{"an event sub-process that does not interrupt has the variables", "=amount > 100",
			`<startEvent id="s"/>flow(s,ask)<userTask id="ask"/>flow(ask,work)<userTask id="work"/>
<subProcess id="es" triggeredByEvent="true"><startEvent id="b" isInterrupting="false">event(s)</startEvent>flow(b,choose)CHOOSE</subProcess>`,
			[]func(context.Context, *Engine) error{fire("ask", amount), signal("")}, "yes"},
		{"the second run of a sequential activity has the second element", "=x = 2",
			`<startEvent id="s"/>flow(s,sub)<subProcess id="sub"><extensionElements><ioMapping xmlns="http://camunda.org/schema/zeebe/1.0"><input source="=el" target="x"/></ioMapping></extensionElements>
<multiInstanceLoopCharacteristics isSequential="true"><extensionElements><loopCharacteristics xmlns="http://camunda.org/schema/zeebe/1.0" inputCollection="=[1,2]" inputElement="el"/></extensionElements></multiInstanceLoopCharacteristics>
<startEvent id="i"/>flow(i,choose)CHOOSE</subProcess>`,
			[]func(context.Context, *Engine) error{fire("low", "")}, "yes"},
		{"the second run of a loop has the second counter, which begins at 0", "=x = 1",
			`<startEvent id="s"/>flow(s,sub)<subProcess id="sub"><extensionElements><ioMapping xmlns="http://camunda.org/schema/zeebe/1.0"><input source="=loopCounter" target="x"/></ioMapping></extensionElements>
<standardLoopCharacteristics loopMaximum="2"/><startEvent id="i"/>flow(i,choose)CHOOSE</subProcess>`,
			[]func(context.Context, *Engine) error{fire("low", "")}, "yes"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				gate := strings.ReplaceAll(choose, "CONDITION", strings.ReplaceAll(c.condition, ">", "&gt;"))
				text := strings.Replace(c.text, "CHOOSE", gate, 1)
				if text == c.text {
					text += gate
				}
				e := newEngine(t, Config{Source: "s", Nets: eventNets(t, processes(t, `<process id="p">`+text+`</process>`)...), Instances: 1, Workers: 1})
				defer start(t, e)()
				for k, do := range c.steps {
					synctest.Wait()
					if err := do(t.Context(), e); err != nil {
						t.Fatalf("step %d: %v", k, err)
					}
				}
				synctest.Wait()
				if got := strings.Fields(marked(t, e, "p", 0)); !slices.Contains(got, c.want) {
					t.Errorf("marked are %v, expected %s too", got, c.want)
				}
			})
		})
	}
}

// A message for an event sub-process reaches the instance with its key, as any other.
func TestTheKeyOfAMessageThatStartsAnEventSubProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEngine(t, Config{Source: "s", Instances: 2, Workers: 1, Nets: eventNets(t, processes(t, `<message id="pay" name="pay">
<extensionElements><subscription xmlns="http://camunda.org/schema/zeebe/1.0" correlationKey="=order"/></extensionElements></message>
<process id="p"><startEvent id="s"/>flow(s,ask)<userTask id="ask"/>flow(ask,work)<userTask id="work"/>
<subProcess id="es" triggeredByEvent="true"><startEvent id="b"><messageEventDefinition messageRef="pay"/></startEvent>flow(b,paid)<userTask id="paid"/></subProcess></process>`)...)})
		defer start(t, e)()
		for i, order := range []string{`{"order":7}`, `{"order":8}`} {
			synctest.Wait()
			if err := e.FireData(t.Context(), "p", i, "ask", []byte(order)); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		if _, err := e.Message(t.Context(), "pay", "99", nil); !errors.Is(err, ErrNoCatcher) {
			t.Errorf("the message with a key that no instance has: %v, expected %v", err, ErrNoCatcher)
		}
		if _, err := e.Message(t.Context(), "pay", "8", nil); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if got := []string{marked(t, e, "p", 0), marked(t, e, "p", 1)}; !strings.Contains(got[1], "b-paid") || strings.Contains(got[0], "b-paid") {
			t.Errorf("marked are %q; expected the token of the second instance before paid", got)
		}
	})
}
