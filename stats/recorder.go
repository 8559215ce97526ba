// SPDX-License-Identifier: Apache-2.0

package stats

// Recorder is what one shard of an engine writes while it fires: plain arrays,
// one writer, no lock. Everything in it is cumulative; what can be seen by
// looking at the tokens that are present (how many, how old) is not kept here
// but counted once a tick. A Recorder must not be copied.
type Recorder struct {
	places      []placeTally
	dwell       []uint64 // numCells for each place
	transitions []transitionTally
	Net         Net // Created, Finished and Failed are counted by the owner
}

type placeTally struct {
	departures    uint64
	dwellSum      uint64
	lastInjection int64
}

type transitionTally struct {
	firings, failures uint64
	lastFiring        int64
}

// NewRecorder returns a recorder of zeros for a net of the given size.
func NewRecorder(places, transitions int) *Recorder {
	return &Recorder{
		places:      make([]placeTally, places),
		dwell:       make([]uint64, places*numCells),
		transitions: make([]transitionTally, transitions),
	}
}

// Left records that a token injected at some time left a place at now.
func (r *Recorder) Left(place int, injected, now int64) {
	d := max(now-injected, 0)
	r.dwell[place*numCells+buckets.cell(d)]++
	p := &r.places[place]
	p.departures++
	p.dwellSum += uint64(d)
}

// LeftMany records that n tokens injected at the same time left a place at now.
func (r *Recorder) LeftMany(place int, injected, now int64, n uint64) {
	d := max(now-injected, 0)
	r.dwell[place*numCells+buckets.cell(d)] += n
	p := &r.places[place]
	p.departures += n
	p.dwellSum += uint64(d) * n
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
		}
		rows.Places[i].Merge(&row)
	}
	for i := range r.transitions {
		t := &r.transitions[i]
		rows.Transitions[i].Merge(&Transition{Firings: t.firings, Failures: t.failures, LastFiring: t.lastFiring})
	}
	rows.Net.Merge(&r.Net)
}
