// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/internal/porttest"
	"github.com/pnagent/pnagent/mib/smi"
	"github.com/pnagent/pnagent/snmp/snmptest"
)

// impatient has tokens that stay a second raise an alarm, and nothing else.
const impatient = `settle: 0s
defaults:
  stuck: {after: 1s, clear_after: 0s}
  starved: off
  lost: off
  deadlocked: off
overrides:
  - {place: "paid*", stuck: off}
`

// What a network management station knows of notifications from PETRINET-MIB.
const (
	tokenStuck    = oidRoot + ".1.0.1"
	tokenMoving   = oidRoot + ".1.0.2"
	alarmTable    = oidRoot + ".1.1.9.1"
	alarmNet      = 3
	alarmSubject  = 4
	alarmRow      = 5
	alarmSeverity = 10
	trapOID       = "1.3.6.1.6.3.1.1.4.1.0" // snmpTrapOID.0
)

// notice is the content of a notification: its kind, its place, and the number of its
// alarm.
type notice struct{ notification, net, place, alarm string }

// judgement is what a notification says beside that: the row to look at, and the severity.
type judgement struct {
	row      string
	severity int64
}

func judgementOf(n snmptest.Notification) (j judgement) {
	for _, v := range n.Variables {
		switch name := v.Name.String(); {
		case strings.HasPrefix(name, fmt.Sprintf("%s.%d.", alarmTable, alarmRow)):
			j.row = v.Value.OID().String()
		case strings.HasPrefix(name, fmt.Sprintf("%s.%d.", alarmTable, alarmSeverity)):
			j.severity = int64(v.Value.Num)
		}
	}
	return j
}

func noticeOf(n snmptest.Notification) notice {
	var s notice
	for _, v := range n.Variables {
		name := v.Name.String()
		if name == trapOID && v.Value.Type == smi.TypeObjectIdentifier {
			s.notification = v.Value.OID().String()
		}
		for column, field := range map[int]*string{alarmNet: &s.net, alarmSubject: &s.place} {
			if index, ok := strings.CutPrefix(name, fmt.Sprintf("%s.%d.", alarmTable, column)); ok {
				*field, s.alarm = v.Value.Str, index
			}
		}
	}
	return s
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
				c.flags = append(c.flags, "--snmp.users-file", snmpUsers(t), "--state-dir", state)
			}
			sink, dead := snmptest.StartTrapd(t, "createUser -e 0x"+engine+user, "createUser"+user), porttest.Addr(t)
			natsURL := startNATS(t)
			side := serve(t, natsURL, append(c.flags, "--alarms", write(t, "alarms.yaml", impatient),
				"--snmp.trap-sink", dead, "--snmp.trap-sink", sink.Addr)...)
			runEngine(t, natsURL, "berlin", "--bindings", write(t, "bindings.yaml", stuckBindings), write(t, "claims.pnml", stuckNet))

			raised := sink.Wait(t, 1)[0]
			stuck := noticeOf(raised)
			if want := (notice{tokenStuck, "claims", "awaiting answer", stuck.alarm}); stuck != want || stuck.alarm == "" || raised.PDU != c.pdu || raised.User != c.user {
				t.Errorf("%s is %+v, want %+v", raised.PDU, stuck, want)
			}
			minor := judgement{oidRoot + ".1.1.3.1.2.1.3", 5}
			if got := judgementOf(raised); got != minor {
				t.Errorf("%s is of %+v, want %+v", raised.PDU, got, minor)
			}
			nc := connect(t, natsURL)
			for range 40 {
				request(t, nc, "fire", "claims", "berlin", `{"instance":0,"transition":"answer"}`)
			}
			want := []notice{stuck, {tokenMoving, "claims", "awaiting answer", stuck.alarm}}
			var all []notice // a notification that is acknowledged late is sent again, which is counted
			until(t, "the tokens move", func() error {
				all = nil
				for _, n := range sink.Wait(t, 2) {
					all = append(all, noticeOf(n))
					if got := judgementOf(n); all[len(all)-1] == want[1] && got != (judgement{minor.row, 1}) {
						t.Errorf("the clear is of %+v; want the row of the raise, and cleared", got)
					}
				}
				if !slices.Contains(all, want[1]) {
					return fmt.Errorf("there is %+v", all)
				}
				return nil
			})
			again, _ := side.scrape(t).value("pnagent_snmp_informs_retried_total", "sink", sink.Addr)
			if !slices.Equal(slices.Compact(slices.Clone(all)), want) || len(all) > len(want)+int(again) {
				t.Errorf("there came %+v, %v of them again; want %+v", all, again, want)
			}
			until(t, "the metrics tell of both sinks", func() error { return sinksCounted(side.scrape(t), sink.Addr, dead, c.pdu == "INFORM") })
		})
	}
}

// sinksCounted checks what the sidecar counts: everything reached the live
// sink, and the dead one has not held it up.
func sinksCounted(s scrape, live, dead string, inform bool) error {
	value := func(metric, sink string) (sum float64) {
		for _, one := range s.all(metric) {
			if one.labels["sink"] == sink {
				sum += one.value
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
