// SPDX-License-Identifier: Apache-2.0

package bpmn

import (
	"cmp"
	"strings"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/xmlscan"
)

// document is the content of the file, before nets are built.
type document struct {
	*parser
	root       *elem
	found      xmlscan.Faults
	refused    map[refusal]bool // faults in found: a called process is checked several times
	ids        map[string]named
	repeated   map[repeated]named // instead of those in ids that occur again
	nodes      []node             // not yet given out
	flows      []flow             // not yet given out
	ends       []*flow            // not yet given out
	order      []*flow            // of inOrder, to be used again
	defs       map[string]*elem   // root elements by id: messages, signals, errors, global tasks
	pools      map[string]string
	processes  []*scope
	byID       map[string]*scope
	calls      map[*document]bool  // the other files whose processes this one calls
	associated map[string][]string // ids at the other ends of associations
	followed   map[[2]string]bool  // of these, the ids that compensation follows from the first to the second
	drawn      drawing
	decisions  []*petri.Decision          // of DMN files
	byDecision map[string]*petri.Decision // the same, by id
	text       text                       // the file itself
	file       *petri.Model               // the file, and those that it calls
}

// named is what has an id: a flow node or a sequence flow of a scope, or a process, which is neither.
type named struct {
	pos   petri.Pos
	in    *scope
	node  *node
	flow  *flow
	again bool // several have the id, and this is the first
}

// repeated is an id that several have, in one of their scopes.
type repeated struct {
	in *scope
	id string
}

type refusal struct {
	pos petri.Pos
	msg string
}

// scope is the content of a process or a sub-process.
type scope struct {
	doc   *document
	el    *elem
	id    string
	name  string
	nodes []*node // in the order of the file
	flows []*flow // in the order of the file
	left  tally   // what has no meaning for the net, but for associations
	call  *node   // the activity that calls one of several processes, if that is all that the scope is for
}

// node is a flow node.
type node struct {
	el   *elem
	kind string // its element's name
	id   string
	name string // on one line
	pos  petri.Pos

	words string // see kindWords
	index int    // in its scope

	in, out  []*flow     // in the order of <incoming> and <outgoing>, then of the file
	fallback *flow       // the default flow, or nil
	event    *event      // of an event; nil for others
	message  petri.Event // what an event or a task sends or waits for
	inner    *scope      // of a sub-process; nil for others
	loop     *petri.Loop // of an activity that runs several times; nil for others
	adHoc    *adHoc      // of an ad hoc sub-process; nil for others
	maps     *mapping    // nil if data goes in and out as it is
	attached []*node     // the boundary events on it
	host     *node       // of a boundary event: what it is attached to
	script   bool        // a task that does nothing but evaluate an expression
	link     *node       // of a throwing link event: its target
	needed   uint32      // of a complex gateway: the number of tokens it waits for
	calls    *scope      // of a call activity: a process of the files that are read, or nil

	handler *node // of a compensation boundary event: the activity that compensates
	undo    *node // the compensation boundary event on an activity, or nil
	handles *node // of an activity that is for compensation: what it compensates
	waits   bool  // of a throwing compensation event: for the handlers

	takes, puts uint32 // the number of tokens that begin the node, and that it puts on each flow

	idle       bool // it never begins: no flow leads to it, and there is a start event
	inside     bool // in a sub-process
	interrupts bool // of a boundary event, or of the start of an event sub-process
	byEvent    bool // an event sub-process
}

// flow is a sequence flow.
type flow struct {
	el       *elem
	id       string
	name     string
	pos      petri.Pos
	src, dst *node
	cond     string  // an expression; "" if there is none
	sorted   [2]bool // by side: see inOrder
}

// label returns the name of a node, or its id.
func (n *node) label() string {
	return cmp.Or(n.name, n.id)
}

func newDocument(p *parser, root *elem) *document {
	d := &document{
		parser: p, root: root,
		found:      xmlscan.Faults{File: p.File},
		refused:    map[refusal]bool{},
		ids:        make(map[string]named, p.own),
		repeated:   map[repeated]named{},
		defs:       map[string]*elem{},
		pools:      map[string]string{},
		byID:       map[string]*scope{},
		calls:      map[*document]bool{},
		associated: map[string][]string{}, followed: map[[2]string]bool{},
	}
	for _, e := range root.kids {
		if id := e.attr("id"); id != "" && e.space == model {
			d.defs[id] = e
		}
		if e.is("collaboration") {
			d.readAssociations(e)
			for _, k := range e.kids {
				if k.is("participant") {
					d.pools[local(k.attr("processRef"))] = display(k)
				}
			}
		}
	}
	d.drawn.read(root)
	return d
}

// refuse adds a fault once.
func (d *document) refuse(pos petri.Pos, msg string) {
	key := refusal{pos, msg}
	if !d.refused[key] {
		d.refused[key] = true
		d.found.Add(pos, "%s", msg)
	}
}

// readProcesses reads every process of the file.
func (d *document) readProcesses() {
	for _, e := range d.root.kids {
		switch {
		case e.is("process"):
			s := &scope{doc: d, el: e, id: e.attr("id"), name: display(e), left: tally{}}
			if s.id == "" {
				d.refuse(e.pos, "a process without an id; expected an id attribute")
			}
			d.known(s.id, e, named{})
			d.processes = append(d.processes, s)
			d.byID[s.id] = s
		case e.is("choreography"), e.is("globalChoreographyTask"):
			d.refuse(e.pos, words(e.name)+" "+xmlscan.Quote(e.attr("id"))+"; expected processes")
		}
	}
	for _, s := range d.processes {
		d.readScope(s)
	}
	for _, s := range d.processes {
		d.nameNodes(s)
	}
}

// known records what the element e with an id became. An id must occur once.
func (d *document) known(id string, e *elem, x named) {
	if id == "" {
		return
	}
	x.pos = e.pos
	first, dup := d.ids[id]
	if !dup {
		d.ids[id] = x
		return
	}
	d.refuse(e.pos, xmlscan.Tag(e.name)+" has the id "+xmlscan.Quote(id)+" of the element at line "+itoa(first.pos.Line)+"; expected every id once")
	if !first.again {
		d.repeat(id, first)
		first.again = true
		d.ids[id] = first
	}
	d.repeat(id, x)
}

// repeat records one of those that have an id. Of several nodes in a scope the last one counts.
func (d *document) repeat(id string, x named) {
	at := repeated{x.in, id}
	before := d.repeated[at]
	d.repeated[at] = named{node: cmp.Or(x.node, before.node), flow: cmp.Or(x.flow, before.flow)}
}

// inside returns what has an id in a scope.
func (d *document) inside(s *scope, id string) named {
	switch x := d.ids[id]; {
	case x.again:
		return d.repeated[repeated{s, id}]
	case x.in == s:
		return x
	}
	return named{}
}

// readAssociations reads the associations inside an element.
func (d *document) readAssociations(e *elem) {
	for _, k := range e.kids {
		if k.is("association") {
			from, to := local(k.attr("sourceRef")), local(k.attr("targetRef"))
			d.associated[from] = append(d.associated[from], to)
			d.associated[to] = append(d.associated[to], from)
		}
	}
}

// readScope reads the flow nodes and the sequence flows of a scope.
func (d *document) readScope(s *scope) {
	d.readAssociations(s.el)
	s.nodes, s.flows = make([]*node, 0, len(s.el.kids)/2), make([]*flow, 0, len(s.el.kids)/2)
	for _, e := range s.el.kids {
		switch {
		case e.space != model || isDetail(e.name):
		case e.name == "sequenceFlow":
			f := &give(&d.flows, 1)[0]
			f.el, f.id, f.name, f.pos = e, e.attr("id"), display(e), e.pos
			d.known(f.id, e, named{in: s, flow: f})
			s.flows = append(s.flows, f)
		case isNode(e.name):
			d.readNode(s, e)
		case e.name == "association": // see leftOut
		case isLeftOut(e.name):
			s.left.add(e)
		default:
			d.refuse(e.pos, words(e.name)+" "+xmlscan.Quote(e.attr("id"))+" in "+xmlscan.Tag(s.el.name)+"; expected flow nodes and sequence flows of BPMN 2.0")
		}
	}
}

func (d *document) readNode(s *scope, e *elem) {
	n := &give(&d.nodes, 1)[0]
	n.el = e
	n.kind = e.name
	n.id = e.attr("id")
	n.name = display(e)
	n.pos = e.pos
	n.takes = 1
	n.puts = 1
	d.known(n.id, e, named{in: s, node: n})
	n.inside = s.el.name != "process"
	n.byEvent = e.attr("triggeredByEvent") == "true"
	n.interrupts = e.attr("cancelActivity") != "false" && e.attr("isInterrupting") != "false"
	if strings.HasSuffix(e.name, "Event") {
		n.event = d.readEvent(n)
		n.words = ""
	}
	if n.kind == "sendTask" || n.kind == "receiveTask" {
		d.readMessage(n, petri.EventMessage, e.attr("messageRef"))
	}
	s.nodes = append(s.nodes, n)
	if isSub(e.name) {
		n.inner = &scope{doc: d, el: e, id: n.id, name: n.name, left: tally{}}
		d.readScope(n.inner)
	}
}

// connect connects the flows of a scope to its nodes, boundary events to their
// activities, link events to their targets, and calls to the processes of docs.
func (d *document) connect(s *scope, docs []*document) {
	for _, n := range s.nodes {
		if n.inner != nil {
			d.connect(n.inner, docs)
		}
	}
	for _, f := range s.flows {
		d.connectFlow(s, f)
	}
	for _, n := range s.nodes {
		d.inOrder(s, n, incoming, n.in)
		d.inOrder(s, n, outgoing, n.out)
		d.connectDefault(n)
		d.connectHost(s, n)
		if n.kind == "callActivity" {
			if ref := calledElement(n); !isExpression(ref) { // see callAny
				n.calls = d.called(ref, docs)
			}
		}
	}
	d.connectLinks(s)
	d.connectHandlers(s)
}

// called returns the process with an id, or nil if no file has it or it is empty.
func (d *document) called(id string, docs []*document) *scope {
	for _, other := range append([]*document{d}, docs...) {
		if s := other.byID[id]; s != nil && len(s.el.kids) > 0 {
			d.calls[other] = true
			return s
		}
	}
	return nil
}

func (d *document) connectFlow(s *scope, f *flow) {
	src, dst := f.el.attr("sourceRef"), f.el.attr("targetRef")
	f.src = d.end(s, f, "starts", src)
	f.dst = d.end(s, f, "ends", dst)
	if f.id == "" {
		f.id = d.unused(src+"-"+dst, named{pos: f.pos, in: s, flow: f})
	}
	if f.src != nil && f.dst != nil {
		d.join(&f.src.out, f)
		d.join(&f.dst.in, f)
	}
	if c := f.el.kid("conditionExpression"); c != nil {
		if f.cond = d.expression(c); f.cond == "" {
			d.Warnings.Add(c.pos, "the condition of sequence flow "+xmlscan.Quote(f.id)+" has no text; read as no condition")
		}
	}
}

// join adds a flow to those at a node, of which most have one.
func (d *document) join(to *[]*flow, f *flow) {
	if *to == nil {
		*to = give(&d.ends, 1)[:0]
	}
	*to = append(*to, f)
}

// end returns the flow node at an end of a flow, or nil.
func (d *document) end(s *scope, f *flow, which, ref string) *node {
	n := d.inside(s, ref).node
	if n == nil {
		d.refuse(f.pos, "sequence flow "+xmlscan.Quote(f.id)+" "+which+" at "+xmlscan.Quote(ref)+", which is not a flow node of the same process or sub-process")
	}
	return n
}

// side is the end of a flow at which a node is: at its source or at its target.
type side int

const (
	outgoing side = iota
	incoming
)

func (s side) String() string { return [...]string{"outgoing", "incoming"}[s] }

// inOrder sorts the flows at a node by its references, which is the order in which
// BPMN evaluates conditions. Flows without a reference are last.
func (d *document) inOrder(s *scope, n *node, at side, flows []*flow) {
	sorted := d.order[:0]
	for _, k := range n.el.kids {
		if !k.is(at.String()) {
			continue
		}
		ref := local(k.text)
		f := d.inside(s, ref).flow
		if f != nil && f.src != nil && f.dst != nil && [...]*node{f.src, f.dst}[at] == n && !f.sorted[at] {
			f.sorted[at] = true
			sorted = append(sorted, f)
		} else {
			d.Warnings.Add(k.pos, "ignored "+xmlscan.Tag(at.String())+" "+xmlscan.Quote(ref)+" of "+n.title()+": it has no further sequence flow with that id")
		}
	}
	for _, f := range flows {
		if !f.sorted[at] {
			sorted = append(sorted, f)
		}
	}
	copy(flows, sorted)
	d.order = sorted
}

func (d *document) connectDefault(n *node) {
	ref := local(n.el.attr("default"))
	if ref == "" {
		return
	}
	for _, f := range n.out {
		if f.id != ref {
			continue
		}
		n.fallback = f
		if f.cond != "" {
			d.Warnings.Add(f.pos, "the condition of sequence flow "+xmlscan.Quote(f.id)+" is ignored: it is the default flow of "+n.title())
			f.cond = ""
		}
		return
	}
	d.refuse(n.pos, n.title()+" has the default flow "+xmlscan.Quote(ref)+"; expected one of its outgoing sequence flows")
}

func (d *document) connectHost(s *scope, n *node) {
	if n.kind != "boundaryEvent" {
		return
	}
	ref := local(n.el.attr("attachedToRef"))
	if n.host = d.inside(s, ref).node; n.host == nil {
		d.refuse(n.pos, n.title()+" is attached to "+xmlscan.Quote(ref)+", which is not an activity of the same process or sub-process")
		return
	}
	if !n.isCompensation() {
		n.host.attached = append(n.host.attached, n)
	}
}

// connectLinks finds the targets of the throwing link events of a scope.
func (d *document) connectLinks(s *scope) {
	targets := map[string]*node{}
	for _, n := range s.nodes {
		if !n.isLinkTarget() {
			continue
		}
		if targets[n.event.name] != nil {
			d.refuse(n.pos, n.title()+" has the link name "+xmlscan.Quote(n.event.name)+" of another; expected one target of a link")
		}
		targets[n.event.name] = n
	}
	thrown := map[*node]bool{}
	for _, n := range s.nodes {
		if n.kind != "intermediateThrowEvent" || n.event.kind != "link" {
			continue
		}
		if n.link = targets[n.event.name]; n.link == nil {
			d.refuse(n.pos, n.title()+" leads to the link "+xmlscan.Quote(n.event.name)+"; expected a catching link event of that name in the same process or sub-process")
		}
		thrown[n.link] = true
	}
	for _, n := range s.nodes {
		switch {
		case !n.isLinkTarget() || thrown[n]:
		case len(n.in) == 0:
			d.Warnings.Add(n.pos, "no throwing link event leads to "+n.title()+": it never occurs")
		default:
			d.refuse(n.pos, n.title()+" has a sequence flow and no throwing link event leads to it; expected one of that name in the same process or sub-process")
		}
	}
}
