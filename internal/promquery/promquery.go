// SPDX-License-Identifier: Apache-2.0

// Package promquery evaluates expressions at a Prometheus server.
//
// Prometheus is another program, and its answers may be anything: an answer is bounded in bytes and
// in what is in it before it is decoded. Errors are for people. They are short, and do not hold the
// address, which may have a password in it.
package promquery

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/common/model"
)

// Bounds on one answer. A net of 5,000 places and as many transitions has 40,000 series.
const (
	MaxBytes   = 32 << 20
	maxObjects = 1 << 19 // two for each series
	MaxLists   = 2 << 20 // one for each sample
	maxQuotes  = 8 << 20
	maxWords   = 300 // of what an error says, in bytes
)

// The errors of an answer.
var (
	ErrTooLarge      = errors.New("the answer is too large")
	ErrNotPrometheus = errors.New("the answer is not Prometheus'")
)

// Server is a Prometheus server.
type Server struct {
	URL     string        // as in http://127.0.0.1:9090
	HTTP    *http.Client  // with its credentials
	Timeout time.Duration // of one answer
	Limit   int           // series of an answer, where Prometheus can cut it; 0 for all
}

// Answer is the value of an expression.
type Answer struct {
	Value    model.Value // a model.Vector or model.Matrix without nil, or a *model.Scalar
	Warnings []string
}

// At evaluates an expression at a time.
func (s Server) At(ctx context.Context, expr string, at time.Time) (Answer, error) {
	return s.ask(ctx, "query", url.Values{"query": {expr}, "time": {stamp(at)}})
}

// Over evaluates an expression at every step of a time.
func (s Server) Over(ctx context.Context, expr string, from, to time.Time, step time.Duration) (Answer, error) {
	return s.ask(ctx, "query_range", url.Values{"query": {expr}, "start": {stamp(from)}, "end": {stamp(to)},
		"step": {strconv.FormatFloat(step.Seconds(), 'f', -1, 64)}})
}

// Interval returns the median time between two samples of a selector in the window before a time, from
// a second to an hour: 15 seconds if there are no two.
func (s Server) Interval(ctx context.Context, selector string, window time.Duration, at time.Time) (time.Duration, error) {
	a, err := s.At(ctx, selector+"["+Duration(window)+"]", at)
	if err != nil {
		return 0, err
	}
	var apart []time.Duration
	matrix, _ := a.Value.(model.Matrix)
	for _, series := range matrix {
		for i := 1; i < len(series.Values); i++ {
			apart = append(apart, series.Values[i].Timestamp.Sub(series.Values[i-1].Timestamp))
		}
	}
	if len(apart) == 0 {
		return 15 * time.Second, nil
	}
	slices.Sort(apart)
	return min(max(apart[len(apart)/2].Round(time.Second), time.Second), time.Hour), nil
}

// Duration writes a duration as Prometheus reads it.
func Duration(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) + "ms" }

func stamp(t time.Time) string { return strconv.FormatFloat(float64(t.UnixMilli())/1000, 'f', 3, 64) }

// ask sends a request to a path of the API.
func (s Server) ask(ctx context.Context, path string, form url.Values) (Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	form.Set("timeout", s.Timeout.String())
	if s.Limit > 0 {
		form.Set("limit", strconv.Itoa(s.Limit))
	}
	a, err := s.post(ctx, strings.TrimSuffix(s.URL, "/")+"/api/v1/"+path, form)
	if errors.Is(err, context.DeadlineExceeded) {
		return a, fmt.Errorf("asking Prometheus: no answer within %s: %w", s.Timeout, context.DeadlineExceeded)
	}
	if inner := (*url.Error)(nil); errors.As(err, &inner) {
		err = inner.Err // without the address
	}
	if err != nil {
		return a, fmt.Errorf("asking Prometheus: %w", err)
	}
	return a, nil
}

func (s Server) post(ctx context.Context, address string, form url.Values) (Answer, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(form.Encode()))
	if err != nil {
		return Answer{}, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := s.HTTP.Do(req)
	if err != nil {
		return Answer{}, err
	}
	defer resp.Body.Close()
	a, err := Read(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = ErrNotPrometheus
	}
	if err != nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %w", resp.Status, err)
	}
	return a, err
}

// reply is an answer of Prometheus; see its documentation of the HTTP API.
type reply struct {
	Status string `json:"status"`
	Error  string `json:"error"`
	Data   struct {
		Type   string          `json:"resultType"`
		Result json.RawMessage `json:"result"`
	} `json:"data"`
	Warnings []string `json:"warnings"`
}

// Read reads an answer. What is in it is counted first, so that a small text cannot become large
// values. Faults that Prometheus names are errors in its words.
func Read(r io.Reader) (a Answer, err error) {
	text, err := io.ReadAll(io.LimitReader(r, MaxBytes+1))
	if err != nil {
		return a, err
	}
	count := func(part string) int { return bytes.Count(text, []byte(part)) }
	if len(text) > MaxBytes || count("{")+count("null") > maxObjects || count("[") > MaxLists || count(`"`) > maxQuotes {
		return a, ErrTooLarge
	}
	var got reply
	if err := json.Unmarshal(text, &got); err != nil {
		return a, ErrNotPrometheus
	}
	if got.Status != "success" {
		return a, errors.New(brief(cmp.Or(got.Error, ErrNotPrometheus.Error())))
	}
	for _, w := range got.Warnings {
		a.Warnings = append(a.Warnings, brief(w))
	}
	switch got.Data.Type {
	case "vector":
		v := model.Vector{}
		err = json.Unmarshal(got.Data.Result, &v)
		a.Value = slices.DeleteFunc(v, func(s *model.Sample) bool { return s == nil })
	case "matrix":
		m := model.Matrix{}
		err = json.Unmarshal(got.Data.Result, &m)
		a.Value = slices.DeleteFunc(m, func(s *model.SampleStream) bool { return s == nil })
	case "scalar":
		s := &model.Scalar{}
		err = json.Unmarshal(got.Data.Result, s)
		a.Value = s
	default:
		err = fmt.Errorf("a result of type %q; expected a vector or a matrix", brief(got.Data.Type))
	}
	if err != nil {
		return Answer{}, errors.New("reading the answer: " + brief(err.Error()))
	}
	return a, nil
}

// brief shortens a text from outside.
func brief(text string) string {
	if len(text) > maxWords {
		text = text[:maxWords] + "…"
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}
