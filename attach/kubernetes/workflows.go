// SPDX-License-Identifier: Apache-2.0

package kubernetes

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pnagent/pnagent/stats"
)

const (
	argoPrefix = "workflows.argoproj.io/"

	// stepWorkflow is the step of a Workflow none of whose nodes is open.
	stepWorkflow = "workflow"

	maxNodes = 16 << 20 // bytes of compressed nodes, as JSON
)

// argo are the resources of Argo Workflows.
func argo(detail bool) []resource {
	return []resource{
		{name: "cronworkflows", group: "argoproj.io", version: "v1alpha1", plural: "cronworkflows", read: readCronWorkflow},
		{name: "workflows", group: "argoproj.io", version: "v1alpha1", plural: "workflows", read: func(text json.RawMessage) (object, error) { return readWorkflow(text, detail) }},
		podsWith(argoPrefix+"workflow", func(m *metadata) string { return nodeKey(m.Namespace, m.Annotations.ArgoNode) }),
	}
}

// nodeKey returns the key of the pod of a node of a Workflow.
func nodeKey(namespace, node string) string { return "node " + namespace + "/" + node }

func readCronWorkflow(text json.RawMessage) (object, error) {
	var o struct {
		Metadata metadata `json:"metadata"`
		Spec     struct {
			Schedule  string   `json:"schedule"` // until version 3
			Schedules []string `json:"schedules"`
			Timezone  string   `json:"timezone"`
			Suspend   bool     `json:"suspend"`
		} `json:"spec"`
		Status struct {
			Last stamp `json:"lastScheduledTime"`
		} `json:"status"`
	}
	if err := json.Unmarshal(text, &o); err != nil {
		return nil, fmt.Errorf("a CronWorkflow: %w", err)
	}
	s := &schedule{id: o.Metadata.UID, net: o.Metadata.net("cronworkflow", o.Metadata.Name), last: int64(o.Status.Last)}
	all := o.Spec.Schedules
	if o.Spec.Schedule != "" {
		all = append(all, o.Spec.Schedule)
	}
	if !o.Spec.Suspend {
		s.next = nextOf(all, o.Spec.Timezone, int64(cmp.Or(o.Status.Last, o.Metadata.Created)))
	}
	return s, o.Metadata.check()
}

// workflow is what is read of a Workflow.
type workflow struct {
	Metadata metadata `json:"metadata"`
	Spec     struct {
		Suspend   bool       `json:"suspend"`
		Templates []template `json:"templates"`
		From      struct {
			Name    string `json:"name"`
			Cluster bool   `json:"clusterScope"`
		} `json:"workflowTemplateRef"`
	} `json:"spec"`
	Status struct {
		Phase      string          `json:"phase"`
		Message    string          `json:"message"`
		StartedAt  stamp           `json:"startedAt"`
		FinishedAt stamp           `json:"finishedAt"`
		Compressed string          `json:"compressedNodes"`
		Offloaded  string          `json:"offloadNodeStatusVersion"`
		Nodes      map[string]node `json:"nodes"`
		Stored     struct {
			Templates []template `json:"templates"`
		} `json:"storedWorkflowTemplateSpec"`
		Locks struct {
			Mutex     locks `json:"mutex"`
			Semaphore locks `json:"semaphore"`
		} `json:"synchronization"`
	} `json:"status"`

	after map[string][]string // of a node, those of work after it; see following
}

// template is a template of a Workflow, as far as it waits.
type template struct {
	Name    string `json:"name"`
	Suspend *struct {
		Duration string `json:"duration"`
	} `json:"suspend"`
}

// locks are the locks that nodes of a Workflow wait for.
type locks struct {
	Waiting []struct {
		Mutex     string   `json:"mutex"`
		Holder    string   `json:"holder"`
		Semaphore string   `json:"semaphore"`
		Holders   []string `json:"holders"`
	} `json:"waiting"`
}

// node is a node of a Workflow.
type node struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	DisplayName string   `json:"displayName"`
	Type        string   `json:"type"`
	Template    string   `json:"templateName"`
	Phase       string   `json:"phase"`
	Message     string   `json:"message"`
	StartedAt   stamp    `json:"startedAt"`
	FinishedAt  stamp    `json:"finishedAt"`
	Children    []string `json:"children"`
	Lock        struct {
		Waiting string `json:"waiting"`
	} `json:"synchronizationStatus"`
	TemplateRef struct {
		Template string `json:"template"`
	} `json:"templateRef"`
}

// works reports whether a node is work itself, and no group of other nodes.
func (n *node) works() bool {
	switch n.Type {
	case "Pod", "Suspend", "HTTP", "Plugin":
		return n.Phase != "Omitted" && n.Phase != "Skipped"
	}
	return false
}

// ended reports whether a node has ended.
func (n *node) ended() bool {
	switch n.Phase {
	case "Succeeded", "Failed", "Error", "Skipped", "Omitted":
		return true
	}
	return false
}

func readWorkflow(text json.RawMessage, detail bool) (object, error) {
	var w workflow
	if err := json.Unmarshal(text, &w); err != nil {
		return nil, fmt.Errorf("a Workflow: %w", err)
	}
	if w.Status.Compressed != "" {
		if err := w.inflate(); err != nil {
			return nil, fmt.Errorf("the nodes of Workflow %s: %w", w.Metadata.instance(), err)
		}
	}
	return w.run(detail), w.Metadata.check()
}

// inflate reads the nodes of a Workflow that has many, which are compressed.
func (w *workflow) inflate() error {
	packed, err := base64.StdEncoding.DecodeString(w.Status.Compressed)
	if err != nil {
		return err
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return err
	}
	return json.NewDecoder(io.LimitReader(z, maxNodes)).Decode(&w.Status.Nodes)
}

// net returns the net of a Workflow: its CronWorkflow, or its template, or what its name begins
// with if the API server made the name.
func (w *workflow) net() string {
	m := &w.Metadata
	if name := m.Labels[argoPrefix+"cron-workflow"]; name != "" {
		return m.net("cronworkflow", name)
	}
	if w.Spec.From.Name != "" && w.Spec.From.Cluster {
		return m.net("clusterworkflowtemplate", w.Spec.From.Name)
	}
	if w.Spec.From.Name != "" {
		return m.net("workflowtemplate", w.Spec.From.Name)
	}
	if name := m.Labels[argoPrefix+"cluster-workflow-template"]; name != "" {
		return m.net("clusterworkflowtemplate", name)
	}
	if name := m.Labels[argoPrefix+"workflow-template"]; name != "" {
		return m.net("workflowtemplate", name)
	}
	return m.net("workflow", m.family())
}

// run returns what is kept of a Workflow.
func (w *workflow) run(detail bool) *run {
	m, s := &w.Metadata, &w.Status
	r := &run{id: m.UID, net: w.net(), instance: m.instance(), last: stepWorkflow, started: int64(cmp.Or(s.StartedAt, m.Created))}
	failed := int64(0)
	for _, id := range slices.Sorted(maps.Keys(s.Nodes)) {
		n := s.Nodes[id]
		if !n.works() && !w.triesAgain(&n) {
			continue
		}
		at := step{key: id, name: w.step(&n), since: int64(cmp.Or(n.StartedAt, s.StartedAt, m.Created)), whys: w.waits(&n)}
		if n.ended() {
			at.ended, at.failed = int64(cmp.Or(n.FinishedAt, n.StartedAt)), n.Phase != "Succeeded"
		}
		if n.Type == "Pod" {
			at.pods = nodeKey(m.Namespace, id)
		}
		if at.failed && at.ended >= failed {
			failed, r.last = at.ended, at.name
		}
		r.steps = append(r.steps, at)
	}
	r.arcs = w.arcs()
	r.steps = append(r.steps, step{name: stepWorkflow, since: r.started, rest: true, whys: w.stands()})
	switch s.Phase {
	case "Succeeded":
		r.end(int64(s.FinishedAt), false, "")
	case "Failed", "Error":
		why := s.Phase
		if detail {
			why = colon(why, s.Message)
		}
		r.end(int64(s.FinishedAt), true, why)
	}
	return r
}

// step returns the name of the step that a node is: its name in the template, without the item
// or the try that it is for. The root of a Workflow has the name of its template.
func (w *workflow) step(n *node) string {
	name, _, _ := strings.Cut(cmp.Or(n.DisplayName, n.Name), "(")
	name = strings.TrimPrefix(name, w.Metadata.Name+".") // of an exit handler
	if name == w.Metadata.Name || name == "" {
		name = cmp.Or(n.Template, n.TemplateRef.Template, stepWorkflow)
	}
	return name
}

// triesAgain reports whether a node is tried again, and waits for that.
func (w *workflow) triesAgain(n *node) bool {
	return n.Type == "Retry" && !n.ended() && !slices.ContainsFunc(n.Children, func(id string) bool {
		child, known := w.Status.Nodes[id]
		return known && !child.ended()
	})
}

// waits returns what a node itself says that it waits for.
func (w *workflow) waits(n *node) []why {
	switch {
	case n.Lock.Waiting != "":
		return []why{w.waitsForLock(n.Lock.Waiting)}
	case n.Type == "Suspend":
		return []why{w.resumes(n)}
	case n.Type == "Retry":
		return []why{{reason: stats.ReasonEnabled, text: colon("a try failed; waits for the next one", n.Message)}}
	case n.Type != "Pod":
		return []why{{reason: stats.ReasonRunning, text: n.Message}}
	case n.Phase == "Pending" && strings.Contains(n.Message, "exceeded quota"):
		_, quota, _ := strings.Cut(n.Message, "exceeded quota")
		return []why{{reason: stats.ReasonEnabled, text: "no pod can be created: exceeded quota" + quota}}
	}
	return nil
}

// waitsForLock returns that something waits for a mutex or a semaphore, and what holds it.
func (w *workflow) waitsForLock(name string) why {
	text := "waits for the lock " + name
	for _, l := range slices.Concat(w.Status.Locks.Mutex.Waiting, w.Status.Locks.Semaphore.Waiting) {
		holders := l.Holders
		if l.Holder != "" {
			holders = append(holders, l.Holder)
		}
		if (l.Mutex == name || l.Semaphore == name) && len(holders) > 0 {
			return why{reason: stats.ReasonEnabled, text: text + ", which is held by " + strings.Join(holders, ", ")}
		}
	}
	return why{reason: stats.ReasonEnabled, text: text}
}

// resumes returns what a node waits for that suspends its Workflow: a time, if its template has a
// duration, or else a person.
func (w *workflow) resumes(n *node) why {
	for _, t := range slices.Concat(w.Spec.Templates, w.Status.Stored.Templates) {
		if t.Suspend == nil || t.Name != cmp.Or(n.Template, n.TemplateRef.Template) {
			continue
		}
		if d := suspendedFor(t.Suspend.Duration); d > 0 && n.StartedAt != 0 {
			return why{reason: stats.ReasonDelayed, until: int64(n.StartedAt) + d.Microseconds()}
		}
	}
	return why{reason: stats.ReasonManual, text: "waits until it is resumed"}
}

// suspendedFor returns a duration as templates have it: in seconds, or with a unit; 0 for none.
func suspendedFor(text string) time.Duration {
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0
	}
	return d
}

// stands returns what a Workflow waits for none of whose nodes is open; nothing if they ended.
func (w *workflow) stands() []why {
	s := &w.Status
	waiting := slices.Concat(s.Locks.Mutex.Waiting, s.Locks.Semaphore.Waiting)
	switch {
	case w.Spec.Suspend:
		return []why{{reason: stats.ReasonManual, text: "suspended"}}
	case s.Phase == "":
		return []why{{reason: stats.ReasonEnabled, text: "the workflow controller has not started it"}}
	case s.Offloaded != "" && len(s.Nodes) == 0:
		return []why{{reason: stats.ReasonUnknown, text: "its nodes are in the database of the workflow controller"}}
	case s.Phase == "Pending" && len(waiting) > 0:
		return []why{w.waitsForLock(cmp.Or(waiting[0].Mutex, waiting[0].Semaphore))}
	case s.Phase == "Pending":
		return []why{{reason: stats.ReasonEnabled, text: cmp.Or(s.Message, "pending")}}
	}
	return nil
}

// arcs returns which steps follow which.
func (w *workflow) arcs() (out [][2]string) {
	w.after = map[string][]string{}
	for id, n := range w.Status.Nodes {
		from := ""
		switch {
		case n.works():
			from = w.step(&n)
		case n.Name != w.Metadata.Name:
			continue
		}
		if n.works() && n.Name == w.Metadata.Name {
			out = append(out, [2]string{"", from})
		}
		for _, next := range w.following(id, map[string]bool{}) {
			child := w.Status.Nodes[next]
			if to := w.step(&child); to != from {
				out = append(out, [2]string{from, to})
			}
		}
	}
	slices.SortFunc(out, func(a, b [2]string) int { return slices.Compare(a[:], b[:]) })
	return slices.Compact(out)
}

// following returns the nodes of work that come first after a node.
func (w *workflow) following(id string, seen map[string]bool) (out []string) {
	if known, is := w.after[id]; is || seen[id] {
		return known
	}
	seen[id] = true
	for _, child := range w.Status.Nodes[id].Children {
		n, known := w.Status.Nodes[child]
		switch {
		case !known:
		case n.works():
			out = append(out, child)
		default:
			out = append(out, w.following(child, seen)...)
		}
	}
	slices.Sort(out)
	out = slices.Compact(out)
	w.after[id] = out
	return out
}
