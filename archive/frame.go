// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"context"
	"fmt"
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

func (a *Archive) fillFrame(ctx context.Context, f *api.Frame, def *petri.Net, at time.Time) error {
	places, transitions := make(map[string]*api.PlaceNow, len(f.Places)), make(map[string]*api.TransitionNow, len(f.Transitions))
	for i := range f.Places {
		places[def.Places[i].ID] = &f.Places[i]
	}
	for i := range f.Transitions {
		transitions[def.Transitions[i].ID] = &f.Transitions[i]
	}
	net := netIs(def.ID)
	rows, err := a.at(ctx, most("__name__, place", a.of([]string{metrics.PlaceTokens, metrics.PlaceInstances, metrics.PlaceOldestTokenAgeSeconds}, net)), at)
	if err != nil {
		return err
	}
	for _, s := range rows {
		fillPlace(places[label(s, "place")], s, at)
	}
	more, err := a.at(ctx, most("__name__, transition", a.of([]string{metrics.TransitionEnabledInstances, metrics.TransitionEnabledAgeSeconds, metrics.TransitionRunning,
		metrics.TransitionFailuresTotal, metrics.TransitionBlockedInstances}, net)), at)
	if err != nil {
		return err
	}
	for _, s := range more {
		fillTransition(transitions[label(s, "transition")], s, at)
	}
	if len(rows)+len(more) == 0 {
		return fmt.Errorf("no samples of net %q in Prometheus at %s: %w", def.ID, at.UTC().Format(time.RFC3339), api.ErrNothing)
	}
	rates, err := a.at(ctx, most("place", a.rate(a.of([]string{metrics.PlaceArrivalsTotal}, net)))+" or "+most("transition", a.rate(a.of([]string{metrics.TransitionFiringsTotal}, net))), at)
	if err != nil {
		return err
	}
	for _, s := range rates {
		if p := places[label(s, "place")]; p != nil && label(s, "transition") == "" {
			p.ArrivalRate = number(s)
		} else if t := transitions[label(s, "transition")]; t != nil {
			t.Rate = number(s)
		}
	}
	return nil
}

// label returns a label of a sample; "" if it is absent.
func label(s *model.Sample, name string) string { return string(s.Metric[model.LabelName(name)]) }

// fillPlace sets a number of a place; nil for one that the net no longer has.
func fillPlace(p *api.PlaceNow, s *model.Sample, at time.Time) {
	if p == nil {
		return
	}
	switch label(s, model.MetricNameLabel) {
	case metrics.PlaceTokens:
		p.Tokens = whole(s)
	case metrics.PlaceInstances:
		p.Instances = whole(s)
	case metrics.PlaceOldestTokenAgeSeconds:
		p.OldestSince = ago(at, s)
	}
}

func fillTransition(t *api.TransitionNow, s *model.Sample, at time.Time) {
	if t == nil {
		return
	}
	switch label(s, model.MetricNameLabel) {
	case metrics.TransitionEnabledInstances:
		t.Enabled = whole(s)
	case metrics.TransitionEnabledAgeSeconds:
		t.EnabledSince = ago(at, s)
	case metrics.TransitionRunning:
		t.Running = whole(s)
	case metrics.TransitionFailuresTotal:
		t.Failures = whole(s)
	case metrics.TransitionBlockedInstances:
		t.Blocked = whole(s)
	}
}
