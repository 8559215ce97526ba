// SPDX-License-Identifier: Apache-2.0

package kubernetes

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/stats"
)

// stuckJob is a Job that is stuck in a way, and what is to be seen of it.
type stuckJob struct {
	name               string
	status             string // of the Job
	pod, event         string // status of its pod, and message of its event; "" for none
	since, reason, why string
}

// objects returns the objects of the Job.
func (c stuckJob) objects() []string {
	out := []string{aJob("a", c.status)}
	if c.pod != "" {
		out = append(out, `{"metadata":{"uid":"p","name":"report-a-x","namespace":"prod","labels":{"job-name":"report-a"},"ownerReferences":[{"kind":"Job","uid":"a","controller":true}]},`+c.pod+`}`)
	}
	if c.event != "" {
		out = append(out, `{"metadata":{"uid":"e","name":"report-a.1"},"involvedObject":{"uid":"a"},"lastTimestamp":"2026-01-01T00:00:03Z","message":"`+c.event+`"}`)
	}
	return out
}

var stuckJobs = []stuckJob{
	{name: "no controller", since: "2026-01-01T00:00:01Z", reason: "enabled", why: "it has no pod"},
	{name: "suspended", status: `,"startTime":null,"conditions":[{"type":"Suspended","status":"True","lastTransitionTime":"2026-01-01T00:00:05Z"}]`, since: "2026-01-01T00:00:05Z", reason: "manual", why: "suspended"},
	{name: "not started", status: `,"startTime":null`, since: "2026-01-01T00:00:00Z", reason: "enabled", why: "the Job controller has not started it"},
	{name: "quota", event: `Error creating: pods \"report-a-x\" is forbidden: exceeded quota: none, requested: pods=1, used: pods=0, limited: pods=0`, since: "2026-01-01T00:00:01Z",
		reason: "enabled", why: "no pod can be created: exceeded quota: none, requested: pods=1, used: pods=0, limited: pods=0"},
	{name: "unschedulable", status: `,"active":1`, pod: `"status":{"phase":"Pending","conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"no nodes available to schedule pods","lastTransitionTime":"2026-01-01T00:00:02Z"}]}`,
		since: "2026-01-01T00:00:01Z", reason: "enabled", why: "pod report-a-x is unschedulable since 2026-01-01T00:00:02Z: no nodes available to schedule pods"},
	{name: "scheduling gates", status: `,"active":1`, pod: `"status":{"phase":"Pending","conditions":[{"type":"PodScheduled","status":"False","reason":"SchedulingGated"}]}`,
		since: "2026-01-01T00:00:01Z", reason: "enabled", why: "pod report-a-x has scheduling gates"},
	{name: "no scheduler", status: `,"active":1`, pod: `"status":{"phase":"Pending"}`, since: "2026-01-01T00:00:01Z", reason: "enabled", why: "pod report-a-x waits for the scheduler"},
	{name: "image pull", status: `,"active":1`, pod: `"spec":{"nodeName":"n1"},"status":{"phase":"Pending","containerStatuses":[{"name":"main","image":"reg/none:1","state":{"waiting":{"reason":"ImagePullBackOff"}}}]}`,
		since: "2026-01-01T00:00:01Z", reason: "incident", why: "pod report-a-x: the image reg/none:1 cannot be pulled: ImagePullBackOff"},
	{name: "configuration", status: `,"active":1`, pod: `"spec":{"nodeName":"n1"},"status":{"phase":"Pending","containerStatuses":[{"name":"main","state":{"waiting":{"reason":"CreateContainerConfigError"}}}]}`,
		since: "2026-01-01T00:00:01Z", reason: "incident", why: "pod report-a-x: container main: CreateContainerConfigError"},
	{name: "crash loop", status: `,"active":1`, pod: `"spec":{"nodeName":"n1"},"status":{"phase":"Running","containerStatuses":[{"name":"main","restartCount":4,"state":{"waiting":{"reason":"CrashLoopBackOff"}},
		"lastState":{"terminated":{"reason":"Error","exitCode":3,"finishedAt":"2026-01-01T00:01:00Z"}}}]}`, since: "2026-01-01T00:00:01Z", reason: "enabled",
		why: "pod report-a-x: container main ended 4 times and waits to start again: Error, exit code 3, at 2026-01-01T00:01:00Z"},
	{name: "running", status: `,"active":1`, pod: `"spec":{"nodeName":"n1"},"status":{"phase":"Running","startTime":"2026-01-01T00:00:02Z","containerStatuses":[{"name":"main","state":{"running":{"startedAt":"2026-01-01T00:00:04Z"}}}]}`,
		since: "2026-01-01T00:00:01Z", reason: "running", why: "pod report-a-x runs since 2026-01-01T00:00:02Z on node n1"},
	{name: "back-off", status: `,"failed":1`, pod: `"status":{"phase":"Failed","containerStatuses":[{"name":"main","state":{"terminated":{"exitCode":1,"finishedAt":"2026-01-01T00:00:09Z"}}}]}`,
		since: "2026-01-01T00:00:01Z", reason: "enabled", why: "1 pods failed, the last one at 2026-01-01T00:00:09Z; the next one comes after a back-off"},
	{name: "pods done, Job running", status: `,"active":1`, pod: `"status":{"phase":"Succeeded","containerStatuses":[{"name":"main","state":{"terminated":{"finishedAt":"2026-01-01T00:00:09Z"}}}]}`,
		since: "2026-01-01T00:00:01Z", reason: "incident", why: "its pods ended at 2026-01-01T00:00:09Z, and it still counts as running: does its controller run?"},
	{name: "failed", status: hasFailed, since: "2026-01-01T00:00:11Z", reason: "incident", why: "BackoffLimitExceeded: Job has reached the specified backoff limit"},
}

// Each way in which a Job is stuck has its time and its reason.
func TestWhyAJobIsStuck(t *testing.T) {
	for _, c := range stuckJobs {
		t.Run(c.name, func(t *testing.T) {
			s := newServer(t)
			for _, text := range c.objects() {
				var o struct{ Metadata struct{ UID string } }
				if err := json.Unmarshal([]byte(text), &o); err != nil {
					t.Fatal(err)
				}
				resource := map[string]string{"a": "jobs", "p": "pods", "e": "events"}[o.Metadata.UID]
				s.put(resource, o.Metadata.UID, text)
			}
			a, _ := s.adapter("")
			until(t, a, func() string {
				tokens := a.tokens()[a.nets["prod/cronjob/report"]]
				if len(tokens) != 1 || len(tokens[0].Waits) != 1 {
					return "no token"
				}
				w := tokens[0].Waits[0]
				got := []string{time.UnixMicro(tokens[0].Since).UTC().Format(time.RFC3339), w.Reason.String(), w.What}
				return cmp.Diff([]string{c.since, c.reason, c.why}, got)
			})
		})
	}
}

// The net of a Job is its CronJob, or what its name begins with if the API server made it, or
// its label; other Jobs have one for each namespace.
func TestTheNetOfAJob(t *testing.T) {
	for text, want := range map[string]string{
		`"ownerReferences":[{"kind":"CronJob","name":"report","controller":true}],"generateName":"x-"`:    "prod/cronjob/report",
		`"ownerReferences":[{"kind":"ScaledJob","name":"mail","controller":true}],"generateName":"mail-"`: "prod/job/mail",
		`"generateName":"import-","labels":{"app.kubernetes.io/name":"shop"}`:                             "prod/job/import",
		`"labels":{"app.kubernetes.io/name":"shop"}`:                                                      "prod/job/shop",
		`"labels":{"app":"shop"}`: "prod/job",
	} {
		o, err := readJob([]byte(`{"metadata":{"uid":"a","namespace":"prod","name":"one",` + text + `}}`))
		if err != nil {
			t.Fatal(err)
		}
		if got := o.(*run).net; got != want {
			t.Errorf("%s: %s; expected %s", text, got, want)
		}
	}
}

// A Job that failed is shown until it is deleted, or until a later one of its CronJob succeeds.
func TestAFailureThatALaterRunMakesUpFor(t *testing.T) {
	s := newServer(t)
	s.put("jobs", "a", aJob("a", hasFailed))
	a, _ := s.adapter("")
	until(t, a, func() string { return cmp.Diff(flow{Tokens: 1}, a.flow()) })
	if w := a.tokens()[a.nets["prod/cronjob/report"]][0].Waits[0]; w.Reason != stats.ReasonIncident {
		t.Errorf("%+v", w)
	}
	later := `{"metadata":{"uid":"b","namespace":"prod","name":"report-b","creationTimestamp":"2026-01-02T00:00:00Z","ownerReferences":[{"kind":"CronJob","name":"report","controller":true}]},"status":{"startTime":"2026-01-02T00:00:00Z"` + isComplete + `}}`
	s.put("jobs", "b", later)
	until(t, a, func() string { return cmp.Diff(flow{Arrivals: 1, Departures: 1, Firings: 1, Starts: 1}, a.flow()) })
}
