// SPDX-License-Identifier: Apache-2.0

package stats

import "fmt"

// Recorder is what one shard of an engine writes while it fires: plain arrays,
// one writer, no lock. What it counts is cumulative; what can be seen by
// looking at the tokens that are present (how many, how old) is not kept here
// but counted once a tick; who was slowest is kept till TakeSlowest. Instances
// are numbers of the owner's. A Recorder must not be copied.
type Recorder struct {
	places      []placeTally
	dwell       []uint64 // numCells for each place
	lasts       []ending // by place: of the one whose dwell is longest
	transitions []transitionTally
	actions     []*actionTally // by transition; nil for one without an action, the list too if no one has one
	coarse      []int8         // by place: by how much less than MaxSchema its dwell is known; nil if all are known best
	Net         Net            // Created, Finished and Failed are counted by the owner
}

type placeTally struct {
	departures    uint64
	dwellSum      uint64
	lastInjection int64
	longest       int64 // dwell since TakeSlowest; 0 if no token left or none had stayed
}

// ending is of whom something took longest, and when that was over.
type ending struct {
	instance int
	at       int64
}

type transitionTally struct {
	firings, failures uint64
	lastFiring        int64
}

// actionTally is what is counted of a transition whose firings take time. It
// is there from the first time that there is something to count, because most
// transitions have none.
type actionTally struct {
	retries, cancels, timeouts, late uint64
	durationSum                      uint64
	longest                          int64 // as of a place
	last                             ending
	coarse                           int8 // as of a place
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

// Cancelled records that a run of a transition's action was broken off.
func (r *Recorder) Cancelled(transition int) { r.action(transition).cancels++ }

// TimedOut records that a run of a transition's action was broken off because
// its time was over. It counts as cancelled too.
func (r *Recorder) TimedOut(transition int) {
	a := r.action(transition)
	a.timeouts++
	a.cancels++
}

// Late records that an answer of a transition's action came after its run was
// over, and was not used.
func (r *Recorder) Late(transition int) { r.action(transition).late++ }

// Ran records that a firing of a transition in an instance that was started at
// some time ended at now. Fired records the firing itself.
func (r *Recorder) Ran(transition, instance int, started, now int64) {
	d := max(now-started, 0)
	a := r.action(transition)
	a.duration[buckets.cell(d)]++
	a.durationSum += uint64(d)
	if d > a.longest {
		a.longest, a.last = d, ending{instance, now}
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

// Firings returns how often all transitions fired together.
func (r *Recorder) Firings() uint64 {
	var n uint64
	for i := range r.transitions {
		n += r.transitions[i].firings
	}
	return n
}

// AddTo adds what was recorded to rows of the same net. Arrivals are those of
// the tokens that left; the owner adds the tokens that are present.
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

// Set makes the recorder one that has recorded what is counted in rows, as
// AddTo gave it: from then on both count the same. What is present is not looked
// at, and nobody is slowest. The error says that they cannot be of this net.
func (r *Recorder) Set(rows *Rows) error {
	if len(rows.Places) != len(r.places) || len(rows.Transitions) != len(r.transitions) {
		return fmt.Errorf("rows of %d places and %d transitions; expected %d and %d",
			len(rows.Places), len(rows.Transitions), len(r.places), len(r.transitions))
	}
	next := NewRecorder(len(r.places), len(r.transitions))
	next.Net = Net{Created: rows.Net.Created, Finished: rows.Net.Finished, Failed: rows.Net.Failed}
	for i := range rows.Places {
		p := &rows.Places[i]
		if !p.Dwell.Valid() {
			return fmt.Errorf("place %d: the histogram of its dwell is none", i)
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
		return fmt.Errorf("transition %d: the histogram of its duration is none", i)
	}
	r.transitions[i] = transitionTally{firings: t.Firings, failures: t.Failures, lastFiring: t.LastFiring}
	if t.Retries|t.Cancels|t.Timeouts|t.Late|t.Duration.Count() == 0 {
		return nil
	}
	a := r.action(i)
	a.retries, a.cancels, a.timeouts, a.late, a.durationSum = t.Retries, t.Cancels, t.Timeouts, t.Late, t.Duration.Sum
	a.coarse = t.Duration.fill(a.duration[:])
	return nil
}

// fill puts the counts of a valid histogram into cells, each into the last that
// its bucket covers, and returns by how much less than MaxSchema is known.
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

// cap makes the histogram no finer than MaxSchema less coarse. One that was made
// coarser because it had too many buckets never becomes finer, for it only
// grows; so what goes on from a coarser one is told as it would have been.
func (h *Histogram) cap(coarse int8) {
	if len(h.Buckets) > 0 && h.Schema > MaxSchema-coarse {
		h.coarsen(MaxSchema - coarse)
	}
}

// ForgetSlowest is TakeSlowest for nobody.
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

// TakeSlowest adds to rows of the same net who was slowest since the last call,
// and begins anew. What took no time names nobody. name gives an instance's
// name.
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
