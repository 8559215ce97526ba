// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	_ "embed"
	"encoding/csv"
	"maps"
	"slices"
	"strings"

	dto "github.com/prometheus/client_model/go"

	"github.com/pnagent/pnagent/stats"
)

// Type is the type of a family.
type Type uint8

// The types of families.
const (
	Gauge Type = iota
	Counter
	Histogram // native and classic buckets in one
)

var typeNames = []string{"gauge", "counter", "histogram"}

// String returns the type as in the exposition formats.
func (t Type) String() string { return typeNames[t] }

// Family describes one metric family.
type Family struct {
	Name   string
	Type   Type
	Help   string
	Labels []string
	// Columns are the columns that a net's rows must fill in; otherwise the net has
	// no series in this family. 0 for a family that is not made from rows.
	Columns stats.Columns

	scope scope
	ages  bool // it changes with time, for the same View
	read  func(*scrape)
}

// scope is what one reading of a family covers.
type scope uint8

const (
	ofRows    scope = iota // the rows of one net
	ofSources              // the sources of one net
	ofAlarms               // the active alarms of one net
	ofEach                 // one net, also of which only alarms are known
	ofSidecar              // the whole View, or the sidecar itself
)

var scopeNames = []string{"rows", "sources", "alarms", "each", "sidecar"}

// described are the families: a line for each, for spreadsheets and people.
//
//go:embed families.csv
var described string

// Families returns every family that is made from a View, and those of the sidecar
// itself. Their order is that of the output, and that in which a net's series
// budget is spent.
func Families() []Family {
	lines, err := csv.NewReader(strings.NewReader(described)).ReadAll()
	if err != nil {
		panic(err) // the file is part of the program, and a test reads it
	}
	read := map[string]func(*scrape){}
	for _, some := range []map[string]func(*scrape){rowReaders(), sourceReaders(), alarmReaders(), sidecarReaders(), alarmCounterReaders(), sinkReaders()} {
		maps.Copy(read, some)
	}
	all := make([]Family, 0, len(lines)-1)
	for _, l := range lines[1:] {
		f := Family{Name: l[0], Type: Type(slices.Index(typeNames, l[1])), Labels: strings.Fields(l[2]), scope: scope(slices.Index(scopeNames, l[3])), ages: l[5] != "", Help: l[6]}
		var known bool
		f.read, f.Columns, known = numberReader(l[2], l[4])
		if own := read[f.Name]; own != nil {
			f.read = own
		}
		if !known || f.read == nil {
			panic("metrics: nothing reads " + f.Name)
		}
		all = append(all, f)
	}
	return all
}

// numberReader returns what reads a number of each row, nil for a column without a single number,
// and the column. The labels of its family say which rows.
func numberReader(labels, name string) (read func(*scrape), column stats.Columns, known bool) {
	switch labels {
	case "net place", "net place called":
		return reader(stats.PlaceTable, name, func(s *scrape) ([]stats.Place, []*dto.LabelPair) { return s.net.Rows.Places, s.labels.places })
	case "net transition", "net transition called":
		return reader(stats.TransitionTable, name, func(s *scrape) ([]stats.Transition, []*dto.LabelPair) {
			return s.net.Rows.Transitions, s.labels.transitions
		})
	case "net priority":
		return reader(stats.QueueTable, name, func(s *scrape) ([]stats.Queue, []*dto.LabelPair) { return s.net.Rows.Queues, s.priorities() })
	}
	n, known := stats.NetTable.Named(name)
	if n.Count != nil {
		read = func(s *scrape) { s.put(float64(*n.Count.Of(&s.net.Rows.Net)), s.labels.net) }
	}
	return read, n.Column, known
}

// reader is numberReader for the rows of one table, which have a label each.
func reader[R any](t *stats.Table[R], name string, of func(*scrape) ([]R, []*dto.LabelPair)) (read func(*scrape), column stats.Columns, known bool) {
	n, known := t.Named(name)
	switch {
	case n.Count != nil:
		count := n.Count.Of
		read = func(s *scrape) {
			rows, labels := of(s)
			for i := range rows {
				s.put(float64(*count(&rows[i])), s.labels.net, labels[i])
			}
		}
	case n.Moment != nil:
		at, date := n.Moment.Of, n.Moment.Latest || n.Moment.Ahead
		read = func(s *scrape) {
			rows, labels := of(s)
			for i := range rows {
				if t := *at(&rows[i]); !date {
					s.put(age(t, s.now), s.labels.net, labels[i])
				} else if t != 0 {
					s.put(float64(t)/1e6, s.labels.net, labels[i])
				}
			}
		}
	}
	return read, n.Column, known
}

// priorities returns the labels of the net's queues.
func (s *scrape) priorities() []*dto.LabelPair {
	s.queued = s.queued[:0]
	for i := range s.net.Rows.Queues {
		s.queued = append(s.queued, s.fixed.priorities[s.net.Rows.Queues[i].Priority])
	}
	return s.queued
}

// rowReaders are the readers of what is no single number of each row.
func rowReaders() map[string]func(*scrape) {
	return map[string]func(*scrape){
		Instances: func(s *scrape) {
			s.put(float64(s.net.Rows.Net.Active), s.labels.net, s.fixed.active)
			s.put(float64(s.net.Rows.Net.Deadlocked), s.labels.net, s.fixed.deadlocked)
		},
		QueueWaiting: func(s *scrape) { s.put(float64(s.net.Rows.Waiting), s.labels.net) },
		TransitionBlockedInstances: func(s *scrape) {
			for _, b := range s.net.Rows.Blocks {
				s.put(float64(b.Instances), s.labels.net, s.labels.transitions[b.Transition], s.labels.place(b.Place), s.fixed.reason(b.Reason))
			}
		},
		PlaceReasonTokens: func(s *scrape) {
			for i := range s.net.Rows.Places {
				for _, g := range s.net.Rows.Places[i].Groups {
					s.put(float64(g.Tokens), s.labels.net, s.labels.places[i], s.fixed.reason(g.Reason))
				}
			}
		},
		PlaceFinal: func(s *scrape) {
			for i := range s.net.Rows.Places {
				if s.net.IsFinal(i) {
					s.put(1, s.labels.net, s.labels.places[i])
				}
			}
		},
		PlaceResting: func(s *scrape) {
			for _, i := range s.resting {
				s.put(1, s.labels.net, s.labels.places[i])
			}
		},
		PlaceInfo:      func(s *scrape) { s.putCalled(s.labels.places, s.labels.calledPlaces) },
		TransitionInfo: func(s *scrape) { s.putCalled(s.labels.transitions, s.labels.calledTransitions) },
		PlaceTokensOlderThan: func(s *scrape) {
			for i := range s.net.Rows.Places {
				ages := &s.net.Rows.Places[i].Ages
				for _, rung := range s.fixed.ladder {
					s.put(float64(ages.InjectedBefore(s.now-rung.micros)), s.labels.net, s.labels.places[i], rung.label)
				}
			}
		},
		PlaceDwellSeconds: func(s *scrape) {
			for i := range s.net.Rows.Places {
				s.putHistogram(&s.net.Rows.Places[i].Dwell, &s.net.Rows.Places[i].Slowest, s.labels.net, s.labels.places[i])
			}
		},
		TransitionDurationSeconds: func(s *scrape) {
			for i := range s.net.Rows.Transitions {
				s.putHistogram(&s.net.Rows.Transitions[i].Duration, &s.net.Rows.Transitions[i].Slowest, s.labels.net, s.labels.transitions[i])
			}
		},
	}
}

// putCalled emits what rows are called, given their labels.
func (s *scrape) putCalled(rows, called []*dto.LabelPair) {
	for i, label := range called {
		if label != nil {
			s.put(1, s.labels.net, rows[i], label)
		}
	}
}

// age returns the time from then to now, in seconds, or 0 if then is 0.
func age(then, now int64) float64 {
	if then == 0 || now < then {
		return 0
	}
	return float64(now-then) / 1e6
}
