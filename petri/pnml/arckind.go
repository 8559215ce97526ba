// SPDX-License-Identifier: Apache-2.0

package pnml

import (
	"cmp"
	"strings"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/xmlscan"
)

// kindIn reads a child of an arc that is not known. Tools with more kinds of arcs than ISO/IEC
// 15909-2 write the kind in elements of their own, also inside of <toolspecific>, and such an arc
// must not be read as a normal one. The kind is the value of an element or an attribute named as a
// kind or a type is, or the name of an element. A word for inhibition elsewhere is refused, and a
// kind that is not known. In <toolspecific> a kind is that of the arc if its name is one word, or names the
// arc: a lineType is about a drawing.
func (n *netReader) kindIn(e *element, to *arcKind) error {
	n.tree.Count = n.AtMost(n.lim.Nodes)
	child, err := n.tree.Element()
	if err != nil {
		return err
	}
	x := kindSearch{tool: e.name == "toolspecific"}
	x.search(child, "")
	if !n.kindFound(&x, e.pos, xmlscan.Tag(e.name)+" in <arc>", to) && !x.tool {
		n.Warnings.Add(e.pos, "ignored "+xmlscan.Tag(e.name)+" in "+xmlscan.Tag(e.in))
	}
	return nil
}

// kindAt reads an attribute of an arc that is not known, as kindIn does a child. One of another
// language, such as xsi:type, can have types that are not known.
func (n *netReader) kindAt(e *element, name string, value []byte, foreign bool, to *arcKind) bool {
	var x kindSearch
	x.value(name, string(value))
	if foreign {
		x.unknown = ""
	}
	return n.kindFound(&x, e.pos, "the attribute "+xmlscan.Clip(name, 60)+" of <arc>", to)
}

// kindFound takes what was said about the kind of an arc at a place, and reports whether anything was.
func (n *netReader) kindFound(x *kindSearch, pos petri.Pos, at string, to *arcKind) bool {
	switch {
	case x.kind != "" && x.other == "":
		n.setKind(to, label{value: x.kind, pos: pos}, false)
	case x.other != "" || x.unknown != "":
		n.faults.Add(pos, "%s says %s; expected the kind of an arc in its attribute type, or in an element <type>", at, xmlscan.Quote(cmp.Or(x.other, x.unknown)))
	default:
		return false
	}
	return true
}

// kindSearch is what is said about the kind of an arc in one of its children.
type kindSearch struct {
	tool    bool   // it is <toolspecific>
	kind    string // as setKind takes it
	other   string // a second kind, or a word for a kind where none is expected
	unknown string // a value of a kind or a type that is not that of an arc
}

// search looks at the names and the texts of an element, and of those in it. of is the name of the one around it.
func (x *kindSearch) search(e *xmlscan.Element, of string) {
	name := x.attributes(e)
	for _, k := range e.Kids {
		x.search(k, name)
	}
	if of == "" || name != "text" && name != "value" {
		of = name
	}
	x.value(of, e.Text)
	x.named(name, e.Text)
}

// attributes notes the attributes of an element, and returns its name: that of what it is about for
// <property name="arcType" value="…"/>.
func (x *kindSearch) attributes(e *xmlscan.Element) string {
	name := e.Name.Local
	for _, by := range []string{"name", "key"} {
		if about := e.Attr(by); ofArc(about) {
			name = about
		}
	}
	for i := range e.Attrs {
		a := &e.Attrs[i]
		switch {
		case a.Name.Space != "", e.Name.Local == "toolspecific" && (a.Name.Local == "tool" || a.Name.Local == "version"):
		case a.Name.Local == "value" && name != e.Name.Local:
			x.value(name, a.Value)
		default:
			x.value(a.Name.Local, a.Value)
		}
	}
	return name
}

// value notes a value of an element or an attribute.
func (x *kindSearch) value(of, value string) {
	word, of := kindWord(value), strings.ToLower(of)
	switch {
	case of == "name" || of == "documentation" || of == "description" || of == "comment" || value == "":
	case strings.Contains(of, "type") || strings.Contains(of, "kind"):
		switch {
		case word != "":
			x.note(word)
		case !x.tool || ofArc(of) && !beside(value):
			x.unknown = value
		}
	case word == "inhibitor" || word == "" && strings.Contains(strings.ToLower(value), "inhibit"):
		x.other = value
	}
}

// named notes an element whose name is a kind.
func (x *kindSearch) named(name, value string) {
	switch word := kindWord(name); strings.ToLower(value) {
	case "", "true", "1", "yes":
		if word != "" && word != "normal" {
			x.note(word)
		}
	case "false", "0", "no":
	default:
		if word == "inhibitor" {
			x.other = name
		}
	}
}

func (x *kindSearch) note(word string) {
	if x.kind != "" && x.kind != word {
		x.other = word
	}
	x.kind = word
}

// letters returns a name in lower case, without what separates its words.
func letters(s string) string {
	return strings.NewReplacer(" ", "", "_", "", "-", "").Replace(strings.ToLower(s))
}

// ofArc reports whether a name is that of the kind of an arc, if it is in an arc.
func ofArc(name string) bool {
	s := letters(name)
	s = strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(s, "arc"), "edge"), "connection")
	return s == "type" || s == "kind"
}

// beside reports whether the value of a type is one of data, as of a property, or of a line.
func beside(value string) bool {
	s := strings.ToLower(value)
	switch s[strings.LastIndexAny(s, ".:")+1:] {
	case "string", "text", "boolean", "bool", "int", "integer", "long", "float", "double", "real", "number", "color",
		"line", "straight", "curve", "curved", "bezier", "spline", "polyline", "orthogonal":
		return true
	}
	return false
}

// kindWord returns the kind that a word says, as setKind takes it; "" if it says none.
func kindWord(s string) string {
	s = letters(s)
	s = strings.TrimSuffix(strings.TrimSuffix(s, "arc"), "edge")
	switch s {
	case "normal", "ordinary", "standard":
		return "normal"
	case "inhibitor", "inhibit", "inhibitory", "inhibiting", "inhibition", "prohibit", "tapninhibitor":
		return "inhibitor"
	case "read", "test":
		return "read"
	case "reset", "flush":
		return "reset"
	}
	return ""
}
