// SPDX-License-Identifier: Apache-2.0

//go:build peers

package metrics

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// readers prints what the parsers of Python's prometheus_client read: samples, types and
// names. The one for OpenMetrics is strict.
const readers = `
import json, sys
from prometheus_client import openmetrics, parser
import prometheus_client.openmetrics.parser
text = sys.stdin.read()
read = openmetrics.parser if sys.argv[1] == "openmetrics" else parser
families = list(read.text_string_to_metric_families(text))
json.dump({"families": {f.name: f.type for f in families}, "samples": sum(len(f.samples) for f in families),
           "exemplars": sum(1 for f in families for s in f.samples if s.exemplar),
           "created": sum(1 for f in families for s in f.samples if s.name.endswith("_created"))}, sys.stdout)
`

// python returns a Python with prometheus_client, which it installs into the user's cache.
func python(t *testing.T) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skip(err)
	}
	dir := filepath.Join(cache, "pnagent-test", "prometheus_client-0.26.0")
	path := filepath.Join(dir, "bin", "python")
	if exec.CommandContext(t.Context(), path, "-c", "import prometheus_client.openmetrics.parser").Run() != nil {
		for _, args := range [][]string{{"python3", "-m", "venv", "--clear", dir}, {path, "-m", "pip", "install", "-q", "prometheus_client==0.26.0"}} {
			if out, err := exec.CommandContext(t.Context(), args[0], args[1:]...).CombinedOutput(); err != nil {
				t.Skipf("%v: %v: %.500s", args, err, out)
			}
		}
	}
	return path
}

func TestPythonReadsEveryScrape(t *testing.T) {
	path := python(t)
	clash := prometheus.NewGauge(prometheus.GaugeOpts{Name: "parts", Help: "A gauge beside a counter of its name."})
	total := prometheus.NewCounter(prometheus.CounterOpts{Name: "parts_total", Help: "That counter."})
	total.Add(7)
	for name, e := range map[string]*Exporter{
		"rich":    newExporter(t, rich(), func(c *Config) { withAlarms(c); c.Collectors = []prometheus.Collector{clash, total} }),
		"named":   newExporter(t, named(), nil),
		"created": newExporter(t, named(), func(c *Config) { c.CreatedSamples = true }),
		"no view": newExporter(t, nil, nil),
	} {
		for _, at := range []string{"/metrics", "/metrics/self", "/metrics/nets/orders"} {
			if name == "no view" && strings.Contains(at, "nets") {
				continue
			}
			for format, accept := range map[string]string{"openmetrics": acceptOpenMetrics, "text": ""} {
				t.Run(fmt.Sprint(name, at, " ", format), func(t *testing.T) {
					body := get(e.Handler(), at, accept).Body.String()
					cmd := exec.CommandContext(t.Context(), path, "-c", readers, format)
					cmd.Stdin = strings.NewReader(body)
					var failed strings.Builder
					cmd.Stderr = &failed
					out, err := cmd.Output()
					if err != nil {
						t.Fatalf("%v\n%s", err, failed.String())
					}
					var got struct {
						Families                    map[string]string
						Samples, Exemplars, Created int
					}
					if err := json.Unmarshal(out, &got); err != nil {
						t.Fatal(err)
					}
					lines := 0
					for line := range strings.Lines(body) {
						if !strings.HasPrefix(line, "#") {
							lines++
						}
					}
					nets := at != "/metrics/self" && name != "no view"
					if got.Samples != lines {
						t.Errorf("got %d samples of %d lines", got.Samples, lines)
					}
					if wants := nets && format == "openmetrics" && name != "rich"; (got.Exemplars > 0) != wants {
						t.Errorf("got %d exemplars; want some: %v", got.Exemplars, wants)
					}
					if wants := nets && format == "openmetrics" && name == "created"; (got.Created > 0) != wants {
						t.Errorf("got %d created samples; want some: %v", got.Created, wants)
					}
					if format == "openmetrics" && name == "rich" && at == "/metrics" && (got.Families["parts"] != "gauge" || got.Families["parts_total"] != "unknown") {
						t.Errorf("got parts as %q and parts_total as %q", got.Families["parts"], got.Families["parts_total"])
					}
				})
			}
		}
	}
}
