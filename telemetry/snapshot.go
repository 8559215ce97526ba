// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"fmt"
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
	Full     bool
	Bye      bool

	// Rows that are in the message. In a full snapshot PlaceIndex and
	// TransitionIndex are nil and Rows has every row of the net. In a sparse one
	// Rows.Places[i] is the row of place PlaceIndex[i], and the same for
	// transitions; indices rise strictly. Rows.Net and Rows.Blocks are always
	// complete. Rows.Columns is what the message fills in.
	//
	// A table of which no column is filled in has no rows, in a full snapshot
	// too. ColStuck and ColBlocks are set where the message names any token or
	// block: none known and none there are the same in every face. A row that
	// comes replaces the whole row that came before.
	//
	// What does not fit one message comes as several sparse ones that list every
	// row between them: a reader that starts late, or that missed a message, is
	// complete again once it has heard every row, or a full snapshot.
	PlaceIndex      []uint32
	TransitionIndex []uint32
	Rows            stats.Rows
}

// Fits checks that the snapshot is one of a net of the given size: a full table
// has as many rows as the net, and every index names something in the net. A
// Decoder cannot check this: it does not know the net. The error is BadColumns
// or BadIndex.
func (s *Snapshot) Fits(places, transitions int) error {
	if err := fitRows("places", len(s.Rows.Places), s.PlaceIndex, s.Full, places); err != nil {
		return err
	}
	if err := fitRows("transitions", len(s.Rows.Transitions), s.TransitionIndex, s.Full, transitions); err != nil {
		return err
	}
	for i := range s.Rows.Places {
		for _, t := range s.Rows.Places[i].Stuck {
			for _, w := range t.Waits {
				if int(w.Transition) >= transitions || int(w.Place) >= places {
					return fmt.Errorf("%w: wait for transition %d, place %d, in a net of %d and %d",
						BadIndex, w.Transition, w.Place, transitions, places)
				}
			}
		}
	}
	for _, b := range s.Rows.Blocks {
		if int(b.Transition) >= transitions || int(b.Place) >= places {
			return fmt.Errorf("%w: block of transition %d, place %d, in a net of %d and %d",
				BadIndex, b.Transition, b.Place, transitions, places)
		}
	}
	return nil
}

func fitRows(table string, rows int, index []uint32, full bool, size int) error {
	if full && rows != 0 && rows != size {
		return fmt.Errorf("%w: %d rows of %s, of %d", BadColumns, rows, table, size)
	}
	if n := len(index); n > 0 && int(index[n-1]) >= size {
		return fmt.Errorf("%w: row %d of %s, of %d", BadIndex, index[n-1], table, size)
	}
	return nil
}

// Definition is a net's definition as it goes over the wire: PNML, known by
// its digest.
type Definition struct {
	Net    string // the net's id
	Digest string // lower-case hex of the first 16 bytes of SHA-256 of PNML
	PNML   []byte
}
