// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"bytes"
	"encoding/json"
	"math"
	"net/url"
	"os/exec"
	"testing"
	"time"

	"github.com/prometheus/common/model"
)

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
	all := p.ask(t, promQL, at)
	if len(all) != 1 {
		return math.NaN()
	}
	return float64(all[0].Value.Value)
}

// Samples are the values that a range of one series had at a time.
func (p Prometheus) Samples(t *testing.T, promQL string, at time.Time) (values []float64) {
	t.Helper()
	all := p.ask(t, promQL, at)
	if len(all) != 1 || len(all[0].Values) < 2 {
		t.Fatalf("%s: %v; want one series of at least two samples", promQL, all)
	}
	for _, sample := range all[0].Values {
		values = append(values, float64(sample.Value))
	}
	return values
}

// Query returns the values of a PromQL expression by net and the label id.
func (p Prometheus) Query(t *testing.T, promQL, id string) map[Key]uint64 {
	t.Helper()
	found := map[Key]uint64{}
	for _, s := range p.ask(t, promQL, time.Now()) {
		found[Key{s.Metric["net"], s.Metric[id]}] = uint64(s.Value.Value)
	}
	return found
}

// queried is one series of an answer of Prometheus.
type queried struct {
	Metric map[string]string
	Value  model.SamplePair   // of a vector
	Values []model.SamplePair // of a range
}

// ask returns the series of a PromQL expression at a time.
func (p Prometheus) ask(t *testing.T, promQL string, at time.Time) []queried {
	t.Helper()
	query := url.Values{"query": {promQL}, "time": {at.UTC().Format(time.RFC3339Nano)}}
	status, body, err := p.Get("/api/v1/query?" + query.Encode())
	if err != nil || status/100 != 2 && status != 503 { // 503: not ready yet
		t.Fatalf("Prometheus: got %d, %v: %s; want success", status, err, body)
	}
	var answer struct{ Data struct{ Result []queried } }
	_ = json.Unmarshal(body, &answer) // what is no answer has no result
	return answer.Data.Result
}
