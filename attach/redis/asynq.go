// SPDX-License-Identifier: Apache-2.0

package redis

import (
	"cmp"
	"fmt"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/pnagent/pnagent/stats"
)

func asynq() *System {
	return &System{Name: "asynq", About: "asynq 0.26", Tool: "asynq task run, asynq queue unpause, or Asynqmon", Prefix: "asynq", names: ":queues", command: asynqCommand, read: readAsynq}
}

func asynqCommand(j *acted) string {
	switch {
	case j.reason == stats.ReasonManual:
		return typed(`asynq queue unpause --uri "$REDIS_ADDRESS"`, j.queue)
	case j.place == failed, j.place == "retry", j.place == delayed:
		return typed(`asynq task run --uri "$REDIS_ADDRESS" --queue`, j.queue, "--id", j.id)
	}
	return ""
}

// readAsynq reads queues of asynq.
func readAsynq(v *view, queues []string) (out []found) {
	runs, served := asynqServers(v)
	for _, name := range queues {
		q := asynqQueue{v, v.prefix + ":{" + name + "}:", runs}
		by := workers{none: !slices.Contains(served, name)}
		if q.exists(q.key + "paused") {
			by.paused = pausedQueue
		}
		done := q.number("GET", q.key+"processed") - q.number("GET", q.key+"failed")
		out = append(out, found{queue: name, done: max(done, 0), places: []place{q.waiting(by), q.running(), q.set(delayed, "scheduled"), q.set("retry", "retry"), q.set(failed, "archived")}})
	}
	return out
}

// asynqRun is when a task began to run, and at which server.
type asynqRun struct {
	began  int64
	server string
}

// asynqServers returns the tasks that run, by their ids, and which queues servers work. The keys of a
// server expire 10 s after its last heartbeat.
func asynqServers(v *view) (runs map[string]asynqRun, queues []string) {
	runs = map[string]asynqRun{}
	for _, s := range v.lowest(v.prefix+":servers", maxQueues) {
		info := messageOf(v.text("GET", s.member))
		for _, entry := range info.texts[5] {
			queues = append(queues, messageOf(entry).text(1))
		}
	}
	for _, s := range v.lowest(v.prefix+":workers", maxQueues) {
		for _, text := range v.texts("HVALS", s.member) {
			w := messageOf(text)
			start := messageOf(w.text(8))
			runs[w.text(4)] = asynqRun{at(float64(start.numbers[1])+float64(start.numbers[2])/1e9, seconds), fmt.Sprintf("server %s:%d", w.text(1), w.numbers[2])}
		}
	}
	return runs, queues
}

// asynqQueue is a queue of asynq.
type asynqQueue struct {
	*view
	key   string              // what its keys begin with
	taken map[string]asynqRun // the tasks that run
}

// asynqTask is a task of asynq.
type asynqTask struct {
	id, kind, failure string
	pending, failedAt int64 // microseconds
	retried, retries  int64
}

// task reads a task; nil if it is gone.
func (q *asynqQueue) task(id string) *asynqTask {
	f := q.fields(q.key+"t:"+id, "msg", "pending_since")
	if f["msg"] == "" {
		return nil
	}
	m := messageOf(f["msg"])
	return &asynqTask{id: id, kind: m.text(1), failure: m.text(7), pending: at(float64(number(f["pending_since"])), 1e-3), failedAt: at(float64(m.numbers[11]), seconds),
		retried: int64(m.numbers[6]), retries: int64(m.numbers[5])}
}

// failed returns which try of a task failed; "" if none did.
func (t *asynqTask) failed() string {
	if t.failedAt == 0 {
		return ""
	}
	return try("failed", max(t.retried, 1), t.retries+1)
}

// waiting returns the tasks that a server may take, from the tail.
func (q *asynqQueue) waiting(by workers) place {
	key := q.key + "pending"
	return listed(waiting, q.number("LLEN", key), q.tail(key, q.depth), q.task, func(t *asynqTask) job {
		return job{id: t.id, since: t.pending, why: q.free(t.kind, t.failed(), by)}
	})
}

// asynqLease is how long the lease of a task is, which its server extends, in microseconds.
const asynqLease = 30_000_000

// running returns the tasks that servers have. Only the heartbeat of a server has when it began a
// task.
func (q *asynqQueue) running() place {
	leases := map[string]int64{}
	for _, s := range q.lowest(q.key+"lease", maxRunning) {
		leases[s.member] = at(s.score, seconds)
	}
	key := q.key + "active"
	p := listed(running, q.number("LLEN", key), q.tail(key, maxRunning), q.task, func(t *asynqTask) job {
		lease, run := leases[t.id], q.taken[t.id]
		return job{id: t.id, since: cmp.Or(run.began, max(lease-asynqLease, 0)), why: q.runs(t.kind, try("running", t.retried+1, t.retries+1), "", run.server, lease)}
	})
	p.forgets = true
	return p
}

// set returns the tasks of a sorted set by when they are due, or were archived.
func (q *asynqQueue) set(id, name string) place {
	return ranked(q.view, id, q.key+name, q.depth, q.task, func(t *asynqTask, score float64) job {
		when := at(score, seconds)
		switch {
		case id == failed:
			return job{id: t.id, since: when, why: q.why(stats.ReasonIncident, t.kind, cmp.Or(t.failed(), "archived"), t.failure)}
		case t.failedAt != 0:
			return job{id: t.id, since: t.failedAt, why: q.due(when, t.kind, t.failed(), t.failure)}
		}
		return job{id: t.id, why: q.due(when, t.kind, "scheduled", "")}
	})
}

// message is the fields of a message of Protocol Buffers, by their numbers.
type message struct {
	numbers map[protowire.Number]uint64   // the last of each
	texts   map[protowire.Number][]string // all
}

// messageOf reads a message up to where it is none.
func messageOf(text string) message {
	m := message{map[protowire.Number]uint64{}, map[protowire.Number][]string{}}
	for b := []byte(text); len(b) > 0; {
		field, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return m
		}
		b = b[n:]
		switch kind {
		case protowire.VarintType:
			var v uint64
			v, n = protowire.ConsumeVarint(b)
			m.numbers[field] = v
		case protowire.BytesType:
			var v []byte
			v, n = protowire.ConsumeBytes(b)
			m.texts[field] = append(m.texts[field], string(v))
		default:
			n = protowire.ConsumeFieldValue(field, kind, b)
		}
		if n < 0 {
			return m
		}
		b = b[n:]
	}
	return m
}

// text returns the last text of a field.
func (m message) text(field protowire.Number) string {
	all := m.texts[field]
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1]
}
