// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"encoding/binary"
	"time"

	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/pnagent/pnagent/stats"
)

// memory remembers where each counter stood, so that only what it rose by is
// counted. A counter that began anew, because its process did, counts from
// zero; one that vanishes takes nothing along; one that is there at the first
// scrape counts from there on, because what it was before may have been counted
// by whoever scraped before.
type memory struct {
	first     bool // scrape of the target
	restarted bool // the target is another process than before
	scrape    uint64
	numbers   map[string]*standing
	key       []byte // reused
	heard     int    // series of this scrape
}

// standing is where one counter stood.
type standing struct {
	scrape  uint64
	value   float64
	count   uint64 // of value, as a whole number: rises are differences of these
	hist    stats.Histogram
	created int64
}

// seriesKey names one use of a series: two columns may read the same one.
type seriesKey struct {
	net      int
	table    table
	row      int
	column   column
	selector int
}

// spareSeries is how many counters that vanished are remembered, beside as many
// as there are.
const spareSeries = 10_000

func newMemory() memory { return memory{numbers: map[string]*standing{}} }

func (m *memory) begin(first, restarted bool) {
	m.first, m.restarted, m.heard = first, restarted, 0
	m.scrape++
}

// end forgets counters that vanished once there are too many of them.
func (m *memory) end() {
	if len(m.numbers) <= 2*m.heard+spareSeries {
		return
	}
	for k, s := range m.numbers {
		if s.scrape != m.scrape {
			delete(m.numbers, k)
		}
	}
}

// at returns where a counter stood, and whether it is new or began anew.
func (m *memory) at(k seriesKey, series *dto.Metric, created *timestamppb.Timestamp) (s *standing, isNew, anew bool) {
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
		s = &standing{}
		m.numbers[string(m.key)] = s
	}
	since := int64(0)
	if created != nil {
		since = created.AsTime().UnixMicro()
	}
	anew = !isNew && (m.restarted || s.created != 0 && since > s.created+time.Second.Microseconds())
	if s.scrape != m.scrape {
		m.heard++
	}
	s.scrape, s.created = m.scrape, since
	return s, isNew, anew
}

// rise returns what a counter rose by, and whether it began anew.
func (m *memory) rise(k seriesKey, series *dto.Metric, x float64) (by uint64, anew bool) {
	s, isNew, anew := m.at(k, series, series.GetCounter().GetCreatedTimestamp())
	was := s.count
	anew = anew || !isNew && x < s.value
	s.value, s.count = x, uint64(x)
	switch {
	case isNew && m.first:
		return 0, false
	case isNew || anew:
		return s.count, anew
	}
	return s.count - was, false
}

// riseOf is rise for a histogram, bucket by bucket.
func (m *memory) riseOf(k seriesKey, series *dto.Metric, h stats.Histogram) (by stats.Histogram, anew bool) {
	s, isNew, anew := m.at(k, series, series.GetHistogram().GetCreatedTimestamp())
	was := s.hist
	s.hist = h
	switch {
	case isNew && m.first:
		return stats.Histogram{}, false
	case isNew || anew:
		return h, anew
	}
	if rise, ok := difference(&h, &was); ok {
		return rise, false
	}
	return h, true
}
