// SPDX-License-Identifier: Apache-2.0

package redis

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/pnagent/pnagent/stats"
)

func resque() *System {
	return &System{Name: "resque", About: "Resque 1.27 and later, node-resque", Tool: "Resque's web page", Prefix: "resque", names: ":queues", read: readResque}
}

// The forms of times of Resque, and of its twin in JavaScript without the name of the zone.
const (
	resqueTime   = "2006/01/02 15:04:05 UTC"
	resqueTimeJS = "Mon Jan 02 2006 15:04:05 GMT-0700"
)

// resqueClock returns a time of Resque.
func resqueClock(text string) int64 {
	text, _, _ = strings.Cut(text, " (")
	return clock(text, resqueTime, resqueTimeJS)
}

// resqueJob is a job of Resque, which has no id and no time: its id is a digest of its text.
type resqueJob struct {
	id    string
	Class string
}

func newResqueJob(text string) *resqueJob {
	j := parsed[resqueJob](text)
	sum := sha256.Sum256([]byte(text))
	j.id = hex.EncodeToString(sum[:6])
	return j
}

// resqueLate is how old the last heartbeat may be of a worker that runs, in microseconds. It sends one
// every minute.
const resqueLate = 150_000_000

// readResque reads queues of Resque, and the jobs of all queues that failed or have a time.
func readResque(v *view, queues []string) (out []found) {
	worked, works := resqueWork(v)
	for _, q := range queues {
		key := v.prefix + ":queue:" + q
		by := workers{none: !slices.Contains(worked, q) && !slices.Contains(worked, "*")}
		p := listed(waiting, v.number("LLEN", key), v.head(key, v.depth), newResqueJob, func(j *resqueJob) job {
			return job{id: j.id, why: v.free(j.Class, "", by)}
		})
		out = append(out, found{queue: q, done: -1, places: []place{p, {id: running, count: int64(len(works[q])), jobs: works[q]}}})
	}
	done := v.number("GET", v.prefix+":stat:processed") - v.number("GET", v.prefix+":stat:failed")
	return append(out, found{queue: allQueues, done: max(done, 0), places: []place{resqueFailed(v), resqueDelayed(v)}})
}

// resqueWork returns the queues of workers, and the jobs that run, by queue. What a worker that was
// killed had stays in its key.
func resqueWork(v *view) (queues []string, works map[string][]job) {
	works = map[string][]job{}
	for _, worker := range v.texts("SMEMBERS", v.prefix+":workers") {
		end := max(strings.LastIndexByte(worker, ':'), 0) // its queues follow
		beat := clock(v.fields(v.prefix+":workers:heartbeat", worker)[worker])
		if ping := parsed[struct{ Time float64 }](v.text("GET", v.prefix+":worker:ping:"+worker[:end])); beat == 0 { // of node-resque
			beat = at(ping.Time, seconds)
		}
		gone := silent("worker", beat, v.now-resqueLate)
		if gone == "" {
			queues = append(queues, strings.Split(worker[min(end+1, len(worker)):], ",")...)
		}
		work := parsed[struct {
			Queue   string
			Run     string `json:"run_at"`
			Payload json.RawMessage
		}](v.text("GET", v.prefix+":worker:"+worker))
		if work.Queue == "" {
			continue
		}
		j := newResqueJob(string(work.Payload))
		works[work.Queue] = append(works[work.Queue], job{id: j.id, since: resqueClock(work.Run), why: v.runs(j.Class, "running", gone, "worker "+worker, 0)})
	}
	return queues, works
}

// resqueFailed returns the jobs that failed, the oldest first.
func resqueFailed(v *view) place {
	p := place{id: failed, count: v.number("LLEN", v.prefix+":failed")}
	for _, text := range v.head(v.prefix+":failed", v.depth) {
		f := parsed[struct {
			At      string `json:"failed_at"`
			Retried string `json:"retried_at"`
			Queue   string
			Error   string
			Payload json.RawMessage
		}](text)
		j, what := newResqueJob(string(f.Payload)), "failed"
		if f.Retried != "" {
			what = "failed, and was put into its queue again"
		}
		p.jobs = append(p.jobs, job{id: j.id, since: resqueClock(f.At), why: v.why(stats.ReasonIncident, j.Class+" of "+f.Queue, what, f.Error)})
	}
	return p
}

// resqueDelayed returns the jobs with a time, of the plugin resque-scheduler. Each time has a list; of
// those that are not read, each counts as one job.
func resqueDelayed(v *view) place {
	times := v.lowest(v.prefix+":delayed_queue_schedule", v.depth)
	p := place{id: delayed, count: v.number("ZCARD", v.prefix+":delayed_queue_schedule") - int64(len(times))}
	for _, s := range times {
		key := v.prefix + ":delayed:" + strconv.FormatFloat(s.score, 'f', 0, 64)
		p.count += v.number("LLEN", key)
		for _, text := range v.head(key, v.depth) {
			j, queue := newResqueJob(text), parsed[struct{ Queue string }](text).Queue
			p.jobs = append(p.jobs, job{id: j.id, why: v.due(at(s.score, seconds), j.Class+" of "+queue, "scheduled", "")})
		}
	}
	return p
}
