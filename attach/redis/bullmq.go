// SPDX-License-Identifier: Apache-2.0

package redis

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/pnagent/pnagent/stats"
)

func bullMQ() *System {
	return &System{Name: "bullmq", About: "BullMQ 5 and 6", Tool: "Bull Board, or the methods retry, promote and resume of BullMQ", Prefix: "bull", keys: ":*:meta", command: bullMQCommand, read: readBull}
}

func bull() *System {
	return &System{Name: "bull", About: "Bull 4", Tool: "Bull Board, or the methods retry, promote and resume of Bull", Prefix: "bull", keys: ":*:id", command: bullCommand, read: readBull}
}

func bullMQCommand(j *acted) string {
	return j.byNode(`{ Queue } = require("bullmq"), q = new Queue(queue, { prefix, connection: { url: process.env.REDIS_URL } })`)
}

func bullCommand(j *acted) string {
	return j.byNode(`Queue = require("bull"), q = new Queue(queue, process.env.REDIS_URL, { prefix })`)
}

// byNode returns a command line of Node.js, to which begin gives a queue q. Libraries of jobs have no program.
func (j *acted) byNode(begin string) string {
	var do string
	switch {
	case j.reason == stats.ReasonManual:
		do = "q.resume()"
	case j.place == failed:
		do = "q.getJob(id).then((j) => j.retry())"
	case j.place == delayed:
		do = "q.getJob(id).then((j) => j.promote())"
	default:
		return ""
	}
	return typed(`node -e 'const [prefix, queue, id] = process.argv.slice(1), `+begin+`; `+do+`.finally(() => q.close())'`, j.prefix, j.queue, j.id)
}

// readBull reads queues of BullMQ and Bull.
func readBull(v *view, queues []string) (out []found) {
	for _, q := range queues {
		b := bullQueue{v, v.prefix + ":" + q + ":"}
		f := found{queue: q, done: -1, places: []place{b.waiting(), b.running(), b.delayed(), b.failed(), b.children()}}
		if done := b.fields(b.key+"metrics:completed", "count")["count"]; done != "" {
			f.done = number(done)
		}
		for _, s := range b.lowest(b.key+"repeat", 1) {
			f.due = at(s.score, milliseconds)
		}
		out = append(out, f)
	}
	return out
}

// bullQueue is a queue of BullMQ or Bull.
type bullQueue struct {
	*view
	key string // what its keys begin with
}

// bullJob is a job of BullMQ or Bull.
type bullJob struct {
	id, name, failure, worker  string
	added, processed, finished int64 // microseconds; 0 if it was not yet
	lastDelay                  int64 // milliseconds
	started, attempts          int64 // tries that began, and how many it has
	stalled                    int64 // how often its worker was lost
}

// job reads a job; nil if it is gone.
func (b *bullQueue) job(id string) *bullJob {
	if strings.HasPrefix(id, "0:") { // a marker of BullMQ 4
		return nil
	}
	names := []string{"name", "timestamp", "processedOn", "finishedOn", "opts", "ats", "atm", "attemptsMade", "stc"}
	if b.detail {
		names = append(names, "failedReason", "pb")
	}
	f := b.fields(b.key+id, names...)
	if f["timestamp"] == "" {
		return nil
	}
	opts := parsed[struct{ Attempts, Delay float64 }](f["opts"])
	j := &bullJob{id: id, name: f["name"], failure: f["failedReason"], worker: f["pb"], added: millis(f["timestamp"]), processed: millis(f["processedOn"]), finished: millis(f["finishedOn"]),
		attempts: int64(max(opts.Attempts, 1)), stalled: number(f["stc"]), lastDelay: int64(opts.Delay)}
	j.started = max(number(f["ats"]), number(f["atm"]), number(f["attemptsMade"]))
	if j.name == "__default__" { // of Bull, for a job without one
		j.name = ""
	}
	return j
}

// waiting returns the jobs that a worker may take. Jobs with a priority are in a sorted set; those
// at its end wait for all others.
func (b *bullQueue) waiting() place {
	by := workers{none: !b.exists(b.key + "stalled-check")} // each worker sets it every 30 s, for as long
	if b.fields(b.key+"meta", "paused")["paused"] != "" || b.exists(b.key+"meta-paused") {
		by.paused = pausedQueue
	}
	count := b.number("LLEN", b.key+"wait") + b.number("LLEN", b.key+"paused") + b.number("ZCARD", b.key+"prioritized")
	ids := append(b.tail(b.key+"wait", b.depth), b.tail(b.key+"paused", b.depth)...)
	last := strconv.Itoa(-b.depth)
	for _, s := range append(pairs(b.texts("ZRANGE", b.key+"prioritized", last, "-1", "WITHSCORES")), b.lowest(b.key+"prioritized", b.depth)...) {
		ids = append(ids, s.member)
	}
	return listed(waiting, count, unique(ids), b.job, func(j *bullJob) job {
		return job{id: j.id, since: j.since(), why: b.free(j.name, j.before(), by)}
	})
}

// since returns when a job that waits came: when it was added, or due for the first time. The start
// of its last try is the last time that is stored of one that was tried.
func (j *bullJob) since() int64 {
	return cmp.Or(j.processed, j.added+1000*j.lastDelay)
}

// before returns what happened to a job before it waits.
func (j *bullJob) before() string {
	switch {
	case j.processed == 0:
		return ""
	case j.stalled > 0:
		return try("its worker was lost", j.started, j.attempts)
	}
	return try("failed", j.started, j.attempts)
}

// running returns the jobs that workers have. A worker renews the lock of its job while it runs.
func (b *bullQueue) running() place {
	return listed(running, b.number("LLEN", b.key+"active"), b.tail(b.key+"active", maxRunning), b.job, func(j *bullJob) job {
		gone := ""
		if !b.exists(b.key+j.id+":lock") && b.answer("LPOS", b.key+"active", j.id) != nil {
			gone = "its worker is gone, its lock has expired"
		}
		return job{id: j.id, since: cmp.Or(j.processed, j.added), why: b.runs(j.name, try("running", max(j.started, 1), j.attempts), gone, worker(j.worker), 0)}
	})
}

// delayed returns the jobs with a time, which are due first. A score is milliseconds times 4096, and
// a number.
func (b *bullQueue) delayed() place {
	return ranked(b.view, delayed, b.key+"delayed", b.depth, b.job, func(j *bullJob, score float64) job {
		text := "scheduled"
		if j.processed != 0 {
			text = try("failed", j.started, j.attempts)
		}
		return job{id: j.id, since: cmp.Or(j.processed, j.added), why: b.due(at(float64(int64(score)/4096), milliseconds), j.name, text, j.failure)}
	})
}

// failed returns the jobs without a further try.
func (b *bullQueue) failed() place {
	return ranked(b.view, failed, b.key+"failed", b.depth, b.job, func(j *bullJob, _ float64) job {
		return job{id: j.id, since: cmp.Or(j.finished, j.processed, j.added), why: b.why(stats.ReasonIncident, j.name, try("failed", j.started, j.attempts), j.failure)}
	})
}

// children returns the jobs that wait for others, which they added.
func (b *bullQueue) children() place {
	return ranked(b.view, "waiting-children", b.key+"waiting-children", b.depth, b.job, func(j *bullJob, score float64) job {
		why := b.why(stats.ReasonMissing, j.name, "it has children that have not ended", "")
		why.Count = uint32(b.number("SCARD", b.key+j.id+":dependencies"))
		return job{id: j.id, since: cmp.Or(at(score, milliseconds), j.added), why: why}
	})
}
