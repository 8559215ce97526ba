// SPDX-License-Identifier: Apache-2.0

package history

import (
	"encoding/binary"
	"sort"

	"github.com/pnagent/pnagent/collector"
	"github.com/pnagent/pnagent/stats"
)

// blockFrames is how many frames a block holds: its first is whole, the others
// are differences. A frame is read by going through its block up to it.
const blockFrames = 64

// The columns of a frame: those of places, then those of transitions.
const (
	colTokens = iota
	colOldest
	colInstances
	colArrivals
	colFirings
	colEnabled
	colSince
	colRunning
	colBlocked
	colFailures
	columns
	placeColumns = colFirings
)

// values are the numbers of one frame, by column.
type values [columns][]uint64

// ring is the past of one net.
type ring struct {
	blocks []*block // by time
	last   values   // of the youngest frame
	at     int64    // of the youngest frame
	frames int
	held   int64 // bytes of blocks
	scrap  values
	buf    []byte
}

// block is a run of frames.
type block struct {
	from   int64  // time of the first frame
	to     int64  // time of the last
	frames int    // 1 or more
	text   []byte // frames end to end, see ring.encode
}

// blockOverhead is what a block takes beside its text, about.
const blockOverhead = 96

// bytes is what the ring takes.
func (r *ring) bytes() int64 { return r.held + r.fixed() }

// fixed is what the ring takes however many frames it has.
func (r *ring) fixed() int64 {
	var n int
	for c := range r.last {
		n += cap(r.last[c]) + cap(r.scrap[c])
	}
	return int64(8*n + cap(r.buf))
}

// average is what a frame of the youngest whole block takes.
func (r *ring) average() int64 {
	k := len(r.blocks) - 1
	if k > 0 && r.blocks[k].frames < blockFrames {
		k--
	}
	if k < 0 {
		return 0
	}
	b := r.blocks[k]
	// The whole frame at the beginning counts as one of blockFrames even before
	// they are there, else every new net would look as if it were too large.
	return (int64(len(b.text)) + blockOverhead) / int64(max(b.frames, blockFrames/2))
}

// add keeps the rows of a net as of a time, and returns how many bytes it took.
func (r *ring) add(n *collector.Net, at int64) int64 {
	if len(r.blocks) > 0 && at <= r.at {
		return 0
	}
	var b *block
	if k := len(r.blocks); k > 0 && r.blocks[k-1].frames < blockFrames {
		b = r.blocks[k-1]
	} else {
		b = &block{from: at}
		r.blocks = append(r.blocks, b)
		r.held += blockOverhead
		for c := range r.last {
			r.last[c] = r.last[c][:0] // the first of a block is whole
		}
	}
	r.buf = r.encode(r.buf[:0], n, at-b.to*min(int64(b.frames), 1))
	before := cap(b.text)
	b.text = appendExact(b.text, r.buf)
	took := int64(cap(b.text) - before)
	b.to, r.at = at, at
	b.frames++
	r.frames++
	r.held += took
	return took
}

// appendExact appends with at most an eighth of room to spare: text of a
// second is a lot of memory over an hour.
func appendExact(dst, text []byte) []byte {
	if need := len(dst) + len(text); need > cap(dst) {
		grown := make([]byte, len(dst), need+need/8)
		copy(grown, dst)
		dst = grown
	}
	return append(dst, text...)
}

// encode appends a frame: the time since the one before, which columns are
// known, how many places and transitions there are, and for each column the
// rows that differ from the frame before, each as the distance to the row
// before that differs, and by how much.
func (r *ring) encode(dst []byte, n *collector.Net, since int64) []byte {
	gather(n.Rows, &r.scrap)
	dst = binary.AppendUvarint(dst, uint64(since))
	dst = binary.AppendUvarint(dst, uint64(n.Rows.Columns))
	dst = binary.AppendUvarint(dst, uint64(len(n.Rows.Places)))
	dst = binary.AppendUvarint(dst, uint64(len(n.Rows.Transitions)))
	for c := range r.scrap {
		dst = appendColumn(dst, r.last[c], r.scrap[c])
	}
	r.last, r.scrap = r.scrap, r.last
	return dst
}

// appendColumn appends the rows that differ, and a 0. Rows that are new differ
// from 0.
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
	return append(dst, 0)
}

// gather writes the numbers of rows by column.
func gather(rows *stats.Rows, into *values) {
	for c := range into {
		n := len(rows.Places)
		if c >= placeColumns {
			n = len(rows.Transitions)
		}
		if cap(into[c]) < n {
			into[c] = make([]uint64, n)
		}
		into[c] = into[c][:n]
	}
	for i := range rows.Places {
		p := &rows.Places[i]
		into[colTokens][i], into[colOldest][i] = p.Tokens, uint64(p.Oldest)
		into[colInstances][i], into[colArrivals][i] = p.Instances, p.Arrivals
	}
	for i := range rows.Transitions {
		t := &rows.Transitions[i]
		into[colFirings][i], into[colEnabled][i], into[colSince][i] = t.Firings, t.Enabled, uint64(t.EnabledSince)
		into[colRunning][i], into[colBlocked][i], into[colFailures][i] = t.Running, 0, t.Failures
	}
	for _, b := range rows.Blocks {
		into[colBlocked][b.Transition] = max(into[colBlocked][b.Transition], b.Instances)
	}
}

// forget drops the blocks that end before a time.
func (r *ring) forget(since int64) {
	for len(r.blocks) > 0 && r.blocks[0].to < since {
		r.drop()
	}
}

// drop drops the oldest block and returns how many frames it had.
func (r *ring) drop() int {
	b := r.blocks[0]
	r.blocks[0] = nil
	r.blocks = r.blocks[1:]
	r.frames -= b.frames
	r.held -= int64(cap(b.text)) + blockOverhead
	return b.frames
}

// blockAt returns the block with the newest frame at or before a time, or -1.
func (r *ring) blockAt(at int64) int {
	return sort.Search(len(r.blocks), func(i int) bool { return r.blocks[i].from > at }) - 1
}
