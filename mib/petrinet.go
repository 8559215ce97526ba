// SPDX-License-Identifier: Apache-2.0

package mib

import (
	"errors"
	"fmt"
	"strings"

	"github.com/pnagent/pnagent/mib/smi"
)

// PetrinetModule is the name of the one module for all nets.
const PetrinetModule = "PETRINET-MIB"

// DefaultRoot is below net-snmp's playpen, for trials. A site uses its own enterprise number.
const DefaultRoot = "1.3.6.1.4.1.8072.9999.9999"

// ErrRoot is wrapped by the errors of ParseRoot.
var ErrRoot = errors.New("invalid OID root")

// maxRoot is the largest length of a root; it leaves room for the longest instance below.
const maxRoot = 100

// ParseRoot reads the identifier below which everything is registered. It must be below
// 1.3.6.1.4.1, under an enterprise number.
func ParseRoot(s string) (smi.OID, error) {
	root, err := smi.ParseOID(s)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRoot, err)
	}
	return root, checkRoot(root)
}

func enterprises() smi.OID { return smi.OID{1, 3, 6, 1, 4, 1} }

func checkRoot(root smi.OID) error {
	if len(root) <= len(enterprises()) || len(root) > maxRoot || !root.HasPrefix(enterprises()) {
		return fmt.Errorf("%w: %q; expected an enterprise number or something below it, as 1.3.6.1.4.1.32473.1", ErrRoot, root.String())
	}
	return nil
}

// petrinetRevisions returns the history of PETRINET-MIB, oldest first, with the digest of its
// content below DefaultRoot. A test fails if the content changes without a new revision.
func petrinetRevisions() []revision {
	return []revision{
		{date: "202611251900Z", digest: "66acd7f215035d86", text: "First version."},
		{date: "202611272200Z", digest: "a6b2c705bbe83531", text: "pnNetOldestAge leaves out the places for which the rules of the agent turn tokenStuck off. pnSourceIndex is made of the net and the name of the source. A source that was forgotten is not found: the notifications of ends say so."},
		{date: "202611292115Z", digest: "c14be20d1f389437", text: "Added pnTransitionNextDue, pnFiringMissed and pnFiringSeen."},
		{date: "202611292200Z", digest: "a5f3933b9782f57c", text: "Added noWorker of PetrinetReason, and pnAlarmReason, pnAlarmInstance and pnAlarmWhy, which notifications carry too."},
		{date: "202611301340Z", digest: "19bb4543ccc58fa5", text: "Added pnAgentxDisconnected and pnAgentxConnected."},
	}
}

// petrinetNames returns the descriptors of PETRINET-MIB, types included, and those of
// PETRINET-CAPS-MIB.
func petrinetNames() []string {
	m := &petrinetText{moduleText: newModuleText(), root: enterprises().Append(1, 1)}
	m.write()
	return append(m.names, capsIdentity, capsStatement)
}

// petrinetText writes PETRINET-MIB and keeps the names that it defines.
type petrinetText struct {
	*moduleText
	root   smi.OID
	names  []string
	groups []string
}

// PetrinetMIB returns the text of PETRINET-MIB below a root.
func PetrinetMIB(root smi.OID) ([]byte, error) {
	if err := checkRoot(root); err != nil {
		return nil, err
	}
	m := &petrinetText{moduleText: newModuleText(), root: root}
	m.write()
	return m.text(petrinetIdentity(petrinetRevisions())), nil
}

func petrinetIdentity(revisions []revision) identity {
	return identity{
		module: PetrinetModule, name: "petrinetMIB", parent: "petrinetRoot", sub: subPetrinet, contact: Contact, revisions: revisions,
		text: "Where the tokens of running Petri nets are stuck, for how long and why, and how fast the transitions fire, " +
			"summed over all instances on all machines. Everything is read-only. An object that no source of a net reports has " +
			"no instance: absent is not zero. Ages are in seconds, counters name the object that has their " +
			"discontinuity time, and an Unsigned32 or Gauge32 that would be larger stays at 4294967295. Each net has a module " +
			"of its own too, below petrinetNets, in which every place and transition is an object by its own name. At night: begin " +
			"with pnAlarmTable, go where pnAlarmRow points, and read pnStuckTable and pnBlockTable for why; pnAgentViewAge and pnAgentSourcesStale " +
			"show whether the numbers can be trusted.",
	}
}

func (m *petrinetText) write() {
	m.names = append(m.names, "petrinetMIB")
	m.arcs()
	m.conventions()
	m.define("petrinetNotifications", "petrinetMIB", 0)
	m.define("petrinetObjects", "petrinetMIB", subObjects)
	m.define("petrinetConformance", "petrinetMIB", subConformance)
	m.define("petrinetAgent", "petrinetObjects", subAgent)
	m.scalars(inModule("agent"), "petrinetAgent", objectsOf(agentScalars()))
	for _, t := range petrinet().tables {
		m.table(&t)
	}
	m.scalars(inModule("alarm"), "petrinetObjects", objectsOf(alarmScalars()))
	m.scalars(inModule("cleared"), "petrinetObjects", objectsOf(clearedScalars()))
	for _, n := range notifications() {
		m.names = append(m.names, n.descriptor())
		m.macro(n.descriptor(), "NOTIFICATION-TYPE", "OBJECTS", n.objects, "current", descriptionClause(n.text)+referenceClause(n.runbook()),
			"petrinetNotifications", n.sub)
	}
	m.conformance()
}

func (m *petrinetText) define(name, parent string, sub uint32) {
	m.names = append(m.names, name)
	m.node(name, parent, sub)
}

// arcs names every node between enterprises and the root, because tools report nodes without
// a name.
func (m *petrinetText) arcs() {
	parent := "enterprises"
	subs := m.root[len(enterprises()):]
	for i, sub := range subs {
		name := fmt.Sprintf("petrinetArc%d", i+1)
		if i == len(subs)-1 {
			name = "petrinetRoot"
		}
		m.define(name, parent, sub)
		parent = name
	}
	m.define("petrinetNets", "petrinetRoot", subNets)
}

func (m *petrinetText) scalars(prefix, parent string, objects []object) {
	for i := range objects {
		name := prefix + objects[i].suffix
		m.names = append(m.names, name)
		m.objectType(name, &objects[i], "read-only", "current", objects[i].text, parent)
	}
}

// table writes a table, its row, its sequence and its columns.
func (m *petrinetText) table(t *table) {
	name, row := inModule(t.name)+"Table", inModule(t.name)+"Entry"
	sequence := upperFirst(row)
	m.names = append(m.names, name, row)
	m.printf("%s OBJECT-TYPE\n    SYNTAX      SEQUENCE OF %s\n    MAX-ACCESS  not-accessible\n    STATUS      current\n%s%s    ::= { petrinetObjects %d }\n\n",
		name, sequence, descriptionClause(t.text), referenceClause(t.reference), t.sub)
	m.printf("%s OBJECT-TYPE\n    SYNTAX      %s\n    MAX-ACCESS  not-accessible\n    STATUS      current\n%s    INDEX       { %s }\n    ::= { %s 1 }\n\n",
		row, sequence, descriptionClause(t.rowText), strings.Join(t.index, ", "), name)
	all := append(append([]object{}, t.keys...), t.columns...)
	var members []string
	for _, o := range all {
		members = append(members, fmt.Sprintf("%s %s", t.columnPrefix()+o.suffix, o.syntax.name))
	}
	m.printf("%s ::= SEQUENCE {\n    %s\n}\n\n", sequence, strings.Join(members, ",\n    "))
	for i := range all {
		access := "read-only"
		if i < len(t.keys) {
			access = "not-accessible"
		}
		column := t.columnPrefix() + all[i].suffix
		m.names = append(m.names, column)
		m.objectType(column, &all[i], access, "current", all[i].text, row)
	}
}

func prefixed(prefix string, objects []object) []string {
	names := make([]string, len(objects))
	for i := range objects {
		names[i] = prefix + objects[i].suffix
	}
	return names
}

// convention is one TEXTUAL-CONVENTION.
type convention struct {
	name, hint, text, reference, syntax string
	labels                              []string // of an enumeration, from 1
}

func (m *petrinetText) conventions() {
	for _, c := range petrinet().conventions {
		m.names = append(m.names, c.name)
		m.use("TEXTUAL-CONVENTION", strings.Fields(c.syntax + " INTEGER")[0])
		m.printf("%s ::= TEXTUAL-CONVENTION\n", c.name)
		if c.hint != "" {
			m.printf("    DISPLAY-HINT \"%s\"\n", c.hint)
		}
		syntax := c.syntax
		if len(c.labels) > 0 {
			syntax = enumeration(c.labels)
		}
		m.printf("    STATUS      current\n%s%s    SYNTAX      %s\n\n", descriptionClause(c.text), referenceClause(c.reference), syntax)
	}
}

// enumeration returns an INTEGER with its labels, one a line.
func enumeration(labels []string) string {
	const indent = "\n                    "
	return "INTEGER {" + indent + strings.Join(withNumbers(labels), ","+indent) + "\n                }"
}

// Sub-identifiers below petrinetConformance.
const (
	subCompliances = 1
	subGroups      = 2
)

// conformance puts every object and notification into a group, and the groups
// into one compliance statement.
func (m *petrinetText) conformance() {
	m.define("petrinetCompliances", "petrinetConformance", subCompliances)
	m.define("petrinetGroups", "petrinetConformance", subGroups)
	must := []string{"petrinetAgentGroup"}
	var may [][2]string
	group := func(name, text string, members []string, sub uint32) {
		m.names, m.groups = append(m.names, name), append(m.groups, name)
		m.macro(name, "OBJECT-GROUP", "OBJECTS", members, "current", descriptionClause(text), "petrinetGroups", sub)
	}
	group("petrinetAgentGroup", "The agent that answers, and its traffic.", prefixed(inModule("agent"), objectsOf(agentScalars())), subAgent)
	for _, t := range petrinet().tables {
		members := prefixed(t.columnPrefix(), t.columns)
		switch t.name {
		case "alarm":
			members = append(members, prefixed(inModule("alarm"), objectsOf(alarmScalars()))...)
		case "cleared":
			members = append(members, prefixed(inModule("cleared"), objectsOf(clearedScalars()))...)
		}
		name := "petrinet" + upperFirst(t.name) + "Group"
		group(name, t.group, members, t.sub)
		if t.must {
			must = append(must, name)
		} else {
			may = append(may, [2]string{name, "Needed if sources report it: " + lowerHead(t.group)})
		}
	}
	var sent []string
	for _, n := range notifications() {
		sent = append(sent, n.descriptor())
	}
	m.names = append(m.names, "petrinetNotificationGroup", "petrinetCompliance")
	m.macro("petrinetNotificationGroup", "NOTIFICATION-GROUP", "NOTIFICATIONS", sent, "current",
		descriptionClause("Sent when an alarm is raised or cleared."), "petrinetGroups", 20)
	may = append(may, [2]string{"petrinetNotificationGroup", "Needed if operators are to be notified at once."})
	m.compliance("petrinetCompliance", "current", "The requirements for an agent that sums up Petri nets.", must, may, "petrinetCompliances", 1)
	m.groups = append(m.groups, "petrinetNotificationGroup")
}
