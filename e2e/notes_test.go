// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/crypto/bcrypt"

	"github.com/pnagent/pnagent/snmp/snmptest"
)

// noted is one of GET /api/v1/alarms, with what operators noted.
type noted struct {
	activeAlarm
	Acknowledged *struct{ By, Comment string }
	Silenced     string `json:"silenced_until"`
}

func (w web) noted(t *testing.T) (active []noted) {
	t.Helper()
	doc := struct{ Active *[]noted }{&active}
	if err := json.Unmarshal(w.page(t, "/api/v1/alarms"), &doc); err != nil {
		t.Fatal(err)
	}
	return active
}

// alarmsOf runs "pnagent alarms" for a sidecar.
func (w web) alarmsOf(t *testing.T, args ...string) result {
	t.Helper()
	return pnagent(t, append(append([]string{"alarms"}, args...), "--url", w.url)...)
}

// matches checks what a command wrote.
func matches(t *testing.T, what string, r result, code int, pattern string) []string {
	t.Helper()
	found := submatch(r.out+r.err, pattern)
	if r.code != code || found == nil {
		t.Fatalf("%s: exit code %d, %q, %q; want %d and %s", what, r.code, r.out, r.err, code, pattern)
	}
	return found
}

// stationReads waits until objects of PETRINET-MIB have values, by their names below
// petrinetObjects; "" is for an object without an instance.
func (s *sidecar) stationReads(t *testing.T, what string, want map[string]string) {
	t.Helper()
	until(t, "a station reads "+what, func() error {
		got, all := map[string]string{}, walk(t, snmptest.Client{Addr: s.snmp})
		for name := range want {
			if v, ok := all[oidRoot+".1.1."+name]; ok {
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

func TestAlarmsAreAcknowledgedAndSilencedFromTheCommandLine(t *testing.T) {
	t.Parallel()
	snmptest.RequireTools(t)
	sink, natsURL, dir := snmptest.StartTrapd(t), startNATS(t), t.TempDir()
	rules := write(t, "alarms.yaml", strings.Replace(impatient, "overrides:", `overrides:
  - {net: "claims", place: "awaiting*", stuck: {severity: critical}}`, 1))
	start := func() *sidecar {
		return serve(t, natsURL, "--mib-dir", dir, "--alarms", rules, "--snmp.trap-sink", sink.Addr, "--web.actions", "--alarm-history", "5", "--snmp", "127.0.0.1:0")
	}
	side := start()
	matches(t, "no alarm", side.alarmsOf(t, "list", "--exit-code"), 0, `^no active alarms\n$`)
	silence := matches(t, "a silence", side.alarmsOf(t, "silence", "--for", "2h", "--alarm", "tokenStuck", "--net", "clai*", "--comment", "upgrade"), 0, `^silenced until \S+Z: ([0-9a-f]{16})\n$`)[1]
	runEngine(t, natsURL, "berlin", "--bindings", write(t, "bindings.yaml", stuckBindings), write(t, "claims.pnml", stuckNet))
	var index string
	until(t, "the alarm is shown", func() error {
		a := side.noted(t)
		if len(a) != 1 || a[0].Severity != "critical" || a[0].Silenced == "" {
			return fmt.Errorf("%+v", a)
		}
		index = strconv.Itoa(int(a[0].Index))
		return nil
	})

	matches(t, "an acknowledgement", side.alarmsOf(t, "ack", index, "--comment", "the bank is informed"), 0, `^acknowledged: `+index+`\n$`)
	matches(t, "an alarm that is not active", side.alarmsOf(t, "ack", index, "999999999"), 1, `^pnagent: no active alarm has the index 999999999 \(http://`)
	side.says(t, `"alarms acknowledged","by":"[^"]+@[^"]+","proven":false,"addr":"127.0.0.1:\d+","indices":\[`+index+`\],"comment":"the bank is informed"`)
	table := side.alarmsOf(t, "list")
	matches(t, "the table", table, 0, `(?s)^INDEX +SEVERITY +ALARM .*\n`+index+` +critical +tokenStuck +claims +awaiting answer +\d+s +acknowledged by \S+@\S+, silenced until \S+Z +tokens in place .*\n\nSILENCE .*\n`+silence+` .* alarm=tokenStuck net=clai\* +upgrade\n$`)
	side.stationReads(t, "the notes", map[string]string{"9.1.10." + index: "INTEGER: 3", "9.1.11." + index: "INTEGER: 1", "9.1.15." + index: `OCTET STRING: "the bank is informed"`,
		"13.0": "Gauge32: 0", "14.0": "Gauge32: 0", "12.1.2." + index: ""})
	matches(t, "what is silenced does not count", side.alarmsOf(t, "list", "--exit-code"), 0, index)
	side.stop(t, syscall.SIGTERM)
	side = start()
	if a := side.noted(t); len(a) != 1 || a[0].Acknowledged == nil || a[0].Acknowledged.Comment != "the bank is informed" || a[0].Silenced == "" {
		t.Errorf("after a restart there is %+v", a)
	}
	until(t, "the sidecar notifies, and its metrics show the silence", func() error {
		m := side.scrape(t)
		duty, _ := m.value("pnagent_sidecar_on_duty")
		if silenced, seen := m.all("petrinet_alarm_silenced"), m.all("petrinet_alarm_acknowledged"); duty != 1 || len(silenced) != 1 || len(seen) != 1 || silenced[0].labels["place"] != "awaiting answer" {
			return fmt.Errorf("on duty %v, silenced %v, acknowledged %v", duty, silenced, seen)
		}
		return nil
	})
	matches(t, "its end", side.alarmsOf(t, "unsilence", silence, "--json"), 0, `^\{"ok":true\}\n$`)
	matches(t, "its end again", side.alarmsOf(t, "unsilence", silence), 1, `no silence`)
	late := sink.Wait(t, 1)[0]
	if got := noticeOf(late); got != (notice{tokenStuck, "claims", "awaiting answer", index}) || judgementOf(late).severity != 3 {
		t.Errorf("the station received %+v, %+v; want the raise, as critical, at the end of the silence, and nothing before", got, judgementOf(late))
	}
	side.stationReads(t, "the end of the silence", map[string]string{"9.1.11." + index: "INTEGER: 1", "9.1.14." + index: `OCTET STRING: "\x00\x00\x00\x00\x00\x00\x00\x00"`,
		"13.0": "Gauge32: 1", "14.0": "Gauge32: 1"})
	matches(t, "an alarm", side.alarmsOf(t, "--exit-code", "--severity", "critical", "--json"), 1, `"severity":"critical".*"acknowledged":\{"by":`)
	matches(t, "a withdrawal", side.alarmsOf(t, "unack", index), 0, `^no longer acknowledged: `+index)
	nc := connect(t, natsURL)
	for range 40 {
		request(t, nc, "fire", "claims", "berlin", `{"instance":0,"transition":"answer"}`)
	}
	until(t, "the alarm is cleared", func() error {
		if r := side.alarmsOf(t, "--cleared"); !regexp.MustCompile(`\n` + index + ` +critical +tokenStuck +claims +awaiting answer +\S+Z +\S+Z +- +over after `).MatchString(r.out) {
			return errors.New(r.out + r.err)
		}
		return nil
	})
	if end := sink.Wait(t, 2)[1]; noticeOf(end).notification != tokenMoving || judgementOf(end).severity != 1 {
		t.Errorf("then it received %+v, %+v; want the clear, as cleared", noticeOf(end), judgementOf(end))
	}
	side.stationReads(t, "what is over", map[string]string{"9.1.2." + index: "", "12.1.2." + index: "INTEGER: 1", "12.1.3." + index: `OCTET STRING: "claims"`,
		"12.1.5." + index: "INTEGER: 3", "13.0": "Gauge32: 0"})
}

func TestChangesAreTakenOnlyWithAFlagAndFromKnownClients(t *testing.T) {
	t.Parallel()
	natsURL := startNATS(t)
	closed := serve(t, natsURL, "--mib-dir", "")
	matches(t, "without --web.actions", closed.alarmsOf(t, "silence", "--for", "1h", "--net", "*"), 1, `this sidecar takes no changes; expected --web.actions`)
	wantFailure(t, pnagent(t, "serve", "--nats", natsURL, "--mib-dir", "", "--web.listen-address", "0.0.0.0:0", "--web.actions"), 2,
		`--web.actions at .*: the client is not known; expected basic_auth_users or .* in --web.config.file, or a loopback address`)

	hash, err := bcrypt.GenerateFromPassword([]byte("open sesame"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	open := serve(t, natsURL, "--mib-dir", "", "--web.listen-address", "0.0.0.0:0", "--web.actions", "--web.config.file", write(t, "web.yaml", fmt.Sprintf("basic_auth_users:\n  anna: %s\n", hash)))
	open.url = regexp.MustCompile(`\[?[0-9a-f.:]*\]?:(\d+)$`).ReplaceAllString(open.url, "127.0.0.1:$1")
	matches(t, "without a password", open.alarmsOf(t, "silence", "--for", "1h", "--net", "*"), 1, `401 Unauthorized`)
	client := write(t, "client.yaml", "basic_auth:\n  username: anna\n  password: open sesame\n")
	matches(t, "with a password", open.alarmsOf(t, "silence", "--for", "1h", "--net", "*", "--http.config.file", client), 0, `^silenced until `)
	open.says(t, `"alarms silenced","by":"anna","proven":true`)

	local := serve(t, natsURL, "--mib-dir", "", "--web.actions")
	req, err := http.NewRequest(http.MethodPost, local.url+"/api/v1/alarms/silence", strings.NewReader(`{"for_seconds":60,"net":"*"}`))
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
	sink, natsURL := snmptest.StartTrapd(t), startNATS(t)
	key := write(t, "pair.key", strings.Repeat("k", 32)+"\n")
	side := func(priority string) *sidecar {
		return serve(t, natsURL, "--mib-dir", "", "--alarms", write(t, "alarms.yaml", strings.Replace(impatient, "settle: 0s", "settle: 7s", 1)), "--snmp.trap-sink", sink.Addr,
			"--agentx.priority", priority, "--standby.key-file", key, "--web.actions")
	}
	primary, standby := side("100"), side("127")
	onDuty(t, primary, standby)
	matches(t, "a silence at the standby", standby.alarmsOf(t, "silence", "--for", "1h", "--place", "awaiting*"), 0, `^silenced until `)
	until(t, "the one on duty has it", func() error {
		if r := primary.alarmsOf(t); !strings.Contains(r.out, "place=awaiting*") {
			return errors.New(r.out)
		}
		return nil
	})
	runEngine(t, natsURL, "berlin", "--bindings", write(t, "bindings.yaml", stuckBindings), write(t, "claims.pnml", stuckNet))
	both := func(what string, holds func(noted) bool) (a noted) {
		t.Helper()
		until(t, what, func() error {
			for _, s := range []*sidecar{primary, standby} {
				all := s.noted(t)
				if len(all) != 1 || !holds(all[0]) {
					return fmt.Errorf("%+v", all)
				}
				a = all[0]
			}
			return nil
		})
		return a
	}
	a := both("both show a silenced alarm", func(a noted) bool { return a.Silenced != "" })
	matches(t, "an acknowledgement at the one on duty", primary.alarmsOf(t, "ack", strconv.Itoa(int(a.Index))), 0, `^acknowledged`)
	both("both show who acknowledged", func(a noted) bool { return a.Acknowledged != nil })

	primary.stop(t, syscall.SIGTERM)
	onDuty(t, standby)
	again := side("100") // it kept nothing, and has all from the other one
	until(t, "a sidecar that starts has the notes of the other", func() error {
		if all := again.noted(t); len(all) != 1 || all[0].Acknowledged == nil || all[0].Silenced == "" || all[0].Index != a.Index {
			return fmt.Errorf("%+v", all)
		}
		return nil
	})
	onDuty(t, again, standby)
	id := matches(t, "the silence", again.alarmsOf(t), 0, `\n([0-9a-f]{16}) `)[1]
	matches(t, "its end", standby.alarmsOf(t, "unsilence", id), 0, `^ended`)
	if got := noticeOf(sink.Wait(t, 1)[0]); got != (notice{tokenStuck, "claims", "awaiting answer", strconv.Itoa(int(a.Index))}) {
		t.Errorf("the station received %+v; want one raise, at the end of the silence", got)
	}
}
