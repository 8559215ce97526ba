// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"time"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry/natslink"
)

// View is the sum over all sources as of one moment. It is immutable and
// shared by every reader: SNMP, Prometheus, the page and the alarms agree
// because they read the same View.
type View struct {
	At         int64  // microseconds since the Unix epoch, collector's clock
	Generation uint64 // 1, 2, 3 … one more for every View
	Nets       []*Net // by name
	Sources    []Source
	Traffic    Traffic
	// NATS is the collector's connection: while there is none, nothing is heard,
	// and what the View shows of sources is as of then. Nil if it is not known,
	// as in a View of a Merger alone.
	NATS *natslink.State
	// Up is the connection to the NATS server of a collector above, where it is
	// another than NATS: while there is none, that one shows what it heard before.
	// Nil without one.
	Up *natslink.State
	// Deaf says that what is shown of sources is from before a break: nothing can
	// be heard, or not for long enough since that sources that are there were.
	Deaf bool
}

// Net is the sum of one net over its sources.
type Net struct {
	Name string // the net's id
	// Def is the union of all definitions heard, by id, in an order that never
	// changes while the collector runs: a new definition only appends. The
	// pointer stays the same while nothing was appended, so a reader may keep
	// what it derived from it. Rows are in this order. Nothing of it is nil.
	Def *petri.Net
	// Final reports, by place, whether the place is final, see
	// petri.Net.FinalPlaces: its tokens are finished work, and no face shows them
	// as a problem. It changes only when Def does.
	Final   []bool
	Rows    *stats.Rows // times by the collector's clock; Slowest are those of the last two or three minutes
	Digests []Digest    // definitions in use, the most used first
	Up      int         // sources heard lately
	Stale   int         // sources silent, still in the sums
	Since   int64       // when the counters of this net began to be added up here

	// Recalled is how many of Up were heard by the process before this one alone:
	// what is shown of them is what they said to that one.
	Recalled int
}

// IsFinal reports whether a place is final. It is false where Final is not
// known.
func (n *Net) IsFinal(place int) bool { return place < len(n.Final) && n.Final[place] }

// Stuck returns the oldest tokens of a place that may still have to move: none of
// a final place. The result is part of Rows and must not be changed.
func (n *Net) Stuck(place int) []stats.Token {
	if n.IsFinal(place) {
		return nil
	}
	return n.Rows.Places[place].Stuck
}

// Oldest returns the index of the place that holds the oldest token that may
// still have to move: final places are left out. It is -1 if there is none.
func (n *Net) Oldest() int {
	oldest := -1
	for i := range n.Rows.Places {
		p := &n.Rows.Places[i]
		if p.Oldest != 0 && !n.IsFinal(i) && (oldest < 0 || p.Oldest < n.Rows.Places[oldest].Oldest) {
			oldest = i
		}
	}
	return oldest
}

// Digest is one definition of a net and how many sources run it.
type Digest struct {
	Digest  string
	Sources int
}

// State is what a source is doing, as far as can be seen from here.
type State uint8

// The states of a source.
const (
	Up        State = iota // heard within three of its intervals
	Stale                  // silent; its tokens stay in the sums and keep ageing
	Gone                   // said bye, or silent for so long that its tokens left the sums; its counters stay
	Undefined              // heard, but the definition of its net is not known yet, or not all of its rows: not in the sums
	Refused                // heard, and its messages are refused, see Source.Reason; its last rows stay in the sums and keep ageing
)

// String returns the state's name, as the faces show it.
func (s State) String() string {
	return [...]string{"up", "stale", "gone", "undefined", "refused"}[s]
}

// Source is one source of one net.
type Source struct {
	Name       string
	Net        string
	Digest     string
	Region     string
	Fence      uint64 // its epoch as the region's owner
	Since      int64  // when the region's counters began, by its clock; 0: they are those of the process
	State      State
	Reason     string        // why it is Refused; "" if it is not
	Refusal    string        // that as telemetry.Conflict or a reason of Traffic.Rejected; "" if it is not
	Unread     bool          // no rows of it were ever shown, and none are to be waited for: it says nothing about the net
	Conflict   bool          // because two processes publish as this source: the rows are those of the newer one
	Epoch      int64         // start of the process, by its clock
	Seq        uint64        // last snapshot taken
	LastHeard  int64         // by the collector's clock
	Interval   time.Duration // that it promised
	Skew       time.Duration // its clock minus the collector's, as far as messages show
	SkewBeyond bool          // more than a minute: reported, not believed
	Gaps       uint64        // snapshots that never came
	Duplicates uint64        // snapshots that came again, or late
	Restarts   uint64        // epochs after the first
	Setbacks   uint64        // times that it took a region over and had counted less than the owner before it: the region's log lost something

	// What it knows of its region; nil if not known, and of a source that is gone.
	Position *uint64 // commits in the region's log
	Standbys *uint64 // processes that follow it
	Lag      *uint64 // commits that the nearest of them is behind; nil if there is none, too

	RegionStopped string // why its region does not play on; "" while it does
}

// Traffic is what the collector heard, cumulative since its start.
type Traffic struct {
	Messages uint64
	Bytes    uint64
	Lost     uint64            // gaps of all sources
	Rejected map[string]uint64 // by reason; every reason is present
}
