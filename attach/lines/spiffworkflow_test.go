// SPDX-License-Identifier: Apache-2.0

//go:build peers

package lines

import (
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// TestSpiffWorkflowSendsItsSteps runs the example in Python with the engine itself.
func TestSpiffWorkflowSendsItsSteps(t *testing.T) {
	const example = "../../examples/attach/spiffworkflow"
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skip("no cache directory: ", err)
	}
	dir := filepath.Join(cache, "pnagent-test", "spiffworkflow-3.1.0")
	python := filepath.Join(dir, "bin", "python")
	if exec.Command(python, "-c", "import SpiffWorkflow").Run() != nil {
		for _, args := range [][]string{{"python3", "-m", "venv", "--clear", dir}, {python, "-m", "pip", "install", "-q", "SpiffWorkflow==3.1.0", "lxml==6.0.2"}} {
			if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
				t.Skipf("%v: %v: %.500s", args, err, out)
			}
		}
	}
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
