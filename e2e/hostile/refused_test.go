// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/pnagent/pnagent/e2e/kit"
)

// Every process that a NATS server refuses logs why, at WARN and in the words of
// the server: an engine has nothing else that says it.
func TestAClientRefusedByNATSLogsTheServersReason(t *testing.T) {
	t.Parallel()
	closed := kit.StartNATS(t, "--user", "u", "--pass", "p")
	net := kit.Write(t, "claims.pnml", kit.StuckNet)
	etcd := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(etcd.Close)
	mapping := kit.Write(t, "m.yaml", "nets: {n: {places: {p: {tokens: waiting}}}}")
	processes := map[string]*kit.Process{
		"engine":                     kit.RunEngine(t, closed, "plain", net).Process,
		"engine --journal DIR":       kit.RunEngine(t, closed, "kept", "--journal", t.TempDir(), net).Process,
		"engine --journal jetstream": kit.RunEngine(t, closed, "member", "--journal", "jetstream", net).Process,
		"attach lines":               kit.AttachLines(t, closed, "--follow", kit.Write(t, "events.json", kit.OrderEvent(time.Now(), "a", "browse"))).Process,
		"attach scrape":              kit.AttachScrape(t, closed, mapping, etcd.URL).Process,
		"attach dipen":               kit.Start(t, kit.Built().Pnagent, "attach", "dipen", "--nats", closed, "--etcd", etcd.URL, "--etcd.prefix", "p/", net),
	}
	for name, p := range processes {
		t.Run(name, func(t *testing.T) {
			p.Says(t, `WARN"?[ ,]"?msg"?[=:]"no connection to NATS, retrying"[ ,]"?reason"?[=:]"Authorization Violation`)
		})
	}
}

// A sidecar of a tree that does not reach the NATS server of the one above says so
// apart from its connection to engines.
func TestASidecarReportsThatItDoesNotReachTheOneAbove(t *testing.T) {
	t.Parallel()
	open, closed := kit.StartNATS(t), kit.StartNATS(t, "--user", "u", "--pass", "p")
	side := kit.Serve(t, open, "--up", kit.Upper, "--up.nats", closed, "--mib-dir", "")
	side.Says(t, `"level":"WARN","msg":"no connection to NATS, retrying","nats":"of the sidecar above","reason":"[^"]*Authorization Violation`)
	for family, want := range map[string]float64{"pnagent_nats_connected": 1, "pnagent_up_nats_connected": 0, "pnagent_up_nats_disconnects_total": 0} {
		if got, ok := side.Scrape(t).Value(family); !ok || got != want {
			t.Errorf("%s is %v, %v; expected %v", family, got, ok, want)
		}
	}
	for _, page := range []string{"/api/v1/view", "/api/v1/overview"} {
		kit.Until(t, page+" tells the connections apart", func() error {
			var v struct {
				NATS struct{ Connected bool }
				Up   struct {
					Connected bool
					Reason    string
				} `json:"up_nats"`
				Interrupted *bool `json:"deaf"`
			}
			text := side.Page(t, page)
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
