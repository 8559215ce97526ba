// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"slices"
	"strings"
	"time"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
	"github.com/pnagent/pnagent/telemetry/natslink"
)

// View is the sum over all sources as of one moment. It is immutable, and SNMP,
// Prometheus, the page and the alarms all read the same View.
type View struct {
	At         int64      // microseconds since the Unix epoch, collector's clock
	Generation uint64     // 1, 2, 3 …: one more for each View
	Nets       []*NetView // by name
	Sources    []Source
	States     States
	Traffic    Traffic
	// Pace is the interval that the collector asks sources for, so that their messages do not make
	// too much work; 0 while it asks for none. Load is the share of a processor that
	// messages of shown sources took in the last seconds; negative before it is known.
	Pace time.Duration
	Load float64
	// SumDifferences are the rows whose sum was not what the sources add up to, in a sample that
	// is taken once a minute. The sum was corrected; a number above 0 is a fault of this program.
	SumDifferences uint64
	// MessageRate is how many messages arrive per second, as Rate.Now.
	MessageRate float64
	// NATS is the collector's connection. Without a connection nothing is received,
	// and the View shows the sources as of its end. Nil if it is not known, as in a
	// View of a Merger alone.
	NATS *natslink.ConnState
	// Up is the connection to the NATS server of a collector above, if it is not
	// NATS. Without a connection the collector above shows the last rows that it
	// received. Nil without such a collector.
	Up *natslink.ConnState
	// AgentX is the session of the process with its AgentX master. Nil without one.
	AgentX *Master
	// Interrupted reports that sources are shown as of before a break: the collector cannot
	// receive, or has not received for long enough since the break.
	Interrupted bool

	present, all *View // see Present and All; nil if it is the View itself
}

// NetView is the sum of one net over its sources. The Merger computes each field once
// for a View, so that readers need not.
type NetView struct {
	Name string // the net's id
	// Def is the union of all received definitions, those of gone sources included (see
	// View.Present), by id, in an order that never
	// changes while the collector runs: a new definition only appends. The pointer
	// changes only with the definition, so a reader may keep what it derives from
	// it. Rows are in this order. It is never nil.
	Def *petri.Net
	// Final reports, by place, whether the place is final, see
	// petri.Net.FinalPlaces: its tokens are finished work, which no face shows as a
	// problem. It changes only with Def.
	Final   []bool
	Rows    *stats.Rows // times by the collector's clock; Slowest are those of the last two or three minutes
	Digests []Digest    // definitions in use, the most used first
	Up      int         // sources that are Up
	Stale   int         // sources that are Stale
	Since   int64       // when this collector's counters of the net began
	Totals
	Rates *Rates

	// Requests are those that sources refused since this collector first received each of
	// them, of forgotten sources too; nil if no source reports any. Not to be changed.
	Requests *stats.RefusedRequests

	// Remnants are what sources last held and do not report any more. The slice is
	// another one whenever they differ; it is never changed.
	Remnants []*Remnant
	// Answers are the sources of collectors below that report again since a short time.
	Answers []Answer

	// Recalled is how many of Up only the previous process has received: their rows
	// are from its state.
	Recalled int

	// Recent are the rows that were added to the net and that no source has reported for
	// a minute yet. Left are the rows that no source has had for Rules.ForgetNets; their
	// counters stay in Rows. Nil stands for an empty set. A set is never changed.
	Recent, Left *RowSet
	// Unsettled reports that no source has reported the net for a minute yet.
	Unsettled bool
}

// IsFinal reports whether a place is final. It returns false if Final is not
// known.
func (n *NetView) IsFinal(place int) bool { return place < len(n.Final) && n.Final[place] }

// Work reports whether a place is of work: see petri.Role. Tokens elsewhere are not counted and
// raise no alarm. It returns true if Def is not known.
func (n *NetView) Work(place int) bool {
	return n.Def == nil || n.Def.Places[place].Role == petri.RoleWork
}

// WorkTransition is the same for a transition.
func (n *NetView) WorkTransition(transition int) bool {
	return n.Def == nil || n.Def.Transitions[transition].Role == petri.RoleWork
}

// Stuck returns the oldest tokens of a place, or none for a final place. The
// result is part of Rows and must not be changed.
func (n *NetView) Stuck(place int) []stats.Token {
	if n.IsFinal(place) {
		return nil
	}
	return n.Rows.Places[place].Stuck
}

// Groups returns the tokens of a place by reason, or none for a final place.
func (n *NetView) Groups(place int) []stats.Group {
	if n.IsFinal(place) {
		return nil
	}
	return n.Rows.Places[place].Groups
}

// Digest is one definition of a net and how many sources run it.
type Digest struct {
	Digest  string
	Sources int
}

// SourceState is the state of a source, as far as the collector can observe.
type SourceState uint8

// The states of a source.
const (
	Up        SourceState = iota // received within three of its intervals
	Stale                        // silent; its tokens stay in the sums and grow older
	Gone                         // sent its bye, or was silent for ForgetAfter; its counters stay in the sums, its tokens do not
	Undefined                    // received, but its definition or some of its rows are not known yet: not in the sums
	Refused                      // its messages are refused, see Source.Reason; its last rows stay in the sums and grow older
)

// String returns the state's name, as the faces show it.
func (s SourceState) String() string {
	return [...]string{"up", "stale", "gone", "undefined", "refused"}[s]
}

// Source is one source of one net.
type Source struct {
	Name        string
	Net         string
	Digest      string
	Region      string
	Fence       uint64 // its epoch as the region's owner
	Since       int64  // when the region's counters began, by its clock; 0: they are those of the process
	State       SourceState
	Reason      string        // why it is Refused; "" if it is not
	Refusal     string        // the reason as telemetry.Conflict or a key of Traffic.Rejected; "" if it is not refused
	Unread      bool          // no rows of it were ever shown, and none are to be expected
	Conflict    bool          // it is refused because two processes publish as this source: the rows are those of the newer one
	Forgotten   bool          // it is Gone, and whether its tokens moved is not known: it was silent for Rules.ForgetAfter, or is a collector below that stopped
	Columns     stats.Columns // those that it fills in
	Back        int64         // when it last came up, reported a column again, or sent its bye, as far as this process knows; else 0
	Epoch       int64         // start of the process, by its clock
	Seq         uint64        // last snapshot taken
	Explains    bool          // it is a collector below that publishes its Remnants: what it lacks without one is over
	LastMessage int64         // by the collector's clock
	Interval    time.Duration // announced by the source
	Skew        time.Duration // its clock minus the collector's, as estimated from messages
	SkewBeyond  bool          // it is more than a minute
	Shift       time.Duration // what the View adds to its times: 0 while its clock is right within a quarter of a second
	Gaps        uint64        // lost snapshots
	Duplicates  uint64        // repeated or late snapshots
	Restarts    uint64        // epochs after the first
	Setbacks    uint64        // take-overs after which its counters were lower than those of the previous owner: the region's log lost something

	// Requests are those that it refused since the collector first received it; nil if it
	// reports none. Not to be changed.
	Requests *stats.RefusedRequests

	// The state of its region; nil if not known, and for a source that is gone.
	Position *uint64 // commits in the region's log
	Standbys *uint64 // processes that follow it
	Lag      *uint64 // commits by which the nearest of them lags; nil also without one

	RegionStopped string // why its region is stopped; "" while it runs
}

// BelowRegion begins the region of a source that is a collector below this one.
const BelowRegion = "up/"

// Below reports whether the source is a collector below this one, which adds up other
// sources.
func (s *Source) Below() bool { return strings.HasPrefix(s.Region, BelowRegion) }

// Claim returns the claim of the source to its region.
func (s *Source) Claim() telemetry.Claim {
	return telemetry.Claim{Fence: s.Fence, Since: s.Since, Epoch: s.Epoch}
}

// Traffic counts what the collector received since its start.
type Traffic struct {
	Messages uint64
	Bytes    uint64
	Lost     uint64            // gaps of all sources
	Rejected map[string]uint64 // by reason; every reason is present
	Bad      uint64            // the sum of Rejected
}

// Master is the state of the session with the AgentX master. It is immutable.
type Master struct {
	natslink.ConnState        // Server is the address
	Others             string // names of the other sidecars of the group that have no session; "" for none
}

// SameReport reports whether two Views have the same nets, sources and connection, so that
// they differ only in what the time makes of them, as rates that fall. A Merger replaces the
// parts of a View that have changed, and no others.
func SameReport(a, b *View) bool {
	switch {
	case a == b:
		return true
	case a == nil || b == nil || a.Interrupted != b.Interrupted:
		return false
	case !sameSlice(a.Sources, b.Sources):
		return false
	case (a.NATS == nil) != (b.NATS == nil) || a.NATS != nil && *a.NATS != *b.NATS:
		return false
	case (a.AgentX == nil) != (b.AgentX == nil) || a.AgentX != nil && *a.AgentX != *b.AgentX:
		return false
	}
	return slices.EqualFunc(a.Nets, b.Nets, sameNet)
}

// sameNet reports whether two NetViews differ in Rates at most.
func sameNet(a, b *NetView) bool {
	switch {
	case a == b:
		return true
	case a.Def != b.Def || a.Rows != b.Rows || a.Up != b.Up || a.Stale != b.Stale || a.Since != b.Since || a.Recalled != b.Recalled:
		return false
	case a.Requests != b.Requests || a.Recent != b.Recent || a.Left != b.Left || a.Unsettled != b.Unsettled:
		return false
	}
	return sameSlice(a.Remnants, b.Remnants) && sameSlice(a.Answers, b.Answers) && sameSlice(a.Digests, b.Digests)
}

// sameSlice reports whether two slices are the same memory.
func sameSlice[T any](a, b []T) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}
