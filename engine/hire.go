// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/pnagent/pnagent/engine/action"
	"github.com/pnagent/pnagent/engine/coloured"
	"github.com/pnagent/pnagent/engine/guard"
	"github.com/pnagent/pnagent/engine/plain"
	"github.com/pnagent/pnagent/engine/ready"
	"github.com/pnagent/pnagent/petri"
)

// defaultActions is how many actions may run at once by default.
const defaultActions = 1024

// share is which instances of a net a worker owns.
type share struct {
	first, stride, count int
	numbers              []int32 // instead, if not nil
}

// hire makes the workers with their shards, the instances as created.
func (e *Engine) hire(created int64) error {
	cfg := &e.cfg
	cfg.Actions = cmp.Or(cfg.Actions, defaultActions)
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	e.performers = &performers{limit: cfg.Actions}
	if err := e.ranks(); err != nil {
		return err
	}
	q := newQuota(cfg.Firings, cfg.Workers)
	for k := range cfg.Workers {
		w, err := e.newWorker(k, q, created)
		if err != nil {
			return err
		}
		e.workers = append(e.workers, w)
	}
	return nil
}

// declare fills in the transitions that the Config leaves to the nets, and
// checks all of them before the first token moves.
func (e *Engine) declare() error {
	nets := slices.Clone(e.cfg.Nets)
	var faults []error
	for k := range nets {
		n := &nets[k]
		var err error
		if n.Transitions == nil {
			n.Transitions, err = Declared(n.Tables)
		}
		if err == nil {
			err = CheckTransitions(n.Tables, n.Transitions)
		}
		faults = append(faults, err)
	}
	e.cfg.Nets = nets
	if err := errors.Join(faults...); err != nil {
		return fmt.Errorf("%w: %w", ErrConfig, err)
	}
	return nil
}

// ranks finds the priorities in use and, for the dedicated dispatcher, assigns
// each a worker.
func (e *Engine) ranks() error {
	cfg := &e.cfg
	if cfg.Dispatch == nil || cfg.Dispatch.Policy != ready.PolicyDedicated {
		return nil
	}
	owned := map[ready.Priority]bool{}
	for k := range cfg.Nets {
		for i := range cfg.Instances {
			p := cfg.Nets[k].priority(i)
			if p > ready.Highest {
				return fmt.Errorf("%w: net %q: instance %d has priority %d; expected 0 to %d", ErrConfig, cfg.Nets[k].Tables.Net.ID, i, p, ready.Highest)
			}
			owned[p] = true
			if cfg.Nets[k].Priority == nil {
				break
			}
		}
	}
	for p := range ready.Priority(ready.Priorities) {
		e.ranked[p] = -1
		if owned[p] {
			e.ranked[p] = len(e.dedicated)
			e.dedicated = append(e.dedicated, p)
		}
	}
	cfg.Workers = len(e.dedicated)
	return nil
}

func (n *NetConfig) priority(instance int) ready.Priority {
	if n.Priority == nil {
		return 0
	}
	return n.Priority(instance)
}

// owner returns the worker that owns an instance of a net.
func (e *Engine) owner(net, instance int) *worker {
	if e.dedicated != nil {
		return e.workers[e.ranked[e.cfg.Nets[net].priority(instance)]]
	}
	return e.workers[instance%len(e.workers)]
}

// shareOf returns which instances of a net a worker owns.
func (e *Engine) shareOf(worker, net int) share {
	cfg := &e.cfg
	if cfg.Part != nil && cfg.Part.Numbers != nil {
		return share{stride: 1, numbers: cfg.Part.Numbers}
	}
	if e.dedicated == nil {
		return share{first: worker, stride: cfg.Workers, count: (cfg.Instances - worker + cfg.Workers - 1) / cfg.Workers}
	}
	n := &cfg.Nets[net]
	if n.Priority == nil {
		if e.dedicated[worker] == 0 {
			return share{stride: 1, count: cfg.Instances}
		}
		return share{stride: 1}
	}
	s := share{stride: 1, numbers: []int32{}}
	for i := range cfg.Instances {
		if n.Priority(i) == e.dedicated[worker] {
			s.numbers = append(s.numbers, int32(i))
		}
	}
	return s
}

func (e *Engine) newWorker(k int, q *quota, created int64) (*worker, error) {
	cfg := &e.cfg
	w := &worker{calls: make(chan func(int64)), quota: q, left: q.share(k, cfg.Firings), clock: cfg.Clock, last: created,
		ended: make(chan struct{}), continues: make(chan struct{}, 1), recorder: e.recorder, batch: batch,
		events: e.newEvents(), nets: cfg.Nets, instances: cfg.Instances, name: e.InstanceName}
	if up := cfg.Part.upstream(); up > 0 {
		w.inbox, w.reached = newInbox(), make([]reach, up)
	}
	if cfg.Part != nil && cfg.Part.Group > 0 {
		w.batch = cfg.Part.Group
	}
	w.stage = stage{recorder: e.recorder, performers: e.performers, answers: newAnswers(), ongoing: map[runKey]*performance{},
		log: &failureLog{log: cfg.Log, name: e.InstanceName}}
	var discipline *ready.Discipline
	if cfg.Dispatch != nil {
		d, err := cfg.Dispatch.discipline()
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrConfig, err)
		}
		discipline = &d
		w.turns = turns{turn: ready.NewTurn(d), switches: make([][ready.Priorities]uint64, len(cfg.Nets))}
		if e.dedicated != nil {
			w.only = &e.dedicated[k]
		}
	}
	for i := range cfg.Nets {
		p, acts, err := e.newPlayer(&cfg.Nets[i], e.shareOf(k, i), discipline, created)
		if err != nil {
			return nil, err
		}
		acts.prefix = fmt.Sprintf("%s/%d/%d.%d.", cfg.Source, cfg.Clock(), k, i)
		w.shards, w.pending = append(w.shards, p), append(w.pending, pending{})
		w.urgent = w.urgent || p.HasUrgent()
		w.stage.nets = append(w.stage.nets, acts)
	}
	w.starters = e.starters(w, created)
	return w, nil
}

// newPlayer returns the player of a worker's share of a net, and its actions.
func (e *Engine) newPlayer(n *NetConfig, s share, d *ready.Discipline, created int64) (player, actions, error) {
	cfg := &e.cfg
	if n.plain() {
		shard, err := plain.New(plain.Config{Tables: n.Tables, Modes: n.modes(), First: s.first, Stride: s.stride, Count: s.count, Numbers: s.numbers,
			Seed: cfg.Seed, Shuffle: cfg.Shuffle, Log: cfg.Journal != nil, Dispatch: d, Priority: n.Priority, Part: cfg.Part.cut()}, created)
		return plainPlayer{shard}, actions{}, err
	}
	c := coloured.Config{Tables: n.Tables, Bindings: n.bindings(), First: s.first, Stride: s.stride, Count: s.count, Numbers: s.numbers,
		Seed: cfg.Seed, Shuffle: cfg.Shuffle, Log: cfg.Journal != nil, Priority: n.Priority, Bound: n.Bound, Merge: guard.Merge,
		Part: cfg.Part.cut(), Spare: e.spare(n)}
	if d != nil {
		c.Dispatch = *d
	}
	shard, err := coloured.New(c, created)
	if err != nil {
		return nil, actions{}, err
	}
	return colouredPlayer{shard}, actionsOf(n, cfg.Source, shard), nil
}

// spare returns which instances of a net do not begin by themselves; nil for none.
func (e *Engine) spare(n *NetConfig) func(number int) bool {
	for t := range n.Transitions {
		if tr := &n.Tables.Net.Transitions[t]; (tr.Trigger.Event.Kind != petri.EventNone || tr.Trigger.Begins) && begins(n.Tables, t) {
			first := e.cfg.Instances - e.cfg.Spare
			return func(number int) bool { return number >= first }
		}
	}
	return nil
}

func actionsOf(n *NetConfig, source string, shard *coloured.Shard) actions {
	a := actions{net: n.Tables.Net.ID, source: source, shard: shard, do: make([]action.Func, n.Tables.Transitions()), again: make([]bool, n.Tables.Transitions()),
		ids:    ids(n.Tables.Net.Transitions, func(t *petri.Transition) string { return t.ID }),
		places: placeIDs(n.Tables)}
	for i := range n.Transitions {
		a.do[i], a.again[i] = n.Transitions[i].Action, n.Transitions[i].Idempotent
	}
	return a
}

func ids[T any](nodes []T, id func(*T) string) []string {
	out := make([]string, len(nodes))
	for i := range nodes {
		out[i] = id(&nodes[i])
	}
	return out
}

// plain reports whether tokens alone decide what the net does.
func (n *NetConfig) plain() bool {
	for i := range n.Transitions {
		if !n.Transitions[i].plain() {
			return false
		}
	}
	return n.Tables.Plain()
}

// game names the token game that plays the net.
func (n *NetConfig) game() string {
	if n.plain() {
		return "plain"
	}
	return "coloured"
}

// modes returns the modes of a plain net's transitions.
func (n *NetConfig) modes() []plain.Mode {
	modes := make([]plain.Mode, n.Tables.Transitions())
	for i := range n.Transitions {
		modes[i] = n.Transitions[i].Mode
	}
	return modes
}

// bindings returns the bindings of a coloured net's transitions.
func (n *NetConfig) bindings() []coloured.Binding {
	bindings := make([]coloured.Binding, n.Tables.Transitions())
	for i := range n.Transitions {
		bindings[i] = n.Transitions[i].binding()
	}
	return bindings
}
