// SPDX-License-Identifier: Apache-2.0

//go:build peers

package alarms

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pnagent/pnagent/dashboards"
	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/internal/cachetest"
	"github.com/pnagent/pnagent/internal/porttest"
)

// paged is one alert of a notification of Alertmanager's.
type paged struct {
	Status   string // firing or resolved
	Labels   map[string]string
	receiver string
	at       time.Time
}

// is reports whether the alert has the name and the labels, each "name=value".
func (p *paged) is(name string, labels ...string) bool {
	return p.Labels["alertname"] == name && !slices.ContainsFunc(labels, func(l string) bool {
		name, value, _ := strings.Cut(l, "=")
		return p.Labels[name] != value
	})
}

// pager is the receiver of Alertmanager's notifications.
type pager struct {
	mu    sync.Mutex
	got   []paged
	slack []string // title and text of messages for people
}

func (p *pager) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var message struct {
		Alerts      []paged
		Attachments []struct { // of Slack
			Title     string
			TitleLink string `json:"title_link"`
			Text      string
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&message); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, a := range message.Attachments {
		p.slack = append(p.slack, a.Title+"\n"+a.TitleLink+"\n"+a.Text)
	}
	for _, a := range message.Alerts {
		a.receiver, a.at = r.URL.Path, time.Now()
		p.got = append(p.got, a)
	}
}

// count returns how many alerts with a status, a name and labels were sent, and the last.
func (p *pager) count(status, name string, labels ...string) (n int, last paged) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, a := range p.got {
		if a.Status == status && a.is(name, labels...) {
			n, last = n+1, a
		}
	}
	return n, last
}

// waitFor waits until such an alert was sent.
func (p *pager) waitFor(t *testing.T, status, name string, labels ...string) paged {
	t.Helper()
	var last paged
	kit.Until(t, fmt.Sprint("Alertmanager sends ", status, " ", name, labels), func() error {
		var n int
		n, last = p.count(status, name, labels...)
		if n == 0 {
			p.mu.Lock()
			defer p.mu.Unlock()
			return fmt.Errorf("there are %+v", p.got)
		}
		return nil
	})
	return last
}

// none checks that no such alert was sent.
func (p *pager) none(t *testing.T, when, status, name string, labels ...string) {
	t.Helper()
	if n, last := p.count(status, name, labels...); n > 0 {
		t.Errorf("%s: %d times %s %s %v, the last %+v; want none", when, n, status, name, labels, last)
	}
}

// startAlerting runs a Prometheus with the rules of this repository, and an Alertmanager with its
// routes, both made faster.
func startAlerting(t *testing.T, w kit.Web) (p kit.Prometheus, am kit.Web, station *pager) {
	t.Helper()
	prom, manager := kit.Need(t, "prometheus", "prometheus"), cachetest.Alertmanager().Path(t)
	dir := t.TempDir()
	station = &pager{}
	receiver := httptest.NewServer(station)
	t.Cleanup(receiver.Close)
	put := func(name string, text []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	shipped := func(name string) []byte {
		text, err := os.ReadFile(filepath.Join("..", "..", "dashboards", name))
		if err != nil {
			t.Fatal(err)
		}
		return madeFaster(text)
	}
	files, err := dashboards.Files(dashboards.Options{Team: []string{"webhook", "slack"}, Page: "https://nets.example.org/"})
	if err != nil {
		t.Fatal(err)
	}
	routes := ""
	for _, f := range files {
		switch f.Path {
		case "alertmanager/alertmanager.yaml":
			routes = strings.NewReplacer("http://127.0.0.1:9095", receiver.URL, "/etc/alertmanager/secrets/", dir+"/").Replace(string(madeFaster(f.Content)))
		case "alertmanager/pnagent.tmpl":
			put("pnagent.tmpl", f.Content)
		}
	}
	put("slack-url", []byte(receiver.URL+"/slack"))
	am = kit.Web{URL: "http://" + porttest.Addr(t)}
	kit.Start(t, manager, "--config.file="+put("alertmanager.yml", []byte(routes)), "--storage.path="+filepath.Join(dir, "am"),
		"--web.listen-address="+strings.TrimPrefix(am.URL, "http://"), "--cluster.listen-address=", "--log.level=warn")
	config := fmt.Sprintf("global: {scrape_interval: 500ms, scrape_timeout: 500ms, evaluation_interval: 500ms}\nrule_files: [%q, %q]\n"+
		"alerting: {alertmanagers: [{static_configs: [{targets: [%q]}]}]}\nscrape_configs:\n- job_name: pnagent\n  static_configs: [{targets: [%q]}]\n",
		put("recordings.yaml", shipped("prometheus/recordings.yaml")), put("alerts.yaml", shipped("prometheus/alerts.yaml")),
		strings.TrimPrefix(am.URL, "http://"), strings.TrimPrefix(w.URL, "http://"))
	server := kit.Start(t, prom, "--config.file="+put("prometheus.yml", []byte(config)), "--storage.tsdb.path="+filepath.Join(dir, "tsdb"), "--web.listen-address=127.0.0.1:0")
	at := server.Says(t, `msg="Listening on" address=(\S+)`)
	return kit.Prometheus{Web: kit.Web{URL: "http://" + at[1]}}, am, station
}

const alertmanagerNet = `<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml"><net id="%[1]s" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="page">
<place id="waiting"><initialMarking><text>1</text></initialMarking></place><place id="later"><initialMarking><text>1</text></initialMarking></place>
<transition id="go"/><transition id="go on"/><arc id="a" source="waiting" target="go"/><arc id="b" source="later" target="go on"/></page></net></pnml>`

// TestAlertmanagerResolvesOnlyWhatIsOver counts what a real Alertmanager sends for what a real
// Prometheus sees of a real sidecar, which is killed and started again and again.
func TestAlertmanagerResolvesOnlyWhatIsOver(t *testing.T) {
	t.Parallel()
	cachetest.Alertmanager().Path(t) // before anything waits for it
	natsURL, dir, addr := kit.StartNATS(t), t.TempDir(), porttest.Addr(t)
	rules := filepath.Join(dir, "alarms.yaml")
	later := "off" // of orders
	configure := func(severity string) {
		text := fmt.Sprintf("settle: 2s\ndefaults:\n  stuck: {after: 1s, clear_after: 0s}\n  starved: off\n  deadlocked: off\n  lost: {for: 0s, clear_after: 0s}\noverrides:\n"+
			"  - {net: claims, place: waiting, stuck: {severity: %s}}\n  - {net: orders, place: later, stuck: %s}\n  - {net: claims, place: later, stuck: off}\n", severity, later)
		if err := os.WriteFile(rules, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	configure("minor")
	begin := func() *kit.Sidecar {
		return kit.ServeAsIs(t, natsURL, "--mib-dir", dir, "--web.listen-address", addr, "--alarms", rules, "--web.actions")
	}
	side := begin()
	nc := kit.Connect(t, natsURL)
	manual := func(net string) []string {
		bindings := fmt.Sprintf("nets: {%s: {transitions: {go: manual, go on: manual}}}", net)
		return []string{"--bindings", kit.Write(t, "bindings.yaml", bindings), kit.Write(t, net+".pnml", fmt.Sprintf(alertmanagerNet, net))}
	}
	kit.RunEngine(t, natsURL, "berlin", manual("claims")...)
	prom, am, station := startAlerting(t, side.Web)
	stuck := []string{"net=claims", "place=waiting"}
	station.waitFor(t, "firing", "PetrinetTokenStuck", append(stuck, "severity=warning")...)
	kit.Until(t, "people read the message", func() error {
		station.mu.Lock()
		defer station.mu.Unlock()
		want := regexp.MustCompile(`^\[WARNING\] A token is stuck in waiting of claims\.\nhttps://nets\.example\.org/#net=claims&place=waiting\n` +
			`The oldest token in place waiting of net claims has been there for [^\n]+\.\nnet claims, place waiting\nsince 20\S+ \S+ UTC\n` +
			`page: https://nets\.example\.org/#net=claims&place=waiting\nrunbook: https://\S+/tokenStuck\.md\n`)
		if !slices.ContainsFunc(station.slack, want.MatchString) {
			return fmt.Errorf("Slack has %q", station.slack)
		}
		return nil
	})

	up := func(want float64) {
		t.Helper()
		kit.Until(t, fmt.Sprint("Prometheus has up ", want), func() error {
			if got := prom.Number(t, "up"); got != want {
				return fmt.Errorf("it has %v", got)
			}
			return nil
		})
	}
	for range 20 {
		side.Kill(t)
		up(0)
		side = begin()
		up(1)
	}
	station.none(t, "after 20 restarts", "resolved", "PetrinetTokenStuck")

	// The severity changes.
	reload := func(severity string) {
		t.Helper()
		configure(severity)
		answer, err := http.Post(side.URL+"/-/reload", "", nil)
		if err != nil || answer.StatusCode != http.StatusOK {
			t.Fatalf("reload: %+v, %v", answer, err)
		}
		answer.Body.Close()
	}
	become := func(severity string) {
		t.Helper()
		reload(severity)
		kit.Until(t, "the alarm is "+severity, func() error {
			if a := side.Alarms(t); len(a) != 1 || a[0].Severity != severity {
				return fmt.Errorf("%+v", a)
			}
			return nil
		})
	}
	become("critical")
	if got := station.waitFor(t, "firing", "PetrinetTokenStuck", append(stuck, "severity=critical")...); got.receiver != "/pager" {
		t.Errorf("the critical alert is sent to %s", got.receiver)
	}
	become("minor")

	// A silence, a restart in it, and a real end in it.
	kit.Matches(t, "a silence", side.AlarmsOf(t, "silence", "--for", "1h", "--net", "claims", "--comment", "upgrade"), 0, "silenced until")
	inhibited(t, am, true, `alertname="PetrinetTokenStuck"`, `net="claims"`)
	side.Kill(t)
	side = begin()
	inhibited(t, am, true, `alertname="PetrinetTokenStuck"`, `net="claims"`)
	station.none(t, "while it is silenced", "resolved", "PetrinetTokenStuck")
	fired, _ := station.count("firing", "PetrinetTokenStuck")
	kit.Request(t, nc, "fire", "claims", "berlin", `{"instance":0,"transition":"go"}`)
	ended := time.Now()
	for _, severity := range []string{"warning", "critical"} {
		over := station.waitFor(t, "resolved", "PetrinetTokenStuck", append(stuck, "severity="+severity)...)
		t.Logf("the %s alert is resolved %v after the end", severity, over.at.Sub(ended).Round(time.Millisecond))
	}
	if after, _ := station.count("firing", "PetrinetTokenStuck"); after != fired {
		t.Errorf("%d times firing, and %d before the end of the alarm", after, fired)
	}

	// What follows from a lost source.
	lost := kit.RunEngine(t, natsURL, "osaka", manual("orders")...)
	station.waitFor(t, "firing", "PetrinetTokenStuck", "net=orders", "place=waiting")
	lost.Kill(t)
	station.waitFor(t, "firing", "PetrinetSourceLost", "source=osaka")
	later = "{after: 1s}"
	reload("minor")
	inhibited(t, am, true, `alertname="PetrinetTokenStuck"`, `net="orders"`, `place="later"`)
	inhibited(t, am, false, `alertname="PetrinetTokenStuck"`, `net="orders"`, `place="waiting"`) // from before
	side.Kill(t)
	side = begin()
	kit.Until(t, "the sidecar has its alarms again", func() error {
		all, err := side.ReadMetrics()
		if _, known := all.Value("pnagent_alarms"); !known {
			return fmt.Errorf("not yet, %w", err)
		}
		return nil
	})
	inhibited(t, am, true, `alertname="PetrinetTokenStuck"`, `net="orders"`, `place="later"`)
	station.none(t, "while the source is lost", "firing", "PetrinetTokenStuck", "net=orders", "place=later")
	station.none(t, "while the source is lost", "resolved", "PetrinetTokenStuck", "net=orders")
	station.none(t, "while the source is lost", "resolved", "PetrinetSourceLost")
	for _, only := range []string{"PetrinetAlarmSilenced", "PetrinetAlarmFollows", "PetrinetNetSilent"} {
		station.none(t, "at any time", "firing", only)
	}
}

func TestAmtoolAcceptsTheRoutes(t *testing.T) {
	t.Parallel()
	file := filepath.Join("..", "..", "dashboards", "alertmanager", "alertmanager.yaml")
	r := kit.Tool(t, nil, cachetest.Amtool().Path(t), "check-config", file)
	if r.Code != 0 || !strings.Contains(r.Out, "5 inhibit rules") {
		t.Errorf("amtool check-config: %+v", r)
	}
	for labels, want := range map[string]string{"severity=none": "none", "severity=warning": "team", "severity=critical": "pager"} {
		if r := kit.Tool(t, nil, cachetest.Amtool().Path(t), "config", "routes", "test", "--config.file="+file, labels); r.Out != want+"\n" {
			t.Errorf("an alert with %s is sent to %q, %s; want %s", labels, r.Out, r.Err, want)
		}
	}
}

// Every kind of receiver is one that Alertmanager knows.
func TestAmtoolAcceptsEveryKindOfReceiver(t *testing.T) {
	t.Parallel()
	for _, kind := range dashboards.Receivers() {
		dir := t.TempDir()
		if _, err := dashboards.GenerateAlerting(dir, dashboards.Options{Team: []string{kind}, Pager: []string{kind}}); err != nil {
			t.Fatal(err)
		}
		r := kit.Tool(t, nil, cachetest.Amtool().Path(t), "check-config", filepath.Join(dir, "alertmanager", "alertmanager.yaml"))
		if r.Code != 0 || !strings.Contains(r.Out, "1 templates") {
			t.Errorf("%s: %+v", kind, r)
		}
	}
}

// inhibited waits until Alertmanager inhibits an alert or does not.
func inhibited(t *testing.T, w kit.Web, want bool, matchers ...string) {
	t.Helper()
	kit.Until(t, fmt.Sprint(matchers, " is inhibited: ", want), func() error {
		query := url.Values{"filter": matchers}
		status, body, err := w.Get("/api/v2/alerts?" + query.Encode())
		if err != nil || status != http.StatusOK {
			return fmt.Errorf("%d, %w", status, err)
		}
		var alerts []struct {
			Status struct{ InhibitedBy []string }
		}
		if err := json.Unmarshal(body, &alerts); err != nil {
			return err
		}
		if len(alerts) == 0 {
			return fmt.Errorf("there is no such alert")
		}
		for _, a := range alerts {
			if (len(a.Status.InhibitedBy) > 0) != want {
				return fmt.Errorf("%s", body)
			}
		}
		return nil
	})
}
