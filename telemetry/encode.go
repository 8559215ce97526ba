// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry/wire"
)

// Encoder encodes snapshots. It reuses its buffers; the zero Encoder is ready.
// It is for one goroutine.
type Encoder struct {
	msg    *wire.Snapshot // one message, filled for each snapshot
	places *wire.Places
	trans  *wire.Transitions
	ages   *wire.Ladder
	dwell  *wire.Histogram
	dur    *wire.Histogram
	row    *wire.NetRow

	stuck  pool[wire.OldestTokens]
	tokens pool[wire.Token]
	slow   pool[wire.Slowest]
	waits  pool[wire.Wait]
	blocks pool[wire.Block]
	queues pool[wire.Queue]
	cut    stats.Ladder
	work   uint64 // Waiting points to it
}

// Append appends the snapshot's protobuf form to dst.
func (e *Encoder) Append(dst []byte, s *Snapshot) ([]byte, error) {
	return e.append(dst, s, proto.MarshalOptions{}.MarshalAppend)
}

// AppendJSON appends the snapshot's form in the JSON lane to dst.
func (e *Encoder) AppendJSON(dst []byte, s *Snapshot) ([]byte, error) {
	return e.append(dst, s, protojson.MarshalOptions{UseProtoNames: true}.MarshalAppend)
}

func (e *Encoder) append(dst []byte, s *Snapshot, marshal func([]byte, proto.Message) ([]byte, error)) ([]byte, error) {
	out, err := dst, e.fill(s)
	if err == nil {
		out, err = marshal(dst, e.msg)
	}
	if err != nil {
		return dst, fmt.Errorf("encode snapshot of %q: %w", s.Net, err)
	}
	return out, nil
}

func (e *Encoder) fill(s *Snapshot) error {
	if e.msg == nil {
		e.msg, e.places, e.trans, e.row = &wire.Snapshot{}, &wire.Places{}, &wire.Transitions{}, &wire.NetRow{}
		e.ages, e.dwell, e.dur = &wire.Ladder{}, &wire.Histogram{}, &wire.Histogram{}
	}
	if err := e.check(s); err != nil {
		return err
	}
	m := e.msg
	m.Source, m.Epoch, m.Seq, m.SentAt, m.Interval = s.Source, s.Epoch, s.Seq, s.SentAt, s.Interval.Microseconds()
	m.Net, m.Digest, m.Region, m.Fence, m.Full, m.Bye = s.Net, s.Digest, s.Region, s.Fence, s.Full, s.Bye
	m.Places, m.Transitions, m.Row = nil, nil, nil
	e.stuck.n, e.tokens.n, e.slow.n, e.waits.n, e.blocks.n, e.queues.n = 0, 0, 0, 0, 0, 0
	if len(s.Rows.Places) > 0 {
		m.Places = e.places
		if err := e.fillPlaces(s); err != nil {
			return err
		}
	}
	if len(s.Rows.Transitions) > 0 {
		m.Transitions = e.trans
		e.fillTransitions(s)
	}
	if s.Rows.Columns.Has(stats.ColInstances) {
		n := &s.Rows.Net
		m.Row = e.row
		m.Row.Created, m.Row.Finished, m.Row.Failed = n.Created, n.Finished, n.Failed
		m.Row.Active, m.Row.Deadlocked = n.Active, n.Deadlocked
	}
	e.fillBlocks(s)
	e.fillQueues(s)
	m.Since, m.RegionState = s.Since, regionState(s)
	return nil
}

// check rejects a snapshot that a Decoder would read as something else.
func (e *Encoder) check(s *Snapshot) error {
	places, transitions := len(s.Rows.Places), len(s.Rows.Transitions)
	switch {
	case places > MaxRows || transitions > MaxRows:
		return fmt.Errorf("%w: %d places and %d transitions, of at most %d", TooMany, places, transitions, MaxRows)
	case s.Full && (len(s.PlaceIndex) > 0 || len(s.TransitionIndex) > 0):
		return fmt.Errorf("%w: a full snapshot has no index", BadIndex)
	case !s.Full && (len(s.PlaceIndex) != places || len(s.TransitionIndex) != transitions):
		return fmt.Errorf("%w: %d places and %d transitions with an index of %d and %d",
			BadIndex, places, transitions, len(s.PlaceIndex), len(s.TransitionIndex))
	case s.Full && places > 0 && s.Rows.Columns&placeColumns == stats.ColStuck:
		return fmt.Errorf("%w: stuck tokens alone do not give the number of places", BadColumns)
	case !stats.ValidQueues(s.Rows.Queues):
		return fmt.Errorf("%w: priorities of queues rise and are below %d", BadIndex, stats.Priorities)
	}
	return checkRegion(s)
}

func (e *Encoder) fillPlaces(s *Snapshot) error {
	w, rows, c := e.places, s.Rows.Places, s.Rows.Columns
	w.Index = append(w.Index[:0], s.PlaceIndex...)
	w.Tokens, w.Arrivals, w.Departures, w.Instances = w.Tokens[:0], w.Arrivals[:0], w.Departures[:0], w.Instances[:0]
	w.Oldest, w.LastInjection = w.Oldest[:0], w.LastInjection[:0]
	w.InjectedS, w.InjectedUs = w.InjectedS[:0], w.InjectedUs[:0]
	for i := range rows {
		p := &rows[i]
		if c.Has(stats.ColTokens) {
			w.Tokens = append(w.Tokens, p.Tokens)
		}
		if c.Has(stats.ColArrivals) {
			w.Arrivals = append(w.Arrivals, p.Arrivals)
		}
		if c.Has(stats.ColDepartures) {
			w.Departures = append(w.Departures, p.Departures)
		}
		if c.Has(stats.ColPlaceInstances) {
			w.Instances = append(w.Instances, p.Instances)
		}
		if c.Has(stats.ColOldest) {
			w.Oldest = append(w.Oldest, p.Oldest)
			w.LastInjection = append(w.LastInjection, p.LastInjection)
			w.InjectedS = append(w.InjectedS, p.Injected.Sec)
			w.InjectedUs = append(w.InjectedUs, p.Injected.Micro)
		}
	}
	w.Dwell, w.Slowest = nil, w.Slowest[:0]
	if c.Has(stats.ColDwell) {
		w.Dwell = e.dwell
		truncateHistogram(w.Dwell)
		for i := range rows {
			appendHistogram(w.Dwell, &rows[i].Dwell)
			w.Slowest = e.appendSlowest(w.Slowest, w.Index, i, &rows[i].Slowest)
		}
	}
	e.fillStuck(s)
	return e.fillAges(s)
}

func (e *Encoder) fillAges(s *Snapshot) error {
	e.places.Ages = nil
	if !s.Rows.Columns.Has(stats.ColAges) {
		return nil
	}
	w := e.ages
	e.places.Ages = w
	w.Len, w.Start, w.Count = w.Len[:0], w.Start[:0], w.Count[:0]
	at := s.SentAt / stats.SlotWidth
	for i := range s.Rows.Places {
		l := &s.Rows.Places[i].Ages
		if len(l.Slots) > 0 && l.At > at {
			return fmt.Errorf("%w: age ladder %d cut for a time after sent_at", BadValue, i)
		}
		if l.At < at {
			l.CutFor(at, &e.cut)
			l = &e.cut
		}
		prev := int64(0)
		for _, slot := range l.Slots {
			w.Start = append(w.Start, slot.Start-prev)
			w.Count = append(w.Count, slot.N)
			prev = slot.Start
		}
		w.Len = append(w.Len, uint32(len(l.Slots)))
	}
	return nil
}

func (e *Encoder) fillStuck(s *Snapshot) {
	w := e.places
	w.Stuck = w.Stuck[:0]
	if !s.Rows.Columns.Has(stats.ColStuck) {
		return
	}
	for i := range s.Rows.Places {
		tokens := s.Rows.Places[i].Stuck
		if len(tokens) == 0 {
			continue
		}
		place := uint32(i)
		if !s.Full {
			place = s.PlaceIndex[i]
		}
		w.Stuck = append(w.Stuck, e.oldest(place, tokens))
	}
}

func (e *Encoder) oldest(place uint32, tokens []stats.Token) *wire.OldestTokens {
	o := e.stuck.next()
	o.Place, o.Tokens = place, o.Tokens[:0]
	for _, t := range tokens {
		o.Tokens = append(o.Tokens, e.token(t))
	}
	return o
}

func (e *Encoder) token(t stats.Token) *wire.Token {
	w := e.tokens.next()
	w.Instance, w.Injected, w.Waits = t.Instance, t.Injected, w.Waits[:0]
	for _, x := range t.Waits {
		v := e.waits.next()
		v.Transition, v.Reason, v.Place = uint32(x.Transition), wire.Reason(x.Reason), uint32(x.Place+1)
		v.Count, v.Until = x.Count, x.Until
		w.Waits = append(w.Waits, v)
	}
	return w
}

func (e *Encoder) fillTransitions(s *Snapshot) {
	w, rows, c := e.trans, s.Rows.Transitions, s.Rows.Columns
	w.Index = append(w.Index[:0], s.TransitionIndex...)
	w.Firings, w.Failures, w.Retries, w.Cancels = w.Firings[:0], w.Failures[:0], w.Retries[:0], w.Cancels[:0]
	w.Enabled, w.EnabledSince = w.Enabled[:0], w.EnabledSince[:0]
	w.Running, w.RunningSince, w.LastFiring = w.Running[:0], w.RunningSince[:0], w.LastFiring[:0]
	w.Timeouts, w.Late = w.Timeouts[:0], w.Late[:0]
	w.Duration, w.Slowest = nil, w.Slowest[:0]
	if c.Has(stats.ColDuration) {
		w.Duration = e.dur
		truncateHistogram(w.Duration)
	}
	for i := range rows {
		t := &rows[i]
		if c.Has(stats.ColFirings) {
			w.Firings = append(w.Firings, t.Firings)
		}
		if c.Has(stats.ColFailures) {
			w.Failures = append(w.Failures, t.Failures)
			w.Retries = append(w.Retries, t.Retries)
			w.Cancels = append(w.Cancels, t.Cancels)
		}
		if c.Has(stats.ColTimeouts) {
			w.Timeouts = append(w.Timeouts, t.Timeouts)
			w.Late = append(w.Late, t.Late)
		}
		if c.Has(stats.ColEnabled) {
			w.Enabled = append(w.Enabled, t.Enabled)
			w.EnabledSince = append(w.EnabledSince, t.EnabledSince)
		}
		if c.Has(stats.ColRunning) {
			w.Running = append(w.Running, t.Running)
			w.RunningSince = append(w.RunningSince, t.RunningSince)
		}
		if c.Has(stats.ColLastFiring) {
			w.LastFiring = append(w.LastFiring, t.LastFiring)
		}
		if c.Has(stats.ColDuration) {
			appendHistogram(w.Duration, &t.Duration)
			w.Slowest = e.appendSlowest(w.Slowest, w.Index, i, &t.Slowest)
		}
	}
}

func (e *Encoder) fillBlocks(s *Snapshot) {
	e.msg.Blocks = e.msg.Blocks[:0]
	if !s.Rows.Columns.Has(stats.ColBlocks) {
		return
	}
	for _, b := range s.Rows.Blocks {
		w := e.blocks.next()
		w.Transition, w.Place, w.Reason, w.Instances = uint32(b.Transition), uint32(b.Place+1), wire.Reason(b.Reason), b.Instances
		e.msg.Blocks = append(e.msg.Blocks, w)
	}
}

func (e *Encoder) fillQueues(s *Snapshot) {
	m := e.msg
	m.Queues, m.Waiting = m.Queues[:0], nil
	if s.Rows.Columns.Has(stats.ColWaiting) {
		e.work = s.Rows.Waiting
		m.Waiting = &e.work
	}
	if !s.Rows.Columns.Has(stats.ColQueues) {
		return
	}
	for _, q := range s.Rows.Queues {
		w := e.queues.next()
		w.Priority, w.Ready, w.OldestSince, w.UnservedSince = uint32(q.Priority), q.Ready, q.OldestSince, q.UnservedSince
		w.Served, w.QuoteSwitches = q.Served, q.QuoteSwitches
		m.Queues = append(m.Queues, w)
	}
}

// appendSlowest appends the slowest token or firing of the i-th row of a table,
// if there is one. index is that of the table, empty in a full snapshot.
func (e *Encoder) appendSlowest(list []*wire.Slowest, index []uint32, i int, s *stats.Slowest) []*wire.Slowest {
	if s.At == 0 {
		return list
	}
	w := e.slow.next()
	w.Row, w.Instance, w.Duration, w.At = uint32(i), s.Instance, uint64(s.Micros), s.At
	if len(index) > 0 {
		w.Row = index[i]
	}
	return append(list, w)
}

func truncateHistogram(w *wire.Histogram) {
	w.Schema, w.Zero, w.Sum, w.Len = w.Schema[:0], w.Zero[:0], w.Sum[:0], w.Len[:0]
	w.Index, w.Count = w.Index[:0], w.Count[:0]
}

func appendHistogram(w *wire.Histogram, h *stats.Histogram) {
	w.Schema = append(w.Schema, int32(h.Schema))
	w.Zero = append(w.Zero, h.Zero)
	w.Sum = append(w.Sum, h.Sum)
	w.Len = append(w.Len, uint32(len(h.Buckets)))
	prev := int32(0)
	for _, b := range h.Buckets {
		w.Index = append(w.Index, b.Index-prev)
		w.Count = append(w.Count, b.N)
		prev = b.Index
	}
}

// pool returns messages that were used for an earlier snapshot.
type pool[T any] struct {
	all []*T
	n   int
}

func (p *pool[T]) next() *T {
	if p.n == len(p.all) {
		p.all = append(p.all, new(T))
	}
	p.n++
	return p.all[p.n-1]
}
