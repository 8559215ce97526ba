// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"time"

	"github.com/pnagent/pnagent/stats"
)

// Snapshot is one decoded message of a source about one net, with columns turned
// into rows.
type Snapshot struct {
	Source   string
	Epoch    int64 // microseconds since the Unix epoch; strictly rising for a source
	Seq      uint64
	SentAt   int64 // source's clock
	Interval time.Duration
	Net      string
	Digest   string
	Region   string
	Fence    uint64
	Since    int64                  // when the counters of the region began; 0: they are this process's own
	State    *RegionState           // nil if not known; immutable
	Refused  *stats.RefusedRequests // nil if not known; immutable
	Remnants *Remnants              // nil if not known; immutable
	Full     bool
	Bye      bool

	// The rows in the message. In a full snapshot PlaceIndex and
	// TransitionIndex are nil and Rows has every row of the net. In a sparse
	// one Rows.Places[i] is the row of place PlaceIndex[i], and the same for
	// transitions; indices rise strictly. Rows.Net, Rows.Blocks, Rows.Queues
	// and Rows.Waiting are always complete. Rows.Columns are the columns that
	// the message fills in.
	//
	// A table without columns has no rows, in a full snapshot too. ColStuck,
	// ColBlocks and ColQueues are set if the message holds at least one token,
	// block or queue. A row replaces the last one as a whole. Slowest of a row
	// is that since the source's last message.
	//
	// A snapshot that does not fit one message is sent as several sparse ones,
	// which list every row between them. A reader that starts late or misses a
	// message is complete again once it has received every row.
	//
	// A Decoder does not have the net: its reader checks that a full table has
	// as many rows as the net, and that indices lie in it.
	PlaceIndex      []uint32
	TransitionIndex []uint32
	Rows            stats.Rows
}

// RegionState is what the owner of a region reports beyond its rows.
type RegionState struct {
	Position uint64  // commits in its log
	Standbys uint32  // that follow the log now
	Lag      *uint64 // commits that the nearest of them is behind; nil if there is none or it is not known
	Stopped  string  // why the region is stopped; "" while it runs
}

// Definition is a net's definition on the wire: PNML, identified by its digest.
type Definition struct {
	Net    string // the net's id
	Digest string // lower-case hex of the first 16 bytes of SHA-256 of PNML
	PNML   []byte
}
