// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"strings"
	"sync"

	"github.com/nats-io/nats.go"
)

const (
	// Messages of shown sources that wait to be processed; more are dropped and counted.
	maxWaiting      = 1 << 16
	maxWaitingBytes = 64 << 20
	// Messages that the NATS client may hold until they are in the inbox: more than
	// arrive while the process waits for a processor, so that the inbox decides what
	// is dropped.
	maxPending      = 1 << 19
	maxPendingBytes = 128 << 20
	// Messages of unknown sources that wait to be processed; more are dropped and
	// counted as OverrunUnknown.
	maxUnknown      = 1 << 14
	maxUnknownBytes = 32 << 20
	// Messages of one shown source that wait; more are dropped and counted as Overrun.
	maxOfSource      = 1 << 10
	maxOfSourceBytes = 16 << 20
	// turn is how many messages of a source are taken at a time, or of all unknown ones.
	turn = 16
)

// inbox holds the messages that wait to be processed. Messages of sources whose rows
// are shown come first, so that a flood of others does not delay them. Each of these
// sources has a queue of its own, and they take turns, so that a flood under one name
// delays no other source. The zero inbox has no such source.
type inbox struct {
	mu      sync.Mutex
	filled  sync.Cond
	closed  bool
	shown   map[string]*queue // of sources whose rows are shown, by subjectKey
	arrived []string          // sources to add to shown once no message of them waits in rest
	turns   []*queue          // that have messages, in turn
	waiting int               // messages in turns
	bytes   int               // of these
	dropped uint64            // of shown sources, since the last call of takeDropped
	rest    waiting
	came    int64 // messages put into queues so far
	taken   int64 // the first of these in the batch that is being processed; 0 without one
}

// queue has the messages of one source that wait.
type queue struct {
	msgs  []numbered
	head  int // of msgs that were taken
	bytes int
}

// numbered is a message and its number by arrival, from 1.
type numbered struct {
	*nats.Msg
	n int64
}

func (q *queue) put(m numbered) {
	if len(q.msgs) == cap(q.msgs) && q.head > 0 { // use the memory of those that were taken
		n := copy(q.msgs, q.msgs[q.head:])
		clear(q.msgs[n:])
		q.msgs, q.head = q.msgs[:n], 0
	}
	q.msgs, q.bytes = append(q.msgs, m), q.bytes+len(m.Data)
}

func (q *queue) take() *nats.Msg {
	m := q.msgs[q.head].Msg
	q.msgs[q.head] = numbered{}
	q.head, q.bytes = q.head+1, q.bytes-len(m.Data)
	if q.empty() {
		q.msgs, q.head = q.msgs[:0], 0
	}
	return m
}

func (q *queue) empty() bool { return q.head == len(q.msgs) }

func (q *queue) full() bool {
	return len(q.msgs)-q.head >= maxOfSource || q.bytes >= maxOfSourceBytes
}

// waiting is a bounded queue of messages.
type waiting struct {
	msgs    []*nats.Msg
	bytes   int
	dropped uint64 // since the last call of takeDropped
}

func (w *waiting) put(m *nats.Msg, most, mostBytes int) bool {
	if len(w.msgs) >= most || w.bytes+len(m.Data) > mostBytes {
		w.dropped++
		return false
	}
	w.msgs, w.bytes = append(w.msgs, m), w.bytes+len(m.Data)
	return true
}

// take returns at most n messages. It uses the memory of an empty list.
func (w *waiting) take(empty []*nats.Msg, n int) []*nats.Msg {
	if n >= len(w.msgs) {
		all := w.msgs
		w.msgs, w.bytes = empty, 0
		return all
	}
	for i, m := range w.msgs[:n] {
		w.bytes -= len(m.Data)
		empty, w.msgs[i] = append(empty, m), nil
	}
	w.msgs = w.msgs[n:]
	return empty
}

// subjectKey returns the net and the source of a Snapshot or Bye subject, escaped.
func subjectKey(subject string) string {
	last := strings.LastIndexByte(subject, '.')
	if last < 0 {
		return subject
	}
	return subject[strings.LastIndexByte(subject[:last], '.')+1:]
}

// put adds a message. It is safe for concurrent use.
func (b *inbox) put(m *nats.Msg) {
	b.mu.Lock()
	defer b.mu.Unlock()
	q := b.shown[subjectKey(m.Subject)]
	switch {
	case q == nil:
		b.rest.put(m, maxUnknown, maxUnknownBytes)
	case q.full() || b.waiting >= maxWaiting || b.bytes+len(m.Data) > maxWaitingBytes:
		b.dropped++
	default:
		if q.empty() {
			b.turns = append(b.turns, q)
		}
		b.came++
		b.waiting, b.bytes = b.waiting+1, b.bytes+len(m.Data)
		q.put(numbered{m, b.came})
	}
	b.filled.Signal()
}

// next returns the next messages in the memory of batch, the last one it returned: a
// few of each shown source, or else a few of the other ones. first reports which. It
// waits for one, and returns none once the inbox is closed.
func (b *inbox) next(batch []*nats.Msg) (msgs []*nats.Msg, first bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.taken = 0
	clear(batch)
	for len(b.turns) == 0 && len(b.rest.msgs) == 0 && !b.closed {
		b.addArrived()
		b.filled.Wait()
	}
	switch {
	case b.closed:
		return nil, false
	case len(b.turns) > 0:
		return b.takeTurns(batch[:0]), true
	}
	return b.rest.take(batch[:0], turn), false
}

// takeTurns takes a few messages of each queue, in their order.
func (b *inbox) takeTurns(batch []*nats.Msg) []*nats.Msg {
	b.taken = b.oldest()
	left := b.turns[:0]
	for _, q := range b.turns {
		for n := 0; n < turn && !q.empty(); n++ {
			m := q.take()
			b.waiting, b.bytes = b.waiting-1, b.bytes-len(m.Data)
			batch = append(batch, m)
		}
		if !q.empty() {
			left = append(left, q)
		}
	}
	clear(b.turns[len(left):])
	b.turns = left
	return batch
}

// oldest returns the number of the first message that waits in a queue, or of the next
// one.
func (b *inbox) oldest() int64 {
	first := b.came + 1
	for _, q := range b.turns {
		first = min(first, q.msgs[q.head].n)
	}
	return first
}

// addArrived adds the sources whose rows became visible.
func (b *inbox) addArrived() {
	for _, key := range b.arrived {
		if b.shown[key] == nil {
			b.shown[key] = &queue{}
		}
	}
	b.arrived = b.arrived[:0]
}

// show records that the rows of a source are shown.
func (b *inbox) show(subject string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.arrived = append(b.arrived, subjectKey(subject))
}

// keep sets the sources whose rows are shown, unless a few messages wait in rest:
// they may be of a new one, and would then be processed after later ones. During a
// flood that is possible, and such a message is counted as a duplicate.
func (b *inbox) keep(shown map[string]bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n := len(b.rest.msgs); n > 0 && n < maxUnknown/2 {
		return
	}
	queues := make(map[string]*queue, len(shown))
	for key := range shown {
		if queues[key] = b.shown[key]; queues[key] == nil {
			queues[key] = &queue{}
		}
	}
	b.shown, b.arrived = queues, b.arrived[:0]
}

// takeDropped returns how many messages were dropped since the last call.
func (b *inbox) takeDropped() (known, unknown uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	known, unknown, b.dropped, b.rest.dropped = b.dropped, b.rest.dropped, 0, 0
	return known, unknown
}

// progress returns how many messages of shown sources came, and up to which of these
// all were processed.
func (b *inbox) progress() (came, done int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	done = b.oldest() - 1
	if b.taken != 0 {
		done = min(done, b.taken-1)
	}
	return b.came, done
}

// close ends next.
func (b *inbox) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	b.filled.Broadcast()
}
