// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"context"
	"time"

	"github.com/prometheus/common/model"

	"github.com/pnagent/pnagent/metrics"
	"github.com/pnagent/pnagent/web/api"
)

// The series of one place or transition: an hour, of at most 360 points.
const (
	seriesSpan = time.Hour
	leastStep  = seriesSpan / 360
)

// PlaceSeries returns the tokens of a place and the age of the oldest, over the hour before a
// time, as Frame does.
func (a *Archive) PlaceSeries(ctx context.Context, net, place string, at int64) (*api.Series, error) {
	is := []string{netIs(net), "place=" + quoted(place)}
	return a.series(ctx, request{"place", net, place, nil, at / 1e6},
		most("", a.of([]string{metrics.PlaceTokens}, is...)), most("", a.of([]string{metrics.PlaceOldestTokenAgeSeconds}, is...)))
}

// TransitionSeries returns the firings a second of a transition and those that run, as
// PlaceSeries does.
func (a *Archive) TransitionSeries(ctx context.Context, net, transition string, at int64) (*api.Series, error) {
	is := []string{netIs(net), "transition=" + quoted(transition)}
	return a.series(ctx, request{"transition", net, transition, nil, at / 1e6},
		most("", a.rate(a.of([]string{metrics.TransitionFiringsTotal}, is...))), most("", a.of([]string{metrics.TransitionRunning}, is...)))
}

// series evaluates expressions of one series each. Their points are in one series, with null
// where one is not known.
func (a *Archive) series(ctx context.Context, key request, exprs ...string) (*api.Series, error) {
	return get(ctx, a, key, func(ctx context.Context) (*api.Series, int, error) {
		_, scrape := a.Extent()
		to, step := time.Unix(key.at, 0), max(leastStep, scrape)
		d := &api.Series{Step: step.Seconds(), Points: [][]*float64{}}
		values := make([]map[int64]*float64, len(exprs))
		for i, expr := range exprs {
			matrix, err := a.over(ctx, expr, to.Add(-seriesSpan), to, step)
			if err != nil {
				return nil, 0, err
			}
			values[i] = pointsOf(matrix)
		}
		for at := to.Add(-seriesSpan); !at.After(to); at = at.Add(step) {
			ms := at.UnixMilli()
			point, some := []*float64{new(float64(ms))}, false
			for _, v := range values {
				point, some = append(point, v[ms]), some || v[ms] != nil
			}
			if some {
				d.Points = append(d.Points, point)
			}
		}
		return d, len(d.Points), nil
	})
}

// pointsOf returns values by time in milliseconds since the Unix epoch.
func pointsOf(matrix model.Matrix) map[int64]*float64 {
	points := map[int64]*float64{}
	for _, s := range matrix {
		for _, p := range s.Values {
			points[int64(p.Timestamp)] = number(&model.Sample{Value: p.Value})
		}
	}
	return points
}
