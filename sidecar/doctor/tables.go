// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gosnmp/gosnmp"

	"github.com/pnagent/pnagent/mib"
	"github.com/pnagent/pnagent/mib/smi"
)

const (
	// maxRows bounds a walk.
	maxRows = 20_000
	// repetitions are the rows that a walk asks for at once.
	repetitions = 25
)

// tableOf returns the table of PETRINET-MIB with a column, and the OID of the column.
func (d *doctor) tableOf(column string) (table mib.Section, oid smi.OID) {
	for _, s := range mib.Describe(d.Sidecar.Root).Sections {
		for _, o := range s.Objects {
			if o.Name == column {
				return s, o.OID
			}
		}
	}
	return table, nil
}

// tables compares what the tables have with what the sidecar shows.
func (d *doctor) tables(name, looked string, m *Manager, c *gosnmp.GoSNMP) Finding {
	f := Finding{Check: name + ".tables", Looked: looked + ", the tables of nets and places", Outcome: Unknown}
	_, netNames := d.tableOf("pnNetName")
	_, placeNames := d.tableOf("pnPlaceName")
	nets, err := walk(c, netNames)
	var places []gosnmp.SnmpPDU
	if err == nil {
		places, err = walk(c, placeNames)
	}
	switch {
	case err != nil:
		f.Outcome = Fails
		f.Cause, f.Hints = brokenOff(c, placeNames, len(places), err)
	case d.view == nil:
		f.Cause = "the sidecar does not answer, so there is nothing to compare with"
	default:
		f.Outcome, f.Cause, f.Hints = d.compare(m, c, nets, places)
	}
	return f
}

// brokenOff returns why a walk ended with an error.
func brokenOff(c *gosnmp.GoSNMP, column smi.OID, rows int, err error) (cause string, hints []Hint) {
	if next, bad := c.GetNext([]string{"." + column.String()}); isTimeout(err) && bad == nil && next.Error == gosnmp.NoError {
		return fmt.Sprintf("the agent answers a question about one row, and its answer about %d rows is lost: a firewall drops the parts of large packets", repetitions),
			[]Hint{{snmpd, "maxGetbulkRepeats 5"}, {"run at the firewall", "let fragments of UDP pass"}}
	}
	return fmt.Sprintf("the walk broke off after %d places, because snmpd got no answer from the sidecar in time: %v", rows, err), []Hint{{snmpd, "agentXTimeout 5"}, {snmpd, "agentXRetries 2"}}
}

// compare holds the rows that were walked against the View.
func (d *doctor) compare(m *Manager, c *gosnmp.GoSNMP, nets, places []gosnmp.SnmpPDU) (Outcome, string, []Hint) {
	want, shown := 0, 0
	for i := range d.view.Nets {
		n := &d.view.Nets[i]
		if slices.ContainsFunc(nets, func(v gosnmp.SnmpPDU) bool { return textOf(v) == n.ID || textOf(v) == n.Name }) {
			shown++
			want += len(n.Places)
		}
	}
	switch {
	case shown < len(d.view.Nets):
		cause, hints := d.cut(m, c, "pnNetName", nets)
		return Fails, fmt.Sprintf("%d of the %d nets of the sidecar are in the table: %s", shown, len(d.view.Nets), cause), hints
	case len(places) >= maxRows:
		return Unknown, fmt.Sprintf("there are more than %d places; no more were read", maxRows), nil
	case len(places) < want:
		cause, hints := d.cut(m, c, "pnPlaceName", places)
		return Fails, fmt.Sprintf("the table of places ends after %d of %d rows: %s", len(places), want, cause), hints
	}
	if hidden := d.hiddenColumns(c, places); len(hidden) > 0 {
		return Fails, "a view of snmpd.conf shows the names of places and hides other columns: " + strings.Join(hidden, ", "), d.viewHints(m)
	}
	if got := few(c, places); got > 0 {
		return Fails, fmt.Sprintf("snmpd answers a question about %d rows with %d: a walk takes that many times the requests, and a manager that asks once shows no more", min(len(places), repetitions), got),
			[]Hint{{snmpd, "maxGetbulkRepeats 0"}, {snmpd, fmt.Sprintf("maxGetbulkResponses %d", 4*repetitions)}}
	}
	return OK, fmt.Sprintf("%d nets and %d places, as the sidecar has", shown, len(places)), nil
}

// cut returns why a table ends before its end. An agent has no such object where a view hides it, and
// no such instance where the table has no such row.
func (d *doctor) cut(m *Manager, c *gosnmp.GoSNMP, column string, rows []gosnmp.SnmpPDU) (cause string, hints []Hint) {
	_, oid := d.tableOf(column)
	next := "." + oid.Append(1, 1).String()
	if column == "pnNetName" {
		next = "." + oid.Append(1).String()
	}
	if len(rows) > 0 {
		last, err := smi.ParseOID(strings.TrimPrefix(rows[len(rows)-1].Name, "."))
		if err == nil {
			last[len(last)-1]++
			next = "." + last.String()
		}
	}
	got, err := c.Get([]string{next})
	if err == nil && len(got.Variables) == 1 && got.Variables[0].Type == gosnmp.NoSuchObject {
		return "a view of snmpd.conf hides the rest", d.viewHints(m)
	}
	return fmt.Sprintf("what answers has no more rows: another sidecar has the subtree, as one with another --nats.prefix or --net-allow, or this one does not number a net yet (see %s/-/ready)", d.URL),
		[]Hint{d.flag("agentx.priority", "LESS-THAN-THAT-OF-THE-OTHER")}
}

// hiddenColumns returns the columns of the first place that a view hides.
func (d *doctor) hiddenColumns(c *gosnmp.GoSNMP, places []gosnmp.SnmpPDU) (names []string) {
	table, oid := d.tableOf("pnPlaceName")
	if len(places) == 0 {
		return nil
	}
	row := strings.TrimPrefix(places[0].Name, "."+oid.String())
	for _, o := range table.Objects {
		if o.Key {
			continue
		}
		got, err := c.Get([]string{"." + o.OID.String() + row})
		if err == nil && len(got.Variables) == 1 && got.Variables[0].Type == gosnmp.NoSuchObject {
			names = append(names, o.Name)
		}
	}
	return names
}

// few returns the rows that an agent puts into one answer, if it could put more into it; else 0.
func few(c *gosnmp.GoSNMP, places []gosnmp.SnmpPDU) int {
	if len(places) < 2 {
		return 0
	}
	column := places[0].Name[:strings.LastIndexByte(places[0].Name, '.')]
	column = column[:strings.LastIndexByte(column, '.')] // an index has two numbers
	got, err := c.GetBulk([]string{column}, 0, repetitions)
	const part = 4 // long names fill a packet before all rows that were asked for are in it
	if err != nil || part*len(got.Variables) >= min(len(places), repetitions) {
		return 0
	}
	return len(got.Variables)
}

// errEnough ends a walk.
var errEnough = errors.New("enough")

// walk returns the texts of a column.
func walk(c *gosnmp.GoSNMP, column smi.OID) (all []gosnmp.SnmpPDU, err error) {
	err = c.BulkWalk("."+column.String(), func(v gosnmp.SnmpPDU) error {
		if _, ok := v.Value.([]byte); !ok {
			return fmt.Errorf("%s is a %v; expected a text", v.Name, v.Type)
		}
		all = append(all, v)
		if len(all) >= maxRows {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return all, err
}

func textOf(v gosnmp.SnmpPDU) string {
	text, _ := v.Value.([]byte) // walk has checked it
	return string(text)
}
