// SPDX-License-Identifier: Apache-2.0

package bpmn

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/xmlscan"
)

func itoa(n int) string { return strconv.Itoa(n) }

// oneLine returns a text with line breaks and runs of spaces replaced by one space.
func oneLine(s string) string {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= utf8.RuneSelf || c == ' ' && (i == 0 || i+1 == len(s) || s[i+1] == ' ') {
			return strings.Join(strings.Fields(s), " ")
		}
	}
	return s // as nearly all are
}

// display returns the name of an element for people.
func display(e *elem) string { return xmlscan.Clip(oneLine(e.attr("name")), 200) }

// words returns an XML name in words: "exclusive gateway" for "exclusiveGateway".
func words(name string) string {
	out := make([]byte, 0, 64)
	for _, c := range []byte(name) {
		if 'A' <= c && c <= 'Z' {
			out = append(out, ' ')
			c += 'a' - 'A'
		}
		out = append(out, c)
	}
	switch s := string(out); s {
	case "sub process", "ad hoc sub process":
		return strings.Replace(s, "sub process", "sub-process", 1)
	default:
		return s
	}
}

// kindWords returns the kind of a node in words, with the kind of its event.
func (n *node) kindWords() string {
	switch {
	case n.words != "":
	case n.event != nil:
		n.words = n.event.kind + " " + words(n.kind)
	case n.byEvent:
		n.words = "event sub-process"
	default:
		n.words = words(n.kind)
	}
	return n.words
}

// title returns the kind and the id of a node, for messages.
func (n *node) title() string { return n.kindWords() + " " + xmlscan.Quote(n.id) }

// isNode reports whether an element is a flow node. Those that are not built are refused later, by their ids.
func isNode(name string) bool {
	switch name {
	case "startEvent", "endEvent", "intermediateCatchEvent", "intermediateThrowEvent", "boundaryEvent",
		"exclusiveGateway", "parallelGateway", "inclusiveGateway", "complexGateway", "eventBasedGateway":
		return true
	}
	return isTask(name) || isSub(name) || name == "callActivity"
}

func isTask(name string) bool {
	switch name {
	case "task", "serviceTask", "sendTask", "receiveTask", "userTask", "manualTask", "scriptTask", "businessRuleTask":
		return true
	}
	return false
}

func isSub(name string) bool {
	return name == "subProcess" || name == "transaction" || name == "adHocSubProcess"
}

// isActivity reports whether a boundary event may be on a node.
func (n *node) isActivity() bool {
	return isTask(n.kind) || isSub(n.kind) && !n.byEvent || n.kind == "callActivity"
}

// isDetail reports whether a child of a process or a flow node is read elsewhere, or is about data and people.
func isDetail(name string) bool {
	switch name {
	case "documentation", "extensionElements", "incoming", "outgoing", "ioSpecification", "ioBinding", "property",
		"dataInput", "dataOutput", "inputSet", "outputSet", "dataInputAssociation", "dataOutputAssociation",
		"resourceRole", "performer", "humanPerformer", "potentialOwner", "auditing", "monitoring", "script", "rendering",
		"correlationSubscription", "supports", "supportedInterfaceRef", "categoryValueRef",
		"multiInstanceLoopCharacteristics", "standardLoopCharacteristics", "activationCondition", "conditionExpression", "completionCondition":
		return true
	}
	return false
}

// isLeftOut reports whether an element has no meaning for the net.
func isLeftOut(name string) bool {
	switch name {
	case "laneSet", "dataObject", "dataObjectReference", "dataStoreReference", "textAnnotation", "association", "group",
		"collaboration", "messageFlow", "dataStore", "category", "resource", "interface", "partnerEntity", "endPoint",
		"correlationProperty", "relationship", "import", "conversation", "globalConversation", "itemDefinition":
		return true
	}
	return false
}

// tally counts the elements that are left out, by kind.
type tally map[string]*counted

type counted struct {
	first petri.Pos
	times int
}

func (t tally) add(e *elem) {
	c := t[e.name]
	if c == nil {
		c = &counted{first: e.pos}
		t[e.name] = c
	}
	c.times++
	if e.name == "laneSet" {
		for _, lane := range e.kids {
			if lane.is("lane") {
				t.add(lane)
			}
		}
	}
}

// elements returns one Element for each kind.
func (t tally) elements() []Element {
	var out []Element
	for name, c := range t {
		text := "left out"
		if c.times > 1 {
			text += ": " + itoa(c.times) + " of them, the first here"
		}
		out = append(out, Element{Kind: words(name), Pos: c.first, Text: text})
	}
	return sortElements(out)
}
