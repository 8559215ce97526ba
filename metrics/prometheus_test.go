// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestPrometheusScrapes lets a real Prometheus scrape, as text and, with native
// histograms enabled, as protobuf, and queries the slowest instances. It scrapes
// two exporters, because rich has no exemplars.
func TestPrometheusScrapes(t *testing.T) {
	for name, c := range map[string]struct {
		features string
		suffix   string // of a histogram's series
		queries  map[string]float64
	}{
		"as text": {"exemplar-storage", "_bucket", map[string]float64{
			`petrinet_place_dwell_seconds_bucket{job="rich", place="awaiting payment", le="1.0"}`:                                5,
			`petrinet_place_dwell_seconds_count{job="rich", place="awaiting payment"}`:                                           7,
			`sum(petrinet_transition_firings_total{job="rich", transition="pay"}) unless on() {__name__=~"petrinet_.+_created"}`: 90,
		}},
		"native": {"exemplar-storage,native-histograms", "", map[string]float64{
			`histogram_count(petrinet_place_dwell_seconds{job="rich", place="awaiting payment"})`:            7,
			`histogram_fraction(0, 1, petrinet_place_dwell_seconds{job="rich", place="awaiting payment"})*7`: 5,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			full, examples := httptest.NewServer(newExporter(t, rich(), nil).Handler()), httptest.NewServer(newExporter(t, named(), nil).Handler())
			defer full.Close()
			defer examples.Close()
			api := startPrometheus(t, map[string]string{"rich": full.Listener.Addr().String(), "named": examples.Listener.Addr().String()},
				"--enable-feature="+c.features)
			c.queries[`up{job="rich"}`] = 1
			c.queries[`petrinet_place_tokens{job="rich", place="awaiting payment"}`] = 4
			c.queries[`petrinet_place_oldest_token_age_seconds{job="rich", place="awaiting payment"}`] = 7200
			c.queries[`sum(petrinet_transition_firings_total{job="rich"})`] = 97
			c.queries[`scrape_samples_scraped{job="rich"} > bool 100`] = 1
			for query, want := range c.queries {
				await(t, func() bool { _, ok := ask(t, api, query); return ok })
				if got, _ := ask(t, api, query); got < want-1e-9 || got > want+1e-9 {
					t.Errorf("%s = %v, want %v", query, got, want)
				}
			}
			for metric, want := range map[string]one{
				"petrinet_place_dwell_seconds":         {"order-17", 5, noon.Add(-90 * time.Second)},
				"petrinet_transition_duration_seconds": {"order-18", 0.25, noon.Add(-1500 * time.Millisecond)},
			} {
				query := metric + c.suffix + `{job="named"}`
				await(t, func() bool { return len(exemplars(api, query)) > 0 })
				if d := cmp.Diff([]one{want}, exemplars(api, query)); d != "" {
					t.Errorf("%s (-want +got):\n%s", query, d)
				}
			}
		})
	}
}

// exemplars are those that a Prometheus stored for a query; none while there is
// no answer.
func exemplars(api, query string) (all []one) {
	form := url.Values{"query": {query}, "start": {fmt.Sprint(noon.Add(-time.Hour).Unix())}, "end": {fmt.Sprint(noon.Unix())}}
	response, err := http.Get(api + "/api/v1/query_exemplars?" + form.Encode())
	if err != nil {
		return nil
	}
	defer response.Body.Close()
	var answer struct {
		Data []struct {
			Exemplars []struct {
				Labels    map[string]string
				Value     string
				Timestamp float64
			}
		}
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return nil
	}
	for _, series := range answer.Data {
		for _, x := range series.Exemplars {
			value, _ := strconv.ParseFloat(x.Value, 64)
			all = append(all, one{x.Labels[ExemplarLabel], value, time.UnixMilli(int64(math.Round(x.Timestamp * 1000))).UTC()})
		}
	}
	return all
}

// startPrometheus runs a Prometheus that scrapes targets, by job, twice a
// second until the test ends, and returns the address of its query API.
func startPrometheus(t *testing.T, targets map[string]string, flags ...string) string {
	t.Helper()
	path, err := exec.LookPath("prometheus")
	if err != nil {
		t.Skip("prometheus is not installed (Debian: prometheus)")
	}
	dir := t.TempDir()
	config := filepath.Join(dir, "prometheus.yml")
	text := "scrape_configs:\n"
	for job, target := range targets {
		text += fmt.Sprintf("- job_name: %s\n  scrape_interval: 500ms\n  scrape_timeout: 500ms\n  static_configs:\n  - targets: ['%s']\n", job, target)
	}
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, path, append(flags, "--config.file="+config, "--storage.tsdb.path="+filepath.Join(dir, "tsdb"),
		"--web.listen-address="+address, "--log.level=error")...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = cmd.Wait() // it was killed
		http.DefaultClient.CloseIdleConnections()
	})
	return "http://" + address
}

// ask runs an instant query that gives one value; false while it gives none.
func ask(t *testing.T, api, query string) (float64, bool) {
	t.Helper()
	response, err := http.Get(api + "/api/v1/query?query=" + url.QueryEscape(query))
	if err != nil {
		return 0, false // not up yet
	}
	defer response.Body.Close()
	var answer struct {
		Error string
		Data  struct{ Result []struct{ Value [2]any } }
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return 0, false
	}
	if answer.Error != "" {
		t.Fatalf("%s: %s", query, answer.Error)
	}
	if len(answer.Data.Result) != 1 {
		return 0, false
	}
	value, err := strconv.ParseFloat(answer.Data.Result[0].Value[1].(string), 64)
	return value, err == nil
}

// await waits until a condition holds.
func await(t *testing.T, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for !holds() {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			t.Fatal("what was waited for did not happen in a minute")
		}
	}
}
