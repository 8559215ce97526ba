// SPDX-License-Identifier: Apache-2.0

package dashboards

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pnagent/pnagent/internal/buildtest"
	"github.com/pnagent/pnagent/internal/porttest"
)

// seen are the nets and places of which the dashboards about one are looked
// at: places that tokens pass, and places where they get stuck.
var seen = []Variables{
	{"net": "order-fulfilment", "place": "inTransit"},
	{"net": "backup-window", "place": "queued"},
}

// also are those in which tokens get stuck in the demo, in one or two of them at any time.
var also = []Variables{
	{"net": "backup-window", "place": "failed"}, {"net": "claim", "place": "approve/active"}, {"net": "packaging-line", "place": "emptyRoll"},
	{"net": "order-fulfilment", "place": "customsHeld"}, {"net": "claim", "place": "toPay"}, {"net": "order-fulfilment", "place": "paymentUnclear"},
}

// quiet are the panels that rightly have no number above 0 in the demo, in which nothing is
// wrong with the sidecar and its sources, and whose workers keep up.
var quiet = []string{
	"Deadlocked",
	"Ready instances", "Longest wait", "Longest without service", "Work not started",
	"Ready by priority", "Longest wait by priority", "Starvation by priority", "Work not started, by net",
	"Sources not up", "Sources refused", "Lost and rejected messages", "Connections that ended", "Gaps by source", "Refused requests",
	"Notifications", "Alarms not saved", "SNMP requests", "SNMP faults", "Series left out, scrapes refused",
	"Regions", // and no series: the demo has none; what everything asks has
}

// loud are the alerts that the load makes true. Of the others the signal has
// to be there; some of them are made true at the end.
var loud = map[string]bool{
	"PetrinetTokenStuck": true, "PetrinetTransitionStarved": true, "PetrinetNetDeadlocked": true, "PetrinetTransitionFailing": true,
	"PetrinetTransitionLooping": true, "PetrinetSourceLost": true, "PetrinetRegionWithoutStandby": true, "PetrinetRegionStopped": true,
	"PetrinetSourceConflict": true, "PetrinetSourceRefused": true, "PnagentMessagesLost": true, "PnagentMessagesRejected": true, "PnagentRequestsRefused": true,
	"PnagentSeriesDropped": true, "PnagentConfigReloadFailed": true,
	"PnagentNotificationsSuppressed": true, "PnagentAlarmsNotKept": true,
}

// TestAgainstPrometheus asks real Prometheuses.
func TestAgainstPrometheus(t *testing.T) {
	path, err := exec.LookPath("prometheus")
	if err != nil {
		t.Skip("prometheus is not installed (Debian package prometheus)")
	}
	bin := filepath.Join(t.TempDir(), "pnagent")
	if err := buildtest.Build(t.Context(), "", bin, "github.com/pnagent/pnagent/cmd/pnagent"); err != nil {
		t.Fatal(err)
	}
	t.Run("every expression has an answer and no warning", func(t *testing.T) { t.Parallel(); everyExpression(t, path, bin) })
	t.Run("no panel is empty in the demo", func(t *testing.T) { t.Parallel(); noPanelIsEmpty(t, path, bin) })
}

// everyExpression has classic and native histograms of a sidecar under load.
func everyExpression(t *testing.T, path, bin string) {
	l := startLoad(t, bin)
	servers := map[string]*asked{
		"classic": startPrometheus(t, path, l.address),
		"native":  startPrometheus(t, path, l.address, "--enable-feature=native-histograms"),
	}
	stop, done := make(chan struct{}), make(chan struct{})
	l.trouble(t)
	go func() { defer close(done); l.misbehave(t, stop) }()
	defer func() { close(stop); <-done }()
	t.Run("histograms", func(t *testing.T) {
		for name, a := range servers {
			t.Run(name, func(t *testing.T) { t.Parallel(); a.everything(t) })
		}
	})
	if t.Failed() {
		text, _ := get("http://" + l.address + "/metrics")
		t.Logf("the sidecar shows\n%s", regexp.MustCompile(`(?m)^(petrinet_(source|alarm|transition_f.*claims)|pnagent).*\n`).FindAllString(text, -1))
	}
	l.snmpd.Kill()
	l.crowd(t)
	for _, a := range servers {
		a.warm = time.Now().Add(patience)
	}
	for _, name := range []string{"PnagentAgentXDown", "PnagentScrapesRefused"} {
		servers["classic"].answers(t, name, alertNamed(t, name).Expr())
	}
	l.serve.signal(t, 9)
	for _, name := range []string{"PnagentDown", "PnagentAbsent"} {
		servers["native"].answers(t, name, alertNamed(t, name).Expr())
	}
}

// noPanelIsEmpty checks that every panel of the demo has data, and those that are not quiet
// more than zeros.
func noPanelIsEmpty(t *testing.T, path, bin string) {
	address := porttest.Addr(t)
	start(t, bin, "demo", "--http", address, "--snmp", "127.0.0.1:0")
	a := startPrometheus(t, path, address)
	titles := map[string]bool{}
	for _, d := range All() {
		choices := []Variables{{"net": ".+"}}
		more := choices
		if d.UID == uidNet || d.UID == uidPlace {
			choices, more = seen, slices.Concat(seen, also)
		}
		for _, p := range d.Panels() {
			titles[p.Title] = true
			if p.Title == "Regions" || p.Title == schedules {
				continue
			}
			if strings.HasPrefix(p.Title, "Active alarms") {
				await(t, fmt.Sprintf("%s, %s shows an alarm", d.Title, p.Title), func() bool {
					return slices.ContainsFunc(more, func(v Variables) bool { return a.shows(&p, v, "%s") })
				})
				continue
			}
			for _, v := range choices {
				await(t, fmt.Sprintf("%s, %s shows something for %v", d.Title, p.Title, v), func() bool { return a.shows(&p, v, "%s") })
			}
			if !slices.Contains(quiet, p.Title) {
				await(t, fmt.Sprintf("%s, %s has more than zeros", d.Title, p.Title), func() bool {
					return slices.ContainsFunc(more, func(v Variables) bool { return a.shows(&p, v, "(%s) > 0") })
				})
			}
		}
	}
	for _, title := range quiet {
		if !titles[title] {
			t.Errorf("there is no panel %q", title)
		}
	}
	for _, what := range []string{"created", "finished"} {
		await(t, "claims are "+what, func() bool {
			_, err := a.ask("/api/v1/query", url.Values{"query": {fmt.Sprintf(`rate(petrinet_instances_%s_total{net="claim"}[10s]) > 0`, what)}})
			return err == nil
		})
	}
}

// shows reports whether any query of a panel, in a form, has an answer.
func (a *asked) shows(p *Panel, v Variables, form string) bool {
	for _, q := range p.Queries {
		if _, err := a.ask("/api/v1/query", url.Values{"query": {fmt.Sprintf(form, a.expand(q.Expr, v))}}); err == nil {
			return true
		}
	}
	return false
}

func alertNamed(t *testing.T, name string) Alert {
	t.Helper()
	for _, a := range Alerts(DefaultJob) {
		if a.Name == name {
			return a
		}
	}
	t.Fatalf("there is no alert %s", name)
	return Alert{}
}

// everything asks for what dashboards and rules ask for.
func (a *asked) everything(t *testing.T) {
	for _, d := range All() {
		choices := []Variables{{"net": ".+"}}
		if d.UID == uidNet || d.UID == uidPlace {
			choices = seen
		}
		for _, p := range d.Panels() {
			if p.Title == schedules {
				continue
			}
			for i, q := range p.Queries {
				a.panel(t, fmt.Sprintf("%s, %s, query %s", d.Title, p.Title, refID(i)), &p, q, choices)
			}
		}
		a.marks(t, &d, choices)
	}
	for _, r := range Recordings() {
		a.answers(t, r.Record, r.Expr)
		a.answers(t, r.Record, r.Record) // by its name, as Prometheus keeps it
	}
	for _, alert := range Alerts(DefaultJob) {
		switch {
		case loud[alert.Name]:
			a.answers(t, alert.Name, alert.Expr())
		case alert.Name != "PnagentAbsent" && !strings.Contains(alert.Signal, ":held"): // those have series only for what is wrong
			a.answers(t, alert.Name, alert.Signal)
		}
	}
}

// marks waits until alarms that were raised since the start are marked on a
// dashboard, with one of the choices.
func (a *asked) marks(t *testing.T, d *Dashboard, choices []Variables) {
	t.Helper()
	var err error
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); <-time.After(100 * time.Millisecond) {
		for _, v := range choices {
			now := time.Now()
			_, err = a.ask("/api/v1/query_range", url.Values{"query": {a.expand(d.Annotation(), v)}, "step": {"30"}, "end": {strconv.FormatInt(now.Unix(), 10)},
				"start": {strconv.FormatInt(now.Add(-10*time.Minute).Unix(), 10)}})
			if err == nil {
				return
			}
		}
	}
	t.Errorf("the annotation of %s: %v", d.Title, err)
}

// panel asks for a query of a panel. With every choice there is an answer,
// and with one of them there are numbers.
func (a *asked) panel(t *testing.T, what string, p *Panel, q Query, choices []Variables) {
	numbers := false
	for _, v := range choices {
		expr := a.expand(q.Expr, v)
		if p.Instant() {
			numbers = a.answers(t, what, expr) || numbers
		} else {
			numbers = a.draws(t, what, expr) || numbers
		}
	}
	if !numbers {
		t.Errorf("%s has no number: %s", what, q.Expr)
	}
}

// asked is a Prometheus that is asked.
type asked struct {
	api    string
	target string
	warm   time.Time // when everything there is has been scraped often enough
}

// expand puts values in as Grafana does: chosen values of variables of which
// there may be several are made a regular expression.
func (a *asked) expand(expr string, v Variables) string {
	all := Variables{"job": "pnagent", "instance": regexp.QuoteMeta(a.target), "__rate_interval": "4s"}
	for name, value := range v {
		all[name] = value
	}
	return all.Expand(expr)
}

// answer is what Prometheus says to a query.
type answer struct {
	Status, Error   string
	Warnings, Infos []string
	Data            struct {
		Result []struct {
			Metric     map[string]string
			Value      []any
			Values     [][]any
			Histogram  []any
			Histograms [][]any
		}
	}
}

var errNothing = errors.New("no data")

func (a *asked) ask(path string, query url.Values) (numbers bool, err error) {
	text, err := get(a.api + path + "?" + query.Encode())
	if err != nil {
		return false, err
	}
	var r answer
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return false, err
	}
	if r.Status != "success" || len(r.Warnings)+len(r.Infos) > 0 {
		return false, fmt.Errorf("%s %s %q %q", r.Status, r.Error, r.Warnings, r.Infos)
	}
	if len(r.Data.Result) == 0 {
		return false, errNothing
	}
	for _, s := range r.Data.Result {
		for _, v := range append(s.Values, s.Value) {
			if len(v) == 2 {
				f, err := strconv.ParseFloat(v[1].(string), 64)
				numbers = numbers || err == nil && !math.IsNaN(f) && !math.IsInf(f, 0)
			}
		}
		numbers = numbers || len(s.Histogram)+len(s.Histograms) > 0
	}
	return numbers, nil
}

// answers waits until an instant query has an answer, and reports whether it
// contains numbers.
func (a *asked) answers(t *testing.T, what, expr string) bool {
	return a.until(t, what, expr, "/api/v1/query", func() url.Values { return url.Values{"query": {expr}} })
}

// draws does the same with a query over the last ten seconds.
func (a *asked) draws(t *testing.T, what, expr string) bool {
	return a.until(t, what, expr, "/api/v1/query_range", func() url.Values {
		now := time.Now()
		return url.Values{"query": {expr}, "step": {"1"}, "end": {strconv.FormatInt(now.Unix(), 10)},
			"start": {strconv.FormatInt(now.Add(-10*time.Second).Unix(), 10)}}
	})
}

// patience is how long all answers together may take to become there, and gap
// how long one may be away after that, where a busy machine has let scrapes fail.
const (
	patience = time.Minute
	gap      = 20 * time.Second
)

func (a *asked) until(t *testing.T, what, expr, path string, query func() url.Values) bool {
	t.Helper()
	deadline := time.Now().Add(gap)
	if deadline.Before(a.warm) {
		deadline = a.warm
	}
	for ; ; <-time.After(100 * time.Millisecond) {
		numbers, err := a.ask(path, query())
		if err == nil {
			return numbers
		}
		if !errors.Is(err, errNothing) || time.Now().After(deadline) {
			t.Errorf("%s: %v: %s", what, err, expr)
			return true
		}
	}
}

// startPrometheus runs a Prometheus with our rules that scrapes target each
// second, until the test ends.
func startPrometheus(t *testing.T, path, target string, flags ...string) *asked {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"recordings.yaml", "alerts.yaml"} {
		text, err := os.ReadFile(filepath.Join("prometheus", name))
		if err != nil {
			t.Fatal(err)
		}
		text = bytes.ReplaceAll(text, []byte("offset "+firstSeen), []byte("offset 1s")) // a minute is longer than the test
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	config := filepath.Join(dir, "prometheus.yml")
	text := fmt.Sprintf("global: {scrape_interval: 1s, evaluation_interval: 1s}\nrule_files: ['%s/*.yaml']\n"+
		"scrape_configs:\n- job_name: pnagent\n  static_configs:\n  - targets: ['%s']\n", dir, target)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	address := porttest.Addr(t)
	start(t, path, append(flags, "--config.file="+config, "--storage.tsdb.path="+filepath.Join(dir, "tsdb"),
		"--web.listen-address="+address, "--log.level=warn")...)
	a := &asked{"http://" + address, target, time.Now().Add(patience)}
	await(t, "Prometheus scrapes", func() bool {
		_, err := a.ask("/api/v1/query", url.Values{"query": {"pnagent_build_info"}})
		return err == nil
	})
	return a
}

// serveHTTP serves at a free port until the test ends, and gives its address.
func serveHTTP(t *testing.T, h http.Handler) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://")
}
