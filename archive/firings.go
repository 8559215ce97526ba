// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/prometheus/common/model"

	"github.com/pnagent/pnagent/internal/promquery"
	"github.com/pnagent/pnagent/metrics"
)

// Bounds of Firings.
const (
	mostSteps       = 10_000 // of a series: Prometheus refuses more than 11,000
	mostTransitions = 1000
)

// Firings are the times at which a transition fired.
type Firings struct {
	Net, Transition string
	Times           []int64 // microseconds since the Unix epoch, ascending
}

// Firings returns when the transitions of a net, or of all nets for "", fired between two times, as far as
// the samples show that: of the firings between two steps the last one. Transitions that fired fewer times than least
// are left out, by net and transition. step is the time between two samples that were read.
func (a *Archive) Firings(ctx context.Context, net string, from, to time.Time, least int) (all []Firings, step time.Duration, err error) {
	apart, err := a.interval(ctx, to)
	if err != nil {
		return nil, 0, err
	}
	step = max(apart, (to.Sub(from)/mostSteps + time.Second).Truncate(time.Second))
	var matchers []string
	if net != "" {
		matchers = []string{netIs(net)}
	}
	family := []string{metrics.TransitionLastFiringTimestampSeconds}
	changes := fmt.Sprintf("changes(%s[%s]) >= %d", a.of(family, matchers...), promquery.Duration(to.Sub(from)), least-1)
	found, err := a.at(ctx, most("net, transition", changes), to)
	if err != nil {
		return nil, 0, err
	}
	if len(found) > mostTransitions {
		return nil, 0, fmt.Errorf("%d transitions fire often enough; expected at most %d: name one net", len(found), mostTransitions)
	}
	for _, s := range found {
		f := Firings{Net: string(s.Metric["net"]), Transition: string(s.Metric["transition"])}
		selector := a.of(family, netIs(f.Net), "transition="+quoted(f.Transition))
		series, err := a.over(ctx, most("net, transition", selector), from, to, step)
		if err != nil {
			return nil, 0, fmt.Errorf("transition %q of net %q: %w", f.Transition, f.Net, err)
		}
		f.Times = timesOf(series)
		if len(f.Times) >= least {
			all = append(all, f)
		}
	}
	slices.SortFunc(all, func(a, b Firings) int {
		return cmp.Or(cmp.Compare(a.Net, b.Net), cmp.Compare(a.Transition, b.Transition))
	})
	return all, step, nil
}

// timesOf returns the different values of a series of times.
func timesOf(series model.Matrix) (times []int64) {
	last := int64(0)
	for _, s := range series {
		for _, v := range s.Values {
			at := int64(math.Round(float64(v.Value) * 1e6))
			if v.Value > 0 && v.Value < 1<<33 && at > last {
				times, last = append(times, at), at
			}
		}
	}
	return times
}
