// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/pnagent/pnagent/engine/plain"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
)

// model plays one instance in the simplest way: it searches a list of tokens,
// some of them in flight, each time. It shares with the machine only the test
// of joins and the choice between rivals, which have their own references.
type model struct {
	net      *petri.Net
	tables   *petri.Tables
	bindings []Binding
	table    [][]arcs // by transition and place
	order    petri.Order
	turn     int
	lastID   uint64
	lastRun  uint64
	now      int64
	frames   []*modelFrame // every one that ever opened; the first is the instance
	entered  map[string]*modelFrame
	tokens   []*modelToken
	runs     []*modelRun
	troubles []*trouble
	clocks   []*modelClock
	starts   []*modelRun
	stops    []RunID
	counts   []counters
	touched  []modelToken // whose place has changed

	writes    []modelWrite  // of the present firing
	rewritten []*modelFrame // that own variables which have changed
}

type modelToken struct {
	Token
	place int32
	in    *modelFrame
	run   *modelRun
}

type modelRun struct {
	id       RunID
	t        int
	in       *modelFrame
	taken    []*modelToken
	saw      []byte        // the variables that it saw when it started
	read     []*modelToken // as they were when it started
	data     []byte
	started  int64
	deadline int64 // 0 for none
	attempt  int
}

// trouble is what the model remembers about a transition that failed with a
// token.
type trouble struct {
	t        int
	in       *modelFrame
	token    uint64
	failures int
	due      int64 // 0 if it may be tried
	awaits   bool
	incident bool
	again    bool  // of an incident: it is tried again when a place of the transition changes
	ripe     int64 // of a delayed or manual transition: when it was due
}

// modelClock is the clock of a delayed transition that is enabled.
type modelClock struct {
	t          int
	in         *modelFrame
	since, due int64 // due is 0 if the guard has to be asked
	ripe       bool
	of         []uint64 // the identities of the tokens with which due was determined by Until
}

func newModel(tables *petri.Tables, bindings []Binding, now int64) *model {
	m := &model{net: tables.Net, bindings: bindings, now: now, counts: make([]counters, len(bindings)), frames: []*modelFrame{{}}}
	held := make([]bool, len(bindings))
	for t := range held {
		held[t] = bindings[t].Mode.Kind != 0
	}
	m.tables = tables.WithHeld(held)
	m.order = make(petri.Order, m.tables.OrderLen())
	for t := range bindings {
		m.table = append(m.table, nil)
		m.each(func(p int32) { m.table[t] = append(m.table[t], arcsBetween(m.net, p, t)) })
	}
	for p := range m.net.Places {
		m.put(int32(p), m.frames[0], nil, int(m.net.Places[p].Initial))
	}
	return m
}

func (m *model) put(place int32, in *modelFrame, data []byte, n int) {
	for range n {
		m.lastID++
		m.tokens = append(m.tokens, &modelToken{Token: Token{ID: m.lastID, Injected: m.now, Data: data}, place: place, in: in})
		m.touch(m.tokens[len(m.tokens)-1])
	}
}

// at returns the tokens of a place in order that what happens in a frame sees,
// either those in flight or the others.
func (m *model) at(f *modelFrame, place int32, flying bool) []*modelToken {
	var out []*modelToken
	for _, k := range m.tokens {
		if k.place == place && (k.run != nil) == flying && m.sees(f, k) {
			out = append(out, k)
		}
	}
	slices.SortFunc(out, func(a, b *modelToken) int {
		return cmp.Or(cmp.Compare(a.Injected, b.Injected), cmp.Compare(a.ID, b.ID))
	})
	return out
}

func (m *model) preemptable(f *modelFrame, place int32) []*modelToken {
	return slices.DeleteFunc(m.at(f, place, true), func(k *modelToken) bool { return m.net.Transitions[k.run.t].Preempts })
}

// arcs summarizes all arcs between a place and a transition.
type arcs struct {
	take, read, put int
	limit           uint32 // 0 for none
	reset, join     bool
}

func (m *model) between(place int32, t int) arcs { return m.table[t][place] }

func arcsBetween(n *petri.Net, place int32, t int) arcs {
	var a arcs
	p, tr := n.Places[place].ID, n.Transitions[t].ID
	for _, x := range n.Arcs {
		if x.Source == tr && x.Target == p && x.Kind == petri.Normal {
			a.put += int(x.Weight)
		}
		if x.Source != p || x.Target != tr {
			continue
		}
		switch x.Kind {
		case petri.Normal:
			a.take += int(x.Weight)
		case petri.Read:
			a.read += int(x.Weight)
		case petri.Reset:
			a.reset = true
		case petri.Join:
			a.join = true
		case petri.Inhibitor:
			if a.limit == 0 || x.Weight < a.limit {
				a.limit = x.Weight
			}
		}
	}
	return a
}

func (m *model) each(do func(place int32)) {
	for p := range m.net.Places {
		do(int32(p))
	}
}

// enabled reports whether the tokens enable a transition in a frame.
func (m *model) enabled(f *modelFrame, t int) bool {
	ok := true
	m.each(func(p int32) {
		a := m.between(p, t)
		free, all := len(m.at(f, p, false)), len(m.at(f, p, false))+len(m.at(f, p, true))
		if m.net.Transitions[t].Preempts && (a.take > 0 || a.join) {
			free += len(m.preemptable(f, p))
		}
		ok = ok && free >= max(a.take, a.read) && (a.limit == 0 || uint32(all) < a.limit)
		ok = ok && (!a.join || all == 0 || len(m.at(f, p, false)) > 0)
	})
	if j := m.tables.Join(t); ok && j != nil {
		marked := map[int32]bool{}
		for _, k := range m.tokens {
			if k.in.within(f) {
				marked[k.place] = true
			}
		}
		ok = j.Ready(maps.Keys(marked))
	}
	return ok
}

// modelChoice is one combination of tokens.
type modelChoice struct{ taken, read []*modelToken }

func (m *model) seen(c modelChoice) []Placed {
	all := append(slices.Clone(c.taken), c.read...)
	slices.SortStableFunc(all, func(a, b *modelToken) int { return cmp.Compare(a.place, b.place) })
	return m.placedOf(all)
}

func (m *model) placedOf(tokens []*modelToken) []Placed {
	var out []Placed
	for _, k := range tokens {
		p := Placed{Place: k.place, Scope: k.in.number, Token: k.Token}
		p.Token.Data = m.view(k)
		out = append(out, p)
	}
	return out
}

// choices returns all combinations in the order of age.
func (m *model) choices(f *modelFrame, t int) []modelChoice {
	all := []modelChoice{{}}
	m.each(func(p int32) {
		a := m.between(p, t)
		take := a.take
		if a.join {
			take++
		}
		show := max(take, a.read)
		if show == 0 {
			return
		}
		from := m.at(f, p, false)
		if m.net.Transitions[t].Preempts && take > 0 {
			from = append(from, m.preemptable(f, p)...)
		}
		if a.join {
			show = min(show, len(from))
		}
		var next []modelChoice
		for _, c := range all {
			for _, some := range combinations(from, show) {
				d := modelChoice{slices.Clone(c.taken), slices.Clone(c.read)}
				d.taken = append(d.taken, some[:min(take, len(some))]...)
				d.read = append(d.read, some[min(take, len(some)):]...)
				next = append(next, d)
				if len(next) >= MaxCombinations {
					break
				}
			}
		}
		all = next[:min(len(next), MaxCombinations)]
	})
	return all
}

// combinations returns the choices of k of some tokens in lexicographic order.
func combinations(from []*modelToken, k int) [][]*modelToken {
	if k == 0 {
		return [][]*modelToken{nil}
	}
	var out [][]*modelToken
	for i := range from {
		for _, rest := range combinations(from[i+1:], k-1) {
			if out = append(out, append([]*modelToken{from[i]}, rest...)); len(out) >= MaxCombinations {
				return out
			}
		}
	}
	return out
}

func (m *model) pick(f *modelFrame, t int) (modelChoice, bool) { return m.pickWith(f, t, nil) }

// pickWith is pick with a guard that sees data.
func (m *model) pickWith(f *modelFrame, t int, data []byte) (modelChoice, bool) {
	if !m.enabled(f, t) {
		return modelChoice{}, false
	}
	for _, c := range m.choices(f, t) {
		if g := m.bindings[t].Guard; g == nil || g(m.seen(m.given(c, data)), m.now).OK {
			return c, true
		}
	}
	return modelChoice{}, false
}

// given returns a choice of tokens that have data, if that is not nil.
func (m *model) given(c modelChoice, data []byte) modelChoice {
	if data == nil {
		return c
	}
	c = modelChoice{savedTokens(c.taken), savedTokens(c.read)}
	for _, k := range append(slices.Clone(c.taken), c.read...) {
		k.Data = m.withData(k, data)
	}
	return c
}

// may reports whether a transition may be tried in a frame without a call from
// outside.
func (m *model) may(f *modelFrame, t int) bool {
	for _, x := range m.troubles {
		if x.t == t && x.in == f && (x.due > 0 || x.awaits || x.incident) {
			return false
		}
	}
	_, ok := m.pick(f, t)
	return ok
}

// actor returns the oldest frame in which a transition may be tried; nil if
// there is none.
func (m *model) actor(t int) *modelFrame {
	for _, f := range m.actors(t) {
		if m.may(f, t) {
			return f
		}
	}
	return nil
}

// branches returns the outputs of a split that are taken.
func (m *model) branches(t int, taken []*modelToken, data []byte) (out []petri.BranchArc, ok bool) {
	seen := m.placedOf(taken)
	for k := range seen {
		if data != nil {
			seen[k].Token.Data = m.withData(taken[k], data)
		}
	}
	var otherwise []petri.BranchArc
	for k, b := range m.tables.Branches(t) {
		switch g := m.bindings[t].Branches; {
		case b.Default:
			otherwise = append(otherwise, b)
		case g == nil || g[k] == nil || g[k](seen, m.now).OK:
			out = append(out, b)
		}
	}
	if len(out) == 0 {
		out = otherwise
	}
	return out, len(out) > 0 || len(m.tables.Branches(t)) == 0
}

// step plays until there is nothing left to do at a time, at most a given
// number of firings and starts, and returns their number.
func (m *model) step(budget int, now int64) (played int) {
	m.now = now
	m.changed()
	m.expire()
	for played < budget {
		before := slices.Clone(m.order)
		t := m.next()
		var f *modelFrame
		if t >= 0 {
			f = m.actor(t)
		} else {
			ripe, in, ok := m.ripe()
			if ok && !m.may(in, ripe) {
				continue
			}
			t, f = ripe, in
			if !ok && m.settle() {
				continue
			}
			if !ok {
				return played
			}
		}
		c, _ := m.pick(f, t)
		played++
		if m.bindings[t].Action {
			m.start(f, t, c, nil)
			continue
		}
		out, ok := m.branches(t, c.taken, nil)
		data, fair := m.exchange(f, t, c, nil)
		if ok && fair {
			m.fire(f, t, c, out, data, nil)
			continue
		}
		played--
		m.order = before
		m.counts[t].failures++
		if ok {
			m.setBack(f, t, first(c.taken), 0)
			continue
		}
		m.unevaluated(f, t, first(c.taken))
	}
	return played
}

func first(taken []*modelToken) uint64 {
	if len(taken) == 0 {
		return 0
	}
	return taken[0].ID
}

// expire ends the runs that have reached their deadline, and makes the
// transitions whose wait is over ready for a retry.
func (m *model) expire() {
	for _, r := range slices.Clone(m.runs) {
		if r.deadline > 0 && r.deadline <= m.now {
			m.counts[r.t].timeouts++
			m.cancel(r)
			m.changed()
			m.setBack(r.in, r.t, first(r.taken), 0)
		}
	}
	for _, x := range m.troubles {
		if x.due > 0 && x.due <= m.now {
			if m.tables.Held(x.t) {
				x.ripe = x.due
			}
			x.due = 0
		}
	}
	for _, k := range m.clocks {
		k.ripe = k.ripe || k.due > 0 && k.due <= m.now
	}
}

// ripe returns the retry or delay that has been over for longest.
func (m *model) ripe() (t int, in *modelFrame, ok bool) {
	best, take := int64(math.MaxInt64), func() {}
	before := func(at int64, u int, f *modelFrame) bool {
		return at < best || at == best && (u < t || u == t && f.number < in.number)
	}
	for _, x := range m.troubles {
		if x.ripe > 0 && before(x.ripe, x.t, x.in) {
			best, t, in, take = x.ripe, x.t, x.in, func() { x.ripe = 0 }
		}
	}
	for _, k := range m.clocks {
		if k.ripe && before(k.due, k.t, k.in) {
			best, t, in, take = k.due, k.t, k.in, func() { m.dropClock(k) }
		}
	}
	take()
	return t, in, best < math.MaxInt64
}

func (m *model) dropClock(k *modelClock) {
	m.clocks = slices.DeleteFunc(m.clocks, func(x *modelClock) bool { return x == k })
}

// clock returns the clock of a transition in a frame; nil if it has none.
func (m *model) clock(f *modelFrame, t int) *modelClock {
	for _, k := range m.clocks {
		if k.t == t && k.in == f {
			return k
		}
	}
	return nil
}

// settle starts the clocks of enabled transitions, and reports whether one of
// them is over already.
func (m *model) settle() (over bool) {
	for t := range m.bindings {
		if m.bindings[t].Mode.Kind != plain.Delayed {
			continue
		}
		for _, f := range m.actors(t) {
			k := m.clock(f, t)
			if !m.may(f, t) {
				m.dropClock(k)
				continue
			}
			if k == nil {
				k = &modelClock{t: t, in: f, since: m.since(f, t)}
				m.clocks = append(m.clocks, k)
			}
			c, _ := m.pick(f, t)
			var of []uint64
			for _, p := range m.seen(c) {
				of = append(of, p.Token.ID)
			}
			if until := m.bindings[t].Until; until == nil {
				k.due = k.since + int64(m.bindings[t].Mode.Delay.A)
			} else if k.due == 0 || !slices.Equal(of, k.of) {
				due, err := until(m.seen(c), k.since)
				if err != nil {
					m.counts[t].failures++
					m.unevaluated(f, t, first(c.taken))
					m.dropClock(k)
					continue
				}
				k.due, k.of = due, of
			}
			k.ripe = k.due <= m.now
			over = over || k.ripe
		}
	}
	return over
}

func (m *model) since(f *modelFrame, t int) int64 {
	since, told := int64(0), m.tables.Join(t) == nil
	c, _ := m.pick(f, t)
	for _, k := range append(slices.Clone(c.taken), c.read...) {
		since = max(since, k.Injected)
	}
	m.each(func(p int32) { told = told && m.between(p, t).limit == 0 })
	if !told || since == 0 {
		return m.now
	}
	return since
}

// final reports whether no transition takes tokens from a place.
func (m *model) final(place int32) bool {
	for t := range m.bindings {
		if a := m.between(place, t); a.take > 0 || a.join || a.reset {
			return false
		}
	}
	return true
}

// rest returns the state in which the instance is at rest, if there is nothing
// left to do.
func (m *model) rest() string {
	incident, waits, open := false, len(m.runs) > 0 || len(m.clocks) > 0, false
	for _, x := range m.troubles {
		incident = incident || x.incident
		waits = waits || x.due > 0 || x.awaits
	}
	left := slices.ContainsFunc(m.tokens, func(k *modelToken) bool { return !m.final(k.place) })
	for t := range m.bindings {
		waits = waits || m.bindings[t].Mode.Kind == plain.Manual && !m.tables.Source(t) && m.actor(t) != nil
		open = open || m.tables.Source(t) && m.bindings[t].Mode.Kind != plain.Delayed
	}
	switch {
	case waits || open && !incident:
		return "not at rest"
	case incident:
		return "failed"
	case left:
		return "deadlocked"
	}
	return "finished"
}

// changed stops the clocks of transitions that are no longer enabled, and
// forgets what was in frames that are gone.
func (m *model) changed() {
	m.clocks = slices.DeleteFunc(m.clocks, func(k *modelClock) bool { return !m.open(k.in) || !m.enabled(k.in, k.t) })
	m.troubles = slices.DeleteFunc(m.troubles, func(x *trouble) bool { return !m.open(x.in) || x.again && m.hasTouched(x) })
	m.touched, m.rewritten = nil, nil
}

// touch records that the place of a token has changed.
func (m *model) touch(tokens ...*modelToken) {
	for _, k := range tokens {
		m.touched = append(m.touched, *k)
	}
}

// hasTouched reports whether a place of the transition of a trouble has changed.
func (m *model) hasTouched(x *trouble) bool {
	j := m.tables.Join(x.t)
	if slices.ContainsFunc(m.rewritten, x.in.within) {
		return true
	}
	return slices.ContainsFunc(m.touched, func(k modelToken) bool {
		a := m.between(k.place, x.t)
		return (a.take > 0 || a.read > 0 || a.limit > 0 || a.join || j != nil && j.Reach[k.place] != 0) && m.sees(x.in, &k)
	})
}

// due returns the next due time; 0 if there is none.
func (m *model) due() int64 {
	var due int64
	for _, k := range m.clocks {
		if !k.ripe {
			due = stats.Earlier(due, k.due)
		}
	}
	for _, x := range m.troubles {
		due = stats.Earlier(due, x.due)
	}
	for _, r := range m.runs {
		due = stats.Earlier(due, r.deadline)
	}
	return due
}

// next returns the immediate transition that has the turn, or -1.
func (m *model) next() int {
	best := -1
	for k := range m.bindings {
		t := (m.turn + k) % len(m.bindings)
		if !m.tables.Held(t) && m.actor(t) != nil && (best < 0 || m.tables.Priority(t) > m.tables.Priority(best)) {
			best = t
		}
	}
	if best >= 0 && len(m.order) > 0 {
		return m.tables.Choose(best, m.order, func(t int) bool { return !m.tables.Held(t) && m.actor(t) != nil })
	}
	return best
}
