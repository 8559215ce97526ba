// SPDX-License-Identifier: Apache-2.0

package textnet

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/pnagent/pnagent/petri"
)

// WriteDOT writes a valid net as a graph in the DOT language, for Graphviz: circles for places with
// their names and tokens, boxes for transitions with their names and guards, and arcs with their weights,
// kinds and guards. The nodes have the ids of the net; those of another role than work are grey. It
// returns what it left out.
func WriteDOT(w io.Writer, n *petri.Net) (Left, error) {
	if err := n.Validate(); err != nil {
		return nil, err
	}
	out := bufio.NewWriter(w)
	put := func(format string, args ...any) { fmt.Fprintf(out, format, args...) }
	put("digraph %s {\n  rankdir=LR;\n", quoted(n.ID))
	if n.Name != "" {
		put("  label=%s;\n", quoted(n.Name))
	}
	for i := range n.Places {
		p := &n.Places[i]
		tokens := ""
		if p.Initial > 0 {
			tokens = fmt.Sprint(p.Initial)
		}
		put("  %s [shape=circle, label=%s%s];\n", quoted(p.ID), quoted(lines(shown(p.Name, p.ID), tokens)), dotRole(p.Role))
	}
	for i := range n.Transitions {
		t := &n.Transitions[i]
		guard := ""
		if t.Guard != "" {
			guard = "[" + t.Guard + "]"
		}
		put("  %s [shape=box, label=%s%s];\n", quoted(t.ID), quoted(lines(shown(t.Name, t.ID), guard)), dotRole(t.Role))
	}
	for i := range n.Arcs {
		put("  %s -> %s%s;\n", quoted(n.Arcs[i].Source), quoted(n.Arcs[i].Target), dotArc(&n.Arcs[i]))
	}
	put("}\n")
	return beside(n, true).list(), out.Flush()
}

// dotRole returns the attributes of a node that the author of the net did not draw.
func dotRole(r petri.Role) string {
	if r == petri.RoleWork {
		return ""
	}
	return ", color=gray, fontcolor=gray"
}

// dotArc returns the attributes of an arc.
func dotArc(a *petri.Arc) string {
	weight := ""
	if a.Weight != 1 && a.Kind != petri.Reset {
		weight = fmt.Sprint(a.Weight)
	}
	var style string
	switch a.Kind {
	case petri.Inhibitor:
		style = "arrowhead=odot"
	case petri.Read:
		style = "arrowhead=none, style=dashed"
	case petri.Reset:
		style = "arrowhead=normalnormal"
	case petri.Join, petri.Branch:
		style = "arrowhead=empty"
	}
	text := lines(weight, a.Guard)
	if a.Default {
		text = lines(text, "default")
	}
	switch {
	case text == "" && style == "":
		return ""
	case text == "":
		return " [" + style + "]"
	case style == "":
		return " [label=" + quoted(text) + "]"
	}
	return " [" + style + ", label=" + quoted(text) + "]"
}

func shown(name, id string) string {
	if name == "" {
		return id
	}
	return name
}

// lines returns two texts as lines; one if the other is empty.
func lines(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n" + b
}

// quoted returns a text as a string of DOT that shows it.
func quoted(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\r", "", "\n", `\n`, "\x00", "").Replace(strings.ToValidUTF8(text, "\ufffd")) + `"`
}
