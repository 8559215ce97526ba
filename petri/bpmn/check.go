// SPDX-License-Identifier: Apache-2.0

package bpmn

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pnagent/pnagent/petri/xmlscan"
)

// refuseNode refuses a node by its kind and id.
func (d *document) refuseNode(n *node, what, expected string) {
	d.refuse(n.pos, what+" "+xmlscan.Quote(n.id)+"; expected "+expected)
}

// checkScope refuses what cannot be built of a scope. owner is its node, or nil for a process.
func (d *document) checkScope(s *scope, owner *node) {
	starts, nones := 0, 0
	for _, n := range s.nodes {
		if n.kind == "startEvent" {
			starts++
			if n.event.kind == "none" {
				nones++
			}
		}
	}
	if nones > 1 {
		d.Warnings.Add(s.el.pos, xmlscan.Tag(s.el.name)+" "+xmlscan.Quote(s.id)+" has "+itoa(nones)+" none start events: an instance begins at all of them")
	}
	begun := starts > 0
	for _, n := range s.nodes {
		d.checkNode(n, owner, starts)
		begun = begun || n.begins() || n.instantiates()
		if n.inner != nil {
			d.checkScope(n.inner, n)
		}
	}
	if len(s.nodes) > 0 && !begun {
		d.refuse(s.el.pos, xmlscan.Tag(s.el.name)+" "+xmlscan.Quote(s.id)+" has no beginning; expected a start event or a flow node without incoming sequence flows")
	}
}

// begins reports whether a node begins with its scope, because no flow leads to it,
// although it is not a start event.
func (n *node) begins() bool {
	return len(n.in) == 0 && !n.idle && !n.instantiates() && n.kind != "startEvent" && n.kind != "boundaryEvent" && !n.byEvent && !n.isLinkTarget() && !n.isHandler()
}

// instantiates reports whether a node that is not a start event begins an instance.
func (n *node) instantiates() bool {
	return n.el.attr("instantiate") == "true"
}

func (n *node) isLinkTarget() bool {
	return n.kind == "intermediateCatchEvent" && n.event.kind == "link"
}

func (d *document) checkNode(n, owner *node, starts int) {
	if n.begins() && starts > 0 {
		n.idle = true
		d.Warnings.Add(n.pos, "no sequence flow leads to "+n.title()+", and there is a start event: it never begins")
	}
	d.readMapping(n)
	d.warnOfAssociations(n)
	switch {
	case n.event != nil:
		d.checkEvent(n, owner)
	case isTask(n.kind), isSub(n.kind), n.kind == "callActivity":
		d.checkActivity(n, owner)
	default:
		d.checkGateway(n, owner)
	}
}

func (d *document) checkActivity(n, owner *node) {
	kind := n.kindWords()
	d.readLoop(n)
	switch {
	case n.kind == "adHocSubProcess":
		d.readAdHoc(n)
	case n.isHandler() && len(n.in)+len(n.out) > 0:
		d.refuseNode(n, "a sequence flow at compensating "+kind, "none")
	case n.isHandler() && n.handles == nil && !n.byEvent:
		d.Warnings.Add(n.pos, n.title()+" is for compensation, but no compensation boundary event is associated with it: it never runs")
	case n.byEvent && n.compensates() && owner == nil:
		d.refuseNode(n, "compensating "+kind+" of a process", "it in a sub-process")
	case n.instantiates() && (owner != nil || len(n.in)+len(n.attached) > 0 || n.loop != nil):
		d.refuseNode(n, "instantiating "+kind, "one that begins a process, once and without boundary events")
	case n.byEvent && n.isRepeated():
		d.refuseNode(n, "loop or multi-instance "+n.kindWords(), "one that runs once each time its event occurs")
	case n.byEvent:
		d.checkEventSub(n)
	}
	n.takes, n.puts = d.quantity(n, "startQuantity"), d.quantity(n, "completionQuantity")
}

// quantity reads the number of tokens that begin an activity, or that it puts on each outgoing sequence flow.
func (d *document) quantity(n *node, attr string) uint32 {
	s := n.el.attr(attr)
	if s == "" {
		return 1
	}
	q, err := strconv.ParseUint(s, 10, 32)
	if err != nil || q == 0 {
		d.refuseNode(n, attr+" "+xmlscan.Quote(s)+" of "+n.kindWords(), "a whole number from 1 to 4294967295")
	}
	return uint32(q)
}

// checkEventSub refuses an event sub-process that does not have one start event.
func (d *document) checkEventSub(n *node) {
	if len(n.in)+len(n.out)+len(n.attached) > 0 {
		d.refuseNode(n, "sequence flows or boundary events on event sub-process", "none")
	}
	starts := 0
	for _, k := range n.inner.nodes {
		if k.kind == "startEvent" {
			starts++
		}
	}
	if starts != 1 {
		d.refuseNode(n, itoa(starts)+" start events in event sub-process", "one")
	}
}

// The events that each kind of node may have, as the end of a message.
const (
	startKinds    = "none, message, timer, signal or conditional"
	subKinds      = "none in a sub-process"
	eventSubKinds = "message, timer, signal, conditional, error, escalation or compensate in an event sub-process"
	catchKinds    = "message, timer, signal, conditional or link"
	throwKinds    = "none, message, signal, escalation, compensate or link"
	endKinds      = "none, message, signal, escalation, error, compensate, cancel or terminate"
	boundaryKinds = "message, timer, signal, conditional, error, escalation, compensate or cancel"
)

func (d *document) checkEvent(n, owner *node) {
	var allowed string
	switch {
	case n.kind == "endEvent":
		allowed = endKinds
	case n.kind == "intermediateCatchEvent":
		allowed = catchKinds
	case n.kind == "intermediateThrowEvent":
		allowed = throwKinds
	case n.kind == "boundaryEvent":
		allowed = boundaryKinds
	case owner == nil:
		allowed = startKinds
	case owner.byEvent:
		allowed = eventSubKinds
	default:
		allowed = subKinds
	}
	if !slices.Contains(strings.Fields(strings.ReplaceAll(allowed, ",", "")), n.event.kind) {
		d.refuseNode(n, n.kindWords(), allowed)
	}
	d.checkCompensation(n, owner)
	switch {
	case n.kind == "endEvent" && len(n.out) > 0:
		d.refuseNode(n, "a sequence flow out of "+n.kindWords(), "none")
	case (n.kind == "startEvent" || n.kind == "boundaryEvent") && len(n.in) > 0:
		d.refuseNode(n, "a sequence flow into "+n.kindWords(), "none")
	case n.host != nil && !n.host.isActivity():
		d.refuseNode(n, n.kindWords()+" on "+n.host.kindWords(), "it on an activity")
	case n.event.kind == "error" && !n.interrupts:
		d.refuseNode(n, "non-interrupting "+n.kindWords(), "an error to interrupt")
	}
}

func (d *document) checkGateway(n, owner *node) {
	switch n.kind {
	case "exclusiveGateway":
		d.checkExclusive(n)
	case "parallelGateway":
		for _, f := range n.out {
			if f.cond != "" || n.fallback != nil {
				d.refuse(f.pos, "condition or default on sequence flow "+xmlscan.Quote(f.id)+" out of "+n.title()+"; expected none")
			}
		}
	case "complexGateway":
		d.checkComplex(n)
	case "eventBasedGateway":
		d.checkEventGateway(n, owner)
	}
}

// checkExclusive makes a single flow without a condition the default flow, and
// refuses several beside flows with conditions.
func (d *document) checkExclusive(n *node) {
	var bare []*flow
	for _, f := range n.out {
		if f.cond == "" && f != n.fallback {
			bare = append(bare, f)
		}
	}
	if len(n.out) < 2 || len(bare) == len(n.out) || n.fallback != nil && len(bare) == len(n.out)-1 {
		return // no conditions at all, as in a sketch
	}
	switch {
	case len(bare) == 1 && n.fallback == nil:
		n.fallback = bare[0]
		d.Warnings.Add(bare[0].pos, "sequence flow "+xmlscan.Quote(bare[0].id)+" is read as the default flow of "+n.title()+": it is the only one without a condition")
	default:
		for _, f := range bare {
			d.refuse(f.pos, "sequence flow "+xmlscan.Quote(f.id)+" without a condition out of "+n.title()+", where others have one; expected a condition")
		}
	}
}

// kOfN is an activation condition that counts tokens.
var kOfN = regexp.MustCompile(`^(?:activationCount\s*(>=|>|==?|ge|gt|eq)\s*)?(\d{1,9})(?:\s+of\s+(?:\d+|n))?$`)

func (d *document) checkComplex(n *node) {
	const expected = "\"activationCount >= k\" or \"k of n\""
	c := n.el.kid("activationCondition")
	if c == nil || c.text == "" {
		d.refuseNode(n, "no activation condition at complex gateway", expected)
		return
	}
	m := kOfN.FindStringSubmatch(unmarked(d.expression(c)))
	if m == nil {
		d.refuse(c.pos, "the activation condition "+xmlscan.Quote(oneLine(c.text))+" of "+n.title()+"; expected "+expected)
		return
	}
	k, _ := strconv.Atoi(m[2]) // at most 9 digits
	if m[1] == ">" || m[1] == "gt" {
		k++
	}
	if k < 1 || k > len(n.in) {
		d.refuse(c.pos, n.title()+" waits for "+itoa(k)+" of "+itoa(len(n.in))+" tokens; expected a number from 1 to that of its incoming sequence flows")
		return
	}
	n.needed = uint32(k)
}

func (d *document) checkEventGateway(n, owner *node) {
	switch {
	case n.instantiates() && (owner != nil || len(n.in) > 0):
		d.refuseNode(n, "instantiating event based gateway", "one that begins a process")
	case n.el.attr("eventGatewayType") == "Parallel":
		d.refuseNode(n, "parallel event based gateway", "an exclusive one")
	case len(n.out) == 0:
		d.refuseNode(n, "no sequence flow out of event based gateway", "one to each event that it waits for")
	}
	for _, f := range n.out {
		to := f.dst
		caught := to.kind == "intermediateCatchEvent" && to.event.kind != "link" || to.kind == "receiveTask"
		switch {
		case !caught || len(to.attached) > 0 || to.isRepeated():
			d.refuse(f.pos, n.title()+" leads to "+to.title()+"; expected a catching event or a receive task without boundary events that waits once")
		case len(to.in) > 1:
			d.refuseNode(to, "several sequence flows into "+to.kindWords(), "only that of the event based gateway "+xmlscan.Quote(n.id))
		case n.instantiates() && to.event != nil && to.timed():
			d.refuse(f.pos, n.title()+" leads to "+to.title()+"; expected an event that is not a timer to begin an instance")
		case f.cond != "":
			d.refuse(f.pos, "a condition on sequence flow "+xmlscan.Quote(f.id)+" out of "+n.title()+"; expected none")
		}
	}
}

// checkCalls refuses processes that call each other in a cycle, and called processes that cannot begin.
func (d *document) checkCalls() {
	state := map[*scope]bool{} // false while on the path, true once checked
	var visit func(s *scope)
	var look func(s *scope)
	look = func(s *scope) {
		for _, n := range s.nodes {
			if n.inner != nil {
				look(n.inner)
			}
			if n.calls == nil {
				continue
			}
			known, seen := state[n.calls]
			if seen && !known {
				s.doc.refuseNode(n, "a process that calls itself, here by call activity", "calls that end")
				continue
			}
			if !n.calls.beginsByItself() {
				s.doc.refuseNode(n, "no none start event in the process that is called by call activity", "one")
			}
			visit(n.calls)
		}
	}
	visit = func(s *scope) {
		if _, seen := state[s]; seen {
			return
		}
		state[s] = false
		look(s)
		state[s] = true
	}
	for _, s := range d.processes {
		visit(s)
	}
}

// beginsByItself reports whether a scope begins without an event.
func (s *scope) beginsByItself() bool {
	return len(s.nodes) == 0 || slices.ContainsFunc(s.nodes, func(n *node) bool {
		return n.begins() || n.kind == "startEvent" && n.event.kind == "none"
	})
}

// checkExecutable refuses what an executable process lacks, and a drawing may lack: codes
// of errors that it throws, and numbers of instances.
func (d *document) checkExecutable(s *scope) {
	if s.el.attr("isExecutable") != "true" {
		return
	}
	s.each(func(n *node) {
		if n.kind == "endEvent" && n.event.kind == "error" && n.event.name == "" {
			d.refuseNode(n, "no code in error end event", "one, because the process is executable")
		}
		if n.isRepeated() && n.loop == nil {
			d.refuseNode(n, "multi-instance "+n.kindWords()+" without a number of instances", "loopCardinality or a collection, because the process is executable")
		}
	})
}
