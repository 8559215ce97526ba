// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	_ "embed"
	"encoding/csv"
	"maps"
	"slices"
	"strings"

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
	for _, some := range []map[string]func(*scrape){netReaders(), sourceReaders(), placeReaders(), transitionReaders(), alarmReaders(), sidecarReaders(), alarmCounterReaders()} {
		maps.Copy(read, some)
	}
	all := make([]Family, 0, len(lines)-1)
	for _, l := range lines[1:] {
		columns, known := stats.ColumnsNamed(l[4])
		f := Family{Name: l[0], Type: Type(slices.Index(typeNames, l[1])), Labels: strings.Fields(l[2]), scope: scope(slices.Index(scopeNames, l[3])),
			Columns: columns, ages: l[5] != "", Help: l[6], read: read[l[0]]}
		if !known || f.read == nil {
			panic("metrics: nothing reads " + f.Name)
		}
		all = append(all, f)
	}
	return all
}

func netReaders() map[string]func(*scrape) {
	total := func(value func(*stats.NetRow) uint64) func(*scrape) {
		return func(s *scrape) { s.put(float64(value(&s.net.Rows.Net)), s.labels.net) }
	}
	// queues returns what reads a number of each priority in use.
	queues := func(value func(q *stats.Queue, now int64) float64) func(*scrape) {
		return func(s *scrape) {
			for i := range s.net.Rows.Queues {
				q := &s.net.Rows.Queues[i]
				s.put(value(q, s.now), s.labels.net, s.fixed.priorities[q.Priority])
			}
		}
	}
	return map[string]func(*scrape){
		Instances: func(s *scrape) {
			s.put(float64(s.net.Rows.Net.Active), s.labels.net, s.fixed.active)
			s.put(float64(s.net.Rows.Net.Deadlocked), s.labels.net, s.fixed.deadlocked)
		},
		InstancesCreatedTotal:   total(func(n *stats.NetRow) uint64 { return n.Created }),
		InstancesFinishedTotal:  total(func(n *stats.NetRow) uint64 { return n.Finished }),
		InstancesFailedTotal:    total(func(n *stats.NetRow) uint64 { return n.Failed }),
		QueueWaiting:            func(s *scrape) { s.put(float64(s.net.Rows.Waiting), s.labels.net) },
		QueueReady:              queues(func(q *stats.Queue, _ int64) float64 { return float64(q.Ready) }),
		QueueOldestAgeSeconds:   queues(func(q *stats.Queue, now int64) float64 { return age(q.OldestSince, now) }),
		QueueUnservedAgeSeconds: queues(func(q *stats.Queue, now int64) float64 { return age(q.UnservedSince, now) }),
		QueueServedTotal:        queues(func(q *stats.Queue, _ int64) float64 { return float64(q.Served) }),
		QueueQuoteSwitchesTotal: queues(func(q *stats.Queue, _ int64) float64 { return float64(q.QuoteSwitches) }),
		TransitionBlockedInstances: func(s *scrape) {
			for _, b := range s.net.Rows.Blocks {
				s.put(float64(b.Instances), s.labels.net, s.labels.transitions[b.Transition], s.labels.place(b.Place), s.fixed.reason(b.Reason))
			}
		},
	}
}

func placeReaders() map[string]func(*scrape) {
	count := func(value func(*stats.Place) uint64) func(*scrape) {
		return func(s *scrape) {
			for i := range s.net.Rows.Places {
				s.put(float64(value(&s.net.Rows.Places[i])), s.labels.net, s.labels.places[i])
			}
		}
	}
	return map[string]func(*scrape){
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
		PlaceTokens:    count(func(p *stats.Place) uint64 { return p.Tokens }),
		PlaceInstances: count(func(p *stats.Place) uint64 { return p.Instances }),
		PlaceOldestTokenAgeSeconds: func(s *scrape) {
			for i := range s.net.Rows.Places {
				s.put(age(s.net.Rows.Places[i].Oldest, s.now), s.labels.net, s.labels.places[i])
			}
		},
		PlaceArrivalsTotal:   count(func(p *stats.Place) uint64 { return p.Arrivals }),
		PlaceDeparturesTotal: count(func(p *stats.Place) uint64 { return p.Departures }),
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
	}
}

func transitionReaders() map[string]func(*scrape) {
	count := func(value func(*stats.Transition) uint64) func(*scrape) {
		return func(s *scrape) {
			for i := range s.net.Rows.Transitions {
				s.put(float64(value(&s.net.Rows.Transitions[i])), s.labels.net, s.labels.transitions[i])
			}
		}
	}
	since := func(at func(*stats.Transition) int64) func(*scrape) {
		return func(s *scrape) {
			for i := range s.net.Rows.Transitions {
				s.put(age(at(&s.net.Rows.Transitions[i]), s.now), s.labels.net, s.labels.transitions[i])
			}
		}
	}
	return map[string]func(*scrape){
		TransitionFiringsTotal:      count(func(t *stats.Transition) uint64 { return t.Firings }),
		TransitionFailuresTotal:     count(func(t *stats.Transition) uint64 { return t.Failures }),
		TransitionRetriesTotal:      count(func(t *stats.Transition) uint64 { return t.Retries }),
		TransitionCancelsTotal:      count(func(t *stats.Transition) uint64 { return t.Cancels }),
		TransitionTimeoutsTotal:     count(func(t *stats.Transition) uint64 { return t.Timeouts }),
		TransitionLateAnswersTotal:  count(func(t *stats.Transition) uint64 { return t.Late }),
		TransitionEnabledInstances:  count(func(t *stats.Transition) uint64 { return t.Enabled }),
		TransitionEnabledAgeSeconds: since(func(t *stats.Transition) int64 { return t.EnabledSince }),
		TransitionRunning:           count(func(t *stats.Transition) uint64 { return t.Running }),
		TransitionRunningAgeSeconds: since(func(t *stats.Transition) int64 { return t.RunningSince }),
		TransitionLastFiringTimestampSeconds: func(s *scrape) {
			for i := range s.net.Rows.Transitions {
				if last := s.net.Rows.Transitions[i].LastFiring; last != 0 {
					s.put(float64(last)/1e6, s.labels.net, s.labels.transitions[i])
				}
			}
		},
		TransitionDurationSeconds: func(s *scrape) {
			for i := range s.net.Rows.Transitions {
				s.putHistogram(&s.net.Rows.Transitions[i].Duration, &s.net.Rows.Transitions[i].Slowest, s.labels.net, s.labels.transitions[i])
			}
		},
	}
}

// age returns the time from then to now, in seconds, or 0 if then is 0.
func age(then, now int64) float64 {
	if then == 0 || now < then {
		return 0
	}
	return float64(now-then) / 1e6
}
