// SPDX-License-Identifier: Apache-2.0

package temporaltest

import (
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/nexus/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
)

// timeOf returns when the last event of a type occurred in a workflow, by Temporal's
// own API.
func (s *server) timeOf(id string, kind enums.EventType) time.Time {
	s.t.Helper()
	h, err := s.api.GetWorkflowExecutionHistoryReverse(s.t.Context(), &workflowservice.GetWorkflowExecutionHistoryReverseRequest{Namespace: "default", Execution: &common.WorkflowExecution{WorkflowId: id}})
	if err != nil {
		s.t.Fatal(err)
	}
	for _, e := range h.GetHistory().GetEvents() {
		if e.GetEventType() == kind {
			return e.GetEventTime().AsTime()
		}
	}
	return time.Time{}
}

// attempt returns the attempt of the pending activity of a workflow, by Temporal's
// own API.
func (s *server) attempt(id string) int32 {
	s.t.Helper()
	d, err := s.api.DescribeWorkflowExecution(s.t.Context(), &workflowservice.DescribeWorkflowExecutionRequest{Namespace: "default", Execution: &common.WorkflowExecution{WorkflowId: id}})
	if err != nil || len(d.GetPendingActivities()) != 1 {
		s.t.Fatalf("describing %s: %v", id, err)
	}
	return d.GetPendingActivities()[0].GetAttempt()
}

// endpoint makes a Nexus endpoint with the task queue that no worker polls.
func (s *server) endpoint(name string) {
	s.t.Helper()
	spec := &nexus.EndpointSpec{Name: name, Target: &nexus.EndpointTarget{Variant: &nexus.EndpointTarget_Worker_{Worker: &nexus.EndpointTarget_Worker{Namespace: "default", TaskQueue: unpolled}}}}
	if _, err := operatorservice.NewOperatorServiceClient(s.conn).CreateNexusEndpoint(s.t.Context(), &operatorservice.CreateNexusEndpointRequest{Spec: spec}); err != nil {
		s.t.Fatal(err)
	}
}

// stuckCase is a workflow that is stuck, and what is to be seen of it.
type stuckCase struct {
	net, place string
	since      enums.EventType
	what       string // how the reason begins
}

var stuckCases = []stuckCase{
	{"Ship", "ShipIt@unpolled", enums.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED, "no worker polls task queue unpolled"},
	{"Approve", "approved.Receive", enums.EVENT_TYPE_WORKFLOW_TASK_COMPLETED, "blocked on approved.Receive"},
	{"Pay", "Fails@orders", enums.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED, "attempt "},
	{"Nap", "timer", enums.EVENT_TYPE_TIMER_STARTED, ""},
	{"Parent", "child Approve", enums.EVENT_TYPE_START_CHILD_WORKFLOW_EXECUTION_INITIATED, "in child child-of-one-Parent/"},
	{"Partner", "nexus partner/billing.invoice", enums.EVENT_TYPE_NEXUS_OPERATION_SCHEDULED, ""},
	{"Broken", "workflow task@orders", enums.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED, "the workflow task fails, attempt "},
}

// seen reports what lacks of a stuck workflow in the API, in SNMP and in Prometheus;
// "" if all show it as Temporal has it.
func (f *faces) seen(s *server, c stuckCase, runID string) string {
	f.t.Helper()
	since, name := s.timeOf("one-"+c.net, c.since), "one-"+c.net+"/"+runID
	token, ok := f.stuckAt(c.net, c.place)
	if !ok || len(token.Waits) != 1 {
		return c.net + ": no token at " + c.place
	}
	injected, err := time.Parse(time.RFC3339Nano, token.Injected)
	if want := since.Truncate(time.Microsecond); err != nil || !injected.Equal(want) || token.Instance != name || !strings.HasPrefix(token.Waits[0].What, c.what) {
		return fmt.Sprintf("%s: %+v; expected %s since %v: %q", c.net, token, name, want, c.what)
	}
	if strings.Contains(token.Waits[0].What, "Ada") {
		f.t.Errorf("%q has data of a person", token.Waits[0].What)
	}
	age, why, ok := f.stuckRow(name)
	if now := time.Since(since).Seconds(); !ok || math.Abs(float64(age)-now) > 5 || !strings.Contains(why, c.what) {
		return fmt.Sprintf("%s in pnStuckTable: %d s, %q; expected %.0f s, %q", c.net, age, why, now, c.what)
	}
	oldest, ok := f.metric("petrinet_place_oldest_token_age_seconds", c.net, "place", c.place)
	if now := time.Since(since).Seconds(); !ok || math.Abs(oldest-now) > 5 {
		return fmt.Sprintf("%s in Prometheus: %v s; expected %.0f s", c.net, oldest, now)
	}
	return ""
}

func (f *faces) seesAll(s *server, runs map[string]client.WorkflowRun) {
	f.t.Helper()
	for _, c := range stuckCases {
		until(f.t, "all that is stuck is shown as Temporal has it", func() string { return f.seen(s, c, runs[c.net].GetRunID()) })
	}
}

// Stuck workflows are shown with their age and reason, everywhere, and as Temporal's
// own API has them: also after the adapter, and then the server, was killed. What
// happens is counted once.
func TestStuckWorkflows(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	c := s.client("default")
	stop := work(t, c)
	s.endpoint("partner")
	f := newFaces(t)
	state := filepath.Join(t.TempDir(), "state")
	runs := map[string]client.WorkflowRun{}
	for _, k := range stuckCases {
		runs[k.net] = begin(t, c, k.net, "one-"+k.net)
	}
	adapter := f.attach(s, "--state", state)
	f.seesAll(s, runs)

	until(t, "the attempts are those of Temporal's API", func() string {
		before := s.attempt("one-Pay")
		token, _ := f.stuckAt("Pay", "Fails@orders")
		if want := fmt.Sprintf("attempt %d, last failure: error", before); len(token.Waits) != 1 || token.Waits[0].What != want {
			return fmt.Sprintf("%+v; expected %s", token, want)
		}
		return ""
	})

	f.typed(s)

	order := func(id string) {
		t.Helper()
		run := begin(t, c, "Order", id)
		if err := c.SignalWorkflow(t.Context(), id, "", "paid", "Ada"); err != nil {
			t.Fatal(err)
		}
		if err := run.Get(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
	}
	counted := func(n float64) {
		t.Helper()
		until(t, fmt.Sprintf("%g orders are counted", n), func() string {
			for tr, want := range map[string]float64{"started": n, "completed": n, "Quick@orders/done": 2 * n, "timer/done": n} {
				if got, ok := f.metric("petrinet_transition_firings_total", "Order", "transition", tr); !ok || got != want {
					return fmt.Sprintf("%s fired %v times; expected %v", tr, got, want)
				}
			}
			return ""
		})
	}
	order("order-1")
	order("order-2")
	counted(2)
	saved(t, state, 2)
	adapter.kill()
	order("order-3") // which began and ended while there was no adapter
	adapter = f.attach(s, "--state", state)
	f.seesAll(s, runs)
	counted(3)

	stop()
	s.kill()
	s.start()
	c = s.client("default")
	stop = work(t, c)
	f.seesAll(s, runs)
	order("order-4")
	counted(4)

	if err := c.SignalWorkflow(t.Context(), "one-Approve", "", "approved", "Ada"); err != nil {
		t.Fatal(err)
	}
	until(t, "the signal is counted", func() string {
		if n, _ := f.metric("petrinet_transition_firings_total", "Approve", "transition", "approved.Receive/done"); n != 1 {
			return fmt.Sprint(n)
		}
		return ""
	})
	stop()
	adapter.kill()
}

// typed types the command lines that are shown for tokens: one shows the execution, one has a new first attempt made, and one
// ends the pause of an activity.
func (f *faces) typed(s *server) {
	f.t.Helper()
	shown := func(net, place, begins string) (command string) {
		f.t.Helper()
		until(f.t, "a command line begins with "+begins, func() string {
			text := get(f.t, f.web, "/api/v1/place?"+url.Values{"net": {net}, "place": {place}}.Encode())
			var shown struct{ Commands []string }
			if err := json.Unmarshal([]byte(text), &shown); err != nil || len(shown.Commands) != 1 || !strings.HasPrefix(shown.Commands[0], begins) {
				return fmt.Sprint(shown.Commands, err)
			}
			command = shown.Commands[0]
			return ""
		})
		return command
	}
	program := func(command string) string {
		f.t.Helper()
		cmd := exec.CommandContext(f.t.Context(), "sh", "-c", command)
		cmd.Env = append(cmd.Environ(), "PATH="+filepath.Dir(s.program)+":"+os.Getenv("PATH"), "TEMPORAL_ADDRESS="+s.address)
		out, err := cmd.CombinedOutput()
		if err != nil {
			f.t.Errorf("%s: %v: %s", command, err, out)
		}
		return string(out)
	}
	if out := program(shown("Approve", "approved.Receive", "temporal workflow describe ")); !strings.Contains(out, "one-Approve") {
		f.t.Errorf("the program shows %s; expected the execution", out)
	}
	reset := shown("Pay", "Fails@orders", "temporal activity reset ")
	until(f.t, "an attempt that is not one of the first", func() string {
		if n := s.attempt("one-Pay"); n < 4 {
			return fmt.Sprint(n)
		}
		return ""
	})
	program(reset)
	if n := s.attempt("one-Pay"); n > 3 {
		f.t.Errorf("attempt %d after %s; expected one of the first", n, reset)
	}
	program(strings.Replace(reset, " reset ", " pause ", 1))
	program(shown("Pay", "Fails@orders", "temporal activity unpause "))
	shown("Pay", "Fails@orders", "temporal activity reset ")
}

// saved waits until the state file has that many closed workflows.
func saved(t *testing.T, path string, n int) {
	t.Helper()
	until(t, "the state is written", func() string {
		text, err := os.ReadFile(path)
		if err != nil {
			return err.Error()
		}
		_, seen, _ := strings.Cut(string(text), `"seen":{`)
		seen, _, _ = strings.Cut(seen, "}")
		if got := strings.Count(seen, ":"); got != n {
			return fmt.Sprintf("%d closed workflows; expected %d", got, n)
		}
		return ""
	})
}
