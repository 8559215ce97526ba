// SPDX-License-Identifier: Apache-2.0

package mib

import (
	"cmp"
	"fmt"
	"strings"

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
	needs  stats.Columns // no instance if no source reports this
	named  bool
}

// column is an object and the function that returns its value of one row.
type column[R any] struct {
	object
	value func(*R) smi.Value
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

// petriNets is the reference for the terms of Petri nets.
const petriNets = "ISO/IEC 15909-1: High-level Petri nets - Part 1: Concepts, definitions and graphical notation."

func (s syntax) seeing(reference string) syntax {
	s.see = reference
	return s
}

// syntaxCounter returns the syntax of a counter that may rise by 2^32 within an hour, and
// syntaxCounter32 that of any other (RFC 2578, sections 7.1.6 and 7.1.10).
func syntaxCounter() syntax   { return plain("Counter64", smi.TypeCounter64) }
func syntaxCounter32() syntax { return plain("Counter32", smi.TypeCounter32) }

func syntaxGauge() syntax    { return plain("Gauge32", smi.TypeGauge32) }
func syntaxLength() syntax   { return plain("Unsigned32", smi.TypeGauge32) } // a duration; see UNITS
func syntaxSigned() syntax   { return plain("Integer32", smi.TypeInteger) }
func syntaxDate() syntax     { return plain("DateAndTime", smi.TypeOctetString) }
func syntaxRate() syntax     { return plain("PetrinetRate", smi.TypeGauge32) }
func syntaxReason() syntax   { return labelled("PetrinetReason") }
func syntaxState() syntax    { return labelled("PetrinetSourceState") }
func syntaxAlarm() syntax    { return labelled("PetrinetAlarm") }
func syntaxSeverity() syntax { return labelled("PetrinetSeverity") }
func syntaxPointer() syntax  { return plain("RowPointer", smi.TypeObjectIdentifier) }

func syntaxText() syntax {
	return syntax{clause: "SnmpAdminString (SIZE (0..255))", name: "SnmpAdminString", typ: smi.TypeOctetString}
}

// syntaxDigest returns the syntax of the beginning of a digest.
func syntaxDigest() syntax {
	return syntax{clause: "SnmpAdminString (SIZE (0..64))", name: "SnmpAdminString", typ: smi.TypeOctetString}
}

// syntaxIndex returns the syntax of an index; with zero it allows 0 for none.
func syntaxIndex(zero bool) syntax {
	if zero {
		return plain("PetrinetIndexOrZero", smi.TypeGauge32)
	}
	return plain("PetrinetIndex", smi.TypeGauge32)
}

// syntaxPriority returns the syntax of a priority as an index.
func syntaxPriority() syntax {
	return syntax{clause: "Unsigned32 (0..7)", name: "Unsigned32", typ: smi.TypeGauge32}
}

// agentXPriorities is the reference for which of two agents answers.
const agentXPriorities = "RFC 2741, section 7.1.4.1: of two registrations of a subtree the one of the lower priority value answers."

// syntaxPriorityAgentX returns the syntax of a registration's priority.
func syntaxPriorityAgentX() syntax {
	return syntax{clause: "Unsigned32 (0..255)", name: "Unsigned32", typ: smi.TypeGauge32, see: agentXPriorities}
}

// syntaxPercentile returns the syntax of a duration from a histogram.
func syntaxPercentile() syntax {
	return syntaxLength().seeing("Prometheus, Native Histograms: standard exponential buckets of schema 3. https://prometheus.io/docs/specs/native_histograms/")
}

func syntaxEnum(labels ...string) syntax {
	return syntax{clause: "INTEGER { " + strings.Join(withNumbers(labels), ", ") + " }", name: "INTEGER", typ: smi.TypeInteger, labels: labels}
}

// syntaxTruth returns the syntax of truth (RFC 2579, TruthValue).
func syntaxTruth() syntax {
	return syntax{clause: "TruthValue", name: "TruthValue", typ: smi.TypeInteger, labels: []string{"true", "false"}}
}

// labelled returns the syntax of one of conventions, with its labels.
func labelled(name string) syntax {
	s := plain(name, smi.TypeInteger)
	for _, c := range conventions() {
		if c.name == name {
			s.labels = c.labels
		}
	}
	return s
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
