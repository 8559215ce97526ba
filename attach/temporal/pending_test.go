// SPDX-License-Identifier: Apache-2.0

package temporal

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/failure/v1"
	"go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/pnagent/pnagent/stats"
)

// recordedRun returns a workflow of testdata as a poll has it.
func recordedRun(t *testing.T, kind string, detail bool) (*run, int64) {
	t.Helper()
	d := recorded(t, "describe-"+kind, &workflowservice.DescribeWorkflowExecutionResponse{})
	x, _ := play(t, historyOf(t, kind), 0)
	now := x.lastAt + 1e6
	return &run{namespace: "default", workflow: d.GetWorkflowExecutionInfo().GetExecution().GetWorkflowId(), id: "r", net: x.net,
		execution: x, described: readDescription(d, now, detail)}, now
}

// lastPolls returns the recorded pollers of the queues.
func lastPolls(t *testing.T) map[queueKey]*polled {
	t.Helper()
	out := map[queueKey]*polled{}
	for _, queue := range []string{"orders", "unpolled"} {
		p := &polled{}
		for _, one := range recorded(t, "queue-"+queue, &workflowservice.DescribeTaskQueueResponse{}).GetPollers() {
			p.last = micros(one.GetLastAccessTime())
		}
		out[queueKey{"default", queue, enums.TASK_QUEUE_TYPE_ACTIVITY}] = p
	}
	return out
}

func TestTokensOfRecordedWorkflows(t *testing.T) {
	queues := lastPolls(t)
	for _, rule := range []struct {
		kind, place string
		since       string // the type of the event
		reason      stats.Reason
		what        string
		detail      bool
	}{
		{"Ship", "ShipIt@unpolled", "ActivityTaskScheduled", stats.ReasonNoWorker, "no worker polls task queue unpolled", false},
		{"Pay", "Fails@orders", "ActivityTaskScheduled", stats.ReasonDelayed, "attempt 2, last failure: error", false},
		{"Pay", "Fails@orders", "ActivityTaskScheduled", stats.ReasonDelayed, "attempt 2, last failure: error: card of Ada Lovelace declined", true},
		{"Nap", "timer", "TimerStarted", stats.ReasonDelayed, "", false},
		{"Parent", "child Approve", "StartChildWorkflowExecutionInitiated", stats.ReasonRunning, "in child child-of-one-Parent/", false},
		{"Broken", "workflow task@orders", "WorkflowTaskScheduled", stats.ReasonIncident, "the workflow task fails, attempt 2; WorkflowWorkerUnhandledFailure", true},
		{"Approve", "waiting", "WorkflowTaskCompleted", stats.ReasonManual, "nothing is pending", false},
	} {
		r, now := recordedRun(t, rule.kind, rule.detail)
		tokens := r.tokens(queues, now)
		if len(tokens) != 1 || len(tokens[0].Waits) != 1 {
			t.Errorf("%s: %+v; expected a token with a reason", rule.kind, tokens)
			continue
		}
		got, wait := tokens[0], tokens[0].Waits[0]
		if place := r.net.net.Def.Places[got.Place].ID; place != rule.place || got.Instance != "one-"+rule.kind+"/r" {
			t.Errorf("%s: %s at %s; expected it at %s", rule.kind, got.Instance, place, rule.place)
		}
		if want := timeOf(t, rule.kind, rule.since); got.Since != want {
			t.Errorf("%s: since %s; expected %s", rule.kind, clock(got.Since), clock(want))
		}
		if wait.Reason != rule.reason || !strings.HasPrefix(wait.What, rule.what) || rule.what == "" && wait.What != "" {
			t.Errorf("%s: %v, %q; expected %v, %q", rule.kind, wait.Reason, wait.What, rule.reason, rule.what)
		}
		if !rule.detail && strings.Contains(wait.What, "Ada") {
			t.Errorf("%s: %q has data of a person", rule.kind, wait.What)
		}
		if (wait.Until > now) != (rule.reason == stats.ReasonDelayed) {
			t.Errorf("%s: until %d", rule.kind, wait.Until)
		}
	}
}

// timeOf returns the time of the last event of a type in a recorded history.
func timeOf(t *testing.T, kind, eventType string) int64 {
	t.Helper()
	for _, h := range recorded(t, "history-"+kind, &workflowservice.GetWorkflowExecutionHistoryReverseResponse{}).GetHistory().GetEvents() {
		if h.GetEventType().String() == eventType {
			return micros(h.GetEventTime())
		}
	}
	t.Fatalf("%s has no %s", kind, eventType)
	return 0
}

func TestReasonsOfActivities(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	at := func(d time.Duration) *timestamppb.Timestamp { return timestamppb.New(now.Add(d)) }
	failed := &failure.Failure{Message: "of Ada", FailureInfo: &failure.Failure_ApplicationFailureInfo{ApplicationFailureInfo: &failure.ApplicationFailureInfo{Type: "Declined"}}}
	for _, rule := range []struct {
		name string
		of   *workflow.PendingActivityInfo
		want reason
	}{
		{"no worker has taken it", &workflow.PendingActivityInfo{State: enums.PENDING_ACTIVITY_STATE_SCHEDULED, Attempt: 1, ScheduledTime: at(-time.Hour)},
			reason{Reason: stats.ReasonEnabled, idle: true}},
		{"it is tried again later", &workflow.PendingActivityInfo{State: enums.PENDING_ACTIVITY_STATE_SCHEDULED, Attempt: 3, MaximumAttempts: 5, LastFailure: failed, NextAttemptScheduleTime: at(time.Minute)},
			reason{Reason: stats.ReasonDelayed, until: now.Add(time.Minute).UnixMicro(), what: "attempt 3 of 5, last failure: Declined"}},
		{"it could be tried again", &workflow.PendingActivityInfo{State: enums.PENDING_ACTIVITY_STATE_SCHEDULED, Attempt: 3, LastFailure: failed},
			reason{Reason: stats.ReasonEnabled, idle: true, what: "attempt 3, last failure: Declined"}},
		{"a worker runs it", &workflow.PendingActivityInfo{State: enums.PENDING_ACTIVITY_STATE_STARTED, Attempt: 1, LastStartedTime: at(-time.Minute), LastHeartbeatTime: at(-time.Second), LastWorkerIdentity: "7@host"},
			reason{Reason: stats.ReasonRunning, what: "worker 7@host runs it since 2026-01-01T11:59:00Z; last heartbeat 2026-01-01T11:59:59Z"}},
		{"it shall be canceled", &workflow.PendingActivityInfo{State: enums.PENDING_ACTIVITY_STATE_CANCEL_REQUESTED, Attempt: 1, LastStartedTime: at(-time.Minute)},
			reason{Reason: stats.ReasonRunning, what: "cancel requested; a worker runs it since 2026-01-01T11:59:00Z"}},
		{"it is paused", &workflow.PendingActivityInfo{State: enums.PENDING_ACTIVITY_STATE_PAUSED, Paused: true, Attempt: 2},
			reason{Reason: stats.ReasonManual, what: "paused; attempt 2"}},
	} {
		if got := activityReason(rule.of, now.UnixMicro(), false); got != rule.want {
			t.Errorf("%s: %+v; expected %+v", rule.name, got, rule.want)
		}
	}
	if got := failureText(failed, true); got != "Declined: of Ada" {
		t.Errorf("with detail: %q", got)
	}
}

func TestReasonsOfNexusOperations(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for _, rule := range []struct {
		of   *workflow.PendingNexusOperationInfo
		want reason
	}{
		{&workflow.PendingNexusOperationInfo{State: enums.PENDING_NEXUS_OPERATION_STATE_SCHEDULED, Attempt: 1}, reason{Reason: stats.ReasonEnabled}},
		{&workflow.PendingNexusOperationInfo{State: enums.PENDING_NEXUS_OPERATION_STATE_STARTED, Attempt: 1}, reason{Reason: stats.ReasonRunning, what: "the handler runs it"}},
		{&workflow.PendingNexusOperationInfo{State: enums.PENDING_NEXUS_OPERATION_STATE_BLOCKED, Attempt: 2}, reason{Reason: stats.ReasonIncident, what: "blocked; attempt 2"}},
		{&workflow.PendingNexusOperationInfo{State: enums.PENDING_NEXUS_OPERATION_STATE_BACKING_OFF, Attempt: 4, NextAttemptScheduleTime: timestamppb.New(now.Add(time.Second))},
			reason{Reason: stats.ReasonDelayed, until: now.Add(time.Second).UnixMicro(), what: "attempt 4"}},
	} {
		if got := nexusReason(rule.of, now.UnixMicro(), false); got != rule.want {
			t.Errorf("%v: %+v; expected %+v", rule.of.GetState(), got, rule.want)
		}
	}
}

func TestWhoPollsAQueue(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC).UnixMicro()
	for want, p := range map[string]*polled{
		"":                             nil,
		"no worker polls task queue q": {},
		"no worker polls task queue q since 2026-01-01T11:57:00Z": {last: now - 180e6},
	} {
		if got := unpolledText("q", p, now); got != want {
			t.Errorf("%+v: %q; expected %q", p, got, want)
		}
	}
	if got := unpolledText("q", &polled{last: now - 60e6}, now); got != "" {
		t.Errorf("a poll of a minute ago: %q; expected nothing: polls take as long", got)
	}
}

func TestStackTraces(t *testing.T) {
	trace := readTrace(recorded(t, "trace-Approve", &workflowservice.QueryWorkflowResponse{}))
	for text, want := range map[string][2]string{
		trace: {"approved.Receive", "blocked on approved.Receive"},
		"coroutine root [blocked on wait-group]:\nx\n\ncoroutine 2 [blocked on paid.Receive]:\ny": {"wait-group", "blocked on wait-group, paid.Receive"},
		"  File \"workflow.py\", line 3, in run\n":                                                {},
		"": {},
	} {
		place, what := blockedAt(text)
		if d := cmp.Diff(want, [2]string{place, what}); d != "" {
			t.Errorf("%.60q: %s", text, d)
		}
	}
}

func TestAPlaceByTheStackTraceKeepsTheAge(t *testing.T) {
	r, now := recordedRun(t, "Approve", false)
	r.execution.waitsAt("approved.Receive", now)
	r.trace = trace{asked: true, what: "blocked on approved.Receive"}
	tokens := r.tokens(nil, now)
	if len(tokens) != 1 || r.net.net.Def.Places[tokens[0].Place].ID != "approved.Receive" || tokens[0].Since != timeOf(t, "Approve", "WorkflowTaskCompleted") {
		t.Errorf("%+v; expected the token at approved.Receive, with its age", tokens)
	}
	want := map[string]flow{"started": {Fired: 1}, "workflow task@orders": {1, 1, 1}, "waiting": {1, 1, 0}, "approved.Receive": {1, 0, 0}}
	if d := cmp.Diff(want, r.net.flows()); d != "" {
		t.Error(d)
	}
}

func FuzzStackTrace(f *testing.F) {
	f.Add("coroutine root [blocked on approved.Receive]:\n")
	f.Add("coroutine 1 [blocked on a\x00b]: coroutine 2 [blocked on ]")
	f.Fuzz(func(t *testing.T, text string) {
		place, what := blockedAt(text)
		if len(place) > maxPlaceName || (place == "") != (what == "") {
			t.Errorf("%q, %q", place, what)
		}
	})
}
