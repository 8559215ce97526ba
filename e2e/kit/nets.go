// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/pnml"
)

// StuckNet reaches a marking in which no transition fires by itself: 40 claims wait for
// an answer until a user fires "answer". A new claim comes by
// injecting a token into "inbox".
const StuckNet = `<?xml version="1.0" encoding="UTF-8"?>
<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml">
  <net id="claims" type="http://www.pnml.org/version-2009/grammar/ptnet">
    <name><text>Claims</text></name>
    <page id="page">
      <place id="inbox"><name><text>Inbox</text></name><initialMarking><text>40</text></initialMarking></place>
      <place id="review"><name><text>In review</text></name></place>
      <place id="awaiting answer"><name><text>Awaiting an answer</text></name></place>
      <place id="paid €"><name><text>Paid</text></name></place>
      <transition id="take"><name><text>Take up</text></name></transition>
      <transition id="ask"><name><text>Ask back</text></name></transition>
      <transition id="answer"><name><text>Answer</text></name></transition>
      <transition id="archive"><name><text>Archive</text></name></transition>
      <arc id="a1" source="inbox" target="take"/>
      <arc id="a2" source="take" target="review"/>
      <arc id="a3" source="review" target="ask"/>
      <arc id="a4" source="ask" target="awaiting answer"/>
      <arc id="a5" source="awaiting answer" target="answer"/>
      <arc id="a6" source="answer" target="paid €"/>
      <arc id="a7" source="paid €" target="archive"/>
    </page>
  </net>
</pnml>
`

// StuckBindings leave two steps to people.
const StuckBindings = `nets:
  claims:
    transitions:
      answer: manual
      archive: manual
`

// RingNet never stops by itself.
const RingNet = `<?xml version="1.0" encoding="UTF-8"?>
<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml">
  <net id="ring" type="http://www.pnml.org/version-2009/grammar/ptnet">
    <page id="page">
      <place id="a"><initialMarking><text>1</text></initialMarking></place>
      <place id="b"/>
      <place id="c"/>
      <transition id="ab"/>
      <transition id="bc"/>
      <transition id="bc too"/>
      <transition id="ca"/>
      <arc id="1" source="a" target="ab"/>
      <arc id="2" source="ab" target="b"/>
      <arc id="3" source="b" target="bc"/>
      <arc id="4" source="bc" target="c"/>
      <arc id="5" source="b" target="bc too"/>
      <arc id="6" source="bc too" target="c"/>
      <arc id="7" source="c" target="ca"/>
      <arc id="8" source="ca" target="a"/>
    </page>
  </net>
</pnml>
`

// oddIDs are ids that are not identifiers.
var oddIDs = []string{"a b", " leading", "trailing ", `"quoted"`, `back\slash`, "<&>", "Straße 東京 🚦", "3", "inject 2 a b", "tab\there", "{}", "::", "é", "e\u0301"}

// OddNet is a ring through places and transitions of odd ids.
func OddNet() *petri.Net {
	n := &petri.Net{ID: "odd net / ☃"}
	for i, id := range oddIDs {
		n.Places = append(n.Places, petri.Place{ID: "p" + id, Initial: uint32(i % 3)})
		n.Transitions = append(n.Transitions, petri.Transition{ID: "t" + id})
	}
	for i := range oddIDs {
		next := (i + 1) % len(oddIDs)
		n.Arcs = append(n.Arcs, petri.Arc{ID: fmt.Sprint("in ", i), Source: n.Places[i].ID, Target: n.Transitions[i].ID, Weight: 1},
			petri.Arc{ID: fmt.Sprint("out ", i), Source: n.Transitions[i].ID, Target: n.Places[next].ID, Weight: 1})
	}
	return n
}

// WriteNet makes a file of a net.
func WriteNet(t *testing.T, n *petri.Net) string {
	t.Helper()
	var text strings.Builder
	if err := pnml.Write(&text, n); err != nil {
		t.Fatal(err)
	}
	return Write(t, "net.pnml", text.String())
}

// CircleNet has tokens go round over three regions.
const CircleNet = `<?xml version="1.0"?>
<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml"><net id="ring" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="p">
<place id="a"><initialMarking><text>3</text></initialMarking></place><place id="b"/><place id="c"/>
<transition id="t1"/><transition id="t2"/><transition id="t3"/>
<arc id="x1" source="a" target="t1"/><arc id="x2" source="t1" target="b"/><arc id="x3" source="b" target="t2"/>
<arc id="x4" source="t2" target="c"/><arc id="x5" source="c" target="t3"/><arc id="x6" source="t3" target="a"/>
</page></net></pnml>`
