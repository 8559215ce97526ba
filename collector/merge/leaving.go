// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"cmp"
	"slices"
	"time"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
)

// settledAfter is how long a row is reported before it is settled.
const settledAfter = int64(time.Minute / time.Microsecond)

// RowSet is a set of places and transitions of a net, by index.
type RowSet struct{ Places, Transitions []bool }

// rowAge is how long sources have a row of the union.
type rowAge struct {
	since int64 // when the row was added; 0 once it is settled
	left  int64 // since when no source has it; 0 while one does
	file  bool  // it is in the file that defines the net
}

// savedAge is a rowAge in a state.
type savedAge struct {
	Row   int   `json:"row"` // index in the definition, places first
	Since int64 `json:"since,omitempty"`
	Left  int64 `json:"left,omitempty"`
}

// ages holds the ages of all rows of a net.
type ages struct {
	places, transitions []rowAge
	open                int              // rows that are not settled, and that a source has
	leaves              int64            // when the next row leaves the View; 0 if none does
	users               map[string]int64 // digests of the sources that are not gone, and the time of their last rows
	seen                map[string]int64 // users as of the last look
	recent, left        *RowSet          // see NetView
	present, all        visible
}

// grow adds the rows that the union gained. Those of a net that is not settled, and those
// that another collector has accepted, are settled at once.
func (a *ages) grow(places, transitions int, settled bool, now int64) {
	since := now
	if settled {
		since = 0
	} else {
		a.open += places - len(a.places) + transitions - len(a.transitions)
	}
	for len(a.places) < places {
		a.places = append(a.places, rowAge{since: since})
	}
	for len(a.transitions) < transitions {
		a.transitions = append(a.transitions, rowAge{since: since})
	}
	a.seen = nil
}

// ofFile marks the rows of a definition as those of a file.
func (a *ages) ofFile(c *columns) {
	for _, i := range c.places {
		a.places[i].file = true
	}
	for _, i := range c.transitions {
		a.transitions[i].file = true
	}
}

// restore sets the ages of rows from a state, whose columns are c. The first rows,
// in these numbers, stay.
func (a *ages) restore(saved []savedAge, c *columns, places, transitions int) {
	for _, r := range saved {
		var row *rowAge
		switch t := r.Row - len(c.places); {
		case r.Row < 0 || t >= len(c.transitions):
			continue
		case t >= 0 && int(c.transitions[t]) >= transitions:
			row = &a.transitions[c.transitions[t]]
		case t < 0 && int(c.places[r.Row]) >= places:
			row = &a.places[c.places[r.Row]]
		default:
			continue
		}
		if row.since == 0 && r.Since > 0 {
			a.open++
		}
		row.since, row.left = r.Since, r.Left
	}
	a.seen = nil
}

// saved returns the ages to keep in a state.
func (a *ages) saved() (out []savedAge) {
	if a.open == 0 && a.leaves == 0 && a.left == nil {
		return nil
	}
	for i, r := range slices.Concat(a.places, a.transitions) {
		if r.since != 0 || r.left != 0 {
			out = append(out, savedAge{Row: i, Since: r.since, Left: r.left})
		}
	}
	return out
}

// lookAtRows records which rows the sources have. It reports whether the sets of rows
// that are recent, or that have left the View, have changed.
func (n *net) lookAtRows(now, forget int64) (changed bool) {
	a := &n.ages
	if a.users == nil {
		a.users = make(map[string]int64)
	}
	clear(a.users)
	digest, last := "", int64(0) // of the sources before, of which most have the same
	for _, s := range n.contributors() {
		if s.rows == nil || s.state == Gone {
			continue
		}
		if s.digest != digest {
			digest, last = s.digest, 0
		}
		if last == 0 || s.rowsAt > last {
			last = max(s.rowsAt, a.users[digest])
			a.users[digest] = last
		}
	}
	if !n.settled && n.since != 0 {
		for _, at := range a.users {
			n.settled = n.settled || at-n.since >= settledAfter
		}
		changed = n.settled
	}
	same := a.seen != nil && len(a.seen) == len(a.users)
	for digest := range a.users {
		if _, was := a.seen[digest]; !was {
			same = false
		}
	}
	if same && a.open == 0 && (a.leaves == 0 || now < a.leaves) {
		return changed
	}
	a.seen, a.users = a.users, a.seen
	n.noteUse(now)
	return a.sets(now, forget) || changed
}

// noteUse updates the age of each row from the definitions in use.
func (n *net) noteUse(now int64) {
	a := &n.ages
	places, transitions := make([]int64, len(a.places)), make([]int64, len(a.transitions))
	unknown := false
	for digest, at := range a.seen {
		c := n.known[digest]
		if c == nil { // of a source that only the previous process has received
			unknown = true
			continue
		}
		for _, i := range c.places {
			places[i] = max(places[i], at)
		}
		for _, i := range c.transitions {
			transitions[i] = max(transitions[i], at)
		}
	}
	a.open = 0
	for i := range places {
		a.open += a.places[i].note(places[i], unknown, now)
	}
	for i := range transitions {
		a.open += a.transitions[i].note(transitions[i], unknown, now)
	}
}

// note updates the age of a row that sources reported last at a time; 0 if no source
// has it, as far as the definitions in use are known. It returns 1 if a source can
// settle the row.
func (r *rowAge) note(reported int64, unknown bool, now int64) (open int) {
	switch {
	case reported != 0 || r.file:
		r.left = 0
	case r.left == 0 && !unknown:
		r.left = now
	}
	if r.since != 0 && (r.file || reported-r.since >= settledAfter) {
		r.since = 0
	}
	if r.since != 0 && r.left == 0 {
		return 1
	}
	return 0
}

// sets makes the sets of rows that are recent, and that have left. A net without
// sources leaves as a whole only.
func (a *ages) sets(now, forget int64) (changed bool) {
	a.leaves = 0
	var recent, left *RowSet
	mark := func(set **RowSet, of func(*RowSet) []bool, i int) {
		if *set == nil {
			*set = &RowSet{Places: make([]bool, len(a.places)), Transitions: make([]bool, len(a.transitions))}
		}
		of(*set)[i] = true
	}
	each := func(rows []rowAge, of func(*RowSet) []bool) {
		for i, r := range rows {
			if r.since != 0 {
				mark(&recent, of, i)
			}
			switch {
			case r.left == 0 || len(a.seen) == 0:
			case now-r.left >= forget:
				mark(&left, of, i)
			case a.leaves == 0 || r.left+forget < a.leaves:
				a.leaves = r.left + forget
			}
		}
	}
	each(a.places, func(s *RowSet) []bool { return s.Places })
	each(a.transitions, func(s *RowSet) []bool { return s.Transitions })
	if !recent.equal(a.recent) {
		a.recent, changed = recent, true
	}
	if !left.equal(a.left) {
		a.left, changed = left, true
	}
	return changed
}

func (s *RowSet) equal(o *RowSet) bool {
	if s == nil || o == nil {
		return s == o
	}
	return slices.Equal(s.Places, o.Places) && slices.Equal(s.Transitions, o.Transitions)
}

// visible is a definition without the rows that have left, and without those that are not
// work, and the last net of it.
type visible struct {
	work                bool // only work is visible
	of                  *petri.Net
	left                *RowSet
	whole               bool // no row is left out
	from, net           *NetView
	recentFrom, recent  *RowSet // NetView.Recent
	def                 *petri.Net
	final               []bool
	places, transitions []int32 // index of each row of the definition; -1 if it is left out
	steps               []int32 // index of each transition, or of that of work of which it is a step
}

// define finds the rows of a definition that are visible, and their arcs.
func (v *visible) define(n *NetView) {
	v.of, v.left, v.from, v.net = n.Def, n.Left, nil, nil
	def, left := *n.Def, cmp.Or(n.Left, &RowSet{})
	gone := make(map[string]bool)
	def.Places, v.places = stay(n.Def.Places, func(i int, p *petri.Place) (string, bool) {
		return p.ID, in(left.Places, i) || v.work && p.Role != petri.RoleWork
	}, gone)
	def.Transitions, v.transitions = stay(n.Def.Transitions, func(i int, t *petri.Transition) (string, bool) {
		return t.ID, in(left.Transitions, i) || v.work && t.Role != petri.RoleWork
	}, gone)
	v.whole = len(gone) == 0
	if v.whole {
		return
	}
	def.Arcs = slices.DeleteFunc(slices.Clone(n.Def.Arcs), func(a petri.Arc) bool { return gone[a.Source] || gone[a.Target] })
	v.def, v.final, v.steps = &def, kept(n.Final, v.places), make([]int32, len(v.transitions))
	for i, owner := range n.Def.Owners() {
		v.steps[i] = v.transitions[i]
		if v.steps[i] < 0 && owner >= 0 {
			v.steps[i] = v.transitions[owner]
		}
	}
}

func in(set []bool, i int) bool { return i < len(set) && set[i] }

// stay returns the rows that are visible, and the index of each row among them. It adds the ids
// of the others to gone.
func stay[T any](rows []T, hidden func(int, *T) (id string, is bool), gone map[string]bool) (out []T, index []int32) {
	index = make([]int32, len(rows))
	for i := range rows {
		if id, is := hidden(i, &rows[i]); is {
			index[i], gone[id] = -1, true
			continue
		}
		index[i] = int32(len(out))
		out = append(out, rows[i])
	}
	return out, index
}

// kept returns the rows that have an index.
func kept[T any](rows []T, index []int32) []T {
	out := make([]T, 0, len(rows))
	for i := range rows {
		if i < len(index) && index[i] >= 0 {
			out = append(out, rows[i])
		}
	}
	return out
}

// view returns a net with the rows that are visible. Sums over the net's counters
// still contain those of the others, so no counter falls.
func (v *visible) view(n *NetView) *NetView {
	if v.of != n.Def || v.left != n.Left {
		v.define(n)
	}
	if v.whole {
		return n
	}
	if v.from == n {
		return v.net
	}
	if v.recentFrom != n.Recent || v.from == nil {
		v.recentFrom, v.recent = n.Recent, nil
		if n.Recent != nil {
			v.recent = &RowSet{Places: kept(n.Recent.Places, v.places), Transitions: kept(n.Recent.Transitions, v.transitions)}
		}
	}
	v.from, v.net = n, v.without(n)
	return v.net
}

func (v *visible) without(n *NetView) *NetView {
	out, rows := *n, *n.Rows
	out.Def = v.def
	out.Final = v.final
	out.Recent = v.recent
	out.Left = nil
	out.Rows = &rows
	rows.Places, rows.Transitions = kept(rows.Places, v.places), kept(rows.Transitions, v.transitions)
	for i := range rows.Places {
		p := &rows.Places[i]
		p.Stuck, p.Groups = slices.Clone(p.Stuck), slices.Clone(p.Groups)
		for k := range p.Stuck {
			p.Stuck[k].Waits = v.waits(p.Stuck[k].Waits)
		}
		for k := range p.Groups {
			p.Groups[k].Oldest.Waits = v.waits(p.Groups[k].Oldest.Waits)
		}
	}
	rows.Blocks = nil
	for _, b := range n.Rows.Blocks {
		if v.moved(&b.Transition, &b.Place) {
			rows.Blocks = append(rows.Blocks, b)
		}
	}
	out.Blocked, out.OldestPlace = kept(n.Blocked, v.transitions), 0
	if n.OldestSince != 0 {
		out.OldestPlace = int(max(v.places[n.OldestPlace], 0))
	}
	if n.Rates != nil {
		rates := *n.Rates
		rates.Transitions, rates.Arrivals, rates.Departures = kept(rates.Transitions, v.transitions), kept(rates.Arrivals, v.places), kept(rates.Departures, v.places)
		out.Rates = &rates
	}
	return &out
}

// waits returns what a token waits for. A step on the way of an element is the element's.
func (v *visible) waits(waits []stats.Wait) (out []stats.Wait) {
	for _, w := range waits {
		step := v.steps[w.Transition]
		switch kept := v.moved(&w.Transition, &w.Place); {
		case step < 0:
			continue
		case !kept:
			w.Transition, w.Place = step, stats.NoPlace
		}
		if !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}

// moved replaces the indices of a transition and a place, and reports whether both
// have one.
func (v *visible) moved(transition, place *int32) bool {
	*transition = v.transitions[*transition]
	if *place != stats.NoPlace {
		*place = v.places[*place]
		return *transition >= 0 && *place >= 0
	}
	return *transition >= 0
}

// Present returns the View with work only, and without the rows in NetView.Left: what SNMP,
// Prometheus, the API and the lists of the page show. With Rules.Bookkeeping it has the rows that
// are not work, too. Its nets have other indices than those of the View. It returns the
// View itself if there is no such row.
func (v *View) Present() *View {
	if v == nil || v.present == nil {
		return v
	}
	return v.present
}

// All returns the View without the rows in NetView.Left, as Present does, but with those that
// are not work: what a drawing of a net shows. Its own Present is that of the View.
func (v *View) All() *View {
	if v == nil || v.all == nil {
		return v
	}
	return v.all
}

// SetPresent makes what Present and All return.
func (m *Merger) SetPresent(v *View) {
	v.setPresent(m.bookkeeping, func(net string) *ages { return &m.nets[net].ages })
}

func (v *View) setPresent(bookkeeping bool, of func(net string) *ages) {
	v.all = v.with(func(n *NetView) *NetView { return of(n.Name).all.view(n) })
	v.present = v.all
	if !bookkeeping {
		v.present = v.with(func(n *NetView) *NetView {
			seen := &of(n.Name).present
			seen.work = true
			return seen.view(n)
		})
	}
	if v.all != nil {
		v.all.present = v.present
	}
}

// with returns a View with other nets; nil if each is the same.
func (v *View) with(other func(*NetView) *NetView) (out *View) {
	for i, n := range v.Nets {
		seen := other(n)
		if seen == n {
			continue
		}
		if out == nil {
			changed := *v
			out = &changed
			out.present, out.all, out.Nets = nil, nil, slices.Clone(v.Nets)
		}
		out.Nets[i] = seen
	}
	return out
}
