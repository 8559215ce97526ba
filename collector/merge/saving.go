// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pnagent/pnagent/internal/ordered"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// Frame is a part of a log.
type Frame struct {
	First   bool   // of its log, which needs no earlier frame
	Records []byte // empty if there is nothing to keep
}

// Saving makes one frame. Messages may be processed between its pieces.
type Saving struct {
	k     *Saver
	m     *Merger
	first bool
	all   bool // everything that changed
	at    int64
	out   []byte
	of    string // the net of the last records

	net, source int // of the pass over all sources that looks for those that moved: the next
	moved       map[*net]bool
	rest        int // sources to look at for changes of their rows
	left        int // bytes for them
	shown       []shownOf
	errs        []error
}

// shownOf are counters to keep of a View, which do not change.
type shownOf struct {
	l    *netLog
	name string
	d    definition
	rows *stats.Rows
	full bool
}

// Piece makes a part of the frame, and reports whether there is more. The last one takes what has
// to be of one moment.
func (v *Saving) Piece() (more bool) {
	if v.moved == nil {
		v.moved = make(map[*net]bool)
	}
	most := len(v.out) + pieceBytes
	if v.round(most) {
		return true
	}
	for whole := false; !whole; { // until one pass over all sources was of one moment
		whole = v.net == 0 && v.source == 0
		if !v.pass(most) {
			return true
		}
	}
	v.finish()
	return false
}

// pass keeps the sources that moved, until the frame has that many bytes. It reports whether it came
// to its end.
func (v *Saving) pass(most int) bool {
	nets := v.m.inOrder()
	for ; v.net < len(nets); v.net, v.source = v.net+1, 0 {
		n := nets[v.net]
		l := v.log(n)
		if l == nil {
			continue
		}
		orphans := n.orphansByName()
		for ; v.source < len(n.order); v.source++ {
			if len(v.out) >= most {
				return false
			}
			s := n.order[v.source]
			if l.source(s).placed(s, orphans[s.name]) {
				continue
			}
			v.moved[n] = true
			if !v.group(n, l, s.name, orphans[s.name]) {
				break
			}
		}
		for name, sum := range orphans {
			if !l.sources[name].placed(n.sources[name], sum) && v.k.nets[n.name] == l {
				v.moved[n] = true
				v.group(n, l, name, sum)
			}
		}
	}
	v.net, v.source = 0, 0
	return true
}

// log returns what the log has of a net, which it defines first if need be, or nil if nothing is
// kept of it.
func (v *Saving) log(n *net) *netLog {
	k := v.k
	if n.shown == nil || k.bad[n.name] {
		return nil
	}
	l := k.nets[n.name]
	if l != nil && l.of != n {
		v.drop(n.name)
		l = nil
	}
	if l == nil {
		l = &netLog{of: n, sources: make(map[string]*sourceLog)}
		k.nets[n.name] = l
	}
	if l.def == n.union.def {
		return l
	}
	d, err := k.define(n)
	if err != nil {
		v.fail(n, err)
		return nil
	}
	l.def = n.union.def
	l.head = headOf(n)
	l.base = nil
	l.shown = nil
	l.view = nil
	v.out, v.of = appendRecord(v.out, recordNet, l.head, []byte("\n"), d.pnml), n.name
	v.moved[n] = true
	return l
}

// fail leaves a net out of the log.
func (v *Saving) fail(n *net, err error) {
	v.errs = append(v.errs, fmt.Errorf("net %q: %w", n.name, err))
	v.drop(n.name)
	v.k.bad[n.name] = true
}

func (v *Saving) drop(name string) {
	delete(v.k.nets, name)
	v.out, v.of = appendRecord(v.out, recordDropped, []byte(name)), ""
}

// begin begins records of a net.
func (v *Saving) begin(name string) {
	if v.of != name {
		v.out, v.of = appendRecord(v.out, recordOf, []byte(name)), name
	}
}

// headOf returns what is kept of a net besides its rows.
func headOf(n *net) []byte {
	head := savedNet{ID: n.name, Since: n.since, Columns: n.base.Columns & counterColumns, Ages: n.ages.saved(), Settled: n.settled}
	for region, f := range n.fences {
		counted := f.counted
		if f.before != nil {
			f = *f.before
		}
		head.Regions = append(head.Regions, savedRegion{Region: region, Claim: f.Claim, Owner: f.owner, Counted: counted})
	}
	ordered.By(head.Regions, func(a, b *savedRegion) int { return strings.Compare(a.Region, b.Region) })
	text, _ := json.Marshal(head) // texts and numbers never fail
	return text
}

// group keeps the source with a name: how its rows changed if the log has them; otherwise its rows,
// those set aside for it and those of its orphans, or what is remembered of it. It reports whether
// that was possible.
func (v *Saving) group(n *net, l *netLog, name string, orphans uint64) bool {
	s, have := n.sources[name], l.sources[name]
	place := placementOf(s, orphans)
	record, changed := byte(recordGroup), have.changed(s, &place)
	if changed {
		record = recordChanges
	} else {
		have = &sourceLog{of: l}
	}
	have.notes.Room = saveNotes / max(1, v.m.sources) // their number has changed since
	in, err := v.k.sourceRecords(v.k.in[:0], n, name, have, changed)
	if err != nil {
		v.fail(n, err)
		return false
	}
	v.begin(n.name)
	v.k.in, v.out = in, appendRecord(v.out, record, binary.AppendUvarint(nil, uint64(len(name))), []byte(name), in)
	have.place = place
	if s != nil {
		have.changes, s.log = s.changes, have
	}
	l.sources[name] = have
	if s == nil && orphans == 0 {
		delete(l.sources, name)
	}
	return true
}

// changed reports whether a log that has this of a source needs no more than what changed.
func (have *sourceLog) changed(s *source, now *placement) bool {
	return have != nil && s != nil && s.rows != nil && s.rows.Notes() == &have.notes &&
		have.place.digest == now.digest && have.place.aside == now.aside && have.place.orphans == now.orphans
}

// sourceRecords appends recordChanges of the source with a name, or the records of its group.
func (k *Saver) sourceRecords(out []byte, n *net, name string, have *sourceLog, changed bool) (_ []byte, err error) {
	d, s := k.definitions[n.name], n.sources[name]
	if changed {
		return k.snapshots.changed(out, n, s, d, have)
	}
	for _, o := range n.orphans {
		if o.name == name && err == nil {
			out, err = k.snapshots.source(out, n, o, d, nil)
		}
	}
	switch p, past := n.past[name]; {
	case err != nil:
	case s != nil:
		out, err = k.snapshots.source(out, n, s, d, have)
	case past:
		out = appendPast(out, savedPast{Source: name, Epoch: p.epoch, Seq: p.seq, Counted: p.counted, Known: p.known})
	}
	return out, err
}

// round keeps the sources that grew, until the frame has that many bytes. It reports whether there
// are more.
func (v *Saving) round(most int) (more bool) {
	nets := v.m.inOrder()
	var of *net
	var l *netLog // of it
	for ; v.rest > 0 && v.left > 0 && v.m.sources > 0; v.rest-- {
		if len(v.out) >= most {
			return true
		}
		if v.k.next >= v.m.sources {
			v.k.next = 0
		}
		at := v.k.next
		for _, n := range nets {
			if at >= len(n.order) {
				at -= len(n.order)
				continue
			}
			before := len(v.out)
			if n != of {
				of, l = n, v.log(n)
			}
			if s := n.order[at]; l != nil {
				have := l.source(s)
				if have != nil && have.changes != s.changes && have.place == placementOf(s, have.place.orphans) { // else the pass keeps it
					v.group(n, l, s.name, have.place.orphans)
					of = nil // it may be left out now
				}
			}
			v.left -= len(v.out) - before
			break
		}
		v.k.next++
	}
	v.k.behind = v.rest > 0
	return false
}

// finish keeps what has to be of the moment at which the pass over all sources ended.
func (v *Saving) finish() {
	v.forgotten()
	for name, l := range v.k.nets {
		if v.m.nets[name] != l.of {
			v.drop(name)
		}
	}
	for _, n := range v.m.inOrder() {
		l := v.k.nets[n.name]
		if l == nil {
			continue
		}
		for _, name := range l.gone(n.orphansByName()) {
			v.moved[n] = true
			if !v.group(n, l, name, 0) {
				break
			}
		}
		if v.k.nets[n.name] == l {
			v.sums(n, l)
		}
	}
}

// forgotten keeps the sources that were forgotten since the last frame.
func (v *Saving) forgotten() {
	all := v.m.forgotten
	i, _ := slices.BinarySearchFunc(all, v.k.tombstone+1, func(t tombstone, number uint64) int {
		return int(int64(t.number) - int64(number))
	})
	for _, t := range all[i:] {
		n, l := v.m.nets[t.net], v.k.nets[t.net]
		if l != nil && n == l.of && n.sources[t.source] == nil && n.past[t.source].tombstone == t.number && l.sources[t.source] == nil {
			v.group(n, l, t.source, 0)
			v.moved[n] = true
		}
		v.k.tombstone = t.number
	}
}

// sums keeps the head and the base of a net if they changed, and notes its View.
func (v *Saving) sums(n *net, l *netLog) {
	if head := headOf(n); !bytes.Equal(head, l.head) {
		v.begin(n.name)
		v.out, l.head = appendRecord(v.out, recordHead, head), head
	}
	d := v.k.definitions[n.name]
	if v.moved[n] {
		base, err := v.k.base(n, d, v.at)
		if err != nil {
			v.fail(n, err)
			return
		}
		if !bytes.Equal(base, l.base) {
			v.begin(n.name)
			v.out, l.base = append(v.out, base...), base
		}
	}
	if rows := n.shown.Rows; rows != l.view {
		v.shown = append(v.shown, shownOf{l: l, name: n.name, d: d, rows: rows, full: l.view == nil})
		l.view = rows
	}
}

// base returns the records of the base of a net. Counters that were subtracted from it may make it
// negative: see net.deduct.
func (k *Saver) base(n *net, d definition, at int64) ([]byte, error) {
	base, debt := countersOf(n.base), n.base.Debt()
	base.Columns, debt.Columns = sumColumns, sumColumns // also of what was only subtracted
	negative := keepPositive(base)
	out, err := k.counters(nil, recordBase, n.name, d, base, at)
	if err == nil && negative {
		keepPositive(debt)
		out, err = k.counters(out, recordDebt, n.name, d, debt, at)
	}
	return out, err
}

// counters appends the counters of rows.
func (k *Saver) counters(out []byte, record byte, name string, d definition, rows *stats.Rows, at int64) ([]byte, error) {
	return k.snapshots.rows(out, record, nil, sumOf(name, d, countersOf(rows), at))
}

// sumOf returns counters over many sources as a snapshot.
func sumOf(name string, d definition, rows *stats.Rows, at int64) *telemetry.Snapshot {
	return &telemetry.Snapshot{Source: sumName, Net: name, Digest: d.digest, Epoch: 1, Seq: 1, SentAt: max(at, 1), Interval: time.Second, Full: true, Rows: *rows}
}

// Frame returns the frame once all pieces are made. It leaves out a net that is not valid, see
// NetView.Published, or has a row that exceeds a message; the error names it.
func (v *Saving) Frame() (Frame, error) {
	for _, s := range v.shown {
		if err := v.counters(&s); err != nil {
			v.errs = append(v.errs, fmt.Errorf("net %q: %w", s.name, err))
			v.drop(s.name)
			v.k.bad[s.name] = true
		}
	}
	f := Frame{First: v.first}
	switch {
	case v.first: // which may be large, so it is not copied
		f.Records = v.out
	case len(v.out) > 0 || v.all: // also that nothing changed up to now
		f.Records = append(appendRecord(nil, recordTime, binary.AppendVarint(nil, v.at)), v.out...)
	}
	if !v.first && cap(v.out) <= 2*saveRows {
		v.k.out = v.out[:0]
	}
	v.k.size += len(f.Records)
	if v.first {
		v.k.first = v.k.size
	}
	return f, errors.Join(v.errs...)
}

// counters keeps the counters of a View that changed since the last one that was kept.
func (v *Saving) counters(s *shownOf) error {
	next, last, record := countersOf(s.rows), s.l.shown, byte(recordShownChanges)
	s.l.shown = next
	if s.full || last == nil {
		last, record = &stats.Rows{}, recordShownRows
	}
	msg := sumOf(s.name, s.d, next, v.at)
	msg.Rows.Places, msg.Rows.Transitions = nil, nil
	k := &v.k.snapshots
	payload, err := k.rest(nil, msg)
	payload, changed := k.changes.Between(payload, last, next)
	changed = changed || record == recordShownRows || last.Columns != next.Columns || last.Net != next.Net || !slices.Equal(last.Queues, next.Queues)
	if err != nil || !changed {
		return err
	}
	v.begin(s.name)
	v.out = appendRecord(v.out, record, payload)
	return nil
}
