// SPDX-License-Identifier: Apache-2.0

package e2e

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

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/snmp/snmptest"
)

// scrapeEvery is how often the adapter scrapes, and how long a scrape may take.
const scrapeEvery = 200 * time.Millisecond

// attachScrape runs the adapter on one target.
func attachScrape(t *testing.T, natsURL, mapping, url string, args ...string) attached {
	t.Helper()
	args = append([]string{"attach", "scrape", "--nats", natsURL, "--mapping", mapping, "--source", "scraped", "--interval", scrapeEvery.String(),
		"--web.listen-address", "127.0.0.1:0", "--log.format", "json"}, append(args, url)...)
	return attached{start(t, built.pnagent, args...)}
}

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
	mapping := write(t, "office.yaml", `
nets:
  office:
    places:
      "{desk}": {tokens: waiting, oldest: {metric: waiting_oldest_milliseconds, unit: ms}}
    transitions:
      "{desk} serve": {from: "{desk}", firings: served_total}
`)
	h := startHouse(t)
	adapter := attachScrape(t, h.nats, mapping, target.URL)
	place := key{"office", "claims"}
	h.everyFaceShows(t, numbers{map[key]uint64{place: 3}, map[key]uint64{{"office", "claims serve"}: 0}})

	shown, scraped := h.side.sinceWhen(t, h.noc, place), h.prom.sinceWhen(t, place)
	latest := since.Add(asked.longest() + time.Millisecond)
	shown.within(t, "the faces of one view", since, latest)
	scraped.within(t, "Prometheus", since, latest)
	if text := string(adapter.web(t).page(t, "/metrics")); !strings.Contains(text, `pnagent_scrape_attempts_total{result="ok",source="scraped"}`) {
		t.Errorf("got own metrics\n%s\nwant the attempts of this result", text)
	}
	adapter.stop(t, syscall.SIGTERM)
	h.everyFaceShows(t, numbers{map[key]uint64{}, map[key]uint64{{"office", "claims serve"}: 0}})
}

// What one sidecar shows, another one shows that has nothing but its /metrics.
func TestASidecarShowsWhatAnotherOneShows(t *testing.T) {
	t.Parallel()
	below, above := startNATS(t), startNATS(t)
	far, near := serve(t, below), serve(t, above, "--snmp", "127.0.0.1:0")
	net, bindings := write(t, "claims.pnml", stuckNet), write(t, "bindings.yaml", stuckBindings)
	runEngine(t, below, "berlin", "--bindings", bindings, net)
	nc := connect(t, below)
	until(t, "40 claims wait", func() error { return differ(claims(40, 0), far.view(t).numbers()) })
	adapter := attachScrape(t, above, "pnagent", far.url+"/metrics")
	stuck := claims(40, 0)
	until(t, "the other sidecar shows the same tokens", func() error { return differ(stuck.Tokens, near.view(t).numbers().Tokens) })

	for range 5 {
		request(t, nc, "fire", "claims", "berlin", `{"instance":0,"transition":"answer"}`)
	}
	// Firings count from the first scrape on.
	want := numbers{claims(40, 5).Tokens, map[key]uint64{{"claims", "take"}: 0, {"claims", "ask"}: 0, {"claims", "answer"}: 5, {"claims", "archive"}: 0}}
	agent := snmptest.Client{Addr: near.snmp, Community: "public"}
	until(t, "both faces of the other show five answers", func() error {
		if err := differ(want, near.scrape(t).numbers()); err != nil {
			return err
		}
		return differ(want, walk(t, agent).numbers())
	})
	// A page is served for one second, and the values of a scrape are from before its end,
	// within its interval.
	was, is := far.scrape(t).sinceWhen(), near.scrape(t).sinceWhen()
	if len(was) == 0 {
		t.Error("there are no tokens")
	}
	for place, there := range was {
		is[place].within(t, fmt.Sprint("the oldest token of ", place), there.earliest, there.latest.Add(time.Second+scrapeEvery))
	}
	dwell := "petrinet_place_dwell_seconds"
	if far, near := far.scrape(t).all(dwell), near.scrape(t).all(dwell); len(near) == 0 || len(near) != len(far) {
		t.Errorf("got %d series of %s; want %d", len(near), dwell, len(far))
	}

	far.stop(t, syscall.SIGTERM)
	until(t, "the source is stale and its tokens stay", func() error {
		v := near.view(t)
		if state := v.source("claims", "scraped"); state != "stale" {
			return fmt.Errorf("it is %s", state)
		}
		return differ(want.Tokens, v.numbers().Tokens)
	})
	if text := string(adapter.web(t).page(t, "/metrics")); !strings.Contains(text, `result="connection"`) {
		t.Errorf("got own metrics\n%s\nwant the attempts of this result", text)
	}
}

func differ(want, got any) error {
	if d := cmp.Diff(want, got); d != "" {
		return fmt.Errorf("-want +got\n%s", d)
	}
	return nil
}

func TestAMappingIsCheckedOnAScrape(t *testing.T) {
	t.Parallel()
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "waiting 3\n") }))
	defer target.Close()
	good := write(t, "good.yaml", "nets: {n: {places: {p: {tokens: waiting}}}}")
	bad := write(t, "bad.yaml", "nets: {n: {places: {p: {tokens: [waiting}}}}")
	if r := pnagent(t, "attach", "scrape", "--check", good, "--from", target.URL); r.code != 0 || !strings.Contains(r.out, "p      3") {
		t.Errorf("got %+v; want exit code 0 and 3 tokens in p", r)
	}
	if r := pnagentWith(t, "waiting 4\n", "attach", "scrape", "--check", good, "--from", "-"); r.code != 0 || !strings.Contains(r.out, "p      4") {
		t.Errorf("got %+v; want exit code 0 and 4 tokens in p", r)
	}
	if r := pnagent(t, "attach", "scrape", "--print", "temporal"); r.code != 0 || !strings.Contains(r.out, "approximate_backlog_count") {
		t.Errorf("got %+v; want exit code 0 and the mapping of Temporal", r)
	}
	if r := pnagent(t, "attach", "scrape", "--list"); r.code != 0 || strings.Count(r.out, "\n") != 6 {
		t.Errorf("got %+v; want exit code 0 and 6 lines", r)
	}
	wantFailure(t, pnagent(t, "attach", "scrape", "--check", bad), 1, `bad\.yaml:1:\d+: `)
	wantFailure(t, pnagentWith(t, "other 1\n", "attach", "scrape", "--check", good, "--from", "-"), 1, "no metric of the mapping")
	wantFailure(t, pnagent(t, "attach", "scrape", "--mapping", "rabbitmq"), 2, "expected --nats, --mapping and at least one URL")
	wantFailure(t, pnagent(t, "attach", "scrape", "--nats", "x", "--mapping", "rabbitmq", "localhost:1"), 2, "expected http://HOST:PORT/metrics")
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
	ca := write(t, "ca.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: target.Certificate().Raw})))
	mapping := write(t, "m.yaml", "nets: {n: {places: {p: {tokens: waiting}}}}")
	config := write(t, "http.yml", "basic_auth: {username: noc, password: let me see}\ntls_config: {ca_file: "+ca+"}\n")
	if r := pnagent(t, "attach", "scrape", "--check", mapping, "--from", target.URL, "--http.config.file", config); r.code != 0 || !strings.Contains(r.out, "p      3") {
		t.Errorf("got %+v; want exit code 0 and 3 tokens in p", r)
	}
	wantFailure(t, pnagent(t, "attach", "scrape", "--check", mapping, "--from", target.URL), 1, "certificate")
	config = write(t, "http.yml", "tls_config: {ca_file: "+ca+"}\n")
	wantFailure(t, pnagent(t, "attach", "scrape", "--check", mapping, "--from", target.URL, "--http.config.file", config), 1, "401")
}
