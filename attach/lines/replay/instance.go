// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"math"
	"slices"

	"github.com/pnagent/pnagent/stats"
)

// instance is the state of one open instance.
type instance struct {
	name         string
	runs         []run // of one place: oldest first
	last         int64 // time of its last event
	newer, older int32
}

// run is a number of tokens that arrived in a place at one time.
type run struct {
	injected int64
	place    int32
	n        uint32
}

// maxRuns bounds the runs of one instance. Beyond it, tokens share the time of
// the last tokens that arrived in their place, and so appear older than they
// are.
const maxRuns = 4096

// push adds tokens, and reports whether they kept their time.
func (in *instance) push(place int32, n uint32, at int64) bool {
	crowded := len(in.runs) >= maxRuns
	for k := len(in.runs) - 1; k >= 0; k-- {
		if q := &in.runs[k]; q.place == place {
			if q.injected == at || crowded {
				q.n += n
				return q.injected == at
			}
			break
		}
	}
	in.runs = append(in.runs, run{injected: at, place: place, n: n})
	return true
}

func (r *Replay) unlink(i int32) {
	in := &r.all[i]
	if in.newer == none {
		r.newest = in.older
	} else {
		r.all[in.newer].older = in.older
	}
	if in.older == none {
		r.oldest = in.newer
	} else {
		r.all[in.older].newer = in.newer
	}
}

// link makes an instance the last one in the order of events.
func (r *Replay) link(i int32) {
	in := &r.all[i]
	in.newer, in.older = none, r.newest
	if r.newest == none {
		r.oldest = i
	} else {
		r.all[r.newest].newer = i
	}
	r.newest = i
}

// mark sets r.marking to that of an instance.
func (r *Replay) mark(in *instance) {
	for k := range in.runs {
		r.marking[in.runs[k].place] += in.runs[k].n
	}
}

func (r *Replay) unmark(i int32) {
	for k := range r.all[i].runs {
		r.marking[r.all[i].runs[k].place] = 0
	}
}

// repair counts the tokens that a transition lacks as missing. Those that it takes
// are consumed at once: they were never seen in their place, so they neither arrive
// nor leave, and have no dwell. It returns those that it only reads, which are in
// their place from the firing on.
func (r *Replay) repair(transition int) (kept []held) {
	for _, c := range r.tables.Conds(transition) {
		if m := r.marking[c.Place]; m < c.Lo {
			take := r.takes(transition, c.Place)
			consumed := min(c.Lo-m, take-min(take, m))
			r.lack(consumed)
			r.Counts.Missing += uint64(c.Lo - m - consumed)
			kept = append(kept, held{c.Place, c.Lo - m - consumed})
		}
	}
	j := r.tables.Join(transition)
	if j != nil && !slices.ContainsFunc(j.Places, func(p int32) bool { return r.marking[p] > 0 }) {
		r.lack(1)
	}
	return kept
}

// lack counts tokens that were missing and are consumed.
func (r *Replay) lack(n uint32) {
	r.Counts.Missing += uint64(n)
	r.Counts.Consumed += uint64(n)
}

// takes returns the most tokens that a firing takes from a place.
func (r *Replay) takes(transition int, place int32) uint32 {
	for _, e := range r.tables.Effects(transition) {
		switch {
		case e.Place != place:
		case e.Reset:
			return math.MaxUint32
		default:
			return e.Take
		}
	}
	return 0
}

// fire moves the tokens of a firing after repair.
func (r *Replay) fire(in *instance, s step, at int64) {
	effects, split := r.tables.Effects(int(s.transition)), r.tables.Branches(int(s.transition))
	for k := range effects {
		e := &effects[k]
		n := min(e.Take, r.marking[e.Place])
		if e.Reset {
			n = r.marking[e.Place]
		}
		if n > 0 {
			r.take(in, e.Place, n, at)
		}
	}
	for k := range effects {
		if e := &effects[k]; e.Put > 0 {
			r.Counts.Produced += uint64(e.Put)
			r.put(in, e.Place, e.Put, at)
		}
	}
	for k := range split {
		if s.branches>>k&1 != 0 {
			r.Counts.Produced += uint64(split[k].Put)
			r.put(in, split[k].Place, split[k].Put, at)
		}
	}
	r.rec.Fired(int(s.transition), at)
}

// overflows reports whether a firing might overflow a place. It ignores the
// tokens that the firing takes, because real markings are far below the limit.
func (r *Replay) overflows(s step) bool {
	effects, split := r.tables.Effects(int(s.transition)), r.tables.Branches(int(s.transition))
	for k := range effects {
		e := &effects[k]
		if e.Put > 0 && uint64(r.marking[e.Place])+uint64(e.Put) > math.MaxUint32 {
			return true
		}
	}
	for k := range split {
		if s.branches>>k&1 != 0 && uint64(r.marking[split[k].Place])+uint64(split[k].Put)*uint64(len(split)) > math.MaxUint32 {
			return true
		}
	}
	return false
}

func (r *Replay) put(in *instance, place int32, n uint32, at int64) {
	if n == 0 {
		return
	}
	if !in.push(place, n, at) {
		r.Counts.Blurred++
	}
	r.marking[place] += n
	r.rec.Arrived(int(place), at)
}

// take removes the n oldest tokens of a place, which holds as many.
func (r *Replay) take(in *instance, place int32, n uint32, at int64) {
	r.Counts.Consumed += uint64(n)
	r.marking[place] -= n
	kept := 0
	for k := range in.runs {
		q := in.runs[k]
		if q.place == place && n > 0 {
			gone := min(n, q.n)
			n, q.n = n-gone, q.n-gone
			r.leave(in, place, q.injected, at, gone)
		}
		if q.n > 0 {
			in.runs[kept] = q
			kept++
		}
	}
	in.runs = in.runs[:kept]
}

// leave counts tokens that left a place. It keeps the name of the slowest one's
// instance, which may be dropped before the next snapshot.
func (r *Replay) leave(in *instance, place int32, injected, at int64, n uint32) {
	if n == 1 {
		r.rec.Left(int(place), 0, injected, at)
	} else {
		r.rec.LeftMany(int(place), 0, injected, at, uint64(n))
	}
	s := &r.slowest[place]
	if d := at - injected; d > s.Micros || d == s.Micros && d > 0 && at > s.At {
		*s = stats.Slowest{Instance: in.name, Micros: d, At: at}
	}
}
