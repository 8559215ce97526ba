// SPDX-License-Identifier: Apache-2.0

package bpmn

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/xmlscan"
)

// level is one copy of a scope in the net: the process itself, a sub-process, or a called process.
type level struct {
	scope  *scope
	parent *level // nil for the process
	node   *node  // the node of the parent's scope with this content; nil for the process
	run    string // the id of the petri.Scope of its places; "" for the process
	prefix string // of all ids, if the process is called
	at     *petri.Point
	away   petri.Pos // of the call in the file of the net, if the scope is of another file
	kids   map[*node]*level
	events []*level // of kids: the event sub-processes

	undo       *level             // the event sub-process for compensation, or nil
	reversible []*node            // what completing leaves something to compensate of
	own        map[*node][]string // the places of work of a node that compensates
	rank       map[*node]int      // see order
	done       []string           // places that keep their tokens when the level has completed

	starts, edge map[eventCode][]*catcher // see byStart and byBoundary

	loops map[*node][]string // places of an activity that runs several times, beside id/active

	work    []string // places that hold tokens while the level is active
	armed   []string // places that hold a token while an event can occur
	results string   // the place into which ends put their tokens; "" if these are gone
	begin   []string // the places of work that get a token when the level begins
	await   []string // the places of armed that get a token when the level begins
}

func (l *level) id(id string) string { return l.prefix + id }

// within returns the level and all levels inside it.
func (l *level) within() []*level {
	all := []*level{l}
	for _, n := range l.scope.nodes {
		if kid := l.kids[n]; kid != nil {
			all = append(all, kid.within()...)
		}
	}
	return all
}

// builder builds one net.
type builder struct {
	*document
	net      *petri.Net
	root     *level
	alive    string            // the place that is marked while event sub-processes can start, or something can be compensated; "" if there is none
	places   map[string]int    // index in the net by id
	rounds   map[string]uint32 // by place: see first
	made     map[string]bool
	later    []func()  // adds the arcs that need all places of a level
	ranks    int       // see order
	away     petri.Pos // see level
	elements []made
	left     int // remaining nodes of the limit
}

func (b *builder) process(s *scope) {
	b.net = &petri.Net{ID: s.id, Name: cmp.Or(b.pools[s.id], s.name), Doc: documentation(s.el), File: b.File, Pos: s.el.pos, Shared: true, Model: b.file, Decisions: b.decisions}
	b.root = b.level(s, nil, nil)
	b.reserve()
	if slices.ContainsFunc(b.root.within(), (*level).isReversible) {
		b.order(b.root)
	}
	if b.ranks > 0 || len(b.root.events) > 0 {
		b.alive = s.id + "/active"
	}
	b.fill(b.root)
	if b.alive != "" {
		b.element(b.root, Element{Kind: "process", ID: s.id, Name: s.name, Pos: s.el.pos}, "", b.lifetime)
	}
	if s.beginsByItself() {
		for _, id := range slices.Concat(b.root.begin, b.root.await) {
			b.mark(id)
		}
	}
	for _, f := range b.later {
		if b.left < 0 {
			return
		}
		f()
	}
	if !slices.ContainsFunc(b.net.Arcs, func(a petri.Arc) bool { return a.Kind == petri.Join }) {
		for k := range b.net.Arcs { // nothing looks at it
			b.net.Arcs[k].Aside = petri.AsideNone
		}
	}
}

// reserve makes room for about as many places, transitions and arcs as there will be: one for
// each flow, one for each node, and one at each end of a flow.
func (b *builder) reserve() {
	nodes, flows := count(b.root.within())
	b.net.Places = make([]petri.Place, 0, flows+flows/8)
	b.net.Transitions = make([]petri.Transition, 0, nodes+nodes/8)
	b.net.Arcs = make([]petri.Arc, 0, 2*flows+flows/4)
	b.elements = make([]made, 0, nodes+flows)
	b.places = make(map[string]int, flows)
}

// count returns the numbers of nodes and of flows of levels together.
func count(levels []*level) (nodes, flows int) {
	for _, l := range levels {
		nodes, flows = nodes+len(l.scope.nodes), flows+len(l.scope.flows)
	}
	return nodes, flows
}

func documentation(e *elem) string {
	if doc := e.kid("documentation"); doc != nil {
		return doc.text
	}
	return ""
}

// level returns a new level with the levels of its sub-processes and called processes.
func (b *builder) level(s *scope, parent *level, n *node) *level {
	l := &level{scope: s, parent: parent, node: n, kids: map[*node]*level{}}
	if parent != nil {
		l.run, l.prefix, l.at, l.away = parent.id(n.id), parent.prefix, parent.at, parent.away
		switch {
		case n.byEvent && !n.compensates(): // one for compensation begins when the others have ended
			l.results = parent.results
		case n.loop != nil:
			l.run += eachSuffix
		}
		if n.adHoc != nil && n.adHoc.until+n.adHoc.chosen != "" {
			l.results = parent.id(n.id) + "/check"
		}
	}
	if n != nil && n.calls != nil {
		l.prefix = parent.id(n.id) + ":"
		b.spend(l.prefix)
		l.at = b.at(parent, n.id)
		if n.calls.doc != b.document && l.away == (petri.Pos{}) {
			l.away = n.pos
		}
	}
	for _, k := range s.nodes {
		if b.left--; b.left < 0 {
			return l
		}
		if inner := k.content(); inner != nil {
			l.kids[k] = b.level(inner, l, k)
			if k.byEvent {
				l.events = append(l.events, l.kids[k])
			}
		}
		l.noteReversible(k)
	}
	return l
}

// content returns the scope inside a node, or nil.
func (n *node) content() *scope {
	switch {
	case n.inner != nil && len(n.inner.nodes) > 0:
		return n.inner
	case n.calls != nil && len(n.calls.nodes) > 0:
		return n.calls
	}
	return nil
}

// add adds places to those of a node.
func add(to *map[*node][]string, n *node, places ...string) {
	if *to == nil {
		*to = map[*node][]string{}
	}
	(*to)[n] = append((*to)[n], places...)
}

// fill builds the flows and the nodes of a level.
func (b *builder) fill(l *level) {
	if b.left < 0 {
		return
	}
	defer func(before petri.Pos) { b.away = before }(b.away)
	b.away = l.away
	for _, f := range l.scope.flows {
		b.element(l, Element{Kind: "sequence flow", ID: f.id, Name: f.name, Pos: f.pos}, ignored(f.el), func() string {
			if f.src.kind == "eventBasedGateway" {
				return "no place of its own: " + xmlscan.Quote(f.src.id) + " waits for the event at its end"
			}
			b.workPlace(l, l.id(f.id), f.title(), b.at(l, f.id), f.pos)
			return ""
		})
	}
	for _, n := range l.scope.nodes {
		before := len(l.work)
		b.element(l, Element{Kind: n.kindWords(), ID: n.id, Name: n.name, Pos: n.pos}, ignored(n.el), func() string {
			return b.node(l, n)
		})
		if n.isHandler() {
			add(&l.own, n, l.work[before:]...)
		}
	}
	for _, n := range l.scope.nodes {
		if kid := l.kids[n]; kid != nil {
			b.fill(kid)
		}
	}
}

// title returns a flow's name, or the labels of its nodes.
func (f *flow) title() string {
	if f.name != "" {
		return f.name
	}
	return f.src.label() + " → " + f.dst.label()
}

// element calls make and records what it adds to the net for an element. make
// returns a further note. A called process is listed at its definition, not at its
// calls. What chooses the process of a call belongs to the call.
func (b *builder) element(l *level, e Element, also string, make func() string) {
	if c := l.scope.call; c != nil {
		e = Element{Kind: c.kindWords(), ID: c.id, Name: c.name, Pos: c.pos}
	}
	m := made{Element: e, from: [2]int{len(b.net.Places), len(b.net.Transitions)}}
	m.notes = [2]string{make(), also}
	m.to = [2]int{len(b.net.Places), len(b.net.Transitions)}
	if l.prefix == "" {
		b.elements = append(b.elements, m)
	}
}

// made is an element, notes about it, and what it added to the net: its places and its
// transitions from two indices on, to two others.
type made struct {
	Element
	notes    [2]string
	from, to [2]int
}

// became returns the elements with what each became. The roles of places and transitions are known.
func (b *builder) became() []Element {
	out := make([]Element, len(b.elements))
	var text []byte // reused
	for k := range b.elements {
		m := &b.elements[k]
		text = b.describe(text[:0], m, true)
		for _, s := range m.notes {
			if s != "" {
				text = append(between(text, "; "), s...)
			}
		}
		m.Text = cmp.Or(b.strings.Of(text), "nothing of its own")
		text = b.describe(text[:0], m, false)
		m.Aside = b.strings.Of(text)
		out[k] = m.Element
	}
	return out
}

// between appends a separator to a text, unless that is empty.
func between(text []byte, separator string) []byte {
	if len(text) == 0 {
		return text
	}
	return append(text, separator...)
}

// describe appends a list of the places and transitions of an element: those of work, or the others.
func (b *builder) describe(text []byte, m *made, work bool) []byte {
	var places []*petri.Place
	for i := m.from[0]; i < m.to[0]; i++ {
		if p := &b.net.Places[i]; (p.Role == petri.RoleWork) == work {
			places = append(places, p)
		}
	}
	var transitions []*petri.Transition
	for i := m.from[1]; i < m.to[1]; i++ {
		if t := &b.net.Transitions[i]; (t.Role == petri.RoleWork) == work {
			transitions = append(transitions, t)
		}
	}
	text = heading(text, "place", len(places))
	for i, p := range places {
		text = append(listed(text, i), p.ID...)
	}
	text = heading(text, "transition", len(transitions))
	for i, t := range transitions {
		text = describeTransition(listed(text, i), t)
	}
	return text
}

// heading appends the word for a number of elements of a kind.
func heading(text []byte, what string, times int) []byte {
	switch times {
	case 0:
		return text
	case 1:
		return append(append(between(text, ", "), what...), ' ')
	}
	return append(append(between(text, ", "), what...), "s "...)
}

// listed appends what separates the part i of a list from the one before.
func listed(text []byte, i int) []byte {
	if i == 0 {
		return text
	}
	return append(text, ", "...)
}

// describeTransition appends the id of a transition, and what it waits for.
func describeTransition(text []byte, t *petri.Transition) []byte {
	text = append(text, t.ID...)
	if t.Trigger.Kind == petri.TriggerNone && t.Guard == "" {
		return text
	}
	text = append(text, " ("...)
	switch name := t.Trigger.Name; t.Trigger.Kind {
	case petri.TriggerNone:
	case petri.TriggerEvent:
		text = strconv.AppendQuote(append(text, "waits for "...), xmlscan.Clip(name, 60))
	case petri.TriggerWork:
		text = append(text, "work"...)
		if name != "" {
			text = strconv.AppendQuote(append(text, ' '), xmlscan.Clip(name, 60))
		}
	default:
		text = append(append(text, "timer "...), name...)
	}
	if t.Guard != "" {
		if t.Trigger.Kind != petri.TriggerNone {
			text = append(text, ", "...)
		}
		text = append(text, conditions(t.Guard)...)
	}
	return append(text, ')')
}
