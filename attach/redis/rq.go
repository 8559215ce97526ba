// SPDX-License-Identifier: Apache-2.0

package redis

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/pnagent/pnagent/stats"
)

func rq() *System {
	return &System{Name: "rq", About: "RQ 3", Tool: "rq requeue, or RQ's dashboard", Prefix: "rq", queues: rqQueues, command: rqCommand, read: readRQ}
}

// rqQueues returns the queues of RQ.
func rqQueues(r *reads, prefix string, _ []string) (queues []string) {
	for _, key := range r.texts("SMEMBERS", prefix+":queues") {
		queues = append(queues, strings.TrimPrefix(key, prefix+":queue:"))
	}
	return queues
}

// rqCommand returns the command line of RQ for a job that has failed, or that waits for workers that are
// suspended.
func rqCommand(j *acted) string {
	switch {
	case j.reason == stats.ReasonManual:
		return "rq resume"
	case j.reason == stats.ReasonIncident && j.place == failed:
		return typed("rq requeue --queue", j.queue, j.id)
	}
	return ""
}

// readRQ reads queues of RQ.
func readRQ(v *view, queues []string) (out []found) {
	for _, name := range queues {
		q := rqQueue{v, v.prefix + ":", name}
		out = append(out, found{queue: name, done: -1, places: []place{q.waiting(), q.running(), q.delayed(), q.failed(), q.deferred()}})
	}
	return out
}

// rqQueue is a queue of RQ.
type rqQueue struct {
	*view
	key, name string // what keys begin with, and the queue
}

// rqJob is a job of RQ.
type rqJob struct {
	id, name, status, worker      string
	added, queued, started, ended int64 // microseconds; 0 if it was not yet
	retries                       int64 // that are left
	before                        []string
}

// job reads a job; nil if it is gone.
func (q *rqQueue) job(id string) *rqJob {
	f := q.fields(q.key+"job:"+id, "created_at", "enqueued_at", "started_at", "ended_at", "description", "status", "worker_name", "retries_left", "dependency_ids")
	if f["created_at"] == "" {
		return nil
	}
	j := &rqJob{id: id, status: f["status"], worker: f["worker_name"], added: clock(f["created_at"]), queued: clock(f["enqueued_at"]), started: clock(f["started_at"]), ended: clock(f["ended_at"]),
		retries: number(f["retries_left"]), before: *parsed[[]string](f["dependency_ids"])}
	j.name, _, _ = strings.Cut(f["description"], "(") // its arguments follow
	j.name = strings.TrimSpace(j.name)
	return j
}

// left returns a text with how often a job is tried again. How often it was tried is not stored.
func (j *rqJob) left(text string) string { return fmt.Sprintf("%s, tries left: %d", text, j.retries) }

// registry returns the place of a registry of jobs.
func (q *rqQueue) registry(id, name string, of func(j *rqJob, score float64) job) place {
	return ranked(q.view, id, q.key+name+":"+q.name, q.depth, q.job, of)
}

// workers returns what is known of the workers of the queue: their keys expire.
func (q *rqQueue) workers() workers {
	by := workers{none: true}
	for _, key := range q.texts("SMEMBERS", q.key+"workers:"+q.name) {
		if q.exists(key) {
			by.none = false
		}
	}
	if q.exists(q.key + "suspended") {
		by.paused = "all workers are suspended"
	}
	return by
}

// waiting returns the jobs of the list, which is taken from its head.
func (q *rqQueue) waiting() place {
	key, by := q.key+"queue:"+q.name, q.workers()
	return listed(waiting, q.number("LLEN", key), q.head(key, q.depth), q.job, func(j *rqJob) job {
		before := ""
		if j.started > 0 {
			before = j.left("failed")
		}
		return job{id: j.id, since: cmp.Or(j.queued, j.added), why: q.free(j.name, before, by)}
	})
}

// running returns the executions. The score of one is when it is given up, unless its worker says that
// it still runs.
func (q *rqQueue) running() place {
	execution := func(member string) *rqJob {
		if i := strings.LastIndexByte(member, ':'); i > 0 { // RQ 1 has no executions
			member = member[:i]
		}
		return q.job(member)
	}
	return ranked(q.view, running, q.key+"wip:"+q.name, maxRunning, execution, func(j *rqJob, score float64) job {
		return job{id: j.id, since: cmp.Or(j.started, j.queued, j.added), why: q.runs(j.name, j.left("running"), "", worker(j.worker), at(score, seconds))}
	})
}

// delayed returns the jobs with a time.
func (q *rqQueue) delayed() place {
	return q.registry(delayed, "scheduled", func(j *rqJob, score float64) job {
		since, text := j.added, "scheduled"
		if j.started > 0 {
			since, text = cmp.Or(j.ended, j.started), j.left("failed")
		}
		return job{id: j.id, since: since, why: q.due(at(score, seconds), j.name, text, "")}
	})
}

// failed returns the jobs without a further try.
func (q *rqQueue) failed() place {
	return q.registry(failed, "failed", func(j *rqJob, _ float64) job {
		return job{id: j.id, since: cmp.Or(j.ended, j.started, j.added), why: q.why(stats.ReasonIncident, j.name, j.left("failed"), "")}
	})
}

// deferred returns the jobs that wait for others.
func (q *rqQueue) deferred() place {
	return q.registry("deferred", "deferred", func(j *rqJob, _ float64) job {
		why := q.why(stats.ReasonMissing, j.name, "jobs before it have not ended", "")
		for _, id := range j.before[:min(len(j.before), q.depth)] {
			switch before := q.job(id); {
			case before == nil || before.status == "finished":
			case before.status == "failed" || before.status == "canceled" || before.status == "stopped":
				return job{id: j.id, since: j.added, why: q.why(stats.ReasonIncident, j.name, fmt.Sprintf("job %s before it is %s", id, before.status), "")}
			default:
				why.Count++
			}
		}
		return job{id: j.id, since: j.added, why: why}
	})
}
