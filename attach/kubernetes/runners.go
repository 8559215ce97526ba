// SPDX-License-Identifier: Apache-2.0

package kubernetes

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pnagent/pnagent/stats"
)

// Steps of a runner: it starts, and runs a job.
const stepStart, stepRun = "start", "job"

// arc are the resources of Actions Runner Controller.
func arc(detail bool) []resource {
	return []resource{
		{name: "ephemeralrunners", group: "actions.github.com", version: "v1alpha1", plural: "ephemeralrunners", read: func(text json.RawMessage) (object, error) { return readRunner(text, detail) }},
		podsWith("actions-ephemeral-runner", named),
	}
}

// readRunner reads an EphemeralRunner. Its net is its AutoscalingRunnerSet. While it is online
// without a job, it is at no step.
func readRunner(text json.RawMessage, detail bool) (object, error) {
	var o struct {
		Metadata metadata `json:"metadata"`
		Status   struct {
			Ready      bool             `json:"ready"`
			Phase      string           `json:"phase"`
			Reason     string           `json:"reason"`
			Message    string           `json:"message"`
			Failures   map[string]stamp `json:"failures"`
			JobID      string           `json:"jobId"`
			RequestID  int64            `json:"jobRequestId"`
			Repository string           `json:"jobRepositoryName"`
			Job        string           `json:"jobDisplayName"`
		} `json:"status"`
	}
	if err := json.Unmarshal(text, &o); err != nil {
		return nil, fmt.Errorf("an EphemeralRunner: %w", err)
	}
	m, s := &o.Metadata, &o.Status
	r := &run{id: m.UID, net: m.net("autoscalingrunnerset", m.Labels["actions.github.com/scale-set-name"]), instance: m.instance(), last: stepStart,
		started: int64(m.Created), arcs: [][2]string{{"", stepStart}, {stepStart, stepRun}}}
	start := step{key: stepStart, name: stepStart, since: int64(m.Created), pods: named(m)}
	hasJob := s.JobID != "" || s.RequestID != 0
	switch {
	case s.Phase == "Failed":
		last := stamp(0)
		for _, at := range s.Failures {
			last = max(last, at)
		}
		why := cmp.Or(s.Reason, s.Phase)
		if detail {
			why = colon(why, s.Message)
		}
		r.end(int64(cmp.Or(last, m.Created)), true, why)
		start.ended, start.failed = r.ended, true
	case s.Phase == "Succeeded" || s.Phase == "Outdated":
		r.over = true
		start.over = true
	case len(s.Failures) > 0 && !s.Ready && !hasJob:
		start.whys = []why{{reason: stats.ReasonEnabled, text: fmt.Sprintf("its pod failed %d times", len(s.Failures))}}
	}
	start.over = start.over || s.Ready || hasJob
	r.steps = []step{start}
	if hasJob {
		job := step{key: stepRun, name: stepRun, pods: named(m), over: r.over}
		if detail {
			job.whys = []why{{reason: stats.ReasonRunning, text: strings.TrimSpace(s.Repository + " " + s.Job)}}
		}
		r.last = stepRun
		r.steps = append(r.steps, job)
	}
	return r, m.check()
}
