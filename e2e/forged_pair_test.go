// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
)

// groupOf returns the subject of the group of sidecars, from one of its heartbeats.
func groupOf(t *testing.T, nc *nats.Conn) string {
	t.Helper()
	sub, err := nc.SubscribeSync("petrinet.v1.sidecars.*")
	if err != nil {
		t.Fatal(err)
	}
	heartbeat, err := sub.NextMsg(patience)
	if err = errors.Join(err, sub.Unsubscribe()); err != nil {
		t.Fatal(err)
	}
	group, _, _ := strings.Cut(heartbeat.Subject, "-")
	return group
}

// heartbeats publishes 2,000 heartbeats a second of a thousand sidecars of the first
// priority that claim to be on duty, until stop.
func heartbeats(nc *nats.Conn, group string) (stop func()) {
	ended, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for i := 0; ; {
			for range 20 {
				i++
				text := fmt.Sprintf(`{"version":1,"id":"0-%d","name":"forged","up":true,"ready":true,"on_duty":true,"digest":"0-0-0"}`, i%1000)
				_ = nc.Publish(group, []byte(text)) // the server may refuse it
			}
			select {
			case <-ended:
				return
			case <-tick.C:
			}
		}
	}()
	return func() { close(ended); <-done }
}

// announced returns how many notifications both have sent, and how many alarms are
// unannounced at each.
func announced(t *testing.T, pair ...*sidecar) (sent float64, unannounced []float64) {
	t.Helper()
	for _, side := range pair {
		s := side.scrape(t)
		n, _ := s.value("pnagent_notifications_sent_total", "sink", "snmp")
		u, _ := s.value("pnagent_alarms_unannounced")
		sent, unannounced = sent+n, append(unannounced, u)
	}
	return sent, unannounced
}

// Forged heartbeats of ever new sidecars keep a pair without a key from notifying. Their
// number is bounded, both report what is not announced and not shown, and the pair
// notifies once they end.
func TestForgedHeartbeatsAtAPairWithoutAKeyAreReported(t *testing.T) {
	t.Parallel()
	natsURL := startNATS(t)
	nc := connect(t, natsURL)
	flags := []string{"--snmp.trap-sink", "127.0.0.1:9", "--mib-dir", "", "--alarms", write(t, "alarms.yaml", impatient)}
	primary := serve(t, natsURL, append(flags, "--agentx.priority", "100")...)
	onDuty(t, primary)
	standby := serve(t, natsURL, append(flags, "--agentx.priority", "127")...)
	onDuty(t, primary, standby)
	pair := []*sidecar{primary, standby}
	stop := heartbeats(nc, groupOf(t, nc))
	for _, side := range pair {
		until(t, "the table of sidecars is full, and this one stands by", func() error {
			s := side.scrape(t)
			duty, _ := s.value("pnagent_sidecar_on_duty")
			peers, _ := s.value("pnagent_sidecar_peers")
			refused, _ := s.value("pnagent_sidecar_messages_rejected_total", "reason", "too_many")
			if peers > 64 {
				t.Fatalf("got %v peers; want at most 64", peers)
			}
			if duty != 0 || refused == 0 {
				return fmt.Errorf("on duty %v, %v peers, %v refused", duty, peers, refused)
			}
			return nil
		})
	}
	before, _ := announced(t, pair...)
	runEngine(t, natsURL, "berlin", "--bindings", write(t, "bindings.yaml", stuckBindings), write(t, "claims.pnml", stuckNet))
	const said = "the sidecar on duty has not announced alarms that this one sees"
	for _, side := range pair {
		side.says(t, said)
		side.alarmed(t, "PnagentAlarmsUnannounced", "pnagent_alarms_unannounced")
		side.alarmed(t, "PnagentSidecarMessagesRejected", "pnagent_sidecar_messages_rejected_total")
		if all := side.alarms(t); len(all) != 0 { // the one on duty gives the numbers
			t.Errorf("under attack alarms %+v are shown; want none", all)
		}
		if got := side.peak(t); got > 256 {
			t.Errorf("got %d MiB; want at most 256", got)
		}
	}
	if sent, _ := announced(t, pair...); sent != before {
		t.Errorf("under attack %v notifications were sent; want %v", sent, before)
	}
	stop()
	ended := flushed(t, nc)
	until(t, "the pair has announced the alarm", func() error {
		sent, unannounced := announced(t, pair...)
		if sent != before+1 || unannounced[0]+unannounced[1] != 0 {
			return fmt.Errorf("%v notifications, %v before; unannounced %v", sent, before, unannounced)
		}
		return nil
	})
	onDuty(t, primary, standby)
	for _, side := range pair {
		until(t, "both show the alarm", func() error {
			if n := len(side.alarms(t)); n != 1 {
				return fmt.Errorf("%d alarms", n)
			}
			return nil
		})
	}
	within(t, "the primary takes the duty", 4*time.Second, ended, primary.lastSaid(t, "on duty: this sidecar sends notifications"))
	if said := standby.err.String(); strings.Contains(said, "on duty: this sidecar sends notifications") {
		t.Errorf("the standby took the duty too:\n%s", said)
	}
}

// With the permissions nats-server refuses them, and a pair without a key notifies.
func TestThePermissionsKeepForgedHeartbeatsFromAPair(t *testing.T) {
	t.Parallel()
	p := permit(t, nil, "--source", "berlin,other", "--net", "claims")
	flags := []string{"--snmp.trap-sink", "127.0.0.1:9", "--mib-dir", "", "--alarms", write(t, "alarms.yaml", impatient)}
	primary := serve(t, p.url("sidecar"), append(flags, "--agentx.priority", "100")...)
	onDuty(t, primary)
	standby := serve(t, p.url("sidecar"), append(flags, "--agentx.priority", "127")...)
	onDuty(t, primary, standby)
	nc, group := p.user(t, "other"), groupOf(t, p.user(t, "sidecar"))
	defer heartbeats(nc, group)()
	until(t, "the server refuses the heartbeats", func() error {
		if err := nc.LastError(); !errors.Is(err, nats.ErrPermissionViolation) || !strings.Contains(err.Error(), group) {
			return fmt.Errorf("got %w; want %w at %s", err, nats.ErrPermissionViolation, group)
		}
		return nil
	})
	runEngine(t, p.url("berlin"), "berlin", "--bindings", write(t, "bindings.yaml", stuckBindings), write(t, "claims.pnml", stuckNet))
	until(t, "the pair has announced the alarm", func() error {
		if sent, unannounced := announced(t, primary, standby); sent != 1 || unannounced[0]+unannounced[1] != 0 {
			return fmt.Errorf("%v notifications, unannounced %v", sent, unannounced)
		}
		return nil
	})
	onDuty(t, primary, standby)
	for _, side := range []*sidecar{primary, standby} {
		s := side.scrape(t)
		if n, _ := s.value("pnagent_sidecar_takeovers_total"); n > 1 || n == 1 && side == standby {
			t.Errorf("got %v take-overs; want those of the start", n)
		}
		for _, one := range s.all("pnagent_sidecar_messages_rejected_total") {
			if one.value != 0 {
				t.Errorf("got %v messages rejected as %v; want that none arrives", one.value, one.labels)
			}
		}
	}
}
