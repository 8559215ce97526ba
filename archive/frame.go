// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/prometheus/common/model"

	"github.com/pnagent/pnagent/metrics"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/web/api"
)

// Frame returns a net as of the newest sample at or before a time, in microseconds since the
// Unix epoch, with rows in the order of a definition. It returns api.ErrNothing if there is
// none, and api.ErrBusy if too many documents are being made. The frame must not be changed.
func (a *Archive) Frame(ctx context.Context, def *petri.Net, at int64) (*api.Frame, error) {
	key := request{"frame", def.ID, "", def, at / 1e6}
	return get(ctx, a, key, func(ctx context.Context) (*api.Frame, int, error) {
		at, err := a.momentOf(ctx, key.at)
		if err != nil {
			return nil, 0, err
		}
		f := &api.Frame{Net: def.ID, At: api.Time(at.UnixMicro()), Archive: true,
			Places: make([]api.PlaceNow, len(def.Places)), Transitions: make([]api.TransitionNow, len(def.Transitions))}
		if err := a.fillFrame(ctx, f, def, at); err != nil {
			return nil, 0, err
		}
		return f, len(f.Places) + len(f.Transitions), nil
	})
}

// The families of the numbers of frames, in their order. Those of rates are counters.
var (
	placeFamilies      = []string{metrics.PlaceTokens, metrics.PlaceInstances, metrics.PlaceOldestTokenAgeSeconds, metrics.PlaceArrivalsTotal}
	transitionFamilies = []string{metrics.TransitionFiringsTotal, metrics.TransitionEnabledInstances, metrics.TransitionEnabledAgeSeconds, metrics.TransitionRunning,
		metrics.TransitionBlockedInstances, metrics.TransitionFailuresTotal}
)

func (a *Archive) fillFrame(ctx context.Context, f *api.Frame, def *petri.Net, at time.Time) error {
	places, transitions := make(map[string][]any, len(f.Places)), make(map[string][]any, len(f.Transitions))
	for i := range f.Places {
		places[def.Places[i].ID] = f.Places[i].Numbers()
	}
	for i := range f.Transitions {
		transitions[def.Transitions[i].ID] = f.Transitions[i].Numbers()
	}
	net := netIs(def.ID)
	rows, err := a.at(ctx, most("__name__, place", a.of(placeFamilies[:3], net)), at)
	if err != nil {
		return err
	}
	for _, s := range rows {
		fill(places[label(s, "place")], slices.Index(placeFamilies, label(s, model.MetricNameLabel)), s, at)
	}
	more, err := a.at(ctx, most("__name__, transition", a.of(transitionFamilies[1:], net)), at)
	if err != nil {
		return err
	}
	for _, s := range more {
		fill(transitions[label(s, "transition")], slices.Index(transitionFamilies, label(s, model.MetricNameLabel)), s, at)
	}
	if len(rows)+len(more) == 0 {
		return fmt.Errorf("no samples of net %q in Prometheus at %s: %w", def.ID, at.UTC().Format(time.RFC3339), api.ErrNothing)
	}
	rates, err := a.at(ctx, most("place", a.rate(a.of(placeFamilies[3:], net)))+" or "+most("transition", a.rate(a.of(transitionFamilies[:1], net))), at)
	if err != nil {
		return err
	}
	for _, s := range rates {
		if transition := label(s, "transition"); transition != "" {
			fill(transitions[transition], 0, s, at)
		} else {
			fill(places[label(s, "place")], 3, s, at)
		}
	}
	return nil
}

// label returns a label of a sample; "" if it is absent.
func label(s *model.Sample, name string) string { return string(s.Metric[model.LabelName(name)]) }

// fill sets a number of a row; none of one that the net no longer has, or of another family.
func fill(numbers []any, at int, s *model.Sample, now time.Time) {
	if numbers == nil || at < 0 {
		return
	}
	switch n := numbers[at].(type) {
	case **uint64:
		*n = whole(s)
	case **float64:
		*n = number(s)
	case *api.Time:
		*n = ago(now, s)
	}
}
