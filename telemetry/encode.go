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
	message message
	cut     stats.Ladder
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
		out, err = marshal(dst, e.message.snapshot)
	}
	if err != nil {
		return dst, fmt.Errorf("encode snapshot of %q: %w", s.Net, err)
	}
	return out, nil
}

func (e *Encoder) fill(s *Snapshot) error {
	if err := e.check(s); err != nil {
		return err
	}
	e.message.reset()
	m := e.message.snapshot
	m.Source, m.Epoch, m.Seq, m.SentAt, m.Interval = s.Source, s.Epoch, s.Seq, s.SentAt, s.Interval.Microseconds()
	m.Net, m.Digest, m.Region, m.Fence, m.Full, m.Bye = s.Net, s.Digest, s.Region, s.Fence, s.Full, s.Bye
	if len(s.Rows.Places) > 0 {
		m.Places = e.message.places
		if err := e.fillPlaces(s); err != nil {
			return err
		}
	}
	if len(s.Rows.Transitions) > 0 {
		m.Transitions = e.message.transitions
		e.fillTransitions(s)
	}
	if s.Rows.Columns.Has(stats.ColInstances) {
		n := &s.Rows.Net
		m.Row = e.message.row
		m.Row.Created, m.Row.Finished, m.Row.Failed = n.Created, n.Finished, n.Failed
		m.Row.Active, m.Row.Deadlocked = n.Active, n.Deadlocked
	}
	e.fillBlocks(s)
	e.fillQueues(s)
	m.Since, m.RegionState, m.RefusedRequests, m.Remnants = s.Since, regionState(s), refusedRequests(s), s.Remnants.wire()
	return nil
}

// check rejects a snapshot that a Decoder would read differently.
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
	w, rows, c := e.message.places, s.Rows.Places, s.Rows.Columns
	w.Index = append(w.Index, s.PlaceIndex...)
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
	if c.Has(stats.ColDwell) {
		w.Dwell = e.message.dwell
		for i := range rows {
			appendHistogram(w.Dwell, &rows[i].Dwell)
			e.message.addSlowest(&w.Slowest, w.Index, i, &rows[i].Slowest)
		}
	}
	if c.Has(stats.ColStuck) {
		e.fillStuck(s)
	}
	if c.Has(stats.ColAges) {
		w.Ages = e.message.ages
		return e.fillAges(s)
	}
	return nil
}

func (e *Encoder) fillAges(s *Snapshot) error {
	w, at := e.message.ages, s.SentAt/stats.SlotWidth
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
	w := e.message.places
	for i := range s.Rows.Places {
		if tokens := s.Rows.Places[i].Stuck; len(tokens) > 0 {
			w.Stuck = append(w.Stuck, e.message.oldest(rowAt(w.Index, i), tokens))
		}
	}
}

// rowAt returns the index in the net of the i-th row of a table; index is empty
// in a full snapshot.
func rowAt(index []uint32, i int) uint32 {
	if len(index) == 0 {
		return uint32(i)
	}
	return index[i]
}

func (m *message) oldest(place uint32, tokens []stats.Token) *wire.OldestTokens {
	o := m.stuck.next()
	o.Place, o.Tokens, o.More, o.Matches = place, o.Tokens[:0], false, 0
	for _, t := range tokens {
		w := add(&o.Tokens, &m.tokens)
		w.Instance, w.Injected, w.Waits, w.N, w.Data = t.Instance, t.Injected, w.Waits[:0], 0, ""
		for _, x := range t.Waits {
			v := add(&w.Waits, &m.waits)
			v.Transition, v.Reason, v.Place = uint32(x.Transition), wire.Reason(x.Reason), uint32(x.Place+1)
			v.Count, v.Until, v.What = x.Count, x.Until, ""
			if x.What != "" {
				v.What = stats.Clip(x.What, stats.MaxWhat)
			}
		}
	}
	return o
}

func (e *Encoder) fillTransitions(s *Snapshot) {
	w, rows, c := e.message.transitions, s.Rows.Transitions, s.Rows.Columns
	w.Index = append(w.Index, s.TransitionIndex...)
	if c.Has(stats.ColDuration) {
		w.Duration = e.message.duration
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
			e.message.addSlowest(&w.Slowest, w.Index, i, &t.Slowest)
		}
	}
}

func (e *Encoder) fillBlocks(s *Snapshot) {
	if !s.Rows.Columns.Has(stats.ColBlocks) {
		return
	}
	m := &e.message
	for _, b := range s.Rows.Blocks {
		w := add(&m.snapshot.Blocks, &m.blocks)
		w.Transition, w.Place, w.Reason, w.Instances = uint32(b.Transition), uint32(b.Place+1), wire.Reason(b.Reason), b.Instances
	}
}

func (e *Encoder) fillQueues(s *Snapshot) {
	m := &e.message
	if s.Rows.Columns.Has(stats.ColWaiting) {
		m.waiting = s.Rows.Waiting
		m.snapshot.Waiting = &m.waiting
	}
	if !s.Rows.Columns.Has(stats.ColQueues) {
		return
	}
	for _, q := range s.Rows.Queues {
		w := add(&m.snapshot.Queues, &m.queues)
		w.Priority, w.Ready, w.OldestSince, w.UnservedSince = uint32(q.Priority), q.Ready, q.OldestSince, q.UnservedSince
		w.Served, w.QuoteSwitches = q.Served, q.QuoteSwitches
	}
}

// addSlowest adds the slowest token or firing of the i-th row of a table, if
// there is one. index is that of the table, empty in a full snapshot.
func (m *message) addSlowest(list *[]*wire.Slowest, index []uint32, i int, s *stats.Slowest) {
	if s.At == 0 {
		return
	}
	w := add(list, &m.slow)
	w.Row, w.Instance, w.Duration, w.At = rowAt(index, i), s.Instance, uint64(s.Micros), s.At
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
