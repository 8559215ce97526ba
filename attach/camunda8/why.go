// SPDX-License-Identifier: Apache-2.0

package camunda8

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pnagent/pnagent/attach/internal/diagram"
	"github.com/pnagent/pnagent/stats"
)

// whys are what element instances wait for, by their keys.
type whys struct {
	all  map[string][]diagram.Why
	body map[string]bool // those for which an element instance has a token although it is a body
}

// own reports whether a body waits for something of its own.
func (w *whys) own(key string) bool { return w.body[key] }

// of returns what a token waits for. What the API does not return is taken from the
// model: that a timer or a signal may occur, without its time or name.
func (w *whys) of(n *diagram.Process, e *elementInstance) []diagram.Why {
	out := w.all[e.Key]
	for _, event := range n.Events(e.Element) {
		if text, reason := eventOf(event.Kind); text != "" && !names(out, event.Node, e.Element) {
			out = append(out, diagram.Why{Node: event.Node, Text: text, Reason: reason})
		}
	}
	return out
}

// names reports whether one of them is about an event, which "" is at the event's
// own place.
func names(all []diagram.Why, event, node string) bool {
	return slices.ContainsFunc(all, func(w diagram.Why) bool { return w.Node == event || w.Node == "" && event == node })
}

// eventOf returns what a token waits for if it waits for an event of a kind of which
// the API returned nothing.
func eventOf(kind string) (string, stats.Reason) {
	switch kind {
	case "timer":
		return "timer", stats.ReasonUnknown
	case "signal":
		return "signal", stats.ReasonManual
	case "conditional":
		return "condition", stats.ReasonGuarded
	}
	return "", stats.ReasonUnknown
}

// userTaskJob is the type of the jobs of user tasks that a job worker completes.
const userTaskJob = "io.camunda.zeebe:userTask"

// readWhys reads what element instances wait for.
func (a *Adapter) readWhys(ctx context.Context, now int64) (*whys, error) {
	w := &whys{all: map[string][]diagram.Why{}, body: map[string]bool{}}
	for _, read := range []func(context.Context, *whys) error{a.readIncidents, a.readJobs, a.readTasks, a.readMessages, a.readCalls} {
		if err := read(ctx, w); err != nil {
			return nil, err
		}
	}
	return w, a.readWaitStates(ctx, w, now)
}

// add notes what an element instance waits for. detail is published only if the
// configuration allows it.
func (a *Adapter) add(w *whys, key, detail string, why diagram.Why) {
	if detail != "" && a.cfg.Detail {
		why.Text += ": " + detail
	}
	why.Text = stats.Clip(why.Text, stats.MaxWhat)
	w.all[key] = append(w.all[key], why)
}

func (a *Adapter) readIncidents(ctx context.Context, w *whys) error {
	q := query{Filter: map[string]any{"state": in("ACTIVE", "PENDING")}, Sort: by("incidentKey")}
	return each(ctx, a, "incident", incidentsPath, q, a.cfg.Tokens, func(i *incident) error {
		w.body[i.Instance] = true
		a.add(w, i.Instance, i.Message, diagram.Why{Text: "incident " + i.Type, Reason: stats.ReasonIncident})
		return nil
	})
}

func (a *Adapter) readJobs(ctx context.Context, w *whys) error {
	q := query{Filter: map[string]any{"state": in(jobOpen...)}, Sort: by("jobKey")}
	return each(ctx, a, "job", jobsPath, q, a.cfg.Tokens, func(j *job) error {
		if j.Kind == "EXECUTION_LISTENER" || j.Kind == "TASK_LISTENER" || j.Kind == "AD_HOC_SUB_PROCESS" {
			w.body[j.Instance] = true
		}
		text, detail := jobText(j)
		why := diagram.Why{Text: text, Reason: stats.ReasonEnabled}
		if j.Type == userTaskJob && j.Kind == "BPMN_ELEMENT" {
			why = diagram.Why{Text: "user task", Reason: stats.ReasonManual}
		}
		a.add(w, j.Instance, detail, why)
		return nil
	})
}

// jobText returns what is known of a job, and the message of its last failure. The API has a worker
// only after it failed, or let the job time out.
func jobText(j *job) (text, detail string) {
	text = "job " + j.Type
	if j.Kind == "EXECUTION_LISTENER" || j.Kind == "TASK_LISTENER" {
		text = "job " + j.Type + " of a listener"
		if j.Listener != "" && j.Listener != "UNSPECIFIED" {
			text += " (" + strings.ToLower(j.Listener) + ")"
		}
	}
	switch j.State {
	case "FAILED":
		text, detail = text+", failed", j.Message
	case "TIMED_OUT":
		text += ", timed out"
	}
	if j.Worker != "" && (j.State == "FAILED" || j.State == "TIMED_OUT") {
		text += " at worker " + j.Worker
	}
	switch j.Left {
	case 0:
		return text + ", out of retries", detail
	case 1:
		return text + ", 1 retry", detail
	}
	return fmt.Sprintf("%s, %d retries", text, j.Left), detail
}

func (a *Adapter) readTasks(ctx context.Context, w *whys) error {
	q := query{Filter: map[string]any{"state": in(taskOpen...)}, Sort: by("creationDate")}
	return each(ctx, a, "task", tasksPath, q, a.cfg.Tokens, func(t *userTask) error {
		a.add(w, t.Instance, t.Assignee, diagram.Why{Text: "user task", Reason: stats.ReasonManual})
		return nil
	})
}

func (a *Adapter) readMessages(ctx context.Context, w *whys) error {
	q := query{Filter: map[string]any{"messageSubscriptionState": in("CREATED", "MIGRATED")}, Sort: by("messageSubscriptionKey")}
	return each(ctx, a, "subscription", subscriptionsPath, q, a.cfg.Tokens, func(m *messageSubscription) error {
		if m.Instance != "" { // that of a start event has no token
			a.add(w, m.Instance, m.Correlation, diagram.Why{Node: m.Element, Text: "message " + m.Name, Reason: stats.ReasonManual})
		}
		return nil
	})
}

func (a *Adapter) readCalls(ctx context.Context, w *whys) error {
	q := query{Filter: map[string]any{"state": "ACTIVE", "parentElementInstanceKey": map[string]any{"$exists": true}}, Sort: by("processInstanceKey")}
	return each(ctx, a, "call", instancesPath, q, a.cfg.Tokens, func(p *processInstance) error {
		if p.Caller != "" {
			a.add(w, p.Caller, "", diagram.Why{Text: "in called process " + p.Process + " " + p.Key, Reason: stats.ReasonRunning})
		}
		return nil
	})
}

func (a *Adapter) readWaitStates(ctx context.Context, w *whys, now int64) error {
	q := query{Filter: map[string]any{"waitStateType": in("TIMER", "SIGNAL", "CONDITION")}, Sort: by("elementInstanceKey")}
	return each(ctx, a, "wait_state", waitStatesPath, q, a.cfg.Tokens, func(s *waitState) error {
		why := diagram.Why{Node: s.Element}
		switch s.Details.Type {
		case "TIMER":
			why.Text = "timer"
			if s.Details.Due > 0 {
				why = diagram.Due(why, s.Details.Due*1000, now)
			}
		case "SIGNAL":
			why.Text, why.Reason = "signal "+s.Details.Signal, stats.ReasonManual
		case "CONDITION":
			why.Text, why.Reason = "condition "+s.Details.Expression, stats.ReasonGuarded
		default:
			return nil
		}
		a.add(w, s.Instance, "", why)
		return nil
	})
}
