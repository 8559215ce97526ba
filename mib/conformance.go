// SPDX-License-Identifier: Apache-2.0

package mib

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
