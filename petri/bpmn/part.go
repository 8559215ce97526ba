// SPDX-License-Identifier: Apache-2.0

package bpmn

import (
	"cmp"
	"slices"
	"strings"

	"github.com/pnagent/pnagent/petri"
)

// at returns the position of an element; inside a call activity, that of the call.
func (b *builder) at(l *level, id string) *petri.Point {
	if l.at != nil {
		return l.at
	}
	if l.prefix != "" {
		return nil
	}
	return b.drawn.at[id]
}

// here returns the position of what is built: that of the call, if it is of another file.
func (b *builder) here(pos petri.Pos) petri.Pos { return cmp.Or(b.away, pos) }

// after calls f when the places of all levels exist.
func (b *builder) after(f func()) {
	away := b.away
	b.later = append(b.later, func() {
		b.away = away
		f()
	})
}

// spend counts a node against the limit. A long text counts as several nodes, because the ids of nested calls
// and the guards of a gateway grow with the square of the file.
func (b *builder) spend(text string) { b.left -= 1 + len(text)/longText }

// longText is the number of bytes of an id or a guard that count as a node.
const longText = 256

// place adds a place of a petri.Scope and returns its id.
func (b *builder) place(scope, id, name string, at *petri.Point, pos petri.Pos) string {
	b.spend(id)
	if b.left < 0 {
		return id
	}
	b.places[id] = len(b.net.Places)
	b.net.Places = append(b.net.Places, petri.Place{ID: id, Name: name, Scope: scope, At: at, Pos: b.here(pos)})
	return id
}

// workPlace adds a place that holds tokens while a level is active.
func (b *builder) workPlace(l *level, id, name string, at *petri.Point, pos petri.Pos) string {
	l.work = append(l.work, id)
	return b.place(l.run, id, name, at, pos)
}

// state adds the working place id/word of a node.
func (b *builder) state(l *level, n *node, word string) string {
	return b.stateIn(l.around(n), l, n, word)
}

// around returns the petri.Scope around a node: that of its level, or that of a run which it
// compensates, so that it sees the variables of the run.
func (l *level) around(n *node) string {
	if n.handles != nil {
		return l.runOf(n.handles)
	}
	return l.run
}

// runOf returns the petri.Scope in which a run of an activity has what is left for its compensation:
// its own if that has variables beside those around it, otherwise that of its level.
func (l *level) runOf(n *node) string {
	switch local, apart := n.locals(); {
	case n.loop != nil:
		return l.id(n.id) + eachSuffix
	case len(local) > 0 && !apart:
		return l.id(n.id)
	}
	return l.run
}

// stateIn adds the working place id/word of a node in a petri.Scope inside that of the level.
func (b *builder) stateIn(scope string, l *level, n *node, word string) string {
	id := l.id(n.id) + "/" + word
	l.work = append(l.work, id)
	return b.place(scope, id, n.label()+" ("+word+")", b.at(l, n.id), n.pos)
}

// scope adds the petri.Scope of a node, in which each of its runs is apart from the
// others, and returns its id.
func (b *builder) scope(l *level, n *node) string {
	id := l.id(n.id)
	b.spend(id)
	s := petri.Scope{ID: id, Parent: l.around(n), Pos: b.here(n.pos)}
	if n.loop == nil { // otherwise they are of each run
		s.Local, s.Apart = n.locals()
	}
	if s.Apart && (n.maps == nil || !n.maps.only) {
		s.In = []petri.Assignment{{}} // what an event sub-process begins with, which follows no mapping
	}
	b.net.Scopes = append(b.net.Scopes, s)
	return id
}

// mark gives a place its first tokens in the initial marking.
func (b *builder) mark(id string) {
	if i, ok := b.places[id]; ok {
		b.net.Places[i].Initial = b.first(id)
	}
}

// first returns the number of tokens that a place begins with: several if it arms a timer
// that occurs several times.
func (b *builder) first(place string) uint32 { return max(b.rounds[place], 1) }

// carriesAround makes the tokens of a place carry the variables around its scope.
func (b *builder) carriesAround(place string) {
	if i, ok := b.places[place]; ok {
		b.net.Places[i].Data = petri.DataAround
	}
}

// transition adds the transition with the id of a node.
func (b *builder) transition(l *level, n *node, trigger petri.Trigger) *petri.Transition {
	t := b.extra(l, n, "", n.name)
	t.Doc, t.Trigger, t.Throws = joinLines(documentation(n.el), b.assignment(n)), trigger, n.throws()
	return t
}

// step adds the transition id/word of a node, which takes the tokens of some places.
func (b *builder) step(l *level, n *node, word string, places ...string) *petri.Transition {
	t := b.extra(l, n, "/"+word, n.label()+" ("+word+")")
	for _, place := range places {
		b.take(place, t.ID, n.pos)
	}
	return t
}

// over adds a transition for one of the flows of a node: id/flowid, or
// "id/flow flowid" if the node has that id for another purpose.
func (b *builder) over(l *level, n *node, f *flow) *petri.Transition {
	suffix := "/" + f.id
	switch f.id {
	case "start", "end", "in", "out", "active", "armed", "begin", "split", "count", "resetting", "reset", "thrown", "caught", "ends", "watched", "holds",
		"done", "completed", "compensating", "compensated", "cancelling", "cancels", "waiting", "undone", "continues",
		"vars", "run", "check", "all", "enough", "gather", "base", "ran", "returns", "which",
		"offered", "begins", "choosing", "choose", "met":
		suffix = "/flow " + f.id
	default:
		if strings.Contains(f.id, " ") { // an id with a word before it
			suffix = "/flow " + f.id
		}
	}
	t := b.extra(l, n, suffix, f.title())
	t.Pos = b.here(f.pos)
	return t
}

// into is over for an incoming flow, which is not also an outgoing one.
func (b *builder) into(l *level, n *node, f *flow) *petri.Transition {
	if f.src != n || n.kind != "exclusiveGateway" {
		return b.over(l, n, f)
	}
	t := b.extra(l, n, "/again "+f.id, f.title())
	t.Pos = b.here(f.pos)
	return t
}

// extra adds a transition. The pointer is valid until the next one is added.
func (b *builder) extra(l *level, n *node, suffix, name string) *petri.Transition {
	id := l.id(n.id) + suffix
	b.spend(id)
	b.net.Transitions = append(b.net.Transitions, petri.Transition{ID: id, Name: name, At: b.at(l, n.id), Pos: b.here(n.pos)})
	return &b.net.Transitions[len(b.net.Transitions)-1]
}

func (b *builder) arc(a petri.Arc) {
	if b.left--; b.left < 0 {
		return
	}
	a.Pos = b.here(a.Pos)
	b.net.Arcs = append(b.net.Arcs, a)
}

func (b *builder) take(place, transition string, pos petri.Pos) {
	b.arc(petri.Arc{Source: place, Target: transition, Weight: 1, Pos: pos})
}

// divert is take where no sequence flow leads.
func (b *builder) divert(place, transition string, pos petri.Pos) {
	b.arc(petri.Arc{Source: place, Target: transition, Weight: 1, Aside: petri.AsideAll, Pos: pos})
}

// throwInto is put where no sequence flow leads.
func (b *builder) throwInto(transition, place string, pos petri.Pos) {
	b.arc(petri.Arc{Source: transition, Target: place, Weight: 1, Aside: petri.AsideAll, Pos: pos})
}

// begin makes a transition take the tokens that begin a node.
func (b *builder) begin(place string, n *node, transition string) {
	b.arc(petri.Arc{Source: place, Target: transition, Weight: n.takes, Pos: n.pos})
}

func (b *builder) put(transition, place string, pos petri.Pos) {
	b.arc(petri.Arc{Source: transition, Target: place, Weight: 1, Pos: pos})
}

// putFirst makes a transition put the tokens that a place begins with.
func (b *builder) putFirst(transition, place string, pos petri.Pos) {
	b.arc(petri.Arc{Source: transition, Target: place, Weight: b.first(place), Pos: pos})
}

func (b *builder) test(kind petri.ArcKind, place, transition string, pos petri.Pos) {
	b.arc(petri.Arc{Source: place, Target: transition, Kind: kind, Weight: 1, Pos: pos})
}

// clear makes a transition end a level: it empties all places of the level and inside it.
func (b *builder) clear(l *level, transition string, pos petri.Pos) {
	b.interruptLevel(l, transition, pos)
	b.after(func() {
		for _, in := range l.within() {
			for _, place := range in.done {
				b.test(petri.Reset, place, transition, pos)
			}
		}
	})
	if l == b.root && b.alive != "" {
		b.test(petri.Reset, b.alive, transition, pos)
	}
}

// flowPlace returns the place of a sequence flow. A flow out of an event gateway has
// the place of the gateway, at which all its events wait.
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

// input returns the place from which a node takes its token: that of its incoming flow, a place into which
// several flows merge, or a place that is marked when its level begins.
func (b *builder) input(l *level, n *node) string {
	switch {
	case n.isLinkTarget() && len(n.in) == 0, n.isHandler():
		return b.state(l, n, "in")
	case len(n.in) == 0:
		place := b.state(l, n, "start")
		switch {
		case n.idle:
		case l.node != nil && l.node.adHoc != nil:
			b.offers(l, n, place)
		default:
			l.begin = append(l.begin, place)
		}
		return place
	case len(n.in) == 1 && !n.isLinkTarget():
		return b.flowPlace(l, n.in[0])
	}
	place := b.state(l, n, "in")
	for _, f := range n.in {
		t := b.into(l, n, f).ID
		b.take(b.flowPlace(l, f), t, f.pos)
		b.put(t, place, f.pos)
	}
	return place
}

// conditional reports whether a node's flows have conditions. Otherwise all flows are
// taken, and the default flow has no meaning.
func (n *node) conditional() bool {
	return slices.ContainsFunc(n.out, func(f *flow) bool { return f.cond != "" })
}

// end returns the place where tokens end at the top level, and adds it once.
func (b *builder) end(l *level, n *node) string {
	id := l.id(n.id) + "/end"
	if !b.made[id] {
		b.made[id] = true
		b.place(l.run, id, n.label()+" (end)", b.at(l, n.id), n.pos)
	}
	return id
}

// split returns the place where a token waits for the conditions after an activity
// or an event. It adds the place and its inclusive split once.
func (b *builder) split(l *level, n *node) string {
	id := l.id(n.id) + "/out"
	if b.made[id] {
		return id
	}
	b.made[id] = true
	b.state(l, n, "out")
	b.branches(l, n, b.step(l, n, "split", id).ID)
	return id
}

// branches makes a transition put a token on each flow whose condition holds, or on
// the default flow if none does.
func (b *builder) branches(l *level, n *node, transition string) {
	for _, f := range n.out {
		b.arc(petri.Arc{Source: transition, Target: b.flowPlace(l, f), Kind: petri.Branch, Weight: 1, Pos: f.pos,
			Guard: f.cond, Default: f == n.fallback})
	}
}

// output makes a transition put the tokens of a finished node. An end keeps its
// token at the top level, where it is visible; in a sub-process it is gone.
func (b *builder) output(l *level, n *node, transition string) {
	put := func(place string, weight uint32) {
		b.arc(petri.Arc{Source: transition, Target: place, Weight: weight, Pos: n.pos})
	}
	switch {
	case n.isHandler():
	case len(n.out) == 0 && l.parent == nil:
		put(b.end(l, n), n.puts)
	case n.conditional():
		put(b.split(l, n), n.puts)
	case len(n.out) == 0 && l.results != "":
		put(l.results, 1)
	default:
		for _, f := range n.out {
			put(b.flowPlace(l, f), n.puts)
		}
	}
}
