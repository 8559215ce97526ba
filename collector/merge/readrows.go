// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"encoding/binary"
	"errors"

	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// group is what a log has of the sources with a name.
type group struct {
	records []byte
	changes [][]byte // recordChanges since then
}

// keptRows is a source of which a log has the changes.
type keptRows struct {
	savedSource
	msg telemetry.Snapshot
}

var (
	errNoRows  = errors.New("changes rows that are not there")
	errNoGroup = errors.New("rows of a source outside of a group")
)

// group reads the records of the sources with a name, and makes the changes of the last one.
func (r *stateReader) group(name string, g group) error {
	if err := r.records(g.records); err != nil {
		return err
	}
	if r.last == nil && len(g.changes) > 0 || r.last != nil && r.last.msg.Source != name {
		return errNoRows
	}
	for _, payload := range g.changes {
		if err := r.changeSource(payload); err != nil {
			return err
		}
	}
	return r.addSource()
}

// sourceRows reads a source that may change.
func (r *stateReader) sourceRows(payload []byte) error {
	digest, err := r.cut(&payload)
	if err == nil {
		err = r.addSource()
	}
	if err != nil {
		return err
	}
	r.last = &keptRows{savedSource: savedSource{digest: string(digest)}}
	return r.changeSource(payload)
}

func (r *stateReader) changeSource(payload []byte) error {
	for _, f := range r.last.ofRows() {
		v, n := binary.Varint(payload)
		if n <= 0 {
			return errCut
		}
		*f, payload = *f+v, payload[n:]
	}
	return r.change(&r.last.msg, payload)
}

// change makes the changes of rows, and takes the rest. The rows may be invalid until they are added.
func (r *stateReader) change(msg *telemetry.Snapshot, payload []byte) error {
	if msg == nil {
		return errNoRows
	}
	columns, n := binary.Uvarint(payload)
	if n <= 0 {
		return errCut
	}
	payload = payload[n:]
	records, err := r.cut(&payload)
	if err == nil {
		r.restOf = nil
		err = r.inner(records)
	}
	if err == nil && r.restOf == nil {
		err = errCut
	}
	if err != nil {
		return err
	}
	rows := stats.Rows{Places: msg.Rows.Places, Transitions: msg.Rows.Transitions}
	err = rows.Apply(payload, telemetry.MaxRows)
	if err != nil {
		return err
	}
	rest := r.restOf
	for i, at := range rest.PlaceIndex {
		if int(at) >= len(rows.Places) {
			return errNoRows
		}
		rows.Places[at].Stuck, rows.Places[at].Groups = rest.Rows.Places[i].Stuck, rest.Rows.Places[i].Groups
	}
	*msg = *rest
	msg.Rows.Places, msg.Rows.Transitions, msg.Rows.Columns = rows.Places, rows.Transitions, stats.Columns(columns)
	return nil
}

// inner reads records within a record.
func (r *stateReader) inner(records []byte) error {
	outer := r.rest
	err := r.records(records)
	r.rest = outer
	return err
}

// addSource adds the source that was read last to its net, if there is one.
func (r *stateReader) addSource() error {
	if r.last == nil {
		return nil
	}
	k := r.last
	r.last = nil
	k.msg.Epoch = k.rowsEpoch
	k.sent(&k.msg)
	return r.add(recordSource, k.before(recordSource), &k.msg)
}

// add adds rows to the net as a snapshot in the format of the wire, whose decoder checks them.
func (r *stateReader) add(record byte, meta []byte, msg *telemetry.Snapshot) error {
	whole(msg)
	if record == recordShown {
		msg.SentAt = max(r.at, 1)
	}
	records, err := r.written.rows(nil, record, meta, msg)
	if err != nil {
		return err
	}
	return r.inner(records)
}
