// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

const (
	// pieceBytes is how much of a state is made at once, while no message is processed.
	pieceBytes = 128 << 10
	// chunkBytes is the size of the pieces of memory that hold an unfinished state.
	chunkBytes = 1 << 20
)

// Saving makes one state as of the tick at which it began. Messages are processed
// between its pieces, so a source is saved before one of its messages is taken.
type Saving struct {
	k     *Saver
	live  snapshots // of sources
	at    int64
	of    uint64 // Merger.revision
	whole bool   // sources are kept as well
	nets  []*savingNet
	next  int // index of the net whose sources are saved next
	errs  []error
}

// savingNet is one net of a Saving.
type savingNet struct {
	n           *net
	d           definition
	head        savedNet
	sums, shown *stats.Rows // shown is nil if it is not kept
	sources     []*source   // unsaved points to this until they are saved
	next        int
	past        []savedPast
	chunks      [][]byte // of the sources
	err         error
}

// Begin starts a state as of the last tick. Until it is done, the caller must call
// before for each message that it takes, and finish before each definition.
func (k *Saver) Begin(m *Merger) *Saving {
	v := k.BeginShown(m)
	v.whole = true
	for _, sn := range v.nets {
		n := sn.n
		if sn.sums = n.sums; n.floor == nil {
			sn.shown = nil
		}
		sn.head.Columns = n.base.Columns & counterColumns
		for region, f := range n.fences {
			counted := f.counted
			if f.before != nil {
				f = *f.before
			}
			sn.head.Regions = append(sn.head.Regions, savedRegion{Region: region, Claim: f.Claim, Owner: f.owner, Counted: counted})
		}
		slices.SortFunc(sn.head.Regions, func(a, b savedRegion) int { return strings.Compare(a.Region, b.Region) })
		sn.sources = slices.Concat(n.orphans, n.order)
		for _, s := range sn.sources {
			s.unsaved = sn
		}
		sn.past = make([]savedPast, 0, len(n.past))
		for name, p := range n.past {
			sn.past = append(sn.past, savedPast{Source: name, Epoch: p.epoch, Seq: p.seq, Counted: p.counted, Known: p.known})
		}
	}
	return v
}

// BeginShown starts a state of what the last tick shows, without the sources.
func (k *Saver) BeginShown(m *Merger) *Saving {
	v := &Saving{k: k, at: m.view.At, of: m.revision}
	for _, n := range m.inOrder() {
		if n.shown == nil {
			continue
		}
		d, err := k.define(n)
		if err != nil {
			v.errs = append(v.errs, fmt.Errorf("net %q: %w", n.name, err))
			continue
		}
		v.nets = append(v.nets, &savingNet{n: n, d: d, head: savedNet{ID: n.name, Since: n.since, Ages: n.ages.saved(), Settled: n.settled}, shown: n.shown.Rows})
	}
	return v
}

// Before saves the sources that a message may change.
func (v *Saving) Before(m *Merger, msg *telemetry.Snapshot) {
	n := m.nets[msg.Net]
	if n == nil {
		return
	}
	switch s := n.sources[msg.Source]; {
	case s == nil && m.sources >= m.limits.Sources, msg.Region != "" && !s.keeps(msg):
		v.Finish() // it may displace another source, or take over its rows
	case s != nil:
		v.source(s)
	}
}

// keeps reports whether the source has the region of a message.
func (s *source) keeps(msg *telemetry.Snapshot) bool {
	return s != nil && s.rows != nil && s.region == msg.Region && s.fence == msg.Fence && s.series() == seriesOf(msg)
}

// Finish saves all sources.
func (v *Saving) Finish() {
	for v.Piece() {
	}
}

// Piece saves some sources, and reports whether there are more.
func (v *Saving) Piece() bool {
	for made := 0; v.next < len(v.nets); v.next++ {
		for sn := v.nets[v.next]; sn.next < len(sn.sources); {
			made += v.source(sn.sources[sn.next])
			if sn.next++; made >= pieceBytes {
				return true
			}
		}
	}
	return false
}

// source saves a source unless it is saved already, and returns the number of
// bytes.
func (v *Saving) source(s *source) int {
	sn := s.unsaved
	if s.unsaved = nil; sn == nil || sn.err != nil {
		return 0
	}
	last := len(sn.chunks) - 1
	switch {
	case last < 0: // most states are small, so the first chunk grows as needed
		sn.chunks, last = append(sn.chunks, nil), 0
	case len(sn.chunks[last]) >= chunkBytes:
		sn.chunks, last = append(sn.chunks, make([]byte, 0, chunkBytes+pieceBytes)), last+1
	}
	chunk := sn.chunks[last]
	before := len(chunk)
	if s.rows == nil {
		chunk = appendPast(chunk, savedPast{Source: s.name, Epoch: s.epoch, Seq: s.seq, Counted: s.countedUpTo(), Known: s.wasShown()})
	} else {
		chunk, sn.err = v.live.source(chunk, sn.n, s, sn.d)
	}
	sn.chunks[last] = chunk
	return len(chunk) - before
}

// State returns the state, once all sources are saved. It omits a net that is not
// valid, see Net.Published, or has a row that exceeds a message; the error names
// it.
func (v *Saving) State() ([]byte, error) {
	var out [][]byte
	for _, sn := range v.nets {
		all, err := sn.all(v)
		if err != nil {
			v.errs = append(v.errs, fmt.Errorf("net %q: %w", sn.n.name, err))
			continue
		}
		out = append(out, all...)
	}
	state := bytes.Join(out, nil)
	if v.whole {
		v.k.size, v.k.savedAt = len(state), v.at
	}
	return state, errors.Join(v.errs...)
}

// all returns what is kept of the net.
func (sn *savingNet) all(v *Saving) ([][]byte, error) {
	if sn.err != nil {
		return nil, sn.err
	}
	head, err := json.Marshal(sn.head) // never fails: texts and numbers
	out := appendRecord(nil, recordNet, head, []byte("\n"), sn.d.pnml)
	if sn.sums != nil {
		out, err = v.k.counters(out, recordSum, sn, sn.sums, v.at)
	}
	if err == nil && sn.shown != nil {
		out, err = v.k.counters(out, recordShown, sn, sn.shown, v.at)
	}
	var past []byte
	for _, p := range sn.past {
		past = appendPast(past, p)
	}
	return slices.Concat([][]byte{out}, sn.chunks, [][]byte{past}), err
}

// counters appends the counters of rows.
func (k *Saver) counters(out []byte, record byte, sn *savingNet, rows *stats.Rows, at int64) ([]byte, error) {
	return k.snapshots.rows(out, record, nil, &telemetry.Snapshot{Source: sumName, Net: sn.head.ID, Digest: sn.d.digest, Epoch: 1, Seq: 1, SentAt: at,
		Interval: time.Second, Full: true, Rows: *countersOf(rows)})
}
