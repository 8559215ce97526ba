// SPDX-License-Identifier: Apache-2.0

package redis

import (
	"encoding/json"
	"strings"

	"github.com/pnagent/pnagent/stats"
)

func celery() *System {
	return &System{Name: "celery", About: "Celery 5 with Redis as its broker", Tool: "celery inspect, celery control, or Flower", keys: "_kombu.binding.*", queues: celeryQueues, command: celeryCommand, read: readCelery}
}

// celeryCommand only looks: Celery cannot deliver again what a worker has.
func celeryCommand(j *acted) string {
	const celery = `celery -A "$CELERY_APP" `
	switch {
	case j.place == celeryPlace:
		return typed(celery+"inspect query_task", j.id)
	case j.reason == stats.ReasonNoWorker:
		return typed(celery+"worker --queues", j.queue)
	}
	return celery + "inspect active_queues"
}

// celeryPlace is the place of the messages that workers have not acknowledged.
const celeryPlace = "delivered"

// kombuSeparator is between the parts of what Kombu keeps.
const kombuSeparator = "\x06\x16"

// celeryQueues returns the queues of the exchanges with these names, without those by which workers
// are controlled.
func celeryQueues(r *reads, prefix string, exchanges []string) (queues []string) {
	for _, exchange := range exchanges {
		if exchange == "celeryev" || strings.HasSuffix(exchange, ".pidbox") {
			continue
		}
		for _, binding := range r.texts("SMEMBERS", prefix+"_kombu.binding."+exchange) {
			parts := strings.Split(binding, kombuSeparator)
			queues = append(queues, parts[len(parts)-1])
		}
	}
	return unique(queues)
}

// readCelery reads queues of Celery, and the messages of all queues that workers have.
func readCelery(v *view, queues []string) (out []found) {
	// A worker binds a queue of its own to be controlled by. One that is killed leaves it.
	by := workers{none: v.number("SCARD", v.prefix+"_kombu.binding.celery.pidbox") == 0}
	for _, q := range queues {
		p := place{id: waiting}
		for _, priority := range []string{"", "3", "6", "9"} {
			key := v.prefix + q
			if priority != "" {
				key += kombuSeparator + priority
			}
			p.count += v.number("LLEN", key)
			for _, text := range v.tail(key, maxRunning) {
				m := parsed[celeryMessage](text)
				before := ""
				if m.Headers.Retries > 0 {
					before = try("failed", m.Headers.Retries, 0)
				}
				p.jobs = append(p.jobs, job{id: m.id(), why: v.free(m.Headers.Task, before, by)})
			}
		}
		out = append(out, found{queue: q, done: -1, places: []place{p}})
	}
	return append(out, found{queue: allQueues, done: -1, places: []place{celeryDelivered(v)}})
}

// celeryMessage is what is read of a message of Celery.
type celeryMessage struct {
	Headers struct {
		ID, Task, ETA string
		Retries       int64
	}
	Properties struct {
		Tag string `json:"delivery_tag"`
	}
}

func (m *celeryMessage) id() string {
	if m.Headers.ID == "" {
		return m.Properties.Tag
	}
	return m.Headers.ID
}

// celeryDelivered returns the messages that workers have not acknowledged. Their index has the times
// when they were delivered.
func celeryDelivered(v *view) place {
	index := v.lowest(v.prefix+"unacked_index", maxRunning)
	p := place{id: celeryPlace, count: v.number("ZCARD", v.prefix+"unacked_index")}
	if len(index) == 0 {
		return p
	}
	tags := []string{"HMGET", v.prefix + "unacked"}
	for _, s := range index {
		tags = append(tags, s.member)
	}
	for i, text := range v.texts(tags...) {
		message, queue := unacked(text)
		if message == nil || i >= len(index) {
			continue
		}
		name, since := message.Headers.Task+" of "+queue, at(index[i].score, seconds)
		why := v.why(stats.ReasonRunning, name, "delivered to a worker", "")
		if eta := clock(message.Headers.ETA); eta > v.now {
			why = v.due(eta, name, "scheduled, delivered to a worker", "")
		}
		p.jobs = append(p.jobs, job{id: message.id(), since: since, why: why})
	}
	return p
}

// unacked returns the message and the queue of a delivery: a list of the message, an exchange and a
// queue.
func unacked(text string) (*celeryMessage, string) {
	var message celeryMessage
	var exchange, queue string
	if err := json.Unmarshal([]byte(text), &[]any{&message, &exchange, &queue}); err != nil {
		return nil, ""
	}
	return &message, queue
}
