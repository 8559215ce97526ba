// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"

	"github.com/prometheus/common/model"

	"github.com/pnagent/pnagent/dashboards/report/plot"
)

// Bounds on one answer.
const (
	maxBytes   = 32 << 20
	maxObjects = 1 << 18 // series, most of all
	maxLists   = 4 << 20 // samples
	maxWords   = 300     // of what an error says, in bytes
)

var errTooLarge = errors.New("the answer is too large")

// answer is what Prometheus returns for an expression.
type answer struct {
	series   []series
	warnings []string
}

// series is one of an answer, an instant's with one point.
type series struct {
	labels     map[string]string
	points     []plot.Point
	histograms []histogram
}

// histogram is a native one at a time.
type histogram struct {
	at      time.Time
	buckets []model.HistogramBucket
}

// reply is Prometheus' JSON; see its documentation of the HTTP API.
type reply struct {
	Status string `json:"status"`
	Error  string `json:"error"`
	Data   struct {
		Type   string          `json:"resultType"`
		Result json.RawMessage `json:"result"`
	} `json:"data"`
	Warnings []string `json:"warnings"`
}

type replySeries struct {
	Metric     map[string]string `json:"metric"`
	Value      *sample           `json:"value"`
	Values     []sample          `json:"values"`
	Histogram  *nativeSample     `json:"histogram"`
	Histograms []nativeSample    `json:"histograms"`
}

// sample is [1435781430.781, "1"].
type sample plot.Point

// UnmarshalJSON implements json.Unmarshaler.
func (s *sample) UnmarshalJSON(text []byte) error {
	var at float64
	var value string
	err := pairOf(text, &at, &value)
	if err == nil {
		s.At, err = moment(at)
	}
	if err == nil {
		s.Value, err = strconv.ParseFloat(value, 64)
	}
	return err
}

// nativeSample is [1435781430.781, {"buckets": [[3, "0.5", "1", "4"], ...]}].
type nativeSample histogram

// UnmarshalJSON implements json.Unmarshaler.
func (n *nativeSample) UnmarshalJSON(text []byte) error {
	var at float64
	var native struct {
		Buckets []model.HistogramBucket `json:"buckets"`
	}
	err := pairOf(text, &at, &native)
	if err == nil {
		n.at, err = moment(at)
	}
	n.buckets = native.Buckets
	return err
}

func pairOf(text []byte, first, second any) error {
	var parts []json.RawMessage
	if err := json.Unmarshal(text, &parts); err != nil {
		return err
	}
	if len(parts) != 2 {
		return fmt.Errorf("a sample of %d parts; expected a time and a value", len(parts))
	}
	if err := json.Unmarshal(parts[0], first); err != nil {
		return err
	}
	return json.Unmarshal(parts[1], second)
}

// moment is a time in seconds since the Unix epoch, which is in a year that a
// page can show.
func moment(seconds float64) (time.Time, error) {
	if !(seconds >= 0 && seconds < 253402300800) {
		return time.Time{}, fmt.Errorf("a time of %v seconds; expected one before the year 10000", seconds)
	}
	return time.UnixMilli(int64(math.Round(seconds * 1000))), nil
}

// readAnswer reads what Prometheus answered. Faults that it names are errors in
// its words.
func readAnswer(r io.Reader) (*answer, error) {
	var got reply
	if err := readJSON(r, &got); err != nil {
		return nil, err
	}
	if got.Status != "success" {
		if got.Error == "" {
			return nil, errors.New("the answer is not Prometheus'")
		}
		return nil, errors.New(few(got.Error))
	}
	a := &answer{}
	for _, w := range got.Warnings {
		a.warnings = append(a.warnings, few(w))
	}
	var err error
	switch got.Data.Type {
	case "scalar":
		var one sample
		if err = json.Unmarshal(got.Data.Result, &one); err == nil {
			a.series = []series{{points: []plot.Point{plot.Point(one)}}}
		}
	case "vector", "matrix":
		a.series, err = readSeries(got.Data.Result)
	default:
		err = fmt.Errorf("a result of type %q; expected a vector or a matrix", few(got.Data.Type))
	}
	if err != nil {
		return nil, fmt.Errorf("reading the answer: %w", err)
	}
	return a, nil
}

func readSeries(text []byte) ([]series, error) {
	var all []replySeries
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, err
	}
	out := make([]series, len(all))
	for i, one := range all {
		if one.Value != nil {
			one.Values = append(one.Values, *one.Value)
		}
		if one.Histogram != nil {
			one.Histograms = append(one.Histograms, *one.Histogram)
		}
		out[i] = series{labels: one.Metric, points: make([]plot.Point, len(one.Values)), histograms: make([]histogram, len(one.Histograms))}
		for j, p := range one.Values {
			out[i].points[j] = plot.Point(p)
		}
		for j, h := range one.Histograms {
			out[i].histograms[j] = histogram(h)
		}
	}
	return out, nil
}

// readJSON reads a document. Objects and lists are counted before it is
// decoded, so a small text cannot become a large document.
func readJSON(r io.Reader, into any) error {
	text, err := io.ReadAll(io.LimitReader(r, maxBytes+1))
	if err != nil {
		return err
	}
	if len(text) > maxBytes || bytes.Count(text, []byte("{"))+bytes.Count(text, []byte("null")) > maxObjects ||
		bytes.Count(text, []byte("[")) > maxLists {
		return errTooLarge
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("reading the answer: %w", err)
	}
	return nil
}

// few shortens a text from outside.
func few(s string) string {
	if len(s) > maxWords {
		return s[:maxWords] + "…"
	}
	return s
}
