// SPDX-License-Identifier: Apache-2.0

package redis

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/pnagent/pnagent/stats"
)

func sidekiq() *System {
	return &System{Name: "sidekiq", About: "Sidekiq 6 to 8", Tool: "Sidekiq's web page, or Sidekiq::API", names: "queues", command: sidekiqCommand, read: readSidekiq}
}

func sidekiqCommand(j *acted) string {
	var do string
	arg := j.id
	switch {
	case j.reason == stats.ReasonManual: // of Sidekiq Pro
		do = "Queue.new(ARGV[0]).unpause!"
		arg = j.queue
	case j.place == failed:
		do = "DeadSet.new.find_job(ARGV[0]).retry"
	case j.place == "retry":
		do = "RetrySet.new.find_job(ARGV[0]).retry"
	case j.place == delayed:
		do = "ScheduledSet.new.find_job(ARGV[0]).add_to_queue"
	default:
		return ""
	}
	return typed("ruby -r sidekiq/api -e 'Sidekiq::"+do+"'", arg)
}

// sidekiqLate is how old the last heartbeat may be of a process that runs, in microseconds. It sends
// one every 5 s, or 10 s.
const sidekiqLate = 30_000_000

// readSidekiq reads queues of Sidekiq, and the jobs with a time or out of tries of all queues.
func readSidekiq(v *view, queues []string) (out []found) {
	work := sidekiqWork(v)
	paused := v.texts("SMEMBERS", v.prefix+"paused") // of Sidekiq Pro
	for _, q := range queues {
		by := workers{none: !slices.Contains(work.queues, q)}
		if slices.Contains(paused, q) {
			by.paused = pausedQueue
		}
		key := v.prefix + "queue:" + q
		p := listed(waiting, v.number("LLEN", key), v.tail(key, v.depth), parsed[sidekiqJob], func(j *sidekiqJob) job {
			return job{id: j.ID, since: j.time(j.Enqueued), why: v.free(j.name(), j.failed(), by)}
		})
		out = append(out, found{queue: q, done: -1, places: []place{p, {id: running, count: int64(len(work.jobs[q])), jobs: work.jobs[q]}}})
	}
	done := v.number("GET", v.prefix+"stat:processed") - v.number("GET", v.prefix+"stat:failed")
	return append(out, found{queue: allQueues, done: max(done, 0), places: []place{v.sidekiqSet(delayed, "schedule"), v.sidekiqSet("retry", "retry"), v.sidekiqSet(failed, "dead")}})
}

// sidekiqJob is what is read of a job of Sidekiq. Times are seconds, of Sidekiq 8 milliseconds.
type sidekiqJob struct {
	ID       string `json:"jid"`
	Class    string
	Wrapped  any // the class of a job of Active Job
	Queue    string
	Created  float64 `json:"created_at"`
	Enqueued float64 `json:"enqueued_at"`
	FailedAt float64 `json:"failed_at"`
	Retried  float64 `json:"retried_at"`
	Retries  *int64  `json:"retry_count"`
	Retry    any     // how often, or whether
	Error    string  `json:"error_message"`
}

func (j *sidekiqJob) name() string {
	if wrapped, ok := j.Wrapped.(string); ok {
		return wrapped
	}
	return j.Class
}

// time returns the first of some times that there is.
func (j *sidekiqJob) time(all ...float64) int64 {
	for _, t := range append(all, j.Created) {
		unit := float64(seconds)
		if t > 1e11 { // the year 5138
			unit = milliseconds
		}
		if micros := at(t, unit); micros > 0 {
			return micros
		}
	}
	return 0
}

// failed returns which try of a job failed; "" if none did.
func (j *sidekiqJob) failed() string {
	if j.Retries == nil {
		return ""
	}
	of := int64(26)
	if n, ok := j.Retry.(float64); ok {
		of = int64(max(min(n, 1e6), 0)) + 1
	}
	return try("failed", max(min(*j.Retries, 1e6), 0)+1, of)
}

// sidekiqSet returns the jobs of a sorted set of all queues. The score is when a job is due, or when
// it died.
func (v *view) sidekiqSet(id, set string) place {
	return ranked(v, id, v.prefix+set, v.depth, parsed[sidekiqJob], func(j *sidekiqJob, score float64) job {
		name, when, since := j.name()+" of "+j.Queue, at(score, seconds), j.time(j.Retried, j.FailedAt)
		switch text := j.failed(); {
		case id == failed:
			return job{id: j.ID, since: when, why: v.why(stats.ReasonIncident, name, cmp.Or(text, "failed"), j.Error)}
		case text == "":
			return job{id: j.ID, since: since, why: v.due(when, name, "scheduled", "")}
		default:
			return job{id: j.ID, since: since, why: v.due(when, name, text, j.Error)}
		}
	})
}

// sidekiqWorks are what the processes of Sidekiq do.
type sidekiqWorks struct {
	queues []string         // that a process works
	jobs   map[string][]job // that run, by queue
}

// sidekiqWork reads what the processes do. Their keys expire a minute after the last heartbeat, and with
// them what a process that was killed had: Sidekiq takes a job out of Redis.
func sidekiqWork(v *view) sidekiqWorks {
	all := sidekiqWorks{jobs: map[string][]job{}}
	for _, process := range v.texts("SMEMBERS", v.prefix+"processes") {
		f := v.fields(v.prefix+process, "info", "beat", "quiet")
		if f["info"] == "" {
			continue
		}
		gone := silent("process", at(*parsed[float64](f["beat"]), seconds), v.now-sidekiqLate)
		if gone == "" && f["quiet"] != "true" {
			all.queues = append(all.queues, parsed[struct{ Queues []string }](f["info"]).Queues...)
		}
		threads := append(v.texts("HVALS", v.prefix+process+":work"), v.texts("HVALS", v.prefix+process+":workers")...)
		for _, text := range threads[:min(len(threads), maxRunning)] {
			work := parsed[struct {
				Queue   string
				Run     float64 `json:"run_at"`
				Payload json.RawMessage
			}](text)
			payload := string(work.Payload)
			if strings.HasPrefix(payload, `"`) { // JSON in JSON, of Sidekiq 7
				payload = *parsed[string](payload)
			}
			j := parsed[sidekiqJob](payload)
			what := "running"
			if failed := j.failed(); failed != "" {
				what += ", " + failed
			}
			all.jobs[work.Queue] = append(all.jobs[work.Queue], job{id: j.ID, since: j.time(work.Run), why: v.runs(j.name(), what, gone, "process "+process, 0)})
		}
	}
	return all
}
