// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/internal/browsertest"
	"github.com/pnagent/pnagent/petri/petritest"
)

// The engine has the file, the sidecar has it from the engine, and the page draws it.
func TestThePageDrawsTheBPMNOfAnEngine(t *testing.T) {
	t.Parallel()
	b := browsertest.Start(t).Tab(t)
	nats := startNATS(t)
	side := serve(t, nats)
	runEngine(t, nats, "one", "--instances", "3", write(t, "claims.bpmn", petritest.Claims()))
	b.Open(side.url + "/#net=claims")
	b.Until(`document.querySelector('#bpmn').dataset.drawn && document.querySelector('[data-container-id=decide] .held')?.textContent === '3'`)
	b.Until(`/^[1-5]\ds$/.test(document.querySelector('[data-container-id=decide] .since').textContent)`) // for ten seconds
	fill := func(id string) string {
		return browsertest.Eval[string](b, `getComputedStyle(document.querySelector('[data-element-id=`+id+`] .djs-visual > *')).fill`)
	}
	cold := browsertest.Eval[string](b, `import('/heat.js').then((m) => new m.HeatScale('light').fill(0))`)
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
	b.Clean(strings.TrimPrefix(side.url, "http://"), false)
}

func TestASidecarHasTheFileThatItIsGiven(t *testing.T) {
	t.Parallel()
	side := serve(t, startNATS(t), write(t, "claims.bpmn", petritest.Claims()))
	until(t, "the net is shown", func() error {
		status, _, err := side.get("/api/v1/model?net=claims")
		if err == nil && status != http.StatusOK {
			err = fmt.Errorf("status %d", status)
		}
		return err
	})
	if got := string(side.page(t, "/api/v1/model?net=claims")); got != petritest.Claims() {
		t.Errorf("got %d bytes; want the file, which has a diagram of each process", len(got))
	}
	var drawing struct {
		Model struct {
			Kind, Digest string
			Elements     []struct{ ID string }
		}
	}
	if err := json.Unmarshal(side.page(t, "/api/v1/drawing?net=archiving"), &drawing); err != nil || drawing.Model.Kind != "bpmn" || drawing.Model.Digest == "" || len(drawing.Model.Elements) == 0 {
		t.Errorf("the drawing of the called process has the model %+v, %v", drawing.Model, err)
	}
}

// A file without a diagram is laid out, and its call activities open.
func TestThePageDrawsAFileWithoutADiagram(t *testing.T) {
	t.Parallel()
	b := browsertest.Start(t).Tab(t)
	text, err := os.ReadFile("../petri/bpmn/testdata/call.bpmn")
	if err != nil {
		t.Fatal(err)
	}
	side := serve(t, startNATS(t), write(t, "call.bpmn", string(text)))
	b.Open(side.url + "/#net=caller")
	b.Until(`document.querySelector('#bpmn').dataset.drawn && document.querySelectorAll('#bpmn .djs-shape').length >= 5`)
	b.Screenshot("laid-out")
	b.Click("[data-container-id=c1] .door")
	b.Until(`document.querySelector('[data-element-id=ht]') && document.querySelector('.way-out')`)
	b.Screenshot("laid-out-called")
	b.Clean(strings.TrimPrefix(side.url, "http://"), false)
}
