// SPDX-License-Identifier: Apache-2.0

package history

import (
	"encoding/binary"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/stats"
)

// blockFrames is the largest number of frames in a block: its first is whole, the
// others are differences. Reading a frame reads its block up to the frame. A long
// series needs only the first frames of blocks.
const blockFrames = 16

// The columns of a frame: those of placeNumbers and of transitionNumbers, the largest number of
// instances that one condition blocks, by transition, and the numbers of the whole net. Those that
// are read alone have names.
const (
	colTokens = iota
	colOldest
	_
	colArrivals
	colFirings
	colRunning
	_
	_
	_
	colBlocked
	colNet
	columns
)

// What is kept of each place, and of each transition.
var (
	placeNumbers      = stats.PlaceTable.Numbers("tokens", "oldest", "instances", "arrivals")
	transitionNumbers = stats.TransitionTable.Numbers("firings", "running", "enabled", "enabled_since", "failures")
)

// values are the numbers of one frame, by column.
type values [columns][]uint64

// ring holds the frames of one net.
type ring struct {
	rows   merge.NetView // its Def alone
	blocks []block       // by time
	last   values        // of the youngest frame
	at     int64         // of the youngest frame
	frames int
	held   int64 // bytes of blocks
	scrap  values
	text   []byte // of the frame being encoded
	column []byte // of that frame
}

// block is a sequence of frames. A copy remains valid while the ring changes.
type block struct {
	from   int64  // time of the first frame
	to     int64  // time of the last
	frames int    // 1 or more
	text   []byte // frames end to end, see ring.encode
}

// blockOverhead is the memory of a block besides its text, in bytes.
const blockOverhead = 56

// bytes returns the memory of the ring.
func (r *ring) bytes() int64 { return r.held + r.fixed() }

// fixed returns the memory of the ring that does not depend on the number of
// frames.
func (r *ring) fixed() int64 {
	var n int
	for c := range r.last {
		n += cap(r.last[c]) + cap(r.scrap[c])
	}
	return int64(8*n + cap(r.text) + cap(r.column))
}

// average returns the average size of a frame in the youngest complete block.
// Without one it assumes that the first block fills up to about half.
func (r *ring) average(perBlock int) int64 {
	switch k := len(r.blocks); k {
	case 0:
		return 0
	case 1:
		b := &r.blocks[0]
		return (int64(cap(b.text)) + blockOverhead) / int64(max(b.frames, perBlock/2))
	default:
		b := &r.blocks[k-2]
		return (int64(cap(b.text)) + blockOverhead) / int64(b.frames)
	}
}

// add stores the rows of a net as of a time. A block spans at most longest.
func (r *ring) add(n *merge.NetView, alarms *alarm.ActiveSet, at, longest int64) {
	k := len(r.blocks) - 1
	if k < 0 || r.blocks[k].frames >= blockFrames || at-r.blocks[k].from > longest {
		r.finish()
		r.blocks = append(r.blocks, block{from: at, to: at})
		r.held += blockOverhead
		for c := range r.last {
			r.last[c] = r.last[c][:0] // the first frame of a block is whole
		}
		k++
	}
	b := &r.blocks[k]
	since := at - b.to
	if b.frames == 0 {
		since = at
	}
	r.encode(n, alarms, since)
	before := cap(b.text)
	b.text = appendSparing(b.text, r.text)
	b.to, r.at = at, at
	b.frames++
	r.frames++
	r.held += int64(cap(b.text) - before)
}

// appendSparing appends, with spare capacity of at most a quarter.
func appendSparing(dst, text []byte) []byte {
	if need := len(dst) + len(text); need > cap(dst) {
		grown := make([]byte, len(dst), need+need/4)
		copy(grown, dst)
		dst = grown
	}
	return append(dst, text...)
}

// finish frees the spare capacity of the youngest block.
func (r *ring) finish() {
	if k := len(r.blocks) - 1; k >= 0 {
		b := &r.blocks[k]
		exact := make([]byte, len(b.text))
		copy(exact, b.text)
		r.held += int64(len(exact) - cap(b.text))
		b.text = exact
	}
}

// encode writes a frame to r.text: the time since the previous frame, the known
// columns, and the numbers of places and transitions. Then, for each column, it
// writes its length in bytes and the rows that differ from the previous frame.
// Each is the distance to the previous differing row, and the difference.
func (r *ring) encode(n *merge.NetView, alarms *alarm.ActiveSet, since int64) {
	gather(n, alarms, &r.scrap)
	r.text = binary.AppendUvarint(r.text[:0], uint64(since))
	r.text = binary.AppendUvarint(r.text, uint64(n.Rows.Columns))
	r.text = binary.AppendUvarint(r.text, uint64(len(n.Rows.Places)))
	r.text = binary.AppendUvarint(r.text, uint64(len(n.Rows.Transitions)))
	for c := range r.scrap {
		r.column = appendColumn(r.column[:0], r.last[c], r.scrap[c])
		r.text = binary.AppendUvarint(r.text, uint64(len(r.column)))
		r.text = append(r.text, r.column...)
	}
	r.last, r.scrap = r.scrap, r.last
}

// appendColumn appends the rows that differ. New rows differ from 0.
func appendColumn(dst []byte, before, now []uint64) []byte {
	last := -1
	for i, v := range now {
		var old uint64
		if i < len(before) {
			old = before[i]
		}
		if v != old {
			dst = binary.AppendUvarint(dst, uint64(i-last))
			dst = binary.AppendVarint(dst, int64(v-old))
			last = i
		}
	}
	return dst
}

// gather writes the numbers of a net by column.
func gather(net *merge.NetView, alarms *alarm.ActiveSet, into *values) {
	rows := net.Rows
	for c := range into {
		n := rowsOf(c, len(rows.Places), len(rows.Transitions))
		if cap(into[c]) < n {
			into[c] = make([]uint64, n)
		}
		into[c] = into[c][:n]
	}
	for c := range placeNumbers {
		placeNumbers[c].Read(rows.Places, into[c])
	}
	for c := range transitionNumbers {
		transitionNumbers[c].Read(rows.Transitions, into[colFirings+c])
	}
	copy(into[colBlocked], net.Blocked)
	gatherNet(net, alarms, into[colNet])
}

// rowsOf returns the length of a column of a net.
func rowsOf(column, places, transitions int) int {
	switch {
	case column >= colNet:
		return netNumbers
	case column >= colFirings:
		return transitions
	}
	return places
}

// forget drops the blocks that end before a time.
func (r *ring) forget(since int64) {
	for len(r.blocks) > 0 && r.blocks[0].to < since {
		r.drop()
	}
}

// drop drops the oldest block and returns how many frames it had.
func (r *ring) drop() int {
	b := &r.blocks[0]
	frames := b.frames
	r.frames -= frames
	r.held -= int64(cap(b.text)) + blockOverhead
	*b = block{}
	r.blocks = r.blocks[1:]
	return frames
}
