// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/pnagent/pnagent/telemetry/wire"
)

// maxNames bounds the names that a message keeps so that messages of one source share strings.
const maxNames = 4096

// parse parses the protobuf form of a snapshot. The result is valid until the
// next call. Names are not checked to be UTF-8. A test compares it with
// proto.Unmarshal, which allocates every packed column and takes twice the time.
func (m *message) parse(b []byte) (*wire.Snapshot, error) {
	m.reset()
	s := m.snapshot
	s.Places, s.Transitions = m.places, m.transitions // an absent table and an empty one are the same
	s.Places.Ages, s.Places.Dwell, s.Transitions.Duration = m.ages, m.dwell, m.duration
	if err := m.read(b, m.fields); err != nil {
		return nil, err
	}
	return s, nil
}

// fields are the targets of a message's fields, by their numbers from 1. A
// target is a pointer to a number, text or column, the fields of a message, or
// a function that receives what the field holds. Fields of other wire types
// than their target are ignored, as unknown fields are.
type fields []any

type (
	name       string  // a text that many messages hold
	zigzag32   []int32 // a column of numbers in zigzag form
	zigzag64   []int64
	takeNumber func(uint64)
	takeBytes  func([]byte) error
)

func (m *message) snapshotFields() fields {
	s := m.snapshot
	return fields{(*name)(&s.Source), &s.Epoch, &s.Seq, &s.SentAt, &s.Interval, (*name)(&s.Net), (*name)(&s.Digest), (*name)(&s.Region),
		&s.Fence, &s.Full, m.placeFields(), m.transitionFields(), takeBytes(m.readRow), takeBytes(m.readBlock), &s.Bye,
		takeBytes(m.readQueue), takeNumber(func(n uint64) { m.waiting, s.Waiting = n, &m.waiting }), &s.Since, takeBytes(m.readRegion), takeBytes(m.readRefused), takeBytes(m.readRemnants)}
}

func (m *message) placeFields() fields {
	w, ages := m.places, m.ages
	return fields{&w.Index, &w.Tokens, &w.Arrivals, &w.Departures, &w.Instances, &w.Oldest, &w.LastInjection, &w.InjectedS, &w.InjectedUs,
		fields{&ages.Len, (*zigzag64)(&ages.Start), &ages.Count}, histogramFields(m.dwell), takeBytes(m.readStuck), m.readSlowest(&w.Slowest)}
}

func (m *message) transitionFields() fields {
	w := m.transitions
	return fields{&w.Index, &w.Firings, &w.Failures, &w.Retries, &w.Cancels, &w.Enabled, &w.EnabledSince, &w.Running, &w.RunningSince,
		&w.LastFiring, histogramFields(m.duration), &w.Timeouts, &w.Late, m.readSlowest(&w.Slowest)}
}

func histogramFields(w *wire.Histogram) fields {
	return fields{(*zigzag32)(&w.Schema), &w.Zero, &w.Sum, &w.Len, (*zigzag32)(&w.Index), &w.Count}
}

func (m *message) readRow(b []byte) error {
	w := m.row
	if m.snapshot.Row == nil {
		w.Created, w.Finished, w.Failed, w.Active, w.Deadlocked = 0, 0, 0, 0, 0
		m.snapshot.Row = w
	}
	return m.read(b, fields{&w.Created, &w.Finished, &w.Failed, &w.Active, &w.Deadlocked})
}

func (m *message) readBlock(b []byte) error {
	w := add(&m.snapshot.Blocks, &m.blocks)
	w.Transition, w.Place, w.Reason, w.Instances = 0, 0, 0, 0
	return m.read(b, fields{&w.Transition, &w.Place, &w.Reason, &w.Instances})
}

func (m *message) readQueue(b []byte) error {
	w := add(&m.snapshot.Queues, &m.queues)
	w.Priority, w.Ready, w.OldestSince, w.UnservedSince, w.Served, w.QuoteSwitches = 0, 0, 0, 0, 0, 0
	return m.read(b, fields{&w.Priority, &w.Ready, &w.OldestSince, &w.UnservedSince, &w.Served, &w.QuoteSwitches})
}

func (m *message) readRegion(b []byte) error {
	if m.snapshot.RegionState == nil {
		m.snapshot.RegionState = &wire.RegionState{}
	}
	w := m.snapshot.RegionState
	return m.read(b, fields{&w.Position, &w.Standbys, takeNumber(func(lag uint64) { w.Lag = &lag }), &w.Stopped})
}

func (m *message) readRefused(b []byte) error {
	if m.snapshot.RefusedRequests == nil {
		m.snapshot.RefusedRequests = &wire.RefusedRequests{}
	}
	w := m.snapshot.RefusedRequests
	return m.read(b, fields{&w.Tokens, &w.Place, &w.Queue, &w.Size})
}

func (m *message) readStuck(b []byte) error {
	w := add(&m.places.Stuck, &m.stuck)
	w.Place, w.Tokens, w.More, w.Matches = 0, w.Tokens[:0], false, 0
	return m.read(b, fields{&w.Place, takeBytes(func(b []byte) error {
		t := add(&w.Tokens, &m.tokens)
		t.Instance, t.Injected, t.Waits, t.N, t.Data = "", 0, t.Waits[:0], 0, ""
		return m.read(b, fields{&t.Instance, &t.Injected, takeBytes(func(b []byte) error {
			x := add(&t.Waits, &m.waits)
			x.Transition, x.Reason, x.Place, x.Count, x.Until, x.What = 0, 0, 0, 0, 0, ""
			return m.read(b, fields{&x.Transition, &x.Reason, &x.Place, &x.Count, &x.Until, &x.What})
		}), &t.N, &t.Data})
	}), &w.More, &w.Matches})
}

func (m *message) readSlowest(list *[]*wire.Slowest) takeBytes {
	return func(b []byte) error {
		w := add(list, &m.slow)
		w.Row, w.Instance, w.Duration, w.At = 0, "", 0, 0
		return m.read(b, fields{&w.Row, &w.Instance, &w.Duration, &w.At})
	}
}

// read sets the targets of the fields in b, in the order of b.
func (m *message) read(b []byte, into fields) error {
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return protowire.ParseError(n)
		}
		if num > protowire.MaxValidNumber {
			return fmt.Errorf("field number %d", num)
		}
		b = b[n:]
		var target any
		if int(num) <= len(into) {
			target = into[num-1]
		}
		var err error
		switch typ {
		case protowire.VarintType:
			var v uint64
			if v, n = protowire.ConsumeVarint(b); n >= 0 {
				err = setNumber(target, v, b[:n])
			}
		case protowire.BytesType:
			var content []byte
			if content, n = protowire.ConsumeBytes(b); n >= 0 {
				err = m.setBytes(target, content)
			}
		default:
			n = protowire.ConsumeFieldValue(num, typ, b)
		}
		if n < 0 {
			err = protowire.ParseError(n)
		}
		if err != nil {
			return fmt.Errorf("field %d: %w", num, err)
		}
		b = b[n:]
	}
	return nil
}

// setNumber sets a number, which is encoded in b.
func setNumber(target any, v uint64, b []byte) error {
	switch into := target.(type) {
	case *bool:
		*into = v != 0
	case *uint32:
		*into = uint32(v)
	case *uint64:
		*into = v
	case *int64:
		*into = int64(v)
	case *wire.Reason:
		*into = wire.Reason(v)
	case takeNumber:
		into(v)
	default:
		return appendPacked(target, b) // a column that is not packed
	}
	return nil
}

// setBytes sets a text, a packed column or the fields of a message.
func (m *message) setBytes(target any, b []byte) error {
	switch into := target.(type) {
	case *string:
		*into = string(b)
	case *name:
		*into = name(m.shared(b))
	case fields:
		return m.read(b, into)
	case takeBytes:
		return into(b)
	default:
		return appendPacked(target, b)
	}
	return nil
}

// appendPacked appends numbers to a column.
func appendPacked(target any, b []byte) error {
	switch into := target.(type) {
	case *[]uint32:
		return column(b, into)
	case *[]uint64:
		return column(b, into)
	case *[]int64:
		return column(b, into)
	case *zigzag32:
		return differences(b, (*[]int32)(into), math.MaxUint32)
	case *zigzag64:
		return differences(b, (*[]int64)(into), math.MaxUint64)
	}
	return nil
}

// truncate empties the columns.
func (f fields) truncate() {
	for _, target := range f {
		switch column := target.(type) {
		case *[]uint32:
			*column = (*column)[:0]
		case *[]uint64:
			*column = (*column)[:0]
		case *[]int64:
			*column = (*column)[:0]
		case *zigzag32:
			*column = (*column)[:0]
		case *zigzag64:
			*column = (*column)[:0]
		case fields:
			column.truncate()
		}
	}
}

// column appends packed numbers.
func column[T uint32 | uint64 | int64](b []byte, into *[]T) error {
	out := *into
	for len(b) > 0 {
		if b[0] < 0x80 {
			out, b = append(out, T(b[0])), b[1:]
			continue
		}
		v, n := protowire.ConsumeVarint(b)
		if n < 0 {
			return protowire.ParseError(n)
		}
		out, b = append(out, T(v)), b[n:]
	}
	*into = out
	return nil
}

// differences is column for numbers in zigzag form, of which only the bits in mask are used.
func differences[T int32 | int64](b []byte, into *[]T, mask uint64) error {
	out := *into
	for len(b) > 0 {
		v, n := protowire.ConsumeVarint(b)
		if n < 0 {
			return protowire.ParseError(n)
		}
		out, b = append(out, T(protowire.DecodeZigZag(v&mask))), b[n:]
	}
	*into = out
	return nil
}

// shared returns a name as a string, shared by all messages that hold it.
func (m *message) shared(b []byte) string {
	if s, ok := m.names[string(b)]; ok {
		return s
	}
	s := string(b)
	if len(s) <= MaxName {
		if len(m.names) >= maxNames {
			clear(m.names)
		}
		m.names[s] = s
	}
	return s
}
