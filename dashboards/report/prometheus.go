// SPDX-License-Identifier: Apache-2.0

package report

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/prometheus/common/model"

	"github.com/pnagent/pnagent/dashboards/report/plot"
	"github.com/pnagent/pnagent/internal/promquery"
)

// Bounds on asking.
const (
	askTimeout = 30 * time.Second // for one answer
	atOnce     = 4                // requests under way
	maxSeries  = 5000             // of an answer, where Prometheus can cut it
)

// Prometheus is a server that scrapes sidecars.
type Prometheus struct {
	URL  string // as in http://127.0.0.1:9090
	Name string // what the page calls it: the URL without a password
	HTTP *http.Client
}

func (p Prometheus) server() promquery.Server {
	return promquery.Server{URL: p.URL, HTTP: p.HTTP, Timeout: askTimeout, Limit: maxSeries}
}

// over evaluates an expression at every step of a time.
func (p Prometheus) over(ctx context.Context, expr string, from, to time.Time, step time.Duration) (*answer, error) {
	return read(p.server().Over(ctx, expr, from, to, step))
}

// at evaluates an expression at a time.
func (p Prometheus) at(ctx context.Context, expr string, at time.Time) (*answer, error) {
	return read(p.server().At(ctx, expr, at))
}

// answer is what Prometheus returns for an expression.
type answer struct {
	series   []series
	warnings []string
}

// series is one of an answer, an instant's with one point.
type series struct {
	labels     map[string]string
	points     []plot.Point
	histograms []model.SampleHistogramPair // native ones
}

// read returns an answer as series, unless it has a time that a page cannot show.
func read(a promquery.Answer, err error) (*answer, error) {
	if err != nil {
		return nil, err
	}
	out := &answer{warnings: a.Warnings}
	switch v := a.Value.(type) {
	case *model.Scalar:
		out.add(nil, []model.SamplePair{{Timestamp: v.Timestamp, Value: v.Value}}, nil)
	case model.Vector:
		for _, s := range v {
			if s.Histogram != nil {
				out.add(s.Metric, nil, []model.SampleHistogramPair{{Timestamp: s.Timestamp, Histogram: s.Histogram}})
			} else {
				out.add(s.Metric, []model.SamplePair{{Timestamp: s.Timestamp, Value: s.Value}}, nil)
			}
		}
	case model.Matrix:
		for _, s := range v {
			out.add(s.Metric, s.Values, s.Histograms)
		}
	}
	if slices.ContainsFunc(out.series, unshown) {
		return nil, errors.New("asking Prometheus: the answer has a time that is not from 1970 to 9999")
	}
	return out, nil
}

// unshown reports whether a series has a time that a page cannot show.
func unshown(s series) bool {
	return slices.ContainsFunc(s.points, func(p plot.Point) bool { return p.At.Unix() < 0 || p.At.UTC().Year() > 9999 }) ||
		slices.ContainsFunc(s.histograms, func(h model.SampleHistogramPair) bool {
			return h.Timestamp < 0 || h.Timestamp.Time().UTC().Year() > 9999
		})
}

func (a *answer) add(metric model.Metric, values []model.SamplePair, histograms []model.SampleHistogramPair) {
	s := series{labels: make(map[string]string, len(metric)), points: make([]plot.Point, len(values)), histograms: histograms}
	for name, value := range metric {
		s.labels[string(name)] = string(value)
	}
	for i, v := range values {
		s.points[i] = plot.Point{At: v.Timestamp.Time(), Value: float64(v.Value)}
	}
	a.series = append(a.series, s)
}
