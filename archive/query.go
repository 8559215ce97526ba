// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/common/model"

	"github.com/pnagent/pnagent/metrics"
	"github.com/pnagent/pnagent/web/api"
)

// Bounds on one answer. A net of 5,000 places and as many transitions has 40,000 series.
const (
	maxBytes   = 32 << 20
	maxObjects = 1 << 19 // two for each series
	maxLists   = 2 << 20 // one for each sample
	maxQuotes  = 8 << 20
	maxWords   = 300 // of what an error says, in bytes
)

var (
	errTooLarge      = errors.New("the answer is too large")
	errNotPrometheus = errors.New("the answer is not Prometheus'")
)

// reply is an answer of Prometheus; see its documentation of the HTTP API.
type reply struct {
	Status string `json:"status"`
	Error  string `json:"error"`
	Data   struct {
		Type   string          `json:"resultType"`
		Result json.RawMessage `json:"result"`
	} `json:"data"`
}

// read reads an answer. What is in it is counted first, so that a small text cannot become
// large values.
func read(r io.Reader) (model.Value, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxBytes+1))
	if err != nil {
		return nil, err
	}
	count := func(part string) int { return bytes.Count(text, []byte(part)) }
	if len(text) > maxBytes || count("{")+count("null") > maxObjects || count("[") > maxLists || count(`"`) > maxQuotes {
		return nil, errTooLarge
	}
	var got reply
	if err := json.Unmarshal(text, &got); err != nil {
		return nil, errNotPrometheus
	}
	if got.Status != "success" {
		return nil, errors.New(cmp.Or(got.Error, errNotPrometheus.Error()))
	}
	switch got.Data.Type {
	case "vector":
		var v model.Vector
		err = json.Unmarshal(got.Data.Result, &v)
		return slices.DeleteFunc(v, func(s *model.Sample) bool { return s == nil }), err
	case "matrix":
		var m model.Matrix
		err = json.Unmarshal(got.Data.Result, &m)
		return slices.DeleteFunc(m, func(s *model.SampleStream) bool { return s == nil }), err
	}
	return nil, fmt.Errorf("a result of type %q; expected a vector or a matrix", got.Data.Type)
}

// ask sends a request to a path of the API.
func (a *Archive) ask(ctx context.Context, path string, form url.Values) (model.Value, error) {
	form.Set("timeout", askTimeout.String())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.url+path, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, wrong(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := a.http.Do(req)
	if err != nil {
		return nil, wrong(err)
	}
	defer resp.Body.Close()
	v, err := read(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = errNotPrometheus
	}
	if err != nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %w", resp.Status, err)
	}
	if err != nil {
		return nil, wrong(err)
	}
	return v, nil
}

// at evaluates an expression at a time.
func (a *Archive) at(ctx context.Context, expr string, at time.Time) (model.Vector, error) {
	return valueOf[model.Vector](a.ask(ctx, "query", url.Values{"query": {expr}, "time": {stamp(at)}}))
}

// raw returns the samples of a range selector that ends at a time.
func (a *Archive) raw(ctx context.Context, selector string, at time.Time) (model.Matrix, error) {
	return valueOf[model.Matrix](a.ask(ctx, "query", url.Values{"query": {selector}, "time": {stamp(at)}}))
}

// over evaluates an expression at every step of a time.
func (a *Archive) over(ctx context.Context, expr string, from, to time.Time, step time.Duration) (model.Matrix, error) {
	return valueOf[model.Matrix](a.ask(ctx, "query_range", url.Values{"query": {expr}, "start": {stamp(from)}, "end": {stamp(to)},
		"step": {strconv.FormatFloat(step.Seconds(), 'f', -1, 64)}}))
}

func valueOf[T model.Value](v model.Value, err error) (of T, _ error) {
	of, ok := v.(T)
	if err == nil && !ok {
		err = fmt.Errorf("asking Prometheus: the answer is a %s", v.Type())
	}
	return of, err
}

func stamp(t time.Time) string { return strconv.FormatFloat(float64(t.UnixMilli())/1000, 'f', 3, 64) }

// wrong returns an error for people, without the address.
func wrong(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("asking Prometheus: no answer within %s", askTimeout)
	}
	text := api.WithoutAddress(err).Error()
	if len(text) > maxWords {
		text = text[:maxWords] + "…"
	}
	return fmt.Errorf("asking Prometheus: %s", strings.ToValidUTF8(text, "\uFFFD"))
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
	return "rate(" + selector + "[" + promDuration(max(time.Minute, 2*step)) + "])"
}

// promDuration writes a duration as Prometheus reads it.
func promDuration(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) + "ms" }

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
	for _, span := range []string{"[" + promDuration(longest) + ":1h]", "[1h:5s]", "[5s:1s]"} { // each finer, before what the last one found
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

// interval returns the usual time between two samples: 15 seconds if there are no two.
func (a *Archive) interval(ctx context.Context, now time.Time) (time.Duration, error) {
	matrix, err := a.raw(ctx, a.of([]string{always})+"[5m]", now)
	if err != nil {
		return 0, err
	}
	var apart []time.Duration
	for _, s := range matrix {
		for i := 1; i < len(s.Values); i++ {
			apart = append(apart, s.Values[i].Timestamp.Sub(s.Values[i-1].Timestamp))
		}
	}
	if len(apart) == 0 {
		return 15 * time.Second, nil
	}
	slices.Sort(apart)
	return min(max(apart[len(apart)/2].Round(time.Second), time.Second), time.Hour), nil
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
