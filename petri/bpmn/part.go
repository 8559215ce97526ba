// SPDX-License-Identifier: Apache-2.0

package bpmn

import "github.com/pnagent/pnagent/petri"

// at returns where an element is drawn; what is inside a call activity is where
// that is.
func (b *builder) at(l *level, id string) *petri.Point {
	if l.at != nil {
		return l.at
	}
	if l.prefix != "" {
		return nil
	}
	return b.drawn.at[id]
}

// spend counts a node against the limit. A long text counts as several: ids of
// calls inside calls and the guards of a gateway grow with the square of what
// the file says.
func (b *builder) spend(text string) { b.left -= 1 + len(text)/longText }

// longText is how many bytes of an id or a guard count as a node.
const longText = 256

// place makes a place.
func (b *builder) place(id, name string, at *petri.Point, pos petri.Pos) string {
	if b.spend(id); b.left < 0 {
		return id
	}
	b.places[id] = len(b.net.Places)
	b.net.Places = append(b.net.Places, petri.Place{ID: id, Name: name, At: at, Pos: pos})
	return id
}

// workPlace makes a place that holds tokens while something is going on in a
// level.
func (b *builder) workPlace(l *level, id, name string, at *petri.Point, pos petri.Pos) string {
	l.work = append(l.work, id)
	return b.place(id, name, at, pos)
}

// state makes a working place of a node: id/word.
func (b *builder) state(l *level, n *node, word string) string {
	return b.workPlace(l, l.id(n.id)+"/"+word, n.label()+" ("+word+")", b.at(l, n.id), n.pos)
}

// mark gives a place its token in the initial marking.
func (b *builder) mark(id string) {
	if i, ok := b.places[id]; ok {
		b.net.Places[i].Initial = 1
	}
}

// transition makes the transition of a node that has its id.
func (b *builder) transition(l *level, n *node, trigger petri.Trigger) *petri.Transition {
	t := b.extra(l, n, "", n.name)
	t.Doc, t.Trigger = documentation(n.el), trigger
	return t
}

// step makes another transition of a node: id/word.
func (b *builder) step(l *level, n *node, word string) *petri.Transition {
	return b.extra(l, n, "/"+word, n.label()+" ("+word+")")
}

// over makes a transition of a node that belongs to one of its flows:
// id/flowid, or "id/flow flowid" if that is called like a place or a transition
// of the node itself.
func (b *builder) over(l *level, n *node, f *flow) *petri.Transition {
	switch f.id {
	case "start", "end", "in", "out", "active", "armed", "begin", "split", "count", "resetting", "reset":
		return b.extra(l, n, "/flow "+f.id, f.title())
	}
	return b.extra(l, n, "/"+f.id, f.title())
}

// extra returns a pointer that is good until the next transition is made.
func (b *builder) extra(l *level, n *node, suffix, name string) *petri.Transition {
	id := l.id(n.id) + suffix
	b.spend(id)
	b.net.Transitions = append(b.net.Transitions, petri.Transition{ID: id, Name: name, At: b.at(l, n.id), Pos: n.pos})
	return &b.net.Transitions[len(b.net.Transitions)-1]
}

func (b *builder) arc(a petri.Arc) {
	if b.left--; b.left < 0 {
		return
	}
	b.net.Arcs = append(b.net.Arcs, a)
}

func (b *builder) take(place, transition string, pos petri.Pos) {
	b.arc(petri.Arc{Source: place, Target: transition, Weight: 1, Pos: pos})
}

// begin lets a transition take what a node needs to begin.
func (b *builder) begin(place string, n *node, transition string) {
	b.arc(petri.Arc{Source: place, Target: transition, Weight: n.takes, Pos: n.pos})
}

func (b *builder) put(transition, place string, pos petri.Pos) {
	b.arc(petri.Arc{Source: transition, Target: place, Weight: 1, Pos: pos})
}

func (b *builder) test(kind petri.ArcKind, place, transition string, weight uint32, pos petri.Pos) {
	b.arc(petri.Arc{Source: place, Target: transition, Kind: kind, Weight: weight, Pos: pos})
}

// clear lets a transition empty a level and everything inside it, once all
// places are known.
func (b *builder) clear(l *level, transition string, pos petri.Pos) {
	reset := func(place string) { b.test(petri.Reset, place, transition, 1, pos) }
	b.later = append(b.later, func() {
		l.every(reset)
		l.everyArmed(reset)
		if l == b.root && b.alive != "" {
			reset(b.alive)
		}
	})
}

// flowPlace returns the place of a sequence flow. Behind an event gateway that
// is the gateway's own: what waits there waits for all of its events.
func (b *builder) flowPlace(l *level, f *flow) string {
	gw := f.src
	if gw.kind != "eventBasedGateway" {
		return l.id(f.id)
	}
	switch len(gw.in) {
	case 0:
		return l.id(gw.id) + "/start"
	case 1:
		return b.flowPlace(l, gw.in[0])
	}
	return l.id(gw.id) + "/in"
}

// input returns the place from which a node takes its token: its one incoming
// flow; a place into which several merge without waiting; or where it begins
// with its level.
func (b *builder) input(l *level, n *node) string {
	switch {
	case n.isLinkTarget() && len(n.in) == 0:
		return b.state(l, n, "in")
	case len(n.in) == 0:
		place := b.state(l, n, "start")
		l.begin = append(l.begin, place)
		return place
	case len(n.in) == 1 && !n.isLinkTarget():
		return b.flowPlace(l, n.in[0])
	}
	place := b.state(l, n, "in")
	for _, f := range n.in {
		t := b.over(l, n, f).ID
		b.take(b.flowPlace(l, f), t, f.pos)
		b.put(t, place, f.pos)
	}
	return place
}

// conditional reports whether a node's flows have conditions. If none has one,
// the default does not count either: all are taken.
func (n *node) conditional() bool {
	for _, f := range n.out {
		if f.cond != "" {
			return true
		}
	}
	return false
}

// outputs returns the places into which a node puts its tokens when it is done.
// Nothing leads on from an end: at the top level it keeps its token, to be seen;
// in a sub-process it consumes it.
func (b *builder) outputs(l *level, n *node) []string {
	switch {
	case len(n.out) == 0 && l.parent == nil:
		return []string{b.end(l, n)}
	case n.conditional():
		return []string{b.split(l, n)}
	}
	places := make([]string, 0, len(n.out))
	for _, f := range n.out {
		places = append(places, b.flowPlace(l, f))
	}
	return places
}

// end makes the place where tokens end at the top level, once.
func (b *builder) end(l *level, n *node) string {
	id := l.id(n.id) + "/end"
	if !b.made[id] {
		b.made[id] = true
		b.place(id, n.label()+" (end)", b.at(l, n.id), n.pos)
	}
	return id
}

// split makes the place where a token waits for the conditions behind an
// activity or an event, which are those of an inclusive split, once.
func (b *builder) split(l *level, n *node) string {
	id := l.id(n.id) + "/out"
	if b.made[id] {
		return id
	}
	b.made[id] = true
	b.state(l, n, "out")
	t := b.step(l, n, "split").ID
	b.take(id, t, n.pos)
	b.branches(l, n, t)
	return id
}

// branches lets a transition put a token on each flow whose condition holds; on
// the default flow if none does.
func (b *builder) branches(l *level, n *node, transition string) {
	for _, f := range n.out {
		b.arc(petri.Arc{Source: transition, Target: b.flowPlace(l, f), Kind: petri.Branch, Weight: 1, Pos: f.pos,
			Guard: f.cond, Default: f == n.fallback})
	}
}

// output lets a transition put what a node puts when it is done.
func (b *builder) output(l *level, n *node, transition string) {
	for _, place := range b.outputs(l, n) {
		b.arc(petri.Arc{Source: transition, Target: place, Weight: n.puts, Pos: n.pos})
	}
}
