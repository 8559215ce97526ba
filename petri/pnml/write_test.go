// SPDX-License-Identifier: Apache-2.0

package pnml

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pnagent/pnagent/petri"
)

// sameNet compares nets except for source positions and what Write leaves out.
var sameNet = cmp.Options{
	cmpopts.IgnoreTypes(petri.Pos{}),
	cmpopts.IgnoreFields(petri.Net{}, "File", "FinalMarkings"), // Write leaves out final markings,
	cmpopts.IgnoreFields(petri.Transition{}, "Silent"),         // and which transitions are silent
	cmpopts.EquateEmpty(),
}

// roundTrip checks that Read returns n for what Write wrote of it, and that Write
// then writes the same bytes.
func roundTrip(t testing.TB, n *petri.Net) []byte {
	t.Helper()
	var first, second bytes.Buffer
	if err := Write(&first, n); err != nil {
		t.Fatal(err)
	}
	f, err := Read(bytes.NewReader(first.Bytes()), "written", Limits{})
	if err != nil {
		t.Fatalf("reading what was written: %v\n%s", err, &first)
	}
	if len(f.Nets) != 1 {
		t.Fatalf("%d nets", len(f.Nets))
	}
	for _, w := range warningsOf(f) {
		if !strings.Contains(w, "of an arc occurs twice") { // the net's own fault
			t.Errorf("what was written is read with the warning %s", w)
		}
	}
	if diff := cmp.Diff(n, f.Nets[0], sameNet); diff != "" {
		t.Errorf("read back -want +got\n%s", diff)
	}
	if err := Write(&second, f.Nets[0]); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first.String(), second.String()); diff != "" {
		t.Errorf("written again -first +second\n%s", diff)
	}
	return first.Bytes()
}

func TestWrite(t *testing.T) {
	n := &petri.Net{
		ID: "n", Name: "Net <1>", Doc: "a\nb",
		Places: []petri.Place{
			{ID: "p", Name: "\"p\"", Doc: "why", Initial: math.MaxUint32, At: &petri.Point{X: 1.5, Y: -1e21}},
			{ID: "page"},
		},
		Transitions: []petri.Transition{{ID: "t\r\n ", Name: "ä\rö", Doc: "d", Priority: -3, At: &petri.Point{}}, {ID: "u"}},
		Arcs: []petri.Arc{
			{ID: "a", Source: "p", Target: "t\r\n ", Weight: 1},
			{ID: "page1", Source: "t\r\n ", Target: "page", Weight: 2},
			{ID: "c", Source: "p", Target: "u", Kind: petri.Inhibitor, Weight: 3},
			{ID: "d", Source: "p", Target: "u", Kind: petri.Read, Weight: 1},
			{Source: "p", Target: "u", Kind: petri.Reset},
		},
	}
	const want = `<?xml version="1.0" encoding="UTF-8"?>
<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml">
  <net id="n" type="http://www.pnml.org/version-2009/grammar/ptnet">
    <name><text>Net &lt;1&gt;</text></name>
    <documentation><text>a&#xA;b</text></documentation>
    <page id="page2">
      <place id="p">
        <name><text>&#34;p&#34;</text></name>
        <documentation><text>why</text></documentation>
        <graphics><position x="1.5" y="-1000000000000000000000"/></graphics>
        <initialMarking><text>4294967295</text></initialMarking>
      </place>
      <place id="page">
      </place>
      <transition id="t&#xD;&#xA; ">
        <name><text>ä&#xD;ö</text></name>
        <documentation><text>d</text></documentation>
        <graphics><position x="0" y="0"/></graphics>
        <priority><text>-3</text></priority>
      </transition>
      <transition id="u">
      </transition>
      <arc id="a" source="p" target="t&#xD;&#xA; ">
      </arc>
      <arc id="page1" source="t&#xD;&#xA; " target="page">
        <inscription><text>2</text></inscription>
      </arc>
      <arc id="c" source="p" target="u">
        <type value="inhibitor"/>
        <inscription><text>3</text></inscription>
      </arc>
      <arc id="d" source="p" target="u">
        <type value="read"/>
      </arc>
      <arc source="p" target="u">
        <type value="reset"/>
        <inscription><text>0</text></inscription>
      </arc>
    </page>
  </net>
</pnml>
`
	if diff := cmp.Diff(want, string(roundTrip(t, n))); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestWriteDropsWhiteSpaceAroundNames(t *testing.T) {
	var b bytes.Buffer
	if err := Write(&b, &petri.Net{ID: "n", Name: "  a b\n"}); err != nil {
		t.Fatal(err)
	}
	if got := read(t, b.String()).Nets[0].Name; got != "a b" {
		t.Errorf("name %q", got)
	}
}

func TestWriteRefuses(t *testing.T) {
	place := func(p petri.Place) *petri.Net { return &petri.Net{ID: "n", Places: []petri.Place{p}} }
	tests := []struct {
		rule string
		net  *petri.Net
		want string
	}{
		{"no id", &petri.Net{}, `writing net "" as PNML: the net has no id`},
		{"a net that is not valid", place(petri.Place{}), `writing net "n" as PNML: place without an id; expected an id attribute`},
		{"a control character", place(petri.Place{ID: "p", Name: "a\x00"}), `writing net "n" as PNML: place "p": "a\x00" has the character U+0000, which XML cannot contain`},
		{"a noncharacter", place(petri.Place{ID: "p\uffff"}), `writing net "n" as PNML: place "p\uffff": "p\uffff" has the character U+FFFF, which XML cannot contain`},
		{"bytes that are not UTF-8", place(petri.Place{ID: "p", Doc: "\xff"}), `writing net "n" as PNML: place "p": "\xff" is not UTF-8`},
		{"no number", place(petri.Place{ID: "p", At: &petri.Point{X: math.NaN()}}), `writing net "n" as PNML: place "p": its position is not two finite numbers`},
		{"infinity", &petri.Net{ID: "n", Transitions: []petri.Transition{{ID: "t", At: &petri.Point{Y: math.Inf(1)}}}}, `writing net "n" as PNML: transition "t": its position is not two finite numbers`},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			var b bytes.Buffer
			err := Write(&b, tt.net)
			if err == nil || err.Error() != tt.want {
				t.Errorf("error %v\nwant  %s", err, tt.want)
			}
			if b.Len() > 0 {
				t.Errorf("wrote %d bytes", b.Len())
			}
		})
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
func (f failing) Read([]byte) (int, error)  { return 0, f.err }

func TestWriteReturnsTheWritersError(t *testing.T) {
	full := errors.New("disk full")
	if err := Write(failing{full}, &petri.Net{ID: "n"}); !errors.Is(err, full) {
		t.Errorf("error %v", err)
	}
}

func TestReadReturnsTheReadersError(t *testing.T) {
	gone := errors.New("disk gone")
	_, err := Read(failing{gone}, "f", Limits{})
	if !errors.Is(err, gone) || !strings.HasPrefix(err.Error(), "reading f: ") {
		t.Errorf("error %v", err)
	}
}
