// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/common/model"

	"github.com/pnagent/pnagent/internal/promquery"
	"github.com/pnagent/pnagent/metrics"
	"github.com/pnagent/pnagent/web/api"
)

// at evaluates an expression at a time.
func (a *Archive) at(ctx context.Context, expr string, at time.Time) (model.Vector, error) {
	return valueOf[model.Vector](a.server.At(ctx, expr, at))
}

// over evaluates an expression at every step of a time.
func (a *Archive) over(ctx context.Context, expr string, from, to time.Time, step time.Duration) (model.Matrix, error) {
	return valueOf[model.Matrix](a.server.Over(ctx, expr, from, to, step))
}

func valueOf[T model.Value](answer promquery.Answer, err error) (of T, _ error) {
	of, ok := answer.Value.(T)
	if err == nil && !ok {
		err = fmt.Errorf("asking Prometheus: the answer is a %s", answer.Value.Type())
	}
	return of, err
}

// of returns the selector of families of this sidecar.
func (a *Archive) of(families []string, matchers ...string) string {
	if a.matchers != "" {
		matchers = append(matchers, a.matchers)
	}
	if len(families) == 1 {
		return families[0] + "{" + strings.Join(matchers, ",") + "}"
	}
	return "{" + strings.Join(append(matchers, "__name__=~"+quoted(strings.Join(families, "|"))), ",") + "}"
}

// most returns the largest values over sidecars, with the labels that are named.
func most(labels, expr string) string { return "max by (" + labels + ") (" + expr + ")" }

// netIs matches a net.
func netIs(net string) string { return "net=" + quoted(net) }

// quoted returns a text as a string of PromQL.
func quoted(text string) string { return strconv.Quote(text) }

// rate returns the rate of a selector over a minute, or two samples.
func (a *Archive) rate(selector string) string {
	_, step := a.Extent()
	return "rate(" + selector + "[" + promquery.Duration(max(time.Minute, 2*step)) + "])"
}

// always is a family that has a series whenever the sidecar runs.
const always = metrics.PnagentBuildInfo

// momentOf returns the time of the newest sample at or before a time, or api.ErrNothing.
func (a *Archive) momentOf(ctx context.Context, at int64) (time.Time, error) {
	v, err := a.at(ctx, "max(timestamp("+a.of([]string{always})+"))", time.Unix(at, 0))
	if err != nil {
		return time.Time{}, err
	}
	if len(v) != 1 || !known(v[0]) {
		return time.Time{}, fmt.Errorf("no samples of the sidecar in Prometheus at %s: %w", time.Unix(at, 0).UTC().Format(time.RFC3339), api.ErrNothing)
	}
	return moment(float64(v[0].Value)), nil
}

// moment returns a time in seconds since the Unix epoch as a time. Prometheus has milliseconds.
func moment(seconds float64) time.Time { return time.UnixMilli(int64(math.Round(seconds * 1000))) }

// longest is how far back a sample is looked for.
const longest = 400 * 24 * time.Hour

// extent returns the time of the oldest sample and the time between two, or api.ErrNothing.
func (a *Archive) extent(ctx context.Context) (from int64, step time.Duration, err error) {
	now, sample := a.now(), "timestamp("+a.of([]string{always})+")"
	at := now
	for _, span := range []string{"[" + promquery.Duration(longest) + ":1h]", "[1h:5s]", "[5s:1s]"} { // each finer, before what the last one found
		v, err := a.at(ctx, "min(min_over_time("+sample+span+"))", at)
		if err != nil {
			return 0, 0, err
		}
		if len(v) == 1 && known(v[0]) {
			at = moment(float64(v[0].Value))
			from = at.UnixMicro()
		}
	}
	if from == 0 {
		return 0, 0, fmt.Errorf("no samples of the sidecar in Prometheus: %w", api.ErrNothing)
	}
	step, err = a.interval(ctx, now)
	return from, step, err
}

// interval returns the usual time between two samples.
func (a *Archive) interval(ctx context.Context, now time.Time) (time.Duration, error) {
	return a.server.Interval(ctx, a.of([]string{always}), 5*time.Minute, now)
}

// known reports whether a sample is a number that a sidecar could have shown.
func known(s *model.Sample) bool {
	v := float64(s.Value)
	return v >= 0 && v < 1<<53
}

// number returns a value, or nil if it cannot be.
func number(s *model.Sample) *float64 {
	if !known(s) {
		return nil
	}
	return new(float64(s.Value))
}

func whole(s *model.Sample) *uint64 {
	if !known(s) {
		return nil
	}
	return new(uint64(s.Value))
}

// ago returns the time that an age stands for at a moment; 0 for the age 0, which is none.
func ago(at time.Time, s *model.Sample) api.Time {
	if age := float64(s.Value) * 1e6; known(s) && age > 0 && age < float64(at.UnixMicro()) {
		return api.Time(at.UnixMicro() - int64(age))
	}
	return 0
}
