// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"errors"
	"fmt"
)

// MaxSizes is how many sizes Vary compares.
const MaxSizes = 100

// Varied are studies of several sizes of a pool.
type Varied struct {
	Pool   string  `json:"pool"`
	Sizes  []Sized `json:"sizes"`
	Stable int     `json:"does_not_grow,omitempty"` // the smallest size at which the queue does not grow
	Gone   int     `json:"gone,omitempty"`          // the smallest size at which it is gone: see PoolRow.Gone
}

// Sized is the study of one size. If a run reached a limit, it has no numbers.
type Sized struct {
	Size    int      `json:"size"`
	Summary *Summary `json:"summary,omitempty"`
	Limit   string   `json:"limit,omitempty"`
}

// Vary makes a study of a model for each size of a pool, with the same seed: so the sizes have the
// same arrivals and the same durations. o.Progress counts the runs of all sizes.
func Vary(m *Model, pool, from, to int, o Options) (*Varied, error) {
	if pool < 0 || pool >= len(m.Pools) || from < 1 || to < from || to > MaxPool || to-from >= MaxSizes {
		return nil, fmt.Errorf("%w: sizes %d to %d of pool %d of %d; expected at most %d sizes up to %d", ErrModel, from, to, pool, len(m.Pools), MaxSizes, MaxPool)
	}
	v, progress := &Varied{Pool: m.Pools[pool].Name}, o.Progress
	for size := from; size <= to; size++ {
		if progress != nil {
			o.Progress = func(done, total int) { progress((size-from)*total+done, (to-from+1)*total) }
		}
		summary, err := Study(m.WithPool(pool, size), o)
		one := Sized{Size: size, Summary: summary}
		switch {
		case errors.Is(err, ErrLimit):
			one.Limit = err.Error()
		case err != nil:
			return nil, err
		}
		v.Sizes = append(v.Sizes, one)
		p := one.pool(v.Pool)
		if p != nil && !p.Growing && v.Stable == 0 {
			v.Stable = size
		}
		if p != nil && p.Gone() && v.Gone == 0 {
			v.Gone = size
		}
	}
	return v, nil
}

// pool returns the row of a pool, or nil if there are no numbers.
func (s *Sized) pool(name string) *PoolRow {
	if s.Summary == nil {
		return nil
	}
	for k := range s.Summary.Pools {
		if p := &s.Summary.Pools[k]; p.Name == name {
			return p
		}
	}
	return nil
}

// Best returns the study of the size that answers the question: the smallest one at which the
// queue is gone, or does not grow, or else the largest one with numbers. It is nil if no size has
// numbers.
func (v *Varied) Best() (best *Summary) {
	for k := range v.Sizes {
		s := &v.Sizes[k]
		if s.Summary == nil {
			continue
		}
		best = s.Summary
		if s.Size == v.Gone || v.Gone == 0 && s.Size == v.Stable {
			return best
		}
	}
	return best
}

// Answer says how many members are needed.
func (v *Varied) Answer() string {
	last := v.Sizes[len(v.Sizes)-1].Size
	stable, gone := fmt.Sprintf("its queue grows also with %d", last), fmt.Sprintf("it is not gone with %d", last)
	if v.Stable > 0 {
		stable = fmt.Sprintf("its queue does not grow with %d", v.Stable)
	}
	if v.Gone > 0 {
		gone = fmt.Sprintf("it is gone with %d", v.Gone)
	}
	confidence := ""
	if best := v.Best(); best != nil {
		confidence = fmt.Sprintf(", with %g %% confidence", 100*best.Confidence)
	}
	return fmt.Sprintf("%s: %s; %s (less than one request waits on average%s)", v.Pool, stable, gone, confidence)
}
