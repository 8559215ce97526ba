// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/pnagent/pnagent/internal/seeds"
	"github.com/pnagent/pnagent/petri"
)

// modelFrame is one run of a scope of the net. The first one is the instance.
type modelFrame struct {
	number uint32
	scope  string
	up     *modelFrame
	own    map[string]any // the variables that it owns
}

// within reports whether a frame is another one or inside of it.
func (f *modelFrame) within(outer *modelFrame) bool {
	return f == outer || f.up != nil && f.up.within(outer)
}

// parent returns the scope around another one, which is not the net.
func (m *model) parent(scope string) string {
	return m.net.Scopes[slices.IndexFunc(m.net.Scopes, func(s petri.Scope) bool { return s.ID == scope })].Parent
}

// encloses reports whether a scope is another one or around it.
func (m *model) encloses(outer, scope string) bool {
	return outer == scope || scope != "" && m.encloses(outer, m.parent(scope))
}

// home returns the innermost frame, f or one around it, whose scope is that of a place or
// around it.
func (m *model) home(f *modelFrame, place int32) *modelFrame {
	if m.encloses(f.scope, m.net.Places[place].Scope) {
		return f
	}
	return m.home(f.up, place)
}

// sees reports whether what happens in a frame sees a token.
func (m *model) sees(f *modelFrame, k *modelToken) bool { return k.in.within(m.home(f, k.place)) }

// open reports whether a frame is the instance, or a token is in it or inside of it.
func (m *model) open(f *modelFrame) bool {
	return f.up == nil || slices.ContainsFunc(m.tokens, func(k *modelToken) bool { return k.in.within(f) })
}

// actors returns the open frames of the innermost scope from which a transition takes, reads
// or joins, oldest first.
func (m *model) actors(t int) (out []*modelFrame) {
	scope := ""
	m.each(func(p int32) {
		if a := m.between(p, t); (a.take > 0 || a.read > 0 || a.join) && m.encloses(scope, m.net.Places[p].Scope) {
			scope = m.net.Places[p].Scope
		}
	})
	for _, f := range m.frames {
		if f.scope == scope && m.open(f) {
			out = append(out, f)
		}
	}
	return out
}

// aim returns the frame into which a firing in a frame puts a token, and opens it if the
// firing has not done so.
func (m *model) aim(f *modelFrame, place int32) *modelFrame {
	return m.enter(m.home(f, place), m.net.Places[place].Scope)
}

func (m *model) enter(from *modelFrame, scope string) *modelFrame {
	if from.scope == scope {
		return from
	}
	if m.entered[scope] == nil {
		up := m.enter(from, m.parent(scope))
		m.entered[scope] = &modelFrame{number: uint32(len(m.frames)), scope: scope, up: up}
		m.frames = append(m.frames, m.entered[scope])
	}
	return m.entered[scope]
}

func savedTokens(tokens []*modelToken) (out []*modelToken) {
	for _, k := range tokens {
		saved := *k
		out = append(out, &saved)
	}
	return out
}

// someData returns an expression whose value depends only on the tokens and the salt. It
// fails now and then.
func someData(salt uint32) Value {
	return func(tokens []Placed, _ int64) []byte {
		h := fnv.New32a()
		fmt.Fprint(h, salt)
		for _, p := range tokens {
			fmt.Fprint(h, p.Place, p.Scope, p.Token.ID, string(p.Token.Data), ";")
		}
		n := h.Sum32() % 12
		if n == 0 {
			panic("no value")
		}
		return fmt.Append(nil, n)
	}
}

// randomOf returns the maker of random nets of a round: every other one has scopes, and those
// from round 600 on share variables.
func randomOf(round int) func(*rand.Rand) (*petri.Net, []Binding) {
	of := randomNet
	if round%2 == 1 {
		of = randomScopedNet
	}
	if round >= 600 {
		return randomShared(of)
	}
	return of
}

// randomScopedNet is randomNet with scopes. It leaves out arcs that scopes do not allow.
func randomScopedNet(r *rand.Rand) (*petri.Net, []Binding) {
	for {
		n, bindings := randomNet(r)
		addScopes(r, n)
		tables, err := petri.Compile(n)
		if err != nil || !slices.ContainsFunc(n.Places, func(p petri.Place) bool { return p.Scope != "" }) {
			continue
		}
		for t := range bindings {
			b := &bindings[t]
			takes := slices.ContainsFunc(tables.Effects(t), func(e petri.Effect) bool { return e.Take > 0 }) // a run without tokens is not in the state
			b.Action = b.Action && takes && tables.TakesInScope(t)
			if !b.Action {
				b.Timeout = 0
			}
			if tables.Source(t) {
				b.Guard = nil
			}
		}
		return n, bindings
	}
}

func addScopes(r *rand.Rand, n *petri.Net) {
	ids := []string{""}
	for k := range 1 + r.IntN(4) {
		ids = append(ids, string(rune('A'+k)))
		n.Scopes = append(n.Scopes, petri.Scope{ID: ids[k+1], Parent: ids[r.IntN(k+1)]})
	}
	m := &model{net: n}
	of := map[string]string{}
	for k := range n.Places {
		p := &n.Places[k]
		if p.Scope = ids[r.IntN(len(ids))]; p.Scope != "" {
			p.Initial = 0
		}
		of[p.ID] = p.Scope
	}
	acts, joins := map[string]string{}, map[string]string{}
	n.Arcs = slices.DeleteFunc(n.Arcs, func(a petri.Arc) bool {
		scope, input := of[a.Source]
		if !input || a.Kind == petri.Inhibitor || a.Kind == petri.Reset {
			return false
		}
		before, has := acts[a.Target]
		join, joined := joins[a.Target]
		switch {
		case has && !m.encloses(before, scope) && !m.encloses(scope, before),
			joined && (!m.encloses(scope, join) || a.Kind == petri.Join && scope != join),
			!joined && a.Kind == petri.Join && has && !m.encloses(before, scope):
			return true
		}
		if a.Kind == petri.Join {
			joins[a.Target] = scope
		}
		if !has || m.encloses(before, scope) {
			acts[a.Target] = scope
		}
		return false
	})
}

// On random nets with scopes, too, the machine does the same as the model.
func TestTheMachineIsTheModelWithScopes(t *testing.T) {
	var total counters
	n, frames, nested := uint64(0), uint64(0), uint64(0)
	for seed := range seeds.Of(20, 600, 272, 324, 134, 94, 205, 487, 117, 283, 347, 266, 506, 507, 25, 28, 246, 335, 549, 102, 105, 196, 259, 302, 417, 449, 532, 571, 599) {
		n++
		p := beside(t, seed, randomScopedNet)
		for _, c := range p.m.counts {
			total.firings += c.firings
			total.failures += c.failures
			total.retries += c.retries
			total.cancels += c.cancels
			total.timeouts += c.timeouts
		}
		frames += uint64(len(p.m.frames) - 1)
		for _, f := range p.m.frames[1:] {
			if f.up.up != nil {
				nested++
			}
		}
	}
	if n > 1 && (total.firings < 30*n || min(total.failures, total.retries, total.cancels, total.timeouts) < n/2) {
		t.Errorf("too little happened with %d seeds: %+v", n, total)
	}
	if n > 1 && min(frames, nested) < n {
		t.Errorf("%d runs of scopes, %d of them in others", frames, nested)
	}
}
