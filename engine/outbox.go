// SPDX-License-Identifier: Apache-2.0

package engine

import "sync"

// maxOutgoing bounds the signals that wait to be sent to other engines.
const maxOutgoing = 4096

// outbox holds the names of the signals that transitions have thrown, for other
// engines. They are sent once their firings are in the journal.
type outbox struct {
	counts  *eventCounts
	pending []string // of firings that are not in the journal; only the worker uses it

	mu   sync.Mutex
	open bool // they are sent
	all  []string
	some chan struct{} // holds one when all was filled since the last receive
}

func newOutbox(counts *eventCounts) *outbox {
	return &outbox{counts: counts, some: make(chan struct{}, 1)}
}

func (b *outbox) put(name string) { b.pending = append(b.pending, name) }

// release allows what was put to be sent.
func (b *outbox) release() {
	if len(b.pending) == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, name := range b.pending {
		switch {
		case !b.open:
		case len(b.all) == maxOutgoing:
			b.counts.refused(refusedNotSent)
		default:
			b.all = append(b.all, name)
		}
	}
	b.pending = b.pending[:0]
	wake(b.some)
}

// take returns what may be sent.
func (b *outbox) take() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.open = true
	all := b.all
	b.all = nil
	return all
}
