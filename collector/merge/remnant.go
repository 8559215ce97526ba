// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"slices"

	"github.com/pnagent/pnagent/stats"
)

// Remnant is what a source of a net last held in rows that it does not report any more:
// it is silent, was forgotten, or its messages lack the columns. So nothing says that its
// tokens moved. A Remnant is immutable. One of a source of a collector below has no numbers:
// where there is something, it has one.
type Remnant struct {
	Source, Region string // see PathOf; "" for sources of a collector below for which there was no room
	// Left is when the rows left the sums of the net, in microseconds since the Unix
	// epoch. It is 0 while they are in them, as those of a source that is Stale.
	Left int64
	// SilentSince is when the last message of the source arrived; 0 if messages arrive.
	SilentSince int64
	Columns     stats.Columns // that the rows had; 0 of a collector below
	Places      []RemnantPlace
	Transitions []RemnantTransition
	Deadlocked  uint64

	leftBelow int64 // Left, by the clock of the collector below that received the source
}

// RemnantPlace is a place with tokens. Times are by the collector's clock.
type RemnantPlace struct {
	Place  int
	Tokens uint64
	Oldest int64
	Ages   stats.Ladder
}

// RemnantTransition is a transition that was enabled, has fired, or is to fire at a time.
type RemnantTransition struct {
	Transition int
	Enabled    uint64
	Fired      bool // or is to
}

// remnantColumns are the columns of which a Remnant keeps something.
const remnantColumns = stats.ColOldest | firingColumns | stats.ColEnabled | stats.ColInstances

// firingColumns are the columns that say of a transition that it has fired or is to fire.
const firingColumns = stats.ColFirings | stats.ColLastFiring | stats.ColNextDue

// remnantKept is how long a net shows the remnant of a source that it does not hold any
// more, so that each reader of Views receives it.
const remnantKept = minute

// remnantOf returns what the source holds in columns.
func (s *source) remnantOf(columns stats.Columns, left int64) *Remnant {
	columns &= s.columns & remnantColumns
	if s.rows == nil || columns == 0 {
		return nil
	}
	r := &Remnant{Source: s.name, Region: s.region, Left: left, Columns: columns}
	places, transitions := s.rows.Size()
	var place stats.Place
	for i := range places {
		own := s.rows.PlaceAt(i, &place)
		if !columns.Has(stats.ColOldest) || own.Oldest == 0 {
			continue
		}
		p := stats.Place{Tokens: own.Tokens, Oldest: own.Oldest}
		p.Ages.Merge(&own.Ages)
		p.Shift(s.clock.shift)
		r.Places = append(r.Places, RemnantPlace{Place: i, Tokens: p.Tokens, Oldest: p.Oldest, Ages: p.Ages})
	}
	var transition stats.Transition
	for i := range transitions {
		own := s.rows.TransitionAt(i, &transition)
		t := RemnantTransition{Transition: i, Fired: columns.Has(stats.ColFirings) && own.Firings+own.Failures > 0 ||
			columns.Has(stats.ColLastFiring) && own.LastFiring > 0 || columns.Has(stats.ColNextDue) && own.NextDue > 0}
		if columns.Has(stats.ColEnabled) {
			t.Enabled = own.Enabled
		}
		if t.Fired || t.Enabled > 0 {
			r.Transitions = append(r.Transitions, t)
		}
	}
	if columns.Has(stats.ColInstances) {
		r.Deadlocked = s.rows.Rest().Net.Deadlocked
	}
	return r
}

// silent sets since when the source is silent; r may be nil.
func (r *Remnant) silent(s *source) *Remnant {
	if r != nil {
		r.SilentSince = s.lastMessage()
	}
	return r
}

// noteRemnant updates the remnant of a source for its state, before its rows leave the
// sums.
func (n *net) noteRemnant(s *source, state SourceState, now int64) {
	before := s.remnant
	switch {
	case s.left:
		if s.saidGoodbye() {
			s.remnant = nil
		}
	case (state == Gone || state == Undefined) && s.complete:
		s.remnant = s.remnantOf(stats.AllColumns, now).silent(s)
	case state == Stale && s.complete && s.remnant == nil:
		s.remnant = s.remnantOf(stats.AllColumns, 0).silent(s)
	case state != Stale && s.remnant != nil && s.remnant.Left == 0:
		s.remnant = nil
	}
	n.changed = n.changed || s.remnant != before
}

// loseColumns notes what the source held in columns that it does not report any more.
// They left the sums now.
func (s *source) loseColumns(lost stats.Columns, now int64) {
	if lost&s.columns&remnantColumns != 0 {
		s.remnant = s.remnantOf(lost, now)
	}
}

// answered drops what the source reports again.
func (s *source) answered(now int64) {
	if s.remnant == nil {
		return
	}
	r := *s.remnant
	if r.Columns&s.columns != 0 {
		s.back = now
	}
	r.Columns &^= s.columns
	switch r.Columns {
	case 0:
		s.remnant = nil
		return
	case s.remnant.Columns:
		return
	}
	if !r.Columns.Has(stats.ColOldest) {
		r.Places = nil
	}
	if !r.Columns.Has(stats.ColInstances) {
		r.Deadlocked = 0
	}
	r.Transitions = nil
	for _, t := range s.remnant.Transitions {
		t.Fired = t.Fired && r.Columns&firingColumns != 0
		if !r.Columns.Has(stats.ColEnabled) {
			t.Enabled = 0
		}
		if t.Fired || t.Enabled > 0 {
			r.Transitions = append(r.Transitions, t)
		}
	}
	s.remnant = &r
}

// bury keeps the remnant of a source that the net will not hold any more.
func (n *net) bury(s *source) {
	if s.remnant != nil && s.remnant.Left != 0 {
		n.buried = append(n.buried, s.remnant)
	}
}

// dropBuried drops the buried remnants that readers have received.
func (n *net) dropBuried(now int64) {
	before := len(n.buried)
	n.buried = slices.DeleteFunc(n.buried, func(r *Remnant) bool { return now-r.Left > remnantKept })
	n.changed = n.changed || len(n.buried) != before
}

// allRemnants returns the remnants of the net: the same slice while they are the same.
func (n *net) allRemnants() []*Remnant {
	all := slices.Clone(n.buried)
	for _, of := range [][]*source{n.order, n.orphans} {
		for _, s := range of {
			if s.remnant != nil {
				all = append(all, s.remnant)
			}
			all = s.appendBelow(all)
		}
	}
	if !slices.Equal(all, n.remnants) {
		n.remnants = all
	}
	return n.remnants
}
