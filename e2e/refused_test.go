// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// Every process that a NATS server refuses logs why, at WARN and in the words of
// the server: an engine has nothing else that says it.
func TestAClientRefusedByNATSLogsTheServersReason(t *testing.T) {
	t.Parallel()
	closed := startNATS(t, "--user", "u", "--pass", "p")
	net := write(t, "claims.pnml", stuckNet)
	etcd := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(etcd.Close)
	mapping := write(t, "m.yaml", "nets: {n: {places: {p: {tokens: waiting}}}}")
	processes := map[string]*process{
		"engine":                     runEngine(t, closed, "plain", net).process,
		"engine --journal DIR":       runEngine(t, closed, "kept", "--journal", t.TempDir(), net).process,
		"engine --journal jetstream": runEngine(t, closed, "member", "--journal", "jetstream", net).process,
		"attach lines":               attachLines(t, closed, "--follow", write(t, "events.json", orderEvent(time.Now(), "a", "browse"))).process,
		"attach scrape":              attachScrape(t, closed, mapping, etcd.URL).process,
		"attach dipen":               start(t, built.pnagent, "attach", "dipen", "--nats", closed, "--etcd", etcd.URL, "--etcd.prefix", "p/", net),
	}
	for name, p := range processes {
		t.Run(name, func(t *testing.T) {
			p.says(t, `WARN"?[ ,]"?msg"?[=:]"no connection to NATS, retrying"[ ,]"?reason"?[=:]"Authorization Violation`)
		})
	}
}

// A sidecar of a tree that does not reach the NATS server of the one above says so
// apart from its connection to engines.
func TestASidecarReportsThatItDoesNotReachTheOneAbove(t *testing.T) {
	t.Parallel()
	open, closed := startNATS(t), startNATS(t, "--user", "u", "--pass", "p")
	side := serve(t, open, "--up", upper, "--up.nats", closed, "--mib-dir", "")
	side.says(t, `"level":"WARN","msg":"no connection to NATS, retrying","nats":"of the sidecar above","reason":"[^"]*Authorization Violation`)
	for family, want := range map[string]float64{"pnagent_nats_connected": 1, "pnagent_up_nats_connected": 0, "pnagent_up_nats_disconnects_total": 0} {
		if got, ok := side.scrape(t).value(family); !ok || got != want {
			t.Errorf("%s is %v, %v; expected %v", family, got, ok, want)
		}
	}
	for _, page := range []string{"/api/v1/view", "/api/v1/overview"} {
		until(t, page+" tells the connections apart", func() error {
			var v struct {
				NATS struct{ Connected bool }
				Up   struct {
					Connected bool
					Reason    string
				} `json:"up_nats"`
				Interrupted *bool `json:"deaf"`
			}
			text := side.page(t, page)
			if err := json.Unmarshal(text, &v); err != nil {
				return fmt.Errorf("%w: %.300s", err, text)
			}
			if !v.NATS.Connected || v.Up.Connected || v.Up.Reason == "" || v.Interrupted == nil || *v.Interrupted {
				return fmt.Errorf("got %.300s", text)
			}
			return nil
		})
	}
}
