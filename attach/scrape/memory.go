// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"encoding/binary"
	"time"

	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/pnagent/pnagent/stats"
)

// memory keeps the last value of each counter, so that only its rise is added.
// A counter that was reset, because its process restarted, counts from zero. A
// counter that vanishes changes nothing. A counter in the first scrape counts
// from there on, because an earlier adapter may have published its value.
type memory struct {
	first     bool // this is the first scrape of the target
	restarted bool // the target's process has restarted since the last scrape
	scrape    uint64
	numbers   map[string]*lastValue
	key       []byte // reused
	series    int    // series of this scrape
}

// lastValue is the last value of one counter.
type lastValue struct {
	scrape  uint64
	value   float64
	count   uint64 // value as a whole number: rises are differences of these
	hist    stats.Histogram
	created int64
}

// seriesKey identifies one use of a series: two columns may read the same one.
type seriesKey struct {
	net      int
	table    table
	row      int
	column   column
	selector int
}

// spareSeries bounds the vanished counters that are kept, beyond the number of present ones.
const spareSeries = 10_000

func (m *memory) begin(first, restarted bool) {
	m.first, m.restarted, m.series = first, restarted, 0
	m.scrape++
}

// end drops vanished counters once there are too many.
func (m *memory) end() {
	if len(m.numbers) <= 2*m.series+spareSeries {
		return
	}
	for k, s := range m.numbers {
		if s.scrape != m.scrape {
			delete(m.numbers, k)
		}
	}
}

// at returns the last value of a counter, and whether it is new or was reset.
func (m *memory) at(k seriesKey, series *dto.Metric, created *timestamppb.Timestamp) (s *lastValue, isNew, reset bool) {
	m.key = binary.AppendUvarint(m.key[:0], uint64(k.net))
	m.key = append(m.key, byte(k.table), byte(k.column))
	m.key = binary.AppendUvarint(binary.AppendUvarint(m.key, uint64(k.row)), uint64(k.selector))
	for _, l := range series.Label {
		m.key = binary.AppendUvarint(m.key, uint64(len(l.GetName())))
		m.key = append(m.key, l.GetName()...)
		m.key = binary.AppendUvarint(m.key, uint64(len(l.GetValue())))
		m.key = append(m.key, l.GetValue()...)
	}
	s = m.numbers[string(m.key)]
	if isNew = s == nil; isNew {
		s = &lastValue{}
		m.numbers[string(m.key)] = s
	}
	since := int64(0)
	if created != nil {
		since = created.AsTime().UnixMicro()
	}
	reset = !isNew && (m.restarted || s.created != 0 && since > s.created+time.Second.Microseconds())
	if s.scrape != m.scrape {
		m.series++
	}
	s.scrape, s.created = m.scrape, since
	return s, isNew, reset
}

// rise returns the rise of a counter, and whether it was reset.
func (m *memory) rise(k seriesKey, series *dto.Metric, x float64) (by uint64, reset bool) {
	s, isNew, reset := m.at(k, series, series.GetCounter().GetCreatedTimestamp())
	was := s.count
	reset = reset || !isNew && x < s.value
	s.value, s.count = x, uint64(x)
	switch {
	case isNew && m.first:
		return 0, false
	case isNew || reset:
		return s.count, reset
	}
	return s.count - was, false
}

// riseOf returns the rise of a histogram, by bucket, and whether it was reset.
func (m *memory) riseOf(k seriesKey, series *dto.Metric, h stats.Histogram) (by stats.Histogram, reset bool) {
	s, isNew, reset := m.at(k, series, series.GetHistogram().GetCreatedTimestamp())
	was := s.hist
	s.hist = h
	switch {
	case isNew && m.first:
		return stats.Histogram{}, false
	case isNew || reset:
		return h, reset
	}
	if rise, ok := h.Minus(&was); ok {
		return rise, false
	}
	return h, true
}
