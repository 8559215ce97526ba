// SPDX-License-Identifier: Apache-2.0

package alarms

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/crypto/bcrypt"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/snmp/snmptest"
	"github.com/pnagent/pnagent/web/api"
)

func TestAlarmsAreAcknowledgedAndSilencedFromTheCommandLine(t *testing.T) {
	t.Parallel()
	snmptest.RequireTools(t)
	sink, natsURL, dir := snmptest.StartTrapd(t), kit.StartNATS(t), t.TempDir()
	rules := kit.Write(t, "alarms.yaml", strings.Replace(kit.Impatient, "overrides:", `overrides:
  - {net: "claims", place: "awaiting*", stuck: {severity: critical}}`, 1))
	start := func() *kit.Sidecar {
		return kit.Serve(t, natsURL, "--mib-dir", dir, "--alarms", rules, "--snmp.trap-sink", sink.Addr, "--web.actions", "--alarm-history", "5", "--snmp", "127.0.0.1:0")
	}
	side := start()
	kit.Matches(t, "no alarm", side.AlarmsOf(t, "list", "--exit-code"), 0, `^no active alarms\n$`)
	silence := kit.Matches(t, "a silence", side.AlarmsOf(t, "silence", "--for", "2h", "--alarm", "tokenStuck", "--net", "clai*", "--comment", "upgrade"), 0, `^silenced until \S+Z: ([0-9a-f]{16})\n$`)[1]
	kit.RunEngine(t, natsURL, "berlin", "--bindings", kit.Write(t, "bindings.yaml", kit.StuckBindings), kit.Write(t, "claims.pnml", kit.StuckNet))
	var index string
	kit.Until(t, "the alarm is shown", func() error {
		a := side.Alarms(t)
		if len(a) != 1 || a[0].Severity != "critical" || a[0].SilencedUntil == 0 {
			return fmt.Errorf("%+v", a)
		}
		index = strconv.Itoa(int(a[0].Index))
		return nil
	})

	kit.Matches(t, "an acknowledgement", side.AlarmsOf(t, "ack", index, "--comment", "the bank is informed"), 0, `^acknowledged: `+index+`\n$`)
	kit.Matches(t, "an alarm that is not active", side.AlarmsOf(t, "ack", index, "999999999"), 1, `^pnagent: no active alarm has the index 999999999 \(http://`)
	side.Says(t, `"alarms acknowledged","by":"[^"]+@[^"]+","proven":false,"addr":"127.0.0.1:\d+","indices":\[`+index+`\],"comment":"the bank is informed"`)
	table := side.AlarmsOf(t, "list")
	kit.Matches(t, "the table", table, 0, `(?s)^INDEX +SEVERITY +ALARM .*\n`+index+` +critical +tokenStuck +claims +awaiting answer +\d+s +acknowledged by \S+@\S+, silenced until \S+Z +tokens in place .*\n\nSILENCE .*\n`+silence+` .* alarm=tokenStuck net=clai\* +upgrade\n$`)
	stationReads(t, side, "the notes", map[string]string{"9.1.10." + index: "INTEGER: 3", "9.1.11." + index: "INTEGER: 1", "9.1.15." + index: `OCTET STRING: "the bank is informed"`,
		"13.0": "Gauge32: 0", "14.0": "Gauge32: 0", "12.1.2." + index: ""})
	kit.Matches(t, "what is silenced does not count", side.AlarmsOf(t, "list", "--exit-code"), 0, index)
	side.Stop(t, syscall.SIGTERM)
	side = start()
	if a := side.Alarms(t); len(a) != 1 || a[0].Acknowledged == nil || a[0].Acknowledged.Comment != "the bank is informed" || a[0].SilencedUntil == 0 {
		t.Errorf("after a restart there is %+v", a)
	}
	kit.Until(t, "the sidecar notifies, and its metrics show the silence", func() error {
		m := side.Scrape(t)
		duty, _ := m.Value("pnagent_sidecar_on_duty")
		if silenced, seen := m.All("petrinet_alarm_silenced"), m.All("petrinet_alarm_acknowledged"); duty != 1 || len(silenced) != 1 || len(seen) != 1 || silenced[0].Labels["place"] != "awaiting answer" {
			return fmt.Errorf("on duty %v, silenced %v, acknowledged %v", duty, silenced, seen)
		}
		return nil
	})
	kit.Matches(t, "its end", side.AlarmsOf(t, "unsilence", silence, "--json"), 0, `^\{"ok":true\}\n$`)
	kit.Matches(t, "its end again", side.AlarmsOf(t, "unsilence", silence), 1, `no silence`)
	late := sink.Wait(t, 1)[0]
	if got := kit.NoticeOf(late); got != (kit.Notice{Notification: kit.TokenStuck, Net: "claims", Place: "awaiting answer", Alarm: index}) || judgementOf(late).severity != 3 {
		t.Errorf("the station received %+v, %+v; want the raise, as critical, at the end of the silence, and nothing before", got, judgementOf(late))
	}
	stationReads(t, side, "the end of the silence", map[string]string{"9.1.11." + index: "INTEGER: 1", "9.1.14." + index: `OCTET STRING: "\x00\x00\x00\x00\x00\x00\x00\x00"`,
		"13.0": "Gauge32: 1", "14.0": "Gauge32: 1"})
	kit.Matches(t, "an alarm", side.AlarmsOf(t, "--exit-code", "--severity", "critical", "--json"), 1, `"severity":"critical".*"acknowledged":\{"by":`)
	kit.Matches(t, "a withdrawal", side.AlarmsOf(t, "unack", index), 0, `^no longer acknowledged: `+index)
	nc := kit.Connect(t, natsURL)
	for range 40 {
		kit.Request(t, nc, "fire", "claims", "berlin", `{"instance":0,"transition":"answer"}`)
	}
	kit.Until(t, "the alarm is cleared", func() error {
		if r := side.AlarmsOf(t, "--cleared"); !regexp.MustCompile(`\n` + index + ` +critical +tokenStuck +claims +awaiting answer +\S+Z +\S+Z +- +over after `).MatchString(r.Out) {
			return errors.New(r.Out + r.Err)
		}
		return nil
	})
	if end := sink.Wait(t, 2)[1]; kit.NoticeOf(end).Notification != kit.TokenMoving || judgementOf(end).severity != 1 {
		t.Errorf("then it received %+v, %+v; want the clear, as cleared", kit.NoticeOf(end), judgementOf(end))
	}
	stationReads(t, side, "what is over", map[string]string{"9.1.2." + index: "", "12.1.2." + index: "INTEGER: 1", "12.1.3." + index: `OCTET STRING: "claims"`,
		"12.1.5." + index: "INTEGER: 3", "13.0": "Gauge32: 0"})
}

func TestChangesAreTakenOnlyWithAFlagAndFromKnownClients(t *testing.T) {
	t.Parallel()
	natsURL := kit.StartNATS(t)
	closed := kit.Serve(t, natsURL, "--mib-dir", "")
	kit.Matches(t, "without --web.actions", closed.AlarmsOf(t, "silence", "--for", "1h", "--net", "*"), 1, `this sidecar takes no changes; expected --web.actions`)
	kit.WantFailure(t, kit.Pnagent(t, "serve", "--nats", natsURL, "--mib-dir", "", "--web.listen-address", "0.0.0.0:0", "--web.actions"), 2,
		`--web.actions at .*: the client is not known; expected basic_auth_users or .* in --web.config.file, or a loopback address`)

	hash, err := bcrypt.GenerateFromPassword([]byte("open sesame"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	open := kit.Serve(t, natsURL, "--mib-dir", "", "--web.listen-address", "0.0.0.0:0", "--web.actions", "--web.config.file", kit.Write(t, "web.yaml", fmt.Sprintf("basic_auth_users:\n  anna: %s\n", hash)))
	open.URL = regexp.MustCompile(`\[?[0-9a-f.:]*\]?:(\d+)$`).ReplaceAllString(open.URL, "127.0.0.1:$1")
	kit.Matches(t, "without a password", open.AlarmsOf(t, "silence", "--for", "1h", "--net", "*"), 1, `401 Unauthorized`)
	client := kit.Write(t, "client.yaml", "basic_auth:\n  username: anna\n  password: open sesame\n")
	kit.Matches(t, "with a password", open.AlarmsOf(t, "silence", "--for", "1h", "--net", "*", "--http.config.file", client), 0, `^silenced until `)
	open.Says(t, `"alarms silenced","by":"anna","proven":true`)

	local := kit.Serve(t, natsURL, "--mib-dir", "", "--web.actions")
	req, err := http.NewRequest(http.MethodPost, local.URL+"/api/v1/alarms/silence", strings.NewReader(`{"for_seconds":60,"net":"*"}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Origin", "http://other.example")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusForbidden {
		t.Errorf("a page of another site: %d; want 403", resp.StatusCode)
	}
}

// What is noted at the sidecar that stands by holds for the one on duty, and the other way round.
func TestTwoSidecarsShareAcknowledgementsAndSilences(t *testing.T) {
	t.Parallel()
	sink, natsURL := snmptest.StartTrapd(t), kit.StartNATS(t)
	key := kit.Write(t, "pair.key", strings.Repeat("k", 32)+"\n")
	side := func(priority string) *kit.Sidecar {
		return kit.Serve(t, natsURL, "--mib-dir", "", "--alarms", kit.Write(t, "alarms.yaml", strings.Replace(kit.Impatient, "settle: 0s", "settle: 7s", 1)), "--snmp.trap-sink", sink.Addr,
			"--agentx.priority", priority, "--standby.key-file", key, "--web.actions")
	}
	primary, standby := side("100"), side("127")
	kit.OnDuty(t, primary, standby)
	kit.Matches(t, "a silence at the standby", standby.AlarmsOf(t, "silence", "--for", "1h", "--place", "awaiting*"), 0, `^silenced until `)
	kit.Until(t, "the one on duty has it", func() error {
		if r := primary.AlarmsOf(t); !strings.Contains(r.Out, "place=awaiting*") {
			return errors.New(r.Out)
		}
		return nil
	})
	kit.RunEngine(t, natsURL, "berlin", "--bindings", kit.Write(t, "bindings.yaml", kit.StuckBindings), kit.Write(t, "claims.pnml", kit.StuckNet))
	both := func(what string, holds func(api.Alarm) bool) (a api.Alarm) {
		t.Helper()
		kit.Until(t, what, func() error {
			for _, s := range []*kit.Sidecar{primary, standby} {
				all := s.Alarms(t)
				if len(all) != 1 || !holds(all[0]) {
					return fmt.Errorf("%+v", all)
				}
				a = all[0]
			}
			return nil
		})
		return a
	}
	a := both("both show a silenced alarm", func(a api.Alarm) bool { return a.SilencedUntil != 0 })
	kit.Matches(t, "an acknowledgement at the one on duty", primary.AlarmsOf(t, "ack", strconv.Itoa(int(a.Index))), 0, `^acknowledged`)
	both("both show who acknowledged", func(a api.Alarm) bool { return a.Acknowledged != nil })

	primary.Stop(t, syscall.SIGTERM)
	kit.OnDuty(t, standby)
	again := side("100") // it kept nothing, and has all from the other one
	kit.Until(t, "a sidecar that starts has the notes of the other", func() error {
		if all := again.Alarms(t); len(all) != 1 || all[0].Acknowledged == nil || all[0].SilencedUntil == 0 || all[0].Index != a.Index {
			return fmt.Errorf("%+v", all)
		}
		return nil
	})
	kit.OnDuty(t, again, standby)
	id := kit.Matches(t, "the silence", again.AlarmsOf(t), 0, `\n([0-9a-f]{16}) `)[1]
	kit.Matches(t, "its end", standby.AlarmsOf(t, "unsilence", id), 0, `^ended`)
	if got := kit.NoticeOf(sink.Wait(t, 1)[0]); got != (kit.Notice{Notification: kit.TokenStuck, Net: "claims", Place: "awaiting answer", Alarm: strconv.Itoa(int(a.Index))}) {
		t.Errorf("the station received %+v; want one raise, at the end of the silence", got)
	}
}

// stationReads waits until objects of PETRINET-MIB have values, by their names below
// petrinetObjects; "" is for an object without an instance.
func stationReads(t *testing.T, s *kit.Sidecar, what string, want map[string]string) {
	t.Helper()
	kit.Until(t, "a station reads "+what, func() error {
		got, all := map[string]string{}, kit.Walk(t, snmptest.Client{Addr: s.SNMP})
		for name := range want {
			if v, ok := all[kit.OIDRoot+".1.1."+name]; ok {
				got[name] = v.String()
			} else {
				got[name] = ""
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			return errors.New(diff)
		}
		return nil
	})
}
