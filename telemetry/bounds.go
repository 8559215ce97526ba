// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"time"

	"github.com/pnagent/pnagent/stats"
)

// Bounds of a snapshot. A Decoder rejects what exceeds them, so that one
// message costs its reader at most a fixed amount of memory and time.
const (
	MaxMessage  = 1 << 20 // bytes, in both lanes: the default limit of a NATS server
	MaxRows     = 1 << 16 // places, and transitions, of a net
	MaxBlocks   = 1 << 18
	MaxWaits    = 1 << 12 // of one token: output transitions of its place
	MaxRemnants = 1 << 13 // sources, lost and answering
	MaxPath     = 16      // names of a path: the levels of a tree
	MaxInterval = 24 * time.Hour

	// MaxCount is the largest count: a float64, which is what Prometheus keeps,
	// is exact up to it, and the counts of many sources add up within 64 bits.
	MaxCount = 1 << 53
	// MaxTime is the latest time, in microseconds: in the year 2255.
	MaxTime = 1 << 53
	// MaxSum is the largest sum of injection times, in seconds.
	MaxSum = 1<<63 - 1
)

// The columns of each table.
const (
	placeColumns = stats.ColTokens | stats.ColArrivals | stats.ColDepartures | stats.ColPlaceInstances |
		stats.ColOldest | stats.ColAges | stats.ColDwell | stats.ColStuck | stats.ColGroups
	transitionColumns = stats.ColFirings | stats.ColFailures | stats.ColEnabled | stats.ColRunning |
		stats.ColLastFiring | stats.ColDuration | stats.ColTimeouts | stats.ColNextDue
)
