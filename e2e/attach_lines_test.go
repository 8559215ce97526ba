// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pnagent/pnagent/internal/porttest"
	"github.com/pnagent/pnagent/snmp/snmptest"
)

// attached is "pnagent attach" that runs.
type attached struct{ *process }

// listens matches what is logged of each place where HTTP is served.
var listens = regexp.MustCompile(`"msg":"Listening on","address":"([^"]*)"`)

// web is the address of its own metrics, which is not that of posted events.
func (a attached) web(t *testing.T, posts ...string) (at web) {
	t.Helper()
	until(t, "it listens", func() error {
		for _, m := range listens.FindAllStringSubmatch(a.err.String(), -1) {
			if !slices.Contains(posts, m[1]) {
				at.url = "http://" + m[1]
				return nil
			}
		}
		return errors.New("not yet")
	})
	return at
}

// attachLines attaches to the order-fulfilment example.
func attachLines(t *testing.T, natsURL string, args ...string) attached {
	t.Helper()
	shop, err := filepath.Abs(filepath.Join("..", "examples", "order-fulfilment.pnml"))
	if err != nil {
		t.Fatal(err)
	}
	args = append([]string{"attach", "lines", "--nats", natsURL, "--source", "shop", "--web.listen-address", "127.0.0.1:0", "--poll", "20ms",
		"--interval", "200ms", "--log.format", "json"}, append(args, shop)...)
	return attached{start(t, built.pnagent, args...)}
}

// orderEvent is one line.
func orderEvent(at time.Time, customer, transition string) string {
	return fmt.Sprintf(`{"time":%q,"net":"order-fulfilment","instance":%q,"transition":%q}`+"\n", at.Format(time.RFC3339Nano), customer, transition)
}

// appendTo writes at the end of a file.
func appendTo(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// firings waits until the sidecar shows how often a transition fired.
func (s *sidecar) firings(t *testing.T, transition string, want float64) {
	t.Helper()
	until(t, fmt.Sprintf("%s fired %v times", transition, want), func() error {
		m, err := s.readMetrics()
		if err != nil {
			return err
		}
		if n, _ := m.value("petrinet_transition_firings_total", "net", "order-fulfilment", "transition", transition); n != want {
			return fmt.Errorf("%v", n)
		}
		return nil
	})
}

// An engine that only writes a log has tokens stuck in a place for an hour.
func TestTokensStuckInALogAreAsOldInSNMPAsInPrometheus(t *testing.T) {
	t.Parallel()
	natsURL := startNATS(t)
	side := serve(t, natsURL, "--snmp", "127.0.0.1:0")
	log := filepath.Join(t.TempDir(), "engine.log")
	since := time.Now().Add(-time.Hour)
	appendTo(t, log, orderEvent(since, "customer 1", "browse")+orderEvent(time.Now(), "customer 2", "Browse"))
	attachLines(t, natsURL, "--follow", log)
	side.firings(t, "browse", 2)

	place := key{"order-fulfilment", "cart"}
	side.sinceWhen(t, snmptest.Client{Addr: side.snmp, Community: "public"}, place).within(t, "the log", since, since)
}

// The adapter is killed, the file rotates meanwhile in the middle of a line, NATS is
// away: what the file had is counted once.
func TestALogIsCountedOnceWhateverIsKilled(t *testing.T) {
	t.Parallel()
	port, store := porttest.Port(t), t.TempDir()
	server := func() *process {
		return start(t, built.nats, "--addr", "127.0.0.1", "--port", port, "--store_dir", store)
	}
	broker := server()
	natsURL := "nats://127.0.0.1:" + port
	side := serve(t, natsURL)
	dir := t.TempDir()
	log, state := filepath.Join(dir, "engine.log"), filepath.Join(dir, "state")
	appendTo(t, log, orderEvent(time.Now(), "a", "browse"))
	first := attachLines(t, natsURL, "--follow", log, "--state", state)
	side.firings(t, "browse", 1)
	first.kill(t)

	half := orderEvent(time.Now(), "b", "browse")
	appendTo(t, log, half[:30])
	if err := os.Rename(log, log+".1"); err != nil {
		t.Fatal(err)
	}
	appendTo(t, log, half[30:]+"no event\n")
	second := attachLines(t, natsURL, "--follow", log, "--state", state)
	atSecond := second.web(t)
	side.firings(t, "browse", 2)

	broker.kill(t)
	appendTo(t, log, orderEvent(time.Now(), "a", "place"))
	until(t, "it is read", func() error { return atSecond.has("pnagent_lines_read_total", 3) })
	server()
	side.firings(t, "place", 1)
	if err := atSecond.has("pnagent_lines_dropped_total", 1, "reason", "not_json"); err != nil {
		t.Error(err)
	}
	if err := atSecond.has("pnagent_replay_fitness", 1, "net", "order-fulfilment"); err != nil {
		t.Error(err)
	}
	if n, _ := side.scrape(t).value("petrinet_place_tokens", "net", "order-fulfilment", "place", "placed"); n != 1 {
		t.Errorf("%v tokens wait for the credit check, want that of a", n)
	}
	second.stop(t, os.Interrupt)
}

// Events come by message, by datagram and by POST, and the sidecar has all of them.
func TestEventsComeByEveryDoor(t *testing.T) {
	t.Parallel()
	natsURL := startNATS(t)
	side := serve(t, natsURL)
	a := attachLines(t, natsURL, "--nats.subject", "shop.events", "--http", "127.0.0.1:0", "--udp", "127.0.0.1:0")
	udp, post := a.says(t, `"receiving datagrams","udp":"([^"]*)"`)[1], a.says(t, `"receiving HTTP posts","http":"([^"]*)"`)[1]
	a.says(t, "connected to NATS")
	nc := connect(t, natsURL)
	if err := nc.Publish("shop.events", []byte(orderEvent(time.Now(), "a", "browse")+orderEvent(time.Now(), "b", "browse"))); err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("udp", udp)
	if err != nil {
		t.Fatal(err)
	}
	_, err = conn.Write([]byte(orderEvent(time.Now(), "c", "browse")))
	if err := errors.Join(err, conn.Close()); err != nil {
		t.Fatal(err)
	}
	resp, err := http.Post("http://"+post+"/events", "", strings.NewReader(orderEvent(time.Now(), "d", "browse")))
	if err != nil {
		t.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatal(resp.Status, err)
	}
	side.firings(t, "browse", 4)
	at := a.web(t, post)
	for _, lost := range []string{"nats", "udp"} {
		if err := at.has("pnagent_lines_messages_lost_total", 0, "input", lost); err != nil {
			t.Error(err)
		}
	}
	a.stop(t, os.Interrupt)
}

// A log is looked back on: it is replayed to its end, and what came of it is printed.
func TestALogIsReplayedAndPublished(t *testing.T) {
	t.Parallel()
	natsURL := startNATS(t)
	side := serve(t, natsURL)
	log := write(t, "log.xes", `<log><trace><string key="concept:name" value="customer 1"/><event><string key="concept:name" value="Browse"/>`+
		`<date key="time:timestamp" value="2020-09-13T12:26:40Z"/></event></trace></log>`)
	a := attachLines(t, natsURL, "--xes", log, "--exit-at-end")
	side.firings(t, "browse", 1)
	if code := a.wait(t); code != 0 {
		t.Errorf("got exit code %d; want 0", code)
	}
	if want := `"net":"order-fulfilment","events":1,"unfit":0`; !strings.Contains(a.out.String(), want) {
		t.Errorf("it prints %s, want %s", a.out.String(), want)
	}
	r := pnagent(t, "attach", "lines", "--exit-at-end", "--xes", write(t, "broken.xes", "<log>\n<trace>"), filepath.Join("..", "examples", "order-fulfilment.pnml"))
	wantFailure(t, r, 1, `broken\.xes:2:8: `)
}

// has checks the value of one series.
func (w web) has(family string, want float64, labels ...string) error {
	s, err := w.readMetrics()
	if err != nil {
		return err
	}
	if is, _ := s.value(family, labels...); is != want {
		return fmt.Errorf("%s%s is %v, want %v", family, strings.Join(labels, " "), is, want)
	}
	return nil
}
