// SPDX-License-Identifier: Apache-2.0

package standby

import (
	"bytes"
	"maps"
	"slices"
	"sync"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/collector/standby/roster"
)

const (
	// Messages of one known member that wait, and their bytes; as many of all others
	// together. More are dropped and counted as Overrun.
	maxOfSender      = 1 << 10
	maxOfSenderBytes = 32 << 20
	// maxBulkBytes is how many bytes of pages and parcels may wait in all. They leave
	// room for messages, which are small.
	maxBulkBytes = 64 << 20
)

// letter is a message that waits to be taken.
type letter struct {
	from string // the id of its sender
	kind string // the end of its subject: "", pagesSuffix, notesSuffix or parcelsSuffix
	data []byte
	bulk int // bytes of a page or parcel; 0 of a Message
}

// idIn returns the value of a field of JSON in the first bytes of a message, or "" if it
// is not written as members write it. It takes less time than decoding.
func idIn(data []byte, field string) string {
	_, rest, ok := bytes.Cut(data[:min(len(data), maxHead)], []byte(`"`+field+`":"`))
	id, _, ends := bytes.Cut(rest, []byte(`"`))
	if !ok || !ends || len(id) > roster.MaxID {
		return ""
	}
	return string(id)
}

// mailbox holds the messages that wait to be taken. Each known member has a queue, and
// one queue is for all other senders. They take turns, so that a flood under one id
// displaces no message of another member. It is safe for concurrent use.
type mailbox struct {
	filled chan struct{} // has an element if messages wait

	mu      sync.Mutex // guards the fields below
	queues  map[string]*mailQueue
	others  mailQueue
	bulk    int // bytes in all queues
	dropped uint64
}

// mailQueue has the messages of one member in the order of their arrival.
type mailQueue struct {
	letters []letter
	bulk    int
}

func newMailbox(self string) *mailbox {
	return &mailbox{filled: make(chan struct{}, 1), queues: map[string]*mailQueue{self: {}}}
}

// put adds a message, or drops and counts it.
func (b *mailbox) put(l letter) {
	b.mu.Lock()
	defer b.mu.Unlock()
	q := b.queues[l.from]
	if q == nil {
		q = &b.others
	}
	if len(q.letters) >= maxOfSender || l.bulk > 0 && (q.bulk+l.bulk > maxOfSenderBytes || b.bulk+l.bulk > maxBulkBytes) {
		b.dropped++
		return
	}
	q.letters, q.bulk, b.bulk = append(q.letters, l), q.bulk+l.bulk, b.bulk+l.bulk
	b.signal()
}

func (b *mailbox) signal() {
	select {
	case b.filled <- struct{}{}:
	default:
	}
}

// take returns the next message of each queue.
func (b *mailbox) take() (out []letter) {
	b.mu.Lock()
	defer b.mu.Unlock()
	more := false
	for _, q := range b.queues {
		out = b.takeFrom(q, out)
		more = more || len(q.letters) > 0
	}
	out = b.takeFrom(&b.others, out)
	if more || len(b.others.letters) > 0 {
		b.signal()
	}
	return out
}

func (b *mailbox) takeFrom(q *mailQueue, out []letter) []letter {
	if len(q.letters) == 0 {
		return out
	}
	l := q.letters[0]
	q.letters[0] = letter{}
	q.letters, q.bulk, b.bulk = q.letters[1:], q.bulk-l.bulk, b.bulk-l.bulk
	return append(out, l)
}

// know sets the ids of the other known members. Messages of a new one that wait come to
// its queue; those of one that is forgotten are dropped and counted.
func (b *mailbox) know(self string, ids []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	maps.DeleteFunc(b.queues, func(id string, q *mailQueue) bool {
		gone := id != self && !slices.Contains(ids, id)
		if gone {
			b.bulk, b.dropped = b.bulk-q.bulk, b.dropped+uint64(len(q.letters))
		}
		return gone
	})
	for _, id := range ids {
		if b.queues[id] == nil {
			b.queues[id] = b.others.split(id)
		}
	}
}

// split removes the messages of one sender, and returns them.
func (q *mailQueue) split(from string) *mailQueue {
	out := &mailQueue{}
	q.letters = slices.DeleteFunc(q.letters, func(l letter) bool {
		if l.from == from {
			out.letters, out.bulk = append(out.letters, l), out.bulk+l.bulk
		}
		return l.from == from
	})
	q.bulk -= out.bulk
	return out
}

// overran returns how many messages were dropped so far.
func (b *mailbox) overran() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.dropped
}

// overrun counts the messages dropped because a queue was full.
func (m *Member) overrun(sub *nats.Subscription) {
	dropped, err := sub.Dropped()
	if err != nil {
		return // the connection is closed
	}
	m.mu.Lock()
	m.counters.Rejected[roster.Overrun] = uint64(max(dropped, 0)) + m.mail.overran()
	m.mu.Unlock()
}
