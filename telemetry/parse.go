// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/pnagent/pnagent/telemetry/wire"
)

// maxNames bounds the names that a parser keeps so that messages of one source share strings.
const maxNames = 4096

// parser parses the protobuf form of a snapshot into the generated type and
// reuses the memory. A test compares it with proto.Unmarshal, which allocates
// every packed column and takes twice the time.
type parser struct {
	msg    *wire.Snapshot
	stuck  pool[wire.OldestTokens]
	tokens pool[wire.Token]
	waits  pool[wire.Wait]
	slow   pool[wire.Slowest]
	blocks pool[wire.Block]
	queues pool[wire.Queue]
	work   uint64 // Waiting points to it
	names  map[string]string
}

func newParser() *parser {
	return &parser{names: map[string]string{}, msg: &wire.Snapshot{
		Places:      &wire.Places{Ages: &wire.Ladder{}, Dwell: &wire.Histogram{}},
		Transitions: &wire.Transitions{Duration: &wire.Histogram{}},
	}}
}

// parse returns the message, which is valid until the next call. Names are not checked to be UTF-8.
func (p *parser) parse(b []byte) (*wire.Snapshot, error) {
	p.reset()
	if err := eachField(b, p.snapshot); err != nil {
		return nil, err
	}
	return p.msg, nil
}

// field is one field of a message: a varint, or bytes.
type field struct {
	num    protowire.Number
	packed bool // bytes is set, else varint
	varint uint64
	bytes  []byte
}

// eachField calls take for every field of a message, in order. Fields of wire
// types that snapshots do not use have the number 0.
func eachField(b []byte, take func(f field) error) error {
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return protowire.ParseError(n)
		}
		if num > protowire.MaxValidNumber {
			return fmt.Errorf("field number %d", num)
		}
		b = b[n:]
		f := field{num: num}
		switch typ {
		case protowire.VarintType:
			f.varint, n = protowire.ConsumeVarint(b)
		case protowire.BytesType:
			f.packed = true
			f.bytes, n = protowire.ConsumeBytes(b)
		default:
			f.num = 0 // no field of a snapshot
			n = protowire.ConsumeFieldValue(num, typ, b)
		}
		if n < 0 {
			return fmt.Errorf("field %d: %w", num, protowire.ParseError(n))
		}
		b = b[n:]
		if err := take(f); err != nil {
			return fmt.Errorf("field %d: %w", num, err)
		}
	}
	return nil
}

// snapshot takes a field of wire.Snapshot. Here and below, a field of another
// wire type is ignored as an unknown field.
func (p *parser) snapshot(f field) error {
	m := p.msg
	if !f.packed {
		switch v := f.varint; f.num {
		case 2:
			m.Epoch = int64(v)
		case 3:
			m.Seq = v
		case 4:
			m.SentAt = int64(v)
		case 5:
			m.Interval = int64(v)
		case 9:
			m.Fence = v
		case 10:
			m.Full = v != 0
		case 15:
			m.Bye = v != 0
		case 17:
			p.work = v
			m.Waiting = &p.work
		case 18:
			m.Since = int64(v)
		}
		return nil
	}
	switch f.num {
	case 1:
		m.Source = p.name(f.bytes)
	case 6:
		m.Net = p.name(f.bytes)
	case 7:
		m.Digest = p.name(f.bytes)
	case 8:
		m.Region = p.name(f.bytes)
	case 11:
		return eachField(f.bytes, p.places)
	case 12:
		return eachField(f.bytes, p.transitions)
	case 13:
		if m.Row == nil {
			m.Row = &wire.NetRow{}
		}
		return eachField(f.bytes, p.row)
	case 14:
		w := p.blocks.next()
		w.Transition, w.Place, w.Reason, w.Instances = 0, 0, 0, 0
		m.Blocks = append(m.Blocks, w)
		return eachField(f.bytes, func(f field) error { return takeBlock(w, f) })
	case 16:
		w := p.queues.next()
		w.Priority, w.Ready, w.OldestSince, w.UnservedSince, w.Served, w.QuoteSwitches = 0, 0, 0, 0, 0, 0
		m.Queues = append(m.Queues, w)
		return eachField(f.bytes, func(f field) error { return takeQueue(w, f) })
	case 19:
		if m.RegionState == nil {
			m.RegionState = &wire.RegionState{}
		}
		return eachField(f.bytes, func(f field) error { return takeRegion(m.RegionState, f) })
	}
	return nil
}

func (p *parser) places(f field) error {
	switch w := p.msg.Places; f.num {
	case 1:
		return column(f, &w.Index)
	case 2:
		return column(f, &w.Tokens)
	case 3:
		return column(f, &w.Arrivals)
	case 4:
		return column(f, &w.Departures)
	case 5:
		return column(f, &w.Instances)
	case 6:
		return column(f, &w.Oldest)
	case 7:
		return column(f, &w.LastInjection)
	case 8:
		return column(f, &w.InjectedS)
	case 9:
		return column(f, &w.InjectedUs)
	case 10:
		return message(f, func(f field) error { return takeLadder(w.Ages, f) })
	case 11:
		return message(f, func(f field) error { return takeHistogram(w.Dwell, f) })
	case 12:
		return p.oldest(f)
	case 13:
		return p.slowest(f, &w.Slowest)
	}
	return nil
}

func (p *parser) transitions(f field) error {
	switch w := p.msg.Transitions; f.num {
	case 1:
		return column(f, &w.Index)
	case 2:
		return column(f, &w.Firings)
	case 3:
		return column(f, &w.Failures)
	case 4:
		return column(f, &w.Retries)
	case 5:
		return column(f, &w.Cancels)
	case 6:
		return column(f, &w.Enabled)
	case 7:
		return column(f, &w.EnabledSince)
	case 8:
		return column(f, &w.Running)
	case 9:
		return column(f, &w.RunningSince)
	case 10:
		return column(f, &w.LastFiring)
	case 11:
		return message(f, func(f field) error { return takeHistogram(w.Duration, f) })
	case 12:
		return column(f, &w.Timeouts)
	case 13:
		return column(f, &w.Late)
	case 14:
		return p.slowest(f, &w.Slowest)
	}
	return nil
}

func (p *parser) row(f field) error {
	if f.packed {
		return nil
	}
	switch w := p.msg.Row; f.num {
	case 1:
		w.Created = f.varint
	case 2:
		w.Finished = f.varint
	case 3:
		w.Failed = f.varint
	case 4:
		w.Active = f.varint
	case 5:
		w.Deadlocked = f.varint
	}
	return nil
}

func takeBlock(w *wire.Block, f field) error {
	if f.packed {
		return nil
	}
	switch f.num {
	case 1:
		w.Transition = uint32(f.varint)
	case 2:
		w.Place = uint32(f.varint)
	case 3:
		w.Reason = wire.Reason(f.varint)
	case 4:
		w.Instances = f.varint
	}
	return nil
}

func takeQueue(w *wire.Queue, f field) error {
	if f.packed {
		return nil
	}
	switch f.num {
	case 1:
		w.Priority = uint32(f.varint)
	case 2:
		w.Ready = f.varint
	case 3:
		w.OldestSince = int64(f.varint)
	case 4:
		w.UnservedSince = int64(f.varint)
	case 5:
		w.Served = f.varint
	case 6:
		w.QuoteSwitches = f.varint
	}
	return nil
}

func takeRegion(w *wire.RegionState, f field) error {
	if f.packed {
		if f.num == 4 {
			w.Stopped = string(f.bytes)
		}
		return nil
	}
	switch f.num {
	case 1:
		w.Position = f.varint
	case 2:
		w.Standbys = uint32(f.varint)
	case 3:
		w.Lag = &f.varint
	}
	return nil
}

func takeLadder(w *wire.Ladder, f field) error {
	switch f.num {
	case 1:
		return column(f, &w.Len)
	case 2:
		return differences(f, &w.Start, math.MaxUint64)
	case 3:
		return column(f, &w.Count)
	}
	return nil
}

func takeHistogram(w *wire.Histogram, f field) error {
	switch f.num {
	case 1:
		return differences(f, &w.Schema, math.MaxUint32)
	case 2:
		return column(f, &w.Zero)
	case 3:
		return column(f, &w.Sum)
	case 4:
		return column(f, &w.Len)
	case 5:
		return differences(f, &w.Index, math.MaxUint32)
	case 6:
		return column(f, &w.Count)
	}
	return nil
}

func (p *parser) oldest(f field) error {
	if !f.packed {
		return nil
	}
	w := p.stuck.next()
	w.Place, w.Tokens = 0, w.Tokens[:0]
	p.msg.Places.Stuck = append(p.msg.Places.Stuck, w)
	return eachField(f.bytes, func(f field) error {
		switch {
		case f.num == 1 && !f.packed:
			w.Place = uint32(f.varint)
		case f.num == 2 && f.packed:
			t := p.tokens.next()
			t.Instance, t.Injected, t.Waits = "", 0, t.Waits[:0]
			w.Tokens = append(w.Tokens, t)
			return eachField(f.bytes, func(f field) error { return p.token(t, f) })
		}
		return nil
	})
}

func (p *parser) token(w *wire.Token, f field) error {
	switch {
	case f.num == 1 && f.packed:
		w.Instance = string(f.bytes)
	case f.num == 2 && !f.packed:
		w.Injected = int64(f.varint)
	case f.num == 3 && f.packed:
		x := p.waits.next()
		x.Transition, x.Reason, x.Place, x.Count, x.Until = 0, 0, 0, 0, 0
		w.Waits = append(w.Waits, x)
		return eachField(f.bytes, func(f field) error { return takeWait(x, f) })
	}
	return nil
}

func takeWait(w *wire.Wait, f field) error {
	if f.packed {
		return nil
	}
	switch f.num {
	case 1:
		w.Transition = uint32(f.varint)
	case 2:
		w.Reason = wire.Reason(f.varint)
	case 3:
		w.Place = uint32(f.varint)
	case 4:
		w.Count = uint32(f.varint)
	case 5:
		w.Until = int64(f.varint)
	}
	return nil
}

// slowest appends a message of a repeated field.
func (p *parser) slowest(f field, into *[]*wire.Slowest) error {
	if !f.packed {
		return nil
	}
	w := p.slow.next()
	w.Row, w.Instance, w.Duration, w.At = 0, "", 0, 0
	*into = append(*into, w)
	return eachField(f.bytes, func(f field) error {
		switch {
		case f.num == 1 && !f.packed:
			w.Row = uint32(f.varint)
		case f.num == 2 && f.packed:
			w.Instance = string(f.bytes)
		case f.num == 3 && !f.packed:
			w.Duration = f.varint
		case f.num == 4 && !f.packed:
			w.At = int64(f.varint)
		}
		return nil
	})
}

// message takes the fields of a message in a field.
func message(f field, take func(field) error) error {
	if !f.packed {
		return nil
	}
	return eachField(f.bytes, take)
}

// column appends a repeated number, packed or not.
func column[T uint32 | uint64 | int64](f field, into *[]T) error {
	if !f.packed {
		*into = append(*into, T(f.varint))
		return nil
	}
	out := *into
	for b := f.bytes; len(b) > 0; {
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
func differences[T int32 | int64](f field, into *[]T, mask uint64) error {
	if !f.packed {
		*into = append(*into, T(protowire.DecodeZigZag(f.varint&mask)))
		return nil
	}
	out := *into
	for b := f.bytes; len(b) > 0; {
		v, n := protowire.ConsumeVarint(b)
		if n < 0 {
			return protowire.ParseError(n)
		}
		out, b = append(out, T(protowire.DecodeZigZag(v&mask))), b[n:]
	}
	*into = out
	return nil
}

// name returns a name as a string, shared by all messages that hold it.
func (p *parser) name(b []byte) string {
	if s, ok := p.names[string(b)]; ok {
		return s
	}
	s := string(b)
	if len(s) <= MaxName {
		if len(p.names) >= maxNames {
			clear(p.names)
		}
		p.names[s] = s
	}
	return s
}

// reset empties the message, keeping its columns' memory. An absent table and
// an empty one are the same.
func (p *parser) reset() {
	m := p.msg
	m.Source, m.Net, m.Digest, m.Region = "", "", "", ""
	m.Epoch, m.Seq, m.SentAt, m.Interval, m.Fence, m.Since = 0, 0, 0, 0, 0, 0
	m.Full, m.Bye, m.Row, m.Blocks = false, false, nil, m.Blocks[:0]
	m.Queues, m.Waiting, m.RegionState = m.Queues[:0], nil, nil
	p.stuck.n, p.tokens.n, p.slow.n, p.waits.n, p.blocks.n, p.queues.n = 0, 0, 0, 0, 0, 0

	w := m.Places
	w.Index, w.Tokens, w.Arrivals, w.Departures = w.Index[:0], w.Tokens[:0], w.Arrivals[:0], w.Departures[:0]
	w.Instances, w.Oldest, w.LastInjection = w.Instances[:0], w.Oldest[:0], w.LastInjection[:0]
	w.InjectedS, w.InjectedUs, w.Stuck, w.Slowest = w.InjectedS[:0], w.InjectedUs[:0], w.Stuck[:0], w.Slowest[:0]
	w.Ages.Len, w.Ages.Start, w.Ages.Count = w.Ages.Len[:0], w.Ages.Start[:0], w.Ages.Count[:0]
	truncateHistogram(w.Dwell)

	t := m.Transitions
	t.Index, t.Firings, t.Failures, t.Retries, t.Cancels = t.Index[:0], t.Firings[:0], t.Failures[:0], t.Retries[:0], t.Cancels[:0]
	t.Enabled, t.EnabledSince, t.Running = t.Enabled[:0], t.EnabledSince[:0], t.Running[:0]
	t.RunningSince, t.LastFiring = t.RunningSince[:0], t.LastFiring[:0]
	t.Timeouts, t.Late, t.Slowest = t.Timeouts[:0], t.Late[:0], t.Slowest[:0]
	truncateHistogram(t.Duration)
}
