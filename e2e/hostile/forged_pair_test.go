// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/pnagent/pnagent/e2e/kit"
)

// groupOf returns the subject of the group of sidecars, from one of its heartbeats.
func groupOf(t *testing.T, nc *nats.Conn) string {
	t.Helper()
	sub, err := nc.SubscribeSync("petrinet.v1.sidecars.*")
	if err != nil {
		t.Fatal(err)
	}
	heartbeat, err := sub.NextMsg(kit.Patience)
	err = errors.Join(err, sub.Unsubscribe())
	if err != nil {
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
func announced(t *testing.T, pair ...*kit.Sidecar) (sent float64, unannounced []float64) {
	t.Helper()
	for _, side := range pair {
		s := side.Scrape(t)
		n, _ := s.Value("pnagent_notifications_sent_total", "sink", "snmp")
		u, _ := s.Value("pnagent_alarms_unannounced")
		sent, unannounced = sent+n, append(unannounced, u)
	}
	return sent, unannounced
}

// Forged heartbeats of ever new sidecars keep a pair without a key from notifying. Their
// number is bounded, both report what is not announced and not shown, and the pair
// notifies once they end.
func TestForgedHeartbeatsAtAPairWithoutAKeyAreReported(t *testing.T) {
	t.Parallel()
	natsURL := kit.StartNATS(t)
	nc := kit.Connect(t, natsURL)
	flags := []string{"--snmp.trap-sink", "127.0.0.1:9", "--mib-dir", "", "--alarms", kit.Write(t, "alarms.yaml", kit.Impatient)}
	primary := kit.Serve(t, natsURL, append(flags, "--agentx.priority", "100")...)
	kit.OnDuty(t, primary)
	standby := kit.Serve(t, natsURL, append(flags, "--agentx.priority", "127")...)
	kit.OnDuty(t, primary, standby)
	pair := []*kit.Sidecar{primary, standby}
	stop := heartbeats(nc, groupOf(t, nc))
	for _, side := range pair {
		kit.Until(t, "the table of sidecars is full, and this one stands by", func() error {
			s := side.Scrape(t)
			duty, _ := s.Value("pnagent_sidecar_on_duty")
			peers, _ := s.Value("pnagent_sidecar_peers")
			refused, _ := s.Value("pnagent_sidecar_messages_rejected_total", "reason", "too_many")
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
	kit.RunEngine(t, natsURL, "berlin", "--bindings", kit.Write(t, "bindings.yaml", kit.StuckBindings), kit.Write(t, "claims.pnml", kit.StuckNet))
	const said = "the sidecar on duty has not announced alarms that this one sees"
	for _, side := range pair {
		side.Says(t, said)
		side.Alarmed(t, "PnagentAlarmsUnannounced", "pnagent_alarms_unannounced")
		side.Alarmed(t, "PnagentSidecarMessagesRejected", "pnagent_sidecar_messages_rejected_total")
		if all := side.Alarms(t); len(all) != 0 { // the one on duty gives the numbers
			t.Errorf("under attack alarms %+v are shown; want none", all)
		}
		if got := peakMemory(t, side.Process); got > 256 {
			t.Errorf("got %d MiB; want at most 256", got)
		}
	}
	if sent, _ := announced(t, pair...); sent != before {
		t.Errorf("under attack %v notifications were sent; want %v", sent, before)
	}
	stop()
	ended := flushed(t, nc, primary.Process, standby.Process)
	kit.Until(t, "the pair has announced the alarm", func() error {
		sent, unannounced := announced(t, pair...)
		if sent != before+1 || unannounced[0]+unannounced[1] != 0 {
			return fmt.Errorf("%v notifications, %v before; unannounced %v", sent, before, unannounced)
		}
		return nil
	})
	kit.OnDuty(t, primary, standby)
	for _, side := range pair {
		kit.Until(t, "both show the alarm", func() error {
			if n := len(side.Alarms(t)); n != 1 {
				return fmt.Errorf("%d alarms", n)
			}
			return nil
		})
	}
	within(t, "the primary takes the duty", 4*time.Second, ended, lastSaid(t, primary.Process, "on duty: this sidecar sends notifications"))
	if said := standby.Err.String(); strings.Contains(said, "on duty: this sidecar sends notifications") {
		t.Errorf("the standby took the duty too:\n%s", said)
	}
}

// With the permissions nats-server refuses them, and a pair without a key notifies.
func TestThePermissionsKeepForgedHeartbeatsFromAPair(t *testing.T) {
	t.Parallel()
	p := kit.Permit(t, nil, "--source", "berlin,other", "--net", "claims")
	flags := []string{"--snmp.trap-sink", "127.0.0.1:9", "--mib-dir", "", "--alarms", kit.Write(t, "alarms.yaml", kit.Impatient)}
	primary := kit.Serve(t, p.URL("sidecar"), append(flags, "--agentx.priority", "100")...)
	kit.OnDuty(t, primary)
	standby := kit.Serve(t, p.URL("sidecar"), append(flags, "--agentx.priority", "127")...)
	kit.OnDuty(t, primary, standby)
	nc, group := userOf(t, p, "other"), groupOf(t, userOf(t, p, "sidecar"))
	defer heartbeats(nc, group)()
	kit.Until(t, "the server refuses the heartbeats", func() error {
		if err := nc.LastError(); !errors.Is(err, nats.ErrPermissionViolation) || !strings.Contains(err.Error(), group) {
			return fmt.Errorf("got %w; want %w at %s", err, nats.ErrPermissionViolation, group)
		}
		return nil
	})
	kit.RunEngine(t, p.URL("berlin"), "berlin", "--bindings", kit.Write(t, "bindings.yaml", kit.StuckBindings), kit.Write(t, "claims.pnml", kit.StuckNet))
	kit.Until(t, "the pair has announced the alarm", func() error {
		if sent, unannounced := announced(t, primary, standby); sent != 1 || unannounced[0]+unannounced[1] != 0 {
			return fmt.Errorf("%v notifications, unannounced %v", sent, unannounced)
		}
		return nil
	})
	kit.OnDuty(t, primary, standby)
	for _, side := range []*kit.Sidecar{primary, standby} {
		s := side.Scrape(t)
		if n, _ := s.Value("pnagent_sidecar_takeovers_total"); n > 1 || n == 1 && side == standby {
			t.Errorf("got %v take-overs; want those of the start", n)
		}
		for _, one := range s.All("pnagent_sidecar_messages_rejected_total") {
			if one.Value != 0 {
				t.Errorf("got %v messages rejected as %v; want that none arrives", one.Value, one.Labels)
			}
		}
	}
}

// peakMemory is the most memory that a process ever had, in MiB: VmHWM of Linux.
func peakMemory(t *testing.T, p *kit.Process) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Cmd.Process.Pid))
	if err != nil {
		t.Skipf("the memory of a process cannot be read here: %v", err)
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "VmHWM:" {
			kib, err := strconv.Atoi(fields[1])
			if err != nil {
				t.Fatal(err)
			}
			return kib >> 10
		}
	}
	t.Fatal("got no VmHWM; want one")
	return 0
}
