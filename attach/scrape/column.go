// SPDX-License-Identifier: Apache-2.0

package scrape

import "github.com/pnagent/pnagent/stats"

// column is one thing that a metric can say of a place or a transition.
type column uint8

const (
	tokens column = iota
	oldest
	arrivals
	departures
	instances
	dwell

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

// kind is how the values of several series become one, and what a value of
// nothing is.
type kind uint8

const (
	gauge     kind = iota // they add up
	since                 // an age or a time: the oldest counts
	last                  // a time: the latest counts
	counter               // what they rose by adds up
	histogram             // so do buckets
)

// columnSpec says what a key of a mapping stands for.
type columnSpec struct {
	key  string
	kind kind
	of   table
	// fills is the column of rows that it is needed for; several columns may be
	// known together only.
	fills stats.Columns
	// needs is another column without which this one says nothing.
	needs column
}

// table is one of the two tables of a net.
type table uint8

const (
	places table = iota
	transitions
)

// specOf returns what a column is.
func specOf(c column) columnSpec {
	switch c {
	case tokens:
		return columnSpec{"tokens", gauge, places, stats.ColTokens, c}
	case oldest:
		return columnSpec{"oldest", since, places, stats.ColOldest, tokens}
	case arrivals:
		return columnSpec{"arrivals", counter, places, stats.ColArrivals, c}
	case departures:
		return columnSpec{"departures", counter, places, stats.ColDepartures, c}
	case instances:
		return columnSpec{"instances", gauge, places, stats.ColPlaceInstances, c}
	case dwell:
		return columnSpec{"dwell", histogram, places, stats.ColDwell, c}
	case firings:
		return columnSpec{"firings", counter, transitions, stats.ColFirings, c}
	case failures:
		return columnSpec{"failures", counter, transitions, stats.ColFailures, retries}
	case retries:
		return columnSpec{"retries", counter, transitions, stats.ColFailures, cancels}
	case cancels:
		return columnSpec{"cancels", counter, transitions, stats.ColFailures, failures}
	case enabled:
		return columnSpec{"enabled", gauge, transitions, stats.ColEnabled, c}
	case enabledSince:
		return columnSpec{"enabled_since", since, transitions, stats.ColEnabled, enabled}
	case running:
		return columnSpec{"running", gauge, transitions, stats.ColRunning, c}
	case runningSince:
		return columnSpec{"running_since", since, transitions, stats.ColRunning, running}
	case lastFiring:
		return columnSpec{"last_firing", last, transitions, stats.ColLastFiring, c}
	default:
		return columnSpec{"duration", histogram, transitions, stats.ColDuration, c}
	}
}

// columnNamed returns the column of a key of a mapping, of one of the tables.
func columnNamed(key string, of table) (column, bool) {
	for c := range numColumns {
		if s := specOf(c); s.key == key && s.of == of {
			return c, true
		}
	}
	return 0, false
}
