// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/pnagent/pnagent/telemetry"
)

// startNATS runs a nats-server of its own process and returns its URL.
func startNATS(t *testing.T, args ...string) string {
	t.Helper()
	dir := t.TempDir()
	start(t, built.nats, append([]string{"--addr", "127.0.0.1", "--port", "-1", "--ports_file_dir", dir}, args...)...)
	var ports struct{ NATS []string }
	until(t, "nats-server tells its port", func() error {
		files, err := filepath.Glob(filepath.Join(dir, "*.ports"))
		if err != nil || len(files) != 1 {
			return errors.Join(err, fmt.Errorf("%d files", len(files)))
		}
		text, err := os.ReadFile(files[0])
		if err != nil {
			return err
		}
		return json.Unmarshal(text, &ports)
	})
	return ports.NATS[0]
}

// connect is a NATS client of the test's own.
func connect(t *testing.T, url string) *nats.Conn {
	t.Helper()
	nc, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

// web is where pnagent serves HTTP.
type web struct{ url string }

// sidecar is "pnagent serve" that runs.
type sidecar struct {
	*process
	web
	snmp string // where the built-in responder answers; "" without one
}

// serve runs a sidecar that shows all that engines ever did, whichever starts
// first. Flags that say where to listen are made up.
func serve(t *testing.T, natsURL string, args ...string) *sidecar {
	t.Helper()
	return serveAsIs(t, natsURL, append([]string{"--from-zero"}, args...)...)
}

// serveAsIs runs a sidecar that counts as it does by default.
func serveAsIs(t *testing.T, natsURL string, args ...string) *sidecar {
	t.Helper()
	args = append([]string{"serve", "--nats", natsURL, "--web.listen-address", "127.0.0.1:0", "--log.format", "json"}, args...)
	s := &sidecar{process: start(t, built.pnagent, args...)}
	at := s.says(t, `"sidecar serves".*"http":"([^"]*)","snmp":"([^"]*)"`)
	s.url, s.snmp = "http://"+at[1], at[2]
	return s
}

// get asks for a page.
func (w web) get(path string) (status int, body []byte, err error) {
	client := http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true}}
	req, err := http.NewRequest(http.MethodGet, w.url+path, nil)
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Cache-Control", "no-cache") // what is so now
	resp, err := client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	body, err = io.ReadAll(resp.Body)
	return resp.StatusCode, body, err
}

func (w web) page(t *testing.T, path string) []byte {
	t.Helper()
	status, body, err := w.get(path)
	if err != nil || status != http.StatusOK {
		t.Fatalf("%s: got %d, %v: %.1000s; want 200", path, status, err, body)
	}
	return body
}

// view is GET /api/v1/view, as far as tests look at it.
type view struct {
	At         time.Time // when it was made
	Generation uint64
	Nets       []struct {
		ID, Name string
		Digests  []struct{ Digest string }
		Places   []struct {
			ID, Name string
			Tokens   *uint64
		}
		Transitions []struct {
			ID      string
			Firings *uint64
		}
	}
	Sources []struct {
		Name, Net, State string
		Epoch            int64 // start of its process, microseconds since the Unix epoch
	}
	Traffic struct{ Rejected map[string]uint64 }
}

func (w web) view(t *testing.T) view {
	t.Helper()
	v, err := parseView(w.page(t, "/api/v1/view"))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func parseView(text []byte) (view, error) {
	var v view
	if err := json.Unmarshal(text, &v); err != nil {
		return v, fmt.Errorf("the view: %w: %.1000s", err, text)
	}
	return v, nil
}

// source is the state of one source; "" where it is not known.
func (v view) source(net, name string) string {
	for _, s := range v.Sources {
		if s.Net == net && s.Name == name {
			return s.State
		}
	}
	return ""
}

// scrape is what /metrics said between two moments.
type scrape struct {
	text       []byte
	families   map[string]*dto.MetricFamily
	begun, got time.Time
}

func (w web) scrape(t *testing.T) scrape {
	t.Helper()
	s, err := w.readMetrics()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// readMetrics is scrape for goroutines other than the test's.
func (w web) readMetrics() (scrape, error) {
	s := scrape{begun: time.Now()}
	status, text, err := w.get("/metrics")
	if err != nil || status != http.StatusOK {
		return s, fmt.Errorf("/metrics: %d, %w", status, err)
	}
	s.text, s.got = text, time.Now()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	if s.families, err = parser.TextToMetricFamilies(bytes.NewReader(text)); err != nil {
		return s, fmt.Errorf("/metrics: %w", err)
	}
	return s, nil
}

// series is one series of a gauge or counter.
type series struct {
	labels map[string]string
	value  float64
}

// all lists the series of a family.
func (s scrape) all(family string) []series {
	var all []series
	for _, m := range s.families[family].GetMetric() {
		labels := map[string]string{}
		for _, l := range m.GetLabel() {
			labels[l.GetName()] = l.GetValue()
		}
		all = append(all, series{labels, m.GetGauge().GetValue() + m.GetCounter().GetValue()})
	}
	return all
}

// value is one series of a family: name, value, name, value of its labels.
func (s scrape) value(family string, labels ...string) (float64, bool) {
	for _, one := range s.all(family) {
		same := len(one.labels) == len(labels)/2
		for i := 0; i < len(labels); i += 2 {
			same = same && one.labels[labels[i]] == labels[i+1]
		}
		if same {
			return one.value, true
		}
	}
	return 0, false
}

// engine is "pnagent engine" that runs.
type engine struct {
	*process
	source string
}

// runEngine runs an engine under a source name.
func runEngine(t *testing.T, natsURL, source string, args ...string) *engine {
	t.Helper()
	args = append([]string{"engine", "--nats", natsURL, "--source", source, "--interval", "200ms"}, args...)
	return &engine{start(t, built.pnagent, args...), source}
}

// report is the line that an engine prints as it ends.
type report struct {
	Source  string
	Firings uint64
	Seconds float64
	Rate    float64
	Marking map[string]uint64
	Nets    map[string]struct {
		Firings     uint64
		Tokens      map[string]uint64
		Transitions map[string]uint64
	}
}

func parseReport(t *testing.T, out string) report {
	t.Helper()
	var r report
	d := json.NewDecoder(strings.NewReader(out))
	d.DisallowUnknownFields()
	if strings.Count(out, "\n") != 1 {
		t.Fatalf("an engine prints %q, want one line", out)
	}
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatalf("an engine prints %q: %v", out, err)
	}
	return r
}

// end waits for the engine's exit and returns what it says that it did.
func (e *engine) end(t *testing.T) report {
	t.Helper()
	if code := e.wait(t); code != 0 {
		t.Fatalf("engine %s: got exit code %d; want 0", e.source, code)
	}
	return parseReport(t, e.out.String())
}

// request asks an engine to inject tokens or to fire, over NATS. It waits for
// an engine that has not subscribed yet.
func request(t *testing.T, nc *nats.Conn, kind, net, source, body string) {
	t.Helper()
	subject := telemetry.DefaultPrefix + "." + kind + "." + telemetry.Escape(net) + "." + telemetry.Escape(source)
	until(t, "engine "+source+" answers", func() error {
		answer, err := nc.Request(subject, []byte(body), patience)
		if err != nil {
			return err
		}
		if string(answer.Data) != `{"ok":true}` {
			t.Fatalf("%s %s: got %s; want ok", subject, body, answer.Data)
		}
		return nil
	})
}

// shows checks that nets are shown, with tokens.
func (w web) shows(t *testing.T, nets ...string) error {
	t.Helper()
	return w.view(t).shows(nets...)
}

func (v view) shows(nets ...string) error {
	seen := map[string]bool{}
	for k, n := range v.numbers().Tokens {
		seen[k.Net] = seen[k.Net] || n > 0
	}
	for _, net := range nets {
		if !seen[net] {
			return fmt.Errorf("net %q is not", net)
		}
	}
	return nil
}
