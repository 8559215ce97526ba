// SPDX-License-Identifier: Apache-2.0

package scrape

import "github.com/pnagent/pnagent/stats"

// column is a number of a place or a transition that a metric can fill in.
type column uint8

const (
	tokens column = iota
	oldest
	arrivals
	departures
	instances
	dwell
	end
	consumers

	firings
	failures
	retries
	cancels
	enabled
	enabledSince
	running
	runningSince
	lastFiring
	duration

	numColumns
)

// kind is how the values of several series are combined.
type kind uint8

const (
	gauge     kind = iota // the sum
	since                 // an age or a time: the earliest
	last                  // a time: the latest
	counter               // the sum of their rises
	histogram             // the same, by bucket
)

// columnSpec has the properties of a key of a mapping.
type columnSpec struct {
	key  string
	kind kind
	of   table
	// fills is the column of rows that it belongs to; some have several keys. An end
	// belongs to the definition, and consumers to the reasons.
	fills stats.Columns
	// needs is a column that a row must have as well.
	needs column
}

// table is one of the two tables of a net.
type table uint8

const (
	places table = iota
	transitions
)

var specs = [numColumns]columnSpec{
	tokens:       {"tokens", gauge, places, stats.ColTokens, tokens},
	oldest:       {"oldest", since, places, stats.ColOldest, tokens},
	arrivals:     {"arrivals", counter, places, stats.ColArrivals, arrivals},
	departures:   {"departures", counter, places, stats.ColDepartures, departures},
	instances:    {"instances", gauge, places, stats.ColPlaceInstances, instances},
	dwell:        {"dwell", histogram, places, stats.ColDwell, dwell},
	end:          {"end", gauge, places, 0, end},
	consumers:    {"consumers", gauge, places, 0, oldest},
	firings:      {"firings", counter, transitions, stats.ColFirings, firings},
	failures:     {"failures", counter, transitions, stats.ColFailures, retries},
	retries:      {"retries", counter, transitions, stats.ColFailures, cancels},
	cancels:      {"cancels", counter, transitions, stats.ColFailures, failures},
	enabled:      {"enabled", gauge, transitions, stats.ColEnabled, enabledSince},
	enabledSince: {"enabled_since", since, transitions, stats.ColEnabled, enabled},
	running:      {"running", gauge, transitions, stats.ColRunning, runningSince},
	runningSince: {"running_since", since, transitions, stats.ColRunning, running},
	lastFiring:   {"last_firing", last, transitions, stats.ColLastFiring, lastFiring},
	duration:     {"duration", histogram, transitions, stats.ColDuration, duration},
}

// observable reports whether the column can be derived from others.
func (s *columnSpec) observable() bool { return s.fills&(stats.ColOldest|stats.ColLastFiring) != 0 }

// specOf returns the properties of a column.
func specOf(c column) *columnSpec { return &specs[c] }

// columnNamed returns the column of a key of a mapping for one of the tables.
func columnNamed(key string, of table) (column, bool) {
	for c, s := range specs {
		if s.key == key && s.of == of {
			return column(c), true
		}
	}
	return 0, false
}

// columnsOf returns the keys of a table, in the order of its columns.
func columnsOf(of table) (keys []string) {
	for c := range specs {
		if specs[c].of == of {
			keys = append(keys, specs[c].key)
		}
	}
	return keys
}
