// SPDX-License-Identifier: Apache-2.0

package bpmn

import "github.com/pnagent/pnagent/petri/xmlscan"

// callAny makes the calls of a process by an expression choices between the processes
// that do not call it, and a piece of work for others.
func (d *document) callAny(s *scope, docs []*document) {
	var calls []*node
	s.each(func(n *node) {
		if n.kind == "callActivity" && isExpression(calledElement(n)) {
			calls = append(calls, n)
		}
	})
	for _, n := range calls {
		ref := calledElement(n)
		var processes []*scope
		names := ""
		for _, other := range docs {
			for _, p := range other.processes {
				if other.found.Len() == 0 && len(p.nodes) > 0 && p.beginsByItself() && !p.leadsTo(s, map[*scope]bool{}) {
					processes = append(processes, p)
					names += xmlscan.Quote(p.id) + ", "
				}
			}
		}
		d.Warnings.Add(n.pos, n.title()+" calls the process that "+xmlscan.Quote(ref)+" names: "+names+"one piece of work")
		if !isUEL(ref) && !isFEEL(ref) {
			ref = "${''}" + ref // a text with expressions in it
		}
		if len(processes) > 0 {
			n.inner = d.choice(n, ref, processes)
		}
	}
}

// leadsTo reports whether a process is another one, or calls it in the end.
func (s *scope) leadsTo(to *scope, seen map[*scope]bool) bool {
	found := s == to
	if !seen[s] {
		seen[s] = true
		s.each(func(n *node) { found = found || n.calls != nil && n.calls.leadsTo(to, seen) })
	}
	return found
}

// The ids of what choice adds to an activity: the call of each process, and the flow to it.
const (
	callPrefix   = "call "
	calledSuffix = "/called"
)

// choice returns a scope that calls one of several processes: that whose id is the value
// of an expression, or one piece of work.
func (d *document) choice(n *node, ref string, processes []*scope) *scope {
	s := &scope{doc: d, el: &elem{name: "subProcess", pos: n.pos}, id: n.id, name: n.name, left: tally{}, call: n}
	which := &node{el: s.el, kind: "exclusiveGateway", id: n.id + "/which", pos: n.pos, inside: true}
	s.nodes = append(s.nodes, which)
	call := func(id string, calls *scope, cond string) *flow {
		to := &node{el: n.el, kind: n.kind, id: n.id + "/" + callPrefix + id, name: n.name, pos: n.pos, calls: calls, maps: n.maps, takes: 1, puts: 1, inside: true}
		f := &flow{el: s.el, id: to.id + calledSuffix, pos: n.pos, src: which, dst: to, cond: cond}
		to.in, which.out = []*flow{f}, append(which.out, f)
		s.nodes, s.flows = append(s.nodes, to), append(s.flows, f)
		return f
	}
	for _, p := range processes {
		call(p.id, p, among("is", ref, "called process of "+n.title(), p.id))
		d.calls[p.doc] = true
	}
	which.fallback = call("other", nil, "")
	n.maps = nil // those of the calls
	return s
}
