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
	Events  uint64 // of all kinds
	Unfit   uint64 // events that the marking did not allow
	Silent  uint64 // firings of silent transitions
	Late    uint64 // events older than the last one of their instance: applied with its time
	Refused uint64 // events that would overflow a place, or end an instance that is not open: not applied
	Evicted uint64 // open instances that made room for others
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
	end     []bool    // by place: it is final
	ends    bool      // some place is final
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
	r.ends = slices.Contains(r.end, true)
}

// Open returns the number of open instances.
func (r *Replay) Open() int { return len(r.byName) }

// Fire applies the firing of a transition in an instance. It reports whether
// the marking allowed it.
func (r *Replay) Fire(name []byte, transition int, at int64) (fit bool) {
	r.Counts.Events++
	i, at := r.touch(name, at)
	in := &r.all[i]
	r.mark(in)
	defer r.unmark(i)
	fit = r.enabled(r.marking, transition)
	if !fit {
		fit = r.quietly(in, transition, at)
	}
	if !fit {
		r.Counts.Unfit++
		r.repair(in, transition, at)
	}
	if !r.fire(in, step{transition: int32(transition), branches: r.branches(transition)}, at) {
		r.Counts.Refused++
		return fit
	}
	r.finish(i, at)
	return fit
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
	if n >= 0 {
		if uint64(r.marking[p])+uint64(n) > math.MaxUint32 {
			r.Counts.Refused++
			return true
		}
		r.put(in, p, uint32(n), at)
		r.Counts.Produced += uint64(n)
	} else {
		take := uint32(min(-max(n, -math.MaxUint32), math.MaxUint32))
		if lacks := take - min(take, r.marking[p]); lacks > 0 {
			r.Counts.Unfit++
			r.add(in, p, lacks, at)
			defer func() { fit = false }()
		}
		r.take(in, p, take, at)
	}
	r.finish(i, at)
	return true
}

// End ends an instance and drops its state. Its tokens outside of final places remained.
func (r *Replay) End(name []byte, at int64) {
	r.Counts.Events++
	i, open := r.byName[string(name)]
	if !open {
		r.Counts.Refused++
		return
	}
	_, at = r.touch(name, at)
	r.mark(&r.all[i])
	if !r.atEnd(&r.all[i]) {
		r.quietlyToEnd(&r.all[i], at)
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
	var came, remained uint64
	for _, q := range r.all[i].runs {
		if r.end[q.place] {
			came += uint64(q.n)
		} else {
			remained += uint64(q.n)
		}
	}
	if came == 0 && r.ends {
		r.Counts.Missing++
		came = 1
	}
	if remained == 0 {
		r.rec.Net.Finished++
	} else {
		r.rec.Net.Failed++
	}
	r.Counts.Consumed += came
	r.Counts.Remaining += remained
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
	for k := range in.runs {
		if !r.finished(r.marking, in.runs[k].place) {
			return false
		}
	}
	return true
}

// finished reports whether no transition can use the tokens of a place in a marking.
func (r *Replay) finished(marking []uint32, place int32) bool {
	return r.end[place] && !slices.ContainsFunc(r.users[place], func(tr int32) bool { return r.enabled(marking, int(tr)) })
}
