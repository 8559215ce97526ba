// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"strings"
	"sync"

	"github.com/nats-io/nats.go"
)

const (
	// Messages that the NATS client may hold until they are in the inbox: more than
	// arrive while the process waits for a processor, so that the inbox decides what
	// is dropped.
	maxPending      = 1 << 19
	maxPendingBytes = 128 << 20
	// Messages of one shown source that wait; more are dropped and counted as Overrun.
	maxOfSource      = 1 << 10
	maxOfSourceBytes = 16 << 20
	// msgBytes is the memory of a message that waits, with its queue, beside its payload.
	msgBytes = 512
	// turn is how many messages of a source are taken at a time.
	turn = 16
	// batchSize is how many messages are taken from the inbox at a time.
	batchSize = 256
	// A lane is pressed once it is filled to one part in pressure. From then on a full message
	// replaces what waits of its source before it.
	pressure = 4
	// restEvery is after how many batches of shown sources one of the others is taken, however
	// many messages of shown ones wait: otherwise a new source would never be shown.
	restEvery = 8
)

// inbox holds the messages that wait to be processed. Each source has a queue of its own, in
// which its messages stay in their order, and the queues take turns: a flood under one name
// delays no other source. Queues of sources whose rows are shown come first, so that a flood
// of others does not delay them.
//
// Counters are cumulative, so a full message has all that the earlier ones of its process
// have. While much waits it replaces them: what a source has waiting is then bounded, and
// nothing is lost.
type inbox struct {
	mu      sync.Mutex
	filled  sync.Cond
	closed  bool
	most    int // bytes of each lane
	sources map[string]*queue
	shown   lane  // of sources whose rows are shown
	rest    lane  // of all others
	came    int64 // messages so far
	taken   int64 // the first of these in the batch of shown sources that is being processed; 0 without one
	passed  int   // batches of shown sources since one of the rest, while messages of the rest waited

	replaced      int // messages that later ones replaced, since the last call of takeReplaced
	replacedBytes int
}

// lane is queues that have messages, in turn.
type lane struct {
	first, last *queue
	n           int // messages
	bytes       int
	dropped     uint64 // messages, since the last call of takeDropped
}

// queue has the messages of one source that wait.
type queue struct {
	key     string // subjectKey
	shown   bool   // its rows are
	waits   bool   // it is in a lane, between these two
	prev    *queue
	next    *queue
	skipped uint32 // messages that were dropped after the last one that waits
	msgs    []waiting
	head    int // of msgs that were taken
	bytes   int
}

// waiting is a message that waits.
type waiting struct {
	*nats.Msg
	at       int64  // when it arrived, microseconds since the Unix epoch
	n        int64  // its number by arrival, from 1; if it replaced others, of the first of these
	skipped  uint32 // messages of the source since the one before that are not here
	received int64  // when the last message of the source arrived that was dropped after this one, or waited behind it before the source was shown; 0 without one
}

func (w *waiting) size() int { return len(w.Data) + msgBytes }

// newInbox returns an inbox with room for a number of bytes in each lane.
func newInbox(most int) *inbox {
	b := &inbox{most: most, sources: make(map[string]*queue)}
	b.filled.L = &b.mu
	return b
}

func (q *queue) put(m waiting) {
	if len(q.msgs) == cap(q.msgs) && q.head > 0 { // use the memory of those that were taken
		n := copy(q.msgs, q.msgs[q.head:])
		clear(q.msgs[n:])
		q.msgs, q.head = q.msgs[:n], 0
	}
	q.msgs, q.bytes = append(q.msgs, m), q.bytes+m.size()
}

func (q *queue) take() waiting {
	m := q.msgs[q.head]
	q.msgs[q.head] = waiting{}
	q.head, q.bytes = q.head+1, q.bytes-m.size()
	if q.empty() {
		q.msgs, q.head = q.msgs[:0], 0
	}
	return m
}

func (q *queue) empty() bool { return q.head == len(q.msgs) }

func (q *queue) full() bool {
	return len(q.msgs)-q.head >= maxOfSource || q.bytes >= maxOfSourceBytes
}

// push adds a queue at the end of the lane.
func (l *lane) push(q *queue) {
	q.waits, q.prev, q.next = true, l.last, nil
	if l.last == nil {
		l.first = q
	} else {
		l.last.next = q
	}
	l.last = q
}

// remove removes a queue of the lane.
func (l *lane) remove(q *queue) {
	if q.prev == nil {
		l.first = q.next
	} else {
		q.prev.next = q.next
	}
	if q.next == nil {
		l.last = q.prev
	} else {
		q.next.prev = q.prev
	}
	q.waits, q.prev, q.next = false, nil, nil
}

func (b *inbox) laneOf(q *queue) *lane {
	if q.shown {
		return &b.shown
	}
	return &b.rest
}

// subjectKey returns the net and the source of a Snapshot or Bye subject, escaped.
func subjectKey(subject string) string {
	last := strings.LastIndexByte(subject, '.')
	if last < 0 {
		return subject
	}
	return subject[strings.LastIndexByte(subject[:last], '.')+1:]
}

// put adds a message, which arrived now. It is safe for concurrent use.
func (b *inbox) put(msg *nats.Msg, now int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	key := subjectKey(msg.Subject)
	q, known := b.sources[key]
	if !known {
		q = &queue{key: key}
	}
	b.came++
	m, l := waiting{Msg: msg, at: now, n: b.came, skipped: q.skipped}, b.laneOf(q)
	replaces := l.pressed(b.most) && b.replace(l, q, &m)
	if !replaces && (q.full() || l.bytes+m.size() > b.room(q)) {
		l.dropped++
		q.skipped++
		if !q.empty() {
			q.msgs[len(q.msgs)-1].received = now
		}
		return
	}
	q.skipped = 0
	if !known {
		b.sources[key] = q
	}
	if !q.waits {
		l.push(q)
	}
	l.n, l.bytes = l.n+1, l.bytes+m.size()
	q.put(m)
	b.filled.Signal()
}

// room returns how many bytes the lane of a queue may have. There is more for the one message
// without which a source that is shown would be taken for silent.
func (b *inbox) room(q *queue) int {
	if q.shown && q.empty() {
		return 2 * b.most
	}
	return b.most
}

// pressed reports whether a lane holds so much that full messages replace others.
func (l *lane) pressed(most int) bool { return l.bytes > most/pressure }

// replace removes the messages at the end of a queue that a message replaces, and reports
// whether there are some.
func (b *inbox) replace(l *lane, q *queue, m *waiting) bool {
	by, ok := envelopeOf(m.Msg)
	if !ok || !by.full {
		return false
	}
	n := len(q.msgs)
	for n > q.head {
		if e, ok := envelopeOf(q.msgs[n-1].Msg); !ok || !by.replaces(&e) {
			break
		}
		n--
	}
	for i := n; i < len(q.msgs); i++ {
		old := &q.msgs[i]
		m.skipped += 1 + old.skipped
		l.n, l.bytes, q.bytes = l.n-1, l.bytes-old.size(), q.bytes-old.size()
		b.replaced, b.replacedBytes = b.replaced+1, b.replacedBytes+len(old.Data)
	}
	if n == len(q.msgs) {
		return false
	}
	m.n = q.msgs[n].n
	clear(q.msgs[n:])
	q.msgs = q.msgs[:n]
	return true
}

// next returns the next messages in the memory of batch, the last one it returned: of shown
// sources, or else of the other ones. first reports which. It waits for one, and returns none
// once the inbox is closed.
func (b *inbox) next(batch []waiting) (msgs []waiting, first bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.taken = 0
	clear(batch)
	for b.shown.first == nil && b.rest.first == nil && !b.closed {
		b.filled.Wait()
	}
	if b.rest.first == nil {
		b.passed = 0
	}
	switch {
	case b.closed:
		return nil, false
	case b.shown.first != nil && b.passed < restEvery:
		b.passed++
		batch = b.take(&b.shown, batch[:0])
		b.taken = batch[0].n
		for i := range batch {
			b.taken = min(b.taken, batch[i].n)
		}
		return batch, true
	}
	b.passed = 0
	return b.take(&b.rest, batch[:0]), false
}

// take takes a few messages of each queue of a lane, in their order.
func (b *inbox) take(l *lane, batch []waiting) []waiting {
	for len(batch) < batchSize && l.first != nil {
		q := l.first
		l.remove(q)
		last := q.msgs[len(q.msgs)-1]
		for n := 0; n < turn && !q.empty(); n++ {
			m := q.take()
			if !q.shown {
				m.received = max(last.at, last.received)
			}
			l.n, l.bytes = l.n-1, l.bytes-m.size()
			batch = append(batch, m)
		}
		switch {
		case !q.empty():
			l.push(q)
		case !q.shown && q.skipped == 0:
			delete(b.sources, q.key)
		}
	}
	return batch
}

// show records that the rows of a source are shown.
func (b *inbox) show(subject string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.setShown(subjectKey(subject), true)
}

func (b *inbox) setShown(key string, shown bool) {
	q := b.sources[key]
	if q == nil {
		q = &queue{key: key}
		b.sources[key] = q
	}
	if q.shown == shown {
		return
	}
	from := b.laneOf(q)
	q.shown = shown
	if !q.waits {
		return
	}
	from.remove(q)
	to, n := b.laneOf(q), len(q.msgs)-q.head
	from.n, from.bytes = from.n-n, from.bytes-q.bytes
	to.n, to.bytes = to.n+n, to.bytes+q.bytes
	to.push(q)
}

// keep sets the sources whose rows are shown.
func (b *inbox) keep(shown map[string]bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for key := range shown {
		b.setShown(key, true)
	}
	for key, q := range b.sources {
		if shown[key] {
			continue
		}
		b.setShown(key, false)
		if q.empty() {
			delete(b.sources, key)
		}
	}
}

// waits returns how many messages wait, of shown sources and of others, and whether there are so
// many that full ones replace others.
func (b *inbox) waits() (known, unknown int, pressed bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.shown.n, b.rest.n, b.shown.pressed(b.most) || b.rest.pressed(b.most)
}

// takeDropped returns how many messages were dropped since the last call.
func (b *inbox) takeDropped() (known, unknown uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	known, unknown, b.shown.dropped, b.rest.dropped = b.shown.dropped, b.rest.dropped, 0, 0
	return known, unknown
}

// takeReplaced returns how many messages later ones replaced since the last call.
func (b *inbox) takeReplaced() (messages, bytes int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	messages, bytes, b.replaced, b.replacedBytes = b.replaced, b.replacedBytes, 0, 0
	return messages, bytes
}

// progress returns how many messages came, and up to which of these all of shown sources
// were processed.
func (b *inbox) progress() (came, done int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	done = b.came
	for q := b.shown.first; q != nil; q = q.next {
		done = min(done, q.msgs[q.head].n-1)
	}
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
