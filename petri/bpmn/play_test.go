// SPDX-License-Identifier: Apache-2.0

package bpmn_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pnagent/pnagent/engine"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/bpmn"
)

// player plays the processes of a file with the engine.
type player struct {
	*engine.Engine
	nets []string
}

// played begins an instance of the first process with data, fires transitions by id, each
// with data after a comma, lets time pass ("+10s"), or sends a message ("message:NAME:KEY"), and returns the places with tokens.
func played(t *testing.T, xml, data string, steps ...string) (marking string) {
	t.Helper()
	return playedWith(t, nil, xml, data, steps...)
}

// playedWith is played with decisions that the process can call.
func playedWith(t *testing.T, decisions []*petri.Decision, xml, data string, steps ...string) (marking string) {
	t.Helper()
	files, err := bpmn.ReadWith([]bpmn.Source{{Name: "f", Reader: strings.NewReader(xml)}}, decisions, bpmn.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	f := files[0]
	n := f.Nets[0]
	var begins []string // the engine puts first tokens without data
	for i := range n.Places {
		for ; n.Places[i].Initial > 0; n.Places[i].Initial-- {
			begins = append(begins, n.Places[i].ID)
		}
	}
	var nets []engine.NetConfig
	var ids []string
	for _, n := range f.Nets {
		tables, err := petri.Compile(n)
		if err != nil {
			t.Fatal(err)
		}
		transitions, err := engine.Declared(tables)
		if err != nil {
			t.Fatal(err)
		}
		nets, ids = append(nets, engine.NetConfig{Tables: tables, Transitions: transitions}), append(ids, n.ID)
	}
	synctest.Test(t, func(t *testing.T) {
		e, err := engine.New(engine.Config{Source: "s", Nets: nets, Instances: 1, Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		p := &player{e, ids}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- e.Run(ctx) }()
		for _, place := range begins {
			err := e.InjectData(ctx, n.ID, 0, place, 1, []byte(data))
			if errors.Is(err, engine.ErrPlain) {
				err = e.Inject(ctx, n.ID, 0, place, 1)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		for _, step := range steps {
			synctest.Wait()
			if err := p.step(ctx, step); err != nil {
				t.Errorf("%s: %v at %s", step, err, p.marking(ctx, t))
				break
			}
		}
		synctest.Wait()
		marking = p.marking(ctx, t)
		p.waitsInWork(ctx, t, f.Nets)
		stop()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	})
	return marking
}

// waitsInWork checks that an instance that waits has a token in a place of work, so that it is
// counted and its alarm is raised.
func (p *player) waitsInWork(ctx context.Context, t *testing.T, nets []*petri.Net) {
	t.Helper()
	for _, n := range nets {
		in, err := p.Instance(ctx, n.ID, p.InstanceName(0))
		if err != nil {
			t.Fatal(err)
		}
		waits, works, final := false, false, n.FinalPlaces()
		for _, tok := range in.Tokens {
			k := slices.IndexFunc(n.Places, func(p petri.Place) bool { return p.ID == tok.Place })
			waits = waits || !final[k]
			works = works || !final[k] && n.Places[k].Role == petri.RoleWork
		}
		if waits && !works {
			t.Errorf("no token is in a place of work: %s", p.marking(ctx, t))
		}
	}
}

func (p *player) step(ctx context.Context, step string) error {
	step = strings.Replace(step, "/call_", "/call ", 1)
	if after, is := strings.CutPrefix(step, "+"); is {
		d, err := time.ParseDuration(after)
		time.Sleep(d)
		return err
	}
	if event, is := strings.CutPrefix(step, "message:"); is {
		name, key, _ := strings.Cut(event, ":")
		_, err := p.Message(ctx, name, key, nil)
		return err
	}
	if id, data, has := strings.Cut(step, ","); has {
		return p.FireData(ctx, p.nets[0], 0, id, []byte(data))
	}
	return p.Fire(ctx, p.nets[0], 0, step)
}

func (p *player) marking(ctx context.Context, t *testing.T) string {
	count := map[string]int{}
	for _, net := range p.nets {
		in, err := p.Instance(ctx, net, p.InstanceName(0))
		if err != nil {
			t.Fatal(err)
		}
		for _, tok := range in.Tokens {
			count[tok.Place] += int(tok.Tokens)
		}
	}
	var out []string
	for place, n := range count {
		if n > 1 {
			place = fmt.Sprintf("%s×%d", place, n)
		}
		out = append(out, place)
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// process returns a process with flows a>b between nodes.
func process(content string, flows string) string {
	var b strings.Builder
	b.WriteString(`<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:c="http://camunda.org/schema/1.0/bpmn" xmlns:z="http://camunda.org/schema/zeebe/1.0"><process id="p">` + content)
	between(&b, flows)
	return b.String() + `</process></definitions>`
}

// sub returns a sub-process with content and flows.
func sub(id, content, flows string) string {
	var b strings.Builder
	b.WriteString(`<subProcess id="` + id + `">` + content)
	between(&b, flows)
	return b.String() + `</subProcess>`
}

func between(b *strings.Builder, flows string) {
	for _, path := range strings.Fields(flows) {
		nodes := strings.Split(path, ">")
		for i := range nodes[1:] {
			fmt.Fprintf(b, `<sequenceFlow id="%s-%s" sourceRef="%s" targetRef="%s"/>`, nodes[i], nodes[i+1], nodes[i], nodes[i+1])
		}
	}
}

// scenario is a process, and what becomes of it step by step.
type scenario struct {
	rule, xml, data string
	steps           string // in order, with spaces between
	want            string // the marking
}

func (s scenario) run(t *testing.T) {
	t.Run(s.rule, func(t *testing.T) {
		if got := played(t, s.xml, s.data, strings.Fields(s.steps)...); got != s.want {
			t.Errorf("after %s: %s\nwant %s", s.steps, got, s.want)
		}
	})
}

// twice returns a process in which two tokens reach the node n.
func twice(content, flows string) string {
	return process(`<startEvent id="s"/><parallelGateway id="f"/><exclusiveGateway id="m"/><task id="a"/><task id="b"/><endEvent id="e"/>`+content, "s>f>a>m f>b>m m>n n>e "+flows)
}

func timer(id, on, after, attrs string) string {
	return `<boundaryEvent id="` + id + `" attachedToRef="` + on + `" ` + attrs + `><timerEventDefinition><timeDuration>` + after + `</timeDuration></timerEventDefinition></boundaryEvent>`
}

func TestSeveralTokensInOneActivityShareNothing(t *testing.T) {
	const task = `<userTask id="n"/><endEvent id="late"/>`
	inner := sub("n", `<startEvent id="ns"/><userTask id="u"/><userTask id="v"/><endEvent id="ne"/>`, "ns>u>v>ne")
	event := func(end string) string {
		return sub("n", `<startEvent id="ns"/><userTask id="u"/><endEvent id="ne"/><subProcess id="w" triggeredByEvent="true">`+
			`<startEvent id="ws" isInterrupting="false"><signalEventDefinition signalRef="x"/></startEvent><userTask id="wt"/><userTask id="wu"/><endEvent id="we">`+end+`</endEvent>`+
			`<sequenceFlow id="w1" sourceRef="ws" targetRef="wt"/><sequenceFlow id="w2" sourceRef="ws" targetRef="wu"/><sequenceFlow id="w3" sourceRef="wt" targetRef="we"/></subProcess>`, "ns>u>ne")
	}
	for _, s := range []scenario{
		{"completing one leaves the timer of the other", twice(task+timer("x", "n", "PT1H", ""), "x>late"), `{}`, "n +2h", "e/end late/end"},
		{"the timer of each fires", twice(task+timer("x", "n", "PT1H", ""), "x>late"), `{}`, "+2h", "late/end×2"},
		{"two tokens in a sub-process run at once", twice(inner, ""), `{}`, "u u v", "e/end n/active u-v"},
		{"an interruption ends one run of a sub-process", twice(inner+`<boundaryEvent id="x" attachedToRef="n"><signalEventDefinition signalRef="x"/></boundaryEvent><endEvent id="late"/>`, "x>late"), `{}`,
			"u x u v", "e/end late/end"},
		{"a terminate end event in an event sub-process ends its run only",
			process(`<startEvent id="s"/><endEvent id="e"/>`+event(`<terminateEventDefinition/>`), "s>n>e"), `{}`, "ws ws wt", "n/active ns-u w1 w2 ws/armed"},
		{"its other runs go on, and are awaited",
			process(`<startEvent id="s"/><endEvent id="e"/>`+event(`<terminateEventDefinition/>`), "s>n>e"), `{}`, "ws ws wt u wt", "e/end"},
		{"an error thrown in one run of a sub-process ends that run only",
			twice(sub("n", `<startEvent id="ns"/><userTask id="u"/><endEvent id="ne"><errorEventDefinition/></endEvent>`, "ns>u>ne")+
				`<boundaryEvent id="x" attachedToRef="n"><errorEventDefinition/></boundaryEvent><endEvent id="late"/>`, "x>late"), `{}`, "u", "late/end n/active ns-u"},
		{"an escalation begins an event sub-process of its own run",
			twice(sub("n", `<startEvent id="ns"/><intermediateThrowEvent id="nt"><escalationEventDefinition/></intermediateThrowEvent><userTask id="u"/><endEvent id="ne"/>`+
				`<subProcess id="w" triggeredByEvent="true"><startEvent id="ws"><escalationEventDefinition/></startEvent><userTask id="wt"/><sequenceFlow id="w1" sourceRef="ws" targetRef="wt"/></subProcess>`, "ns>nt>u>ne"), ""),
			`{}`, "wt", "e/end n/active w1"},
	} {
		s.run(t)
	}
}

func multi(attrs, content string) string {
	return `<multiInstanceLoopCharacteristics ` + attrs + `>` + content + `</multiInstanceLoopCharacteristics>`
}

func standard(attrs, condition string) string {
	return `<standardLoopCharacteristics ` + attrs + `>` + condition + `</standardLoopCharacteristics>`
}

func TestActivitiesThatRunSeveralTimes(t *testing.T) {
	task := func(loop string) string {
		return process(`<startEvent id="s"/><userTask id="n">`+loop+`</userTask><endEvent id="e"/>`, "s>n>e")
	}
	guarded := func(loop string) string {
		return process(`<startEvent id="s"/><userTask id="n">`+loop+`</userTask><endEvent id="e"/><endEvent id="late"/>`+timer("x", "n", "PT1H", ""), "s>n>e x>late")
	}
	content := func(loop string) string {
		return process(`<startEvent id="s"/><endEvent id="e"/>`+sub("n", loop+`<startEvent id="ns"/><userTask id="u"/><endEvent id="ne"/>`, "ns>u>ne"), "s>n>e")
	}
	gate := func(loop, condition string) string { // where the data of the activity leads
		return process(`<startEvent id="s"/><userTask id="n">`+loop+`</userTask><exclusiveGateway id="g" default="g-no"/><endEvent id="yes"/><endEvent id="no"/>`+
			`<sequenceFlow id="y" sourceRef="g" targetRef="yes"><conditionExpression>`+condition+`</conditionExpression></sequenceFlow>`, "s>n>g>no")
	}
	const three = `<loopCardinality>3</loopCardinality>`
	for _, s := range []scenario{
		{"in parallel, all begin at once", task(multi("", three)), `{}`, "", "n/run×3"},
		{"and all are awaited", task(multi("", three)), `{}`, "n n", "n/run"},
		{"then the activity ends once", task(multi("", three)), `{}`, "n n n", "e/end"},
		{"the number can be an expression", task(multi("", `<loopCardinality>=a + 1</loopCardinality>`)), `{"a": 1}`, "", "n/run×2"},
		{"or a text", task(multi("", `<loopCardinality>${a}</loopCardinality>`)), `{"a": "3"}`, "", "n/run×3"},
		{"with a number that is not whole it does not begin", task(multi("", `<loopCardinality>${a}</loopCardinality>`)), `{"a": 2.5}`, "", "s-n"},
		{"or negative", task(multi("", `<loopCardinality>=a</loopCardinality>`)), `{"a": -1}`, "", "s-n"},
		{"or missing", task(multi("", `<loopCardinality>=a</loopCardinality>`)), `{}`, "", "s-n"},
		{"in sequence, one begins after the other", task(multi(`isSequential="true"`, three)), `{}`, "n n", "n/run"},
		{"and ends once", task(multi(`isSequential="true"`, three)), `{}`, "n n n", "e/end"},
		{"the number is an expression", task(multi("", `<loopCardinality>${k}</loopCardinality>`)), `{"k": 2}`, "n n", "e/end"},
		{"no run is a run of none", task(multi("", `<loopCardinality>0</loopCardinality>`)), `{}`, "", "e/end"},
		{"a run for each element of a collection", task(multi(`c:collection="list" c:elementVariable="x"`, "")), `{"list": [7, 8]}`, "n n", "e/end"},
		{"of an expression", task(multi(`c:collection="${order.lines}"`, "")), `{"order": {"lines": [7, 8]}}`, "n n", "e/end"},
		{"an empty collection is no run", task(multi(`c:collection="list"`, "")), `{"list": []}`, "", "e/end"},
		{"BPMN names the list by its data input", task(multi("", `<loopDataInputRef>list</loopDataInputRef><inputDataItem name="x"/>`)), `{"list": [7]}`, "n", "e/end"},
		{"the completion condition ends those that run", task(multi("", three+`<completionCondition>${nrOfCompletedInstances == 2}</completionCondition>`)), `{}`, "n n", "e/end"},
		{"it knows how many are active", task(multi("", three+`<completionCondition>${nrOfActiveInstances == 1 and nrOfInstances == 3}</completionCondition>`)), `{}`, "n n", "e/end"},
		{"and what the last run knew", task(multi("", three+`<completionCondition>${ok}</completionCondition>`)), `{"ok": false}`, `n n,{"ok":true}`, "e/end"},
		{"a boundary event ends all runs", guarded(multi("", three)), `{}`, "n +2h", "late/end"},
		{"one timer runs over all runs", guarded(multi(`isSequential="true"`, three)), `{}`, "+40m n +30m", "late/end"},
		{"runs of a sub-process are apart", content(multi("", three)), `{}`, "u", "n/active n/run×2 ns-u×2"},
		{"and all are awaited, too", content(multi("", three)), `{}`, "u u u", "e/end"},
		{"a run has its element and its number", task(multi(`isSequential="true" c:collection="list" c:elementVariable="x"`, `<completionCondition>${x == 7 and loopCounter == 0}</completionCondition>`)),
			`{"list": [7, 8]}`, "n", "e/end"},
		{"they are not outside", gate(multi(`c:collection="list" c:elementVariable="x"`, ""), "x == nil &amp;&amp; loopCounter == nil &amp;&amp; nrOfInstances == nil"), `{"list": [7, 8]}`, "n n", "yes/end"},
		{"or those of what is around are", gate(multi(`c:collection="list" c:elementVariable="x"`, ""), "x == 1 &amp;&amp; loopCounter == 5"), `{"list": [7, 8], "x": 1, "loopCounter": 5}`, "n n", "yes/end"},
		{"what one run in parallel changes remains when another one ends", gate(multi("", three), "a == 1 &amp;&amp; b == 2"), `{"a": 0, "b": 0}`, `n,{"a":1,"b":0} n,{"a":1,"b":2} n`, "yes/end"},
		// As in Camunda, a completion sets all variables that it has; only workers return stale ones.
		{"but a completion with a variable sets it, even to an earlier value", gate(multi("", three), "a == 0 &amp;&amp; b == 2"), `{"a": 0, "b": 0}`, `n,{"a":1} n,{"a":0,"b":2} n`, "yes/end"},
		{"a list of results, in the order of the elements", gate(`<multiInstanceLoopCharacteristics><extensionElements><z:loopCharacteristics inputCollection="= list" inputElement="x" outputCollection="all" outputElement="= x + y"/></extensionElements></multiInstanceLoopCharacteristics>`,
			"all[0] == 17 &amp;&amp; all[1] == 28 &amp;&amp; len(all) == 2"), `{"list": [7, 8]}`, `n,{"x":7,"y":10} n,{"x":8,"y":20}`, "yes/end"},
		{"what has not ended has no result", gate(multi("", `<loopDataInputRef>list</loopDataInputRef><loopDataOutputRef>all</loopDataOutputRef><inputDataItem name="x"/><outputDataItem name="y"/><completionCondition>${nrOfCompletedInstances == 1}</completionCondition>`),
			"all[0] == 10 &amp;&amp; all[1] == nil &amp;&amp; len(all) == 2"), `{"list": [7, 8]}`, `n,{"y":10}`, "yes/end"},
		{"a run without a result has not that of another, or of what is around", gate(`<multiInstanceLoopCharacteristics isSequential="true"><extensionElements><z:loopCharacteristics inputCollection="= list" inputElement="x" outputCollection="all" outputElement="= y"/></extensionElements></multiInstanceLoopCharacteristics>`,
			"all[0] == 10 &amp;&amp; all[1] == nil &amp;&amp; y == 1"), `{"list": [7, 8], "y": 1}`, `n,{"y":10} n`, "yes/end"},
		{"a result that is part of a variable", gate(`<multiInstanceLoopCharacteristics isSequential="true"><extensionElements><z:loopCharacteristics inputCollection="= list" inputElement="x" outputCollection="all" outputElement="= y.z"/></extensionElements></multiInstanceLoopCharacteristics>`,
			"all[0] == 10 &amp;&amp; all[1] == nil &amp;&amp; y == nil"), `{"list": [7, 8]}`, `n,{"y":{"z":10}} n`, "yes/end"},
		{"a result is what the outputs of the run write", gate(`<extensionElements><z:ioMapping><z:output source="= got + x" target="y"/></z:ioMapping></extensionElements>`+`<multiInstanceLoopCharacteristics isSequential="true"><extensionElements><z:loopCharacteristics inputCollection="= list" inputElement="x" outputCollection="all" outputElement="= y"/></extensionElements></multiInstanceLoopCharacteristics>`,
			"all[0] == 17 &amp;&amp; all[1] == 28"), `{"list": [7, 8]}`, `n,{"got":10} n,{"got":20}`, "yes/end"},
		{"results are those of the last run", gate(multi("", three), "${ok}"), `{"ok": true}`, `n n n,{"ok":false}`, "no/end"},
		{"a loop runs again while its condition holds", task(standard("", `<loopCondition>${again}</loopCondition>`)), `{}`, `n,{"again":true} n,{"again":true}`, "n/run"},
		{"it ends when the condition does not hold", task(standard("", `<loopCondition>${again}</loopCondition>`)), `{}`, `n,{"again":true} n,{"again":false}`, "e/end"},
		{"it runs once before it tests the condition", task(standard("", `<loopCondition>${again}</loopCondition>`)), `{"again": false}`, "", "n/run"},
		{"or tests it before", task(standard(`testBefore="true"`, `<loopCondition>${again}</loopCondition>`)), `{"again": false}`, "", "e/end"},
		{"it runs at most loopMaximum times", task(standard(`loopMaximum="2"`, `<loopCondition>${again}</loopCondition>`)), `{"again": true}`, `n n`, "e/end"},
		{"or exactly, without a condition", task(standard(`loopMaximum="2"`, ``)), `{}`, `n`, "n/run"},
	} {
		s.run(t)
	}
}

// handler returns a task with a compensation handler, id and undo-id.
func handler(id string) string {
	return `<userTask id="` + id + `"/><boundaryEvent id="b-` + id + `" attachedToRef="` + id + `"><compensateEventDefinition/></boundaryEvent>` +
		`<userTask id="undo-` + id + `" isForCompensation="true"/><association sourceRef="b-` + id + `" targetRef="undo-` + id + `"/>`
}

func throws(id, attrs string) string {
	return `<intermediateThrowEvent id="` + id + `"><compensateEventDefinition ` + attrs + `/></intermediateThrowEvent>`
}

func TestCompensation(t *testing.T) {
	const ends = `<startEvent id="s"/><endEvent id="e"/>`
	two := func(throw string) string { return process(ends+handler("a")+handler("b")+throw, "s>a>b>c>e") }
	transaction := func(content, way string) string {
		return process(ends+`<endEvent id="gone"/><transaction id="t"><startEvent id="ts"/>`+handler("a")+`<userTask id="u"/><endEvent id="te"/><endEvent id="tc"><cancelEventDefinition/></endEvent>`+content+
			between2(way)+`</transaction><boundaryEvent id="x" attachedToRef="t"><cancelEventDefinition/></boundaryEvent>`, "s>t>e x>gone")
	}
	inside := sub("n", `<startEvent id="ns"/>`+handler("a")+`<userTask id="u"/><endEvent id="ne"/>`, "ns>a>u>ne")
	for _, s := range []scenario{
		{"nothing is compensated without a throwing event", two(`<task id="c"/>`), `{}`, "a b", "e/end p/end"},
		{"all completed activities are compensated, and awaited", two(throws("c", "")), `{}`, "a b", "c/compensating p/active undo-a/in undo-b/in"},
		{"then the process goes on", two(throws("c", "")), `{}`, "a b undo-a undo-b", "e/end p/end"},
		{"the event need not wait", two(throws("c", `waitForCompletion="false"`)), `{}`, "a b", "c/compensating e/end p/active undo-a/in undo-b/in"},
		{"or compensates one activity", two(throws("c", `activityRef="a"`)), `{}`, "a b", "b/done c/compensating p/active undo-a/in"},
		{"what has not completed is not compensated", process(ends+handler("a")+throws("c", ""), "s>c>a>e"), `{}`, "", "c-a p/active"},
		{"each run of an activity is compensated", process(ends+handler("a")+throws("c", "")+`<exclusiveGateway id="m"/><exclusiveGateway id="g" default="g-c"/>`+
			`<sequenceFlow id="back" sourceRef="g" targetRef="m"><conditionExpression>${again}</conditionExpression></sequenceFlow>`, "s>m>a>g>c>e"), `{}`, `a,{"again":true} a,{"again":false}`, "c/compensating p/active undo-a/in×2"},
		{"a completed sub-process is compensated by what is inside", process(ends+inside+throws("c", ""), "s>n>c>e"), `{}`, "a u", "c/compensating n/completed p/active undo-a/in"},
		{"one that is active is not", process(ends+inside+`<parallelGateway id="f"/><userTask id="w"/>`+throws("c", ""), "s>f>n f>w>c>e n>e"), `{}`, "a w", "a-u a/done e/end n/active p/active"},
		{"an event inside compensates what is inside", process(ends+sub("n", `<startEvent id="ns"/>`+handler("a")+throws("c", "")+`<endEvent id="ne"/>`, "ns>a>c>ne"), "s>n>e"), `{}`, "a undo-a", "e/end p/end"},
		{"an event sub-process for compensation takes the place of what is inside",
			process(ends+sub("n", `<startEvent id="ns"/>`+handler("a")+`<endEvent id="ne"/><subProcess id="w" triggeredByEvent="true"><startEvent id="ws"><compensateEventDefinition/></startEvent><userTask id="wt"/>`+
				`<sequenceFlow id="w1" sourceRef="ws" targetRef="wt"/></subProcess>`, "ns>a>ne")+throws("c", ""), "s>n>c>e"), `{}`, "a", "a/done c/compensating n/completed p/active w1"},
		{"handlers begin in the reverse order of completion", process(ends+strings.ReplaceAll(handler("a")+handler("b"), `<userTask id="undo`, `<task id="undo`)+throws("c", ""), "s>a>b>c>e"), `{}`, "a b", "e/end p/end"},
		{"no run of a multi-instance activity is compensated before all have ended",
			process(ends+strings.Replace(handler("a"), `<userTask id="a"/>`, `<userTask id="a">`+multi("", `<loopCardinality>2</loopCardinality>`)+`</userTask>`, 1)+`<parallelGateway id="f"/><userTask id="w"/>`+throws("c", ""), "s>f>a>e f>w>c>e"),
			`{}`, "a w", "a/done a/run e/end p/active"},
		{"then each is", process(ends+strings.Replace(handler("a"), `<userTask id="a"/>`, `<userTask id="a">`+multi("", `<loopCardinality>2</loopCardinality>`)+`</userTask>`, 1)+throws("c", ""), "s>a>c>e"),
			`{}`, "a a", "a/completed c/compensating p/active undo-a/in×2"},
		{"an event sub-process waits for the handlers of its own run", process(ends+`<userTask id="w"/><subProcess id="x" triggeredByEvent="true"><startEvent id="xs" isInterrupting="false"><messageEventDefinition messageRef="m"/></startEvent>`+
			handler("a")+throws("c", "")+`<userTask id="after"/>`+between2("xs>a>c>after")+`</subProcess>`, "s>w>e"), `{}`, "xs a xs a undo-a", "c-after c/compensating c/waiting p/active s-w undo-a/in xs/armed"},
		{"a cancel end event compensates its transaction", transaction(`<parallelGateway id="f"/>`, "ts>a>f>u>te f>tc"), `{}`, "a", "p/active t/active undo-a/in x/compensating"},
		{"and leaves it by the cancel boundary event", transaction(`<parallelGateway id="f"/>`, "ts>a>f>u>te f>tc"), `{}`, "a undo-a", "gone/end p/end"},
		{"a transaction that is not cancelled is a sub-process", transaction("", "ts>a>u>te u>tc"), `{}`, "a", "a-u a/done p/active t/active"},
	} {
		s.run(t)
	}
}

func TestTimersThatOccurSeveralTimes(t *testing.T) {
	const ends = `<startEvent id="s"/><endEvent id="e"/>`
	cycle := func(text string) string {
		return `<timerEventDefinition><timeCycle>` + text + `</timeCycle></timerEventDefinition>`
	}
	on := func(text, attrs string) string {
		return process(ends+`<userTask id="n"/><endEvent id="late"/><boundaryEvent id="x" attachedToRef="n" `+attrs+`>`+cycle(text)+`</boundaryEvent>`, "s>n>e x>late")
	}
	event := func(text string) string {
		return `<subProcess id="w" triggeredByEvent="true"><startEvent id="ws" isInterrupting="false">` + cycle(text) + `</startEvent><userTask id="u"/>` +
			`<sequenceFlow id="w1" sourceRef="ws" targetRef="u"/></subProcess>`
	}
	for _, s := range []scenario{
		{"a timer without an end occurs while the activity runs", on("R/PT1H", `cancelActivity="false"`), `{}`, "+1h +1h +1h", "late/end×3 n/active x/armed"},
		{"each time after a whole duration", on("R/PT1H", `cancelActivity="false"`), `{}`, "+90m +29m", "late/end n/active x/armed"},
		{"and no longer", on("R/PT1H", `cancelActivity="false"`), `{}`, "+90m n +90m", "e/end late/end"},
		{"a timer with a number occurs so often", on("R2/PT1H", `cancelActivity="false"`), `{}`, "+4h", "late/end×2 n/active"},
		{"not at once", on("R2/PT1H", `cancelActivity="false"`), `{}`, "+90m +29m", "late/end n/active x/armed"},
		{"and not after the activity", on("R2/PT1H", `cancelActivity="false"`), `{}`, "+90m n +90m", "e/end late/end"},
		{"one that interrupts occurs once", on("R2/PT1H", ""), `{}`, "+4h", "late/end"},
		{"so does one in the flow", process(ends+`<intermediateCatchEvent id="n">`+cycle("R/PT1H")+`</intermediateCatchEvent>`, "s>n>e"), `{}`, "+4h", "e/end"},
		{"event sub-processes of a process have them", process(ends+`<userTask id="n"/>`+event("R2/PT1H"), "s>n>e"), `{}`, "+4h", "p/active s-n w1×2"},
		{"those of a sub-process too", process(ends+sub("n", `<startEvent id="ns"/><userTask id="v"/>`+event("R/PT1H"), "ns>v"), "s>n>e"), `{}`, "+1h +1h +1h", "n/active ns-v w1×3 ws/armed"},
	} {
		s.run(t)
	}
}

// The data of what ends last inside a sub-process is that of the token after it.
func TestResultsOfSubProcesses(t *testing.T) {
	gate := func(content string) string { // where the data of the sub-process leads
		return process(`<startEvent id="s"/><exclusiveGateway id="g" default="g-no"/><endEvent id="yes"/><endEvent id="no"/>`+content+
			`<sequenceFlow id="y" sourceRef="g" targetRef="yes"><conditionExpression>${ok}</conditionExpression></sequenceFlow>`, "s>n>g>no")
	}
	const loop = `<multiInstanceLoopCharacteristics isSequential="true"><loopCardinality>2</loopCardinality></multiInstanceLoopCharacteristics>`
	for _, s := range []scenario{
		{"what a task inside returns is kept", gate(sub("n", `<startEvent id="ns"/><userTask id="u"/><endEvent id="ne"/>`, "ns>u>ne")), `{"ok": false}`, `u,{"ok":true}`, "yes/end"},
		{"beside what was there before", gate(sub("n", `<startEvent id="ns"/><userTask id="u"/><endEvent id="ne"/>`, "ns>u>ne")), `{"ok": true}`, `u,{"other":1}`, "yes/end"},
		{"through sub-processes inside each other", gate(sub("n", `<startEvent id="ns"/><endEvent id="ne"/>`+sub("m", `<userTask id="u"/>`, ""), "ns>m>ne")), `{"ok": false}`, `u,{"ok":true}`, "yes/end"},
		{"from a terminate end event", gate(sub("n", `<startEvent id="ns"/><userTask id="u"/><endEvent id="ne"><terminateEventDefinition/></endEvent>`, "ns>u>ne")), `{"ok": false}`, `u,{"ok":true}`, "yes/end"},
		{"from the last run of a loop", gate(sub("n", loop+`<startEvent id="ns"/><userTask id="u"/><endEvent id="ne"/>`, "ns>u>ne")), `{"ok": true}`, `u u,{"ok":false}`, "no/end"},
	} {
		s.run(t)
	}
}

func TestMessagesBetweenPools(t *testing.T) {
	pools := func(here, there, flow string) string {
		return strings.Replace(process(`<startEvent id="s"/><endEvent id="e"/>`+here, "s>n>e"), `</definitions>`, `<process id="q">`+there+`</process>`+
			`<collaboration><messageFlow id="f" sourceRef="`+flow+`" targetRef="r"/></collaboration></definitions>`, 1)
	}
	const waits = `<receiveTask id="r"/><endEvent id="re"/><sequenceFlow id="r-re" sourceRef="r" targetRef="re"/>`
	for _, s := range []scenario{
		{"a message flow begins the other process", pools(`<userTask id="n"/>`, strings.Replace(waits, `<receiveTask id="r"/>`, `<startEvent id="r"><messageEventDefinition/></startEvent>`, 1), "n"), `{}`,
			"n", "e/end re/end"},
		{"nothing begins without it", pools(`<userTask id="n"/>`, strings.Replace(waits, `<receiveTask id="r"/>`, `<startEvent id="r"><messageEventDefinition/></startEvent>`, 1), "n"), `{}`, "", "s-n"},
		{"a send task reaches the receive task of an instantiating gateway",
			pools(`<sendTask id="n"/>`, `<eventBasedGateway id="g" instantiate="true"/><sequenceFlow id="g-r" sourceRef="g" targetRef="r"/>`+waits, "n"), `{}`, "", "e/end re/end"},
	} {
		s.run(t)
	}
}

// A call by an expression is that of the process with this id, and one piece of work if
// no process has it.
func TestCallsByAnExpression(t *testing.T) {
	call := func(ref string) string { // the other processes wait at u and v
		xml := process(`<startEvent id="s"/><callActivity id="c" calledElement="`+ref+`"/><endEvent id="e"/>`, "s>c>e")
		return strings.Replace(xml, "</definitions>", `<process id="q"><userTask id="u"/></process>
<process id="r"><userTask id="v"/><callActivity id="back" calledElement="p"/><sequenceFlow id="z" sourceRef="v" targetRef="back"/></process></definitions>`, 1)
	}
	for _, s := range []scenario{
		{"UEL", call("${which}"), `{"which": "q"}`, "", "c/active c/call q/active c/call q:u/start u/start v/start"},
		{"FEEL", call("=which"), `{"which": "q"}`, "c/call_q:u", "e/end u/start v/start"},
		{"a text with expressions in it", call("q${which}"), `{"which": ""}`, "c/call_q:u", "e/end u/start v/start"},
		{"no process", call("${which}"), `{"which": "x"}`, "", "e/end u/start v/start"},
		{"a process that calls this one", call("${which}"), `{"which": "r"}`, "", "e/end u/start v/start"},
	} {
		s.run(t)
	}
}

// What is inside an ad hoc sub-process may begin any number of times, or as the list of ids has it (BPMN 2.0, 13.3.5).
func TestAdHocSubProcesses(t *testing.T) {
	adHoc := func(attrs, content string) string {
		return process(`<startEvent id="s"/><adHocSubProcess id="n" `+attrs+`>`+content+`<userTask id="a"/><userTask id="b"/><task id="c"/>`+
			`<sequenceFlow id="b-c" sourceRef="b" targetRef="c"/></adHocSubProcess><endEvent id="e"/>`, "s>n>e")
	}
	const chosen = `<extensionElements><z:adHoc activeElementsCollection="=ids"/></extensionElements>`
	const until = `<completionCondition>= ok = true</completionCondition>`
	const auto = `<completionCondition language="http://www.mvel.org/2.0"><![CDATA[autocomplete]]></completionCondition>`
	const inside = "n/active"
	for _, s := range []scenario{
		{"each may begin", adHoc("", ""), `{}`, "", inside},
		{"with an event of its name", adHoc("", ""), `{}`, "a/begins", "a/start " + inside},
		{"again and again", adHoc("", ""), `{}`, "a/begins a/begins a a a/begins", "a/start " + inside},
		{"what follows begins by itself, and an event ends all", adHoc("", ""), `{}`, "b/begins b n", "e/end"},
		{"also if nothing began", adHoc("", ""), `{}`, "n", "e/end"},
		{"those of the list begin", adHoc("", chosen), `{"ids": ["b"]}`, "", "b/start " + inside},
		{"and are awaited", adHoc("", chosen), `{"ids": ["a", "b"]}`, "a b", "e/end"},
		{"of an empty list, there are none", adHoc("", chosen), `{"ids": []}`, "", "e/end"},
		{"an unknown id waits", adHoc("", chosen), `{"ids": ["a", "x"]}`, "", "n/active n/choosing"},
		{"the completion condition is asked when something has ended", adHoc("", chosen+until), `{"ids": ["a", "b"], "ok": true}`, "", "a/start b/start " + inside},
		{"then it ends what is active", adHoc("", chosen+until), `{"ids": ["a", "b"]}`, `a,{"ok":true}`, "e/end"},
		{"if it holds", adHoc("", chosen+until), `{"ids": ["a", "b"]}`, `a,{"ok":false}`, "b/start " + inside},
		{"or awaits it", adHoc(`cancelRemainingInstances="false"`, chosen+until), `{"ids": ["a", "b"]}`, `a,{"ok":true}`, "b/start n/active n/met"},
		{"and ends once", adHoc(`cancelRemainingInstances="false"`, chosen+until), `{"ids": ["a", "b"]}`, `a,{"ok":true} b`, "e/end"},
		{"the condition is asked after each activity", adHoc("", until), `{}`, `a/begins b/begins b,{"ok":true}`, "e/end"},
		{"also if it leads on", adHoc("", until), `{}`, `a/begins b/begins b,{"ok":false}`, "a/start " + inside},
		{"one at a time in turn", adHoc(`ordering="Sequential"`, ""), `{}`, "a/begins", "a/active " + inside},
		{"then another one", adHoc(`ordering="Sequential"`, ""), `{}`, "a/begins a b/begins b a/begins a n", "e/end"},
		{"which also those of a list await", adHoc(`ordering="Sequential"`, chosen), `{"ids": ["a", "b"]}`, "", "a/active b/start " + inside},
		{"until the one before has ended", adHoc(`ordering="Sequential"`, chosen), `{"ids": ["a", "b"]}`, "a b", "e/end"},
		{"and until its condition holds", adHoc(`ordering="Sequential"`, chosen+until), `{"ids": ["a", "b"]}`, `a,{"ok":true}`, "e/end"},
		{"it runs several times, each until its condition holds", adHoc("", until+`<multiInstanceLoopCharacteristics isSequential="true"><loopCardinality>2</loopCardinality></multiInstanceLoopCharacteristics>`), `{"ok":true}`,
			"a/begins a", "n/active n/run"},
		{"and then ends", adHoc("", until+`<multiInstanceLoopCharacteristics isSequential="true"><loopCardinality>2</loopCardinality></multiInstanceLoopCharacteristics>`), `{"ok":true}`, "a/begins a b/begins b", "e/end"},
		{"in parallel with a list", adHoc("", chosen+`<multiInstanceLoopCharacteristics><loopCardinality>2</loopCardinality></multiInstanceLoopCharacteristics>`), `{"ids": ["a"]}`, "a a", "e/end"},
		{"an end event ends what leads to it", adHoc("", `<endEvent id="x"/><sequenceFlow id="a-x" sourceRef="a" targetRef="x"/>`), `{}`, "a/begins b/begins a", "b/start " + inside},
		{"jBPM's autocomplete ends it once nothing is active", adHoc("", auto), `{}`, "a/begins b/begins a a/begins a b", "e/end"},
		{"not before", adHoc("", auto), `{}`, "a/begins b/begins a", "b/start n/active n/check"},
		{"and not before something began", adHoc("", auto), `{}`, "", inside},
		{"as does its count of what is active", adHoc("", `<completionCondition>getActivityInstanceAttribute("numberOfActiveInstances") == 0</completionCondition>`), `{}`, "a/begins a", "e/end"},
		{"it ends what may begin, too", adHoc("", until), `{}`, `a/begins a,{"ok":true}`, "e/end"},
	} {
		s.run(t)
	}
}
