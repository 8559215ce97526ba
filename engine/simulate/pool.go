// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"github.com/pnagent/pnagent/engine/coloured"
	"github.com/pnagent/pnagent/engine/ready"
	"github.com/pnagent/pnagent/stats"
)

// runKey names a run of a transition with a pool.
type runKey struct {
	unit int
	run  coloured.RunID
}

// request is work for a member of a pool.
type request struct {
	key        runKey
	transition int32
	since      int64
}

// pool is the state of a Pool in a run.
type pool struct {
	free    int
	queues  [ready.Priorities]fifo // by priority
	waiting map[runKey]int64       // since when; one that is not here any more was cancelled
	level   level                  // of members that work
	queue   level                  // of requests that wait
	asked   uint64
	started uint64
	atOnce  uint64
	waits   stats.Histogram
}

// fifo is a queue that reuses its memory.
type fifo struct {
	all  []request
	head int
}

func (q *fifo) put(r request) { q.all = append(q.all, r) }

func (q *fifo) take() (request, bool) {
	if q.head == len(q.all) {
		return request{}, false
	}
	r := q.all[q.head]
	q.head++
	if q.head > 1024 && q.head > len(q.all)/2 {
		q.all, q.head = append(q.all[:0], q.all[q.head:]...), 0
	}
	return r, true
}

// level is a number that changes over time, and its integral.
type level struct {
	n    int
	at   int64
	area float64 // microseconds
}

func (l *level) add(n int, now int64) {
	l.upTo(now)
	l.n += n
}

func (l *level) upTo(now int64) float64 {
	l.area += float64(l.n) * float64(now-l.at)
	l.at = now
	return l.area
}

// ask takes a request. It returns those that a member begins now.
func (p *pool) ask(r request, priority ready.Priority, now int64) (request, bool) {
	p.asked++
	p.waiting[r.key] = now
	p.queue.add(1, now)
	p.queues[priority].put(r)
	return p.begin(now)
}

// begin has a free member, if there is one, begin the next request.
func (p *pool) begin(now int64) (request, bool) {
	for k := len(p.queues) - 1; k >= 0 && p.free > 0; k-- {
		for {
			r, ok := p.queues[k].take()
			if !ok {
				break
			}
			if _, still := p.waiting[r.key]; !still {
				continue
			}
			p.leave(r.key, now)
			p.free--
			p.level.add(1, now)
			p.started++
			if r.since == now {
				p.atOnce++
			}
			p.waits.Observe(now - r.since)
			return r, true
		}
	}
	return request{}, false
}

// leave ends the wait of a request.
func (p *pool) leave(key runKey, now int64) {
	delete(p.waiting, key)
	p.queue.add(-1, now)
}

// release makes a member free.
func (p *pool) release(now int64) {
	p.free++
	p.level.add(-1, now)
}
