// SPDX-License-Identifier: Apache-2.0

package kubernetes

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/pnagent/pnagent/stats"
)

const (
	tektonPrefix = "tekton.dev/"

	// stepPipeline is the step of a PipelineRun none of whose tasks is open, and stepTask that of a
	// TaskRun without a PipelineRun.
	stepPipeline, stepTask = "pipeline", "task"
)

// tekton are the resources of Tekton Pipelines.
func tekton(detail bool) []resource {
	task := func(text json.RawMessage) (object, error) { return readTaskRun(text, detail) }
	return []resource{
		{name: "pipelineruns", group: "tekton.dev", version: "v1", plural: "pipelineruns", read: func(text json.RawMessage) (object, error) { return readPipelineRun(text, detail) }},
		{name: "taskruns", group: "tekton.dev", version: "v1", plural: "taskruns", read: task},
		{name: "customruns", group: "tekton.dev", version: "v1beta1", plural: "customruns", read: task},
		podsWith(tektonPrefix+"taskRun", named),
	}
}

// tektonRun is what is read of a PipelineRun, a TaskRun or a CustomRun.
type tektonRun struct {
	Metadata metadata `json:"metadata"`
	Spec     struct {
		Status   string `json:"status"`
		Pipeline struct {
			Name string `json:"name"`
		} `json:"pipelineRef"`
		Task struct {
			Name string `json:"name"`
		} `json:"taskRef"`
		Custom struct {
			Kind string `json:"kind"`
		} `json:"customRef"`
	} `json:"spec"`
	Status struct {
		Conditions     conditions `json:"conditions"`
		StartTime      stamp      `json:"startTime"`
		CompletionTime stamp      `json:"completionTime"`
		Pod            string     `json:"podName"`
		Pipeline       struct {
			Tasks   []pipelineTask `json:"tasks"`
			Finally []pipelineTask `json:"finally"`
		} `json:"pipelineSpec"`
	} `json:"status"`
}

// pipelineTask is a task of a pipeline, with the tasks before it.
type pipelineTask struct {
	Name     string          `json:"name"`
	RunAfter []string        `json:"runAfter"`
	Params   json.RawMessage `json:"params"`
	When     json.RawMessage `json:"when"`
}

// succeeded returns the condition of that name; its zero value if there is none yet.
func (t *tektonRun) succeeded() condition {
	for _, c := range t.Status.Conditions {
		if c.Type == "Succeeded" {
			return c
		}
	}
	return condition{}
}

// new returns what is kept of a run in general.
func (t *tektonRun) new(net, last string, detail bool) *run {
	m, c := &t.Metadata, t.succeeded()
	r := &run{id: m.UID, net: net, instance: m.instance(), last: last, started: int64(m.Created)}
	at := int64(cmp.Or(t.Status.CompletionTime, c.Since))
	switch c.Status {
	case "True":
		r.end(at, false, "")
	case "False":
		why := c.Reason
		if detail {
			why = colon(why, c.Message)
		}
		r.end(at, true, why)
	}
	return r
}

func readPipelineRun(text json.RawMessage, detail bool) (object, error) {
	var t tektonRun
	if err := json.Unmarshal(text, &t); err != nil {
		return nil, fmt.Errorf("a PipelineRun: %w", err)
	}
	m, c := &t.Metadata, t.succeeded()
	r := t.new(m.pipeline(t.Spec.Pipeline.Name, m.Name), stepPipeline, detail)
	at := step{name: stepPipeline, since: int64(cmp.Or(t.Status.StartTime, m.Created)), rest: true}
	switch {
	case t.Spec.Status == "PipelineRunPending":
		at.since, at.whys = int64(m.Created), []why{{reason: stats.ReasonManual, text: "pending, as its spec asks for"}}
	case c.Status == "":
		at.whys = []why{{reason: stats.ReasonEnabled, text: "the pipelines controller has not started it"}}
	case c.Reason != "Running" && c.Reason != "Started":
		at.whys = []why{{reason: stats.ReasonEnabled, text: colon(c.Reason, c.Message)}}
	}
	r.steps, r.arcs = []step{at}, t.arcs()
	return r, m.check()
}

// pipeline returns the net of a PipelineRun with a name, and of its parts: its Pipeline, or what
// Pipelines-as-Code or the label app.kubernetes.io/name call it. It is by labels, which Tekton copies to
// the parts. A pipeline that is written in the run has the run's name as its label.
func (m *metadata) pipeline(ref, run string) string {
	name := m.Labels[tektonPrefix+"pipeline"]
	if name == run {
		name = ""
	}
	return m.net("pipeline", cmp.Or(ref, name, m.Labels["pipelinesascode.tekton.dev/original-prname"], m.Labels[labelName]))
}

// results finds the tasks whose results a task uses, which run before it.
var results = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$\(tasks\.([a-zA-Z0-9_-]+)\.results[.\[]`) })

// arcs returns which tasks of a pipeline follow which.
func (t *tektonRun) arcs() (out [][2]string) {
	p := &t.Status.Pipeline
	followed := map[string]bool{}
	for _, task := range p.Tasks {
		before := task.RunAfter
		for _, found := range results().FindAllSubmatch(append(append([]byte(nil), task.Params...), task.When...), -1) {
			before = append(before, string(found[1]))
		}
		if len(before) == 0 {
			before = []string{""}
		}
		for _, b := range before {
			followed[b] = true
			out = append(out, [2]string{b, task.Name})
		}
	}
	for _, last := range p.Tasks {
		for _, finally := range p.Finally {
			if !followed[last.Name] {
				out = append(out, [2]string{last.Name, finally.Name})
			}
		}
	}
	return out
}

// readTaskRun reads a TaskRun, or a CustomRun. Those of a PipelineRun are parts of it.
func readTaskRun(text json.RawMessage, detail bool) (object, error) {
	var t tektonRun
	if err := json.Unmarshal(text, &t); err != nil {
		return nil, fmt.Errorf("a TaskRun: %w", err)
	}
	m := &t.Metadata
	name := stepTask
	net := m.net("task", cmp.Or(t.Spec.Task.Name, m.Labels[tektonPrefix+"task"], m.family()))
	whole := m.Labels[tektonPrefix+"pipelineRun"]
	if whole != "" {
		name = cmp.Or(m.Labels[tektonPrefix+"pipelineTask"], stepTask)
		net = m.pipeline("", whole)
	}
	r := t.new(net, name, detail)
	if whole != "" {
		r.part, r.instance = true, m.Namespace+"/"+whole
	}
	at := step{name: name, since: int64(cmp.Or(t.Status.StartTime, m.Created)), whys: t.waits()}
	at.ended, at.failed = r.ended, r.failed
	if t.Status.Pod != "" {
		at.pods = "pod " + m.Namespace + "/" + t.Status.Pod
	}
	r.steps = []step{at}
	return r, m.check()
}

// waits returns what a TaskRun itself says that it waits for; nothing if its pod does.
func (t *tektonRun) waits() []why {
	c := t.succeeded()
	switch {
	case t.Spec.Custom.Kind != "":
		return []why{{reason: stats.ReasonManual, text: colon("waits for the "+t.Spec.Custom.Kind+" that it names", c.Message)}}
	case c.Status == "":
		return []why{{reason: stats.ReasonEnabled, text: "the pipelines controller has not started it"}}
	case strings.HasPrefix(c.Reason, "Exceeded"):
		return []why{{reason: stats.ReasonEnabled, text: colon(c.Reason, c.Message)}}
	case t.Status.Pod == "":
		return []why{{reason: stats.ReasonEnabled, text: colon(cmp.Or(c.Reason, "it has no pod"), c.Message)}}
	}
	return nil
}
