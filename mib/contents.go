// SPDX-License-Identifier: Apache-2.0

package mib

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/csv"
	"strconv"
	"strings"
	"sync"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/mib/smi"
	"github.com/pnagent/pnagent/stats"
)

// PETRINET-MIB is in four files, for spreadsheets and people: its tables, its objects, its
// notifications and its textual conventions. This package has the values of the objects.
//
//go:embed petrinet
var files embed.FS

// contents are what the files have.
type contents struct {
	tables      []table
	objects     map[string][]object // by table, without those of its index, and by group of scalars
	conventions []convention
	// notifications are in pairs for the raise and the clear of an alarm, but for the one that is about none.
	notifications []notification
}

// petrinet returns the contents, which are read once.
var petrinet = sync.OnceValue(func() *contents {
	c := &contents{objects: map[string][]object{}}
	for _, r := range records("conventions") {
		c.conventions = append(c.conventions, convention{name: r[0], hint: r[1], syntax: r[2], labels: strings.Fields(r[3]), reference: r[4], text: r[5]})
	}
	keys := map[string][]object{}
	for _, r := range records("objects") {
		needs, known := cmp.Or(tablesOfNumbers[r[0]], tablesOfNumbers["net"]).Column(r[6])
		if !known {
			panic("mib: no number and no column is " + r[6])
		}
		o := object{sub: number(r[1]), suffix: r[2], syntax: c.syntax(r[4], r[7]), units: r[5], text: r[8], number: r[6], needs: needs, named: r[3] == "named"}
		if of := c.objects; r[3] == "key" {
			keys[r[0]] = append(keys[r[0]], o)
		} else {
			of[r[0]] = append(of[r[0]], o)
		}
	}
	c.objects["placeAge"] = objectsOf(ageColumns())
	for _, r := range records("tables") {
		c.tables = append(c.tables, table{sub: number(r[0]), name: r[1], prefix: r[2], must: r[3] == "mandatory", index: strings.Fields(r[4]), reference: r[5],
			group: r[6], rowText: r[7], text: r[8], keys: keys[r[1]], columns: c.objects[r[1]]})
	}
	for _, r := range records("notifications") {
		n := notification{sub: number(r[0]), name: r[1], clears: r[3] == "clear", text: r[4], objects: []string{"pnAgentNotificationsSuppressed"}}
		if kind, about := alarm.KindNamed(r[2]); about {
			n.kind, n.objects = kind, nil
			for _, sub := range notifiedSubs() {
				n.objects = append(n.objects, inModule("alarm")+c.objects["alarm"][sub-firstColumn].suffix)
			}
		}
		c.notifications = append(c.notifications, n)
	}
	return c
})

// tablesOfNumbers are the tables of stats by group. The other groups name columns only.
var tablesOfNumbers = map[string]interface {
	Column(string) (stats.Columns, bool)
}{"net": stats.NetTable, "place": stats.PlaceTable, "transition": stats.TransitionTable, "queue": stats.QueueTable}

// records returns the lines of a file without its head.
func records(name string) [][]string {
	text, err := files.ReadFile("petrinet/" + name + ".csv")
	if err != nil {
		panic(err) // the files are part of the program, and a test reads them
	}
	all, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		panic(err) // as above
	}
	return all[1:]
}

func number(text string) uint32 {
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		panic(err) // as above
	}
	return uint32(n)
}

// tableOf returns a table by its name.
func tableOf(name string) table {
	for _, t := range petrinet().tables {
		if t.name == name {
			return t
		}
	}
	panic("mib: no table is " + name)
}

// wireTypes are the types on the wire of the syntaxes.
var wireTypes = map[string]smi.Type{"SnmpAdminString": smi.TypeOctetString, "DateAndTime": smi.TypeOctetString, "RowPointer": smi.TypeObjectIdentifier, "Counter64": smi.TypeCounter64,
	"Counter32": smi.TypeCounter32, "Gauge32": smi.TypeGauge32, "Unsigned32": smi.TypeGauge32, "PetrinetIndex": smi.TypeGauge32, "PetrinetIndexOrZero": smi.TypeGauge32,
	"PetrinetRate": smi.TypeGauge32, "Integer32": smi.TypeInteger, "INTEGER": smi.TypeInteger, "TruthValue": smi.TypeInteger, "PetrinetReason": smi.TypeInteger,
	"PetrinetSourceState": smi.TypeInteger, "PetrinetAlarm": smi.TypeInteger, "PetrinetSeverity": smi.TypeInteger}

// syntax returns a SYNTAX clause with the labels of an enumeration.
func (c *contents) syntax(clause, reference string) syntax {
	name, rest, _ := strings.Cut(clause, " ")
	typ, known := wireTypes[name]
	if !known {
		panic("mib: no syntax is " + name)
	}
	s := syntax{clause: clause, name: name, typ: typ, see: reference}
	switch name {
	case "TruthValue":
		s.labels = []string{"true", "false"}
	case "INTEGER":
		for label := range strings.SplitSeq(strings.Trim(rest, "{ }"), ", ") {
			label, _, _ = strings.Cut(label, "(")
			s.labels = append(s.labels, label)
		}
	}
	for _, of := range c.conventions {
		if of.name == name {
			s.labels = of.labels
		}
	}
	return s
}
