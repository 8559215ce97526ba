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
	"github.com/sleepinggenius2/gosmi"
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
	d := Describe(root)
	var names, want []string
	is := func(name string, oid smi.OID, text string) gosmi.SmiNode {
		n, ok := nodes[PetrinetModule+"::"+name]
		if !ok || n.RenderNumeric() != oid.String() {
			t.Errorf("%s is %v, and in the module %s", name, oid, n.RenderNumeric())
		}
		if text == "" || !strings.HasPrefix(strings.Join(strings.Fields(n.Description), " "), text) {
			t.Errorf("%s has the description %q, and in the module %q", name, text, n.Description)
		}
		names = append(names, name)
		return n
	}
	for _, s := range d.Sections {
		if s.Text == "" && len(s.Index) > 0 || len(s.Objects) == 0 {
			t.Errorf("section %s has no text", s.Name)
		}
		for _, o := range s.Objects {
			n := is(o.Name, o.OID, o.Text)
			var labels []string
			if n.SmiType.Enum != nil {
				for _, v := range n.SmiType.Enum.Values {
					labels = append(labels, v.Name)
				}
			}
			if !slices.Equal(labels, o.Labels) || n.SmiType.Units != o.Units || (n.Access == types.AccessNotAccessible) != o.Key {
				t.Errorf("%s is %+v, and in the module %v with access %v, units %q", o.Name, o, labels, n.Access, n.SmiType.Units)
			}
		}
	}
	for _, e := range d.Notifications {
		n := is(e.Name, e.OID, e.Text)
		var objects []string
		for _, o := range n.GetNotificationObjects() {
			objects = append(objects, o.Name)
		}
		if diff := cmp.Diff(objects, e.Objects); diff != "" {
			t.Errorf("%s in the module (-), described (+): %s", e.Name, diff)
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
	d := Describe(nil)
	for _, s := range d.Sections {
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
	for _, e := range d.Notifications {
		fmt.Fprintf(&out, "| `%s` | %v | %s |\n", e.Name, e.OID, cell(e.Text))
	}
	return out.String()
}

// cell is text that fits into a table of Markdown.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;").Replace(strings.TrimSpace(text))
}
