// SPDX-License-Identifier: Apache-2.0

package cursor

import "slices"

// MaxHistory is how many steps a cursor keeps, step 0 included. Older ones are
// dropped and counted.
const MaxHistory = 4096

// Entry is one step.
type Entry struct {
	Step   int // from 0, which is the start
	Edge   int // that was taken; None at step 0
	Parent int // the step that put the edge into the ring; None at step 0
	Stamp
}

// history is the last entries: a ring once it is full.
type history struct {
	entries []Entry
	dropped int
}

func (h *history) add(e Entry) {
	if len(h.entries) < MaxHistory {
		h.entries = append(h.entries, e)
		return
	}
	h.entries[h.dropped%MaxHistory] = e
	h.dropped++
}

// all returns the entries, oldest first.
func (h *history) all() []Entry {
	first := h.dropped % MaxHistory
	return slices.Concat(h.entries[first:], h.entries[:first])
}

func (h *history) last() Entry {
	return h.entries[(h.dropped+len(h.entries)-1)%len(h.entries)]
}
