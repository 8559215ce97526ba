// SPDX-License-Identifier: Apache-2.0

package telemetry

import "github.com/pnagent/pnagent/telemetry/wire"

// message is a wire.Snapshot and all its parts. It uses its memory again for
// each snapshot that is encoded or parsed.
type message struct {
	snapshot        *wire.Snapshot
	places          *wire.Places
	transitions     *wire.Transitions
	ages            *wire.Ladder
	dwell, duration *wire.Histogram
	row             *wire.NetRow
	waiting         uint64 // Snapshot.Waiting points to it

	stuck  pool[wire.OldestTokens]
	tokens pool[wire.Token]
	slow   pool[wire.Slowest]
	waits  pool[wire.Wait]
	blocks pool[wire.Block]
	queues pool[wire.Queue]

	fields fields            // of snapshot
	names  map[string]string // texts that many messages hold
}

// pool returns messages that were used for an earlier snapshot.
type pool[T any] struct {
	all []*T
	n   int
}

func (p *pool[T]) next() *T {
	if p.n == len(p.all) {
		p.all = append(p.all, new(T))
	}
	p.n++
	return p.all[p.n-1]
}

// add appends a message of a pool to a list. Its content is that of an earlier one.
func add[T any](list *[]*T, from *pool[T]) *T {
	w := from.next()
	*list = append(*list, w)
	return w
}

// reset empties the message, with all columns. It keeps their memory.
func (m *message) reset() {
	if m.snapshot == nil {
		m.snapshot, m.places, m.transitions, m.row = &wire.Snapshot{}, &wire.Places{}, &wire.Transitions{}, &wire.NetRow{}
		m.ages, m.dwell, m.duration = &wire.Ladder{}, &wire.Histogram{}, &wire.Histogram{}
		m.fields, m.names = m.snapshotFields(), map[string]string{}
	}
	s := m.snapshot
	s.Source, s.Net, s.Digest, s.Region = "", "", "", ""
	s.Epoch, s.Seq, s.SentAt, s.Interval, s.Fence, s.Since = 0, 0, 0, 0, 0, 0
	s.Full, s.Bye, s.Places, s.Transitions, s.Row = false, false, nil, nil, nil
	s.Blocks, s.Queues, s.Waiting, s.RegionState, s.RefusedRequests, s.Remnants = s.Blocks[:0], s.Queues[:0], nil, nil, nil, nil
	m.places.Ages, m.places.Dwell, m.transitions.Duration = nil, nil, nil
	m.places.Stuck, m.places.Slowest, m.transitions.Slowest = m.places.Stuck[:0], m.places.Slowest[:0], m.transitions.Slowest[:0]
	m.fields.truncate()
	m.stuck.n, m.tokens.n, m.slow.n, m.waits.n, m.blocks.n, m.queues.n = 0, 0, 0, 0, 0, 0
}
