// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"slices"

	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// cover records which rows of a definition have been received.
type cover struct {
	places, transitions []bool
	left                int // rows not received
}

func newCover(c *columns) *cover {
	return &cover{places: make([]bool, len(c.places)), transitions: make([]bool, len(c.transitions)),
		left: len(c.places) + len(c.transitions)}
}

// mark marks the rows of a sparse message and reports whether all are received.
func (c *cover) mark(msg *telemetry.Snapshot) bool {
	c.left -= mark(c.places, msg.PlaceIndex) + mark(c.transitions, msg.TransitionIndex)
	return c.left == 0
}

func mark(marked []bool, index []uint32) (n int) {
	for _, i := range index {
		if !marked[i] {
			marked[i] = true
			n++
		}
	}
	return n
}

// assembly makes one full snapshot of sparse ones, because rows are shown only
// when all of them are known. A net that is too large for one message arrives in
// parts.
type assembly struct {
	full     *telemetry.Snapshot
	received *cover
}

func newAssembly(msg *telemetry.Snapshot, c *columns) *assembly {
	full := *msg
	full.Rows = *stats.NewRows(len(c.places), len(c.transitions))
	return &assembly{full: &full, received: newCover(c)}
}

// of reports whether the message has the assembly's process, region and
// definition.
func (a *assembly) of(msg *telemetry.Snapshot) bool { return a != nil && sameOwner(a.full, msg) }

func sameOwner(a, b *telemetry.Snapshot) bool {
	return a.Epoch == b.Epoch && a.Digest == b.Digest && a.Region == b.Region && a.Fence == b.Fence && a.Since == b.Since
}

// add adds a sparse message and returns the full one once it is complete, nil
// before.
func (a *assembly) add(msg *telemetry.Snapshot) *telemetry.Snapshot {
	a.full = overlaid(a.full, msg)
	if !a.received.mark(msg) {
		return nil
	}
	return a.full
}

// overlaid returns a full snapshot with the rows of the sparse one that follows
// it. It reuses the memory of full.
func overlaid(full, msg *telemetry.Snapshot) *telemetry.Snapshot {
	rows := full.Rows
	for i, at := range msg.PlaceIndex {
		rows.Places[at] = clonePlace(&msg.Rows.Places[i])
	}
	for i, at := range msg.TransitionIndex {
		rows.Transitions[at] = cloneTransition(&msg.Rows.Transitions[i])
	}
	rows.Columns |= msg.Rows.Columns
	rows.Net, rows.Blocks = msg.Rows.Net, slices.Clone(msg.Rows.Blocks)
	rows.Queues, rows.Waiting = slices.Clone(msg.Rows.Queues), msg.Rows.Waiting
	next := *msg
	next.Full, next.PlaceIndex, next.TransitionIndex, next.Rows = true, nil, nil, rows
	return &next
}

// clone returns a copy of a message that shares nothing with it.
func clone(msg *telemetry.Snapshot) *telemetry.Snapshot {
	c := *msg
	c.PlaceIndex, c.TransitionIndex = slices.Clone(msg.PlaceIndex), slices.Clone(msg.TransitionIndex)
	c.Rows.Blocks, c.Rows.Queues = slices.Clone(msg.Rows.Blocks), slices.Clone(msg.Rows.Queues)
	c.Rows.Places = make([]stats.Place, len(msg.Rows.Places))
	for i := range c.Rows.Places {
		c.Rows.Places[i] = clonePlace(&msg.Rows.Places[i])
	}
	c.Rows.Transitions = make([]stats.Transition, len(msg.Rows.Transitions))
	for i := range c.Rows.Transitions {
		c.Rows.Transitions[i] = cloneTransition(&msg.Rows.Transitions[i])
	}
	return &c
}

func clonePlace(p *stats.Place) stats.Place {
	c := *p
	c.Ages.Slots, c.Dwell.Buckets = slices.Clone(p.Ages.Slots), slices.Clone(p.Dwell.Buckets)
	c.Stuck = slices.Clone(p.Stuck)
	for i := range c.Stuck {
		c.Stuck[i].Waits = slices.Clone(c.Stuck[i].Waits)
	}
	c.Groups = slices.Clone(p.Groups)
	for i := range c.Groups {
		c.Groups[i].Oldest.Waits = slices.Clone(c.Groups[i].Oldest.Waits)
	}
	return c
}

func cloneTransition(t *stats.Transition) stats.Transition {
	c := *t
	c.Duration.Buckets = slices.Clone(t.Duration.Buckets)
	return c
}
