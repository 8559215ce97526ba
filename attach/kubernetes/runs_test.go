// SPDX-License-Identifier: Apache-2.0

package kubernetes

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/attach/internal/ledger"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
)

// stuckObject is an object of a run that is stuck, as its controller writes it.
type stuckObject struct{ resource, text string }

// stuckRun is a run that is stuck in a way, and what is to be seen of it.
type stuckRun struct {
	name                      string
	objects                   []stuckObject
	step                      string
	since, reason, why, until string
}

// aWorkflow returns a Workflow of the template etl with nodes, its phase and more of its status.
func aWorkflow(spec, status string, nodes ...string) stuckObject {
	return stuckObject{"workflows", fmt.Sprintf(`{"apiVersion":"argoproj.io/v1alpha1","kind":"Workflow","metadata":{"uid":"w","namespace":"prod","name":"etl-x7k2p","generateName":"etl-","creationTimestamp":"2026-01-01T00:00:00Z"},
		"spec":{"workflowTemplateRef":{"name":"etl"}%s},"status":{%s"startedAt":"2026-01-01T00:00:01Z","nodes":{%s}}}`, spec, status, strings.Join(nodes, ","))}
}

// aNode returns a node of it, which began two seconds later.
func aNode(id, name, kind, phase, more string) string {
	return fmt.Sprintf(`%q:{"id":%q,"name":"etl-x7k2p.%s","displayName":%q,"type":%q,"templateName":"t-%s","phase":%q,"startedAt":"2026-01-01T00:00:03Z"%s}`, id, id, name, name, kind, name, phase, more)
}

// argoPod returns the pod of a node.
func argoPod(node, status string) stuckObject {
	return stuckObject{"pods", fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"uid":"p","namespace":"prod","name":"etl-x7k2p-load","labels":{"workflows.argoproj.io/workflow":"etl-x7k2p"},
		"annotations":{"workflows.argoproj.io/node-id":%q}},%s}`, node, status)}
}

const (
	noNode    = `"status":{"phase":"Pending","conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"0/3 nodes are available: 3 Insufficient memory.","lastTransitionTime":"2026-01-01T00:00:04Z"}]}`
	podIsDone = `"status":{"phase":"Succeeded","containerStatuses":[{"name":"main","image":"i","imageID":"","ready":false,"restartCount":0,"state":{"terminated":{"exitCode":0,"finishedAt":"2026-01-01T00:00:09Z"}}}]}`
	aDAG      = `"root":{"id":"root","name":"etl-x7k2p","displayName":"etl-x7k2p","type":"DAG","phase":"Running","startedAt":"2026-01-01T00:00:01Z","children":["a"]}`
)

// aRun returns a PipelineRun, a TaskRun or another resource of Tekton.
func aRun(resource, kind, name, labels, spec, status string) stuckObject {
	version := map[bool]string{true: "v1beta1", false: "v1"}[kind == "CustomRun"]
	return stuckObject{resource, fmt.Sprintf(`{"apiVersion":"tekton.dev/%s","kind":%q,"metadata":{"uid":%q,"namespace":"prod","name":%q,"labels":{%s},"creationTimestamp":"2026-01-01T00:00:00Z"},"spec":{%s},"status":{%s}}`,
		version, kind, name, name, labels, spec, status)}
}

const ofBuild = `"tekton.dev/pipeline":"build","tekton.dev/pipelineRun":"build-1","tekton.dev/pipelineTask":"compile"`

// condition returns the status of a run of Tekton.
func succeeded(status, reason, message, more string) string {
	return fmt.Sprintf(`"startTime":"2026-01-01T00:00:01Z","conditions":[{"type":"Succeeded","status":%q,"reason":%q,"message":%q,"lastTransitionTime":"2026-01-01T00:00:05Z"}]%s`, status, reason, message, more)
}

// buildRuns is the PipelineRun of the TaskRuns.
var buildRuns = aRun("pipelineruns", "PipelineRun", "build-1", `"tekton.dev/pipeline":"build"`, `"pipelineRef":{"name":"build"}`, succeeded("Unknown", "Running", "Tasks Completed: 0", ""))

// aRunner returns an EphemeralRunner.
func aRunner(status string) stuckObject {
	return stuckObject{"ephemeralrunners", `{"apiVersion":"actions.github.com/v1alpha1","kind":"EphemeralRunner","metadata":{"uid":"e","namespace":"prod","name":"linux-abc-runner-x","labels":{"actions.github.com/scale-set-name":"linux"},"creationTimestamp":"2026-01-01T00:00:00Z"},"spec":{},"status":{` + status + `}}`}
}

var stuckRuns = []stuckRun{
	{name: "argo: the controller does not run", objects: []stuckObject{{"workflows", strings.Replace(aWorkflow("", "").text, `"startedAt":"2026-01-01T00:00:01Z",`, "", 1)}},
		step: stepWorkflow, since: "2026-01-01T00:00:00Z", reason: "enabled", why: "the workflow controller has not started it"},
	{name: "argo: suspended", objects: []stuckObject{aWorkflow(`,"suspend":true`, `"phase":"Running",`, aDAG)}, step: stepWorkflow, since: "2026-01-01T00:00:01Z", reason: "manual", why: "suspended"},
	{name: "argo: a step waits for a person", objects: []stuckObject{aWorkflow("", `"phase":"Running",`, aDAG, aNode("a", "approve", "Suspend", "Running", ""))},
		step: "approve", since: "2026-01-01T00:00:03Z", reason: "manual", why: "waits until it is resumed"},
	{name: "argo: a step waits for a time", objects: []stuckObject{aWorkflow(`,"templates":[{"name":"t-nap","suspend":{"duration":"3600"}}]`, `"phase":"Running",`, aDAG, aNode("a", "nap", "Suspend", "Running", ""))},
		step: "nap", since: "2026-01-01T00:00:03Z", reason: "delayed", until: "2026-01-01T01:00:03Z"},
	{name: "argo: mutex of a step", objects: []stuckObject{aWorkflow("", `"phase":"Running","synchronization":{"mutex":{"waiting":[{"mutex":"prod/Mutex/db","holder":"prod/etl-old/node-1"}]}},`, aDAG,
		aNode("a", "load", "Pod", "Pending", `,"synchronizationStatus":{"waiting":"prod/Mutex/db"}`))}, step: "load", since: "2026-01-01T00:00:03Z", reason: "enabled",
		why: "waits for the lock prod/Mutex/db, which is held by prod/etl-old/node-1"},
	{name: "argo: semaphore of the workflow", objects: []stuckObject{aWorkflow("", `"phase":"Pending","synchronization":{"semaphore":{"waiting":[{"semaphore":"prod/ConfigMap/limits/etl","holders":["prod/etl-a","prod/etl-b"]}]}},`)},
		step: stepWorkflow, since: "2026-01-01T00:00:01Z", reason: "enabled", why: "waits for the lock prod/ConfigMap/limits/etl, which is held by prod/etl-a, prod/etl-b"},
	{name: "argo: parallelism", objects: []stuckObject{aWorkflow("", `"phase":"Pending","message":"Workflow processing has been postponed because too many workflows are already running",`)},
		step: stepWorkflow, since: "2026-01-01T00:00:01Z", reason: "enabled", why: "Workflow processing has been postponed because too many workflows are already running"},
	{name: "argo: unschedulable", objects: []stuckObject{aWorkflow("", `"phase":"Running",`, aDAG, aNode("a", "load(0:x)", "Pod", "Pending", "")), argoPod("a", noNode)},
		step: "load", since: "2026-01-01T00:00:03Z", reason: "enabled", why: "pod etl-x7k2p-load is unschedulable since 2026-01-01T00:00:04Z: 0/3 nodes are available: 3 Insufficient memory."},
	{name: "argo: quota", objects: []stuckObject{aWorkflow("", `"phase":"Running",`, aDAG, aNode("a", "load", "Pod", "Pending", `,"message":"Pods \"etl-x7k2p-load\" is forbidden: exceeded quota: none, used: pods=0, limited: pods=0"`))},
		step: "load", since: "2026-01-01T00:00:03Z", reason: "enabled", why: "no pod can be created: exceeded quota: none, used: pods=0, limited: pods=0"},
	{name: "argo: a try failed", objects: []stuckObject{aWorkflow("", `"phase":"Running",`, aDAG, aNode("a", "load", "Retry", "Running", `,"message":"Backoff for 10 minutes 0 seconds","children":["b"]`),
		aNode("b", "load(0)", "Pod", "Failed", `,"finishedAt":"2026-01-01T00:00:08Z"`))}, step: "load", since: "2026-01-01T00:00:03Z", reason: "enabled", why: "a try failed; waits for the next one: Backoff for 10 minutes 0 seconds"},
	{name: "argo: the pod ended, the node runs", objects: []stuckObject{aWorkflow("", `"phase":"Running",`, aDAG, aNode("a", "load", "Pod", "Running", "")), argoPod("a", podIsDone)},
		step: "load", since: "2026-01-01T00:00:03Z", reason: "incident", why: "its pods ended at 2026-01-01T00:00:09Z, and it still counts as running: does its controller run?"},
	{name: "argo: all nodes ended, the workflow runs", objects: []stuckObject{aWorkflow("", `"phase":"Running",`, aDAG, aNode("a", "load", "Pod", "Succeeded", `,"finishedAt":"2026-01-01T00:00:09Z"`))},
		step: stepWorkflow, since: "2026-01-01T00:00:09Z", reason: "incident", why: "its steps ended at 2026-01-01T00:00:09Z, and it still counts as running: does its controller run?"},
	{name: "argo: failed", objects: []stuckObject{aWorkflow("", `"phase":"Failed","message":"child 'x' failed","finishedAt":"2026-01-01T00:00:12Z",`, aDAG, aNode("a", "load", "Pod", "Failed", `,"finishedAt":"2026-01-01T00:00:09Z"`))},
		step: "load", since: "2026-01-01T00:00:12Z", reason: "incident", why: "Failed"},
	{name: "argo: compressed nodes", objects: []stuckObject{aWorkflow("", `"phase":"Running","compressedNodes":"`+packed(`{`+aDAG+`,`+aNode("a", "approve", "Suspend", "Running", "")+`}`)+`",`)},
		step: "approve", since: "2026-01-01T00:00:03Z", reason: "manual", why: "waits until it is resumed"},
	{name: "argo: nodes in a database", objects: []stuckObject{aWorkflow("", `"phase":"Running","offloadNodeStatusVersion":"fnv:1",`)}, step: stepWorkflow, since: "2026-01-01T00:00:01Z", reason: "unknown",
		why: "its nodes are in the database of the workflow controller"},

	{name: "tekton: the controller does not run", objects: []stuckObject{aRun("pipelineruns", "PipelineRun", "build-1", "", `"pipelineRef":{"name":"build"}`, "")},
		step: stepPipeline, since: "2026-01-01T00:00:00Z", reason: "enabled", why: "the pipelines controller has not started it"},
	{name: "tekton: pending", objects: []stuckObject{aRun("pipelineruns", "PipelineRun", "build-1", "", `"pipelineRef":{"name":"build"},"status":"PipelineRunPending"`, "")},
		step: stepPipeline, since: "2026-01-01T00:00:00Z", reason: "manual", why: "pending, as its spec asks for"},
	{name: "tekton: unschedulable", objects: []stuckObject{buildRuns, aRun("taskruns", "TaskRun", "build-1-compile", ofBuild, "", succeeded("Unknown", "Pending", "", `,"podName":"build-1-compile-pod"`)),
		{"pods", `{"apiVersion":"v1","kind":"Pod","metadata":{"uid":"p","namespace":"prod","name":"build-1-compile-pod","labels":{"tekton.dev/taskRun":"build-1-compile"}},` + noNode + `}`}},
		step: "compile", since: "2026-01-01T00:00:01Z", reason: "enabled", why: "pod build-1-compile-pod is unschedulable since 2026-01-01T00:00:04Z: 0/3 nodes are available: 3 Insufficient memory."},
	{name: "tekton: quota", objects: []stuckObject{buildRuns, aRun("taskruns", "TaskRun", "build-1-compile", ofBuild, "", succeeded("Unknown", "ExceededResourceQuota", "TaskRun Pod exceeded available resources: exceeded quota: none", ""))},
		step: "compile", since: "2026-01-01T00:00:01Z", reason: "enabled", why: "ExceededResourceQuota: TaskRun Pod exceeded available resources: exceeded quota: none"},
	{name: "tekton: waits for approval", objects: []stuckObject{buildRuns, aRun("customruns", "CustomRun", "build-1-compile", ofBuild, `"customRef":{"apiVersion":"x/v1","kind":"ApprovalTask"}`, succeeded("Unknown", "Running", "waiting for 2 approvals", ""))},
		step: "compile", since: "2026-01-01T00:00:01Z", reason: "manual", why: "waits for the ApprovalTask that it names: waiting for 2 approvals"},
	{name: "tekton: all tasks ended, the run runs", objects: []stuckObject{buildRuns, aRun("taskruns", "TaskRun", "build-1-compile", ofBuild, "", succeeded("True", "Succeeded", "", `,"completionTime":"2026-01-01T00:00:09Z"`))},
		step: stepPipeline, since: "2026-01-01T00:00:09Z", reason: "incident", why: "its steps ended at 2026-01-01T00:00:09Z, and it still counts as running: does its controller run?"},
	{name: "tekton: failed", objects: []stuckObject{aRun("pipelineruns", "PipelineRun", "build-1", `"tekton.dev/pipeline":"build"`, "", succeeded("False", "Failed", "Tasks Completed: 1 (Failed: 1)", `,"completionTime":"2026-01-01T00:00:12Z"`)),
		aRun("taskruns", "TaskRun", "build-1-compile", ofBuild, "", succeeded("False", "Failed", "exit code 2", `,"completionTime":"2026-01-01T00:00:09Z"`))},
		step: "compile", since: "2026-01-01T00:00:12Z", reason: "incident", why: "Failed"},

	{name: "arc: the runner does not start", objects: []stuckObject{aRunner(`"phase":"Pending","ready":false,"failures":{"a":"2026-01-01T00:00:05Z"}`)},
		step: stepStart, since: "2026-01-01T00:00:00Z", reason: "enabled", why: "its pod failed 1 times"},
	{name: "arc: unschedulable", objects: []stuckObject{aRunner(`"phase":"Pending","ready":false`),
		{"pods", `{"apiVersion":"v1","kind":"Pod","metadata":{"uid":"p","namespace":"prod","name":"linux-abc-runner-x","labels":{"actions-ephemeral-runner":"True"}},` + noNode + `}`}},
		step: stepStart, since: "2026-01-01T00:00:00Z", reason: "enabled", why: "pod linux-abc-runner-x is unschedulable since 2026-01-01T00:00:04Z: 0/3 nodes are available: 3 Insufficient memory."},
	{name: "arc: failed", objects: []stuckObject{aRunner(`"phase":"Failed","reason":"TooManyPodFailures","failures":{"a":"2026-01-01T00:00:05Z","b":"2026-01-01T00:00:07Z"}`)},
		step: stepStart, since: "2026-01-01T00:00:07Z", reason: "incident", why: "TooManyPodFailures"},
}

// packed returns nodes as Argo compresses them.
func packed(nodes string) string {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := z.Write([]byte(nodes)); err != nil {
		panic(err)
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return base64.StdEncoding.EncodeToString(out.Bytes())
}

// whole returns the net and the instance of a stuck run, by its kind.
func (c *stuckRun) whole() (net, instance string) {
	switch kind, _, _ := strings.Cut(c.name, ":"); kind {
	case "argo":
		return "prod/workflowtemplate/etl", "prod/etl-x7k2p"
	case "tekton":
		return "prod/pipeline/build", "prod/build-1"
	default:
		return "prod/autoscalingrunnerset/linux", "prod/linux-abc-runner-x"
	}
}

// uidOf returns the UID of an object.
func uidOf(t *testing.T, text string) string {
	t.Helper()
	var o struct{ Metadata struct{ UID string } }
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return o.Metadata.UID
}

// Each way in which a run of Argo, Tekton or Actions Runner Controller is stuck has its step, time
// and reason.
func TestWhyARunIsStuck(t *testing.T) {
	for _, c := range stuckRuns {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t)
			s.custom = true
			for _, o := range c.objects {
				s.put(o.resource, uidOf(t, o.text), o.text)
			}
			a, _ := s.adapter("")
			until(t, a, func() string { return c.differs(a) })
		})
	}
}

// differs returns how the token of a run differs from what is expected; "" if it does not.
func (c *stuckRun) differs(a *Adapter) string {
	net, instance := c.whole()
	n := a.nets[net]
	tokens := a.tokens()[n]
	if n == nil || len(tokens) != 1 || len(tokens[0].Waits) != 1 {
		return fmt.Sprintf("%d tokens of %v; expected one of %s", len(tokens), sorted(a.nets), net)
	}
	w, until := tokens[0].Waits[0], ""
	if w.Until != 0 {
		until = clock(w.Until)
	}
	got := []string{n.Def.Places[tokens[0].Place].ID, tokens[0].Instance, time.UnixMicro(tokens[0].Since).UTC().Format(time.RFC3339), w.Reason.String(), w.What, until}
	return cmp.Diff([]string{c.step + in, instance, c.since, c.reason, c.why, c.until}, got)
}

// The steps of a Workflow are counted once each, also if the Workflow is tried again, and its net has
// the order of the steps.
func TestTheStepsOfAWorkflow(t *testing.T) {
	s := newServer(t)
	s.custom = true
	a, _ := s.adapter("")
	until(t, a, func() string { return "" })
	counts := func(step string) [3]uint64 {
		n := a.nets["prod/workflowtemplate/etl"]
		if n == nil {
			return [3]uint64{}
		}
		arrivals, departures, firings := n.Counts(n.FindPlace(step+in), n.FindTransition(step))
		return [3]uint64{arrivals, departures, firings}
	}
	const ended = `,"finishedAt":"2026-01-01T00:00:08Z"`
	extract := aNode("a", "extract", "Pod", "Succeeded", ended+`,"children":["g"]`)
	group := aNode("g", "[1]", "StepGroup", "Running", `,"children":["b","c"]`)
	for _, c := range []struct {
		name          string
		workflow      stuckObject
		extract, load [3]uint64
	}{
		{"one step runs", aWorkflow("", `"phase":"Running",`, aDAG, aNode("a", "extract", "Pod", "Running", "")), [3]uint64{1, 0, 0}, [3]uint64{}},
		{"two items of the next one run", aWorkflow("", `"phase":"Running",`, aDAG, extract, group, aNode("b", "load(0:x)", "Pod", "Running", ""), aNode("c", "load(1:y)", "Pod", "Running", "")),
			[3]uint64{1, 1, 1}, [3]uint64{2, 0, 0}},
		{"one of them fails, and so the Workflow", aWorkflow("", `"phase":"Failed","finishedAt":"2026-01-01T00:00:09Z",`, aDAG, extract, group, aNode("b", "load(0:x)", "Pod", "Succeeded", ended), aNode("c", "load(1:y)", "Pod", "Failed", ended)),
			[3]uint64{1, 1, 1}, [3]uint64{2, 2, 1}},
		{"it is tried again", aWorkflow("", `"phase":"Running",`, aDAG, extract, group, aNode("b", "load(0:x)", "Pod", "Succeeded", ended), aNode("c", "load(1:y)", "Pod", "Running", "")),
			[3]uint64{1, 1, 1}, [3]uint64{3, 2, 1}},
		{"it succeeds", aWorkflow("", `"phase":"Succeeded","finishedAt":"2026-01-01T00:00:19Z",`, aDAG, extract, group, aNode("b", "load(0:x)", "Pod", "Succeeded", ended), aNode("c", "load(1:y)", "Pod", "Succeeded", ended)),
			[3]uint64{1, 1, 1}, [3]uint64{3, 3, 2}},
	} {
		s.put("workflows", "w", c.workflow.text)
		until(t, a, func() string {
			if d := cmp.Diff([2][3]uint64{c.extract, c.load}, [2][3]uint64{counts("extract"), counts("load")}); d != "" {
				return c.name + ": " + d
			}
			return ""
		})
	}
	n := a.nets["prod/workflowtemplate/etl"]
	for _, arc := range [][2]string{{started, "extract/in"}, {"extract", "load/in"}} {
		if !n.HasArc(arc[0], arc[1]) {
			t.Errorf("no arc from %s to %s", arc[0], arc[1])
		}
	}
}

// A runner that waits for a job is at no step. A job is there since it was first seen, because its object
// has no time, and fires when the runner ends.
func TestTheStepsOfARunner(t *testing.T) {
	s := newServer(t)
	s.custom = true
	a, _ := s.adapter("")
	until(t, a, func() string { return "" })
	n := func() *net { return a.nets["prod/autoscalingrunnerset/linux"] }
	before := time.Now().UnixMicro()
	for _, c := range []struct{ status, at string }{
		{`"phase":"Pending"`, "start/in"}, {`"phase":"Pending","ready":true`, ""}, {`"phase":"Running","ready":true,"jobId":"7"`, "job/in"}, {`"phase":"Succeeded","jobId":"7"`, ""}} {
		s.put("ephemeralrunners", "e", aRunner(c.status).text)
		until(t, a, func() string {
			at, since := "", int64(0)
			for _, token := range a.tokens()[n()] {
				at, since = n().Def.Places[token.Place].ID, token.Since
			}
			if n() == nil || at != c.at || at == "job/in" && since < before {
				return fmt.Sprintf("%s: the token is at %q since %d; expected %q", c.status, at, since, c.at)
			}
			return ""
		})
	}
	for _, step := range []string{"start", "job"} {
		if arrivals, departures, firings := n().Counts(n().FindPlace(step+in), n().FindTransition(step)); arrivals != 1 || departures != 1 || firings != 1 {
			t.Errorf("%s: %d arrivals, %d departures, %d firings; expected 1 of each", step, arrivals, departures, firings)
		}
	}
}

// A schedule is due at its first time after the last one, in its zone; not while it is suspended.
func TestWhenAScheduleIsDue(t *testing.T) {
	for _, c := range []struct{ spec, status, want string }{
		{`"schedule":"0 3 * * *"`, `"lastScheduleTime":"2026-01-05T03:00:00Z"`, "2026-01-06T03:00:00Z"},
		{`"schedule":"0 3 * * *","timeZone":"Europe/Berlin"`, ``, "2026-01-01T02:00:00Z"},
		{`"schedule":"0 3 * * *","suspend":true`, ``, ""},
		{`"schedule":"@every 1h"`, ``, ""},
		{`"schedule":"0 3 * * *","timeZone":"Mars/Olympus"`, ``, ""},
	} {
		o, err := readCronJob([]byte(`{"metadata":{"uid":"a","name":"x","namespace":"prod","creationTimestamp":"2026-01-01T00:00:00Z"},"spec":{` + c.spec + `},"status":{` + c.status + `}}`))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if next := o.(*schedule).next; next != 0 {
			got = clock(next)
		}
		if got != c.want {
			t.Errorf("%s, %s: %s; expected %s", c.spec, c.status, got, c.want)
		}
	}
	o, err := readCronWorkflow([]byte(`{"metadata":{"uid":"a","name":"x","namespace":"prod"},"spec":{"schedules":["0 3 * * *","30 2 * * *"],"timezone":"UTC"},"status":{"lastScheduledTime":"2026-01-05T03:00:00Z"}}`))
	if err != nil || clock(o.(*schedule).next) != "2026-01-06T02:30:00Z" {
		t.Errorf("%+v, %v; expected the earlier one of two", o, err)
	}
}

// The command line of what a token waits for resumes it, tries it again, or shows it.
func TestTheCommandOfAToken(t *testing.T) {
	for _, c := range []struct {
		net    string
		reason stats.Reason
		want   string
	}{
		{"prod/job/x", stats.ReasonManual, `kubectl -n prod patch job one --type merge -p '{"spec":{"suspend":false}}'`},
		{"prod/cronjob/report", stats.ReasonIncident, "kubectl -n prod create job one-again --from cronjob/report"},
		{"prod/job", stats.ReasonIncident, "kubectl -n prod describe job one"},
		{"prod/workflowtemplate/etl", stats.ReasonManual, "argo -n prod resume one"},
		{"prod/cronworkflow/etl", stats.ReasonIncident, "argo -n prod retry one"},
		{"prod/workflow", stats.ReasonEnabled, "kubectl -n prod describe workflow one"},
		{"prod/pipeline/build", stats.ReasonManual, `kubectl -n prod patch pipelinerun one --type merge -p '{"spec":{"status":""}}'`},
		{"prod/task", stats.ReasonEnabled, "kubectl -n prod describe taskrun one"},
		{"prod/autoscalingrunnerset/linux", stats.ReasonIncident, "kubectl -n prod delete ephemeralrunner one"},
	} {
		if got := command(&petri.Net{ID: c.net, Places: []petri.Place{{ID: "pipeline/in"}}}, &ledger.Token{Instance: "prod/one"}, stats.Wait{Reason: c.reason}); got != c.want {
			t.Errorf("%s, %s: %s; expected %s", c.net, c.reason, got, c.want)
		}
	}
}
