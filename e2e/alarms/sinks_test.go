// SPDX-License-Identifier: Apache-2.0

package alarms

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/e2e/kit"
)

// counted is a webhook that counts what it takes, and may be away.
type counted struct {
	away  atomic.Bool
	tries atomic.Int64
	mu    sync.Mutex
	got   []string // "raised major 59945507"
	ids   []string
}

func startCounted(t *testing.T, away bool) (c *counted, url string) {
	t.Helper()
	c = &counted{}
	c.away.Store(away)
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	return c, server.URL
}

func (c *counted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.tries.Add(1)
	if c.away.Load() {
		http.Error(w, "away", http.StatusServiceUnavailable)
		return
	}
	var event struct {
		ID   string
		Data struct {
			What, Place, Severity string
			Page                  string `json:"page_url"`
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&event); err != nil || !strings.HasSuffix(event.Data.Page, "/#net=claims&place=awaiting+answer") {
		http.Error(w, "bad", http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.got = append(c.got, event.Data.What+" "+event.Data.Place)
	c.ids = append(c.ids, event.ID)
}

// has waits until exactly these events arrived, in this order.
func (c *counted) has(t *testing.T, what string, want ...string) {
	t.Helper()
	kit.Until(t, what, func() error {
		c.mu.Lock()
		defer c.mu.Unlock()
		if !slices.Equal(c.got, want) {
			return fmt.Errorf("the webhook has %v, with ids %v; want %v", c.got, c.ids, want)
		}
		return nil
	})
}

// sinkRules are impatient rules with a webhook.
func sinkRules(t *testing.T, url string) string {
	t.Helper()
	return kit.Write(t, "alarms.yaml", kit.Impatient+"page: http://nets.example.org\nsinks:\n  ops: {webhook: "+url+", repeat: 4h}\n  quiet: {webhook: "+url+"/quiet, severity: critical}\n")
}

func answerAll(t *testing.T, nc *nats.Conn) {
	t.Helper()
	for range 40 {
		kit.Request(t, nc, "fire", "claims", "berlin", `{"instance":0,"transition":"answer"}`)
	}
}

// A webhook that is away gets each event once, in order, although the sidecar is killed in between.
//
//promise:clears kill dark
func TestAWebhookGetsEachEventOnceAfterAKill(t *testing.T) {
	t.Parallel()
	hook, url := startCounted(t, true)
	natsURL, dir := kit.StartNATS(t), t.TempDir()
	rules := sinkRules(t, url)
	start := func() *kit.Sidecar { return kit.Serve(t, natsURL, "--mib-dir", dir, "--alarms", rules) }
	side := start()
	kit.RunEngine(t, natsURL, "berlin", "--bindings", kit.Write(t, "bindings.yaml", kit.StuckBindings), kit.Write(t, "claims.pnml", kit.StuckNet))
	kit.Until(t, "the webhook was tried", func() error {
		if m := side.Scrape(t); hook.tries.Load() == 0 || len(m.All("pnagent_notifications_queued_oldest_age_seconds")) != 1 {
			return errors.New("not yet")
		}
		return nil
	})
	side.Kill(t)
	if files, err := filepath.Glob(filepath.Join(dir, "alarms.*.queue")); err != nil || len(files) != 1 {
		t.Errorf("%v, %v; want the queue of one sink", files, err)
	}
	side = start()
	hook.away.Store(false)
	hook.has(t, "the raise", "raised awaiting answer")
	side.Kill(t)
	side = start()
	answerAll(t, kit.Connect(t, natsURL))
	hook.has(t, "the clear", "raised awaiting answer", "cleared awaiting answer")
	kit.Until(t, "the metrics count it", func() error {
		m := side.Scrape(t)
		sent, queued := m.All("pnagent_notifications_sent_total"), m.All("pnagent_notifications_queued")
		if len(sent) != 2 || len(queued) != 2 || queued[0].Value != 0 || sent[0].Value+sent[1].Value != 1 {
			return fmt.Errorf("%v %v", sent, queued)
		}
		return nil
	})
	side.Stop(t, syscall.SIGTERM)
	hook.has(t, "the end", "raised awaiting answer", "cleared awaiting answer")
}

// A reload of the rules sends what waits to the new address of a sink, and makes and removes sinks.
func TestAReloadChangesSinks(t *testing.T) {
	t.Parallel()
	away, before := startCounted(t, true)
	hook, after := startCounted(t, false)
	added, extra := startCounted(t, false)
	natsURL, rules := kit.StartNATS(t), sinkRules(t, before)
	side := kit.Serve(t, natsURL, "--mib-dir", t.TempDir(), "--alarms", rules)
	kit.RunEngine(t, natsURL, "berlin", "--bindings", kit.Write(t, "bindings.yaml", kit.StuckBindings), kit.Write(t, "claims.pnml", kit.StuckNet))
	kit.Until(t, "the webhook was tried", func() error {
		if away.tries.Load() == 0 {
			return errors.New("not yet")
		}
		return nil
	})
	text := kit.Impatient + "page: http://nets.example.org\nsinks:\n  ops: {webhook: " + after + "}\n  added: {webhook: " + extra + "}\n"
	if err := os.WriteFile(rules, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	side.Signal(t, syscall.SIGHUP)
	hook.has(t, "what waited", "raised awaiting answer")
	answerAll(t, kit.Connect(t, natsURL))
	hook.has(t, "the clear", "raised awaiting answer", "cleared awaiting answer")
	added.has(t, "the clear alone, at a sink that is new", "cleared awaiting answer")
	kit.Until(t, "the metrics have the new sinks", func() error {
		if sent := side.Scrape(t).All("pnagent_notifications_sent_total"); len(sent) != 2 || sent[0].Labels["sink"]+sent[1].Labels["sink"] != "addedops" && sent[0].Labels["sink"]+sent[1].Labels["sink"] != "opsadded" {
			return fmt.Errorf("%v", sent)
		}
		return nil
	})
}

// In a pair the one on duty sends. What it could not send when it was killed, the other one does.
func TestTheOtherSidecarSendsWhatWaited(t *testing.T) {
	t.Parallel()
	hook, url := startCounted(t, true)
	natsURL := kit.StartNATS(t)
	rules := sinkRules(t, url)
	serve := func(priority string) *kit.Sidecar {
		return kit.Serve(t, natsURL, "--mib-dir", t.TempDir(), "--alarms", rules, "--agentx.priority", priority)
	}
	first := serve("100")
	onDuty := func(s *kit.Sidecar, want float64) {
		t.Helper()
		kit.Until(t, fmt.Sprint("a sidecar has the duty: ", want), func() error {
			m := s.Scrape(t)
			duty, _ := m.Value("pnagent_sidecar_on_duty")
			if peers, _ := m.Value("pnagent_sidecar_peers"); duty != want || want == 0 && peers != 1 {
				return fmt.Errorf("duty %v, %v peers", duty, peers)
			}
			return nil
		})
	}
	onDuty(first, 1)
	second := serve("127")
	onDuty(second, 0)
	kit.RunEngine(t, natsURL, "berlin", "--bindings", kit.Write(t, "bindings.yaml", kit.StuckBindings), kit.Write(t, "claims.pnml", kit.StuckNet))
	kit.Until(t, "the webhook was tried, and both have the alarm", func() error {
		if hook.tries.Load() == 0 || len(second.Alarms(t)) != 1 {
			return errors.New("not yet")
		}
		return nil
	})
	first.Kill(t)
	onDuty(second, 1)
	hook.away.Store(false)
	hook.has(t, "the raise, by the other one", "raised awaiting answer")
	answerAll(t, kit.Connect(t, natsURL))
	hook.has(t, "the clear", "raised awaiting answer", "cleared awaiting answer")
}
