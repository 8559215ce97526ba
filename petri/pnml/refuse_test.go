// SPDX-License-Identifier: Apache-2.0

package pnml

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/xmlscan"
)

// faultLines reads an invalid file and returns the lines of the error.
func faultLines(t *testing.T, xml string) []string {
	t.Helper()
	f, err := Read(strings.NewReader(xml), "f", Limits{})
	if err == nil {
		t.Fatalf("read; want it refused\n%s", xml)
	}
	if f != nil {
		t.Error("a file beside the error")
	}
	var fault *petri.Fault
	if !errors.As(err, &fault) {
		t.Errorf("no *petri.Fault in the chain of %v", err)
	}
	return strings.Split(err.Error(), "\n")
}

func attributes(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, " a%d=''", i)
	}
	return b.String()
}

func TestReadRefuses(t *testing.T) {
	const p, tr = `<place id="p"/>`, `<transition id="t"/>`
	tests := []struct {
		rule, xml string
		want      []string
	}{
		{"a negative marking", net(`<place id="p"><initialMarking><text> -1</text></initialMarking></place>`),
			[]string{`f:1:69: the initial marking "-1" is negative; expected a whole number, at most 4294967295`}},
		{"a marking on a later line", net("<place id=\"p\"><initialMarking>\n<text>\n  x</text></initialMarking></place>"),
			[]string{`f:3:3: the initial marking "x" is not an integer; expected a whole number, at most 4294967295`}},
		{"a marking beyond 32 bits", net(`<place id="p" marking="4294967296"/>`),
			[]string{`f:1:32: the initial marking "4294967296" is too large; expected a whole number, at most 4294967295`}},
		{"classes that add up beyond 32 bits", net(`<place id="p" marking="A,4294967295,A,1"/>`),
			[]string{`f:1:32: the initial marking "A,4294967295,A,1" is too large; expected a whole number, at most 4294967295`}},
		{"a decimal comma", net(`<place id="p" marking="2,5"/>`),
			[]string{`f:1:32: the initial marking "2,5" is not an integer; expected a whole number, at most 4294967295`}},
		{"a class without a number", net(`<place id="p" marking="A,1,B"/>`),
			[]string{`f:1:32: the initial marking "A,1,B" is not an integer; expected a whole number, at most 4294967295`}},
		{"a class without a name", net(`<place id="p" marking=",1"/>`),
			[]string{`f:1:32: the initial marking ",1" is not an integer; expected a whole number, at most 4294967295`}},
		{"two markings", net(`<place id="p" marking="1"><initialMarking><text>2</text></initialMarking></place>`),
			[]string{`f:1:80: a second initial marking 2 after 1; expected one`}},
		{"two values in a marking", net(`<place id="p"><initialMarking><text>1</text><value>2</value></initialMarking></place>`),
			[]string{`f:1:68: the initial marking "1" and another value beside it; expected one`}},
		{"a weight of 0", pt("", `<inscription><text>0</text></inscription>`), []string{`f:1:121: arc "a" has weight 0; expected 1 or more`}},
		{"an inhibitor of 0", pt(`type="inhibitor" weight="0"`, ""), []string{`f:1:67: arc "a" has weight 0; expected 1 or more`}},
		{"a weight that is no integer", pt("", `<inscription><text>2.5</text></inscription>`),
			[]string{`f:1:121: the weight "2.5" is not an integer; expected a whole number, at most 4294967295`}},
		{"an unknown kind of arc in an element of a tool", pt("", `<arcKind>equal</arcKind>`),
			[]string{`f:1:102: <arcKind> in <arc> says "equal"; expected the kind of an arc in its attribute type, or in an element <type>`}},
		{"two kinds of arc in an element", pt("", `<x><kind>read</kind><reset/></x>`),
			[]string{`f:1:102: <x> in <arc> says "reset"; expected the kind of an arc in its attribute type, or in an element <type>`}},
		{"a word for inhibition", pt("", `<toolspecific tool="x" version="1"><style>inhibits at 3</style></toolspecific>`),
			[]string{`f:1:102: <toolspecific> in <arc> says "inhibits at 3"; expected the kind of an arc in its attribute type, or in an element <type>`}},
		{"an unknown kind of arc in a toolspecific section", pt("", `<toolspecific tool="x" version="1"><arcType>equal</arcType></toolspecific>`),
			[]string{`f:1:102: <toolspecific> in <arc> says "equal"; expected the kind of an arc in its attribute type, or in an element <type>`}},
		{"an unknown kind of arc in an attribute of a toolspecific section", pt("", `<toolspecific tool="x" version="1"><arc kind="modifier"/></toolspecific>`),
			[]string{`f:1:102: <toolspecific> in <arc> says "modifier"; expected the kind of an arc in its attribute type, or in an element <type>`}},
		{"an unknown kind of arc in a property of a tool", pt("", `<toolspecific tool="x" version="1"><property name="type" value="equal"/></toolspecific>`),
			[]string{`f:1:102: <toolspecific> in <arc> says "equal"; expected the kind of an arc in its attribute type, or in an element <type>`}},
		{"an unknown kind of arc in an attribute", pt(`arcType="equal"`, ""),
			[]string{`f:1:67: the attribute arcType of <arc> says "equal"; expected the kind of an arc in its attribute type, or in an element <type>`}},
		{"a word for inhibition in an attribute", pt(`class="inhibitor"`, ""),
			[]string{`f:1:67: the attribute class of <arc> says "inhibitor"; expected the kind of an arc in its attribute type, or in an element <type>`}},
		{"kinds of an arc that differ", pt(`type="reset"`, `<inhibitor/>`), []string{`f:1:114: an arc of type "inhibitor" and of another; expected one`}},
		{"an unknown kind of arc", pt("", `<type value="equal"/>`), []string{`f:1:102: the arc type "equal"; expected normal, inhibitor, read, reset, join or branch`}},
		{"two kinds of arc", pt(`type="normal"`, `<type value="inhibitor"/>`), []string{`f:1:115: an arc of type "inhibitor" and of another; expected one`}},
		{"a priority that is no integer", net(`<transition id="t" priority="high"/>`), []string{`f:1:32: the priority "high"; expected an integer`}},
		{"two priorities", net(`<transition id="t" priority="1"><priority><text>2</text></priority></transition>`), []string{`f:1:80: a second priority 2 after 1; expected one`}},
		{"a capacity", net(`<place id="p"><capacity><value>5</value></capacity></place>`),
			[]string{`f:1:63: a place capacity of "5"; expected none (0): capacities are not supported, use a complementary place`}},

		{"an inhibitor from a transition", net(p + tr + `<arc id="a" source="t" target="p"><type value="inhibitor"/></arc>`),
			[]string{`f:1:67: inhibitor arc "a" leads from transition "t" to place "p"; expected it to lead from a place to a transition`}},
		{"a plain inhibitor attribute from a transition", net(p + tr + `<arc id="a" source="t" target="p" type="inhibitor"/>`),
			[]string{`f:1:67: inhibitor arc "a" leads from transition "t" to place "p"; expected it to lead from a place to a transition`}},
		{"an element prohibit from a transition", net(p + tr + `<arc id="a" source="t" target="p" type="prohibit"><type value="prohibit"/></arc>`),
			[]string{`f:1:67: inhibitor arc "a" leads from transition "t" to place "p"; expected it to lead from a place to a transition`}},
		{"a reset arc from a transition", net(p + tr + `<arc id="a" source="t" target="p"><type value="reset"/></arc>`),
			[]string{`f:1:67: reset arc "a" leads from transition "t" to place "p"; expected it to lead from a place to a transition`}},
		{"ids given twice, in every net", `<pnml><net id="a" type="ptnet"><place id="x"/>` + "\n" + `<transition id="x"/></net><net id="b" type="ptnet"><place id="x"/>` + "\n" + `<place id="x"/></net></pnml>`,
			[]string{`f:2:1: transition has the id "x" of the place at line 1; expected every id once`, `f:3:1: place has the id "x" of the place at line 2; expected every id once`}},
		{"no id", net(`<place/>`), []string{`f:1:32: place without an id; expected an id attribute`}},
		{"a net without an id", `<pnml><net/><net/></pnml>`, []string{"f:1:7: a net without an id; expected an id attribute", "f:1:13: a net without an id; expected an id attribute"}},
		{"two nets of one id", `<pnml><net id="n"/><net id="n"/></pnml>`, []string{`f:1:20: a net has the id "n" of the net at line 1; expected every id once`}},
		{"an arc to nowhere", net(p + `<arc id="a" source="p" target="q"/>`), []string{`f:1:47: arc "a" ends at "q", which is no place or transition of net "n"`}},
		{"an arc into another net", `<pnml><net id="a"><place id="p"/></net><net id="b"><transition id="t"/><arc id="x" source="p" target="t"/></net></pnml>`,
			[]string{`f:1:72: arc "x" starts at "p", which is no place or transition of net "b"`}},
		{"an attribute twice", `<pnml><net id="n" id="m"/></pnml>`, []string{`f:1:7: <net> has the attribute id twice; expected it once`}},
		{"more attributes than any tool writes", net("<place" + attributes(65) + "/>"), []string{`f:1:32: <place> with 65 attributes; expected at most 64`}},

		{"a reference to nowhere", net(`<referencePlace id="r" ref="x"/><referencePlace id="s" ref="r"/>`), []string{`f:1:32: reference "r" refers to "x", which is not a node of the net`}},
		{"a reference to itself", net(`<referencePlace id="r" ref="r"/>`), []string{`f:1:32: reference "r" refers to itself, directly or through others; expected it to end at a node`}},
		{"references in a circle", net(`<referencePlace id="a" ref="b"/><referencePlace id="b" ref="c"/><referencePlace id="c" ref="b"/>`),
			[]string{`f:1:64: reference "b" refers to itself, directly or through others; expected it to end at a node`}},
		{"a reference to a node of the other kind", net(tr + `<referencePlace id="r" ref="t"/>`),
			[]string{`f:1:52: reference "r" refers to "t", a node of the other kind; expected a place for a reference place, a transition for a reference transition`}},
		{"a reference with the id of a node", net(p + `<referencePlace id="p" ref="p"/>`), []string{`f:1:47: a reference has the id "p", which another node has; expected every id once`}},
		{"a reference without an id", net(p + `<referencePlace ref="p"/>`), []string{`f:1:47: a reference without an id; expected an id attribute`}},

		{"a symmetric net", `<pnml><net id="n" type="http://www.pnml.org/version-2009/grammar/symmetricnet"><place/></net></pnml>`,
			[]string{`f:1:7: the net's type is "http://www.pnml.org/version-2009/grammar/symmetricnet", a high-level net; expected a place/transition net`}},
		{"a P/T net written as high-level net", `<pnml><net id="n" type="http://www.pnml.org/version-2009/grammar/pt-hlpng"/></pnml>`,
			[]string{`f:1:7: the net's type is "http://www.pnml.org/version-2009/grammar/pt-hlpng", a high-level net; expected a place/transition net`}},
		{"a high-level marking", net(`<place id="p"><hlinitialMarking><text>1'a</text></hlinitialMarking></place><place/>`),
			[]string{`f:1:46: <hlinitialMarking> in <place>, a term of a high-level net; expected a place/transition net`}},
		{"a high-level inscription", pt("", `<hlinscription><structure/></hlinscription>`), []string{`f:1:102: <hlinscription> in <arc>, a term of a high-level net; expected a place/transition net`}},
		{"a term in a declaration", net(`<declaration><structure/></declaration>`), []string{`f:1:45: <structure> in <declaration>, a term of a high-level net; expected a place/transition net`}},
		{"a multiset of values", net(`<place id="p"><initialMarking><multiset><v/></multiset></initialMarking></place>`),
			[]string{`f:1:72: a marking of token values, a high-level net; expected a number of tokens`}},
		{"two classes of tokens", net("<place id=\"p\" marking=\"Red,1,Blue,0\"/>\n<place id=\"q\" marking=\"Red,0,Blue,2\"/>"),
			[]string{`f:2:1: tokens of the classes "Red" and "Blue", a coloured net; expected a place/transition net with one class`}},
		{"a class beside plain numbers", net("<place id=\"p\" marking=\"1\"/>\n<place id=\"q\" marking=\"Red,2\"/>"),
			[]string{`f:2:1: tokens of the classes "Default" and "Red", a coloured net; expected a place/transition net with one class`}},
		{"shared places", `<pnml><shared-place name="s" initialMarking="1"/><net id="n" type="P/T net"/></pnml>`,
			[]string{`f:1:7: <shared-place> joins several nets into one; expected nets without shared nodes`}},
		{"all faults of a file, in order", net("<place id=\"p\" marking=\"x\"/>\n<place id=\"p\" marking=\"-2\"/>\n<arc id=\"a\" source=\"p\" target=\"t\"/>"),
			[]string{`f:1:32: the initial marking "x" is not an integer; expected a whole number, at most 4294967295`,
				`f:2:1: the initial marking "-2" is negative; expected a whole number, at most 4294967295`,
				`f:2:1: place has the id "p" of the place at line 1; expected every id once`,
				`f:3:1: arc "a" ends at "t", which is no place or transition of net "n"`}},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, faultLines(t, tt.xml)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func TestReadRefusesOtherFormats(t *testing.T) {
	tests := []struct{ rule, xml, want string }{
		{"an empty file", "", "f:1:1: the file has no root element; expected an XML document with the root <pnml>"},
		{"white space", "\n \n", "f:3:1: the file has no root element; expected an XML document with the root <pnml>"},
		{"another root", "<html/>", "f:1:1: the root element is <html>; expected <pnml>"},
		{"text", "\n hello", `f:2:2: the text "hello" outside any element; expected an XML document with the root <pnml>`},
		{"text behind the root", "<pnml/>\nx", `f:2:1: the text "x" outside any element; expected an XML document with the root <pnml>`},
		{"a second root", "<pnml/>\n<pnml/>", `f:2:1: a second root element <pnml>; expected the end of the file`},
		{"binary", "\x00\x01\x02", "f:1:1: illegal character code U+0000; expected well-formed XML"},
		{"truncated in a tag", "<pnml>\n <net id=\"n\" type=\"", "f:2:2: the file ends inside what begins here; expected a complete XML document"},
		{"truncated between tags", "<pnml>\n <net id=\"n\">\n", "f:3:1: the file ends inside what begins here; expected a complete XML document"},
		{"tags that cross", "<pnml>\n<net id=\"n\"></pnml>", "f:2:13: element <net> closed by </pnml>; expected well-formed XML"},
		{"a character that XML forbids, in a text begun earlier", "<pnml>\n\n\n &nbsp; </pnml>", "f:4:8: invalid character entity &nbsp;; expected well-formed XML"},
		{"an attribute without quotes", "<pnml x=1/>", "f:1:1: unquoted or missing attribute value in element; expected well-formed XML"},
		{"XML 1.1", `<?xml version="1.1"?><pnml/>`, `f:1:1: unsupported version "1.1"; only version 1.0 is supported; expected well-formed XML`},
		{"an XML declaration inside", ` <?xml version="1.0"?><pnml/>`, "f:1:2: an XML declaration inside the document; expected it on line 1, column 1"},
		{"a charset that nobody knows", `<?xml version="1.0" encoding="martian"?><pnml/>`, `f:1:1: opening charset "martian": unknown charset; expected well-formed XML`},
		{"bytes that are not UTF-8", "<pnml>\n\xff</pnml>", "f:2:2: invalid UTF-8; expected well-formed XML"},
		{"entities", "<?xml version=\"1.0\"?>\n<!DOCTYPE pnml [<!ENTITY a \"1\">]><pnml>&a;</pnml>", "f:2:1: a DOCTYPE with declarations of its own; expected none: entities are not expanded"},
		{"an entity declared outside a DOCTYPE", "<!ENTITY a \"1\"><pnml/>", "f:1:1: the declaration <!ENTITY a \"1\">; expected none: entities are not expanded"},
		{"an undeclared entity", "<pnml><net id=\"&a;\"/></pnml>", "f:1:7: invalid character entity &a;; expected well-formed XML"},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			if diff := cmp.Diff([]string{tt.want}, faultLines(t, tt.xml)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func TestReadReportsFaultsBeforeTheFatalOne(t *testing.T) {
	got := faultLines(t, "<pnml><net id=\"n\" type=\"ptnet\"><place id=\"p\" marking=\"x\"/>\n<arc")
	want := []string{
		`f:1:32: the initial marking "x" is not an integer; expected a whole number, at most 4294967295`,
		"f:2:1: the file ends inside what begins here; expected a complete XML document",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestReadBoundsFaults(t *testing.T) {
	tests := []struct {
		rule, node string
		lines      int
		want       string
	}{
		{"found by Validate", "<place/>", petri.MaxFaults + 1, "f: 900 more faults not shown"},
		{"found in reading", `<transition id="t" priority="x"/>`, xmlscan.MaxFaults + 1, "f: "},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			got := faultLines(t, net(strings.Repeat(tt.node, 1000)))
			if n := len(got); n != tt.lines {
				t.Errorf("%d lines, want %d", n, tt.lines)
			}
			if last := got[len(got)-1]; !strings.HasPrefix(last, tt.want) || !strings.HasSuffix(last, " more faults not shown") {
				t.Errorf("the last line is %q; it should tell how many were left out", last)
			}
		})
	}
}

func TestReadShortensQuotes(t *testing.T) {
	got := faultLines(t, net(`<place id="p" marking="x`+strings.Repeat("ä", 10_000)+`"/>`))
	if len(got[0]) > 300 || !strings.Contains(got[0], `ää…"`) {
		t.Errorf("%d bytes: %.200s", len(got[0]), got[0])
	}
}
