// SPDX-License-Identifier: Apache-2.0

package bpmn

import (
	"cmp"
	"slices"
	"strings"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/xmlscan"
)

// workName returns the topic, class, expression or type that a process engine
// binds a task or a message to, or "".
func workName(e *elem) string {
	for _, name := range []string{"topic", "class", "delegateExpression", "expression", "decisionRef"} {
		if v := unmarked(e.extension(name)); v != "" {
			return oneLine(v)
		}
	}
	for _, x := range e.extensions() {
		switch x.name {
		case "taskDefinition":
			return oneLine(x.attr("type"))
		case "calledDecision":
			return oneLine(x.attr("decisionId"))
		}
	}
	return implementation(e.attr("implementation"))
}

// implementation returns the name in an implementation attribute, or "" if that is only a technology.
func implementation(s string) string {
	if strings.HasPrefix(s, "##") || strings.EqualFold(s, "webService") {
		return ""
	}
	return oneLine(s)
}

// taskTrigger returns what a task waits for.
func (d *document) taskTrigger(n *node) petri.Trigger {
	if n.script {
		return petri.Trigger{}
	}
	switch n.kind {
	case "userTask", "manualTask":
		return petri.Trigger{Kind: petri.TriggerEvent, Name: n.label()}
	case "receiveTask":
		return petri.Trigger{Kind: petri.TriggerEvent, Name: cmp.Or(d.named(n.el.attr("messageRef")), n.label()), Event: n.message}
	case "sendTask":
		return petri.Trigger{Kind: petri.TriggerWork, Name: cmp.Or(workName(n.el), d.named(n.el.attr("messageRef")))}
	case "callActivity":
		return d.callTrigger(n)
	}
	return petri.Trigger{Kind: petri.TriggerWork, Name: workName(n.el)}
}

// What says for whom a user task is, in XML and in words: constant.
var (
	attributesFor = [...]struct{ name, words string }{{"assignee", "Assignee"}, {"candidateUsers", "Candidate users"}, {"candidateGroups", "Candidate groups"}}
	elementsFor   = [...]struct{ name, words string }{{"performer", "Performer"}, {"humanPerformer", "Performer"}, {"potentialOwner", "Potential owners"}}
)

// assignment returns for whom a user task is, as BPMN's performers or the extensions of Camunda and Zeebe have
// it, such as "Assignee: anna. Candidate groups: accounting."; "" if they do not.
func (d *document) assignment(n *node) string {
	if n.kind != "userTask" || n.el.isPlain() {
		return ""
	}
	from, in := n.el, isEngine
	for _, x := range n.el.extensions() {
		if x.name == "assignmentDefinition" {
			from, in = x, isOwn
		}
	}
	var parts []string
	say := func(words, who string) {
		if who = xmlscan.Clip(oneLine(who), 200); who != "" {
			parts = append(parts, words+": "+who+".")
		}
	}
	for _, p := range &attributesFor {
		if who := from.attrIn(p.name, in); who != "" {
			say(p.words, who)
		}
	}
	for _, p := range &elementsFor {
		if names := d.resources(n.el, p.name); len(names) > 0 {
			say(p.words, strings.Join(names, ", "))
		}
	}
	return strings.Join(parts, " ")
}

// resources returns the names or expressions of an activity's performers of a kind.
func (d *document) resources(activity *elem, kind string) (names []string) {
	for _, role := range activity.kids {
		if role.name != kind || role.space != model {
			continue
		}
		if ref := role.kid("resourceRef"); ref != nil {
			names = append(names, d.named(oneLine(ref.text)))
		} else if e := role.kid("resourceAssignmentExpression"); e != nil && e.kid("formalExpression") != nil {
			names = append(names, oneLine(e.kid("formalExpression").text))
		}
	}
	return names
}

// joinLines joins two texts, of which one may be "", as lines.
func joinLines(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n" + b
}

// callTrigger returns what a call activity waits for if its process is not in this file.
func (d *document) callTrigger(n *node) petri.Trigger {
	ref := calledElement(n)
	if e := d.defs[ref]; e != nil {
		if name := cmp.Or(oneLine(e.attr("name")), ref); e.is("globalUserTask") || e.is("globalManualTask") {
			return petri.Trigger{Kind: petri.TriggerEvent, Name: name}
		}
	}
	return petri.Trigger{Kind: petri.TriggerWork, Name: ref}
}

// calledElement returns the id of the element that a call activity calls.
func calledElement(n *node) string {
	if ref := local(n.el.attr("calledElement")); ref != "" {
		return ref
	}
	for _, x := range n.el.extensions() {
		if x.name == "calledElement" {
			return oneLine(x.attr("processId"))
		}
	}
	return ""
}

// maxIgnored limits the listed extensions of an element.
const maxIgnored = 10

// ignored returns a note with the extensions on an element that are not followed, in the order of the file.
func ignored(e *elem) string {
	if e.isPlain() {
		return ""
	}
	var names []string
	note := func(name string) {
		switch {
		case len(names) > maxIgnored || slices.Contains(names, name):
		case len(names) == maxIgnored:
			names = append(names, "and others")
		default:
			names = append(names, xmlscan.Clip(name, 60))
		}
	}
	for i := range e.attrs {
		if a := &e.attrs[i]; isEngine(a.space) && changesBehaviour(a.name) {
			note(a.name)
		}
	}
	for _, x := range e.extensions() {
		switch x.name {
		case "field":
			if x.attr("name") != decisionField {
				note(x.name)
			}
		case "taskDefinition", "calledElement", "calledDecision", "formDefinition", "formData", "userTaskForm", "properties",
			"inputOutput", "ioMapping", "in", "out", "script":
		default:
			note(x.name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "not followed: " + strings.Join(names, ", ")
}

// changesBehaviour reports whether an attribute of a process engine changes when
// or how often an element runs there.
func changesBehaviour(attr string) bool {
	return slices.Contains([]string{"asyncBefore", "asyncAfter", "async", "exclusive", "jobPriority", "variableEvents"}, attr)
}
