// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
)

const (
	// A frame has the rows of each source that changed, in at most saveRows bytes, and in at most
	// a part of the bytes of the first frame, or in saveFew if that is more.
	saveRows = 256 << 10
	savePart = 16
	saveFew  = 64 << 10
	// saveAgain is how many bytes a second first frames have at most while the disk fails.
	saveAgain = 4 << 20
	// saveNotes is how many bytes of rows as they were are held, over all sources.
	saveNotes = 8 << 20
	// A log begins again once it is saveGrowth times as large as its first frame, and larger
	// than saveLeast, in bytes.
	saveGrowth = 5
	saveLeast  = 4 << 20
	// pieceBytes is how much of a frame is made at once, while no message is processed.
	pieceBytes = 128 << 10
)

// Saver makes the frames of a log, from which the next process continues: the first has the whole
// state, the others what changed. A frame has each counter of a View that rose. It has each source
// of which counters moved to the base, or to another source, together with the base. Those need to
// be of one moment; the rows of a source that grew do not, because they stand for themselves. So a
// frame has how the rows changed of as many sources as it has room for, and the next one continues
// behind them.
type Saver struct {
	snapshots   snapshots             // of sums and shown counters
	definitions map[string]definition // by net
	in, out     []byte                // memory of the records of a source, and of a frame

	nets      map[string]*netLog // what the log has; nil if the next frame is the first
	bad       map[string]bool    // nets that are left out
	tombstone uint64             // of the last forgotten source that the log has
	next      int                // index of the next source of the round
	at        int64              // when the last frame was begun
	behind    bool               // the last one was full before all was in it that was due
	first     int                // bytes of the first frame
	size      int                // bytes of all frames
	notBefore int64              // when to begin again after a failure
	few       int                // instead of saveFew, in tests; 0 for saveFew

	revision uint64 // of the Merger, as of the last frame
}

// netLog is what a log has of a net.
type netLog struct {
	of         *net
	def        *petri.Net
	head, base []byte
	shown      *stats.Rows // the counters
	view       *stats.Rows // of which they are
	sources    map[string]*sourceLog
}

// sourceLog is what a log has of the source with a name, and of the orphans with it.
type sourceLog struct {
	of      *netLog
	place   placement
	changes uint64 // source.changes

	saved savedSource
	notes stats.Notes // how its rows were
}

// placement is where the counters of a source are. While it is the same, they only grow.
type placement struct {
	state                            SourceState
	epoch, rowsEpoch, since, counted int64
	restarts, setbacks, fence        uint64
	region, digest                   string
	columns                          stats.Columns
	rows, complete, unread, left     bool
	aside, orphans                   uint64 // checksums of which there are
}

// placementOf returns the placement of the source with a name; orphans is of those with the name.
func placementOf(s *source, orphans uint64) placement {
	if s == nil {
		return placement{orphans: orphans}
	}
	p := placement{state: s.state, epoch: s.epoch, rowsEpoch: s.rowsEpoch, since: s.since, counted: s.countedUpTo(), restarts: s.restarts, setbacks: s.setbacks,
		fence: s.fence, region: s.region, digest: s.digest, columns: s.columns, rows: s.rows != nil, complete: s.complete, unread: s.unread, left: s.left, orphans: orphans}
	for i := range s.processes {
		if q := &s.processes[i]; q.aside != nil {
			p.aside = mix(p.aside, uint64(q.epoch), uint64(q.aside.columns))
			if q.left {
				p.aside = mix(p.aside, 1)
			}
		}
	}
	return p
}

// mix adds numbers to a checksum.
func mix(sum uint64, numbers ...uint64) uint64 {
	for _, n := range numbers {
		sum = (sum ^ n) * 0x9e3779b97f4a7c15
		sum ^= sum >> 29
	}
	return sum
}

// orphansByName returns a checksum of the orphans with each name.
func (n *net) orphansByName() map[string]uint64 {
	if len(n.orphans) == 0 {
		return nil
	}
	sums := make(map[string]uint64)
	for _, o := range n.orphans {
		sum := mix(sums[o.name], uint64(o.rowsEpoch), uint64(o.since), o.fence, uint64(o.columns), uint64(o.state))
		for _, b := range []byte(o.region) {
			sum = mix(sum, uint64(b))
		}
		sums[o.name] = sum
	}
	return sums
}

// Begin starts a frame as of the last Tick, or returns nil if there is nothing to keep. If all is
// set, it has everything that changed.
func (k *Saver) Begin(m *Merger, all bool) *Saving {
	now := m.view.At
	fresh := k.nets == nil || k.size > max(saveGrowth*k.first, saveLeast)
	before := k.first // bytes of the first frame of the log that ends
	switch {
	case fresh && now < k.notBefore && !all:
		return nil
	case fresh:
		*k = Saver{snapshots: k.snapshots, definitions: k.definitions, nets: make(map[string]*netLog), bad: make(map[string]bool), few: k.few}
	case !all && !k.behind && k.revision == m.revision:
		return nil
	}
	v := &Saving{k: k, m: m, first: fresh, all: all, at: now, out: k.out, left: min(max(k.first/savePart, cmp.Or(k.few, saveFew)), saveRows)}
	if fresh { // the pass over all sources has them
		v.out = appendRecord(make([]byte, 0, before+before/8), recordTime, binary.AppendVarint(nil, now))
	} else {
		v.rest = m.sources
	}
	if all {
		v.left = math.MaxInt
	}
	k.at, k.revision = now, m.revision
	return v
}

// Failed states that the last frame was not kept. The next one is the first of another log; it is
// made at a rate of saveAgain bytes a second, so that a disk that fails costs little.
func (k *Saver) Failed() {
	k.nets, k.notBefore = nil, k.at+int64(k.first)*1e6/saveAgain
}

// source returns what the log has of a source; nil for nothing.
func (l *netLog) source(s *source) *sourceLog {
	if s.log != nil && s.log.of == l {
		return s.log
	}
	return l.sources[s.name]
}

// placed reports whether counters are still where the log has them.
func (have *sourceLog) placed(s *source, orphans uint64) bool {
	return have != nil && have.place == placementOf(s, orphans)
}

// gone returns the names that the log has and the net has not any more, in order. The log has all
// that the net has.
func (l *netLog) gone(orphans map[string]uint64) (names []string) {
	there := len(l.of.order)
	for name := range orphans {
		if l.of.sources[name] == nil {
			there++
		}
	}
	if there == len(l.sources) {
		return nil
	}
	for name := range l.sources {
		if _, orphan := orphans[name]; !orphan && l.of.sources[name] == nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
