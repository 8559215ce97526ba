// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"bytes"
	"encoding/json"
	"math"
	"net/url"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/pnagent/pnagent/web/api"
)

// Documents are what a sidecar says of a moment.
type Documents struct {
	Overview *api.Overview
	Frame    *api.Frame
}

// PromtoolIsSilent checks a scrape as Prometheus' own linter does.
func PromtoolIsSilent(t *testing.T, text []byte) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), Need(t, "promtool", "prometheus"), "check", "metrics")
	cmd.Stdin = bytes.NewReader(text)
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("promtool check metrics: got %v\n%s\nwant no fault", err, out)
	}
}

// Number is what a query of one series returns; NaN without one.
func (p Prometheus) Number(t *testing.T, promQL string) float64 {
	t.Helper()
	return p.NumberAt(t, promQL, time.Now())
}

// NumberAt is what a query of one series returned at a time; NaN without one.
func (p Prometheus) NumberAt(t *testing.T, promQL string, at time.Time) float64 {
	t.Helper()
	values := p.ask(t, promQL, at)
	if len(values) != 1 {
		return math.NaN()
	}
	return values[0]
}

// Samples are the values that a range of one series had at a time.
func (p Prometheus) Samples(t *testing.T, promQL string, at time.Time) []float64 {
	t.Helper()
	values := p.ask(t, promQL, at)
	if len(values) < 2 {
		t.Fatalf("%s: %v; want at least two samples", promQL, values)
	}
	return values
}

// ask returns the values of a query of one series; nil for no or several series.
func (p Prometheus) ask(t *testing.T, promQL string, at time.Time) (values []float64) {
	t.Helper()
	var answer struct {
		Data struct {
			Result []struct {
				Value  [2]any   // of a vector
				Values [][2]any // of a range
			}
		}
	}
	query := url.Values{"query": {promQL}, "time": {at.UTC().Format(time.RFC3339Nano)}}
	_, body, err := p.Get("/api/v1/query?" + query.Encode())
	if err != nil {
		t.Fatal(err)
	}
	_ = json.Unmarshal(body, &answer) // what is no answer has no result
	if len(answer.Data.Result) != 1 {
		return nil
	}
	samples := answer.Data.Result[0].Values
	if samples == nil {
		samples = append(samples, answer.Data.Result[0].Value)
	}
	for _, sample := range samples {
		text, _ := sample[1].(string)
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatalf("prometheus: %s", body)
		}
		values = append(values, v)
	}
	return values
}
