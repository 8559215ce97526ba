// SPDX-License-Identifier: Apache-2.0

//go:build peers

package lines

import (
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/pnagent/pnagent/attach/internal/enginetest"
)

// TestSpiffWorkflowSendsItsSteps runs the example in Python with the engine itself.
func TestSpiffWorkflowSendsItsSteps(t *testing.T) {
	const example = "../../examples/attach/spiffworkflow"
	python := enginetest.Python(t, filepath.Join("testdata", "spiffworkflow.txt"))
	model := filepath.Join(example, "orders.bpmn")
	a := attach(t, func(c *Config) { c.Nets = process(t, model) })
	server := httptest.NewServer(a.Handler())
	defer server.Close()
	if out, err := exec.Command(python, filepath.Join(example, "orders.py"), model, server.URL).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	n, rows := a.Nets()[0], seen(t, a, time.Now().UnixMicro())
	if n.Events != 4 || n.Unfit != 0 || rows.Net.Finished != 1 || rows.Net.Active != 2 || dropped(a) != "" {
		t.Errorf("%+v, %+v; %s; expected 4 events, one order that ended and two that wait", n, rows.Net, dropped(a))
	}
	for i := range rows.Places {
		if got := rows.Places[i]; got.Tokens > 0 && (got.Tokens != 2 || len(got.Stuck) != 2 || got.Stuck[0].Instance != "order 2") {
			t.Errorf("place %d: %+v; expected orders 2 and 3", i, got)
		}
	}
}
