// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/e2e/kit"
)

// theKey is a key of a pair, in its file.
const theKey = "# of the pair\n5f0c2b6d7a9e4c31b8d0e2f4a6c8091b\n"

// forgedOf returns a heartbeat and a page of alarms for a group of sidecars.
func forgedOf(group string) []nats.Msg {
	return []nats.Msg{
		{Subject: group, Data: []byte(`{"version":1,"id":"0","name":"forged","up":true,"ready":true,"on_duty":true,"digest":"0-0-0"}`)},
		{Subject: group + "-alarms", Data: []byte(`{"version":1,"id":"0"}` + "\nforged")},
	}
}

// forge publishes messages of a sidecar of the first priority, two a second, to every
// group of sidecars that it finds, until stop.
func forge(t *testing.T, natsURL string) (stop func()) {
	t.Helper()
	nc := kit.Connect(t, natsURL)
	found := make(chan *nats.Msg, 1000)
	if _, err := nc.ChanSubscribe("petrinet.v1.sidecars.*", found); err != nil {
		t.Fatal(err)
	}
	ended, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		groups := map[string]bool{}
		tick := time.NewTicker(500 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case m := <-found:
				groups[m.Subject] = !strings.Contains(m.Subject, "-")
			case <-tick.C:
				for subject, is := range groups {
					if is {
						for _, m := range forgedOf(subject) {
							_ = nc.PublishMsg(&m) // of a bus that ends
						}
					}
				}
			case <-ended:
				return
			}
		}
	}()
	return func() { close(ended); <-done }
}

// Without a key a forged sidecar keeps another one from notifying. That one reports
// it 30 seconds after its first alarm, and notifies once the forged one is gone.
func TestAForgedSidecarIsNoticedWithoutAKey(t *testing.T) {
	t.Parallel()
	natsURL := kit.StartNATS(t)
	stop := forge(t, natsURL)
	side := kit.Serve(t, natsURL, "--snmp.trap-sink", "127.0.0.1:9", "--mib-dir", "", "--alarms", kit.Write(t, "alarms.yaml", kit.Impatient))
	kit.Until(t, "the forged sidecar is taken for one", func() error {
		if peers, _ := side.Self(t).Value("pnagent_sidecar_peers"); peers != 1 {
			return fmt.Errorf("%v peers", peers)
		}
		return nil
	})
	kit.RunEngine(t, natsURL, "berlin", "--bindings", kit.Write(t, "bindings.yaml", kit.StuckBindings), kit.Write(t, "claims.pnml", kit.StuckNet))
	side.Says(t, "the sidecar on duty has not announced alarms that this one sees")
	side.Alarmed(t, "PnagentAlarmsUnannounced", "pnagent_alarms_unannounced")
	s := side.Scrape(t)
	sent, _ := s.Value("pnagent_notifications_sent_total", "sink", "snmp")
	if n, _ := s.Value("pnagent_alarms_unannounced"); n != 1 || sent != 0 {
		t.Errorf("under attack: %v alarms are unannounced, %v notifications sent; want 1 and 0", n, sent)
	}
	stop()
	ended := now(side.Process)
	kit.Until(t, "the sidecar notifies", func() error {
		s := side.Scrape(t)
		sent, _ := s.Value("pnagent_notifications_sent_total", "sink", "snmp")
		if n, _ := s.Value("pnagent_alarms_unannounced"); n != 0 || sent == 0 || len(side.Alarms(t)) != 1 {
			return fmt.Errorf("%v alarms are unannounced, %v notifications sent", n, sent)
		}
		return nil
	})
	alarm := side.Alarms(t)[0]
	within(t, "the alarm is unannounced", 30*time.Second, at(alarm.Raised.Time()), lastSaid(t, side.Process, "the sidecar on duty has not announced alarms that this one sees: it may be forged, or configured differently"))
	within(t, "the sidecar takes the duty", 4*time.Second, ended, lastSaid(t, side.Process, "on duty: this sidecar sends notifications"))
}

// With a key a forged sidecar is ignored: a pair is complete, and one takes over.
func TestAForgedSidecarIsIgnoredByAPairWithAKey(t *testing.T) {
	t.Parallel()
	natsURL := kit.StartNATS(t)
	defer forge(t, natsURL)()
	key := kit.Write(t, "key", theKey)
	flags := []string{"--snmp.trap-sink", "127.0.0.1:9", "--mib-dir", "", "--alarms", kit.Write(t, "alarms.yaml", kit.Impatient), "--standby.key-file", key}
	primary := kit.Serve(t, natsURL, append(flags, "--agentx.priority", "100")...)
	standby := kit.Serve(t, natsURL, append(flags, "--agentx.priority", "127")...)
	kit.OnDuty(t, primary, standby)
	kit.RunEngine(t, natsURL, "berlin", "--bindings", kit.Write(t, "bindings.yaml", kit.StuckBindings), kit.Write(t, "claims.pnml", kit.StuckNet))
	for _, side := range []*kit.Sidecar{primary, standby} {
		kit.Until(t, "both have the alarm", func() error {
			if n := len(side.Alarms(t)); n != 1 {
				return fmt.Errorf("%d alarms", n)
			}
			return nil
		})
	}
	standby.Alarmed(t, "PnagentSidecarMessagesRejected", "pnagent_sidecar_messages_rejected_total")
	primary.Kill(t)
	kit.OnDuty(t, standby)
	if n, _ := standby.Self(t).Value("pnagent_sidecar_messages_rejected_total", "reason", "unsigned"); n == 0 {
		t.Error("no forged message was counted as unsigned")
	}
	if said := standby.Err.String(); strings.Contains(said, strings.Fields(theKey)[4]) || !strings.Contains(said, "claims to be of a sidecar") {
		t.Errorf("the log has the key, or no warning:\n%s", said)
	}
}

// A flood at the subject of a pair with a key, as fast as one client can send, is counted,
// and moves the duty of neither: their heartbeats are received meanwhile. It runs alone,
// because both are gone for the other after 3 seconds without a processor.
//
//promise:clears hostile load
func TestAFloodAtThePairDoesNotMoveTheDuty(t *testing.T) {
	natsURL := kit.StartNATS(t)
	nc := kit.Connect(t, natsURL)
	flags := []string{"--snmp.trap-sink", "127.0.0.1:9", "--mib-dir", "", "--standby.key-file", kit.Write(t, "key", theKey)}
	primary := kit.Serve(t, natsURL, append(flags, "--agentx.priority", "100")...)
	kit.OnDuty(t, primary)
	standby := kit.Serve(t, natsURL, append(flags, "--agentx.priority", "127")...)
	kit.OnDuty(t, primary, standby)
	group := groupOf(t, nc)
	pair := []*kit.Sidecar{primary, standby}
	counted := func(name string, labels ...string) (n [2]float64) {
		for i, side := range pair {
			n[i], _ = side.Scrape(t).Value(name, labels...)
		}
		return n
	}
	before := counted("pnagent_sidecar_takeovers_total")
	a := attacked{nc: kit.Connect(t, natsURL)}
	end := a.flood(func(int) string { return group })
	var unsigned [2]float64
	over := time.Now().Add(4 * time.Second)
	kit.Until(t, "the flood has lasted 4 s, and many messages are rejected", func() error {
		duty, peers := counted("pnagent_sidecar_on_duty"), counted("pnagent_sidecar_peers")
		if duty != [2]float64{1, 0} || peers != [2]float64{1, 1} {
			t.Errorf("during the flood: on duty %v, peers %v; want 1 and 0, and one each", duty, peers)
			return nil
		}
		unsigned = counted("pnagent_sidecar_messages_rejected_total", "reason", "unsigned")
		if time.Now().Before(over) || min(unsigned[0], unsigned[1]) < 10_000 {
			return fmt.Errorf("%v messages were rejected as unsigned", unsigned)
		}
		return nil
	})
	if err := end(); err != nil {
		t.Error(err)
	}
	overrun := counted("pnagent_sidecar_messages_rejected_total", "reason", "overrun")
	t.Logf("%v messages were rejected as unsigned, %v dropped", unsigned, overrun)
	if after := counted("pnagent_sidecar_takeovers_total"); after != before || overrun != [2]float64{} {
		t.Errorf("take-overs %v, %v before; %v dropped; want no take-over, and none dropped", after, before, overrun)
	}
}

func TestAKeyFileThatOthersCanReadIsRefused(t *testing.T) {
	t.Parallel()
	open := kit.Write(t, "open", theKey)
	if err := os.Chmod(open, 0o644); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]error{
		open:                              errors.New("invalid key file: mode 0644; expected 0600, 0400 or 0440"),
		kit.Write(t, "short", "secret\n"): errors.New(":1:1: invalid key file: a key of 6 bytes; expected at least 32"),
	} {
		r := kit.Pnagent(t, "serve", "--web.listen-address", "127.0.0.1:0", "--mib-dir", "", "--standby.key-file", file)
		if r.Code != 2 || !strings.Contains(r.Err, want.Error()) || strings.Contains(r.Err, "secret\n") {
			t.Errorf("got %d, %s; want 2 and %q", r.Code, r.Err, want)
		}
	}
}

// lastSaid returns when the process last logged a message, as JSON.
func lastSaid(t *testing.T, p *kit.Process, message string) (at time.Time) {
	t.Helper()
	for line := range strings.Lines(p.Err.String()) {
		var l struct {
			Time time.Time
			Msg  string
		}
		if json.Unmarshal([]byte(line), &l) == nil && l.Msg == message { // a line may be half written
			at = l.Time
		}
	}
	if at.IsZero() {
		t.Errorf("got no line %q in the log; want one", message)
	}
	return at
}
