// SPDX-License-Identifier: Apache-2.0

package alarms

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/internal/porttest"
	"github.com/pnagent/pnagent/snmp/snmptest"
)

// judgement is what a notification says beside that: the row to look at, and the severity.
type judgement struct {
	row      string
	severity int64
}

func judgementOf(n snmptest.Notification) (j judgement) {
	for _, v := range n.Variables {
		switch name := v.Name.String(); {
		case strings.HasPrefix(name, fmt.Sprintf("%s.%d.", kit.AlarmTable, kit.AlarmRow)):
			j.row = v.Value.OID().String()
		case strings.HasPrefix(name, fmt.Sprintf("%s.%d.", kit.AlarmTable, kit.AlarmSeverity)):
			j.severity = int64(v.Value.Num)
		}
	}
	return j
}

func TestStuckTokensNotifyWithoutSnmpd(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, pdu, user string
		flags           []string
	}{
		{"traps", "TRAP2", "", nil},
		{"informs", "INFORM", "", []string{"--snmp.inform"}},
		{"traps as a user", "TRAP2", "noc", []string{"--snmp.trap-user", "noc"}},
		{"informs as a user", "INFORM", "noc", []string{"--snmp.trap-user", "noc", "--snmp.inform"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			const engine, user = "80007ed905706e6167656e74", " noc SHA-256 authenticate-me AES encrypt-me-too"
			state := t.TempDir()
			if err := os.WriteFile(filepath.Join(state, "snmp-engine"), []byte(engine+" 0\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			if c.user != "" {
				c.flags = append(c.flags, "--snmp.users-file", kit.SNMPUsers(t), "--state-dir", state)
			}
			sink, dead := snmptest.StartTrapd(t, "createUser -e 0x"+engine+user, "createUser"+user), porttest.Addr(t)
			natsURL := kit.StartNATS(t)
			side := kit.Serve(t, natsURL, append(c.flags, "--alarms", kit.Write(t, "alarms.yaml", kit.Impatient),
				"--snmp.trap-sink", dead, "--snmp.trap-sink", sink.Addr)...)
			kit.RunEngine(t, natsURL, "berlin", "--bindings", kit.Write(t, "bindings.yaml", kit.StuckBindings), kit.Write(t, "claims.pnml", kit.StuckNet))

			raised := sink.Wait(t, 1)[0]
			stuck := kit.NoticeOf(raised)
			if want := (kit.Notice{Notification: kit.TokenStuck, Net: "claims", Place: "awaiting answer", Alarm: stuck.Alarm}); stuck != want || stuck.Alarm == "" || raised.PDU != c.pdu || raised.User != c.user {
				t.Errorf("%s is %+v, want %+v", raised.PDU, stuck, want)
			}
			minor := judgement{kit.OIDRoot + ".1.1.3.1.2.1.3", 5}
			if got := judgementOf(raised); got != minor {
				t.Errorf("%s is of %+v, want %+v", raised.PDU, got, minor)
			}
			nc := kit.Connect(t, natsURL)
			for range 40 {
				kit.Request(t, nc, "fire", "claims", "berlin", `{"instance":0,"transition":"answer"}`)
			}
			want := []kit.Notice{stuck, {Notification: kit.TokenMoving, Net: "claims", Place: "awaiting answer", Alarm: stuck.Alarm}}
			var all []kit.Notice // a notification that is acknowledged late is sent again, which is counted
			kit.Until(t, "the tokens move", func() error {
				all = nil
				for _, n := range sink.Wait(t, 2) {
					all = append(all, kit.NoticeOf(n))
					if got := judgementOf(n); all[len(all)-1] == want[1] && got != (judgement{minor.row, 1}) {
						t.Errorf("the clear is of %+v; want the row of the raise, and cleared", got)
					}
				}
				if !slices.Contains(all, want[1]) {
					return fmt.Errorf("there is %+v", all)
				}
				return nil
			})
			again, _ := side.Scrape(t).Value("pnagent_snmp_informs_retried_total", "sink", sink.Addr)
			if !slices.Equal(slices.Compact(slices.Clone(all)), want) || len(all) > len(want)+int(again) {
				t.Errorf("there came %+v, %v of them again; want %+v", all, again, want)
			}
			kit.Until(t, "the metrics tell of both sinks", func() error { return sinksCounted(side.Scrape(t), sink.Addr, dead, c.pdu == "INFORM") })
		})
	}
}

// sinksCounted checks what the sidecar counts: everything reached the live
// sink, and the dead one has not held it up.
func sinksCounted(s kit.Scrape, live, dead string, inform bool) error {
	value := func(metric, sink string) (sum float64) {
		for _, one := range s.All(metric) {
			if one.Labels["sink"] == sink {
				sum += one.Value
			}
		}
		return sum
	}
	acknowledged := 0.0
	if inform {
		acknowledged = 2
	}
	if sent, acks, lost := value("pnagent_snmp_notifications_sent_total", live), value("pnagent_snmp_informs_acknowledged_total", live),
		value("pnagent_snmp_notifications_lost_total", live); sent < 2 || acks != acknowledged || lost != 0 {
		return fmt.Errorf("the live sink: sent %v, acknowledged %v, lost %v", sent, acks, lost)
	}
	if value("pnagent_snmp_trap_sink_unreachable_total", dead) == 0 {
		return fmt.Errorf("no peer has noticed that the other sink is gone")
	}
	return nil
}
