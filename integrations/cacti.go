// SPDX-License-Identifier: Apache-2.0

package integrations

import (
	"encoding/xml"
	"fmt"
	"strings"

	"github.com/pnagent/pnagent/internal/plaintext"
)

// cactiFiles returns a data query for each table.
func cactiFiles(s *site) (files []File) {
	for _, t := range tables() {
		files = append(files, File{Path: "cacti/pn_" + t.key + ".xml", Content: []byte(s.dataQuery(&t))})
	}
	return append(files, s.readme("cacti", cactiPage))
}

// dataQuery returns the data query of a table. Cacti takes the last number of an OID for the
// index of a row, unless an expression finds another. A data source of Cacti belongs to the row that
// has its value in the sort field, which is the first field of index_order whose values are unique at
// the time, and any field with the OID of oid_index. So there is one field, the index: it is unique,
// and a name is not.
func (s *site) dataQuery(t *shown) string {
	names := s.known(t.names())
	first := names[0].OID.String()
	parse := `OID/REGEXP:.*\.([0-9]+)$`
	for _, section := range s.described.Sections {
		if section.Name == t.section && len(section.Index) == 2 {
			parse = `OID/REGEXP:.*\.([0-9]+\.[0-9]+)$`
		}
	}
	var out strings.Builder
	title := "|query_" + t.net + "|"
	if t.label != t.net {
		title += ": |query_" + t.label + "|"
	}
	fmt.Fprintf(&out, "<!-- pnagent wrote this file; it goes to resource/snmp_queries/ -->\n<interface>\n  <name>%s</name>\n  <description>%s</description>\n"+
		"  <oid_index>.%s</oid_index>\n  <oid_index_parse>%s</oid_index_parse>\n  <index_order>pnIndex</index_order>\n  <index_order_type>alphanumeric</index_order_type>\n"+
		"  <index_title_format>%s</index_title_format>\n  <fields>\n",
		xmlText("Petri nets: "+strings.ToLower(t.title)), xmlText(t.title+" that pnagent shows in "+t.section), first, xmlText(parse), xmlText(title))
	field := func(tag, name, source, direction, oid string) {
		fmt.Fprintf(&out, "    <%s><name>%s</name><method>walk</method><source>%s</source><direction>%s</direction><oid>.%s</oid></%s>\n",
			tag, xmlText(name), xmlText(source), direction, oid, tag)
	}
	field("pnIndex", "Index", parse, "input", first)
	for _, o := range names {
		fmt.Fprintf(&out, "    <%s><name>%s</name><method>walk</method><source>value</source><output_format>ascii</output_format><direction>input</direction><oid>.%v</oid></%[1]s>\n",
			o.Name, xmlText(spaced(o)), o.OID)
	}
	for _, o := range s.numbers(t) {
		field(o.Name, spaced(o), "value", "output", o.OID.String())
	}
	out.WriteString("  </fields>\n</interface>\n")
	return out.String()
}

// xmlText returns a text as character data of XML.
func xmlText(s string) string {
	var out strings.Builder
	_ = xml.EscapeText(&out, []byte(plaintext.Escape(s))) // a Builder takes all
	return out.String()
}

const cactiPage = `# Cacti reads pnagent

1. Copy ~pn_*.xml~ to ~resource/snmp_queries/~ below Cacti's directory.
2. *Data Collection, Data Queries, +*: input method *Get SNMP Data (Indexed)*, XML path
   ~<path_cacti>/resource/snmp_queries/pn_place.xml~; the same for ~pn_net.xml~, ~pn_transition.xml~ and ~pn_source.xml~.
3. *Templates, Data Source* and *Graph*: one for each number that you want, of the type COUNTER for ~firings~, ~arrivals~ and ~departures~,
   GAUGE for all others. Add them to the data query as *Associated Graph Templates*.
4. Add the device with SNMPv3, and the data query to it with the re-index method *Index Count Changed*. *Create Graphs* lists all rows.

Names beyond ASCII are shown as bytes in hexadecimal until net-snmp on Cacti's host has the module: copy ~../mibs~ to a directory, such as
~/usr/local/share/pnagent/mibs~, and set both in ~/etc/snmp/snmp.conf~; then re-index the device:

~~~
mibdirs +/usr/local/share/pnagent/mibs:/usr/local/share/pnagent/mibs/smi
mibs +PETRINET-MIB
~~~

A graph belongs to a row by ~pnIndex~: the numbers of its net and of its place or transition in ~oids.lock~, which never change, or a number that is
made of the net and the name of a source. Rows whose net
has left keep their graphs, without values. Graphs that were made when these files found rows by name take the numbers of their rows by
~php cli/reorder_data_query.php --host-id=ID --qid=ID~: run it once after you copied the files, before Cacti re-indexes.

Cacti has no way to ship graphs in a file that is worth writing by hand, so these are clicks. Alarms are notifications: see the output of
~pnagent integrations snmptrapd~.

All OIDs are below ROOT.
`
