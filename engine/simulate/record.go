// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"math"

	"github.com/pnagent/pnagent/stats"
)

const (
	second = 1e6
	hour   = 3600 * second
	day    = 24 * hour
)

// mark is what was counted up to a time. Two of them make the figures of the time between.
type mark struct {
	at     int64
	places []placeMark
	fired  []uint64
	pools  []poolMark
	cases  flow
	net    stats.NetRow
}

// flow is what came into a place, a pool or the net, and what left it again.
type flow struct {
	in, out uint64
	area    float64 // the time of all that was there, microseconds
	stays   stats.Histogram
}

type placeMark struct {
	flow
	tokens uint64
	oldest int64
	ages   stats.Ladder
}

type poolMark struct {
	flow
	atOnce  uint64
	working float64 // microseconds
}

// mark returns what was counted up to now.
func (r *run) mark() *mark {
	rows := r.look()
	m := &mark{at: r.now, net: rows.Net}
	for p := range rows.Places {
		row := &rows.Places[p]
		area := float64(row.Dwell.Sum)
		if row.Tokens > 0 {
			area += float64(row.Tokens) * float64(r.now-row.Injected.Mean(row.Tokens))
		}
		m.places = append(m.places, placeMark{flow{row.Arrivals, row.Departures, area, row.Dwell}, row.Tokens, row.Oldest, row.Ages})
	}
	for t := range rows.Transitions {
		m.fired = append(m.fired, rows.Transitions[t].Firings)
	}
	for k := range r.pools {
		p := &r.pools[k]
		waits := p.waits
		waits.Buckets = append([]stats.Bucket(nil), waits.Buckets...)
		m.pools = append(m.pools, poolMark{flow{p.asked, p.started, p.queue.upTo(r.now), waits}, p.atOnce, p.level.upTo(r.now)})
	}
	times := r.cases.times
	times.Buckets = append([]stats.Bucket(nil), times.Buckets...)
	m.cases = flow{r.cases.started, r.cases.ended, r.cases.active.upTo(r.now), times}
	return m
}

// Flow are the figures of what comes, stays and leaves: float64 of one run, Estimate of all.
type Flow[T any] struct {
	In     T `json:"in_per_hour"`
	Out    T `json:"out_per_hour"`
	Held   T `json:"held"`             // on average
	Stay   T `json:"stay_seconds"`     // the mean: the time of all that was there, divided by what left
	Median T `json:"stay_p50_seconds"` // with the time so far of what is still there
	High   T `json:"stay_p95_seconds"`
	Stuck  T `json:"stuck_share"` // of the stays, those that are longer than Options.Stuck
	Left   T `json:"left"`        // still there at the end
	Oldest T `json:"left_oldest_seconds"`
	Growth T `json:"growth_per_day"` // of Held, from the first half to the second
}

func (f *Flow[T]) all() []*T {
	return []*T{&f.In, &f.Out, &f.Held, &f.Stay, &f.Median, &f.High, &f.Stuck, &f.Left, &f.Oldest, &f.Growth}
}

// PoolFigures are the figures of a pool. Its Flow is that of requests that wait: Stay is the wait.
type PoolFigures[T any] struct {
	Flow[T]
	Busy   T `json:"busy_share"`    // of the members' time
	AtOnce T `json:"at_once_share"` // of the requests, those for which a member was free
}

func (p *PoolFigures[T]) all() []*T { return append(p.Flow.all(), &p.Busy, &p.AtOnce) }

// NetFigures are the figures of the instances of a net.
type NetFigures[T any] struct {
	Finished   T `json:"finished"` // during the time that counts
	Failed     T `json:"failed"`
	Deadlocked T `json:"deadlocked"`         // at the end
	Rest       T `json:"rest_after_seconds"` // from when on nothing happens any more
}

func (n *NetFigures[T]) all() []*T { return []*T{&n.Finished, &n.Failed, &n.Deadlocked, &n.Rest} }

// figures are those of one kind: T is float64 for one run and Estimate for all.
type figures[T any] struct {
	places []Flow[T]
	fired  []T // per hour
	pools  []PoolFigures[T]
	cases  Flow[T]
	net    NetFigures[T]
}

// flows returns the flows of all places and pools, and that of the cases.
func (f *figures[T]) flows() (out []*Flow[T]) {
	for k := range f.places {
		out = append(out, &f.places[k])
	}
	for k := range f.pools {
		out = append(out, &f.pools[k].Flow)
	}
	return append(out, &f.cases)
}

func (f *figures[T]) all() (out []*T) {
	for k := range f.places {
		out = append(out, f.places[k].all()...)
	}
	for k := range f.fired {
		out = append(out, &f.fired[k])
	}
	for k := range f.pools {
		out = append(out, f.pools[k].all()...)
	}
	return append(append(out, f.cases.all()...), f.net.all()...)
}

func newFigures[T any](m *Model) *figures[T] {
	return &figures[T]{places: make([]Flow[T], m.Tables.Places()), fired: make([]T, m.Tables.Transitions()), pools: make([]PoolFigures[T], len(m.Pools))}
}

// window are the marks of the time that counts: at its begin, in its middle and at its end.
type window struct{ begin, middle, end *mark }

// figures returns those of a run that has ended. stuck is Options.Stuck.
func (r *run) figures(w *window, stuck int64) *figures[float64] {
	f := newFigures[float64](r.m)
	span := float64(w.end.at - w.begin.at)
	for p := range f.places {
		b, m, e := &w.begin.places[p], &w.middle.places[p], &w.end.places[p]
		f.places[p] = between(&b.flow, &m.flow, &e.flow, span, e.waiting(w.end.at), stuck)
		f.places[p].Left = float64(e.tokens)
		if e.tokens > 0 {
			f.places[p].Oldest = float64(w.end.at-e.oldest) / second
		}
	}
	for t := range f.fired {
		f.fired[t] = float64(w.end.fired[t]-w.begin.fired[t]) / span * hour
	}
	for k := range f.pools {
		b, m, e := &w.begin.pools[k], &w.middle.pools[k], &w.end.pools[k]
		since := make([]int64, 0, len(r.pools[k].waiting))
		for _, at := range r.pools[k].waiting {
			since = append(since, at)
		}
		f.pools[k] = PoolFigures[float64]{Flow: left(between(&b.flow, &m.flow, &e.flow, span, ages(since, w.end.at), stuck), since, w.end.at),
			Busy: (e.working - b.working) / span / float64(r.m.Pools[k].Size), AtOnce: float64(e.atOnce-b.atOnce) / float64(e.in-b.in)}
	}
	f.net = NetFigures[float64]{Finished: float64(w.end.net.Finished - w.begin.net.Finished), Failed: float64(w.end.net.Failed - w.begin.net.Failed), Deadlocked: float64(w.end.net.Deadlocked), Rest: math.NaN()}
	if r.m.Arrivals == nil {
		return f
	}
	var since []int64
	for _, u := range r.units {
		for _, at := range u.cases {
			if at > 0 {
				since = append(since, at)
			}
		}
	}
	f.cases = left(between(&w.begin.cases, &w.middle.cases, &w.end.cases, span, ages(since, w.end.at), stuck), since, w.end.at)
	return f
}

// left adds what is still there, by since when.
func left(f Flow[float64], since []int64, now int64) Flow[float64] {
	f.Left, f.Oldest = float64(len(since)), math.NaN()
	for _, at := range since {
		f.Oldest = max(f.Oldest, float64(now-at)/second)
		if math.IsNaN(f.Oldest) {
			f.Oldest = float64(now-at) / second
		}
	}
	return f
}

// ages returns how long what waits since some times has waited.
func ages(since []int64, now int64) (h stats.Histogram) {
	for _, at := range since {
		h.Observe(now - at)
	}
	return h
}

// waiting returns how old the tokens of a place are, in the middle of the slots of its ladder.
func (p *placeMark) waiting(now int64) (h stats.Histogram) {
	for k, slot := range p.ages.Slots {
		next := now/stats.SlotWidth + 1
		if k+1 < len(p.ages.Slots) {
			next = min(next, p.ages.Slots[k+1].Start)
		}
		middle := (slot.Start + min(next, slot.Start+max((now/stats.SlotWidth-slot.Start)/8, 1))) * stats.SlotWidth / 2
		var one stats.Histogram
		one.Observe(max(now-middle, 0))
		one.Sum *= slot.N
		one.Zero *= slot.N
		for b := range one.Buckets {
			one.Buckets[b].N = slot.N
		}
		h.Merge(&one)
	}
	return h
}

// between returns the figures of the time between two marks. waiting is how long what is there
// at the end has been there.
func between(begin, middle, end *flow, span float64, waiting stats.Histogram, stuck int64) Flow[float64] {
	in, out, area := end.in-begin.in, end.out-begin.out, end.area-begin.area
	f := Flow[float64]{In: float64(in) / span * hour, Out: float64(out) / span * hour, Held: area / span,
		Stay: area / float64(out) / second, Oldest: math.NaN()}
	if out == 0 { // nothing left: the mean is unknown, or there was nothing
		f.Stay = math.NaN()
	}
	first, last := middle.area-begin.area, end.area-middle.area
	f.Growth = (last - first) / (span / 2) / (span / 2) * day
	stays := since(&end.stays, &begin.stays)
	stays.Merge(&waiting)
	f.Median, f.High = stays.Quantile(0.5), stays.Quantile(0.95)
	f.Stuck = float64(longer(&stays, stuck)) / float64(stays.Count())
	return f
}

// since returns the durations of end that are not in begin, which it counted earlier.
func since(end, begin *stats.Histogram) stats.Histogram {
	out := stats.Histogram{Schema: end.Schema, Zero: end.Zero - begin.Zero, Sum: end.Sum - begin.Sum}
	by, k := begin.Schema-end.Schema, 0
	for _, b := range end.Buckets {
		for ; k < len(begin.Buckets) && (begin.Buckets[k].Index-1)>>by+1 == b.Index; k++ {
			b.N -= begin.Buckets[k].N
		}
		if b.N > 0 {
			out.Buckets = append(out.Buckets, b)
		}
	}
	return out
}

// longer returns how many durations are longer than one, to the bucket.
func longer(h *stats.Histogram, than int64) (n uint64) {
	for _, b := range h.Buckets {
		if stats.UpperBound(h.Schema, b.Index)*second > float64(than) {
			n += b.N
		}
	}
	return n
}
