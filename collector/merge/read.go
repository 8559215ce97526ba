// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pnagent/pnagent/internal/ordered"
	"github.com/pnagent/pnagent/telemetry"
)

// stateReader reads the records of frames.
type stateReader struct {
	rest    []byte
	decoder telemetry.Decoder
	at      int64
	nets    map[string]*restored
	net     *restored           // to which the next records belong
	more    bool                // the next record is a part, and not the last
	parts   *telemetry.Snapshot // the parts so far, joined
	kind    byte                // of the record of the parts
	last    *keptRows           // of the source that was read last, until it is added to its net
	restOf  *telemetry.Snapshot // recordRest
	written snapshots
}

// readState reads the frames of a log, and returns its nets by name. The error wraps ErrState.
func readState(frames ...[]byte) ([]*restored, error) {
	r := &stateReader{nets: make(map[string]*restored)}
	for i, frame := range frames {
		r.net = nil
		err := r.records(frame)
		if err == nil && r.last != nil {
			err = errNoGroup
		}
		if err != nil {
			return nil, fmt.Errorf("%w: frame %d: %w", ErrState, i+1, err)
		}
	}
	nets := slices.SortedFunc(maps.Values(r.nets), func(a, b *restored) int { return strings.Compare(a.ID, b.ID) })
	for _, n := range nets {
		if err := r.ungroup(n); err != nil {
			return nil, fmt.Errorf("%w: net %q: %w", ErrState, n.ID, err)
		}
	}
	return nets, nil
}

// records reads records that end where a record does.
func (r *stateReader) records(all []byte) error {
	r.rest = all
	for n := 1; len(r.rest) > 0; n++ {
		if err := r.next(); err != nil {
			return fmt.Errorf("record %d: %w", n, err)
		}
	}
	if r.more || r.parts != nil {
		return errEnds
	}
	return nil
}

// ungroup reads the groups of a net, and what it showed. The orphans come first: their owners may
// have put them away.
func (r *stateReader) ungroup(n *restored) error {
	r.net, n.at = n, r.at
	for _, name := range slices.Sorted(maps.Keys(n.groups)) {
		if err := r.group(name, n.groups[name]); err != nil {
			return fmt.Errorf("source %q: %w", name, err)
		}
	}
	if n.shownRows != nil {
		if err := r.add(recordShown, nil, n.shownRows); err != nil {
			return err
		}
	}
	if n.groups != nil {
		ordered.By(n.sources, func(a, b *restoredSource) int { return int(b.marks&markOrphan - a.marks&markOrphan) })
	}
	return nil
}

var (
	errCut      = errors.New("cut short")
	errParts    = errors.New("expected another part of the previous record")
	errEnds     = errors.New("ends within a source")
	errNoNet    = errors.New("before the first net")
	errUnknown  = errors.New("unknown kind")
	errOtherNet = errors.New("belongs to another net")
)

// next reads one record.
func (r *stateReader) next() error {
	record := r.rest[0]
	r.rest = r.rest[1:]
	if record == recordMore {
		r.more = true
		return nil
	}
	payload, err := r.cut(&r.rest)
	if err != nil {
		return err
	}
	inParts := bytes.IndexByte([]byte{recordSource, recordSilent, recordRest, recordBase, recordDebt, recordSum, recordShown}, record) >= 0
	if r.parts != nil && record != r.kind || r.more && !inParts {
		return errParts
	}
	r.kind = record
	switch record {
	case recordNet:
		return r.defined(payload)
	case recordTime:
		at, n := binary.Varint(payload)
		if n <= 0 {
			return errCut
		}
		r.at = min(max(at, 0), telemetry.MaxTime)
		return nil
	case recordOf:
		if r.net = r.nets[string(payload)]; r.net == nil {
			return errNoNet
		}
		return nil
	case recordDropped:
		delete(r.nets, string(payload))
		return nil
	}
	if r.net == nil {
		return errNoNet
	}
	return r.ofNet(record, payload)
}

// cut returns the bytes behind their length, and removes both.
func (r *stateReader) cut(from *[]byte) ([]byte, error) {
	size, n := binary.Uvarint(*from)
	if n <= 0 || size > uint64(len(*from)-n) {
		return nil, errCut
	}
	out := (*from)[n : n+int(size)]
	*from = (*from)[n+int(size):]
	return out, nil
}

// ofNet reads a record of the present net.
func (r *stateReader) ofNet(record byte, payload []byte) error {
	net := r.net
	switch record {
	case recordHead:
		net.savedNet = savedNet{}
		if err := json.Unmarshal(payload, &net.savedNet); err != nil {
			return err
		}
		if net.ID != net.definition.Net {
			return errOtherNet
		}
	case recordSum, recordBase, recordDebt, recordShown:
		return r.sums(record, payload)
	case recordGroup:
		name, err := r.cut(&payload)
		if err != nil {
			return err
		}
		if net.groups == nil {
			net.groups = make(map[string]group)
		}
		net.groups[string(name)] = (group{records: payload})
		if len(payload) == 0 {
			delete(net.groups, string(name))
		}
	case recordChanges:
		name, err := r.cut(&payload)
		if err != nil {
			return err
		}
		g, found := net.groups[string(name)]
		if !found {
			return errNoRows
		}
		g.changes = append(g.changes, payload)
		net.groups[string(name)] = g
	case recordShownRows, recordShownChanges:
		if record == recordShownRows {
			net.shownRows = &telemetry.Snapshot{}
		}
		r.decoder.Sums = true
		err := r.change(net.shownRows, payload)
		r.decoder.Sums = false
		return err
	case recordRows:
		return r.sourceRows(payload)
	case recordRest:
		msg, err := r.snapshot(net, payload)
		r.restOf = msg
		return err
	case recordSource, recordSilent:
		return r.source(net, payload)
	case recordPast:
		var p savedPast
		if err := json.Unmarshal(payload, &p); err != nil {
			return err
		}
		net.past = append(net.past, p)
		return telemetry.CheckName(p.Source)
	default:
		return errUnknown
	}
	return nil
}

// sums reads a record of counters over many sources.
func (r *stateReader) sums(record byte, payload []byte) error {
	r.decoder.Sums = true
	msg, err := r.snapshot(r.net, payload)
	r.decoder.Sums = false
	if msg == nil {
		return err
	}
	if !complete(msg) {
		return errParts
	}
	switch record {
	case recordSum:
		r.net.sum = whole(msg)
	case recordBase:
		r.net.base, r.net.debt = whole(msg), nil
	case recordDebt:
		r.net.debt = whole(msg)
	case recordShown:
		r.net.shown = whole(msg)
	}
	return nil
}

// complete reports whether a snapshot of all rows has no gap.
func complete(msg *telemetry.Snapshot) bool {
	for _, index := range [][]uint32{msg.PlaceIndex, msg.TransitionIndex} {
		for i, at := range index {
			if int(at) != i {
				return false
			}
		}
	}
	return true
}

// whole makes a snapshot a full one, whose rows are all there.
func whole(msg *telemetry.Snapshot) *telemetry.Snapshot {
	msg.Full, msg.PlaceIndex, msg.TransitionIndex = true, nil, nil
	return msg
}

// defined reads the definition of a net. What is known of it stays, but for a state of an earlier
// release: there it belongs to the counters that were shown.
func (r *stateReader) defined(payload []byte) error {
	head, text, _ := bytes.Cut(payload, []byte("\n"))
	var saved savedNet
	if err := json.Unmarshal(head, &saved); err != nil {
		return err
	}
	n := r.nets[saved.ID]
	if n == nil {
		n = &restored{}
		r.nets[saved.ID] = n
	} else if n.sum != nil {
		saved.Columns, saved.Regions = n.Columns, n.Regions
	}
	n.savedNet = saved
	n.definition = telemetry.Definition{Net: saved.ID, Digest: telemetry.Digest(text), PNML: text}
	r.net = n
	return telemetry.CheckName(saved.ID)
}

func (r *stateReader) source(net *restored, payload []byte) error {
	digest, err := r.cut(&payload)
	if err != nil {
		return err
	}
	h := restoredSource{savedSource: savedSource{digest: string(digest)}}
	for _, f := range h.fields(r.kind) {
		v, n := binary.Varint(payload)
		if n <= 0 {
			return errCut
		}
		*f, payload = min(max(v, 0), telemetry.MaxTime), payload[n:]
	}
	h.msg, err = r.snapshot(net, payload)
	switch {
	case h.msg == nil:
		return err
	case !complete(h.msg):
		return errParts
	}
	whole(h.msg).Digest = net.definition.Digest
	net.sources = append(net.sources, h)
	return nil
}

// snapshot returns a snapshot, or nil after a part that is not the last one.
func (r *stateReader) snapshot(net *restored, payload []byte) (*telemetry.Snapshot, error) {
	msg := &telemetry.Snapshot{}
	if err := r.decoder.Decode(payload, msg); err != nil {
		return nil, err
	}
	if msg.Net != net.ID {
		return nil, errOtherNet
	}
	if p := r.parts; p != nil {
		if p.Source != msg.Source {
			return nil, errParts
		}
		msg.Rows.Places, msg.PlaceIndex = append(p.Rows.Places, msg.Rows.Places...), append(p.PlaceIndex, msg.PlaceIndex...)
		msg.Rows.Transitions, msg.TransitionIndex = append(p.Rows.Transitions, msg.Rows.Transitions...), append(p.TransitionIndex, msg.TransitionIndex...)
		msg.Rows.Columns |= p.Rows.Columns
	}
	r.parts = nil
	if r.more {
		r.parts, r.more = msg, false
		return nil, nil
	}
	return msg, nil
}
