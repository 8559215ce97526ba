// SPDX-License-Identifier: Apache-2.0

package mib

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sleepinggenius2/gosmi"
	"github.com/sleepinggenius2/gosmi/types"
)

// reviewed is what a review (RFC 4181) of all modules of a net looks at.
type reviewed struct {
	texts map[string]string        // module to text
	nodes map[string]gosmi.SmiNode // MODULE::name
}

func reviewOf(t *testing.T) reviewed {
	t.Helper()
	dir, _ := generateTo(t, orderNet())
	without := orderNet()
	without.Places, without.Arcs = without.Places[:2], nil
	lock := generateInto(t, dir, testNow().AddDate(0, 1, 0), without)
	r := reviewed{texts: map[string]string{}}
	modules := []string{PetrinetModule, CapsModule, lock.Net("orderFulfilment").Module}
	r.nodes = parsed(t, dir, modules...)
	files := readAll(t, dir)
	for _, m := range modules {
		r.texts[m] = files[m+".mib"]
	}
	return r
}

// objects goes through what can be read.
func (r reviewed) objects(check func(name string, n gosmi.SmiNode) string) []string {
	var faults []string
	for name, n := range r.nodes {
		if n.Kind == types.NodeScalar || n.Kind == types.NodeColumn {
			if fault := check(name, n); fault != "" {
				faults = append(faults, name+" "+fault)
			}
		}
	}
	return faults
}

// lines goes through the modules' texts.
func (r reviewed) lines(check func(line string) bool) []string {
	var faults []string
	for module, text := range r.texts {
		for i, line := range strings.Split(text, "\n") {
			if !check(line) {
				faults = append(faults, fmt.Sprintf("%s:%d: %s", module, i+1, line))
			}
		}
	}
	return faults
}

// matches are the first groups of a pattern in a text.
func matches(text, pattern string) []string {
	var found []string
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		found = append(found, m[1])
	}
	return found
}

// each applies a check to every module.
func (r reviewed) each(check func(module, text string) string) []string {
	var faults []string
	for module, text := range r.texts {
		if fault := check(module, text); fault != "" {
			faults = append(faults, module+" "+fault)
		}
	}
	return faults
}

// The review guide's checklist (RFC 4181 appendix A and section 4), as far as
// a machine can go through it. smilint does the rest of it, see the gate.
func TestReviewGuide(t *testing.T) {
	r := reviewOf(t)
	for _, rule := range []struct {
		section, rule string
		check         func(reviewed) []string
	}{
		{"4.1", "module names are capitals, digits and hyphens, end in -MIB and have at most 64 characters", moduleNames},
		{"4.2", "descriptors begin with a small letter, have no hyphen, and have at most 32 characters in PETRINET-MIB and 64 in modules of nets", descriptors},
		{"4.2", "descriptors of a module's tree differ without regard to case, in all modules together", descriptorsDiffer},
		{"3.3", "modules are ASCII without tabs, and no line is far beyond 72 characters", plainLines},
		{"4.4", "IMPORTS come from SMIv2 modules and name only what is used", importsUsed},
		{"4.5", "LAST-UPDATED is the newest REVISION, and revisions fall", revisionsFall},
		{"4.5", "dates have years of four digits", longYears},
		{"4.5", "ORGANIZATION, CONTACT-INFO and DESCRIPTION are there", identityClauses},
		{"4.3", "notifications are below 0, objects below 1, conformance below 2 of PETRINET-MIB", nodePlaces},
		{"4.6.1.1", "no Integer32 where negative values make no sense: only a difference of clocks is signed", fewIntegers},
		{"4.6.1.1", "enumerations begin at 1 and leave out no number", enumerationsFromOne},
		{"4.6.1.2", "counters are Counter64 only if they can rise by 2^32 within an hour, and name what tells their discontinuity", countersNameADiscontinuity},
		{"4.6.1.4", "texts are SnmpAdminString with a size", textsSized},
		{"4.6.1.10", "dates are DateAndTime, rows RowPointer: no raw OCTET STRING, OBJECT IDENTIFIER, IpAddress, Opaque", noRawTypes},
		{"4.6", "numbers have UNITS where they measure something", unitsGiven},
		{"4.6.4", "nothing can be written, so nothing needs RowStatus or StorageType", readOnly},
		{"C", "tables, rows and sequences are xTable, xEntry and XEntry, and columns begin as their row does", tableNames},
		{"4.6.4", "indices are not accessible, never negative, and bounded", indices},
		{"4.6.2", "DESCRIPTION is there and is sentences", sentences},
		{"4.7", "notifications: the sub-identifier before the last is 0, and all objects are accessible", notificationNodes},
		{"4.6", "textual conventions have a DESCRIPTION that explains every label", labelsExplained},
		{"4.8", "every compliance names groups, and every group is of one module", groupsNamed},
		{"4.8", "a statement of what is implemented includes every group", capsComplete},
		{"4.6.6", "an OID of an instance has at most 128 sub-identifiers at any root", oidLengths},
		{"4.6.2", "names that a text refers to are there", referencesExist},
	} {
		t.Run(rule.section+" "+rule.rule, func(t *testing.T) {
			faults := rule.check(r)
			slices.Sort(faults)
			for _, f := range faults {
				t.Error(f)
			}
		})
	}
}

func moduleNames(r reviewed) []string {
	return r.each(func(module, _ string) string {
		if !validModule(module) {
			return "is no good name"
		}
		return ""
	})
}

func descriptors(r reviewed) []string {
	var faults []string
	for name, n := range r.nodes {
		limit := maxName
		if !strings.HasSuffix(n.GetModule().Name, moduleSuffix) {
			limit = 32
		}
		if !regexp.MustCompile(`^[a-z][A-Za-z0-9]*$`).MatchString(n.Name) || len(n.Name) > limit {
			faults = append(faults, name)
		}
	}
	return faults
}

func descriptorsDiffer(r reviewed) []string {
	var faults []string
	seen := map[string]string{}
	for name, n := range r.nodes {
		low := strings.ToLower(n.Name)
		if other, dup := seen[low]; dup {
			faults = append(faults, name+" and "+other)
		}
		seen[low] = name
	}
	return faults
}

func plainLines(r reviewed) []string {
	return r.lines(func(line string) bool {
		return len(line) <= 100 && strings.Trim(line, " ") == strings.TrimSpace(line) && regexp.MustCompile(`^[ -~]*$`).MatchString(line)
	})
}

func importsUsed(r reviewed) []string {
	return r.each(func(_, text string) string {
		imports, body, _ := strings.Cut(text[strings.Index(text, "IMPORTS"):], ";")
		for _, from := range matches(imports, `FROM (\S+)`) {
			if !slices.Contains([]string{"SNMPv2-SMI", "SNMPv2-TC", "SNMPv2-CONF", "SNMP-FRAMEWORK-MIB", PetrinetModule}, from) {
				return "imports from " + from
			}
		}
		for _, name := range matches(regexp.MustCompile(`FROM \S+`).ReplaceAllString(imports, ""), `([A-Za-z][A-Za-z0-9-]+)`)[1:] {
			if !regexp.MustCompile(`\b` + name + `\b`).MatchString(body) {
				return "does not use " + name
			}
		}
		return ""
	})
}

func revisionsFall(r reviewed) []string {
	return r.each(func(_, text string) string {
		dates := matches(text, `REVISION\s+"(\d+Z)"`)
		falling := slices.IsSortedFunc(dates, func(a, b string) int { return strings.Compare(b, a) })
		if last := matches(text, `LAST-UPDATED\s+"(\d+Z)"`); len(dates) == 0 || !falling || last[0] != dates[0] || len(slices.Compact(slices.Clone(dates))) != len(dates) {
			return fmt.Sprintf("has revisions %v, updated %v", dates, last)
		}
		return ""
	})
}

func longYears(r reviewed) []string {
	return r.lines(func(line string) bool {
		return !regexp.MustCompile(`^\s*(LAST-UPDATED|REVISION)\s`).MatchString(line) || regexp.MustCompile(`"\d{12}Z"`).MatchString(line)
	})
}

func identityClauses(r reviewed) []string {
	return r.each(func(_, text string) string {
		if !regexp.MustCompile(`(?s)MODULE-IDENTITY\s+LAST-UPDATED "\d+Z"\s+ORGANIZATION\s+"[^"]+"\s+CONTACT-INFO\s+"[^"]+"\s+DESCRIPTION\s+"[^"]+"`).MatchString(text) {
			return "lacks a clause"
		}
		return ""
	})
}

func nodePlaces(r reviewed) []string {
	base := r.nodes[PetrinetModule+"::petrinetMIB"].RenderNumeric()
	var faults []string
	for name, n := range r.nodes {
		want := map[types.NodeKind]string{types.NodeNotification: ".0.", types.NodeScalar: ".1.", types.NodeTable: ".1.", types.NodeGroup: ".2.", types.NodeCompliance: ".2."}[n.Kind]
		if strings.HasPrefix(name, PetrinetModule) && want != "" && !strings.HasPrefix(n.RenderNumeric(), base+want) {
			faults = append(faults, name+" at "+n.RenderNumeric())
		}
	}
	return faults
}

func fewIntegers(r reviewed) []string {
	return r.objects(func(name string, n gosmi.SmiNode) string {
		if n.SmiType.BaseType == types.BaseTypeInteger32 && !strings.HasSuffix(name, "::pnSourceSkew") {
			return "is signed"
		}
		return ""
	})
}

func enumerationsFromOne(r reviewed) []string {
	return r.objects(func(_ string, n gosmi.SmiNode) string {
		if n.SmiType.BaseType != types.BaseTypeEnum {
			return ""
		}
		for i, v := range n.SmiType.Enum.Values {
			if v.Value != int64(i+1) {
				return fmt.Sprintf("has %s(%d) at %d", v.Name, v.Value, i+1)
			}
		}
		return ""
	})
}

// discontinuityBy matches the part of a DESCRIPTION that names the object of a discontinuity.
var discontinuityBy = regexp.MustCompile(`The discontinuity time is \w+(Time|CountedSince)\b|since pnAgentStartTime`)

// fastCounters matches the counters that can rise by 2^32 within an hour, that is more than
// 1.19 million a second (RFC 2578 section 7.1.10): those of tokens, firings and messages.
var fastCounters = regexp.MustCompile(`(Firings|Arrivals|Departures|MessagesReceived|BytesReceived|QueueServed)$`)

func countersNameADiscontinuity(r reviewed) []string {
	return r.objects(func(_ string, n gosmi.SmiNode) string {
		if fast := fastCounters.MatchString(n.Name); n.SmiType.Name == "Counter64" && !fast || n.SmiType.Name == "Counter32" && fast {
			return "is a " + n.SmiType.Name
		}
		if strings.HasPrefix(n.SmiType.Name, "Counter") && !discontinuityBy.MatchString(strings.Join(strings.Fields(n.Description), " ")) {
			return "does not name the object of its discontinuity"
		}
		return ""
	})
}

func textsSized(r reviewed) []string {
	var faults []string
	for module, text := range r.texts {
		for _, syntax := range matches(text, `SYNTAX +(SnmpAdminString.*)`) {
			if syntax != "SnmpAdminString (SIZE (0..255))" && syntax != "SnmpAdminString (SIZE (0..64))" {
				faults = append(faults, module+" "+syntax)
			}
		}
	}
	return faults
}

func noRawTypes(r reviewed) []string {
	raw := regexp.MustCompile(`SYNTAX\s+(OCTET STRING|OBJECT IDENTIFIER|IpAddress|Opaque|BITS|NetworkAddress|Counter\b|Gauge\b|INTEGER \()`)
	return r.lines(func(line string) bool { return !raw.MatchString(line) })
}

// Only numbers of rows and priorities have none.
func unitsGiven(r reviewed) []string {
	return r.objects(func(name string, n gosmi.SmiNode) string {
		index := regexp.MustCompile(`(Index|Place|Rank|Priority|Subject)$`)
		units := regexp.MustCompile(`(?m)^` + n.Name + ` OBJECT-TYPE\n(    SYNTAX .*\n)    UNITS `)
		switch {
		case units.MatchString(r.texts[n.GetModule().Name]) || n.SmiType.BaseType == types.BaseTypeOctetString || n.SmiType.BaseType == types.BaseTypeEnum:
		case n.SmiType.BaseType == types.BaseTypeObjectIdentifier || index.MatchString(name):
		default:
			return "has no UNITS"
		}
		return ""
	})
}

func readOnly(r reviewed) []string {
	return r.objects(func(_ string, n gosmi.SmiNode) string {
		if n.Access != types.AccessReadOnly && n.Access != types.AccessNotAccessible {
			return "can be written"
		}
		return ""
	})
}

func tableNames(r reviewed) []string {
	var faults []string
	for name, n := range r.nodes {
		if n.Kind != types.NodeTable {
			continue
		}
		stem, ok := strings.CutSuffix(n.Name, "Table")
		row := n.GetRow()
		if !ok || row.Name != stem+"Entry" || !strings.Contains(r.texts[PetrinetModule], upperFirst(stem)+"Entry ::= SEQUENCE {") {
			faults = append(faults, name+" of "+row.Name)
		}
		columns, order := n.GetColumns()
		for _, column := range order {
			if !strings.HasPrefix(columns[column].Name, strings.TrimSuffix(stem, "Age")) {
				faults = append(faults, name+" has "+column)
			}
		}
	}
	return faults
}

func indices(r reviewed) []string {
	var faults []string
	for name, n := range r.nodes {
		if n.Kind != types.NodeTable {
			continue
		}
		for _, index := range n.GetIndex() {
			ranges := index.SmiType.Ranges
			bounded := len(index.SmiType.Ranges) == 1 && ranges[0].MinValue >= 0 && ranges[0].MaxValue <= maxNumber
			if index.Access != types.AccessNotAccessible || index.SmiType.BaseType != types.BaseTypeEnum && !bounded {
				faults = append(faults, fmt.Sprintf("%s: %s %v", name, index.Name, ranges))
			}
		}
	}
	return faults
}

func sentences(r reviewed) []string {
	var faults []string
	for name, n := range r.nodes {
		text := strings.TrimSpace(n.Description)
		if n.Kind == types.NodeNode && text == "" {
			continue // an OBJECT IDENTIFIER has none
		}
		if len(text) < 15 || !strings.HasSuffix(text, ".") || strings.HasPrefix(text, "The same ") {
			faults = append(faults, fmt.Sprintf("%s: %q", name, text))
		}
	}
	return faults
}

func notificationNodes(r reviewed) []string {
	var faults []string
	for name, n := range r.nodes {
		if n.Kind != types.NodeNotification {
			continue
		}
		if n.Oid[len(n.Oid)-2] != 0 {
			faults = append(faults, name+" at "+n.RenderNumeric())
		}
		for _, o := range n.GetNotificationObjects() {
			if o.Access != types.AccessReadOnly {
				faults = append(faults, name+" carries "+o.Name)
			}
		}
	}
	return faults
}

func labelsExplained(reviewed) []string {
	var faults []string
	for _, c := range petrinet().conventions {
		for _, label := range c.labels {
			if !strings.Contains(c.text, label+": ") {
				faults = append(faults, c.name+" does not explain "+label)
			}
		}
		if !strings.HasPrefix(c.name, "Petrinet") {
			faults = append(faults, c.name+" does not begin as the module does")
		}
	}
	return faults
}

func groupsNamed(r reviewed) []string {
	return r.each(func(_, text string) string {
		for _, group := range matches(text, `(?m)^(\w+) (?:OBJECT|NOTIFICATION)-GROUP$`) {
			if !regexp.MustCompile(`(?s)MODULE-COMPLIANCE\n.*\b` + group + `\b`).MatchString(text) {
				return group + " is in no compliance statement"
			}
		}
		return ""
	})
}

func capsComplete(r reviewed) []string {
	var faults []string
	for _, group := range matches(r.texts[PetrinetModule], `(?m)^(\w+) (?:OBJECT|NOTIFICATION)-GROUP$`) {
		if !regexp.MustCompile(`\b` + group + `\b`).MatchString(r.texts[CapsModule]) {
			faults = append(faults, group)
		}
	}
	return faults
}

func oidLengths(reviewed) []string {
	var faults []string
	for _, tab := range petrinet().tables {
		// Below the root: module, objects, table, entry, column, indices.
		if n := maxRoot + 5 + len(tab.index); n > 128 {
			faults = append(faults, fmt.Sprintf("%s: %d", tab.name, n))
		}
	}
	return faults
}

// referencesExist finds names of objects in texts that are no objects.
func referencesExist(r reviewed) []string {
	mentioned := regexp.MustCompile(`\b(?:pn|agent|net|place|transition|stuck|block|source|alarm|queue|petrinet)[A-Z]\w*`)
	labels := map[string]bool{}
	for _, c := range petrinet().conventions {
		for _, l := range c.labels {
			labels[l] = true
		}
	}
	own := r.nodes[PetrinetModule+"::petrinetMIB"]
	var faults []string
	for name, n := range r.nodes {
		for _, word := range mentioned.FindAllString(n.Description+own.Description, -1) {
			if _, ok := r.nodes[PetrinetModule+"::"+word]; !ok && !labels[word] {
				faults = append(faults, name+" mentions "+word)
			}
		}
	}
	return faults
}

// Every number of PETRINET-MIB names what to look at next: another object, a table or a log.
func TestEveryNumberNamesWhatToLookAtNext(t *testing.T) {
	next := regexp.MustCompile(`\bpn[A-Z]\w*|\blog\b|look|engines|clock`)
	for name, n := range reviewOf(t).nodes {
		number := n.SmiType != nil && n.Access == types.AccessReadOnly && n.SmiType.BaseType != types.BaseTypeOctetString
		text := regexp.MustCompile(`\b`+n.Name+`\b`).ReplaceAllString(n.Description, "")
		if number && !strings.HasSuffix(n.Name, "NetIndex") && !next.MatchString(discontinuityBy.ReplaceAllString(text, "")) && n.Name != "pnAlarmAffected" {
			t.Errorf("%s does not: %s", name, n.Description)
		}
	}
}

// The generator of snmp_exporter makes labels of indices that are integers or
// octet strings.
func TestIndicesAreIntegersOrStrings(t *testing.T) {
	r := reviewOf(t)
	tables := 0
	for name, n := range r.nodes {
		if n.Kind != types.NodeTable {
			continue
		}
		tables++
		for _, index := range n.GetIndex() {
			switch index.SmiType.BaseType {
			case types.BaseTypeInteger32, types.BaseTypeUnsigned32, types.BaseTypeEnum, types.BaseTypeOctetString:
			default:
				t.Errorf("%s has the index %s of type %v", name, index.Name, index.SmiType.BaseType)
			}
		}
	}
	if tables != len(petrinet().tables) {
		t.Errorf("%d tables, want %d", tables, len(petrinet().tables))
	}
}
