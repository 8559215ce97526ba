// SPDX-License-Identifier: Apache-2.0

package mib

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sleepinggenius2/gosmi/types"

	"github.com/pnagent/pnagent/mib/smi"
)

var update = flag.Bool("update", false, "write docs/reference, as make generate does")

// The page about the module is made from the entries that the module is made from.
func TestTheReferenceIsCurrent(t *testing.T) {
	path, text := filepath.Join("..", "docs", "reference", "petrinet-mib.md"), referencePage()
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	is, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(text, string(is)); d != "" {
		t.Errorf("docs/reference/petrinet-mib.md is not current; run make generate:\n%s", d)
	}
}

// What people read has every object and notification of the module, and its
// numbers are those that the module gives.
func TestTheReferenceIsTheModule(t *testing.T) {
	root, err := ParseRoot(DefaultRoot)
	if err != nil {
		t.Fatal(err)
	}
	nodes := parsed(t, filepath.Join("..", "mibs"), PetrinetModule)
	sections, events := reference()
	all := events
	for _, s := range sections {
		if s.Text == "" && len(s.Index) > 0 || len(s.Objects) == 0 {
			t.Errorf("section %s has no text", s.Name)
		}
		all = append(all, s.Objects...)
	}
	var names, want []string
	for _, d := range all {
		names = append(names, d.Name)
		n, ok := nodes[PetrinetModule+"::"+d.Name]
		if !ok || n.RenderNumeric() != root.Append(d.OID...).String() {
			t.Errorf("%s is %v, and in the module %s", d.Name, d.OID, n.RenderNumeric())
		}
		if d.Text == "" {
			t.Errorf("%s has no description", d.Name)
		}
	}
	for _, n := range nodes {
		if n.Kind == types.NodeScalar || n.Kind == types.NodeColumn || n.Kind == types.NodeNotification {
			want = append(want, n.Name)
		}
	}
	slices.Sort(want)
	slices.Sort(names)
	if d := cmp.Diff(want, names); d != "" {
		t.Errorf("the reference (+) does not have what the module (-) has:\n%s", d)
	}
}

func referencePage() string {
	var out strings.Builder
	out.WriteString("# PETRINET-MIB\n\nEvery object, from the same source as the module. OIDs are below the root that `--oid-root` sets. Each net also has a " +
		"module of its own, in which its places and transitions are objects by name. See [for operators](../operators.md).\n")
	sections, events := reference()
	for _, s := range sections {
		fmt.Fprintf(&out, "\n## %s\n\n", s.Name)
		if s.Text != "" {
			fmt.Fprintf(&out, "%s\n\nIndexed by %s.\n\n", cell(s.Text), "`"+strings.Join(s.Index, "`, `")+"`")
		}
		out.WriteString("| object | OID | syntax | units | what |\n|---|---|---|---|---|\n")
		for _, o := range s.Objects {
			fmt.Fprintf(&out, "| `%s` | %v | %s | %s | %s |\n", o.Name, o.OID, cell(o.Syntax), cell(o.Units), cell(o.Text))
		}
	}
	out.WriteString("\n## Notifications\n\n| notification | OID | what |\n|---|---|---|\n")
	for _, e := range events {
		fmt.Fprintf(&out, "| `%s` | %v | %s |\n", e.Name, e.OID, cell(e.Text))
	}
	return out.String()
}

// cell is text that fits into a table of Markdown.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;").Replace(strings.TrimSpace(text))
}

// section is a part of PETRINET-MIB for people: a table, or the scalars of one
// subject.
type section struct {
	Name    string // such as placeTable
	Text    string // DESCRIPTION; "" for scalars
	Index   []string
	Objects []described
}

// described is an object or a notification for people.
type described struct {
	Name          string
	OID           smi.OID // below the root
	Syntax, Units string  // "" for notifications
	Text          string  // DESCRIPTION
}

// reference returns all of PETRINET-MIB, from the entries that the module is made from.
func reference() (sections []section, events []described) {
	objects := smi.OID{subPetrinet, subObjects}
	sections = append(sections, scalarSection("agent", objects.Append(subAgent), objectsOf(agentScalars())))
	for _, t := range petrinetTables() {
		s := section{Name: t.name + "Table", Text: t.text, Index: t.index}
		row := objects.Append(t.sub, 1)
		for _, list := range [][]object{t.keys, t.columns} {
			s.Objects = append(s.Objects, describe(t.columnPrefix(), row, list)...)
		}
		sections = append(sections, s)
	}
	sections = append(sections, scalarSection("alarm", objects, objectsOf(alarmScalars())))
	for _, n := range notifications() {
		events = append(events, described{Name: n.name, OID: smi.OID{subPetrinet, 0, n.sub}, Text: n.text})
	}
	return sections, events
}

func scalarSection(name string, parent smi.OID, objects []object) section {
	return section{Name: name, Objects: describe(name, parent, objects)}
}

func describe(prefix string, parent smi.OID, objects []object) []described {
	all := make([]described, len(objects))
	for i := range objects {
		o := &objects[i]
		all[i] = described{Name: prefix + o.suffix, OID: parent.Append(o.sub), Syntax: o.syntax.clause, Units: o.units, Text: o.text}
	}
	return all
}
