// SPDX-License-Identifier: Apache-2.0

//go:build peers

package page

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/internal/browsertest"
	"github.com/pnagent/pnagent/petri/petritest"
)

// The engine has the file, the sidecar has it from the engine, and the page draws it.
func TestThePageDrawsTheBPMNOfAnEngine(t *testing.T) {
	t.Parallel()
	b := browsertest.Start(t).Tab(t)
	nats := kit.StartNATS(t)
	side := kit.Serve(t, nats)
	kit.RunEngine(t, nats, "one", "--instances", "3", kit.Write(t, "claims.bpmn", petritest.Claims()))
	b.Open(side.URL + "/#net=claims")
	b.Until(`document.querySelector('#bpmn').dataset.drawn && document.querySelector('[data-container-id=decide] .held')?.textContent === '3'`)
	b.Until(`/^[1-5]\d s$/.test(document.querySelector('[data-container-id=decide] .since').textContent)`) // for ten seconds
	fill := func(id string) string {
		return browsertest.Eval[string](b, `getComputedStyle(document.querySelector('[data-element-id=`+id+`] .djs-visual > *')).fill`)
	}
	heat, err := os.ReadFile("../../web/page/heat.js")
	if err != nil {
		t.Fatal(err)
	}
	cold := browsertest.Eval[string](b, "(() => {"+strings.ReplaceAll(string(heat), "export ", "")+"return new HeatScale('light').fill(0);})()")
	if got, empty := fill("decide"), fill("archive"); got == cold || got == empty {
		t.Errorf("the task in which instances wait has the colour %s; one without tokens has %s, one that is not hot %s", got, empty, cold)
	}
	b.Screenshot("engine-bpmn")
	b.Keys("h")
	b.Until(`document.querySelector('[data-element-id=decide]').classList.contains('chosen') && document.querySelector('#panel .tokens .waits li')`)
	b.Screenshot("engine-bpmn-place")
	b.Keys("b")
	b.Until(`location.hash.includes('view=net') && document.querySelector('#bpmn').hidden`)
	b.Screenshot("engine-net")
	b.Clean(strings.TrimPrefix(side.URL, "http://"), false)
}

func TestASidecarHasTheFileThatItIsGiven(t *testing.T) {
	t.Parallel()
	side := kit.Serve(t, kit.StartNATS(t), kit.Write(t, "claims.bpmn", petritest.Claims()))
	kit.Until(t, "the net is shown", func() error {
		status, _, err := side.Get("/api/v1/model?net=claims")
		if err == nil && status != http.StatusOK {
			err = fmt.Errorf("status %d", status)
		}
		return err
	})
	if got := string(side.Page(t, "/api/v1/model?net=claims")); got != petritest.Claims() {
		t.Errorf("got %d bytes; want the file, which has a diagram of each process", len(got))
	}
	var drawing struct {
		Model struct {
			Kind, Digest string
			Elements     []struct{ ID string }
		}
	}
	if err := json.Unmarshal(side.Page(t, "/api/v1/drawing?net=archiving"), &drawing); err != nil || drawing.Model.Kind != "bpmn" || drawing.Model.Digest == "" || len(drawing.Model.Elements) == 0 {
		t.Errorf("the drawing of the called process has the model %+v, %v", drawing.Model, err)
	}
}

// A file without a diagram is laid out, and its call activities open.
func TestThePageDrawsAFileWithoutADiagram(t *testing.T) {
	t.Parallel()
	b := browsertest.Start(t).Tab(t)
	text, err := os.ReadFile("../../petri/bpmn/testdata/call.bpmn")
	if err != nil {
		t.Fatal(err)
	}
	side := kit.Serve(t, kit.StartNATS(t), kit.Write(t, "call.bpmn", string(text)))
	b.Open(side.URL + "/#net=caller")
	b.Until(`document.querySelector('#bpmn').dataset.drawn && document.querySelectorAll('#bpmn .djs-shape').length >= 5`)
	b.Screenshot("laid-out")
	b.Click("[data-container-id=c1] .door")
	b.Until(`document.querySelector('[data-element-id=ht]') && document.querySelector('.way-out')`)
	b.Screenshot("laid-out-called")
	b.Clean(strings.TrimPrefix(side.URL, "http://"), false)
}

// The call activities of a file open processes of other files, which the engine publishes
// with it, in whatever encoding they are.
func TestThePageOpensAProcessOfAnotherFile(t *testing.T) {
	t.Parallel()
	b := browsertest.Start(t).Tab(t)
	const open, closed = `<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL">`, `</definitions>`
	order := open + `<process id="order" name="Order" isExecutable="true"><startEvent id="s"/><callActivity id="check" name="Check" calledElement="checking"/><endEvent id="e"/>` +
		`<sequenceFlow id="f1" sourceRef="s" targetRef="check"/><sequenceFlow id="f2" sourceRef="check" targetRef="e"/></process>` + closed
	checking := `<?xml version="1.0" encoding="ISO-8859-1"?>` + open + `<process id="checking" name="Pr` + "\xfc" + `fung" isExecutable="true"><startEvent id="cs"/><userTask id="look" name="Pr` + "\xfc" + `fen"/><endEvent id="ce"/>` +
		`<sequenceFlow id="c1" sourceRef="cs" targetRef="look"/><sequenceFlow id="c2" sourceRef="look" targetRef="ce"/></process>` + closed
	nats := kit.StartNATS(t)
	side := kit.Serve(t, nats)
	kit.RunEngine(t, nats, "one", "--instances", "3", kit.Write(t, "order.bpmn", order), kit.Write(t, "checking.bpmn", checking))
	b.Open(side.URL + "/#net=order")
	b.Until(`document.querySelector('#bpmn').dataset.drawn && document.querySelector('[data-container-id=check] .held')?.textContent === '3'`)
	b.Click("[data-container-id=check] .door")
	b.Until(`document.querySelector('[data-container-id=look] .held')?.textContent === '3' && document.querySelector('.way-out').innerText === '← out of Prüfung'`)
	b.Until(`document.querySelector('[data-element-id=look]').textContent === 'Prüfen'`)
	b.Screenshot("called-of-another-file")
	b.Click("[data-element-id=look] .djs-hit")
	b.Until(`document.querySelector('[data-element-id=look]')?.classList.contains('chosen') && document.querySelector('#panel .tokens li')`)
	b.Click(".way-out")
	b.Until(`document.querySelector('[data-container-id=check] .held')?.textContent === '3' && !document.querySelector('.way-out')`)
	b.Clean(strings.TrimPrefix(side.URL, "http://"), false)
}
