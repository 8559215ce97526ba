// SPDX-License-Identifier: Apache-2.0

package simulate

import "github.com/pnagent/pnagent/stats"

// Summary is what the runs of a study had in common. Times are seconds.
type Summary struct {
	Net        string  `json:"net"`
	Name       string  `json:"name,omitempty"`
	Seconds    float64 `json:"run_seconds"`
	Warmup     float64 `json:"warmup_seconds"` // of each run, which do not count
	Settled    bool    `json:"settled"`        // false if the pilot runs did not settle in half of their time
	Runs       int     `json:"runs"`
	Seed       uint64  `json:"seed"`
	Confidence float64 `json:"confidence"`
	StuckAfter float64 `json:"stuck_after_seconds"`
	Firings    uint64  `json:"firings"` // in all runs
	Resting    int     `json:"resting_runs"`

	Notes       []string             `json:"notes,omitempty"`
	Cases       *Row                 `json:"cases,omitempty"` // with arrivals
	Instances   NetFigures[Estimate] `json:"instances"`
	Pools       []PoolRow            `json:"pools,omitempty"`
	Places      []Row                `json:"places"`
	Transitions []Rate               `json:"transitions"`
}

// Row is what a study says of a place, or of the cases.
type Row struct {
	ID    string `json:"id,omitempty"`
	Name  string `json:"name,omitempty"`
	Role  string `json:"role,omitempty"`
	Final bool   `json:"final,omitempty"` // no transition takes its tokens
	Flow[Estimate]
	Growing bool `json:"growing"`
	AtLeast bool `json:"p95_at_least,omitempty"` // more than 5 % of the stays had not ended, so the p95 may be longer
}

// PoolRow is what a study says of a pool.
type PoolRow struct {
	Name string `json:"name"`
	Size int    `json:"size"`
	PoolFigures[Estimate]
	Growing bool `json:"growing"`
}

// Rate is how often a transition fires.
type Rate struct {
	ID      string   `json:"id"`
	Name    string   `json:"name,omitempty"`
	Firings Estimate `json:"per_hour"`
}

// Bounds of what counts as growing: from the first half of the time that counts to the second
// one, what is held grows by a tenth of its mean and by one half, and the interval of the growth
// is above 0.
const (
	growingShare = 0.1
	growingLeast = 0.5
)

// growing reports whether what a flow holds grows without end, as far as the runs show.
func (s *study) growing(f *Flow[Estimate]) bool {
	step := f.Growth.Mean * (float64(s.For-s.warmup) / 2) / day
	return f.Growth.Low > 0 && step > growingLeast && step > growingShare*f.Held.Mean
}

// Gone reports whether the queue of a pool is gone: it does not grow, and even the upper end of
// the interval has less than one request waiting on average.
func (p *PoolRow) Gone() bool { return !p.Growing && p.Held.High < 1 }

func (s *study) summary(sums *figures[moments]) *Summary {
	f := newFigures[Estimate](s.Model)
	of := sums.all()
	for k, e := range f.all() {
		*e = of[k].estimate(s.Confidence)
	}
	for _, flow := range f.flows() {
		flow.Median, flow.High = flow.Median.within(stats.QuantileError), flow.High.within(stats.QuantileError)
	}
	net := s.Tables.Net
	out := &Summary{Net: net.ID, Name: net.Name, Seconds: float64(s.For) / second, Warmup: float64(s.warmup) / second, Settled: s.settled, Runs: s.Runs, Seed: s.Seed,
		Confidence: s.Confidence, StuckAfter: float64(s.Stuck) / second, Firings: s.fired, Resting: s.rest, Notes: s.notes(), Instances: f.net}
	for p := range f.places {
		place := &net.Places[p]
		row := Row{ID: place.ID, Name: place.Name, Role: place.Role.String(), Final: s.Tables.Final(p), Flow: f.places[p]}
		row.finish(s)
		out.Places = append(out.Places, row)
	}
	for t := range f.fired {
		out.Transitions = append(out.Transitions, Rate{net.Transitions[t].ID, net.Transitions[t].Name, f.fired[t]})
	}
	for k := range f.pools {
		p := PoolRow{Name: s.Pools[k].Name, Size: s.Pools[k].Size, PoolFigures: f.pools[k]}
		p.Growing = s.growing(&p.Flow)
		out.Pools = append(out.Pools, p)
	}
	if s.Arrivals != nil {
		out.Cases = &Row{Flow: f.cases}
		out.Cases.finish(s)
	}
	return out
}

// finish sets what follows from the figures of a row.
func (r *Row) finish(s *study) {
	if r.Final {
		return
	}
	r.Growing = s.growing(&r.Flow)
	ended := r.Out.Mean * float64(s.For-s.warmup) / hour
	r.AtLeast = r.Left.Mean > (ended+r.Left.Mean)/20
}

// notes returns what a reader must know of the numbers.
func (s *study) notes() []string {
	notes := append([]string(nil), s.Notes...)
	if !s.settled {
		notes = append(notes, "the number of tokens did not settle in the first half of the pilot runs: longer runs may give other means")
	}
	if s.lost > 0 {
		notes = append(notes, "messages and signals were thrown; a simulation delivers none: give the transitions that wait for them a delay")
	}
	if s.faults > 0 {
		notes = append(notes, "transitions failed, and their tokens wait: "+s.fault)
	}
	return notes
}
