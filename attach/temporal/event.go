// SPDX-License-Identifier: Apache-2.0

package temporal

import (
	"strings"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// effect is what an event does.
type effect uint8

const (
	nothing   effect = iota
	starts           // the execution begins
	opens            // something is pending from now on
	proceeds         // more is known of what is pending
	finishes         // what was pending is done
	gives            // what was pending ended otherwise: failed, canceled, timed out
	cancels          // the workflow's code canceled what was pending
	schedules        // a workflow task is pending
	completes        // it is done
	fails            // it failed or timed out, and is tried again
	arrives          // a signal, an update or a request came from outside
	closes           // the execution ends
)

// event is what the adapter keeps of an event of a history: no payload.
type event struct {
	id, at int64 // at in microseconds since the Unix epoch
	effect effect
	of     int64  // the event that began what this one ends or proceeds with
	place  string // of what opens
	queue  string // of starts: the task queue of workflow tasks; of an activity: its own
	key    string // of what opens: the id of the activity; of proceeds: the child
	until  int64  // of a timer and of a delayed start
	what   string // why it fails; how it closes
	reset  bool   // the events before it are copies of another execution's
}

// The places that are not named after what the workflow's code calls.
const (
	placeUnread  = "not read yet"
	placeWaiting = "waiting"
	placeTimer   = "timer"
	placeDelay   = "start delay"
)

func placeTask(queue string) string           { return name("workflow task@", queue) }
func placeActivity(kind, queue string) string { return name(kind, "@", queue) }
func placeChild(kind string) string           { return name("child ", kind) }

// name returns the id of a place, of at most maxPlaceName bytes.
func name(parts ...string) string {
	return strings.TrimSpace(stats.Clip(strings.Join(parts, ""), maxPlaceName))
}

// maxPlaceName is the largest id of a place, in bytes.
const maxPlaceName = 120

func micros(t *timestamppb.Timestamp) int64 {
	if t == nil {
		return 0
	}
	if at := t.AsTime().UnixMicro(); at > 0 && at <= telemetry.MaxTime {
		return at
	}
	return 0
}

func after(at int64, d *durationpb.Duration) int64 {
	return min(at+min(d.AsDuration(), 100*365*24*time.Hour).Microseconds(), telemetry.MaxTime)
}

// readEvent returns what is kept of an event.
func readEvent(h *history.HistoryEvent) event {
	e := event{id: h.GetEventId(), at: micros(h.GetEventTime())}
	e.ofTask(h)
	e.ofCommands(h)
	e.ofResults(h)
	e.ofEnd(h)
	return e
}

// ofTask reads the events of the execution's begin, of workflow tasks, and of what
// comes from outside.
func (e *event) ofTask(h *history.HistoryEvent) {
	switch h.GetEventType() {
	case enums.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED:
		a := h.GetWorkflowExecutionStartedEventAttributes()
		e.effect, e.queue = starts, a.GetTaskQueue().GetName()
		if delay := a.GetFirstWorkflowTaskBackoff(); delay.AsDuration() > 0 {
			e.until = after(e.at, delay)
		}
	case enums.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED:
		e.effect = schedules
	case enums.EVENT_TYPE_WORKFLOW_TASK_COMPLETED:
		e.effect = completes
	case enums.EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT:
		e.effect, e.what = fails, "timed out"
	case enums.EVENT_TYPE_WORKFLOW_TASK_FAILED:
		cause := h.GetWorkflowTaskFailedEventAttributes().GetCause()
		e.effect, e.what, e.reset = fails, cause.String(), cause == enums.WORKFLOW_TASK_FAILED_CAUSE_RESET_WORKFLOW
	case enums.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED, enums.EVENT_TYPE_WORKFLOW_EXECUTION_CANCEL_REQUESTED,
		enums.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ADMITTED:
		e.effect = arrives
	}
}

// ofCommands reads the events by which something is pending from now on.
func (e *event) ofCommands(h *history.HistoryEvent) {
	switch h.GetEventType() {
	case enums.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
		a := h.GetActivityTaskScheduledEventAttributes()
		e.effect, e.place, e.key = opens, placeActivity(a.GetActivityType().GetName(), a.GetTaskQueue().GetName()), a.GetActivityId()
		e.queue = a.GetTaskQueue().GetName()
	case enums.EVENT_TYPE_TIMER_STARTED:
		e.effect, e.place, e.until = opens, placeTimer, after(e.at, h.GetTimerStartedEventAttributes().GetStartToFireTimeout())
	case enums.EVENT_TYPE_START_CHILD_WORKFLOW_EXECUTION_INITIATED:
		a := h.GetStartChildWorkflowExecutionInitiatedEventAttributes()
		e.effect, e.place, e.key = opens, placeChild(a.GetWorkflowType().GetName()), a.GetWorkflowId()
	case enums.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_STARTED:
		a := h.GetChildWorkflowExecutionStartedEventAttributes()
		e.effect, e.of, e.key = proceeds, a.GetInitiatedEventId(), a.GetWorkflowExecution().GetWorkflowId()+"/"+a.GetWorkflowExecution().GetRunId()
	case enums.EVENT_TYPE_NEXUS_OPERATION_SCHEDULED:
		a := h.GetNexusOperationScheduledEventAttributes()
		e.effect, e.place = opens, name("nexus ", a.GetEndpoint(), "/", a.GetService(), ".", a.GetOperation())
	case enums.EVENT_TYPE_SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED:
		e.effect, e.place = opens, "signal to another workflow"
	case enums.EVENT_TYPE_REQUEST_CANCEL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED:
		e.effect, e.place = opens, "cancel of another workflow"
	}
}

// ofResults reads the events by which something is no longer pending.
func (e *event) ofResults(h *history.HistoryEvent) {
	end := func(how effect, of int64) { e.effect, e.of = how, of }
	switch h.GetEventType() {
	case enums.EVENT_TYPE_ACTIVITY_TASK_COMPLETED:
		end(finishes, h.GetActivityTaskCompletedEventAttributes().GetScheduledEventId())
	case enums.EVENT_TYPE_ACTIVITY_TASK_FAILED:
		end(gives, h.GetActivityTaskFailedEventAttributes().GetScheduledEventId())
	case enums.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT:
		end(gives, h.GetActivityTaskTimedOutEventAttributes().GetScheduledEventId())
	case enums.EVENT_TYPE_ACTIVITY_TASK_CANCELED:
		end(gives, h.GetActivityTaskCanceledEventAttributes().GetScheduledEventId())
	case enums.EVENT_TYPE_TIMER_FIRED:
		end(finishes, h.GetTimerFiredEventAttributes().GetStartedEventId())
	case enums.EVENT_TYPE_TIMER_CANCELED:
		end(cancels, h.GetTimerCanceledEventAttributes().GetStartedEventId())
	case enums.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_COMPLETED:
		end(finishes, h.GetChildWorkflowExecutionCompletedEventAttributes().GetInitiatedEventId())
	case enums.EVENT_TYPE_START_CHILD_WORKFLOW_EXECUTION_FAILED:
		end(gives, h.GetStartChildWorkflowExecutionFailedEventAttributes().GetInitiatedEventId())
	case enums.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_FAILED:
		end(gives, h.GetChildWorkflowExecutionFailedEventAttributes().GetInitiatedEventId())
	case enums.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_CANCELED:
		end(gives, h.GetChildWorkflowExecutionCanceledEventAttributes().GetInitiatedEventId())
	case enums.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_TIMED_OUT:
		end(gives, h.GetChildWorkflowExecutionTimedOutEventAttributes().GetInitiatedEventId())
	case enums.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_TERMINATED:
		end(gives, h.GetChildWorkflowExecutionTerminatedEventAttributes().GetInitiatedEventId())
	case enums.EVENT_TYPE_NEXUS_OPERATION_COMPLETED:
		end(finishes, h.GetNexusOperationCompletedEventAttributes().GetScheduledEventId())
	case enums.EVENT_TYPE_NEXUS_OPERATION_FAILED:
		end(gives, h.GetNexusOperationFailedEventAttributes().GetScheduledEventId())
	case enums.EVENT_TYPE_NEXUS_OPERATION_CANCELED:
		end(gives, h.GetNexusOperationCanceledEventAttributes().GetScheduledEventId())
	case enums.EVENT_TYPE_NEXUS_OPERATION_TIMED_OUT:
		end(gives, h.GetNexusOperationTimedOutEventAttributes().GetScheduledEventId())
	case enums.EVENT_TYPE_EXTERNAL_WORKFLOW_EXECUTION_SIGNALED:
		end(finishes, h.GetExternalWorkflowExecutionSignaledEventAttributes().GetInitiatedEventId())
	case enums.EVENT_TYPE_SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_FAILED:
		end(gives, h.GetSignalExternalWorkflowExecutionFailedEventAttributes().GetInitiatedEventId())
	case enums.EVENT_TYPE_EXTERNAL_WORKFLOW_EXECUTION_CANCEL_REQUESTED:
		end(finishes, h.GetExternalWorkflowExecutionCancelRequestedEventAttributes().GetInitiatedEventId())
	case enums.EVENT_TYPE_REQUEST_CANCEL_EXTERNAL_WORKFLOW_EXECUTION_FAILED:
		end(gives, h.GetRequestCancelExternalWorkflowExecutionFailedEventAttributes().GetInitiatedEventId())
	}
}

// ofEnd reads the events that end the execution.
func (e *event) ofEnd(h *history.HistoryEvent) {
	how := map[enums.EventType]string{
		enums.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED:        "completed",
		enums.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED:           "failed",
		enums.EVENT_TYPE_WORKFLOW_EXECUTION_TIMED_OUT:        "timed out",
		enums.EVENT_TYPE_WORKFLOW_EXECUTION_CANCELED:         "canceled",
		enums.EVENT_TYPE_WORKFLOW_EXECUTION_TERMINATED:       "terminated",
		enums.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW: "continued as new",
	}[h.GetEventType()]
	if how != "" {
		e.effect, e.what = closes, how
	}
}
