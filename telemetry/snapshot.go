// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"time"

	"github.com/pnagent/pnagent/stats"
)

// Snapshot is one message of a source about one net, decoded: what
// wire.Snapshot says, with columns turned into rows.
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
	Since    int64        // when the counters of the region began, whoever owned it; 0: they are this process's own
	State    *RegionState // nil if not known; not changed once it is there
	Full     bool
	Bye      bool

	// Rows that are in the message. In a full snapshot PlaceIndex and
	// TransitionIndex are nil and Rows has every row of the net. In a sparse one
	// Rows.Places[i] is the row of place PlaceIndex[i], and the same for
	// transitions; indices rise strictly. Rows.Net, Rows.Blocks, Rows.Queues and
	// Rows.Waiting are always complete. Rows.Columns is what the message fills in.
	//
	// A table of which no column is filled in has no rows, in a full snapshot
	// too. ColStuck, ColBlocks and ColQueues are set where the message names any
	// token, block or queue: none known and none there are the same in every face. A row that
	// comes replaces the whole row that came before. Slowest of a row is that since
	// the source's last message.
	//
	// What does not fit one message comes as several sparse ones that list every
	// row between them: a reader that starts late, or that missed a message, is
	// complete again once it has heard every row, or a full snapshot.
	//
	// A Decoder does not know the net: whether a full table has as many rows as
	// the net, and whether indices lie in it, is for the reader to check.
	PlaceIndex      []uint32
	TransitionIndex []uint32
	Rows            stats.Rows
}

// RegionState is what the owner of a region knows of it beyond its rows.
type RegionState struct {
	Position uint64  // commits in its log
	Standbys uint32  // that follow the log now
	Lag      *uint64 // commits that the nearest of them is behind; nil if there is none, or if it is not known
	Stopped  string  // why the region does not play on; "" while it does
}

// Definition is a net's definition as it goes over the wire: PNML, known by
// its digest.
type Definition struct {
	Net    string // the net's id
	Digest string // lower-case hex of the first 16 bytes of SHA-256 of PNML
	PNML   []byte
}
