// SPDX-License-Identifier: Apache-2.0

package kit

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
	"github.com/pnagent/pnagent/web/api"
)

// Digest is that of the definition of the only net, by which engines name it.
func (s *Sidecar) Digest(t *testing.T) string {
	t.Helper()
	v := s.View(t)
	if len(v.Nets) != 1 || len(v.Nets[0].Digests) != 1 {
		t.Fatalf("got %+v; want one net with one digest", v)
	}
	return v.Nets[0].Digests[0].Digest
}

// StartNATS runs a nats-server of its own process and returns its URL.
func StartNATS(t *testing.T, args ...string) string {
	t.Helper()
	dir := t.TempDir()
	Start(t, Built().NATS, append([]string{"--addr", "127.0.0.1", "--port", "-1", "--ports_file_dir", dir}, args...)...)
	var ports struct{ NATS []string }
	Until(t, "nats-server tells its port", func() error {
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

// Connect is a NATS client of the test's own.
func Connect(t *testing.T, url string) *nats.Conn {
	t.Helper()
	nc, err := nats.Connect(url, nats.Timeout(Patience))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

// Web is where pnagent serves HTTP.
type Web struct{ URL string }

// Sidecar is "pnagent serve" that runs.
type Sidecar struct {
	*Process
	Web
	SNMP string // where the built-in responder answers; "" without one
}

// Serve runs a sidecar that shows all that engines ever did, whichever starts
// first. Flags that say where to listen are made up.
func Serve(t *testing.T, natsURL string, args ...string) *Sidecar {
	t.Helper()
	return ServeAsIs(t, natsURL, append([]string{"--from-zero"}, args...)...)
}

// ServeAsIs runs a sidecar that counts as it does by default.
func ServeAsIs(t *testing.T, natsURL string, args ...string) *Sidecar {
	t.Helper()
	return ServeProgram(t, Built().Pnagent, natsURL, args...)
}

// ServeProgram runs a sidecar of a program, which may be that of another version.
func ServeProgram(t *testing.T, program, natsURL string, args ...string) *Sidecar {
	t.Helper()
	args = append([]string{"serve", "--nats", natsURL, "--web.listen-address", "127.0.0.1:0", "--log.format", "json"}, args...)
	s := &Sidecar{Process: Start(t, program, args...)}
	at := s.Says(t, `"sidecar serves".*"http":"([^"]*)","snmp":"([^"]*)"`)
	s.URL, s.SNMP = "http://"+at[1], at[2]
	return s
}

// Get asks for a page.
func (w Web) Get(path string) (status int, body []byte, err error) {
	client := http.Client{Timeout: Patience, Transport: &http.Transport{DisableKeepAlives: true}}
	req, err := http.NewRequest(http.MethodGet, w.URL+path, nil)
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

// Page returns the body of a page, which is there.
func (w Web) Page(t *testing.T, path string) []byte {
	t.Helper()
	status, body, err := w.Get(path)
	if err != nil || status != http.StatusOK {
		t.Fatalf("%s: got %d, %v: %.1000s; want 200", path, status, err, body)
	}
	return body
}

// View is GET /api/v1/view.
type View struct{ api.View }

// View returns the View at the API.
func (w Web) View(t *testing.T) View {
	t.Helper()
	v, err := ParseView(w.Page(t, "/api/v1/view"))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// ParseView parses the JSON of a View.
func ParseView(text []byte) (View, error) {
	var v View
	if err := json.Unmarshal(text, &v); err != nil {
		return v, fmt.Errorf("the view: %w: %.1000s", err, text)
	}
	return v, nil
}

// Source is the state of one source; "" where it is not known.
func (v View) Source(net, name string) string {
	for _, s := range v.Sources {
		if s.Net == net && s.Name == name {
			return s.State
		}
	}
	return ""
}

// Scrape is what /metrics said between two moments.
type Scrape struct {
	Text       []byte
	Families   map[string]*dto.MetricFamily
	Begun, Got time.Time
}

// Scrape returns what the sidecar's metrics show.
func (w Web) Scrape(t *testing.T) Scrape {
	t.Helper()
	s, err := w.ReadMetrics()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Self returns what the sidecar's metrics show of itself: those that begin with pnagent_.
// They take a small part of the time of a scrape of large nets.
func (w Web) Self(t *testing.T) Scrape {
	t.Helper()
	s, err := w.readMetrics("/metrics/self")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// ReadMetrics is scrape for goroutines other than the test's.
func (w Web) ReadMetrics() (Scrape, error) { return w.readMetrics("/metrics") }

func (w Web) readMetrics(page string) (Scrape, error) {
	s := Scrape{Begun: time.Now()}
	status, text, err := w.Get(page)
	if err != nil || status != http.StatusOK {
		return s, fmt.Errorf("%s: %d, %w", page, status, err)
	}
	s.Text, s.Got = text, time.Now()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	s.Families, err = parser.TextToMetricFamilies(bytes.NewReader(text))
	if err != nil {
		return s, fmt.Errorf("%s: %w", page, err)
	}
	return s, nil
}

// Series is one series of a gauge or counter.
type Series struct {
	Labels map[string]string
	Value  float64
}

// All lists the series of a family.
func (s Scrape) All(family string) []Series {
	var all []Series
	for _, m := range s.Families[family].GetMetric() {
		labels := map[string]string{}
		for _, l := range m.GetLabel() {
			labels[l.GetName()] = l.GetValue()
		}
		all = append(all, Series{labels, m.GetGauge().GetValue() + m.GetCounter().GetValue()})
	}
	return all
}

// Value is one series of a family: name, value, name, value of its labels.
func (s Scrape) Value(family string, labels ...string) (float64, bool) {
	for _, one := range s.All(family) {
		same := len(one.Labels) == len(labels)/2
		for i := 0; i < len(labels); i += 2 {
			same = same && one.Labels[labels[i]] == labels[i+1]
		}
		if same {
			return one.Value, true
		}
	}
	return 0, false
}

// Engine is "pnagent engine" that runs.
type Engine struct {
	*Process
	Source string
}

// RunEngine runs an engine under a source name.
func RunEngine(t *testing.T, natsURL, source string, args ...string) *Engine {
	t.Helper()
	return RunProgram(t, Built().Pnagent, natsURL, source, args...)
}

// RunProgram runs an engine of a program, which may be that of another version.
func RunProgram(t *testing.T, program, natsURL, source string, args ...string) *Engine {
	t.Helper()
	args = append([]string{"engine", "--nats", natsURL, "--source", source, "--interval", "200ms"}, args...)
	return &Engine{Start(t, program, args...), source}
}

// Report is the line that an engine prints as it ends.
type Report struct {
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

// ParseReport parses the line that an engine prints at its end.
func ParseReport(t *testing.T, out string) Report {
	t.Helper()
	var r Report
	if strings.Count(out, "\n") != 1 {
		t.Fatalf("an engine prints %q, want one line", out)
	}
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatalf("an engine prints %q: %v", out, err)
	}
	return r
}

// End waits for the engine's exit and returns what it says that it did.
func (e *Engine) End(t *testing.T) Report {
	t.Helper()
	if code := e.Wait(t); code != 0 {
		t.Fatalf("engine %s: got exit code %d; want 0", e.Source, code)
	}
	return ParseReport(t, e.Out.String())
}

// Request asks an engine to inject tokens or to fire, over NATS. It waits for
// an engine that has not subscribed yet.
func Request(t *testing.T, nc *nats.Conn, kind, net, source, body string) {
	t.Helper()
	subject := telemetry.DefaultPrefix + "." + kind + "." + telemetry.Escape(net) + "." + telemetry.Escape(source)
	Until(t, "engine "+source+" answers", func() error {
		answer, err := nc.Request(subject, []byte(body), Patience)
		if err != nil {
			return err
		}
		if string(answer.Data) != `{"ok":true}` {
			t.Fatalf("%s %s: got %s; want ok", subject, body, answer.Data)
		}
		return nil
	})
}

// Shows checks that nets are shown, with tokens.
func (w Web) Shows(t *testing.T, nets ...string) error {
	t.Helper()
	return w.View(t).Shows(nets...)
}

// Shows returns an error unless the View has tokens in each of these nets.
func (v View) Shows(nets ...string) error {
	seen := map[string]bool{}
	for k, n := range v.Numbers().Tokens {
		seen[k.Net] = seen[k.Net] || n > 0
	}
	for _, net := range nets {
		if !seen[net] {
			return fmt.Errorf("net %q is not", net)
		}
	}
	return nil
}
