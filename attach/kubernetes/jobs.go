// SPDX-License-Identifier: Apache-2.0

package kubernetes

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/pnagent/pnagent/stats"
)

// jobs are the resources of Jobs and CronJobs.
func jobs(bool) []resource {
	return []resource{
		{name: "cronjobs", group: "batch", version: "v1", plural: "cronjobs", read: readCronJob},
		{name: "jobs", group: "batch", version: "v1", plural: "jobs", read: readJob},
		podsWith("job-name", ownerOf),
		{name: "events of jobs", version: "v1", plural: "events", selectors: url.Values{"fieldSelector": {"reason=FailedCreate,involvedObject.kind=Job"}}, read: readRefusal},
	}
}

// stepJob is the step of a Job.
const stepJob = "job"

func readCronJob(text json.RawMessage) (object, error) {
	var o struct {
		Metadata metadata `json:"metadata"`
		Spec     struct {
			Schedule string `json:"schedule"`
			TimeZone string `json:"timeZone"`
			Suspend  bool   `json:"suspend"`
		} `json:"spec"`
		Status struct {
			Last stamp `json:"lastScheduleTime"`
		} `json:"status"`
	}
	if err := json.Unmarshal(text, &o); err != nil {
		return nil, fmt.Errorf("a CronJob: %w", err)
	}
	s := &schedule{id: o.Metadata.UID, net: o.Metadata.net("cronjob", o.Metadata.Name), step: stepJob, last: int64(o.Status.Last)}
	if !o.Spec.Suspend {
		s.next = nextOf([]string{o.Spec.Schedule}, o.Spec.TimeZone, int64(cmp.Or(o.Status.Last, o.Metadata.Created)))
	}
	return s, o.Metadata.check()
}

// job is what is read of a Job.
type job struct {
	Metadata metadata `json:"metadata"`
	Spec     struct {
		Completions *int `json:"completions"`
		Parallelism *int `json:"parallelism"`
	} `json:"spec"`
	Status struct {
		Active      int        `json:"active"`
		Succeeded   int        `json:"succeeded"`
		Failed      int        `json:"failed"`
		StartTime   stamp      `json:"startTime"`
		Completion  stamp      `json:"completionTime"`
		Conditions  conditions `json:"conditions"`
		Uncounted   uncounted  `json:"uncountedTerminatedPods"`
		Terminating int        `json:"terminating"`
	} `json:"status"`
}

// uncounted are pods that ended, and that the Job controller is about to count.
type uncounted struct {
	Succeeded []string `json:"succeeded"`
	Failed    []string `json:"failed"`
}

func readJob(text json.RawMessage) (object, error) {
	var j job
	if err := json.Unmarshal(text, &j); err != nil {
		return nil, fmt.Errorf("a Job: %w", err)
	}
	return j.run(), j.Metadata.check()
}

// run returns what is kept of a Job. Its net is its CronJob, or what its name begins with if
// the API server made the name, or its label app.kubernetes.io/name; the net of other Jobs is
// one for each namespace.
func (j *job) run() *run {
	m, s := &j.Metadata, &j.Status
	cron := m.owner("CronJob")
	r := &run{id: m.UID, net: m.net("job", m.family()), instance: m.instance(), last: stepJob, started: int64(m.Created)}
	if cron != "" {
		r.net = m.net("cronjob", cron)
	}
	at := step{name: stepJob, since: int64(cmp.Or(s.StartTime, m.Created)), pods: m.UID}
	if complete := s.Conditions.is("Complete"); complete != nil {
		r.end(int64(cmp.Or(s.Completion, complete.Since)), false, "")
	} else if failed := s.Conditions.is("Failed"); failed != nil {
		r.end(int64(failed.Since), true, colon(failed.Reason, failed.Message))
	}
	at.ended, at.failed = r.ended, r.failed
	at.counted = s.Succeeded + s.Failed + len(s.Uncounted.Succeeded) + len(s.Uncounted.Failed)
	if j.done() {
		at.counted = 0
	}
	if suspended := s.Conditions.is("Suspended"); suspended != nil {
		at.since, at.whys = int64(suspended.Since), []why{{reason: stats.ReasonManual, text: "suspended"}}
	} else if s.StartTime == 0 {
		at.whys = []why{{reason: stats.ReasonEnabled, text: "the Job controller has not started it"}}
	}
	r.steps, r.arcs = []step{at}, [][2]string{{"", stepJob}}
	return r
}

// done reports whether as many pods succeeded as the Job needs.
func (j *job) done() bool {
	need := j.Spec.Completions
	if need == nil {
		return j.Status.Succeeded > 0 && j.Status.Active == 0
	}
	return j.Status.Succeeded >= *need
}

// ownerOf returns the key of the pods of a Job.
func ownerOf(m *metadata) string {
	for _, o := range m.Owners {
		if o.Controller {
			return o.UID
		}
	}
	return ""
}

// refusal is an event: a pod of an object could not be created.
type refusal struct {
	id, of string // of is the object's UID
	at     int64
	what   string
}

func (r *refusal) uid() string { return r.id }

func readRefusal(text json.RawMessage) (object, error) {
	var e struct {
		Metadata metadata `json:"metadata"`
		Of       struct {
			UID string `json:"uid"`
		} `json:"involvedObject"`
		Message string `json:"message"`
		First   stamp  `json:"firstTimestamp"`
		Last    stamp  `json:"lastTimestamp"`
		At      stamp  `json:"eventTime"`
		Series  struct {
			Last stamp `json:"lastObservedTime"`
		} `json:"series"`
	}
	if err := json.Unmarshal(text, &e); err != nil {
		return nil, fmt.Errorf("an Event: %w", err)
	}
	what := strings.TrimPrefix(e.Message, "Error creating: ")
	if _, after, found := strings.Cut(what, " is forbidden: "); found {
		what = after
	}
	return &refusal{id: e.Metadata.UID, of: e.Of.UID, at: int64(max(e.Last, e.At, e.Series.Last, e.First)), what: what}, e.Metadata.check()
}
