// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"fmt"
	"slices"

	"github.com/pnagent/pnagent/engine/action"
	"github.com/pnagent/pnagent/engine/coloured"
	"github.com/pnagent/pnagent/engine/guard"
	"github.com/pnagent/pnagent/engine/plain"
	"github.com/pnagent/pnagent/engine/simulate"
	"github.com/pnagent/pnagent/petri"
)

// Simulation returns a model of a net with bindings, for package simulate: what Bind returns,
// without actions, and with what the bindings have for a simulation. instances is how many there
// are if no cases arrive. What the bindings do not have for a simulation is learned from a log, if
// it is not nil. The error is as that of Bind; b may be nil.
func Simulation(b *Bindings, t *petri.Tables, instances int, log *simulate.Log) (*simulate.Model, error) {
	var n netBindings
	if b != nil {
		n = b.nets[t.Net.ID]
	}
	idle := &Bindings{nets: map[string]netBindings{t.Net.ID: n.withoutActions()}}
	cfg, err := idle.Bind(t, action.Peers{})
	m := &simulate.Model{Tables: t, Instances: instances, Priority: cfg.Priority, Merge: guard.Merge}
	s := simulation{Model: m, log: log, cfg: &cfg, simulated: &n.simulate, works: n.transitions}
	if err != nil {
		return nil, errors.Join(append([]error{err}, s.faults()...)...)
	}
	for i := range cfg.Transitions {
		m.Transitions = append(m.Transitions, s.transition(i))
	}
	for _, p := range n.simulate.pools {
		m.Pools = append(m.Pools, simulate.Pool{Name: p.key.Name, Size: p.size})
	}
	if n.simulate.arrivals != nil {
		m.Arrivals = *n.simulate.arrivals
	}
	if err := errors.Join(s.faults()...); err != nil {
		return nil, err
	}
	s.choose()
	s.remark()
	return m, nil
}

// withoutActions returns the bindings of a net in which nothing is done outside.
func (n netBindings) withoutActions() netBindings {
	out := make(map[string]binding, len(n.transitions))
	for id, b := range n.transitions {
		if b.action != nil && b.mode == nil {
			b.mode = &plain.Mode{}
		}
		b.action, b.timeout, b.again, b.retry = nil, 0, false, Retry{}
		out[id] = b
	}
	n.transitions = out
	return n
}

// simulation makes a model.
type simulation struct {
	*simulate.Model
	*simulated
	log   *simulate.Log // nil for none
	cfg   *NetConfig
	works map[string]binding // as the file has them
}

func (s *simulation) transition(i int) simulate.Transition {
	b := s.cfg.Transitions[i].binding()
	t := simulate.Transition{Binding: b, Pool: simulate.NoPool}
	if b.Mode.Kind == plain.Delayed && b.Due == nil && b.Until == nil {
		t.Delay = b.Mode.Delay
	}
	return t
}

// faults applies what the file has of transitions, and returns what is wrong with that.
func (s *simulation) faults() (faults []error) {
	t := s.Tables
	for k := range s.transitions {
		e := &s.transitions[k]
		i, known := t.TransitionIndex(e.key.Name)
		if !known {
			faults = append(faults, e.key.Fault("net %q has no transition %q; expected the id of one of its %d transitions", t.Net.ID, e.key.Name, t.Transitions()))
			continue
		}
		if i >= len(s.Transitions) {
			continue // Bind has failed
		}
		to := &s.Transitions[i]
		to.Weight = e.weight
		if e.delay != nil {
			to.Delay, to.Given, to.Binding.Due, to.Binding.Until = *e.delay, true, nil, nil
			to.Binding.Mode = plain.Mode{Kind: plain.Delayed}
		}
		if !e.pool.IsEmpty() {
			pool, err := s.poolOf(e)
			if err != nil {
				faults = append(faults, err)
				continue
			}
			to.Pool = pool
		}
	}
	if s.log != nil && len(s.Transitions) > 0 && len(faults) == 0 {
		s.Learn(s.log)
	}
	faults = append(faults, s.poolFaults()...)
	for _, p := range s.pools {
		if p.size > simulate.MaxPool {
			faults = append(faults, p.key.Fault("pool %q has %d members; expected at most %d", p.key.Name, p.size, simulate.MaxPool))
		}
	}
	slices.SortFunc(faults, byPosition)
	return faults
}

// poolFaults returns which transitions cannot have their pool.
func (s *simulation) poolFaults() (faults []error) {
	for k := range s.transitions {
		e := &s.transitions[k]
		i, known := s.Tables.TransitionIndex(e.key.Name)
		switch {
		case !known || i >= len(s.Transitions) || s.Transitions[i].Pool == simulate.NoPool:
		case s.Transitions[i].Delay == nil:
			faults = append(faults, e.key.Fault("transition %q has a pool, and no delay; expected how long a member works for it", e.key.Name))
		case !s.Tables.TakesInScope(i) || s.Tables.Source(i):
			faults = append(faults, e.key.Fault("transition %q has a pool, but takes no token of its scope; expected one, which waits for a member", e.key.Name))
		}
	}
	return faults
}

// choose replaces the guards of transitions with weights, and of their rivals: a simulation has
// no data that they could be about.
func (s *simulation) choose() {
	shared := make([]bool, s.Tables.Places())
	for i := range s.Transitions {
		for _, c := range s.Tables.Conds(i) {
			shared[c.Place] = shared[c.Place] || s.Transitions[i].Weight > 0
		}
	}
	always := func([]coloured.Placed, int64) coloured.Verdict {
		return coloured.Verdict{OK: true}
	}
	for i := range s.Transitions {
		rival := slices.ContainsFunc(s.Tables.Conds(i), func(c petri.Cond) bool { return c.Lo > 0 && shared[c.Place] })
		if rival && s.Transitions[i].Binding.Guard != nil {
			s.Transitions[i].Binding.Guard = always
		}
	}
}

// maxRemarks bounds how many transitions a note names.
const maxRemarks = 10

// remark notes what the model leaves out of the net.
func (s *simulation) remark() {
	var waiting, instant []string
	for i := range s.Transitions {
		t, id := &s.Transitions[i], s.Tables.Net.Transitions[i].ID
		work := s.works[id].action != nil || s.Tables.Net.Transitions[i].Trigger.Kind == petri.TriggerWork
		switch {
		case t.Binding.Mode.Kind == plain.Manual:
			waiting = append(waiting, id)
		case work && t.Delay == nil && t.Binding.Mode.Kind == plain.Immediate:
			instant = append(instant, id)
		}
	}
	note := func(ids []string, text string) {
		if more := len(ids) - maxRemarks; more > 0 {
			ids = append(slices.Clip(ids[:maxRemarks]), fmt.Sprintf("and %d more", more))
		}
		if len(ids) > 0 {
			s.Notes = append(s.Notes, fmt.Sprintf(text, ids))
		}
	}
	note(waiting, "these transitions fire only from outside, so here never: %q; give them a delay under simulate")
	note(instant, "the work of these transitions takes no time: %q; give them a delay under simulate")
}
