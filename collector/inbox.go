// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"strings"
	"sync"

	"github.com/nats-io/nats.go"
)

const (
	// Messages of unknown sources that wait to be processed; more are dropped and
	// counted as OverrunUnknown.
	maxUnknown      = 1 << 14
	maxUnknownBytes = 32 << 20
	// unknownTurn is how many messages of unknown sources are taken at a time.
	unknownTurn = 16
)

// inbox holds the messages that wait to be processed. Messages of sources whose rows
// are shown come first, so that a flood of others does not delay them. The zero
// inbox has no such source.
type inbox struct {
	mu      sync.Mutex
	filled  sync.Cond
	closed  bool
	shown   map[string]bool // sources whose rows are shown, by subjectKey
	arrived []string        // sources to add to shown once no message of them waits in rest
	first   waiting         // of sources in shown
	rest    waiting
	came    int64 // messages put into first so far
	done    int64 // of these, processed
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
	if b.shown[subjectKey(m.Subject)] {
		if b.first.put(m, maxWaiting, maxWaitingBytes) {
			b.came++
		}
	} else {
		b.rest.put(m, maxUnknown, maxUnknownBytes)
	}
	b.filled.Signal()
}

// next returns the next messages in the memory of batch, the last one it returned:
// all of the first queue, or a few of the other one. It waits for one, and returns
// none once the inbox is closed.
func (b *inbox) next(batch []*nats.Msg, known bool) (msgs []*nats.Msg, first bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if known {
		b.done += int64(len(batch))
	}
	clear(batch)
	for len(b.first.msgs) == 0 && len(b.rest.msgs) == 0 && !b.closed {
		b.addArrived()
		b.filled.Wait()
	}
	switch {
	case b.closed:
		return nil, false
	case len(b.first.msgs) > 0:
		return b.first.take(batch[:0], len(b.first.msgs)), true
	}
	return b.rest.take(batch[:0], unknownTurn), false
}

// addArrived adds the sources whose rows became visible.
func (b *inbox) addArrived() {
	for _, key := range b.arrived {
		b.shown[key] = true
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
	b.shown, b.arrived = shown, b.arrived[:0]
}

// takeDropped returns how many messages were dropped since the last call.
func (b *inbox) takeDropped() (known, unknown uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	known, unknown, b.first.dropped, b.rest.dropped = b.first.dropped, b.rest.dropped, 0, 0
	return known, unknown
}

// progress returns how many messages of shown sources came and were processed.
func (b *inbox) progress() (came, done int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.came, b.done
}

// close ends next.
func (b *inbox) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	b.filled.Broadcast()
}
