// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/pnagent/pnagent/engine/coloured"
	"github.com/pnagent/pnagent/engine/internal/shard"
	"github.com/pnagent/pnagent/engine/plain"
	"github.com/pnagent/pnagent/engine/ready"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
)

// ErrLimit is wrapped by the error of a run that reached a bound.
var ErrLimit = errors.New("beyond a limit")

// ErrStopped is the error of a study that its caller stopped.
var ErrStopped = errors.New("stopped")

const (
	budget      = 4096    // firings between two looks at what actions began
	mostAtOnce  = 500_000 // firings at one time: more is a loop in which no time passes
	checkEvery  = 1 << 16 // firings between two counts of the tokens
	mostRunning = 65535   // runs in an instance
)

// player is a shard of package plain or coloured.
type player interface {
	Step(budget int, now int64) int
	Urge(now int64) int
	NextDue() (int64, bool)
	Look(now int64, name func(number int) string, rows *stats.Rows)
}

// unit is a shard and what the run knows of it.
type unit struct {
	player
	coloured *coloured.Shard // nil for plain
	cases    []int64         // with arrivals, by instance: when its case arrived
	numbers  []int           // and the number of the case
	free     []int32         // and the instances without a case, the next one last
	stirred  bool
}

// run is one run of a model.
type run struct {
	m       *Model
	tables  *petri.Tables // of the shards: without initial marking if cases arrive
	limits  Limits
	start   int64
	last    int64 // when something last happened
	now     int64
	seed    uint64
	draw    []*rand.Rand // by transition, so that runs with other pools have the same durations
	arrive  *rand.Rand
	units   []*unit
	pools   []pool
	working map[runKey]int // the pool of the member that works
	agenda  agenda
	next    int64 // arrival; 0 for none
	cases   cases
	fired   int
	atOnce  int // of them, at this time
	checked int // of them, when tokens were last counted
	lost    uint64
	fault   string // the first reason of a transition that failed
}

// cases are what is counted of cases.
type cases struct {
	started, ended uint64
	active         level
	times          stats.Histogram
}

func newRun(m *Model, o *Options, seed uint64) (*run, error) {
	r := &run{m: m, tables: m.Tables, limits: o.Limits, start: o.Start, last: o.Start, now: o.Start, seed: seed, working: map[runKey]int{}, draw: make([]*rand.Rand, len(m.Transitions))}
	for i := range r.draw {
		s := shard.NewStream(seed, uint64(i)+2)
		r.draw[i] = rand.New(&s)
	}
	s := shard.NewStream(seed, 1)
	r.arrive = rand.New(&s)
	for _, p := range m.Pools {
		r.pools = append(r.pools, pool{free: p.Size, waiting: map[runKey]int64{}, level: level{at: o.Start}, queue: level{at: o.Start}})
	}
	r.cases.active.at = o.Start
	if m.Arrivals == nil {
		return r, r.add(m.Instances)
	}
	net := *m.Tables.Net
	net.Places = append([]petri.Place(nil), net.Places...)
	for p := range net.Places {
		net.Places[p].Initial = 0
	}
	tables, err := petri.Compile(&net)
	if err != nil {
		return nil, err
	}
	r.tables, r.next = tables, r.now+m.Arrivals.Draw(r.arrive)
	return r, nil
}

// add adds a shard with a number of instances.
func (r *run) add(instances int) error {
	first, u := 0, &unit{stirred: true}
	for _, other := range r.units {
		first += len(other.cases)
	}
	if r.m.plain() {
		modes := make([]plain.Mode, len(r.m.Transitions))
		for i := range modes {
			modes[i] = r.m.Transitions[i].Binding.Mode
			if d, ok := r.m.Transitions[i].Delay.(plain.Delay); ok {
				modes[i].Delay = d
			}
		}
		s, err := plain.New(plain.Config{Tables: r.tables, Modes: modes, Stride: 1, Count: instances, Seed: r.seed}, r.now)
		u.player = s
		r.units = append(r.units, u)
		return err
	}
	weights := r.m.weights()
	cfg := coloured.Config{Tables: r.tables, Bindings: r.bindings(), First: first, Stride: 1, Count: instances, Seed: r.seed,
		Shuffle: weights != nil, Weights: weights, Running: mostRunning, Merge: r.m.Merge}
	if r.m.Arrivals != nil {
		u.cases, u.numbers = make([]int64, instances), make([]int, instances)
		for i := range instances {
			u.free = append(u.free, int32(instances-1-i))
		}
		cfg.Ended = func(i int, now int64) { r.end(u, i, now) }
	}
	s, err := coloured.New(cfg, r.now)
	u.player, u.coloured = s, s
	r.units = append(r.units, u)
	return err
}

// bindings returns those of the shard: a delay is drawn here, and one with a pool is an action.
func (r *run) bindings() []coloured.Binding {
	out := make([]coloured.Binding, len(r.m.Transitions))
	for i := range out {
		t := &r.m.Transitions[i]
		out[i] = t.Binding
		switch {
		case t.Pool != NoPool:
			out[i].Action, out[i].Mode = true, plain.Mode{}
		case t.Delay != nil:
			out[i].Mode = plain.Mode{Kind: plain.Delayed}
			out[i].Due = func(since int64) int64 { return since + t.Delay.Draw(r.draw[i]) }
		}
	}
	return out
}

// until plays up to a time, and including it.
func (r *run) until(end int64, stop func() bool) error {
	for {
		if err := r.play(stop); err != nil {
			return err
		}
		at, ok := r.due()
		if !ok || at > end {
			r.now = end
			return nil
		}
		if at > r.now {
			r.now, r.last, r.atOnce = at, at, 0
		}
		if err := r.happen(); err != nil {
			return err
		}
	}
}

// due returns the next time at which something happens, if anything does.
func (r *run) due() (at int64, ok bool) {
	sooner := func(t int64) {
		if !ok || t < at {
			at, ok = t, true
		}
	}
	for _, u := range r.units {
		if t, planned := u.NextDue(); planned {
			sooner(t)
		}
	}
	if len(r.agenda.heap) > 0 {
		sooner(r.agenda.heap[0].at)
	}
	if r.next > 0 {
		sooner(r.next)
	}
	return at, ok
}

// happen ends the work and has the cases arrive that are due.
func (r *run) happen() error {
	for len(r.agenda.heap) > 0 && r.agenda.heap[0].at <= r.now {
		e := r.agenda.take()
		if _, works := r.working[e.key]; !works {
			continue // it was cancelled
		}
		delete(r.working, e.key)
		u := r.units[e.key.unit]
		if err := u.coloured.Done(e.key.run, coloured.Outcome{}, r.now); err != nil {
			r.failed(err)
		}
		u.stirred = true
		u.Urge(r.now)
		r.released(e.pool)
	}
	for r.next > 0 && r.next <= r.now {
		if err := r.begin(); err != nil {
			return err
		}
		r.next += max(r.m.Arrivals.Draw(r.arrive), 0)
	}
	return nil
}

// begin begins a case in a free instance.
func (r *run) begin() error {
	k := len(r.units) - 1
	for k >= 0 && len(r.units[k].free) == 0 {
		k--
	}
	if k < 0 {
		instances := 256 << len(r.units)
		if r.cases.active.n+instances > MaxInstances {
			return fmt.Errorf("%w: more than %d cases at one time", ErrLimit, r.cases.active.n)
		}
		if err := r.add(instances); err != nil {
			return err
		}
		k = len(r.units) - 1
	}
	u := r.units[k]
	i := int(u.free[len(u.free)-1])
	u.free = u.free[:len(u.free)-1]
	u.cases[i], u.numbers[i] = r.now, int(r.cases.started)
	r.cases.started++
	r.cases.active.add(1, r.now)
	for _, p := range r.m.initial() {
		if err := u.coloured.Inject(i, p, nil, r.m.Tables.Initial[p], r.now); err != nil {
			return err
		}
	}
	u.stirred = true
	u.Urge(r.now)
	return nil
}

// end ends the case of an instance.
func (r *run) end(u *unit, i int, now int64) {
	r.cases.ended++
	r.cases.active.add(-1, now)
	r.cases.times.Observe(now - u.cases[i])
	u.cases[i] = 0
	u.free = append(u.free, int32(i))
}

// play fires what is enabled and due now in every unit.
func (r *run) play(stop func() bool) error {
	for k, u := range r.units {
		at, ok := u.NextDue()
		if due := ok && at <= r.now; !due && !u.stirred {
			continue
		}
		u.stirred = false
		for more := true; more; {
			n := u.Step(budget, r.now)
			n += u.Urge(r.now)
			r.fired, r.atOnce = r.fired+n, r.atOnce+n
			more = n >= budget
			if u.coloured != nil {
				more = r.follow(k, u) || more
			}
			if err := r.bounded(stop); err != nil {
				return err
			}
		}
	}
	return nil
}

// follow takes what a shard hands out: actions that begin and end, events, faults. It reports
// whether the shard may have more to do.
func (r *run) follow(k int, u *unit) (more bool) {
	done := u.coloured.Ready()
	for i := range done.Starts {
		r.ask(k, &done.Starts[i])
	}
	for _, id := range done.Stops {
		r.cancelled(runKey{k, id})
	}
	if n := len(done.Thrown); n > 0 {
		r.lost += uint64(n)
		more = true
	}
	for _, f := range done.Faults {
		r.failed(f.Err)
	}
	return more
}

func (r *run) failed(err error) {
	if r.fault == "" {
		r.fault = err.Error()
	}
}

// ask asks a pool for a member.
func (r *run) ask(unit int, s *coloured.Start) {
	p := r.m.Transitions[s.Transition].Pool
	number := s.Instance
	if u := r.units[unit]; u.cases != nil {
		i, _ := u.coloured.Index(s.Instance) // it is of this shard
		number = u.numbers[i]
	}
	q := request{key: runKey{unit, s.Run}, transition: s.Transition, since: r.now}
	priority := ready.Priority(0)
	if r.m.Priority != nil {
		priority = r.m.Priority(number)
	}
	if q, ok := r.pools[p].ask(q, priority, r.now); ok {
		r.work(p, q)
	}
}

// work has a member of a pool do what was requested.
func (r *run) work(p int, q request) {
	r.working[q.key] = p
	t := q.transition
	r.agenda.plan(event{at: r.now + r.m.Transitions[t].Delay.Draw(r.draw[t]), key: q.key, pool: p})
}

// released makes a member of a pool free for the next request.
func (r *run) released(p int) {
	r.pools[p].release(r.now)
	if q, ok := r.pools[p].begin(r.now); ok {
		r.work(p, q)
	}
}

// cancelled ends a run that ends without its transition firing.
func (r *run) cancelled(key runKey) {
	if p, works := r.working[key]; works {
		delete(r.working, key)
		r.released(p)
		return
	}
	for k := range r.pools {
		if _, waits := r.pools[k].waiting[key]; waits {
			r.pools[k].leave(key, r.now)
		}
	}
}

// bounded returns an error if the run has reached a limit.
func (r *run) bounded(stop func() bool) error {
	switch {
	case r.atOnce > mostAtOnce:
		return fmt.Errorf("%w: %d firings in net %q while no time passes; expected a delay in each loop", ErrLimit, r.atOnce, r.m.Tables.Net.ID)
	case r.fired > r.limits.Firings:
		return fmt.Errorf("%w: more than %d firings in a run", ErrLimit, r.limits.Firings)
	case r.fired-r.checked < checkEvery:
		return nil
	}
	r.checked = r.fired
	if stop() {
		return ErrStopped
	}
	rows := r.look()
	total, most := uint64(0), 0
	for p := range rows.Places {
		total += rows.Places[p].Tokens
		if rows.Places[p].Tokens > rows.Places[most].Tokens && !r.m.Tables.Final(p) {
			most = p
		}
	}
	if total > uint64(r.limits.Tokens) {
		return fmt.Errorf("%w: more than %d tokens in a run, most of them in place %q", ErrLimit, r.limits.Tokens, r.m.Tables.Net.Places[most].ID)
	}
	return nil
}

// look returns the rows of all units as of now.
func (r *run) look() *stats.Rows {
	rows := stats.NewRows(r.tables.Places(), r.tables.Transitions())
	for _, u := range r.units {
		u.Look(r.now, func(int) string { return "" }, rows)
	}
	return rows
}
