// SPDX-License-Identifier: Apache-2.0

package smi

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// ErrLayout is wrapped by every error of NewLayout.
var ErrLayout = errors.New("bad table layout")

// Layout is the sorted names of a table and the object types they are
// instances of. It is immutable and shared by the tables of many ticks.
type Layout struct {
	parts []part // at least one; see Join
	n     int
}

// part is names that follow each other in one arena.
type part struct {
	names   arena
	objects arena
	// common is how many leading sub-identifiers all names share. A search
	// compares them once and then skips them at every step.
	common int
	first  int // index of its first name in the layout
}

// NewLayout takes the names in ascending order, without duplicates, and the
// object types (a scalar without its .0, a column without its index) in
// ascending order, none below another. It sorts nothing: what is out of
// order is refused with the two names, because it shows a fault in whoever
// made the list. A name need not lie below one of the objects. Both lists
// are copied.
func NewLayout(names, objects []OID) (*Layout, error) {
	n, err := newArena("name", names)
	if err != nil {
		return nil, err
	}
	o, err := newArena("object", objects)
	if err != nil {
		return nil, err
	}
	for i := 1; i < len(objects); i++ {
		if objects[i].HasPrefix(objects[i-1]) {
			return nil, fmt.Errorf("%w: object %v lies below object %v", ErrLayout, objects[i], objects[i-1])
		}
	}
	p := part{names: n, objects: o}
	if len(names) > 0 {
		p.common = commonPrefix(names[0], names[len(names)-1])
	}
	return &Layout{parts: []part{p}, n: len(names)}, nil
}

// Join puts layouts behind each other: every name of one comes after all names
// of those before it. It copies no names, so that rows which come and go in
// the middle of a large table cost only themselves. It is meant for a few
// layouts: a search looks at one after the other.
func Join(layouts ...*Layout) (*Layout, error) {
	joined := &Layout{}
	var last OID
	for _, l := range layouts {
		if l.n > 0 {
			if last != nil && l.Name(0).Compare(last) <= 0 {
				return nil, fmt.Errorf("%w: name %v of a later layout does not come after %v", ErrLayout, l.Name(0), last)
			}
			last = l.Name(l.n - 1)
		}
		for _, p := range l.parts {
			p.first += joined.n
			joined.parts = append(joined.parts, p)
		}
		joined.n += l.n
	}
	return joined, nil
}

// Len is the number of names.
func (l *Layout) Len() int { return l.n }

// Name is the i-th name, 0 <= i < Len: a view, not to be changed.
func (l *Layout) Name(i int) OID {
	k := len(l.parts) - 1
	for l.parts[k].first > i {
		k--
	}
	return l.parts[k].names.at(i - l.parts[k].first)
}

// search is the index of the first name after name, or of name itself where
// include is set and it is there; Len when there is none.
func (l *Layout) search(name OID, include bool) int {
	for k := range l.parts {
		p := &l.parts[k]
		if k < len(l.parts)-1 && p.before(name, include) {
			continue
		}
		if i := p.search(name, include); i < p.names.len() {
			return p.first + i
		}
	}
	return l.n
}

// before tells whether all names of the part come before what is searched.
func (p *part) before(name OID, include bool) bool {
	n := p.names.len()
	if n == 0 {
		return true
	}
	c := p.names.at(n - 1).Compare(name)
	return c < 0 || c == 0 && !include
}

// search is the same within the part.
func (p *part) search(name OID, include bool) int {
	n := p.names.len()
	if n == 0 {
		return 0
	}
	k := p.common
	if c := slices.Compare(name[:min(k, len(name))], p.names.at(0)[:k]); c < 0 {
		return 0
	} else if c > 0 {
		return n
	}
	return p.names.search(name[k:], k, include)
}

// hasObject tells whether name is an object type of the layout or lies below one.
func (l *Layout) hasObject(name OID) bool {
	for k := range l.parts {
		objects := &l.parts[k].objects
		if i := objects.search(name, 0, false); i > 0 && name.HasPrefix(objects.at(i-1)) {
			return true
		}
	}
	return false
}

// Table is a Layout with one value for each name, immutable.
type Table struct {
	layout *Layout
	values []Value
}

// NewTable puts values beside the names of l. It keeps values, which must
// not be written to any more. It panics when there is not one value for each
// name, which only a fault of the caller can bring about.
func NewTable(l *Layout, values []Value) *Table {
	if len(values) != l.Len() {
		panic(fmt.Sprintf("smi: %d values for a layout of %d names", len(values), l.Len()))
	}
	return &Table{layout: l, values: values}
}

// Layout is the names of the table.
func (t *Table) Layout() *Layout { return t.layout }

// Len is the number of variables.
func (t *Table) Len() int { return len(t.values) }

// At is the i-th variable, 0 <= i < Len. Its name is a view, not to be changed.
func (t *Table) At(i int) Variable {
	return Variable{Name: t.layout.Name(i), Value: t.values[i]}
}

// Get is the value of name, or the exception noSuchInstance or noSuchObject.
func (t *Table) Get(name OID) Value {
	i := t.layout.search(name, true)
	switch {
	case i < t.Len() && slices.Equal(t.layout.Name(i), name):
		return t.values[i]
	case t.layout.hasObject(name):
		return NoSuchInstance()
	}
	return NoSuchObject()
}

// Search is the index of the first variable whose name comes after name, or
// is name where include is set; Len when there is none.
func (t *Table) Search(name OID, include bool) int { return t.layout.search(name, include) }

// Next is the first variable after name; false when name is at or after the
// last one. Its name is a view, not to be changed.
func (t *Table) Next(name OID) (Variable, bool) {
	i := t.layout.search(name, false)
	if i == t.Len() {
		return Variable{}, false
	}
	return t.At(i), true
}

// arena is a list of names in one flat array: two allocations for 100,000
// names, and nothing in it for the garbage collector to follow.
type arena struct {
	subs []uint32
	ends []uint32 // ends[i] is where name i ends in subs
}

func newArena(what string, names []OID) (arena, error) {
	total := 0
	for i, name := range names {
		if len(name) == 0 || len(name) > MaxSubIdentifiers {
			return arena{}, fmt.Errorf("%w: %s %d has %d sub-identifiers, want 1 to %d",
				ErrLayout, what, i, len(name), MaxSubIdentifiers)
		}
		if i > 0 && name.Compare(names[i-1]) <= 0 {
			return arena{}, fmt.Errorf("%w: %s %v (at %d) does not come after %v",
				ErrLayout, what, name, i, names[i-1])
		}
		total += len(name)
	}
	if total > math.MaxUint32 {
		return arena{}, fmt.Errorf("%w: %d sub-identifiers in all are too many", ErrLayout, total)
	}
	a := arena{subs: make([]uint32, 0, total), ends: make([]uint32, 0, len(names))}
	for _, name := range names {
		a.subs = append(a.subs, name...)
		a.ends = append(a.ends, uint32(len(a.subs)))
	}
	return a, nil
}

func (a *arena) len() int { return len(a.ends) }

func (a *arena) at(i int) OID {
	var start uint32
	if i > 0 {
		start = a.ends[i-1]
	}
	end := a.ends[i]
	return OID(a.subs[start:end:end])
}

// search is the index of the first name whose sub-identifiers from skip on
// come after tail (or are tail, where include is set). All names must agree in
// the first skip. The comparison is written out: it is the innermost loop of
// a walk, and a call for each step costs a third of it.
func (a *arena) search(tail OID, skip int, include bool) int {
	lo, hi := 0, len(a.ends)
	for lo < hi {
		mid := int(uint(lo+hi) / 2)
		var start uint32
		if mid > 0 {
			start = a.ends[mid-1]
		}
		other := a.subs[int(start)+skip : a.ends[mid]]
		i := 0
		for i < len(tail) && i < len(other) && tail[i] == other[i] {
			i++
		}
		var after bool // the name at mid comes after tail, or is the one sought
		switch {
		case i < len(tail) && i < len(other):
			after = other[i] > tail[i]
		case len(other) == len(tail):
			after = include
		default:
			after = len(other) > len(tail)
		}
		if after {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}

func commonPrefix(a, b OID) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
