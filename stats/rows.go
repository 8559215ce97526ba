// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"math"
	"slices"
)

// Rows are the numbers of one net: at one source, or summed over many. Places
// and Transitions are indexed as in the net's definition.
type Rows struct {
	Net         NetRow
	Places      []Place
	Transitions []Transition
	Blocks      []Block // sorted by transition, place, reason, and different in these
	Queues      []Queue // sorted by priority; only those that were in use
	Waiting     uint64  // pieces of work that no worker has started, now
	Columns     Columns // what is known; the rest is absent, not zero
}

// NewRows returns rows of zeros for a net of the given size: the identity of
// Merge.
func NewRows(places, transitions int) *Rows {
	return &Rows{Places: make([]Place, places), Transitions: make([]Transition, transitions)}
}

// Size returns how many rows there are.
func (r *Rows) Size() (places, transitions int) { return len(r.Places), len(r.Transitions) }

// PlaceAt returns the row of a place. One that is not there is an empty one: into.
func (r *Rows) PlaceAt(i int, into *Place) *Place { return rowAt(r.Places, i, into) }

// TransitionAt returns the row of a transition, as PlaceAt does.
func (r *Rows) TransitionAt(i int, into *Transition) *Transition {
	return rowAt(r.Transitions, i, into)
}

func rowAt[R any](rows []R, i int, into *R) *R {
	if i < len(rows) {
		return &rows[i]
	}
	*into = *new(R)
	return into
}

func (r *Rows) placeWords(i int) words { return PlaceTable.words(r.PlaceAt(i, new(Place))) }

func (r *Rows) transitionWords(i int) words {
	return TransitionTable.words(r.TransitionAt(i, new(Transition)))
}

func (r *Rows) agesAt(i int) int64 { return timeOf(&r.PlaceAt(i, new(Place)).Ages) }

func (r *Rows) stuckIn(place int) []Token { return r.PlaceAt(place, new(Place)).Stuck }

func (r *Rows) groupsIn(place int) []Group { return r.PlaceAt(place, new(Place)).Groups }

// Rest returns r, of which a reader of a Contributor uses what is no row of a place or of a
// transition.
func (r *Rows) Rest() *Rows { return r }

// NetRow is the row of a whole net.
type NetRow struct {
	Created, Finished, Failed uint64 // instances, cumulative
	Active, Deadlocked        uint64 // instances, now
}

// Place is the row of one place.
type Place struct {
	Tokens        uint64 // now
	Arrivals      uint64 // tokens put, cumulative; those of initial markings included
	Departures    uint64 // tokens taken, cumulative
	Instances     uint64 // with a token here, now
	Oldest        int64  // injection time of the oldest token here; 0 without one
	LastInjection int64  // the last time a token was put; 0 if never
	Injected      TimeSum
	Ages          Ladder
	Dwell         Histogram // of the tokens that left
	Slowest       Slowest   // of the tokens that left recently; belongs to ColDwell
	Stuck         []Token   // the oldest tokens here, oldest first, at most MaxStuck
	Groups        []Group   // the tokens here by why they wait, sorted by reason
}

// Transition is the row of one transition.
type Transition struct {
	Firings, Failures, Retries, Cancels uint64 // cumulative
	Timeouts                            uint64 // runs ended because their time was over, cumulative; each is one of Cancels too
	Late                                uint64 // answers after the end of their run, which were not used; cumulative
	Enabled                             uint64 // instances in which it is enabled, now
	Running                             uint64 // running now
	EnabledSince                        int64  // since when it is enabled, in the instance that waits longest; 0 if nowhere
	RunningSince                        int64  // start of the one running longest; 0 without one
	LastFiring                          int64  // 0 if never
	NextDue                             int64  // when it is to fire next, by a schedule; 0 if no schedule is known. One that is past has not fired
	Duration                            Histogram
	Slowest                             Slowest // of the runs that ended recently; belongs to ColDuration
}

// Waits returns since when the transition has been enabled and has not fired, in the instance where
// it waits longest; 0 if it is enabled nowhere, or if that is not known.
func (t *Transition) Waits() int64 {
	if t.Enabled == 0 || t.EnabledSince == 0 {
		return 0
	}
	return max(t.EnabledSince, t.LastFiring)
}

// Columns is the set of columns that rows fill in. A source that knows only some
// columns omits the rest, and an absent column is never shown as zero.
type Columns uint32

// The columns, by the field of Rows, Place or Transition that they stand for.
const (
	ColTokens Columns = 1 << iota
	ColArrivals
	ColDepartures
	ColPlaceInstances
	ColOldest // with LastInjection, Injected
	ColAges
	ColDwell // with Place.Slowest
	ColStuck
	ColFirings
	ColFailures // with Retries, Cancels
	ColEnabled
	ColRunning
	ColLastFiring
	ColDuration  // with Transition.Slowest
	ColInstances // the NetRow
	ColBlocks
	ColTimeouts // with Late
	ColQueues
	ColWaiting
	ColNextDue
	ColGroups
)

// columnNames are the names of the columns, in their order.
var columnNames = [...]string{"tokens", "arrivals", "departures", "place_instances", "oldest", "ages", "dwell", "stuck", "firings", "failures", "enabled", "running", "last_firing",
	"duration", "instances", "blocks", "timeouts", "queues", "waiting", "next_due", "groups"}

// ColumnsNamed returns the column with a name, as dwell for ColDwell, or none for "".
func ColumnsNamed(name string) (c Columns, known bool) {
	i := slices.Index(columnNames[:], name)
	if i < 0 {
		return 0, name == ""
	}
	return 1 << i, true
}

// AllColumns are the columns of an engine that fills in everything.
const AllColumns = ColGroups<<1 - 1

// Has reports whether every column of want is filled in.
func (c Columns) Has(want Columns) bool { return c&want == want }

// Merge adds o to r, which must be rows of the same net definition; o may lack its last
// places and transitions. It keeps nothing of o's memory.
func (r *Rows) Merge(o *Rows) { r.MergeShifted(o, 0) }

// MergeShifted is Merge of rows whose times are shifted by some microseconds.
func (r *Rows) MergeShifted(o *Rows, shift int64) {
	r.Net.Merge(&o.Net)
	for i := range o.Places {
		row := o.Places[i]
		row.Shift(shift)
		r.Places[i].Merge(&row)
	}
	for i := range o.Transitions {
		row := o.Transitions[i]
		row.Shift(shift)
		r.Transitions[i].Merge(&row)
	}
	r.Blocks = MergeBlocks(r.Blocks, o.Blocks)
	r.Queues = MergeQueues(r.Queues, shiftQueues(o.Queues, shift))
	r.Waiting = Sum(r.Waiting, o.Waiting)
	r.Columns |= o.Columns
}

// Debt returns rows that subtract the counters of r when they are merged: numbers in
// two's complement.
func (r *Rows) Debt() *Rows {
	debt := NewRows(len(r.Places), len(r.Transitions))
	debt.Net = NetTable.negate(&r.Net)
	for i := range r.Places {
		debt.Places[i] = PlaceTable.negate(&r.Places[i])
		debt.Places[i].Dwell = r.Places[i].Dwell.negate()
	}
	for i := range r.Transitions {
		debt.Transitions[i] = TransitionTable.negate(&r.Transitions[i])
		debt.Transitions[i].Duration = r.Transitions[i].Duration.negate()
	}
	for i := range r.Queues {
		q := QueueTable.negate(&r.Queues[i])
		q.Priority = r.Queues[i].Priority
		debt.Queues = append(debt.Queues, q)
	}
	return debt
}

func (h *Histogram) negate() Histogram {
	neg := Histogram{Schema: h.Schema, Zero: -h.Zero, Sum: -h.Sum, Buckets: slices.Clone(h.Buckets)}
	for i := range neg.Buckets {
		neg.Buckets[i].N = -neg.Buckets[i].N
	}
	return neg
}

// Minus returns h without what was in it before, in the coarser of the two schemas; false if a number
// of values fell since.
func (h *Histogram) Minus(before *Histogram) (rise Histogram, rose bool) {
	neg := before.negate()
	rise.Merge(h)
	rise.Merge(&neg)
	rose = int64(rise.Zero) >= 0 && !slices.ContainsFunc(rise.Buckets, func(b Bucket) bool { return int64(b.N) < 0 })
	rise.Buckets = slices.DeleteFunc(rise.Buckets, func(b Bucket) bool { return b.N == 0 })
	return rise, rose
}

// Withdraw sets what is there now to nothing, in the given columns. Counters and the
// latest times stay. It changes the rows themselves, and no memory that their slices share.
func (r *Rows) Withdraw(given Columns) {
	for i := range r.Places {
		r.Places[i].Withdraw(given)
	}
	for i := range r.Transitions {
		TransitionTable.Withdraw(&r.Transitions[i], given)
	}
	r.WithdrawRest(given)
}

// WithdrawRest is Withdraw without the places and transitions.
func (r *Rows) WithdrawRest(given Columns) {
	NetTable.Withdraw(&r.Net, given)
	if given.Has(ColBlocks) {
		r.Blocks = nil
	}
	if given.Has(ColQueues) {
		r.Queues = slices.Clone(r.Queues)
		for i := range r.Queues {
			QueueTable.Withdraw(&r.Queues[i], given)
		}
	}
	if given.Has(ColWaiting) {
		r.Waiting = 0
	}
}

// Withdraw is Rows.Withdraw for one row.
func (p *Place) Withdraw(given Columns) {
	PlaceTable.Withdraw(p, given)
	if given.Has(ColOldest) {
		p.Injected = TimeSum{}
	}
	if given.Has(ColAges) {
		p.Ages = Ladder{}
	}
	if given.Has(ColStuck) {
		p.Stuck = nil
	}
	if given.Has(ColGroups) {
		p.Groups = nil
	}
}

// Merge adds o to n.
func (n *NetRow) Merge(o *NetRow) { NetTable.merge(n, o) }

// Merge adds o to p.
func (p *Place) Merge(o *Place) {
	PlaceTable.merge(p, o)
	p.Injected.Merge(o.Injected)
	p.Ages.Merge(&o.Ages)
	p.Dwell.Merge(&o.Dwell)
	p.Slowest.Merge(o.Slowest)
	p.Stuck = MergeStuck(p.Stuck, o.Stuck)
	p.Groups = MergeGroups(p.Groups, o.Groups)
}

// Merge adds o to t.
func (t *Transition) Merge(o *Transition) {
	TransitionTable.merge(t, o)
	t.Duration.Merge(&o.Duration)
	t.Slowest.Merge(o.Slowest)
}

// MaxSum is the largest sum of counts. It is less than 64 bits hold, so that a sum
// from which something was subtracted first is exact.
const MaxSum = math.MaxInt64

// Sum returns a + b, or MaxSum if that is more: a counter that stays there does
// not wrap around and fall. Either may be a negative number in two's complement.
func Sum(a, b uint64) uint64 {
	s := a + b
	if int64(s) < 0 && int64(a) >= 0 && int64(b) >= 0 {
		return MaxSum
	}
	return s
}

// Earlier returns the earlier of two times, where 0 is no time.
func Earlier(a, b int64) int64 {
	if a == 0 || (b != 0 && b < a) {
		return b
	}
	return a
}

// TimeSum is an exact sum of times: whole seconds, and the remaining microseconds
// below a million. It is for mean ages; a sum of microseconds alone would overflow
// with ten thousand tokens.
type TimeSum struct {
	Sec   uint64
	Micro uint64
}

// Add adds one time.
func (s *TimeSum) Add(t int64) {
	s.Merge(TimeSum{Sec: uint64(t) / 1e6, Micro: uint64(t) % 1e6})
}

// Merge adds another sum.
func (s *TimeSum) Merge(o TimeSum) {
	micro := s.Micro + o.Micro
	s.Sec = Sum(s.Sec, o.Sec+micro/1e6)
	s.Micro = micro % 1e6
}

// Mean returns the mean of n times as microseconds since the Unix epoch, or 0
// for n of 0.
func (s TimeSum) Mean(n uint64) int64 {
	if n == 0 {
		return 0
	}
	rest := (s.Sec%n)*1e6 + s.Micro
	return int64(s.Sec/n*1e6 + rest/n)
}
