// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"slices"

	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// cover tells which rows of a definition were heard.
type cover struct {
	places, transitions []bool
	left                int // rows not heard
}

func newCover(c *columns) *cover {
	return &cover{places: make([]bool, len(c.places)), transitions: make([]bool, len(c.transitions)),
		left: len(c.places) + len(c.transitions)}
}

// hear marks the rows of a sparse message and reports whether all are heard.
func (c *cover) hear(msg *telemetry.Snapshot) bool {
	c.left -= hear(c.places, msg.PlaceIndex) + hear(c.transitions, msg.TransitionIndex)
	return c.left == 0
}

func hear(heard []bool, index []uint32) (n int) {
	for _, i := range index {
		if !heard[i] {
			heard[i] = true
			n++
		}
	}
	return n
}

// assembly makes a full snapshot of sparse ones. Rows are shown only when all
// of them are known; and a net that is too large for one message comes in
// parts.
type assembly struct {
	full  *telemetry.Snapshot
	heard *cover
}

func newAssembly(msg *telemetry.Snapshot, c *columns) *assembly {
	full := *msg
	full.Full, full.PlaceIndex, full.TransitionIndex = true, nil, nil
	full.Rows = *stats.NewRows(len(c.places), len(c.transitions))
	return &assembly{full: &full, heard: newCover(c)}
}

// of reports whether the assembly is of the message's process, region and
// definition.
func (a *assembly) of(msg *telemetry.Snapshot) bool { return a != nil && sameOwner(a.full, msg) }

func sameOwner(a, b *telemetry.Snapshot) bool {
	return a.Epoch == b.Epoch && a.Digest == b.Digest && a.Region == b.Region && a.Fence == b.Fence && a.Since == b.Since
}

// add takes a sparse message in and returns the full one once it is complete,
// nil before.
func (a *assembly) add(msg *telemetry.Snapshot) *telemetry.Snapshot {
	a.full = overlaid(a.full, msg)
	if !a.heard.hear(msg) {
		return nil
	}
	return a.full
}

// overlaid returns a full snapshot with what a sparse one behind it says. The
// rows of the full one are used again.
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
	return c
}

func cloneTransition(t *stats.Transition) stats.Transition {
	c := *t
	c.Duration.Buckets = slices.Clone(t.Duration.Buckets)
	return c
}
