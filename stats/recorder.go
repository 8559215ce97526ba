// SPDX-License-Identifier: Apache-2.0

package stats

import "fmt"

// Recorder holds what one shard of an engine counts while it fires: plain arrays,
// one writer, no lock. Its counters are cumulative. Numbers and ages of present
// tokens are not in it; they are counted once a tick. The slowest instances are
// kept until TakeSlowest. The owner numbers the instances. A Recorder must not be
// copied.
type Recorder struct {
	places      []placeTally
	dwell       []uint64 // numCells for each place
	lasts       []ending // by place: of the longest dwell
	transitions []transitionTally
	actions     []*actionTally // by transition; nil for one without an action, and nil if none has one
	coarse      []int8         // by place: how much coarser than MaxSchema its dwell is; nil if none is
	followed    *follower      // nil if no instance is followed
	Net         NetRow         // Created, Finished and Failed are counted by the owner
}

type placeTally struct {
	departures    uint64
	dwellSum      uint64
	lastInjection int64
	longest       int64 // dwell since TakeSlowest; 0 if none was positive
}

// ending is the instance that took longest, and when that ended.
type ending struct {
	instance int
	at       int64
}

type transitionTally struct {
	firings, failures uint64
	lastFiring        int64
}

// actionTally holds the counters of a transition whose firings take time. It is
// allocated on first use, because most transitions have none.
type actionTally struct {
	retries, cancels, timeouts, late uint64
	durationSum                      uint64
	longest                          int64 // as in placeTally
	last                             ending
	coarse                           int8 // as Recorder.coarse
	duration                         [numCells]uint64
}

// NewRecorder returns a recorder of zeros for a net of the given size.
func NewRecorder(places, transitions int) *Recorder {
	return &Recorder{
		places:      make([]placeTally, places),
		dwell:       make([]uint64, places*numCells),
		lasts:       make([]ending, places),
		transitions: make([]transitionTally, transitions),
	}
}

// Left records that a token of an instance, injected at some time, left a place
// at now.
func (r *Recorder) Left(place, instance int, injected, now int64) {
	d := max(now-injected, 0)
	r.dwell[place*numCells+buckets.cell(d)]++
	p := &r.places[place]
	p.departures++
	p.dwellSum += uint64(d)
	if d > p.longest {
		p.longest, r.lasts[place] = d, ending{instance, now}
	}
	if r.followed != nil {
		r.followed.stay(StayInPlace, place, instance, injected, now)
	}
}

// LeftMany records that n tokens of an instance, injected at the same time, left
// a place at now.
func (r *Recorder) LeftMany(place, instance int, injected, now int64, n uint64) {
	d := max(now-injected, 0)
	r.dwell[place*numCells+buckets.cell(d)] += n
	p := &r.places[place]
	p.departures += n
	p.dwellSum += uint64(d) * n
	if d > p.longest {
		p.longest, r.lasts[place] = d, ending{instance, now}
	}
	if r.followed != nil {
		r.followed.stay(StayInPlace, place, instance, injected, now)
	}
}

// Arrived records that tokens were put into a place at now.
func (r *Recorder) Arrived(place int, now int64) {
	r.places[place].lastInjection = now
}

// Fired records that a transition fired at now.
func (r *Recorder) Fired(transition int, now int64) {
	t := &r.transitions[transition]
	t.firings++
	t.lastFiring = now
}

// Failed records that a transition could not fire although it was enabled.
func (r *Recorder) Failed(transition int) {
	r.transitions[transition].failures++
}

// Retried records that a transition's action was tried again.
func (r *Recorder) Retried(transition int) { r.action(transition).retries++ }

// Cancelled records that a run of a transition's action was cancelled.
func (r *Recorder) Cancelled(transition int) { r.action(transition).cancels++ }

// TimedOut records that a run of a transition's action was cancelled because its
// time was over. It counts as cancelled too.
func (r *Recorder) TimedOut(transition int) {
	a := r.action(transition)
	a.timeouts++
	a.cancels++
}

// Late records that an answer to a transition's action arrived after its run had
// ended, and was not used.
func (r *Recorder) Late(transition int) { r.action(transition).late++ }

// Ran records the end, at now, of a firing of a transition in an instance, with
// its start. Fired records the firing itself.
func (r *Recorder) Ran(transition, instance int, started, now int64) {
	d := max(now-started, 0)
	a := r.action(transition)
	a.duration[buckets.cell(d)]++
	a.durationSum += uint64(d)
	if d > a.longest {
		a.longest, a.last = d, ending{instance, now}
	}
	if r.followed != nil {
		r.followed.stay(StayWork, transition, instance, started, now)
	}
}

func (r *Recorder) action(transition int) *actionTally {
	if r.actions == nil {
		r.actions = make([]*actionTally, len(r.transitions))
	}
	if r.actions[transition] == nil {
		r.actions[transition] = &actionTally{}
	}
	return r.actions[transition]
}

// Firings returns the sum of the firings of all transitions.
func (r *Recorder) Firings() uint64 {
	var n uint64
	for i := range r.transitions {
		n += r.transitions[i].firings
	}
	return n
}

// FiringsOf returns the firings of a transition, and the time of the last one; 0 if there is none.
func (r *Recorder) FiringsOf(transition int) (firings uint64, last int64) {
	t := &r.transitions[transition]
	return t.firings, t.lastFiring
}

// AddTo adds the counters to rows of the same net. Arrivals are those of the
// tokens that left; the owner adds the present tokens.
func (r *Recorder) AddTo(rows *Rows) {
	for i := range r.places {
		p := &r.places[i]
		row := Place{Arrivals: p.departures, Departures: p.departures, LastInjection: p.lastInjection}
		if p.departures > 0 {
			row.Dwell = histogramOf(r.dwell[i*numCells:(i+1)*numCells], p.dwellSum)
			if r.coarse != nil {
				row.Dwell.cap(r.coarse[i])
			}
		}
		rows.Places[i].Merge(&row)
	}
	for i := range r.transitions {
		t := &r.transitions[i]
		rows.Transitions[i].Merge(&Transition{Firings: t.firings, Failures: t.failures, LastFiring: t.lastFiring})
	}
	for i, a := range r.actions {
		if a != nil {
			t := Transition{Retries: a.retries, Cancels: a.cancels, Timeouts: a.timeouts, Late: a.late, Duration: histogramOf(a.duration[:], a.durationSum)}
			t.Duration.cap(a.coarse)
			rows.Transitions[i].Merge(&t)
		}
	}
	rows.Net.Merge(&r.Net)
}

// Cumulative are the columns that Set makes a recorder from.
const Cumulative = ColArrivals | ColDepartures | ColOldest | ColDwell | ColFirings | ColFailures | ColLastFiring | ColDuration | ColInstances | ColTimeouts

// Set sets the recorder to the counters of rows as AddTo wrote them: from then on
// both count the same. It ignores the present state, and leaves no slowest
// instance. It returns an error if the rows do not fit the net.
func (r *Recorder) Set(rows *Rows) error {
	if len(rows.Places) != len(r.places) || len(rows.Transitions) != len(r.transitions) {
		return fmt.Errorf("rows of %d places and %d transitions; expected %d and %d",
			len(rows.Places), len(rows.Transitions), len(r.places), len(r.transitions))
	}
	next := NewRecorder(len(r.places), len(r.transitions))
	next.Net = NetRow{Created: rows.Net.Created, Finished: rows.Net.Finished, Failed: rows.Net.Failed}
	for i := range rows.Places {
		p := &rows.Places[i]
		if !p.Dwell.Valid() {
			return fmt.Errorf("place %d: invalid histogram of its dwell", i)
		}
		next.places[i] = placeTally{departures: p.Departures, dwellSum: p.Dwell.Sum, lastInjection: p.LastInjection}
		if c := p.Dwell.fill(next.dwell[i*numCells : (i+1)*numCells]); c > 0 {
			if next.coarse == nil {
				next.coarse = make([]int8, len(r.places))
			}
			next.coarse[i] = c
		}
	}
	for i := range rows.Transitions {
		if err := next.setTransition(i, &rows.Transitions[i]); err != nil {
			return err
		}
	}
	*r = *next
	return nil
}

func (r *Recorder) setTransition(i int, t *Transition) error {
	if !t.Duration.Valid() {
		return fmt.Errorf("transition %d: invalid histogram of its duration", i)
	}
	r.transitions[i] = transitionTally{firings: t.Firings, failures: t.Failures, lastFiring: t.LastFiring}
	if t.Retries|t.Cancels|t.Timeouts|t.Late|t.Duration.Count() == 0 {
		return nil
	}
	a := r.action(i)
	a.retries = t.Retries
	a.cancels = t.Cancels
	a.timeouts = t.Timeouts
	a.late = t.Late
	a.durationSum = t.Duration.Sum
	a.coarse = t.Duration.fill(a.duration[:])
	return nil
}

// fill adds the counts of a valid histogram to cells, each to the last cell of its
// bucket, and returns how much coarser than MaxSchema the histogram is.
func (h *Histogram) fill(cells []uint64) (coarse int8) {
	cells[0] = h.Zero
	if len(h.Buckets) == 0 {
		return 0
	}
	coarse = MaxSchema - h.Schema
	for _, b := range h.Buckets {
		cells[1+min(int(b.Index)<<coarse, lastIndex)-firstIndex] += b.N
	}
	return coarse
}

// cap makes the histogram coarser until its schema is at most MaxSchema-coarse. A
// histogram that became coarser because it had too many buckets only grows and
// never becomes finer. So a recorder that continues from a coarse histogram
// reports the same as the original one.
func (h *Histogram) cap(coarse int8) {
	if len(h.Buckets) > 0 && h.Schema > MaxSchema-coarse {
		h.coarsen(MaxSchema - coarse)
	}
}

// ForgetSlowest drops the slowest instances.
func (r *Recorder) ForgetSlowest() {
	for i := range r.places {
		r.places[i].longest = 0
	}
	for _, a := range r.actions {
		if a != nil {
			a.longest = 0
		}
	}
}

// TakeSlowest adds the slowest instances since the last call to rows of the same
// net, and drops them. A duration of 0 names no instance. name returns the name of
// an instance.
func (r *Recorder) TakeSlowest(name func(instance int) string, rows *Rows) {
	for i := range r.places {
		if p := &r.places[i]; p.longest > 0 {
			rows.Places[i].Slowest.Merge(r.lasts[i].slowest(p.longest, name))
			p.longest = 0
		}
	}
	for i, a := range r.actions {
		if a != nil && a.longest > 0 {
			rows.Transitions[i].Slowest.Merge(a.last.slowest(a.longest, name))
			a.longest = 0
		}
	}
}

func (e *ending) slowest(micros int64, name func(instance int) string) Slowest {
	return Slowest{Instance: name(e.instance), Micros: micros, At: e.at}
}
