// SPDX-License-Identifier: Apache-2.0

package redis

import (
	"fmt"
	"strings"
	"time"

	"github.com/pnagent/pnagent/act"
	"github.com/pnagent/pnagent/attach/internal/diagram"
	"github.com/pnagent/pnagent/stats"
)

// System is how one library keeps its queues in Redis.
type System struct {
	Name   string // as in --system
	About  string // one line for people
	Tool   string // what people act on jobs with, for telemetry.Config
	Prefix string // of keys, by default

	// keys is a pattern of keys to look for, with * for a name; "" if there is no need.
	keys string
	// names is the key of the set with the names of all queues, without the prefix; "" if there is none.
	names string
	// queues returns the names of all queues without such a set; if it is nil, they are those of keys.
	queues func(r *reads, prefix string, names []string) []string

	// command returns the command line with which an operator acts on a job, or looks where it is, "" if there
	// is none. It is nil for a system without such a tool.
	command func(j *acted) string

	// read returns what there is of queues.
	read func(v *view, queues []string) []found
}

// acted is a job that an operator acts on: where it is, and what it waits for.
type acted struct {
	prefix, queue, place, id string
	reason                   stats.Reason
}

// typed returns a command line and its arguments, which are quoted for a shell.
func typed(line string, args ...string) string {
	for _, a := range args {
		line += " " + act.Quote(a)
	}
	return line
}

// Systems returns all systems.
func Systems() []*System {
	return []*System{asynq(), bull(), bullMQ(), celery(), resque(), rq(), sidekiq()}
}

// Find returns the system with a name. The error lists all.
func Find(name string) (*System, error) {
	var names []string
	for _, s := range Systems() {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	return nil, fmt.Errorf("system %q; expected one of %s", name, strings.Join(names, ", "))
}

// The places of a net.
const (
	waiting = "waiting"
	running = "running"
	delayed = "delayed"
	failed  = "failed"
)

// view is what a function of a system reads with.
type view struct {
	*reads
	prefix string
	depth  int   // how many jobs of a list or set are read
	now    int64 // microseconds
	detail bool  // whether texts have messages of errors
}

// found is what there is of a queue.
type found struct {
	queue  string
	places []place
	done   int64 // jobs that have succeeded, as the system counts them; -1 if it does not
	due    int64 // microseconds: when a job is to be added next by a schedule; 0 without one
}

// place is the jobs in one state.
type place struct {
	id    string
	count int64 // of all jobs
	jobs  []job // the oldest

	// forgets reports that the system forgets when a job came, while the job is still there. The time
	// is kept in the state.
	forgets bool
}

// listed returns a place with a number of jobs. Those that are read are of elements of a list; read returns nil
// for one that is gone.
func listed[J any](id string, count int64, elements []string, read func(element string) *J, of func(*J) job) place {
	p := place{id: id, count: count}
	for _, e := range elements {
		if j := read(e); j != nil {
			p.jobs = append(p.jobs, of(j))
		}
	}
	return p
}

// ranked returns the place of a sorted set, as listed does. Those of the lowest scores are read.
func ranked[J any](v *view, id, key string, most int, read func(member string) *J, of func(j *J, score float64) job) place {
	p := place{id: id, count: v.number("ZCARD", key)}
	for _, s := range v.lowest(key, most) {
		if j := read(s.member); j != nil {
			p.jobs = append(p.jobs, of(j, s.score))
		}
	}
	return p
}

// job is a job, and what it waits for.
type job struct {
	id    string
	since int64 // microseconds; 0 if that is not known
	why   diagram.Why
}

// tokens returns how many tokens a place has: count, unless more jobs were read.
func (p *place) tokens() uint64 {
	if len(p.jobs) == 0 {
		return 0 // the last ones left between two reads
	}
	return uint64(max(p.count, int64(len(p.jobs))))
}

// why returns what the job with a name waits for. detail is left out unless it is to be shown.
func (v *view) why(reason stats.Reason, name, text, detail string) diagram.Why {
	if name != "" {
		text = name + ": " + text
	}
	if v.detail && detail != "" {
		text += ": " + detail
	}
	return diagram.Why{Reason: reason, Text: stats.Clip(text, stats.MaxWhat)}
}

// runs returns what a job waits for that a worker has. gone says that the worker is gone; "" if it is not. until is
// the end of its lock, or 0.
func (v *view) runs(name, text, gone, holder string, until int64) diagram.Why {
	reason := stats.ReasonRunning
	if gone != "" {
		reason, text = stats.ReasonNoWorker, text+", "+gone
	}
	return diagram.Held(v.why(reason, name, text, ""), holder, until, v.now)
}

// worker returns how a text names a worker; "" if it is not known.
func worker(name string) string {
	if name == "" {
		return ""
	}
	return "worker " + name
}

// silent returns what is gone of a worker whose last heartbeat was before a time, in microseconds.
func silent(what string, beat, before int64) string {
	if beat == 0 || beat >= before {
		return ""
	}
	return "its " + what + " is gone, no heartbeat since " + time.UnixMicro(beat).UTC().Format(time.RFC3339)
}

// due returns what a job waits for that has its time.
func (v *view) due(until int64, name, text, detail string) diagram.Why {
	return diagram.Due(v.why(stats.ReasonDelayed, name, text, detail), until, v.now)
}

// workers is what is known of those that may take a job.
type workers struct {
	none   bool   // no worker works the queue
	paused string // why none takes a job, and an operator must act; "" if that is not so
}

const pausedQueue = "the queue is paused"

// free returns what a job waits for that a worker may take, after what happened to it before.
func (v *view) free(name, before string, by workers) diagram.Why {
	reason, text := stats.ReasonEnabled, "no worker has taken it"
	if by.none {
		reason, text = stats.ReasonNoWorker, "no worker works the queue"
	}
	if by.paused != "" {
		reason, text = stats.ReasonManual, by.paused
	}
	if before != "" {
		text = before + ", " + text
	}
	return v.why(reason, name, text, "")
}

// try returns a text with the try of a job: "failed, try 2 of 3", or less if the rest is not known.
func try(text string, n, of int64) string {
	switch {
	case n <= 0:
		return text
	case of <= 0:
		return fmt.Sprintf("%s, try %d", text, n)
	}
	return fmt.Sprintf("%s, try %d of %d", text, n, max(n, of))
}

// unique returns texts without those that came before.
func unique(texts []string) (out []string) {
	seen := map[string]bool{}
	for _, t := range texts {
		if !seen[t] {
			seen[t] = true
			out = append(out, t)
		}
	}
	return out
}
