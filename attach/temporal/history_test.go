// SPDX-License-Identifier: Apache-2.0

package temporal

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// recorded reads an answer of a real server. temporaltest wrote it.
func recorded[M proto.Message](t testing.TB, name string, into M) M {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := protojson.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
	return into
}

// historyOf returns the events of a recorded workflow, the first one first.
func historyOf(t testing.TB, kind string) []event {
	t.Helper()
	var out []event
	for _, h := range recorded(t, "history-"+kind, &workflowservice.GetWorkflowExecutionHistoryReverseResponse{}).GetHistory().GetEvents() {
		out = append(out, readEvent(h))
	}
	slices.Reverse(out)
	return out
}

func noRoom(t testing.TB) func() { return func() { t.Error("there is no room for a place") } }

// flow is what was counted of a place, or of a transition without one.
type flow struct{ Arrived, Departed, Fired uint64 }

func (n *workflowNet) flows() map[string]flow {
	out := map[string]flow{}
	for _, tr := range n.net.Def.Transitions {
		id := strings.TrimSuffix(tr.ID, done)
		place := -1
		if id != tr.ID {
			place = n.net.FindPlace(id)
		}
		f := flow{}
		f.Arrived, f.Departed, f.Fired = n.Counts(place, n.net.FindTransition(tr.ID))
		if f != (flow{}) {
			out[id] = f
		}
	}
	return out
}

// play reads events in one go, and returns what was counted.
func play(t testing.TB, events []event, floor int64) (*execution, map[string]flow) {
	t.Helper()
	n := newNet("n", noRoom(t))
	x := newExecution(n, floor, savedRun{})
	x.read(events)
	return x, n.flows()
}

func TestCountsOfRecordedHistories(t *testing.T) {
	for kind, want := range map[string]map[string]flow{
		"Order": {"started": {Fired: 1}, "completed": {Fired: 1}, "workflow task@orders": {4, 4, 4}, "Quick@orders": {2, 2, 2}, "timer": {1, 1, 1}},
		"Ship":  {"started": {Fired: 1}, "workflow task@orders": {1, 1, 1}, "ShipIt@unpolled": {1, 0, 0}},
		"Pay":   {"started": {Fired: 1}, "workflow task@orders": {1, 1, 1}, "Fails@orders": {1, 0, 0}},
		"Nap":   {"started": {Fired: 1}, "workflow task@orders": {1, 1, 1}, "timer": {1, 0, 0}},
		"Approve": {"started": {Fired: 1}, "workflow task@orders": {1, 1, 1},
			"waiting": {1, 0, 0}},
		"Parent": {"started": {Fired: 1}, "workflow task@orders": {2, 2, 2}, "child Approve": {1, 0, 0}},
		"Broken": {"started": {Fired: 1}, "workflow task@orders": {1, 0, 0}},
	} {
		_, got := play(t, historyOf(t, kind), 0)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", kind, d)
		}
	}
}

// The events of tests: one a second, and what the server writes around them.
func story(lines ...event) []event {
	for i := range lines {
		lines[i].id, lines[i].at = int64(i+1), int64(i+1)*1e6
	}
	lines[0].queue = "q"
	return lines
}

func TestCountsByRule(t *testing.T) {
	task := func(more ...event) []event {
		return append([]event{{effect: schedules}, {}, {effect: completes}}, more...)
	}
	begin := append([]event{{effect: starts}}, task()...) // 1 to 4
	after := func(more ...event) []event { return story(append(slices.Clone(begin), more...)...) }
	for _, rule := range []struct {
		name   string
		events []event
		open   []string // places of what is pending
		want   map[string]flow
	}{
		{"a workflow without anything pending waits", after(), []string{"waiting"}, map[string]flow{"waiting": {1, 0, 0}, "workflow task@q": {1, 1, 1}}},
		{"a signal ends the wait", after(append([]event{{effect: arrives}}, task()...)...), []string{"waiting"}, map[string]flow{"waiting": {2, 1, 1}, "workflow task@q": {2, 2, 2}}},
		{"what begins with a workflow task is no wait", after(event{effect: opens, place: "a@q"}), []string{"a@q"}, map[string]flow{"a@q": {1, 0, 0}, "workflow task@q": {1, 1, 1}}},
		{"what ends schedules a workflow task, and is no wait",
			after(append([]event{{effect: opens, place: "a@q"}, {effect: opens, place: "b@q"}, {effect: finishes, of: 5}}, append(task(), append([]event{{effect: gives, of: 6}}, task()...)...)...)...),
			[]string{"waiting"}, map[string]flow{"a@q": {1, 1, 1}, "b@q": {1, 1, 0}, "waiting": {1, 0, 0}, "workflow task@q": {3, 3, 3}}},
		{"a timer that the code cancels leaves a wait",
			after(append([]event{{effect: opens, place: "timer"}, {effect: arrives}}, task(event{effect: cancels, of: 5})...)...),
			[]string{"waiting"}, map[string]flow{"timer": {1, 1, 0}, "waiting": {1, 0, 0}, "workflow task@q": {2, 2, 2}}},
		{"a workflow task that fails stays, also when it is scheduled again",
			after(event{effect: arrives}, event{effect: schedules}, event{}, event{effect: fails, what: "panic"}, event{effect: schedules}, event{}),
			[]string{"workflow task@q"}, map[string]flow{"waiting": {1, 1, 1}, "workflow task@q": {2, 1, 1}}},
		{"the code that closes a workflow ends no wait", after(event{effect: closes, what: "completed"}), nil, map[string]flow{"completed": {Fired: 1}, "workflow task@q": {1, 1, 1}}},
		{"a terminated workflow leaves its wait without a firing", after(event{effect: closes, what: "terminated"}), nil,
			map[string]flow{"waiting": {1, 1, 0}, "terminated": {Fired: 1}, "workflow task@q": {1, 1, 1}}},
		{"what is pending leaves with its workflow", after(event{effect: opens, place: "a@q"}, event{effect: closes, what: "timed out"}), nil,
			map[string]flow{"a@q": {1, 1, 0}, "timed out": {Fired: 1}, "workflow task@q": {1, 1, 1}}},
		{"a delayed start ends with the first workflow task", story(append([]event{{effect: starts, until: 5e6}}, task()...)...), []string{"waiting"},
			map[string]flow{"start delay": {1, 1, 1}, "waiting": {1, 0, 0}, "workflow task@q": {1, 1, 1}}},
		{"copied events of a reset are not counted", story(append([]event{{effect: starts}, {effect: schedules}, {}, {effect: fails, reset: true}}, task()...)...), []string{"waiting"},
			map[string]flow{"workflow task@q": {0, 1, 1}, "waiting": {1, 0, 0}}},
	} {
		x, got := play(t, rule.events, 0)
		if d := cmp.Diff(rule.open, pendingAt(x)); d != "" {
			t.Errorf("%s: pending: %s", rule.name, d)
		}
		delete(got, "started")
		if d := cmp.Diff(rule.want, got); d != "" {
			t.Errorf("%s: %s", rule.name, d)
		}
	}
}

// pendingAt returns the places of what is pending, sorted.
func pendingAt(x *execution) []string {
	var out []string
	for _, i := range x.open {
		out = append(out, i.place)
	}
	for _, i := range []*item{x.task, x.wait} {
		if i != nil {
			out = append(out, i.place)
		}
	}
	slices.Sort(out)
	return out
}

// A history that is read in parts, by one process or by two with a state file, gives
// the counts of a history that is read at once.
func TestReadingInPartsCountsTheSame(t *testing.T) {
	for _, kind := range []string{"Approve", "Broken", "Nap", "Order", "Parent", "Pay", "Ship"} {
		events := historyOf(t, kind)
		_, want := play(t, events, 0)
		for cut := 1; cut < len(events); cut++ {
			if events[cut].effect == opens || events[cut].effect == closes || events[cut].effect == cancels {
				continue // the server writes it with the workflow task before it
			}
			n := newNet("n", noRoom(t))
			x := newExecution(n, 0, savedRun{})
			x.read(events[:cut])
			saved, _ := (&run{execution: x}).saved(nil)
			x.read(events[cut:])
			check(t, kind, "one process", cut, want, n.flows())

			before := newNet("n", noRoom(t))
			newExecution(before, 0, savedRun{}).read(events[:cut])
			later := newNet("n", noRoom(t))
			newExecution(later, 0, saved).read(events)
			sum := before.flows()
			for id, f := range later.flows() {
				s := sum[id]
				sum[id] = flow{s.Arrived + f.Arrived, s.Departed + f.Departed, s.Fired + f.Fired}
			}
			check(t, kind, "two processes", cut, want, sum)
		}
	}
}

// check compares counts.
func check(t *testing.T, kind, how string, cut int, want, got map[string]flow) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s, %s, cut before event %d: %s", kind, how, cut+1, d)
	}
}

// Events of kinds that the recorded workflows lack.
func TestOtherEvents(t *testing.T) {
	child := &common.WorkflowExecution{WorkflowId: "c", RunId: "r"}
	for _, rule := range []struct {
		kind enums.EventType
		with func(h *history.HistoryEvent)
		want event
	}{
		{enums.EVENT_TYPE_NEXUS_OPERATION_SCHEDULED, func(h *history.HistoryEvent) {
			h.Attributes = &history.HistoryEvent_NexusOperationScheduledEventAttributes{NexusOperationScheduledEventAttributes: &history.NexusOperationScheduledEventAttributes{Endpoint: "e", Service: "s", Operation: "o"}}
		}, event{effect: opens, place: "nexus e/s.o"}},
		{enums.EVENT_TYPE_NEXUS_OPERATION_COMPLETED, func(h *history.HistoryEvent) {
			h.Attributes = &history.HistoryEvent_NexusOperationCompletedEventAttributes{NexusOperationCompletedEventAttributes: &history.NexusOperationCompletedEventAttributes{ScheduledEventId: 5}}
		}, event{effect: finishes, of: 5}},
		{enums.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_STARTED, func(h *history.HistoryEvent) {
			h.Attributes = &history.HistoryEvent_ChildWorkflowExecutionStartedEventAttributes{ChildWorkflowExecutionStartedEventAttributes: &history.ChildWorkflowExecutionStartedEventAttributes{InitiatedEventId: 5, WorkflowExecution: child}}
		}, event{effect: proceeds, of: 5, key: "c/r"}},
		{enums.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_FAILED, func(h *history.HistoryEvent) {
			h.Attributes = &history.HistoryEvent_ChildWorkflowExecutionFailedEventAttributes{ChildWorkflowExecutionFailedEventAttributes: &history.ChildWorkflowExecutionFailedEventAttributes{InitiatedEventId: 5}}
		}, event{effect: gives, of: 5}},
		{enums.EVENT_TYPE_TIMER_CANCELED, func(h *history.HistoryEvent) {
			h.Attributes = &history.HistoryEvent_TimerCanceledEventAttributes{TimerCanceledEventAttributes: &history.TimerCanceledEventAttributes{StartedEventId: 5}}
		}, event{effect: cancels, of: 5}},
		{enums.EVENT_TYPE_EXTERNAL_WORKFLOW_EXECUTION_SIGNALED, func(h *history.HistoryEvent) {
			h.Attributes = &history.HistoryEvent_ExternalWorkflowExecutionSignaledEventAttributes{ExternalWorkflowExecutionSignaledEventAttributes: &history.ExternalWorkflowExecutionSignaledEventAttributes{InitiatedEventId: 5}}
		}, event{effect: finishes, of: 5}},
		{enums.EVENT_TYPE_WORKFLOW_TASK_FAILED, func(h *history.HistoryEvent) {
			h.Attributes = &history.HistoryEvent_WorkflowTaskFailedEventAttributes{WorkflowTaskFailedEventAttributes: &history.WorkflowTaskFailedEventAttributes{Cause: enums.WORKFLOW_TASK_FAILED_CAUSE_RESET_WORKFLOW}}
		}, event{effect: fails, what: "ResetWorkflow", reset: true}},
		{enums.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW, func(*history.HistoryEvent) {}, event{effect: closes, what: "continued as new"}},
		{enums.EVENT_TYPE_MARKER_RECORDED, func(*history.HistoryEvent) {}, event{}},
	} {
		h := &history.HistoryEvent{EventType: rule.kind}
		rule.with(h)
		if got := readEvent(h); got != rule.want {
			t.Errorf("%v: %+v; expected %+v", rule.kind, got, rule.want)
		}
	}
}

func TestNothingBeforeTheStartIsCounted(t *testing.T) {
	events := historyOf(t, "Order")
	x, got := play(t, events, events[len(events)-1].at+1)
	if len(got) > 0 || !x.closed {
		t.Errorf("counted %v, closed %v; expected nothing, true", got, x.closed)
	}
}

// No history of a server makes the adapter fail, and no place gets a negative
// number of tokens that were counted.
func FuzzHistory(f *testing.F) {
	for _, kind := range []string{"Approve", "Broken", "Nap", "Order", "Parent", "Pay", "Ship"} {
		answer := recorded(f, "history-"+kind, &workflowservice.GetWorkflowExecutionHistoryReverseResponse{})
		slices.Reverse(answer.GetHistory().GetEvents())
		text, err := proto.Marshal(answer.GetHistory())
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, uint8(3))
	}
	f.Fuzz(func(t *testing.T, text []byte, cut uint8) {
		var h history.History
		if proto.Unmarshal(text, &h) != nil {
			return
		}
		var events []event
		for _, e := range h.GetEvents() {
			events = append(events, readEvent(e))
		}
		n := newNet("n", func() {})
		x := newExecution(n, 0, savedRun{})
		at := min(int(cut), len(events))
		x.read(events[:at])
		x.waitsAt("x.Receive", 1)
		x.read(events[at:])
		x.vanish(1)
		for id, f := range n.flows() {
			if f.Departed > f.Arrived && f.Arrived > 0 {
				t.Errorf("%s: %d arrived, %d departed", id, f.Arrived, f.Departed)
			}
		}
	})
}
