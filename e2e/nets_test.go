// SPDX-License-Identifier: Apache-2.0

package e2e

// stuckNet reaches a marking in which no transition fires by itself: 40 claims wait for
// an answer until a user fires "answer". A new claim comes by
// injecting a token into "inbox".
const stuckNet = `<?xml version="1.0" encoding="UTF-8"?>
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

// stuckBindings leave two steps to people.
const stuckBindings = `nets:
  claims:
    transitions:
      answer: manual
      archive: manual
`

// ringNet never stops by itself.
const ringNet = `<?xml version="1.0" encoding="UTF-8"?>
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
