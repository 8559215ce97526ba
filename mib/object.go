// SPDX-License-Identifier: Apache-2.0

package mib

import (
	"cmp"
	"fmt"

	"github.com/pnagent/pnagent/mib/smi"
	"github.com/pnagent/pnagent/stats"
)

// objectPrefix begins the names of objects and notifications of PETRINET-MIB, because tools
// have the objects of all modules in one list.
const objectPrefix = "pn"

// inModule returns a name with objectPrefix: pnPlace.
func inModule(name string) string { return objectPrefix + upperFirst(name) }

// object describes one number or text: a column or a scalar of PETRINET-MIB and, if named is
// set, also a scalar of every place or transition in its net's own module. The modules' text
// and the table of values are both made from it.
type object struct {
	sub    uint32 // last sub-identifier, here and in a net's module; never changed once published
	suffix string // pnPlaceTokens in PETRINET-MIB, bwQueuedTokens in a net's module
	syntax syntax
	units  string
	text   string        // DESCRIPTION
	number string        // of a table of stats, or a column; "" for none
	needs  stats.Columns // no instance if no source reports this
	named  bool
}

// column is an object and the function that returns its value of one row.
type column[R any] struct {
	object
	value func(*R) smi.Value
}

// values are the functions of columns, by the suffixes of their objects.
type values[R any] map[string]func(*R) smi.Value

// columns returns the objects of a group that have a function, in the order of their OIDs.
func columns[R any](group string, of values[R]) []column[R] {
	return numbers(group, of, &stats.Table[R]{}, nil)
}

// numbers is columns of a group with the numbers of a table of stats: they need no function. row
// returns where they are.
func numbers[R, S any](group string, of values[R], t *stats.Table[S], row func(*R) (*S, *clock)) []column[R] {
	objects, functions := petrinet().objects[group], 0
	all := make([]column[R], 0, len(of))
	for i := range objects {
		o := &objects[i]
		n, _ := t.Named(o.number)
		value := of[o.suffix]
		switch {
		case value != nil:
			functions++
		case n.Count != nil:
			value = func(r *R) smi.Value { s, _ := row(r); return o.syntax.count(*n.Count.Of(s)) }
		case n.Moment != nil && o.syntax.name == "DateAndTime":
			value = func(r *R) smi.Value { s, at := row(r); return at.date(*n.Moment.Of(s)) }
		case n.Moment != nil:
			value = func(r *R) smi.Value { s, at := row(r); return at.age(*n.Moment.Of(s)) }
		default:
			continue
		}
		all = append(all, column[R]{*o, value})
	}
	if functions < len(of) {
		panic("mib: a value of " + group + " has no object")
	}
	return all
}

// count returns a count as a value of the syntax.
func (s *syntax) count(n uint64) smi.Value {
	switch s.typ {
	case smi.TypeCounter64:
		return smi.Counter64(n)
	case smi.TypeCounter32:
		return counter32(n)
	}
	return gauge(n)
}

func objectsOf[R any](columns []column[R]) []object {
	objects := make([]object, len(columns))
	for i := range columns {
		objects[i] = columns[i].object
	}
	return objects
}

// table describes a conceptual table of PETRINET-MIB.
type table struct {
	sub     uint32 // under objects
	name    string // "place" for pnPlaceTable, pnPlaceEntry and PnPlaceEntry
	prefix  string // of its columns, if not name
	text    string // DESCRIPTION of the table
	rowText string // DESCRIPTION of a row
	// reference is the REFERENCE of the table; "" for none.
	reference string
	index     []string // descriptors of the INDEX clause
	keys      []object // those of index that are columns of this table: not accessible, before all others
	columns   []object
	group     string // DESCRIPTION of its group
	must      bool   // whether the group is mandatory for compliance
}

func (t *table) columnPrefix() string { return inModule(cmp.Or(t.prefix, t.name)) }

// syntax is a SYNTAX clause and the name to import for it.
type syntax struct {
	clause string   // "SnmpAdminString (SIZE (0..255))"
	name   string   // as in a SEQUENCE: "SnmpAdminString"
	typ    smi.Type // on the wire
	see    string   // REFERENCE of the objects; "" for none
	labels []string // of an enumeration, from 1
}

// withNumbers returns the labels of an enumeration with their numbers, from 1.
func withNumbers(labels []string) []string {
	all := make([]string, len(labels))
	for i, l := range labels {
		all[i] = fmt.Sprintf("%s(%d)", l, i+1)
	}
	return all
}

func plain(name string, typ smi.Type) syntax { return syntax{clause: name, name: name, typ: typ} }
