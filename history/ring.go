// SPDX-License-Identifier: Apache-2.0

package history

import (
	"encoding/binary"

	"github.com/pnagent/pnagent/collector"
	"github.com/pnagent/pnagent/stats"
)

// blockFrames is how many frames a block holds at most: its first is whole, the
// others are differences. A frame is read by going through its block up to it,
// and a long series from the first frames of blocks alone.
const blockFrames = 16

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
	blocks []block // by time
	last   values  // of the youngest frame
	at     int64   // of the youngest frame
	frames int
	held   int64 // bytes of blocks
	scrap  values
	text   []byte // of the frame that is made
	column []byte // of that
}

// block is a run of frames. A copy of one stays as it is while the ring goes on.
type block struct {
	from   int64  // time of the first frame
	to     int64  // time of the last
	frames int    // 1 or more
	text   []byte // frames end to end, see ring.encode
}

// blockOverhead is what a block takes beside its text.
const blockOverhead = 56

// bytes is what the ring takes.
func (r *ring) bytes() int64 { return r.held + r.fixed() }

// fixed is what the ring takes however many frames it has.
func (r *ring) fixed() int64 {
	var n int
	for c := range r.last {
		n += cap(r.last[c]) + cap(r.scrap[c])
	}
	return int64(8*n + cap(r.text) + cap(r.column))
}

// average is what a frame takes: of the youngest block that is complete, or
// else of what there is, as if the whole frame at its beginning were one of a
// block of so many.
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

// add keeps the rows of a net as of a time. A block spans no more than longest.
func (r *ring) add(n *collector.Net, at, longest int64) {
	k := len(r.blocks) - 1
	if k < 0 || r.blocks[k].frames >= blockFrames || at-r.blocks[k].from > longest {
		r.finish()
		r.blocks = append(r.blocks, block{from: at, to: at})
		r.held += blockOverhead
		for c := range r.last {
			r.last[c] = r.last[c][:0] // the first of a block is whole
		}
		k++
	}
	b := &r.blocks[k]
	since := at - b.to
	if b.frames == 0 {
		since = at
	}
	r.encode(n, since)
	before := cap(b.text)
	b.text = appendSparing(b.text, r.text)
	b.to, r.at = at, at
	b.frames++
	r.frames++
	r.held += int64(cap(b.text) - before)
}

// appendSparing appends with at most a quarter of room to spare.
func appendSparing(dst, text []byte) []byte {
	if need := len(dst) + len(text); need > cap(dst) {
		grown := make([]byte, len(dst), need+need/4)
		copy(grown, dst)
		dst = grown
	}
	return append(dst, text...)
}

// finish gives back the spare room of the youngest block.
func (r *ring) finish() {
	if k := len(r.blocks) - 1; k >= 0 {
		b := &r.blocks[k]
		exact := make([]byte, len(b.text))
		copy(exact, b.text)
		r.held += int64(len(exact) - cap(b.text))
		b.text = exact
	}
}

// encode writes a frame to r.text: the time since the one before, which
// columns are known, how many places and transitions there are, and for each
// column its length in bytes and the rows that differ from the frame before,
// each as the distance to the row before that differs, and by how much.
func (r *ring) encode(n *collector.Net, since int64) {
	gather(n.Rows, &r.scrap)
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

// appendColumn appends the rows that differ. Rows that are new differ from 0.
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
	b := &r.blocks[0]
	frames := b.frames
	r.frames -= frames
	r.held -= int64(cap(b.text)) + blockOverhead
	*b = block{}
	r.blocks = r.blocks[1:]
	return frames
}
