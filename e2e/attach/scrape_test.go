// SPDX-License-Identifier: Apache-2.0

package attach

import (
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/snmp/snmptest"
)

// pauses returns the longest time between two scrapes. The age in one scrape counts as
// that of a moment before the next one.
type pauses struct {
	mu        sync.Mutex
	last      time.Time
	mostSoFar time.Duration
}

// next is now, when a scrape has come.
func (p *pauses) next() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if !p.last.IsZero() {
		p.mostSoFar = max(p.mostSoFar, now.Sub(p.last))
	}
	p.last = now
	return now
}

// longest is the longest pause, with that since the last scrape.
func (p *pauses) longest() time.Duration {
	p.next()
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.mostSoFar
}

// A system that knows nothing of nets says how many things wait and for how
// long. One of them has been waiting for an hour.
func TestTokensStuckBehindAnEndpointAreAsOldInSNMPAsInPrometheus(t *testing.T) {
	t.Parallel()
	since := time.Now().Add(-time.Hour)
	var asked pauses
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, "waiting{desk=\"claims\"} 3\nwaiting_oldest_milliseconds{desk=\"claims\"} %d\nserved_total{desk=\"claims\"} 17\n",
			asked.next().Sub(since).Milliseconds())
	}))
	defer target.Close()
	mapping := kit.Write(t, "office.yaml", `
nets:
  office:
    places:
      "{desk}": {tokens: waiting, oldest: {metric: waiting_oldest_milliseconds, unit: ms}}
    transitions:
      "{desk} serve": {from: "{desk}", firings: served_total}
`)
	h := kit.StartHouse(t)
	adapter := kit.AttachScrape(t, h.NATS, mapping, target.URL)
	place := kit.Key{Net: "office", ID: "claims"}
	h.EveryFaceShows(t, kit.Numbers{Tokens: map[kit.Key]uint64{place: 3}, Firings: map[kit.Key]uint64{{Net: "office", ID: "claims serve"}: 0}})

	shown, scraped := shownSince(t, h.Side.Web, h.NOC, place), scrapedSince(t, h.Prom, place)
	latest := since.Add(asked.longest() + time.Millisecond)
	shown.Within(t, "the faces of one view", since, latest)
	scraped.Within(t, "Prometheus", since, latest)
	if text := string(adapter.Web(t).Page(t, "/metrics")); !strings.Contains(text, `pnagent_scrape_attempts_total{result="ok",source="scraped"}`) {
		t.Errorf("got own metrics\n%s\nwant the attempts of this result", text)
	}
	adapter.Stop(t, syscall.SIGTERM)
	h.EveryFaceShows(t, kit.Numbers{Tokens: map[kit.Key]uint64{}, Firings: map[kit.Key]uint64{{Net: "office", ID: "claims serve"}: 0}})
}

// What one sidecar shows, another one shows that has nothing but its /metrics.
func TestASidecarShowsWhatAnotherOneShows(t *testing.T) {
	t.Parallel()
	snmptest.RequireTools(t)
	below, above := kit.StartNATS(t), kit.StartNATS(t)
	far, near := kit.Serve(t, below), kit.Serve(t, above, "--snmp", "127.0.0.1:0")
	net, bindings := kit.Write(t, "claims.pnml", kit.StuckNet), kit.Write(t, "bindings.yaml", kit.StuckBindings)
	kit.RunEngine(t, below, "berlin", "--bindings", bindings, net)
	nc := kit.Connect(t, below)
	kit.Until(t, "40 claims wait", func() error { return kit.Differ(kit.Claims(40, 0), far.View(t).Numbers()) })
	adapter := kit.AttachScrape(t, above, "pnagent", far.URL+"/metrics")
	stuck := kit.Claims(40, 0)
	kit.Until(t, "the other sidecar shows the same tokens", func() error { return kit.Differ(stuck.Tokens, near.View(t).Numbers().Tokens) })

	for range 5 {
		kit.Request(t, nc, "fire", "claims", "berlin", `{"instance":0,"transition":"answer"}`)
	}
	// Firings count from the first scrape on.
	want := kit.Numbers{Tokens: kit.Claims(40, 5).Tokens, Firings: map[kit.Key]uint64{{Net: "claims", ID: "take"}: 0, {Net: "claims", ID: "ask"}: 0, {Net: "claims", ID: "answer"}: 5, {Net: "claims", ID: "archive"}: 0}}
	agent := snmptest.Client{Addr: near.SNMP, Community: "public"}
	kit.Until(t, "both faces of the other show five answers", func() error {
		if err := kit.Differ(want, near.Scrape(t).Numbers()); err != nil {
			return err
		}
		return kit.Differ(want, kit.Walk(t, agent).Numbers())
	})
	// A page is served for one second, and the values of a scrape are from before its end,
	// within its interval.
	was, is := far.Scrape(t).SinceWhen(), near.Scrape(t).SinceWhen()
	if len(was) == 0 {
		t.Error("there are no tokens")
	}
	for place, there := range was {
		is[place].Within(t, fmt.Sprint("the oldest token of ", place), there.Earliest, there.Latest.Add(time.Second+kit.ScrapeEvery))
	}
	dwell := "petrinet_place_dwell_seconds"
	if far, near := far.Scrape(t).All(dwell), near.Scrape(t).All(dwell); len(near) == 0 || len(near) != len(far) {
		t.Errorf("got %d series of %s; want %d", len(near), dwell, len(far))
	}

	far.Stop(t, syscall.SIGTERM)
	kit.Until(t, "the source is stale and its tokens stay", func() error {
		v := near.View(t)
		if state := v.Source("claims", "scraped"); state != "stale" {
			return fmt.Errorf("it is %s", state)
		}
		return kit.Differ(want.Tokens, v.Numbers().Tokens)
	})
	if text := string(adapter.Web(t).Page(t, "/metrics")); !strings.Contains(text, `result="connection"`) {
		t.Errorf("got own metrics\n%s\nwant the attempts of this result", text)
	}
}

func TestAMappingIsCheckedOnAScrape(t *testing.T) {
	t.Parallel()
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "waiting 3\n") }))
	defer target.Close()
	good := kit.Write(t, "good.yaml", "nets: {n: {places: {p: {tokens: waiting}}}}")
	bad := kit.Write(t, "bad.yaml", "nets: {n: {places: {p: {tokens: [waiting}}}}")
	if r := kit.Pnagent(t, "attach", "scrape", "--check", good, "--from", target.URL); r.Code != 0 || !strings.Contains(r.Out, "p      3") {
		t.Errorf("got %+v; want exit code 0 and 3 tokens in p", r)
	}
	if r := kit.PnagentWith(t, "waiting 4\n", "attach", "scrape", "--check", good, "--from", "-"); r.Code != 0 || !strings.Contains(r.Out, "p      4") {
		t.Errorf("got %+v; want exit code 0 and 4 tokens in p", r)
	}
	if r := kit.Pnagent(t, "attach", "scrape", "--print", "temporal"); r.Code != 0 || !strings.Contains(r.Out, "approximate_backlog_count") {
		t.Errorf("got %+v; want exit code 0 and the mapping of Temporal", r)
	}
	if r := kit.Pnagent(t, "attach", "scrape", "--list"); r.Code != 0 || strings.Count(r.Out, "\n") != 6 {
		t.Errorf("got %+v; want exit code 0 and 6 lines", r)
	}
	kit.WantFailure(t, kit.Pnagent(t, "attach", "scrape", "--check", bad), 1, `bad\.yaml:1:\d+: `)
	kit.WantFailure(t, kit.PnagentWith(t, "other 1\n", "attach", "scrape", "--check", good, "--from", "-"), 1, "no metric of the mapping")
	kit.WantFailure(t, kit.Pnagent(t, "attach", "scrape", "--mapping", "rabbitmq"), 2, "expected --nats, --mapping and at least one URL")
	kit.WantFailure(t, kit.Pnagent(t, "attach", "scrape", "--nats", "x", "--mapping", "rabbitmq", "localhost:1"), 2, "expected http://HOST:PORT/metrics")
}

func TestATargetMayWantAPasswordAndHaveACertificateOfItsOwn(t *testing.T) {
	t.Parallel()
	target := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "noc" || password != "let me see" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = io.WriteString(w, "waiting 3\n")
	}))
	defer target.Close()
	ca := kit.Write(t, "ca.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: target.Certificate().Raw})))
	mapping := kit.Write(t, "m.yaml", "nets: {n: {places: {p: {tokens: waiting}}}}")
	config := kit.Write(t, "http.yml", "basic_auth: {username: noc, password: let me see}\ntls_config: {ca_file: "+ca+"}\n")
	if r := kit.Pnagent(t, "attach", "scrape", "--check", mapping, "--from", target.URL, "--http.config.file", config); r.Code != 0 || !strings.Contains(r.Out, "p      3") {
		t.Errorf("got %+v; want exit code 0 and 3 tokens in p", r)
	}
	kit.WantFailure(t, kit.Pnagent(t, "attach", "scrape", "--check", mapping, "--from", target.URL), 1, "certificate")
	config = kit.Write(t, "http.yml", "tls_config: {ca_file: "+ca+"}\n")
	kit.WantFailure(t, kit.Pnagent(t, "attach", "scrape", "--check", mapping, "--from", target.URL, "--http.config.file", config), 1, "401")
}
