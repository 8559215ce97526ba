// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"math"
	"slices"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
)

// Config configures a Replay.
type Config struct {
	Tables *petri.Tables
	Silent []bool // by transition: it has no events; nil for none
	// Labels are the events that may be one of several transitions, see FireLabel.
	Labels [][]int32
	// AnyEnd is set for a process in which any number of tokens in final places is a
	// proper end. See the package comment for the final markings of other nets.
	AnyEnd bool
	// EndsByEvent is set if every instance ends by a call of End. Otherwise an
	// instance ends as soon as all its tokens are in final places.
	EndsByEvent bool
	// Limit bounds the open instances, and is at least 1. A new instance beyond
	// it replaces the one whose last event is oldest.
	Limit int
	// Search bounds the markings of one search for silent transitions.
	Search int
}

// Counts are the counts of a Replay since its start.
type Counts struct {
	Events  uint64 // firings and tokens put or taken; ends of instances do not count
	Unfit   uint64 // events that the marking did not allow
	Silent  uint64 // firings of silent transitions
	Late    uint64 // events older than the last one of their instance: applied with its time
	Refused uint64 // events that would overflow a place, or end an instance that is not open: not applied
	Evicted uint64 // open instances that made room for others
	Greedy  uint64 // events with several explanations, of which the search for the cheapest exceeded its bound
	Blurred uint64 // token arrivals that got the time of an earlier one, see maxRuns

	Produced, Consumed, Missing, Remaining uint64 // tokens, see the package comment
}

// Fitness returns 1 if every event fitted and every instance reached its end.
func (c *Counts) Fitness() float64 {
	share := func(bad, all uint64) float64 {
		if all == 0 {
			return 0
		}
		return float64(bad) / float64(all)
	}
	return 0.5*(1-share(c.Missing, c.Consumed)) + 0.5*(1-share(c.Remaining, c.Produced))
}

// Replay holds the open instances of one net and the counts.
type Replay struct {
	cfg    Config
	tables *petri.Tables
	quiet  quiet
	Counts Counts

	rec     *stats.Recorder
	before  *stats.Rows     // unpublished counts of the previous process
	sent    *stats.Rows     // published counts
	slowest []stats.Slowest // by place, since TakeSlowest
	gone    []uint64        // by place: tokens that arrived and were dropped with their instance

	byName         map[string]int32
	all            []instance
	free           []int32
	newest, oldest int32 // the ends of the list of open instances, ordered by their last event

	marking []uint32  // by place, of the present instance; zeros between events
	users   [][]int32 // by place: the transitions that need it
	each    []int32   // all transitions
	end     []bool    // by place: it is final
	someEnd bool      // some place is final
	finals  []marking // the final markings; nil if any tokens in final places are one
}

// none is no instance.
const none int32 = -1

// New returns a Replay without instances.
func New(cfg Config) *Replay {
	t := cfg.Tables
	if cfg.Silent == nil {
		cfg.Silent = make([]bool, t.Transitions())
	}
	r := &Replay{
		cfg: cfg, tables: t, rec: stats.NewRecorder(t.Places(), t.Transitions()), before: stats.NewRows(t.Places(), t.Transitions()), sent: stats.NewRows(t.Places(), t.Transitions()),
		slowest: make([]stats.Slowest, t.Places()), gone: make([]uint64, t.Places()), byName: map[string]int32{}, newest: none, oldest: none,
		marking: make([]uint32, t.Places()), users: make([][]int32, t.Places()), end: make([]bool, t.Places()),
	}
	for tr := range t.Transitions() {
		r.each = append(r.each, int32(tr))
	}
	r.findUsers()
	r.quiet = newQuiet(t, cfg.Silent, r.end)
	return r
}

// findUsers sets the transitions that need each place, and the final places.
func (r *Replay) findUsers() {
	for tr := range r.tables.Transitions() {
		for _, p := range inputs(r.tables, tr) {
			if !slices.Contains(r.users[p], int32(tr)) {
				r.users[p] = append(r.users[p], int32(tr))
			}
		}
	}
	for p := range r.end {
		r.end[p] = r.tables.Final(p)
	}
	r.someEnd = slices.Contains(r.end, true)
	r.finals = finalMarkings(r.tables, r.end, r.cfg.AnyEnd)
}

// Open returns the number of open instances.
func (r *Replay) Open() int { return len(r.byName) }

// Fire applies the firing of a transition in an instance. It reports whether
// the marking allowed it.
func (r *Replay) Fire(name []byte, transition int, at int64) (fit bool) {
	return r.FireLabel(name, int32(transition), nil, at)
}

// FireLabel applies an event in an instance: a transition or, from the number of
// transitions on, an element of Config.Labels. next are the labels of the events
// that follow in the instance as far as they are known, at most Ahead of them are
// used, and then EndsNext if it ends there. It reports whether the marking allowed
// the event.
func (r *Replay) FireLabel(name []byte, label int32, next []int32, at int64) (fit bool) {
	r.Counts.Events++
	i, at := r.touch(name, at)
	in := &r.all[i]
	r.mark(in)
	defer r.unmark(i)
	transition, fit := r.choose(in, r.candidates(label), next, at)
	if !fit {
		r.Counts.Unfit++
	}
	s := step{transition: int32(transition), branches: r.branches(transition)}
	if r.overflows(s) {
		r.Counts.Refused++
		return fit
	}
	var kept []held
	if !fit {
		kept = r.repair(transition)
	}
	r.fire(in, s, at)
	for _, h := range kept {
		r.put(in, h.place, h.tokens, at)
	}
	r.finish(i, at)
	return fit
}

// Ambiguous reports whether an event of the net may have several explanations.
func (r *Replay) Ambiguous() bool { return len(r.cfg.Labels) > 0 || len(r.quiet.steps) > 0 }

// candidates returns the transitions of a label.
func (r *Replay) candidates(label int32) []int32 {
	if transitions := int32(r.tables.Transitions()); label >= transitions {
		return r.cfg.Labels[label-transitions]
	}
	return r.each[label : label+1]
}

// choose returns the transition that explains an event, fires the silent ones
// before it, and reports whether it is enabled then.
func (r *Replay) choose(in *instance, candidates, next []int32, at int64) (transition int, fit bool) {
	alone := len(candidates) == 1
	if alone && r.tables.EnabledIn(r.marking, int(candidates[0])) {
		return int(candidates[0]), true
	}
	next = next[:min(len(next), Ahead)]
	transition, way := r.greedy(r.marking, candidates)
	fit = way != nil || r.tables.EnabledIn(r.marking, transition)
	if alone && !fit || fit && (len(next) == 0 || r.plays(transition, way, next)) {
		r.walkAlong(in, way, at)
		return transition, fit
	}
	if t, way, ok := r.align(candidates, next); ok {
		r.walkAlong(in, way, at)
		return t, r.tables.EnabledIn(r.marking, t)
	}
	r.Counts.Greedy++
	r.walkAlong(in, way, at)
	return transition, fit
}

// greedy returns the first candidate that is enabled in a marking, or the first that
// the silent transitions of way enable, or else the one that lacks the fewest tokens.
func (r *Replay) greedy(marking []uint32, candidates []int32) (transition int, way []step) {
	for _, t := range candidates {
		if r.tables.EnabledIn(marking, int(t)) {
			return int(t), nil
		}
	}
	for _, t := range candidates {
		if way := r.wayToEnable(marking, int(t)); way != nil {
			return int(t), way
		}
	}
	fewest := uint64(math.MaxUint64)
	for _, t := range candidates {
		if n := r.lacks(slices.Clone(marking), int(t)); n < fewest {
			transition, fewest = int(t), n
		}
	}
	return transition, nil
}

// plays reports whether the greedy choice for an event explains the events that
// follow it as well, without a missing or remaining token.
func (r *Replay) plays(transition int, way []step, next []int32) bool {
	marking := slices.Clone(r.marking)
	for _, label := range next {
		r.play(marking, transition, way)
		if label == EndsNext {
			return r.ends(marking)
		}
		transition, way = r.greedy(marking, r.candidates(label))
		if way == nil && !r.tables.EnabledIn(marking, transition) {
			return false
		}
	}
	return true
}

// play fires silent steps and then a transition in a marking.
func (r *Replay) play(marking []uint32, transition int, way []step) {
	for _, s := range way {
		r.apply(marking, s)
	}
	r.apply(marking, step{int32(transition), r.branches(transition)})
}

// ends reports whether an instance with a marking can end without a missing or
// remaining token.
func (r *Replay) ends(marking []uint32) bool {
	if r.finals != nil {
		return r.final(marking) || r.way(marking, r.quiet.steps, r.final) != nil
	}
	return r.allFinished(marking) || r.way(marking, r.quiet.steps, r.allFinished) != nil
}

// branches returns the branches that an inclusive split with an event takes.
func (r *Replay) branches(transition int) uint64 {
	always, guarded, otherwise := r.tables.BranchMasks(transition)
	if always|guarded == 0 {
		return otherwise
	}
	return always | guarded
}

// Put applies the arrival of n tokens in a place of an instance from outside,
// or for a negative n the departure of -n. Departing tokens that the place does
// not hold are missing.
func (r *Replay) Put(name []byte, place int, n int64, at int64) (fit bool) {
	r.Counts.Events++
	i, at := r.touch(name, at)
	in := &r.all[i]
	r.mark(in)
	defer r.unmark(i)
	p := int32(place)
	fit = true
	if n >= 0 {
		if uint64(r.marking[p])+uint64(n) > math.MaxUint32 {
			r.Counts.Refused++
			return true
		}
		r.put(in, p, uint32(n), at)
		r.Counts.Produced += uint64(n)
	} else {
		take := uint32(min(-max(n, -math.MaxUint32), math.MaxUint32))
		lacks := take - min(take, r.marking[p])
		if fit = lacks == 0; !fit {
			r.Counts.Unfit++
			r.lack(lacks)
		}
		r.take(in, p, take-lacks, at)
	}
	r.finish(i, at)
	return fit
}

// End ends an instance and drops its state. Its tokens outside of final places remained.
func (r *Replay) End(name []byte, at int64) {
	i, open := r.byName[string(name)]
	if !open {
		r.Counts.Refused++
		return
	}
	_, at = r.touch(name, at)
	r.mark(&r.all[i])
	if in := &r.all[i]; !r.atEnd(in) && !r.final(r.marking) {
		r.quietlyToEnd(in, at)
	}
	r.unmark(i)
	r.close(i)
}

// touch returns the instance with a name, or starts a new one. It also returns
// the time of the event, which is not before the instance's last one.
func (r *Replay) touch(name []byte, at int64) (int32, int64) {
	i, open := r.byName[string(name)]
	if !open {
		return r.begin(string(name), at), at
	}
	in := &r.all[i]
	if at < in.last {
		r.Counts.Late++
		at = in.last
	}
	in.last = at
	if r.newest != i {
		r.unlink(i)
		r.link(i)
	}
	return i, at
}

// begin starts an instance at the initial marking.
func (r *Replay) begin(name string, at int64) int32 {
	if len(r.byName) >= r.cfg.Limit {
		r.Counts.Evicted++
		r.forget(r.oldest)
	}
	i := r.slot(name, at)
	r.rec.Net.Created++
	in := &r.all[i]
	for p, n := range r.tables.Initial {
		if n > 0 {
			in.push(int32(p), n, at)
			r.rec.Arrived(p, at)
			r.Counts.Produced += uint64(n)
		}
	}
	return i
}

func (r *Replay) slot(name string, at int64) int32 {
	i := int32(len(r.all))
	if k := len(r.free); k > 0 {
		i, r.free = r.free[k-1], r.free[:k-1]
	} else {
		r.all = append(r.all, instance{})
	}
	in := &r.all[i]
	in.name, in.last, in.runs = name, at, in.runs[:0]
	r.byName[name] = i
	r.link(i)
	return i
}

// finish closes an instance that has reached its end, unless Config.EndsByEvent
// is set.
func (r *Replay) finish(i int32, at int64) {
	if r.cfg.EndsByEvent {
		return
	}
	in := &r.all[i]
	over := r.atEnd(in) || r.onlyQuiet(in) && r.quietlyToEnd(in, at)
	if !over {
		return
	}
	r.unmark(i)
	r.close(i)
}

// close ends an instance and counts its tokens.
func (r *Replay) close(i int32) {
	runs := r.all[i].runs
	elsewhere := slices.ContainsFunc(runs, func(q run) bool { return !r.end[q.place] })
	end := r.ending(runs)
	if elsewhere && (r.finals == nil || end.missing+end.remaining > 0) {
		r.rec.Net.Failed++
	} else {
		r.rec.Net.Finished++
	}
	r.Counts.Consumed += end.consumed
	r.Counts.Missing += end.missing
	r.Counts.Remaining += end.remaining
	r.forget(i)
}

// maxSpare bounds the memory of a dropped instance that is reused, in runs.
const maxSpare = 16

func (r *Replay) forget(i int32) {
	in := &r.all[i]
	r.unlink(i)
	delete(r.byName, in.name)
	for _, q := range in.runs {
		r.gone[q.place] += uint64(q.n)
	}
	in.name = ""
	if in.runs = in.runs[:0]; cap(in.runs) > maxSpare {
		in.runs = nil
	}
	r.free = append(r.free, i)
}

// atEnd reports whether the marked instance is at its end: all of its tokens
// are in final places, and no transition that reads them is enabled.
func (r *Replay) atEnd(in *instance) bool {
	return !slices.ContainsFunc(in.runs, func(x run) bool { return !r.finished(r.marking, x.place) })
}

// finished reports whether no transition can use the tokens of a place in a marking.
func (r *Replay) finished(marking []uint32, place int32) bool {
	return r.end[place] && !slices.ContainsFunc(r.users[place], func(tr int32) bool { return r.tables.EnabledIn(marking, int(tr)) })
}
