// SPDX-License-Identifier: Apache-2.0

package diagram

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/pnagent/pnagent/attach/internal/ledger"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/xmlscan"
)

// bpmnSpace is the namespace of BPMN 2.0's elements.
const bpmnSpace = "http://www.omg.org/spec/BPMN/20100524/MODEL"

// modelLimits bound a model.
var modelLimits = xmlscan.Limits{Bytes: 16 << 20, Token: 4 << 20, Depth: 1000}

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
	place      map[string]int      // by the id of a node
	transition map[string]int      // by the id of a node
	scope      map[string]bool     // sub-processes
	choice     map[string]bool     // event gateways
	chosen     map[string]string   // the event gateway before an event
	joins      map[string]int      // gateways that wait for several flows: how many, 0 if that depends on the instance
	before     map[string][]string // of a task: the tasks before it
	events     map[string][]Event  // what a token at a node may wait for

	presence presence
}

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
	id, name, kind string
	host           string // of a boundary event
	event          string // kind of its event definition
	scope          *flowNode
	incoming       int
	at             *petri.Point
	byGateway      bool // it follows an event gateway
}

// sequence is a sequence flow.
type sequence struct{ id, from, to string }

// diagram is what is read of a process.
type diagram struct {
	nodes []*flowNode
	byID  map[string]*flowNode
	flows []sequence
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
	l := &Process{Definition: ledger.NewDefinition(key, name), place: map[string]int{}, transition: map[string]int{}, scope: map[string]bool{}, choice: map[string]bool{},
		chosen: map[string]string{}, joins: map[string]int{}, before: map[string][]string{}, events: map[string][]Event{}}
	l.Ledger = ledger.New(l.Definition, ledger.Presence|ledger.Flow)
	l.Begin()
	return l
}

// isNode reports whether a BPMN element is a flow node.
func isNode(name string) bool {
	return strings.HasSuffix(name, "Task") || strings.HasSuffix(name, "Event") && name != "Event" || strings.HasSuffix(name, "Gateway") ||
		name == "task" || name == "callActivity" || isScope(name)
}

func isScope(name string) bool {
	return name == "subProcess" || name == "transaction" || name == "adHocSubProcess"
}

// diagramReader reads a BPMN file.
type diagramReader struct {
	s     *xmlscan.Scanner
	d     *diagram
	key   string
	found bool
	in    bool // inside of the process
	stack []*flowNode
	depth []int // of the elements in stack
	level int
	event *flowNode // the event that is being read
	shape *flowNode // the shape that is being read
}

func readDiagram(key string, model []byte) (*diagram, error) {
	r := diagramReader{s: xmlscan.New(bytes.NewReader(model), key, modelLimits), d: &diagram{byID: map[string]*flowNode{}}, key: key}
	for {
		kind, err := r.s.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		switch kind {
		case xmlscan.StartTag:
			r.level++
			if err := r.start(); err != nil {
				return nil, err
			}
		case xmlscan.EndTag:
			r.end()
			r.level--
		}
	}
	if !r.found {
		return nil, fmt.Errorf("the model has no process %q", key)
	}
	r.d.link()
	return r.d, nil
}

// attr returns an attribute of the element that begins here.
func (r *diagramReader) attr(name string) string {
	for _, a := range r.s.Attrs {
		if a.Name.Local == name && a.Name.Space == "" {
			return string(xmlscan.Trim(a.Value))
		}
	}
	return ""
}

func (r *diagramReader) start() error {
	name := r.s.Name.Local
	if r.s.Name.Space != bpmnSpace {
		r.draw()
		return nil
	}
	switch {
	case name == "process":
		r.in = r.attr("id") == r.key
		if r.in {
			r.found, r.d.name = true, r.attr("name")
		}
	case !r.in:
	case name == "sequenceFlow":
		r.d.flows = append(r.d.flows, sequence{r.attr("id"), r.attr("sourceRef"), r.attr("targetRef")})
	case isNode(name) && r.attr("id") != "":
		n := &flowNode{id: r.attr("id"), name: r.attr("name"), kind: name, host: r.attr("attachedToRef")}
		if k := len(r.stack); k > 0 {
			n.scope = r.stack[k-1]
		}
		if r.d.byID[n.id] == nil {
			r.d.nodes, r.d.byID[n.id] = append(r.d.nodes, n), n
		}
		if len(r.d.nodes) > maxNodes || len(r.d.flows) > 10*maxNodes {
			return r.s.Limit("flow nodes", maxNodes)
		}
		if strings.HasSuffix(name, "Event") {
			r.event = n
		}
		if isScope(name) {
			r.stack, r.depth = append(r.stack, n), append(r.depth, r.level)
		}
	case strings.HasSuffix(name, "EventDefinition") && r.event != nil:
		r.event.event = strings.TrimSuffix(name, "EventDefinition")
	}
	return nil
}

// draw reads the position of a shape.
func (r *diagramReader) draw() {
	switch r.s.Name.Local {
	case "BPMNShape":
		r.shape = r.d.byID[r.attr("bpmnElement")]
	case "Bounds":
		number := func(name string) float64 {
			x, _ := strconv.ParseFloat(r.attr(name), 64)
			return min(max(x, -1e6), 1e6)
		}
		if r.shape != nil && r.shape.at == nil {
			r.shape.at = &petri.Point{X: number("x") + number("width")/2, Y: number("y") + number("height")/2}
		}
	}
}

func (r *diagramReader) end() {
	name := r.s.Name.Local
	if k := len(r.stack); k > 0 && r.depth[k-1] == r.level {
		r.stack, r.depth = r.stack[:k-1], r.depth[:k-1]
	}
	if name == "process" && r.s.Name.Space == bpmnSpace {
		r.in = false
	}
	if strings.HasSuffix(name, "Event") {
		r.event = nil
	}
	if name == "BPMNShape" {
		r.shape = nil
	}
}

// link counts incoming flows, and marks the nodes after event gateways.
func (d *diagram) link() {
	known := d.flows[:0]
	for _, f := range d.flows {
		from, to := d.byID[f.from], d.byID[f.to]
		if from == nil || to == nil {
			continue
		}
		known = append(known, f)
		to.incoming++
		to.byGateway = to.byGateway || from.kind == "eventBasedGateway"
	}
	d.flows = known
}

// placeless reports whether a node has no place of its own, because a token
// that waits for it is at another node.
func (n *flowNode) placeless() bool { return n.host != "" || n.byGateway }

// add adds the nodes and arcs of a diagram that the net does not have.
func (l *Process) add(d *diagram) {
	fresh := map[string]bool{}
	for _, n := range d.nodes {
		if l.Knows(n.id) {
			continue
		}
		fresh[n.id] = true
		if isScope(n.kind) {
			l.scope[n.id] = true
		}
		if !n.placeless() {
			l.addPlace(n.id, n.name, n.at)
		}
		switch {
		case n.incoming > 1 && n.kind == "parallelGateway":
			l.joins[n.id] = n.incoming
		case n.incoming > 1 && (n.kind == "inclusiveGateway" || n.kind == "complexGateway"):
			l.joins[n.id] = 0
		}
		if l.choice[n.id] = n.kind == "eventBasedGateway"; !l.choice[n.id] {
			l.addTransition(n.id, n.name, n.at)
		}
	}
	for _, n := range d.nodes {
		if fresh[n.id] {
			l.connect(d, n)
		}
	}
	for _, f := range d.flows {
		if fresh[f.from] || fresh[f.to] {
			for _, to := range d.entries(d.byID[f.to]) {
				l.puts(f.from, to.id)
			}
		}
	}
}

// connect adds the arcs of a node that are not sequence flows.
func (l *Process) connect(d *diagram, n *flowNode) {
	switch {
	case n.host != "":
		l.takes(n.host, n.id)
		l.await(n.host, n)
	case n.byGateway:
		for _, f := range d.flows {
			if f.to == n.id {
				l.chosen[n.id] = f.from
				l.takes(f.from, n.id)
				l.await(f.from, n)
			}
		}
	default:
		l.takes(n.id, n.id)
		if n.kind == "intermediateCatchEvent" {
			l.await(n.id, n)
		}
	}
	if n.kind == "endEvent" && n.scope != nil {
		l.puts(n.id, n.scope.id)
	}
}

// await notes that a token at a node may wait for an event.
func (l *Process) await(node string, event *flowNode) {
	if event.event != "" {
		l.events[node] = append(l.events[node], Event{event.id, event.event})
	}
}

// entries returns the nodes to which a flow into a node leads: those that begin it,
// if it is a sub-process.
func (d *diagram) entries(n *flowNode) []*flowNode {
	if !isScope(n.kind) {
		return []*flowNode{n}
	}
	var out []*flowNode
	for _, k := range d.nodes {
		if k.scope == n && k.incoming == 0 && k.host == "" {
			out = append(out, d.entries(k)...)
		}
	}
	return out
}

// addPlace adds the place of a node; maxNodes is at most what a net has room for.
func (l *Process) addPlace(id, name string, at *petri.Point) {
	i := l.Place(id+"/in", cmp.Or(name, id))
	l.place[id] = i
	if at != nil {
		l.Def.Places[i].At = &petri.Point{X: at.X - 70, Y: at.Y}
	}
}

func (l *Process) addTransition(id, name string, at *petri.Point) {
	i := l.Transition(id, name)
	l.transition[id] = i
	l.Def.Transitions[i].At = at
}

// takes adds an arc from a node's place to a transition, if there are both.
func (l *Process) takes(place, transition string) {
	i, has := l.place[place]
	j, fires := l.transition[transition]
	if has && fires {
		l.Arc(l.Def.Places[i].ID, l.Def.Transitions[j].ID)
	}
}

// puts adds an arc from a transition to a node's place, if there are both.
func (l *Process) puts(transition, place string) {
	i, fires := l.transition[transition]
	j, has := l.place[place]
	if has && fires {
		l.Arc(l.Def.Transitions[i].ID, l.Def.Places[j].ID)
	}
}

// Show makes the file of another version that of the net, if it has one.
func (l *Process) Show(o *Process) {
	if m := o.Def.Model; m != nil && (l.Def.Model == nil || l.Def.Model.Digest() != m.Digest()) {
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
		node := strings.TrimSuffix(p.ID, "/in")
		if _, has := l.place[node]; !has && len(l.Def.Places) < maxNodes {
			l.addPlace(node, p.Name, nil)
			l.Def.Places[l.place[node]].At = p.At
		}
	}
	for _, t := range o.Def.Transitions {
		if _, has := l.transition[t.ID]; !has && len(l.Def.Transitions) < maxNodes {
			l.addTransition(t.ID, t.Name, t.At)
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
	_, place := l.place[node]
	_, transition := l.transition[node]
	return place || transition
}

// at returns the place of a node, and adds one for a node that has none. It
// returns -1 if there is no room.
func (l *Process) at(node string) int {
	if i, ok := l.place[node]; ok {
		return i
	}
	if len(l.Def.Places) >= maxNodes {
		return -1
	}
	name := ""
	if t, ok := l.transition[node]; ok {
		name = l.Def.Transitions[t].Name
	}
	l.addPlace(node, name, nil)
	return l.place[node]
}

// fires returns the transition of a node, and adds one for a node that has none. It
// returns -1 for an event gateway, or if there is no room.
func (l *Process) fires(node string) int {
	if i, ok := l.transition[node]; ok {
		return i
	}
	if l.choice[node] || len(l.Def.Transitions) >= maxNodes {
		return -1
	}
	l.addTransition(node, "", nil)
	return l.transition[node]
}
