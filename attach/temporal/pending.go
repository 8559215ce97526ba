// SPDX-License-Identifier: Apache-2.0

package temporal

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/failure/v1"
	"go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/pnagent/pnagent/act"
	"github.com/pnagent/pnagent/attach/internal/ledger"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// queueKey is a task queue of a namespace.
type queueKey struct {
	namespace, name string
	kind            enums.TaskQueueType
}

// polled is what is known of the workers of a task queue.
type polled struct {
	asked int64 // when the server was asked
	last  int64 // when a worker polled last; 0 for none in the last minutes
}

// A worker polls again within a minute: a poll waits that long at the server.
const pollsWithin = 2 * time.Minute

// reason is what a description says of something pending.
type reason struct {
	stats.Reason
	until int64
	what  string
	idle  bool // no worker has taken it
}

// description is what is kept of a description of an execution.
type description struct {
	activities map[string]reason // by the activity's id
	nexus      map[int64]reason  // by the event that scheduled the operation
	task       *reason
}

// readDescription returns what is kept of a description. detail adds messages of
// failures.
func readDescription(d *workflowservice.DescribeWorkflowExecutionResponse, now int64, detail bool) description {
	out := description{activities: map[string]reason{}, nexus: map[int64]reason{}}
	for _, a := range d.GetPendingActivities() {
		out.activities[a.GetActivityId()] = activityReason(a, now, detail)
	}
	for _, o := range d.GetPendingNexusOperations() {
		out.nexus[o.GetScheduledEventId()] = nexusReason(o, now, detail)
	}
	if t := d.GetPendingWorkflowTask(); t != nil {
		out.task = new(taskReason(t))
	}
	return out
}

func workerNamed(identity string) string {
	if identity == "" {
		return "a worker"
	}
	return "worker " + identity
}

func activityReason(a *workflow.PendingActivityInfo, now int64, detail bool) reason {
	r := reason{what: attempts(a.GetAttempt(), a.GetMaximumAttempts(), a.GetLastFailure(), detail)}
	next := micros(a.GetNextAttemptScheduleTime())
	switch {
	case a.GetPaused() || a.GetState() == enums.PENDING_ACTIVITY_STATE_PAUSED:
		r.Reason, r.what = stats.ReasonManual, join("paused", r.what)
		if detail {
			r.what = join(r.what, a.GetPauseInfo().GetManual().GetReason())
		}
	case a.GetState() == enums.PENDING_ACTIVITY_STATE_STARTED, a.GetState() == enums.PENDING_ACTIVITY_STATE_CANCEL_REQUESTED,
		a.GetState() == enums.PENDING_ACTIVITY_STATE_PAUSE_REQUESTED:
		r.Reason, r.what = stats.ReasonRunning, join(workerNamed(a.GetLastWorkerIdentity())+" runs it since "+clock(micros(a.GetLastStartedTime())), r.what)
		if beat := micros(a.GetLastHeartbeatTime()); beat > 0 {
			r.what = join(r.what, "last heartbeat "+clock(beat))
		}
		if a.GetState() == enums.PENDING_ACTIVITY_STATE_CANCEL_REQUESTED {
			r.what = join("cancel requested", r.what)
		}
	case next > now:
		r.Reason, r.until = stats.ReasonDelayed, next
	default:
		r.Reason, r.idle = stats.ReasonEnabled, true
	}
	return r
}

// attempts returns a text about a retry, or "" for the first attempt.
func attempts(attempt, most int32, last *failure.Failure, detail bool) string {
	if attempt <= 1 && last == nil {
		return ""
	}
	text := "attempt " + strconv.Itoa(int(attempt))
	if most > 0 {
		text += " of " + strconv.Itoa(int(most))
	}
	if last == nil {
		return text
	}
	return text + ", last failure: " + failureText(last, detail)
}

// failureText returns the kind of a failure, and with detail its message.
func failureText(f *failure.Failure, detail bool) string {
	kind := "error"
	switch {
	case f.GetTimeoutFailureInfo() != nil:
		kind = "timeout " + f.GetTimeoutFailureInfo().GetTimeoutType().String()
	case f.GetApplicationFailureInfo().GetType() != "":
		kind = f.GetApplicationFailureInfo().GetType()
	case f.GetCanceledFailureInfo() != nil:
		kind = "canceled"
	case f.GetServerFailureInfo() != nil:
		kind = "server error"
	}
	if detail {
		kind += ": " + f.GetMessage()
	}
	return kind
}

func nexusReason(o *workflow.PendingNexusOperationInfo, now int64, detail bool) reason {
	r := reason{Reason: stats.ReasonEnabled, what: attempts(o.GetAttempt(), 0, o.GetLastAttemptFailure(), detail)}
	switch o.GetState() {
	case enums.PENDING_NEXUS_OPERATION_STATE_STARTED:
		r.Reason, r.what = stats.ReasonRunning, join("the handler runs it", r.what)
	case enums.PENDING_NEXUS_OPERATION_STATE_BACKING_OFF:
		if next := micros(o.GetNextAttemptScheduleTime()); next > now {
			r.Reason, r.until = stats.ReasonDelayed, next
		}
	case enums.PENDING_NEXUS_OPERATION_STATE_BLOCKED:
		r.Reason, r.what = stats.ReasonIncident, join("blocked", r.what)
	}
	return r
}

func taskReason(t *workflow.PendingWorkflowTaskInfo) reason {
	started := t.GetState() == enums.PENDING_WORKFLOW_TASK_STATE_STARTED
	switch {
	case t.GetAttempt() > 1:
		return reason{Reason: stats.ReasonIncident, what: fmt.Sprintf("the workflow task fails, attempt %d", t.GetAttempt())}
	case started:
		return reason{Reason: stats.ReasonRunning, what: "a worker runs it since " + clock(micros(t.GetStartedTime()))}
	}
	return reason{Reason: stats.ReasonEnabled, idle: true}
}

// clock returns a time for people.
func clock(at int64) string { return time.UnixMicro(at).UTC().Format(time.RFC3339) }

// join joins two texts of which one may be empty.
func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}

// unpolledText returns a text if no worker polls a task queue, or "" otherwise or if that
// is not known.
func unpolledText(queue string, p *polled, now int64) string {
	switch {
	case p == nil:
		return ""
	case p.last == 0:
		return "no worker polls task queue " + queue
	case now-p.last > pollsWithin.Microseconds():
		return "no worker polls task queue " + queue + " since " + clock(p.last)
	}
	return ""
}

// blockedOn is what Go's SDK writes in a stack trace of a workflow, for each
// coroutine. To compile it takes a third of a millisecond, so no other command does.
var blockedOn = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`coroutine [^\n\[]*\[blocked on ([^\]\n]{1,200})\]`)
})

// blockedAt returns what the coroutines of a workflow wait for by a stack trace: the
// place of the first one, and a text with all. Both are "" if the trace does not
// say it.
func blockedAt(trace string) (place, what string) {
	for _, found := range blockedOn().FindAllStringSubmatch(trace, 10) {
		switch of := name(found[1]); {
		case of == "":
		case place == "":
			place, what = of, "blocked on "+of
		default:
			what += ", " + of
		}
	}
	return place, what
}

// instance returns the name of an execution: its ids, or that of the run if they are too long.
func instance(workflowID, runID string) string {
	if id := workflowID + "/" + runID; telemetry.CheckName(id) == nil {
		return id
	}
	return runID
}

// tokens returns the tokens of an execution: what is pending by its history, with
// the reasons of its description.
func (r *run) tokens(queues map[queueKey]*polled, now int64) []ledger.Token {
	x := r.execution
	if x == nil || x.last == 0 {
		return r.token(nil, 0, &item{place: placeUnread, since: r.started}, reason{what: "the budget of calls did not reach it yet"})
	}
	var out []ledger.Token
	for id, i := range x.open {
		out = r.token(out, id, i, r.why(id, i, queues, now))
	}
	if x.task != nil {
		why := reason{Reason: stats.ReasonEnabled, idle: true}
		if r.described.task != nil {
			why = *r.described.task
		}
		if why.idle {
			why = unpolled(why, queueKey{r.namespace, x.queue, enums.TASK_QUEUE_TYPE_WORKFLOW}, queues, now)
		}
		why.what = join(why.what, x.task.what)
		out = r.token(out, x.last, x.task, why)
	}
	if x.wait != nil {
		out = r.token(out, x.last, x.wait, r.whyIdle(queues, now))
	}
	return out
}

// token adds a token of the execution.
func (r *run) token(to []ledger.Token, id int64, i *item, why reason) []ledger.Token {
	place, transition := r.net.at(i.place, r.queue())
	if place < 0 {
		return to
	}
	return append(to, ledger.Token{ID: tokenID(r.id, id, i), Place: place, Instance: instance(r.workflow, r.id), Since: i.since,
		Waits: []stats.Wait{{Transition: int32(transition), Reason: why.Reason, Place: stats.NoPlace, Until: why.until, What: stats.Clip(why.what, stats.MaxWhat)}}})
}

// tokenID returns the id of a token: that of its run and of its event, and of an activity that of the activity.
func tokenID(run string, event int64, i *item) string {
	id := run + "/" + strconv.FormatInt(event, 10)
	if i.queue != "" {
		id += "/" + i.key
	}
	return id
}

// command returns the command line of Temporal's program that continues a paused activity, tries again now one that waits
// for its next attempt, or shows the execution.
func command(_ *petri.Net, t *ledger.Token, w stats.Wait) string {
	parts := strings.SplitN(t.ID, "/", 3)
	end := strings.LastIndexByte(t.Instance, '/')
	if end < 0 { // the workflow's id cannot be published
		return ""
	}
	of := " --workflow-id " + act.Quote(t.Instance[:end]) + " --run-id " + act.Quote(parts[0])
	switch {
	case len(parts) == 3 && w.Reason == stats.ReasonManual:
		return "temporal activity unpause" + of + " --activity-id " + act.Quote(parts[2])
	case len(parts) == 3 && w.Reason == stats.ReasonDelayed:
		return "temporal activity reset" + of + " --activity-id " + act.Quote(parts[2])
	}
	return "temporal workflow describe" + of
}

// unpolled names it as the reason if no worker polls a queue.
func unpolled(why reason, queue queueKey, queues map[queueKey]*polled, now int64) reason {
	if text := unpolledText(queue.name, queues[queue], now); text != "" {
		why.Reason, why.what = stats.ReasonNoWorker, join(text, why.what)
	}
	return why
}

// why returns why an item is pending.
func (r *run) why(id int64, i *item, queues map[queueKey]*polled, now int64) reason {
	if why, ok := r.described.activities[i.key]; ok && i.queue != "" {
		if why.idle {
			why = unpolled(why, queueKey{r.namespace, i.queue, enums.TASK_QUEUE_TYPE_ACTIVITY}, queues, now)
		}
		if why.until <= now {
			why.until = 0
			if why.Reason == stats.ReasonDelayed {
				why.Reason = stats.ReasonEnabled
			}
		}
		return why
	}
	if why, ok := r.described.nexus[id]; ok {
		return why
	}
	switch {
	case i.until > now:
		return reason{Reason: stats.ReasonDelayed, until: i.until}
	case i.until > 0:
		return reason{Reason: stats.ReasonEnabled, what: "due since " + clock(i.until)}
	case i.key != "" && i.queue == "":
		return reason{Reason: stats.ReasonRunning, what: "in child " + i.key}
	}
	return reason{}
}

// whyIdle returns what an execution waits for of which nothing is pending.
func (r *run) whyIdle(queues map[queueKey]*polled, now int64) reason {
	if r.execution.wait.place != placeWaiting {
		what := r.trace.what
		if what == "" { // before a restart
			what = "blocked on " + r.execution.wait.place
		}
		return reason{Reason: stats.ReasonManual, what: what + ", by the stack trace of its worker"}
	}
	text := unpolledText(r.queue(), queues[queueKey{r.namespace, r.queue(), enums.TASK_QUEUE_TYPE_WORKFLOW}], now)
	switch {
	case text != "":
	case r.trace.asked:
		text = "the stack trace of its worker does not name it"
	default:
		text = "its worker was not asked yet"
	}
	return reason{Reason: stats.ReasonManual, what: "nothing is pending, so it waits for a signal, an update or a condition; " + text}
}
