// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"math"
	"slices"
	"strings"

	dto "github.com/prometheus/client_model/go"

	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// What one target may make of a mapping.
const (
	// MaxNets is how many nets a target may have, and MaxRows how many places,
	// and as many transitions, each of them. What is beyond is counted.
	MaxNets = 100
	MaxRows = 10_000

	// maxValue bounds a count of a metric. A sum of injection times of as many
	// tokens still fits the wire.
	maxValue = 1 << 32
	// maxCounter bounds a counter, in one step and in all.
	maxCounter = telemetry.MaxCount
)

// reason says why a series is not used.
type reason uint8

const (
	badValue   reason = iota // no number, negative, or too large
	wrongType                // a histogram where a number is needed, or the other way
	badName                  // would make the id of something that cannot have it
	tooMany                  // more nets or rows than allowed
	unlabelled               // lacks a label that the id is made of
	numReasons
)

func (r reason) String() string {
	return [...]string{"bad_value", "wrong_type", "bad_name", "too_many", "unlabelled"}[r]
}

// state is what the scrapes of one target have told so far. It is pure: scrapes
// and their times go in, rows come out.
type state struct {
	mapping *Mapping
	nets    []*netState
	byID    map[string]*netState // the id, behind the index of its netMap
	series  memory
	scrapes uint64
	started float64 // process_start_time_seconds of the target, 0 if it has none
	dropped [numReasons]uint64
	name    []byte // reused
}

// netState is one net of a target. Its rows are only ever added to.
type netState struct {
	m       *netMap
	id      string
	labels  []*dto.LabelPair // that its id is made of
	rows    [2][]*rowState
	byID    [2]map[string]*rowState
	known   [2]uint32 // columns known as of the last scrape, by table: bits by column
	at      int64     // of the last scrape that was read
	scraped bool
}

// rowState is one place or transition.
type rowState struct {
	m        *rowMap
	id, name string
	from, to []string
	cells    [numColumns]cell
	there    bool // the last scrape had a series of it
	observer observer
	reset    bool // one of its counters began anew in this scrape
	fired    int64
}

// cell is one column of a row.
type cell struct {
	n     int     // series of the last scrape
	now   float64 // gauge: their sum; time: microseconds since the Unix epoch
	total uint64  // counter: since the first scrape
	hist  stats.Histogram
	ever  bool // it had a series once
}

func newState(m *Mapping) *state {
	s := &state{mapping: m, byID: map[string]*netState{}, series: newMemory()}
	for i := range m.nets {
		if n := &m.nets[i]; len(n.id.labels) == 0 {
			s.net(i, nil)
		}
	}
	return s
}

// apply takes in one scrape, as of a time in microseconds.
func (s *state) apply(all families, at int64) {
	s.begin(all)
	for i := range s.mapping.nets {
		m := &s.mapping.nets[i]
		for of := range m.rows {
			for j := range m.rows[of] {
				s.applyRow(all, i, &m.rows[of][j], j, at)
			}
		}
	}
	s.series.end()
	for _, n := range s.nets {
		n.end(all, at)
	}
	s.scrapes++
}

// begin forgets what is "now", and notices whether the target is another
// process than before.
func (s *state) begin(all families) {
	for _, n := range s.nets {
		for of := range n.rows {
			for _, r := range n.rows[of] {
				r.there, r.reset = false, false
				for c := range r.cells {
					r.cells[c].n, r.cells[c].now = 0, 0
				}
			}
		}
	}
	started := 0.0
	if f, _ := all.find("process_start_time_seconds"); f != nil && len(f.Metric) == 1 {
		started, _ = number(f.Metric[0], false)
	}
	// A second's difference is a clock that was set, or rounding.
	restarted := s.started != 0 && started > s.started+1
	if started != 0 {
		s.started = started
	}
	s.series.begin(s.scrapes == 0, restarted)
}

func (s *state) applyRow(all families, net int, m *rowMap, index int, at int64) {
	for c, v := range m.values {
		if v == nil {
			continue
		}
		spec := specOf(column(c))
		for k := range v.selectors {
			sel := &v.selectors[k]
			fam, count := all.find(sel.name)
			for _, series := range fam.GetMetric() {
				if !sel.matches(series.Label) {
					continue
				}
				r := s.row(net, m, series.Label)
				if r == nil {
					continue
				}
				u := use{v: v, spec: spec, count: count, at: at, key: seriesKey{net, m.table, index, column(c), k}}
				if why, ok := s.add(r, column(c), series, &u); !ok {
					s.dropped[why]++
				}
			}
		}
	}
}

// use says how a series is read.
type use struct {
	v     *value
	spec  columnSpec
	count bool // its number of observations
	at    int64
	key   seriesKey
}

// add counts a series into a row's cell.
func (s *state) add(r *rowState, c column, series *dto.Metric, u *use) (why reason, ok bool) {
	cell := &r.cells[c]
	if u.spec.kind == histogram {
		h, why, ok := native(series.GetHistogram())
		if !ok {
			return why, false
		}
		rise, again := s.series.riseOf(u.key, series, h)
		cell.hist.Merge(&rise)
		r.reset = r.reset || again
	} else {
		x, is := number(series, u.count)
		if !is {
			return wrongType, false
		}
		switch u.spec.kind {
		case counter:
			if math.IsNaN(x) || x < 0 || x > maxCounter {
				return badValue, false
			}
			rise, again := s.series.rise(u.key, series, x)
			cell.total = min(cell.total+rise, maxCounter)
			r.reset = r.reset || again
		case gauge:
			if math.IsNaN(x) || x < 0 || cell.now+x > maxValue {
				return badValue, false
			}
			cell.now += x
		default:
			t, ok := instant(x, u)
			if !ok {
				return badValue, false
			}
			if cell.n == 0 || (t > cell.now) == (u.spec.kind == last) {
				cell.now = t
			}
		}
	}
	cell.n++
	cell.ever, r.there = true, true
	return 0, true
}

// instant returns a time in microseconds: an age of the metric counts back
// from the scrape. No time is after the scrape.
func instant(x float64, u *use) (float64, bool) {
	x *= u.v.micros
	if !u.v.timestamp {
		x = float64(u.at) - x
	}
	if math.IsNaN(x) || x < 0 || x > telemetry.MaxTime {
		return 0, false
	}
	return min(x, float64(u.at)), true
}

// number returns the one number of a series. False means that it has none.
func number(m *dto.Metric, count bool) (float64, bool) {
	switch {
	case count && m.Histogram != nil:
		return float64(m.Histogram.GetSampleCount()), true
	case count && m.Summary != nil:
		return float64(m.Summary.GetSampleCount()), true
	case m.Gauge != nil:
		return m.Gauge.GetValue(), true
	case m.Counter != nil:
		return m.Counter.GetValue(), true
	case m.Untyped != nil:
		return m.Untyped.GetValue(), true
	}
	return 0, false
}

// row returns the row that a series belongs to, made if it is new. It is nil,
// and counted, if there cannot be one.
func (s *state) row(net int, m *rowMap, labels []*dto.LabelPair) *rowState {
	n := s.net(net, labels)
	if n == nil {
		return nil
	}
	name, whole := m.id.append(s.name[:0], labels)
	s.name = name
	if r := n.byID[m.table][string(name)]; r != nil {
		return r
	}
	switch {
	case !whole:
		s.dropped[unlabelled]++
		return nil
	case len(n.rows[m.table]) >= MaxRows:
		s.dropped[tooMany]++
		return nil
	case !usable(string(name)) || n.byID[1-m.table][string(name)] != nil:
		s.dropped[badName]++
		return nil
	}
	return n.addRow(m, labels)
}

// net returns the net of an id, made if it is new.
func (s *state) net(index int, labels []*dto.LabelPair) *netState {
	m := &s.mapping.nets[index]
	name, whole := m.id.append(s.name[:0], labels)
	s.name = name
	if n := s.byID[string(name)]; n != nil {
		if n.m == m {
			return n
		}
		s.dropped[badName]++ // two nets of the mapping would be one
		return nil
	}
	switch {
	case !whole:
		s.dropped[unlabelled]++
		return nil
	case len(s.nets) >= MaxNets:
		s.dropped[tooMany]++
		return nil
	case !usable(string(name)):
		s.dropped[badName]++
		return nil
	}
	n := &netState{m: m, id: string(name), byID: [2]map[string]*rowState{{}, {}}}
	for _, l := range m.id.labels {
		value := label(labels, l)
		n.labels = append(n.labels, &dto.LabelPair{Name: &l, Value: &value})
	}
	s.nets, s.byID[n.id] = append(s.nets, n), n
	for of := range m.rows {
		for i := range m.rows[of] {
			if r := &m.rows[of][i]; r.id.within(&m.id) && usable(r.id.of(n.labels)) {
				n.addRow(r, n.labels)
			}
		}
	}
	return n
}

// addRow makes a row. Whoever has the same id is the same row.
func (n *netState) addRow(m *rowMap, labels []*dto.LabelPair) *rowState {
	id := m.id.of(labels)
	for of := range n.byID {
		if r := n.byID[of][id]; r != nil {
			return r
		}
	}
	r := &rowState{m: m, id: id, name: m.name.of(labels)}
	for i := range m.from {
		r.from = append(r.from, m.from[i].of(labels))
	}
	for i := range m.to {
		r.to = append(r.to, m.to[i].of(labels))
	}
	n.rows[m.table], n.byID[m.table][id] = append(n.rows[m.table], r), r
	return r
}

// within reports whether the name needs no label that the other has not.
func (t *template) within(o *template) bool {
	return !slices.ContainsFunc(t.labels, func(l string) bool { return !slices.Contains(o.labels, l) })
}

// usable reports whether a name can go over the wire and stand in a definition.
func usable(name string) bool {
	return telemetry.CheckName(name) == nil && !strings.ContainsAny(name, "\ufffe\uffff")
}
