// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/bpmn"
	"github.com/pnagent/pnagent/telemetry"
)

// A catcher that no event can reach, and a throw that has no name or key, are incidents: of the
// element, with the reason in the log, and the instance has failed. Nothing waits without a word,
// and nothing is passed.
func TestAnEventWithoutANameOrAKeyIsAnIncident(t *testing.T) {
	file := func(name string) []*petri.Net {
		r, err := os.Open("testdata/" + name + ".bpmn")
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		f, err := bpmn.Read(r, name, bpmn.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		return f.Nets
	}
	process := func(content string) []*petri.Net {
		return processes(t, `<message id="o" name="o-${v}"/><signal id="r" name="= v"/>`+
			`<message id="k" name="k"><extensionElements><subscription xmlns="http://camunda.org/schema/zeebe/1.0" correlationKey="= v"/></extensionElements></message>`+
			`<process id="p"><startEvent id="start"/>`+content+`</process>`)
	}
	const message, signal, key = `<messageEventDefinition messageRef="o"/>`, `<signalEventDefinition signalRef="r"/>`, `<messageEventDefinition messageRef="k"/>`
	for _, c := range []struct {
		rule       string
		nets       []*petri.Net
		data       string // of the first token
		fire       string // a transition that is fired, or ""
		transition string // the incident
		reason     string // in the log
	}{
		{"the name of a message that is caught", file("catch-name"), `{}`, "", "w", `the name of its event: `},
		{"the key of a message that is caught", file("catch-key"), `{}`, "", "w", `the key of its message: null`},
		{"the key of a message is a list", file("catch-key"), `{"orderId":[1]}`, "", "w", `the key of its message: the key [1]`},
		{"the name of a signal at a boundary event", file("sigend-name"), `{}`, "", "b", `the name of its event: `},
		{"the name of a signal that is thrown", file("sigend-name"), `{}`, "work", "e1", `the name of its event: `},
		{"a receive task", process(`flow(start,w)<receiveTask id="w" messageRef="k"/>flow(w,e)<endEvent id="e"/>`), `{"v":null}`, "", "w", `the key of its message: null`},
		{"after an event gateway", process(`flow(start,g)<eventBasedGateway id="g"/>flow(g,w)<intermediateCatchEvent id="w">` + message + `</intermediateCatchEvent>flow(g,x)<intermediateCatchEvent id="x">event(s)</intermediateCatchEvent>`),
			`{}`, "", "w", `the name of its event: `},
		{"an event sub-process", process(`flow(start,u)<userTask id="u"/><subProcess id="sub" triggeredByEvent="true"><startEvent id="w">` + key + `</startEvent>flow(w,h)<userTask id="h"/></subProcess>`),
			`{}`, "", "w", `the key of its message: null`},
		{"a boundary event that does not interrupt", process(`flow(start,u)<userTask id="u"/><boundaryEvent id="w" attachedToRef="u" cancelActivity="false">` + signal + `</boundaryEvent>flow(w,h)<userTask id="h"/>`),
			`{"v":""}`, "", "w", `the name of its event: a name of 0 bytes`},
		{"a message that is thrown", process(`flow(start,w)<intermediateThrowEvent id="w">` + message + `</intermediateThrowEvent>flow(w,u)<userTask id="u"/>`), `{}`, "", "w", `the name of its event: `},
		{"the key of a message that is thrown", process(`flow(start,w)<intermediateThrowEvent id="w">` + key + `</intermediateThrowEvent>flow(w,u)<userTask id="u"/>`), `{}`, "", "w", `the key of its message: null`},
		{"a send task", process(`flow(start,w)<sendTask id="w" messageRef="k"/>flow(w,u)<userTask id="u"/>`), `{"v":{}}`, "", "w", `the key of its message: the key {}`},
		{"a message end event", process(`flow(start,w)<endEvent id="w">` + message + `</endEvent>`), `{}`, "", "w", `the name of its event: `},
	} {
		t.Run(c.rule, func(t *testing.T) {
			var log bytes.Buffer
			var first []string
			for i := range c.nets[0].Places { // its first tokens get data
				if p := &c.nets[0].Places[i]; p.Initial > 0 {
					first, p.Initial = append(first, p.ID), 0
				}
			}
			e := newEngine(t, Config{Source: "s", Nets: eventNets(t, c.nets...), Instances: 1, Workers: 1, Log: slog.New(slog.NewTextHandler(&log, nil))})
			stop := start(t, e)
			net := c.nets[0].ID
			for _, place := range first {
				if err := e.InjectData(t.Context(), net, 0, place, 1, []byte(c.data)); err != nil {
					t.Fatal(err)
				}
			}
			if c.fire != "" {
				if err := e.Fire(t.Context(), net, 0, c.fire); err != nil {
					t.Fatal(err)
				}
			}
			// A worker tries what is enabled after a call has returned.
			eventually(t, func() string {
				in, err := e.Instance(t.Context(), net, e.InstanceName(0))
				if err == nil {
					if w := incidentOf(in, c.transition); w != nil && w.Transition == c.transition {
						return ""
					}
				}
				return fmt.Sprintf("no incident of %q in %+v, %v", c.transition, in, err)
			})
			stop()
			if got := log.String(); !strings.Contains(got, "transition="+c.transition+" ") || !strings.Contains(got, c.reason) {
				t.Errorf("the log has no %q of %q: %s", c.reason, c.transition, got)
			}
		})
	}
}

// Variables that come later give a catcher its key: the message reaches it, although its incident
// remains until then.
func TestAKeyThatComesLaterIsCaught(t *testing.T) {
	nets := processes(t, `<message id="k" name="k"><extensionElements><subscription xmlns="http://camunda.org/schema/zeebe/1.0" correlationKey="= v"/></extensionElements></message>`+
		`<process id="p"><startEvent id="start"/>flow(start,f)<parallelGateway id="f"/>flow(f,w)<receiveTask id="w" messageRef="k"/>flow(w,e)<endEvent id="e"/>flow(f,u)<userTask id="u"/>flow(u,x)<userTask id="x"/></process>`)
	e := newEngine(t, Config{Source: "s", Nets: eventNets(t, nets...), Instances: 1, Workers: 1})
	stop := start(t, e)
	if _, err := e.Message(t.Context(), "k", "7", nil); err == nil {
		t.Error("a message was caught without a key")
	}
	if err := e.FireData(t.Context(), "p", 0, "u", []byte(`{"v":7}`)); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Message(t.Context(), "k", "7", nil); err != nil {
		t.Error(err)
	}
	eventually(t, func() string { // the flow to the end fires after the message was caught
		in, err := e.Instance(t.Context(), "p", e.InstanceName(0))
		if err == nil && slices.ContainsFunc(in.Tokens, func(tok telemetry.InstanceToken) bool { return tok.Place == "e/end" }) {
			return ""
		}
		return fmt.Sprintf("no token in e/end: %+v, %v", in, err)
	})
	stop()
	if got := allMarked(e)[0]; got != "p/0 e/end u-x" && got != "p/0 u-x e/end" {
		t.Error(got)
	}
}
