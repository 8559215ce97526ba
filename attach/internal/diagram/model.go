// SPDX-License-Identifier: Apache-2.0

package diagram

import (
	"bytes"
	"cmp"
	"fmt"

	"github.com/pnagent/pnagent/attach/internal/ledger"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/bpmn"
	file "github.com/pnagent/pnagent/petri/bpmn/diagram"
)

// modelLimits bound a model.
var modelLimits = bpmn.Limits{Bytes: 16 << 20, Token: 4 << 20, Depth: 1000, Elements: 500_000}

// maxNodes bounds the flow nodes of a net, and those that are only in rows.
const maxNodes = ledger.MaxRows

// Process is the net of one process definition, with its ledger, and which row is
// which node's. Rows are only added.
//
// Every flow node is a transition with its id. Its place has that id and "/in",
// and holds the tokens of instances that are at the node. These have none:
//
//   - A boundary event, whose token is that of its activity.
//   - An event after an event gateway: the token is that of the gateway, which has
//     no transition. Some engines have a row for each of these events.
//   - A sub-process, whose tokens are at the nodes inside. A flow that leads to it
//     leads to its start events. Its place gets tokens from its end events, and
//     holds one only before the sub-process begins, if it begins asynchronously.
type Process struct {
	*ledger.Definition
	*ledger.Ledger
	scope  map[string]bool     // sub-processes
	choice map[string]bool     // event gateways
	chosen map[string]string   // the event gateway before an event
	joins  map[string]int      // gateways that wait for several flows: how many, 0 if that depends on the instance
	before map[string][]string // of a task: the tasks before it
	events map[string][]Event  // what a token at a node may wait for

	presence presence
}

// in is what the id of the place of a node ends with.
const in = "/in"

// Event is an event that takes a token from the place of a node: the node itself, a
// boundary event, or one after an event gateway.
type Event struct {
	Node string
	Kind string // as in the name of its definition: timer, message, signal, conditional …
}

// Events returns the events that a token at a node may wait for, in the order of the
// model.
func (l *Process) Events(node string) []Event { return l.events[node] }

// flowNode is a flow node of the diagram.
type flowNode struct {
	*file.Node
	scope     *flowNode
	incoming  int
	byGateway bool // it follows an event gateway
}

// diagram is what is read of a process.
type diagram struct {
	nodes []*flowNode
	byID  map[string]*flowNode
	flows []file.Flow // between nodes
	name  string
}

// New returns the net of a process in a BPMN file, and an empty ledger. If the file
// has no process with that key, the net has no nodes, and the error says why; nodes
// are then added as rows name them.
func New(key, name string, model []byte) (*Process, error) {
	l := empty(key, name)
	d, err := readDiagram(key, model)
	if err != nil {
		return l, err
	}
	l.Def.Name, l.Def.Model = cmp.Or(d.name, name), petri.NewModel(petri.ModelBPMN, model)
	l.add(d)
	return l, nil
}

// empty returns a net without nodes.
func empty(key, name string) *Process {
	l := &Process{Definition: ledger.NewDefinition(key, name), scope: map[string]bool{}, choice: map[string]bool{},
		chosen: map[string]string{}, joins: map[string]int{}, before: map[string][]string{}, events: map[string][]Event{}}
	l.Ledger = ledger.New(l.Definition, ledger.Presence|ledger.Flow)
	l.Begin()
	return l
}

// readDiagram reads a process of a BPMN file. It counts incoming flows, and marks the nodes after event
// gateways.
func readDiagram(key string, model []byte) (*diagram, error) {
	f, err := file.Read(bytes.NewReader(model), key, modelLimits)
	if err != nil {
		return nil, err
	}
	p := f.Process(key)
	switch {
	case p == nil:
		return nil, fmt.Errorf("the model has no process %q", key)
	case len(p.Nodes) > maxNodes || len(p.Flows) > 10*maxNodes:
		return nil, fmt.Errorf("the process %q has %d flow nodes and %d flows; expected at most %d and %d", key, len(p.Nodes), len(p.Flows), maxNodes, 10*maxNodes)
	}
	d := &diagram{byID: map[string]*flowNode{}, name: p.Name}
	for i := range p.Nodes {
		n := &flowNode{Node: &p.Nodes[i]}
		if n.Within >= 0 {
			n.scope = d.nodes[n.Within]
		}
		d.nodes, d.byID[n.ID] = append(d.nodes, n), n
	}
	for _, f := range p.Flows {
		from, to := d.byID[f.Source], d.byID[f.Target]
		if from == nil || to == nil {
			continue
		}
		d.flows = append(d.flows, f)
		to.incoming++
		to.byGateway = to.byGateway || from.Kind == "eventBasedGateway"
	}
	return d, nil
}

// placeless reports whether a node has no place of its own, because a token
// that waits for it is at another node.
func (n *flowNode) placeless() bool { return n.Host != "" || n.byGateway }

// add adds the nodes and arcs of a diagram that the net does not have.
func (l *Process) add(d *diagram) {
	fresh := map[string]bool{}
	for _, n := range d.nodes {
		if l.Knows(n.ID) {
			continue
		}
		fresh[n.ID] = true
		if n.Sub() {
			l.scope[n.ID] = true
		}
		if !n.placeless() {
			l.addPlace(n.ID, n.Name, n.At).Called = n.called()
		}
		switch {
		case n.incoming > 1 && n.Kind == "parallelGateway":
			l.joins[n.ID] = n.incoming
		case n.incoming > 1 && (n.Kind == "inclusiveGateway" || n.Kind == "complexGateway"):
			l.joins[n.ID] = 0
		}
		l.choice[n.ID] = n.Kind == "eventBasedGateway"
		if !l.choice[n.ID] {
			l.addTransition(n.ID, n.Name, n.At).Called = n.called()
		}
	}
	for _, n := range d.nodes {
		if fresh[n.ID] {
			l.connect(d, n)
		}
	}
	for _, f := range d.flows {
		if fresh[f.Source] || fresh[f.Target] {
			for _, to := range d.entries(d.byID[f.Target]) {
				l.puts(f.Source, to.ID)
			}
		}
	}
}

// connect adds the arcs of a node that are not sequence flows.
func (l *Process) connect(d *diagram, n *flowNode) {
	switch {
	case n.Host != "":
		l.takes(n.Host, n.ID)
		l.await(n.Host, n)
	case n.byGateway:
		for _, f := range d.flows {
			if f.Target == n.ID {
				l.chosen[n.ID] = f.Source
				l.takes(f.Source, n.ID)
				l.await(f.Source, n)
			}
		}
	default:
		l.takes(n.ID, n.ID)
		if n.Kind == "intermediateCatchEvent" {
			l.await(n.ID, n)
		}
	}
	if n.Kind == "endEvent" && n.scope != nil {
		l.puts(n.ID, n.scope.ID)
	}
}

// await notes that a token at a node may wait for an event.
func (l *Process) await(node string, event *flowNode) {
	if event.Event != "" {
		l.events[node] = append(l.events[node], Event{event.ID, event.Event})
	}
}

// entries returns the nodes to which a flow into a node leads: those that begin it,
// if it is a sub-process.
func (d *diagram) entries(n *flowNode) []*flowNode {
	if !n.Sub() {
		return []*flowNode{n}
	}
	var out []*flowNode
	for _, k := range d.nodes {
		if k.scope == n && k.incoming == 0 && k.Host == "" {
			out = append(out, d.entries(k)...)
		}
	}
	return out
}

// addPlace adds the place of a node; maxNodes is at most what a net has room for.
func (l *Process) addPlace(id, name string, at *petri.Point) *petri.Place {
	p := &l.Def.Places[l.Place(id+in, cmp.Or(name, id))]
	if at != nil {
		p.At = &petri.Point{X: at.X - 70, Y: at.Y}
	}
	return p
}

func (l *Process) addTransition(id, name string, at *petri.Point) *petri.Transition {
	t := &l.Def.Transitions[l.Transition(id, name)]
	t.At = at
	return t
}

// called returns what the node is called for people.
func (n *flowNode) called() petri.Called {
	return petri.Called{Kind: bpmn.KindWords(n.Kind, n.Event), Name: cmp.Or(n.Name, n.ID)}
}

// both reports whether a node has a place, and another one a transition.
func (l *Process) both(place, transition string) bool {
	return l.placeOf(place) >= 0 && l.FindTransition(transition) >= 0
}

// takes adds an arc from a node's place to a transition, if there are both.
func (l *Process) takes(place, transition string) {
	if l.both(place, transition) {
		l.Arc(place+in, transition)
	}
}

// puts adds an arc from a transition to a node's place, if there are both.
func (l *Process) puts(transition, place string) {
	if l.both(place, transition) {
		l.Arc(transition, place+in)
	}
}

// Show makes the file of another version that of the net, if it has one.
func (l *Process) Show(o *Process) {
	if m := o.Def.Model; m != nil && !m.Equal(l.Def.Model) {
		l.Def.Model = m
	}
}

// Merge adds what another version of the net has beyond it. The ledger stays. Joins, and
// tasks before one, are those of the version that had the node first: see Add and Before.
func (l *Process) Merge(o *Process) {
	fresh := func(node string) bool { return !l.Knows(node) }
	l.Def.Model = cmp.Or(l.Def.Model, o.Def.Model)
	mergeNodes(l.scope, o.scope, fresh)
	mergeNodes(l.choice, o.choice, fresh)
	mergeNodes(l.chosen, o.chosen, func(node string) bool { return l.placeOf(node) < 0 })
	mergeNodes(l.before, o.before, fresh)
	mergeNodes(l.joins, o.joins, fresh)
	mergeNodes(l.events, o.events, func(node string) bool { return l.events[node] == nil })
	for _, p := range o.Def.Places {
		if l.FindPlace(p.ID) < 0 && len(l.Def.Places) < maxNodes {
			added := &l.Def.Places[l.Place(p.ID, p.Name)]
			added.At, added.Called = p.At, p.Called
		}
	}
	for _, t := range o.Def.Transitions {
		if l.FindTransition(t.ID) < 0 && len(l.Def.Transitions) < maxNodes {
			l.addTransition(t.ID, t.Name, t.At).Called = t.Called
		}
	}
	for _, a := range o.Def.Arcs {
		l.Arc(a.Source, a.Target)
	}
}

// mergeNodes adds what is known of some nodes.
func mergeNodes[V any](into, from map[string]V, take func(node string) bool) {
	for node, v := range from {
		if take(node) {
			into[node] = v
		}
	}
}

// Knows reports whether the net has a node.
func (l *Process) Knows(node string) bool {
	return l.placeOf(node) >= 0 || l.FindTransition(node) >= 0
}

// placeOf returns the place of a node, or -1.
func (l *Process) placeOf(node string) int { return l.FindPlace(node + in) }

// at returns the place of a node, and adds one for a node that has none. It
// returns -1 if there is no room.
func (l *Process) at(node string) int {
	if l.placeOf(node) < 0 {
		var of petri.Transition
		if t := l.FindTransition(node); t >= 0 {
			of = l.Def.Transitions[t]
		}
		if i := l.Place(node+in, cmp.Or(of.Name, node)); i >= 0 {
			l.Def.Places[i].Called = of.Called
		}
	}
	return l.placeOf(node)
}

// fires returns the transition of a node, and adds one for a node that has none. It
// returns -1 for an event gateway, or if there is no room.
func (l *Process) fires(node string) int {
	if i := l.FindTransition(node); i >= 0 || l.choice[node] {
		return i
	}
	return l.Transition(node, "")
}
