// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"slices"

	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/stats"
)

// scrape is one reading of a View. The functions of the families read from it, and
// put series into it.
type scrape struct {
	now     int64       // microseconds since the Unix epoch
	view    *merge.View // nil before the first
	fixed   *fixedLabels
	build   []*dto.LabelPair
	nets    []*netSeries
	refused uint64

	answered   *size   // nil before the first answer
	reloaded   float64 // 1 if the last reload went well
	reloadedAt int64

	alarmCounters *alarm.Counters // nil if there are none
	alarmsKnown   bool            // no alarm is missing
	everything    bool            // the scrape has all nets and the sidecar

	*netSeries // of the current net; nil for the sidecar's families
	typ        Type
	since      *timestamppb.Timestamp // created timestamp of counters; nil if unknown
	out        *series
	queued     []*dto.LabelPair // scratch of priorities
	text       *textForm        // nil if the series become messages
}

// netSeries is the state of one net between scrapes.
type netSeries struct {
	name          string
	net           *merge.NetView  // nil if the View has only its sources
	sources       []*merge.Source // of this net
	alarms        []shownAlarm
	alarmsMissing bool  // they do not fit into the budget
	resting       []int // places in which tokens may stay
	labels        *netLabels
	created       *timestamppb.Timestamp
	series        []series       // by family
	text          [2][]textBlock // by textForm.open and family; nil before the first scrape
	version       uint64         // another one when what families of rows read has changed
	dropped       uint64
}

// series are the kept series of one family of one net. The first n are those of
// the last reading; the rest are for reuse.
type series struct {
	kept      []*dto.Metric
	exemplars []*exemplar // of kept; nil for a series that never had one
	n         int
	version   uint64 // netSeries.version of the last reading
}

// put adds a series of a gauge or counter family with the given labels.
func (s *scrape) put(value float64, labels ...*dto.LabelPair) {
	if s.text != nil {
		s.text.sample(value, s.since, labels)
		return
	}
	m := s.next(labels)
	if s.typ == Gauge {
		*m.Gauge.Value = value
		return
	}
	*m.Counter.Value = value
	m.Counter.CreatedTimestamp = s.since
}

// putHistogram adds a series of a histogram family, with its slowest instance.
func (s *scrape) putHistogram(h *stats.Histogram, slowest *stats.Slowest, labels ...*dto.LabelPair) {
	if s.text != nil {
		s.text.histogram(h, slowest, s.since, labels)
		return
	}
	m := s.next(labels)
	fillHistogram(m.Histogram, h)
	if slowest.At != 0 {
		x := s.out.exemplar()
		x.fill(slowest)
		exemplify(m.Histogram, x)
	}
	m.Histogram.CreatedTimestamp = s.since
}

// exemplar returns the exemplar of the last series that was put.
func (s *series) exemplar() *exemplar {
	for len(s.exemplars) < s.n {
		s.exemplars = append(s.exemplars, nil)
	}
	if s.exemplars[s.n-1] == nil {
		s.exemplars[s.n-1] = newExemplar()
	}
	return s.exemplars[s.n-1]
}

// next returns the next series to write, with its labels.
func (s *scrape) next(labels []*dto.LabelPair) *dto.Metric {
	if s.out.n == len(s.out.kept) {
		s.out.kept = append(s.out.kept, newMetric(s.typ))
	}
	m := s.out.kept[s.out.n]
	s.out.n++
	if !slices.Equal(m.Label, labels) {
		m.Label = append(m.Label[:0], labels...)
	}
	return m
}

// newMetric returns a series that is allocated as one object.
func newMetric(typ Type) *dto.Metric {
	switch typ {
	case Counter:
		m := &struct {
			metric  dto.Metric
			counter dto.Counter
			value   float64
		}{}
		m.metric.Counter, m.counter.Value = &m.counter, &m.value
		return &m.metric
	case Histogram:
		return &dto.Metric{Histogram: newHistogram()}
	}
	m := &struct {
		metric dto.Metric
		gauge  dto.Gauge
		value  float64
	}{}
	m.metric.Gauge, m.gauge.Value = &m.gauge, &m.value
	return &m.metric
}

// readFamily reads the family for the current net, into what put and putHistogram write to.
func (s *scrape) readFamily(f *Family) {
	s.typ, s.since = f.Type, nil
	if f.scope == ofRows {
		s.since = s.created
	}
	f.read(s)
}

// has reports whether the net has the columns of a family.
func (n *netSeries) has(f *Family) bool {
	switch f.scope {
	case ofSources:
		return len(n.sources) > 0
	case ofAlarms:
		return len(n.alarms) > 0
	case ofEach:
		return true
	}
	return n.net != nil && n.net.Rows.Columns.Has(f.Columns)
}

// follow takes the net and its sources from a View; net may be nil.
func (n *netSeries) follow(net *merge.NetView, sources []*merge.Source) {
	if net != nil {
		n.labels.define(net.Def)
		if n.net == nil || n.net.Rows != net.Rows || n.net.Def != net.Def || n.net.Since != net.Since {
			n.version++
		}
		if n.net == nil || n.net.Since != net.Since {
			n.created = &timestamppb.Timestamp{Seconds: net.Since / 1e6, Nanos: int32(net.Since % 1e6 * 1e3)}
		}
	}
	n.net, n.sources = net, sources
	n.labels.setSources(sources)
}
