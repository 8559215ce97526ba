// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"fmt"
	"math"

	"github.com/pnagent/pnagent/engine/internal/shard"
)

// Auto is the Warmup that is determined from pilot runs.
const Auto = -1

// Bounds and defaults of Options.
const (
	MaxRuns        = 100_000
	defaultFirings = 100_000_000
	defaultTokens  = 1_000_000
	pilots         = 10
	bins           = 100 // of the time, in pilot runs
	chunk          = 16  // runs whose figures are kept at one time
	maxFigures     = 50_000_000
)

// Limits bound a run.
type Limits struct {
	Firings int // 0 for 100,000,000
	Tokens  int // 0 for 1,000,000; counted every 65,536 firings
}

// Options say how a model is played. All times are microseconds.
type Options struct {
	Start int64 // the time at which runs start, since the Unix epoch; above 0
	For   int64 // how long a run is
	// Warmup is how much of the begin of each run does not count. Auto determines it from
	// pilot runs of their own; it is 0 if those come to rest.
	Warmup     int64
	Runs       int
	Seed       uint64
	Confidence float64 // of each interval, such as 0.95
	Stuck      int64   // a stay that is longer counts as stuck
	Limits     Limits
	// Each calls do for 0 to n-1, in any order and possibly at the same time; nil is in order.
	Each     func(n int, do func(i int))
	Progress func(done, total int) // nil for none
	Stop     func() bool           // asked now and then whether to return ErrStopped; nil for never
}

func (o *Options) check() error {
	switch {
	case o.Start <= 0:
		return fmt.Errorf("%w: a start of %d; expected more than 0", ErrModel, o.Start)
	case o.For < 1000:
		return fmt.Errorf("%w: runs of %d µs; expected 1000 or more", ErrModel, o.For)
	case o.Warmup != Auto && (o.Warmup < 0 || o.Warmup >= o.For):
		return fmt.Errorf("%w: a warm-up of %d µs in runs of %d µs; expected less", ErrModel, o.Warmup, o.For)
	case o.Runs < 1 || o.Runs > MaxRuns:
		return fmt.Errorf("%w: %d runs; expected 1 to %d", ErrModel, o.Runs, MaxRuns)
	case !(o.Confidence > 0 && o.Confidence < 1):
		return fmt.Errorf("%w: a confidence of %g; expected more than 0 and less than 1", ErrModel, o.Confidence)
	case o.Stuck < 0:
		return fmt.Errorf("%w: stuck after %d µs; expected 0 or more", ErrModel, o.Stuck)
	}
	if o.Limits.Firings == 0 {
		o.Limits.Firings = defaultFirings
	}
	if o.Limits.Tokens == 0 {
		o.Limits.Tokens = defaultTokens
	}
	if o.Each == nil {
		o.Each = func(n int, do func(i int)) {
			for i := range n {
				do(i)
			}
		}
	}
	if o.Stop == nil {
		o.Stop = func() bool { return false }
	}
	if o.Progress == nil {
		o.Progress = func(int, int) {}
	}
	return nil
}

// Study makes runs of a model and returns what they had in common. The error wraps ErrModel,
// ErrLimit or ErrStopped.
func Study(m *Model, o Options) (*Summary, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	s := &study{Model: m, Options: o, settled: true}
	if err := s.warm(); err != nil {
		return nil, err
	}
	sums := newFigures[moments](m)
	for done := 0; done < o.Runs; {
		n := min(chunk, o.Runs-done)
		results, err := s.chunk(done, n)
		if err != nil {
			return nil, err
		}
		for _, r := range results {
			values := r.figures.all()
			for k, sum := range sums.all() {
				sum.add(*values[k])
			}
			s.add(&r)
		}
		done += n
		o.Progress(done, o.Runs)
	}
	return s.summary(sums), nil
}

// study is a Study in progress.
type study struct {
	*Model
	Options
	warmup  int64
	settled bool
	rest    int // runs in which nothing happened any more at the end
	fired   uint64
	lost    uint64
	faults  uint64 // runs with one
	fault   string
}

// result is what is kept of a run.
type result struct {
	figures *figures[float64]
	rest    bool
	fired   int
	lost    uint64
	fault   string
	err     error
}

func (s *study) add(r *result) {
	s.fired += uint64(r.fired)
	s.lost += r.lost
	if r.rest {
		s.rest++
	}
	if r.fault != "" {
		s.faults++
		if s.fault == "" {
			s.fault = r.fault
		}
	}
}

// seedOf returns the seed of a run. Pilot runs have others.
func (s *study) seedOf(run int, pilot bool) uint64 {
	of := uint64(0)
	if pilot {
		of = 1
	}
	stream := shard.NewStream(s.Seed, uint64(run), of)
	return stream.Uint64()
}

// chunk makes n runs, from the first one on.
func (s *study) chunk(first, n int) ([]result, error) {
	results := make([]result, n)
	s.Each(n, func(i int) { results[i] = s.run(first + i) })
	for i := range results {
		if err := results[i].err; err != nil {
			return nil, fmt.Errorf("run %d: %w", first+i+1, err)
		}
	}
	return results, nil
}

// run makes one run.
func (s *study) run(number int) (out result) {
	r, err := newRun(s.Model, &s.Options, s.seedOf(number, false))
	if err != nil {
		return result{err: err}
	}
	var w window
	begin, end := s.Start+s.warmup, s.Start+s.For
	for _, step := range []struct {
		at int64
		to **mark
	}{{begin, &w.begin}, {begin + (end-begin)/2, &w.middle}, {end, &w.end}} {
		if err := r.until(step.at, s.Stop); err != nil {
			return result{err: r.after(err)}
		}
		*step.to = r.mark()
	}
	_, more := r.due()
	out = result{figures: r.figures(&w, s.Stuck), rest: !more, fired: r.fired, lost: r.lost, fault: r.fault}
	if !more {
		out.figures.net.Rest = float64(r.last-s.Start) / second
	}
	return out
}

// after adds when a run ended early.
func (r *run) after(err error) error {
	return fmt.Errorf("after %.3g h of simulated time: %w", float64(r.now-r.start)/hour, err)
}

// warm determines the warm-up, if it has to.
func (s *study) warm() error {
	if s.Warmup != Auto {
		s.warmup = s.Warmup
		return nil
	}
	series, errs, rest := make([][]float64, pilots), make([]error, pilots), make([]bool, pilots)
	s.Each(pilots, func(i int) { series[i], rest[i], errs[i] = s.pilot(i) })
	mean, resting := make([]float64, bins), true
	for i := range series {
		if errs[i] != nil {
			return fmt.Errorf("pilot run %d: %w", i+1, errs[i])
		}
		resting = resting && rest[i]
		for b, v := range series[i] {
			mean[b] += v / pilots
		}
	}
	if resting { // runs have an end, and all of it counts
		return nil
	}
	n, settled := truncation(mean)
	s.warmup, s.settled = int64(math.Round(float64(s.For)*float64(n)/bins)), settled
	return nil
}

// pilot returns how many tokens are in places that are not final, on average in each bin of a
// run, and whether nothing happens any more at its end.
func (s *study) pilot(number int) (series []float64, rest bool, err error) {
	r, err := newRun(s.Model, &s.Options, s.seedOf(number, true))
	if err != nil {
		return nil, false, err
	}
	last := 0.0
	for b := range bins {
		at := s.Start + int64(float64(s.For)*float64(b+1)/bins)
		if err := r.until(at, s.Stop); err != nil {
			return nil, false, r.after(err)
		}
		area := 0.0
		for p, place := range r.mark().places {
			if !s.Tables.Final(p) {
				area += place.area
			}
		}
		series = append(series, area-last)
		last = area
	}
	_, more := r.due()
	return series, !more, nil
}
