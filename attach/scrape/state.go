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

// Bounds of one target.
const (
	// MaxNets is the largest number of nets of a target, and MaxRows that of
	// places, and of transitions, of each. Series beyond are counted as
	// dropped.
	MaxNets = 100
	MaxRows = 10_000

	// maxValue bounds a gauge. The sum of injection times of as many tokens still fits the wire.
	maxValue = 1 << 32
	// maxCounter bounds a counter, in one step and in all.
	maxCounter = telemetry.MaxCount
)

// reason is why a series is not used.
type reason uint8

const (
	badValue   reason = iota // not a number, negative, or too large
	wrongType                // a histogram instead of a number, or the reverse
	badName                  // its labels give an invalid id, or one in use
	tooMany                  // more nets or rows than allowed
	unlabelled               // it lacks a label of the id
	numReasons
)

func (r reason) String() string {
	return [...]string{"bad_value", "wrong_type", "bad_name", "too_many", "unlabelled"}[r]
}

// state is the result of all scrapes of one target. It is pure: scrapes and
// their times go in, rows come out.
type state struct {
	mapping *Mapping
	nets    []*netState
	byID    map[string]*netState // by id
	series  memory
	scrapes uint64  // that had something of the mapping
	used    int     // series of the last scrape
	started float64 // process_start_time_seconds of the target, 0 if it has none
	dropped [numReasons]uint64
	name    []byte // reused
}

// netState is one net of a target. Rows are only added.
type netState struct {
	m      *netMap
	id     string
	labels []*dto.LabelPair // of its id
	all    []*rowState      // places and transitions
	rows   [2][]*rowState
	byID   [2]map[string]*rowState
	known  [2]uint32 // columns known as of the last scrape, by table: bits by column
	at     int64     // of the last scrape
}

// rowState is one place or transition.
type rowState struct {
	m        *rowMap
	at       int // in its table
	id, name string
	labels   []*dto.LabelPair // of the series that it was found by
	from, to []string
	cells    [numColumns]cell
	there    bool   // it has a series in the last scrape
	bad      uint32 // gauges with a series of the last scrape that is no number: bits by column
	had      uint32 // gauges with a series in the last scrape that was used
	observer observer
	reset    bool // one of its counters was reset in this scrape
	fired    int64
	taker    *rowState // of a place whose reason is known: the transition that its tokens wait for
	alone    idleness
}

// cell is one column of a row.
type cell struct {
	n     int     // series of the last scrape
	now   float64 // gauge: their sum; time: microseconds since the Unix epoch
	total uint64  // counter: since the first scrape
	hist  stats.Histogram
	ever  bool // it had a series at least once
}

func newState(m *Mapping) *state {
	s := &state{mapping: m, byID: map[string]*netState{}, series: memory{numbers: map[string]*lastValue{}}}
	for i := range m.nets {
		if n := &m.nets[i]; len(n.id.labels) == 0 {
			s.net(i, nil)
		}
	}
	return s
}

// apply adds one scrape, as of a time in microseconds.
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
	if s.answered(all) {
		s.scrapes++
	}
}

// begin clears the gauges, and determines whether the target has restarted.
func (s *state) begin(all families) {
	s.used = 0
	for _, n := range s.nets {
		for _, r := range n.all {
			r.there, r.reset, r.bad = false, false, 0
			for c := range r.cells {
				r.cells[c].n, r.cells[c].now = 0, 0
			}
		}
	}
	started := 0.0
	if f, _ := all.find("process_start_time_seconds"); f != nil && len(f.Metric) == 1 {
		started, _ = number(f.Metric[0], false)
	}
	// A difference of a second is rounding, or a clock that was set.
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
				r.there = true
				why, ok := s.add(r, column(c), series, &u)
				switch {
				case ok:
					s.used++
				case spec.kind == gauge:
					r.bad |= 1 << c
					fallthrough
				default:
					s.dropped[why]++
				}
			}
		}
	}
}

// use is how a series is read.
type use struct {
	v     *value
	spec  *columnSpec
	count bool // of its observations
	at    int64
	key   seriesKey
}

// add adds a series to a cell of its row.
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
			if math.IsNaN(x) || x == 0 && u.v.timestamp && u.spec.kind == since {
				return 0, true // the target has the series, and no time for it
			}
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
	cell.ever = true
	return 0, true
}

// instant returns a time in microseconds. It subtracts an age from the time of
// the scrape, and returns no time after the scrape.
func instant(x float64, u *use) (float64, bool) {
	x *= u.v.micros
	if !u.v.timestamp {
		x = float64(u.at) - x
	}
	if x < 0 || x > telemetry.MaxTime {
		return 0, false
	}
	return min(x, float64(u.at)), true
}

// number returns the number of a series, and whether it has one.
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

// row returns the row of a series, and adds a new one. It returns nil, and
// counts the reason, for a series that cannot have one.
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

// net returns the net of an id, and adds a new one.
func (s *state) net(index int, labels []*dto.LabelPair) *netState {
	m := &s.mapping.nets[index]
	name, whole := m.id.append(s.name[:0], labels)
	s.name = name
	if n := s.byID[string(name)]; n != nil {
		if n.m == m {
			return n
		}
		s.dropped[badName]++ // two nets of the mapping have one id
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

// addRow returns the row of an id, and adds a new one.
func (n *netState) addRow(m *rowMap, labels []*dto.LabelPair) *rowState {
	id := m.id.of(labels)
	for of := range n.byID {
		if r := n.byID[of][id]; r != nil {
			return r
		}
	}
	r := &rowState{m: m, at: len(n.rows[m.table]), id: id, name: m.name.of(labels), labels: labels}
	for i := range m.from {
		r.from = append(r.from, m.from[i].of(labels))
	}
	for i := range m.to {
		r.to = append(r.to, m.to[i].of(labels))
	}
	n.all, n.rows[m.table], n.byID[m.table][id] = append(n.all, r), append(n.rows[m.table], r), r
	return r
}

// within reports whether all labels of t are labels of o.
func (t *template) within(o *template) bool {
	return !slices.ContainsFunc(t.labels, func(l string) bool { return !slices.Contains(o.labels, l) })
}

// usable reports whether a name is valid on the wire and in a definition.
func usable(name string) bool {
	return telemetry.CheckName(name) == nil && !strings.ContainsAny(name, "\ufffe\uffff")
}
