// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"slices"
	"strings"
	"time"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
)

// net is the state of one net.
type net struct {
	name     string
	since    int64
	before   int64 // Rules.CountedBefore
	union    union
	known    map[string]*columns   // definitions, by digest
	asked    map[string]*question  // definitions that are not known yet, by digest
	held     map[string]*held      // definitions that are not used yet, by digest
	names    map[string]*petri.Net // definitions whose names are not used yet, by digest
	growth   growth
	ages     ages
	settled  bool  // a source has reported it for settledAfter
	file     bool  // it was defined by a file, which its names are taken from
	idle     int64 // since when no source runs it; 0 while one does
	sources  map[string]*source
	order    []*source  // by name
	orphans  []*source  // rows of regions whose owner reports another region now
	buried   []*Remnant // of sources that the net does not hold any more
	remnants []*Remnant // see NetView
	aside    []*source  // rows of earlier processes: see setAside
	past     map[string]past
	fences   map[string]fence // by region

	// base holds the counters of processes that have ended.
	base *stats.Rows

	slowPlaces, slowTransitions slowest

	work *workspace // of all nets

	live      stats.Sums  // of base and of all that contribute
	sums      *stats.Rows // live, as of the last tick
	changed   bool        // anything of the net changed since then
	moved     bool        // a source changed by the message of another one since then
	floor     *stats.Rows // what the previous process showed, while a counter of sums is lower; or nil
	shown     *NetView    // as of the last tick
	window    int64       // of Rate.Now
	speed     speed
	saturated saturation
	checked   int // rows of the net that were compared in this round: see Merger.checkSums
	unchecked int // rows to compare until each was since the last change

	requests *stats.RefusedRequests // refused by all sources: see countRefused
}

// question is a pending request for a definition.
type question struct {
	net    *net
	digest string
	next   int64 // when to repeat it
	wait   int64 // how long to wait after that
	since  int64
	source string // the name of the source that caused it
	known  bool   // rows of that source were shown before
}

const (
	firstWait   = int64(time.Second / time.Microsecond)
	longestWait = int64(time.Minute / time.Microsecond)
)

// past is what is remembered of a source whose rows were forgotten.
type past struct {
	epoch     int64
	seq       uint64
	counted   int64
	known     bool // as of source
	tombstone uint64
}

func newNet(name string, work *workspace) *net {
	return &net{name: name, work: work, known: make(map[string]*columns), asked: make(map[string]*question), held: make(map[string]*held), names: make(map[string]*petri.Net),
		sources: make(map[string]*source), past: make(map[string]past), fences: make(map[string]fence),
		base: &stats.Rows{}}
}

// source returns the source with a name, or a new one that the net does not hold
// yet.
func (n *net) source(name string) *source {
	if s, known := n.sources[name]; known {
		return s
	}
	if p, known := n.past[name]; known {
		return &source{name: name, sequence: sequence{epoch: p.epoch, seq: p.seq, counted: p.counted}, health: health{state: Gone}, said: said{known: p.known}}
	}
	return &source{name: name, sequence: sequence{counted: n.before}, health: health{state: Undefined}}
}

func (n *net) insert(s *source) {
	n.sources[s.name] = s
	i, _ := slices.BinarySearchFunc(n.order, s.name, bySourceName)
	n.order = slices.Insert(n.order, i, s)
	delete(n.past, s.name)
	n.changed = true
}

func (n *net) remove(s *source) {
	delete(n.sources, s.name)
	if i, found := slices.BinarySearchFunc(n.order, s.name, bySourceName); found {
		n.order = slices.Delete(n.order, i, i+1)
	}
	n.changed = true
}

func bySourceName(s *source, name string) int { return strings.Compare(s.name, name) }

// define adds a definition. names is whether its names replace those in use, settled
// whether its rows are settled at once.
func (n *net) define(digest string, def *petri.Net, names, settled bool, lim *Limits, now int64) error {
	rows := len(def.Places) + len(def.Transitions)
	if n.union.def != nil {
		places, transitions := n.union.sizes()
		rows = places + transitions + n.union.added(def)
	}
	if rows > lim.Rows {
		return Rejection(TooManyRows, "net %q would have %d places and transitions; expected at most %d", n.name, rows, lim.Rows)
	}
	if len(n.known) >= lim.Definitions && n.forgetDefinitions() == 0 {
		return Rejection(TooManyDefinitions, "%d definitions of net %q are in use", len(n.known), n.name)
	}
	n.known[digest] = n.union.add(def, names)
	places, transitions := n.union.sizes()
	n.ages.grow(places, transitions, settled, now)
	grow(n.base, places, transitions)
	n.live.Grow(places, transitions)
	n.changed = true
	return nil
}

// forgetDefinitions drops the definitions that no source uses, and returns their
// number.
func (n *net) forgetDefinitions() int {
	used := make(map[string]bool)
	for _, s := range n.order {
		used[s.digest] = true
	}
	before := len(n.known)
	for digest := range n.known {
		if !used[digest] {
			delete(n.known, digest)
		}
	}
	return before - len(n.known)
}

// leave removes a source's gauges from the sums until the source, or another one
// with its region, sends a snapshot.
func (n *net) leave(s *source, now int64) {
	if !s.left {
		s.left, s.goneAt, s.back = true, now, now
	}
	n.retire(s)
}

// retire removes a source's gauges from the sums. Its counters stay. To return it
// must send all its rows.
func (n *net) retire(s *source) {
	s.complete, s.missing, s.parts = false, nil, nil
	if s.rows != nil {
		n.withdraw(s, stats.AllColumns)
		s.columns &= counterColumns
	}
	n.changed = true
}

// fold adds the last totals of a process to the base and drops its rows. No sum changes.
func (n *net) fold(s *source) {
	n.retire(s)
	if s.rows != nil {
		n.counted(s.series())
		n.base.Columns |= s.columns
		n.base.MergeShifted(s.rows.Rows(), s.clock.shift)
	}
	s.rows = nil
	switch p := s.process(s.rowsEpoch); {
	case s.current != nil:
		if p = s.current.process(s.rowsEpoch); p != nil {
			p.folded = true
		}
		n.dropAside(s)
	case p != nil:
		p.folded = true
	default:
		s.counted = max(s.counted, s.rowsEpoch)
	}
}

// deduct subtracts a source's rows from the base, which may contain them already: the
// source counts from here. A counter of the base that becomes negative wraps
// around, and adding the source's rows wraps it back.
func (n *net) deduct(s *source) {
	debt := s.rows.Rows().Debt()
	n.base.Merge(debt)
	n.live.Add(debt, 0)
	n.changed = true
}
