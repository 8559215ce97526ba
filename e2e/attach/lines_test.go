// SPDX-License-Identifier: Apache-2.0

package attach

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/internal/porttest"
	"github.com/pnagent/pnagent/snmp/snmptest"
)

// An engine that only writes a log has tokens stuck in a place for an hour.
func TestTokensStuckInALogAreAsOldInSNMPAsInPrometheus(t *testing.T) {
	t.Parallel()
	snmptest.RequireTools(t)
	natsURL := kit.StartNATS(t)
	side := kit.Serve(t, natsURL, "--snmp", "127.0.0.1:0")
	log := filepath.Join(t.TempDir(), "engine.log")
	since := time.Now().Add(-time.Hour)
	kit.AppendTo(t, log, kit.OrderEvent(since, "customer 1", "browse")+kit.OrderEvent(time.Now(), "customer 2", "Browse"))
	kit.AttachLines(t, natsURL, "--follow", log)
	firingsOf(t, side, "browse", 2)

	place := kit.Key{Net: "order-fulfilment", ID: "cart"}
	shownSince(t, side.Web, snmptest.Client{Addr: side.SNMP, Community: "public"}, place).Within(t, "the log", since, since)
}

// The adapter is killed, the file rotates meanwhile in the middle of a line, NATS is
// away: what the file had is counted once.
//
//promise:counters kill dark
func TestALogIsCountedOnceWhateverIsKilled(t *testing.T) {
	t.Parallel()
	port, store := porttest.Port(t), t.TempDir()
	server := func() *kit.Process {
		return kit.Start(t, kit.Built().NATS, "--addr", "127.0.0.1", "--port", port, "--store_dir", store)
	}
	broker := server()
	natsURL := "nats://127.0.0.1:" + port
	side := kit.Serve(t, natsURL)
	dir := t.TempDir()
	log, state := filepath.Join(dir, "engine.log"), filepath.Join(dir, "state")
	kit.AppendTo(t, log, kit.OrderEvent(time.Now(), "a", "browse"))
	first := kit.AttachLines(t, natsURL, "--follow", log, "--state", state)
	firingsOf(t, side, "browse", 1)
	first.Kill(t)

	half := kit.OrderEvent(time.Now(), "b", "browse")
	kit.AppendTo(t, log, half[:30])
	if err := os.Rename(log, log+".1"); err != nil {
		t.Fatal(err)
	}
	kit.AppendTo(t, log, half[30:]+"no event\n")
	second := kit.AttachLines(t, natsURL, "--follow", log, "--state", state)
	atSecond := second.Web(t)
	firingsOf(t, side, "browse", 2)

	broker.Kill(t)
	kit.AppendTo(t, log, kit.OrderEvent(time.Now(), "a", "place"))
	kit.Until(t, "it is read", func() error { return atSecond.Has("pnagent_lines_read_total", 3) })
	server()
	firingsOf(t, side, "place", 1)
	if err := atSecond.Has("pnagent_lines_dropped_total", 1, "reason", "not_json"); err != nil {
		t.Error(err)
	}
	if err := atSecond.Has("pnagent_replay_fitness", 1, "net", "order-fulfilment"); err != nil {
		t.Error(err)
	}
	if n, _ := side.Scrape(t).Value("petrinet_place_tokens", "net", "order-fulfilment", "place", "placed"); n != 1 {
		t.Errorf("%v tokens wait for the credit check, want that of a", n)
	}
	second.Stop(t, os.Interrupt)
}

// Events come by message, by datagram and by POST, and the sidecar has all of them.
func TestEventsComeByEveryDoor(t *testing.T) {
	t.Parallel()
	natsURL := kit.StartNATS(t)
	side := kit.Serve(t, natsURL)
	a := kit.AttachLines(t, natsURL, "--nats.subject", "shop.events", "--http", "127.0.0.1:0", "--udp", "127.0.0.1:0")
	udp, post := a.Says(t, `"receiving datagrams","udp":"([^"]*)"`)[1], a.Says(t, `"receiving HTTP posts","http":"([^"]*)"`)[1]
	a.Says(t, `"receiving messages","subject":"shop.events"`)
	nc := kit.Connect(t, natsURL)
	if err := nc.Publish("shop.events", []byte(kit.OrderEvent(time.Now(), "a", "browse")+kit.OrderEvent(time.Now(), "b", "browse"))); err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("udp", udp)
	if err != nil {
		t.Fatal(err)
	}
	_, err = conn.Write([]byte(kit.OrderEvent(time.Now(), "c", "browse")))
	if err := errors.Join(err, conn.Close()); err != nil {
		t.Fatal(err)
	}
	resp, err := http.Post("http://"+post+"/events", "", strings.NewReader(kit.OrderEvent(time.Now(), "d", "browse")))
	if err != nil {
		t.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatal(resp.Status, err)
	}
	firingsOf(t, side, "browse", 4)
	at := a.Web(t, post)
	for _, lost := range []string{"nats", "udp"} {
		if err := at.Has("pnagent_lines_messages_lost_total", 0, "input", lost); err != nil {
			t.Error(err)
		}
	}
	a.Stop(t, os.Interrupt)
}

// A log is looked back on: it is replayed to its end, and what came of it is printed.
func TestALogIsReplayedAndPublished(t *testing.T) {
	t.Parallel()
	natsURL := kit.StartNATS(t)
	side := kit.Serve(t, natsURL)
	log := kit.Write(t, "log.xes", `<log><trace><string key="concept:name" value="customer 1"/><event><string key="concept:name" value="Browse"/>`+
		`<date key="time:timestamp" value="2020-09-13T12:26:40Z"/></event></trace></log>`)
	a := kit.AttachLines(t, natsURL, "--xes", log, "--exit-at-end")
	firingsOf(t, side, "browse", 1)
	if code := a.Wait(t); code != 0 {
		t.Errorf("got exit code %d; want 0", code)
	}
	if want := `"net":"order-fulfilment","events":1,"unfit":0`; !strings.Contains(a.Out.String(), want) {
		t.Errorf("it prints %s, want %s", a.Out.String(), want)
	}
	r := kit.Pnagent(t, "attach", "lines", "--exit-at-end", "--xes", kit.Write(t, "broken.xes", "<log>\n<trace>"), filepath.Join("..", "..", "examples", "order-fulfilment.pnml"))
	kit.WantFailure(t, r, 1, `broken\.xes:2:8: `)
}

// firingsOf waits until the sidecar shows how often a transition fired.
func firingsOf(t *testing.T, s *kit.Sidecar, transition string, want float64) {
	t.Helper()
	kit.Until(t, fmt.Sprintf("%s fired %v times", transition, want), func() error {
		m, err := s.ReadMetrics()
		if err != nil {
			return err
		}
		if n, _ := m.Value("petrinet_transition_firings_total", "net", "order-fulfilment", "transition", transition); n != want {
			return fmt.Errorf("%v", n)
		}
		return nil
	})
}
