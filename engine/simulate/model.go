// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/pnagent/pnagent/engine/coloured"
	"github.com/pnagent/pnagent/engine/plain"
	"github.com/pnagent/pnagent/engine/ready"
	"github.com/pnagent/pnagent/petri"
)

// ErrModel is wrapped by the errors about a Model or Options.
var ErrModel = errors.New("invalid simulation")

// Bounds of a model.
const (
	MaxPool      = 10_000 // members of a pool
	MaxInstances = 1 << 20
	NoPool       = -1
)

// Sampler is a distribution of durations, in microseconds. plain.Delay is one.
type Sampler interface{ Draw(r *rand.Rand) int64 }

// Sample is the distribution of measured durations: each is drawn equally often.
type Sample []int64

// Draw returns one of the durations.
func (s Sample) Draw(r *rand.Rand) int64 { return s[r.IntN(len(s))] }

// Model is what is played.
type Model struct {
	Tables      *petri.Tables
	Transitions []Transition // by transition
	Pools       []Pool
	// Arrivals is the time between two cases. nil plays Instances at the initial marking
	// from the start of a run.
	Arrivals  Sampler
	Instances int
	// Priority returns the priority of an instance or, with Arrivals, of a case, by its
	// number; nil is p0 for all.
	Priority func(number int) ready.Priority
	Merge    func(data [][]byte) []byte // as in coloured.Config
	Notes    []string                   // what the model leaves out of the net, for people
}

// Transition is how one transition fires.
type Transition struct {
	// Binding has no action. Its Mode has no delay: that is Delay.
	Binding coloured.Binding
	Delay   Sampler // of a transition that is delayed or has a pool; nil if Binding has the time
	Given   bool    // Learn keeps Delay
	Pool    int     // index in Model.Pools, or NoPool
	// Weight is for the choice between transitions that are enabled: in proportion to their
	// weights. If it is 0 for all of a net, transitions take turns as in an engine.
	Weight float64
}

// Pool is a number of people, or machines, who do the work of some transitions.
type Pool struct {
	Name string
	Size int
}

// PoolNamed returns the index of a pool, or NoPool.
func (m *Model) PoolNamed(name string) int {
	return slices.IndexFunc(m.Pools, func(p Pool) bool { return p.Name == name })
}

// WithPool returns the model with another size of one pool.
func (m *Model) WithPool(pool, size int) *Model {
	out := *m
	out.Pools = slices.Clone(m.Pools)
	out.Pools[pool].Size = size
	return &out
}

func (m *Model) check() error {
	if len(m.Transitions) != m.Tables.Transitions() {
		return fmt.Errorf("%w: %d transitions; expected %d", ErrModel, len(m.Transitions), m.Tables.Transitions())
	}
	if m.Arrivals == nil && (m.Instances < 1 || m.Instances > MaxInstances) {
		return fmt.Errorf("%w: %d instances; expected 1 to %d", ErrModel, m.Instances, MaxInstances)
	}
	for _, p := range m.Pools {
		if p.Size < 1 || p.Size > MaxPool {
			return fmt.Errorf("%w: pool %q has %d members; expected 1 to %d", ErrModel, p.Name, p.Size, MaxPool)
		}
	}
	for i := range m.Transitions {
		t := &m.Transitions[i]
		if t.Pool != NoPool && (t.Pool < 0 || t.Pool >= len(m.Pools) || t.Delay == nil) {
			return fmt.Errorf("%w: transition %q has pool %d of %d, or no delay", ErrModel, m.Tables.Net.Transitions[i].ID, t.Pool, len(m.Pools))
		}
		if t.Weight < 0 {
			return fmt.Errorf("%w: transition %q has weight %g; expected more than 0", ErrModel, m.Tables.Net.Transitions[i].ID, t.Weight)
		}
	}
	if m.Arrivals != nil && len(m.initial()) == 0 {
		return fmt.Errorf("%w: cases arrive in net %q, whose initial marking is empty; expected a token, or a rate of a transition without inputs", ErrModel, m.Tables.Net.ID)
	}
	return nil
}

// initial returns the places with tokens at the start of a case.
func (m *Model) initial() (places []int) {
	for p, n := range m.Tables.Initial {
		if n > 0 {
			places = append(places, p)
		}
	}
	return places
}

// plain reports whether package plain plays the model: tokens alone decide what happens.
func (m *Model) plain() bool {
	if m.Arrivals != nil || len(m.Pools) > 0 || m.weights() != nil || !m.Tables.Plain() {
		return false
	}
	for i := range m.Transitions {
		t := &m.Transitions[i]
		b := &t.Binding
		_, shaped := t.Delay.(plain.Delay)
		if t.Delay != nil && !shaped || b.Due != nil || b.Until != nil || b.Event != nil || b.Guard != nil || b.Branches != nil || b.Scope != nil {
			return false
		}
	}
	return true
}

// weights returns the weights by transition, or nil if none has one.
func (m *Model) weights() []float64 {
	out, some := make([]float64, len(m.Transitions)), false
	for i := range m.Transitions {
		out[i] = 1
		if w := m.Transitions[i].Weight; w > 0 {
			out[i], some = w, true
		}
	}
	if !some {
		return nil
	}
	return out
}
