// SPDX-License-Identifier: Apache-2.0

package pnml

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/xmlscan"
)

// say formats a net with one line a node and arc: the tokens of a place, the
// priority of a transition, the position of both.
func say(n *petri.Net) string {
	var b strings.Builder
	fmt.Fprintf(&b, "net %s %q %q\n", n.ID, n.Name, n.Doc)
	for _, p := range n.Places {
		fmt.Fprintf(&b, "place %s %q %d%s%s\n", p.ID, p.Name, p.Initial, at(p.At), doc(p.Doc))
	}
	for _, t := range n.Transitions {
		fmt.Fprintf(&b, "transition %s %q %d%s%s\n", t.ID, t.Name, t.Priority, at(t.At), doc(t.Doc))
	}
	for _, a := range n.Arcs {
		fmt.Fprintf(&b, "%s %s>%s %d\n", a.Kind, a.Source, a.Target, a.Weight)
	}
	return b.String()
}

func at(p *petri.Point) string {
	if p == nil {
		return ""
	}
	return fmt.Sprintf(" @%v,%v", p.X, p.Y)
}

func doc(s string) string {
	if s == "" {
		return ""
	}
	return fmt.Sprintf(" doc %q", s)
}

func lines(s string) string {
	var b strings.Builder
	for l := range strings.Lines(s) {
		if l = strings.TrimSpace(l); l != "" {
			b.WriteString(l + "\n")
		}
	}
	return b.String()
}

func read(t *testing.T, xml string) *File {
	t.Helper()
	f, err := Read(strings.NewReader(xml), "f.pnml", Limits{})
	if err != nil {
		t.Fatalf("Read: %v\n%s", err, xml)
	}
	return f
}

// net wraps the content of a net n.
func net(content string) string {
	return `<pnml><net id="n" type="ptnet">` + content + `</net></pnml>`
}

// pt wraps the content of an arc from place p to transition t.
func pt(attrs, content string) string {
	return net(`<place id="p"/><transition id="t"/><arc id="a" source="p" target="t" ` + attrs + `>` + content + `</arc>`)
}

func TestReadDialects(t *testing.T) {
	const small = `net n "" ""
		place p "" 0
		transition t "" 0
		normal p>t 1`
	inhibitor := strings.Replace(small, "normal", "inhibitor", 1)
	readArc := strings.Replace(small, "normal", "read", 1)
	reset := strings.Replace(small, "normal", "reset", 1)
	weight := func(w string) string { return strings.TrimSuffix(small, "1") + w }
	marked := func(m string) string { return "net n \"\" \"\"\nplace p \"\" " + m }

	tests := []struct{ rule, xml, want string }{
		{"namespace of the standard", `<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml"><net id="n" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="g"><place id="p"/><transition id="t"/><arc id="a" source="p" target="t"/></page></net></pnml>`, small},
		{"no namespace, no page", pt("", ""), small},
		{"namespace of ptNetb", `<pnml xmlns="http://www.informatik.hu-berlin.de/top/pnml/ptNetb"><net id="n" type="http://www.informatik.hu-berlin.de/top/pntd/ptNetb"><place id="p"/><transition id="t"/><arc id="a" source="p" target="t"/></net></pnml>`, small},
		{"prefixed namespace", `<q:pnml xmlns:q="urn:my-own"><q:net id="n"><q:place id="p"/><q:transition id="t"/><q:arc id="a" source="p" target="t"/></q:net></q:pnml>`, small},
		{"prefix never declared", `<pnml:pnml><pnml:net id="n"><pnml:place id="p"/><pnml:transition id="t"/><pnml:arc id="a" source="p" target="t"/></pnml:net></pnml:pnml>`, small},
		{"namespace of its own on the net", `<pnml xmlns="urn:a"><net xmlns="urn:b" id="n"><place id="p"/><transition id="t"/><arc id="a" source="p" target="t"/></net></pnml>`, small},
		{"nested pages join one net", net(`<page id="g"><name><text>Sheet</text></name><page id="h"><place id="p"/></page><transition id="t"/></page><arc id="a" source="p" target="t"/>`), small},
		{"arcs before their nodes", net(`<arc id="a" source="p" target="t"/><transition id="t"/><place id="p"/>`), small},
		{"references over several steps", net(`<page id="g"><referencePlace id="r" ref="s"><name><text>p again</text></name></referencePlace><referencePlace id="s" ref="p"/><referenceTransition id="u" ref="t"/><arc id="a" source="r" target="u"/></page><page id="h"><place id="p"/><transition id="t"/></page>`), small},
		{"attribute type of the net with another case", `<pnml><net id="n" type="P/T net"><place id="p"/></net></pnml>`, marked("0")},

		{"marking in text", net(`<place id="p"><initialMarking><text>3</text></initialMarking></place>`), marked("3")},
		{"marking in value", net(`<place id="p"><initialMarking><value>3</value></initialMarking></place>`), marked("3")},
		{"marking in the label's attribute", net(`<place id="p"><initialMarking value="3"/></place>`), marked("3")},
		{"marking in bare text", net(`<place id="p"><initialMarking> 3 </initialMarking></place>`), marked("3")},
		{"marking in the place's attribute initialMarking", net(`<place id="p" initialMarking="3"/>`), marked("3")},
		{"marking in the place's attribute marking", net(`<place id="p" marking="3"/>`), marked("3")},
		{"marking in the place's attribute tokens", net(`<place id="p" tokens="3"/>`), marked("3")},
		{"marking said twice alike", net(`<place id="p" marking="3"><initialMarking><text>3</text></initialMarking></place>`), marked("3")},
		{"marking in white space and comments", net("<place id=\"p\"><initialMarking><text>\n <!-- a --> 1<!-- b -->2\r\n</text></initialMarking></place>"), marked("12")},
		{"marking in CDATA", net(`<place id="p"><initialMarking><text><![CDATA[ 3 ]]></text></initialMarking></place>`), marked("3")},
		{"largest marking", net(`<place id="p" marking="4294967295"/>`), marked("4294967295")},
		{"empty marking", net(`<place id="p"><initialMarking><text/></initialMarking></place>`), marked("0")},
		{"empty multiset", net(`<place id="p"><initialMarking><multiset/></initialMarking></place>`), marked("0")},
		{"one class of tokens", net(`<place id="p"><initialMarking><value>Default,2</value></initialMarking></place>`), marked("2")},
		{"classes without tokens", net(`<place id="p"><initialMarking><value>Red,0, Default , 2,Blue,0</value></initialMarking></place>`), marked("2")},
		{"a class said twice adds up", net(`<place id="p"><initialMarking><value>A,1,A,2</value></initialMarking></place>`), marked("3")},
		{"no capacity", net(`<place id="p" capacity="infinity"><capacity><value>0</value></capacity></place>`), marked("0")},

		{"weight in text", pt("", `<inscription><text> 2 </text></inscription>`), weight("2")},
		{"weight in value of a class", pt("", `<inscription><value>Default,2</value></inscription>`), weight("2")},
		{"weight in the label's attribute", pt("", `<inscription value="2"/>`), weight("2")},
		{"weight in the arc's attribute weight", pt(`weight="2"`, ""), weight("2")},
		{"weight in the arc's attribute inscription", pt(`inscription="2"`, ""), weight("2")},
		{"inscription without a number", pt("", `<inscription><variable>x</variable></inscription>`), small},
		{"empty inscription", pt("", `<inscription><text/></inscription>`), small},

		{"type normal", pt(`type="normal"`, `<type value="normal"/><arctype><text>normal</text></arctype>`), small},
		{"inhibitor in type value", pt("", `<type value="inhibitor"/>`), inhibitor},
		{"inhibitor said twice alike", pt("", `<type value="inhibitor"/><type value="inhibitor"/>`), inhibitor},
		{"inhibitor in type text", pt("", `<type><text>inhibitor</text></type>`), inhibitor},
		{"inhibitor in an element of a tool", pt("", `<arcKind>Inhibitor Arc</arcKind>`), inhibitor},
		{"inhibitor in an attribute of an element", pt("", `<properties kind="inhibitor"/>`), inhibitor},
		{"inhibitor as an element", pt("", `<inhibitor/>`), inhibitor},
		{"inhibitor as an element with a value", pt("", `<inhibitor><value>true</value></inhibitor>`), inhibitor},
		{"inhibitor of another language", pt("", `<x:kind xmlns:x="urn:x">inhibitor</x:kind>`), inhibitor},
		{"inhibitor in a toolspecific section", pt("", `<toolspecific tool="x" version="1"><arc><type>inhibitor</type></arc></toolspecific>`), inhibitor},
		{"inhibitor in an attribute of a tool", pt(`arcType="INHIBITOR"`, ""), inhibitor},
		{"inhibitor in an attribute of another language", pt(`xmlns:x="urn:x" x:kind="inhibitor"`, ""), inhibitor},
		{"a type of another language", pt(`xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="Arc"`, ""), small},
		{"normal in an element of a tool", pt("", `<arcKind>normal</arcKind><inhibitor>false</inhibitor>`), small},
		{"normal beside a drawing", pt("", `<toolspecific tool="x" version="1"><lineType>curved</lineType><author>test</author></toolspecific>`), small},
		{"inhibitor in a property of a tool", pt("", `<toolspecific tool="x" version="1"><property name="arcKind" value="inhibitor"/></toolspecific>`), inhibitor},
		{"read in the text of a property", pt("", `<toolspecific tool="x" version="1"><property key="arc-type" type="string">read</property></toolspecific>`), readArc},
		{"normal beside properties of a tool", pt("", `<toolspecific tool="x" version="1"><property name="weight" type="java.lang.String" value="3"/><type>curved</type><displayKind>1</displayKind></toolspecific>`), small},
		{"inhibitor in arctype", pt("", `<arctype><text>inhibitor</text></arctype>`), inhibitor},
		{"inhibitor in the attribute, in any case", pt(`type="Inhibitor"`, ""), inhibitor},
		{"tapnInhibitor", pt(`type="tapnInhibitor"`, ""), inhibitor},
		{"prohibit", pt(`type="prohibit"`, ""), inhibitor},
		{"inhibitor with a threshold", pt("", `<type value="inhibitor"/><inscription><text>3</text></inscription>`), strings.TrimSuffix(inhibitor, "1") + "3"},
		{"test", pt("", `<type value="test"/>`), readArc},
		{"read", pt(`type="read"`, ""), readArc},
		{"reset", pt("", `<type value="reset"/>`), reset},
		{"reset with a weight of 0", pt("", `<type value="reset"/><inscription><text>0</text></inscription>`), strings.TrimSuffix(reset, "1") + "0"},
		{"tapnInhibitor into a place is an output", net(`<place id="p"/><transition id="t"/><arc id="a" source="t" target="p" type="tapnInhibitor"/>`), strings.Replace(small, "p>t", "t>p", 1)},

		{"names, documentation, positions", net(`<name><text>The Net</text></name><documentation><text>On
			paper</text></documentation><place id="p"><name><text>first
line</text><graphics><offset x="1" y="2"/></graphics></name><graphics><position x="1.5" y="-2"/><dimension x="9" y="9"/></graphics></place>
			<transition id="t"><name><value> go </value></name><description>why</description><graphics><position x="0" y="0"/></graphics></transition>`),
			`net n "The Net" "On\n\t\t\tpaper"
			place p "first\nline" 0 @1.5,-2
			transition t "go" 0 @0,0 doc "why"`},
		{"ids of any character", net(`<place id="a b&quot;&#xE4;&#10;/"/><transition id="1"/><arc id="" source="a b&quot;ä&#10;/" target="1"/>`),
			"net n \"\" \"\"\nplace a b\"ä\n/ \"\" 0\ntransition 1 \"\" 0\nnormal a b\"ä\n/>1 1"},
		{"parallel arcs stay apart", net(`<place id="p"/><transition id="t"/><arc id="a" source="p" target="t"/><arc id="b" source="p" target="t"/>`), small + "\nnormal p>t 1"},
		{"priority in a label", net(`<transition id="t"><priority><value>2</value></priority></transition>`), "net n \"\" \"\"\ntransition t \"\" 2"},
		{"priority in an attribute", net(`<transition id="t" priority="-1"/>`), "net n \"\" \"\"\ntransition t \"\" -1"},
		{"an empty net", net(``), `net n "" ""`},

		{"PIPE", "<?xml version=\"1.0\" encoding=\"iso-8859-1\"?>\r\n<pnml>\r\n<net id=\"Net-One\" type=\"P/T net\"><token id=\"Default\" enabled=\"true\" red=\"0\"/><labels x=\"1\"><text>t</text></labels>" +
			`<place id="P0"><graphics><position x="1.0" y="2.0"/></graphics><name><value>Zero</value><graphics/></name><initialMarking><value>Default,1</value><graphics/></initialMarking><capacity><value>0</value></capacity></place>
			<transition id="T0"><orientation><value>90</value></orientation><rate><value>1.0</value></rate><timed><value>true</value></timed><priority><value>1</value></priority></transition>
			<arc id="P0 to T0" source="P0" target="T0"><inscription><value>Default,1</value></inscription><tagged><value>false</value></tagged><arcpath id="000" x="1" y="2" curvePoint="false"/><type value="normal"/></arc></net></pnml>`,
			`net Net-One "" ""
			place P0 "Zero" 1 @1,2
			transition T0 "" 1
			normal P0>T0 1`},
		{"TAPAAL", `<pnml xmlns="http://www.informatik.hu-berlin.de/top/pnml/ptNetb"><net active="true" id="C" type="P/T net"><labels>note</labels>
			<place id="P0" initialMarking="2" invariant="&lt; inf" name="Zero" nameOffsetX="0" positionX="75" positionY="30"/>
			<transition angle="0" id="T0" infiniteServer="false" name="T0" positionX="5" positionY="6" priority="0" urgent="false"/>
			<arc id="I0" inscription="[0,inf)" source="P0" target="T0" type="timed" weight="1"><arcpath arcPointType="false" id="0" xCoord="1" yCoord="2"/></arc>
			<arc id="I1" inscription="[0,inf)" source="P0" target="T0" type="tapnInhibitor" weight="3"/></net></pnml>`,
			`net C "" ""
			place P0 "Zero" 2 @75,30
			transition T0 "T0" 0 @5,6
			normal P0>T0 1
			inhibitor P0>T0 3`},
		{"NUPN", net(`<place id="p"/><toolspecific tool="nupn" version="1.1"><size places="1" transitions="0" arcs="0"/><structure units="1" root="u"><unit id="u"><places>p</places><subunits/></unit></structure></toolspecific>`), marked("0")},
		{"ProM's final markings hold no places", net(`<place id="p"/><finalmarkings><marking><place idref="p"><text>1</text></place></marking></finalmarkings>`), marked("0")},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			f := read(t, tt.xml)
			if len(f.Nets) != 1 {
				t.Fatalf("%d nets, want 1", len(f.Nets))
			}
			want := tt.want
			if !strings.Contains(want, "a b\"") { // the one id with a line break
				want = lines(want)
			} else {
				want += "\n"
			}
			if diff := cmp.Diff(want, say(f.Nets[0])); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func TestReadKeepsPositionsInTheSource(t *testing.T) {
	f := read(t, "<?xml version=\"1.0\"?>\n<pnml>\n <net id=\"n\" type=\"ptnet\">\n\t<place id=\"p\"/><transition id=\"t\"/>\n<arc id=\"ä\" source=\"p\" target=\"t\"/><arc id=\"b\" source=\"t\" target=\"p\"/></net></pnml>")
	n := f.Nets[0]
	got := []petri.Pos{n.Pos, n.Places[0].Pos, n.Transitions[0].Pos, n.Arcs[0].Pos, n.Arcs[1].Pos}
	want := []petri.Pos{{Line: 3, Column: 2}, {Line: 4, Column: 2}, {Line: 4, Column: 17}, {Line: 5, Column: 1}, {Line: 5, Column: 37}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if n.File != "f.pnml" {
		t.Errorf("File = %q", n.File)
	}
}

func TestReadSeveralNets(t *testing.T) {
	f := read(t, `<pnml><net id="a" type="ptnet"><place id="p"/></net><net id="b" type="ptnet"><place id="p"/></net></pnml>`)
	if len(f.Nets) != 2 || f.Nets[0].ID != "a" || f.Nets[1].ID != "b" {
		t.Errorf("got %d nets", len(f.Nets))
	}
}

func TestReadNoNet(t *testing.T) {
	f := read(t, "\n<pnml/>")
	if len(f.Nets) != 0 {
		t.Errorf("got %d nets", len(f.Nets))
	}
	if diff := cmp.Diff([]string{"f.pnml:2:1: no net in the file"}, warningsOf(f)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func warningsOf(f *File) []string {
	var out []string
	for i := range f.Warnings {
		out = append(out, f.Warnings[i].Error())
	}
	return out
}

func TestReadWarns(t *testing.T) {
	tests := []struct {
		rule, xml string
		want      []string
	}{
		{"nothing to say", net(`<page id="g"><name><text>x</text></name><graphics><position x="1" y="1"/>junk</graphics><toolspecific tool="T" version="1"><any>x</any></toolspecific></page>`), nil},
		{"unknown elements once each, with a count", net(`<place id="p"><colour/></place><page id="g"><place id="q"><colour>x<deep/></colour></place></page><group/>`),
			[]string{"1:46: ignored <colour> in <place> (2 times, first here)", "1:130: ignored <group> in <net>"}},
		{"elements of other languages", `<pnml xmlns="urn:a"><net id="n" type="ptnet"><place id="p"><name xmlns="urn:other"><text>x</text></name></place></net></pnml>`,
			[]string{"1:60: ignored <name> in <place>"}},
		{"unknown attributes", net(`<place id="p" invariant="&lt; 5"/><place id="q" invariant="&lt; inf" xml:lang="en" urgent="false"/>`),
			[]string{"1:32: ignored attribute invariant of <place>"}},
		{"text between elements", net(`<place id="p"/> stray <place id="q"/>`), []string{"1:47: ignored text in <net>"}},
		{"no type", `<pnml><net id="n"/></pnml>`, []string{"1:7: a net without a type; read as a place/transition net"}},
		{"unknown type", `<pnml><net id="n" type="x"/></pnml>`, []string{`1:7: unknown net type "x"; read as a place/transition net`}},
		{"times and rates", net(`<transition id="t"><rate><value>2</value></rate><timed><value>true</value></timed></transition>`),
			[]string{"1:51: ignored <rate> in <transition>", "1:80: ignored <timed> in <transition>"}},
		{"time intervals", pt(`type="timed" inscription="[1,2]"`, ""),
			[]string{`1:67: an arc of type "timed" is read as normal: its times are ignored`, "1:67: ignored the time interval of an arc"}},
		{"an inscription without a number", pt("", "<inscription><variable>x</variable></inscription>"),
			[]string{"1:102: the weight of <arc> has no number; read as 1", "1:115: ignored <variable> in <inscription>"}},
		{"an output drawn as an inhibitor", net(`<place id="p"/><transition id="t"/><arc id="a" source="t" target="p" type="prohibit"/>`),
			[]string{`1:67: arc "a" into place "p" has the type of an inhibitor arc; read as an ordinary output, as Perpetuum does`}},
		{"arcs of one id", net(`<place id="p"/><transition id="t"/><arc id="a" source="t" target="p"/><arc id="a" source="p" target="t"/>`),
			[]string{`1:102: the id "a" of an arc occurs twice; both arcs count`}},
		{"a second name", net(`<place id="p"><name><text>a</text><text>b</text></name></place>`), []string{"1:46: ignored a second value of <name> in <place>"}},
		{"a position that is none", net(`<place id="p"><graphics><position x="NaN" y="1"/></graphics></place>`), []string{"1:56: ignored a position that is not two numbers"}},
		{"a DOCTYPE without declarations", `<!DOCTYPE pnml SYSTEM "x.dtd">` + net(""), []string{"1:1: DOCTYPE is ignored: no document is fetched"}},
		{"a type or guard that is only a word", net(`<place id="p"><type><text>dot</text></type></place>`), []string{"1:46: ignored <type> in <place>"}},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			var want []string
			for _, w := range tt.want {
				want = append(want, "f.pnml:"+w)
			}
			if diff := cmp.Diff(want, warningsOf(read(t, tt.xml))); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func TestReadBoundsWarnings(t *testing.T) {
	var b strings.Builder
	for i := range 3 * xmlscan.MaxWarnings {
		fmt.Fprintf(&b, "<x%d/>", i)
	}
	w := warningsOf(read(t, net(b.String())))
	if len(w) != xmlscan.MaxWarnings+1 || w[xmlscan.MaxWarnings] != "f.pnml: 200 more warnings not shown" {
		t.Errorf("%d warnings, the last %s", len(w), w[len(w)-1])
	}
}
