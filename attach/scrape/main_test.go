// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"strings"
	"testing"

	"github.com/pnagent/pnagent/internal/natstest"
	dto "github.com/prometheus/client_model/go"

	"github.com/pnagent/pnagent/stats"
)

func TestMain(m *testing.M) { natstest.Main(m) }

// second is a second in microseconds. The scrapes of the tests are some seconds
// after the epoch.
const second = int64(1e6)

func mapping(t testing.TB, text string) *Mapping {
	t.Helper()
	m, err := ReadMapping(strings.NewReader(text), "m.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// scraped returns a scrape in the text format.
func scraped(t testing.TB, text string) families {
	t.Helper()
	all, err := parse([]byte(text), "text/plain", MaxSeries)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// rowsOf returns the rows of a net as of the last scrape.
func (s *state) rowsOf(t testing.TB, net string) *stats.Rows {
	t.Helper()
	n := s.byID[net]
	if n == nil {
		t.Fatalf("no net %q", net)
	}
	r := stats.NewRows(len(n.rows[places]), len(n.rows[transitions]))
	n.fill(r)
	return r
}

func observed(durations ...int64) *stats.Histogram {
	var h stats.Histogram
	for _, d := range durations {
		h.Observe(d)
	}
	return &h
}

func labelPairs(namesAndValues ...string) []*dto.LabelPair {
	var out []*dto.LabelPair
	for i := 0; i < len(namesAndValues); i += 2 {
		out = append(out, &dto.LabelPair{Name: &namesAndValues[i], Value: &namesAndValues[i+1]})
	}
	return out
}
