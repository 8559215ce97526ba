// SPDX-License-Identifier: Apache-2.0

package alarms

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/snmp/snmptest"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
	"github.com/pnagent/pnagent/web/api"
)

// printing is a queue of jobs in front of a printer.
const printing = `<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml"><net id="print" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="p">
<place id="queue"/><place id="done"/><transition id="printed"/><arc id="a" source="queue" target="printed"/><arc id="b" source="printed" target="done"/></page></net></pnml>`

// queued has twelve jobs that are scheduled for tomorrow since two days, and a young one whose worker is gone.
func queued(began, now int64) stats.Place {
	const day = 24 * 3600 * 1_000_000
	p := stats.Place{Tokens: 13, Oldest: began - 2*day}
	for i := range int64(12) {
		ahead := stats.Token{Instance: fmt.Sprintf("ahead %02d", i), Injected: began - 2*day + i, Waits: []stats.Wait{{Reason: stats.ReasonDelayed, Place: stats.NoPlace, Until: began + day, What: "timer"}}}
		p.Stuck = append(p.Stuck, ahead)
		if len(p.Stuck) > stats.MaxStuck {
			p.Stuck = p.Stuck[:stats.MaxStuck]
		}
		p.Injected.Add(ahead.Injected)
		p.Ages.Add(ahead.Injected, now, 1)
	}
	dead := stats.Token{Instance: "job 7", Injected: began, Waits: []stats.Wait{{Reason: stats.ReasonNoWorker, Place: stats.NoPlace, What: "running, held by worker one, no heartbeat since 2026-01-02T03:04:05Z"}}}
	p.Injected.Add(dead.Injected)
	p.Ages.Add(dead.Injected, now, 1)
	p.Groups = []stats.Group{{Reason: stats.ReasonDelayed, Tokens: 12, Due: began + day, Oldest: p.Stuck[0]}, {Reason: stats.ReasonNoWorker, Tokens: 1, Due: began, Oldest: dead}}
	return p
}

// A young job that failed is behind more old ones than any list names. Each face has it with its reason and the words of that, and the
// old ones, which are not due, raise nothing.
//
//promise:faces load
func TestEveryFaceShowsTheReasonOfTheOldestOfEach(t *testing.T) {
	t.Parallel()
	snmptest.RequireTools(t)
	sink, natsURL := snmptest.StartTrapd(t), kit.StartNATS(t)
	side := kit.Serve(t, natsURL, "--snmp", "127.0.0.1:0", "--snmp.trap-sink", sink.Addr, "--web.actions", "--alarms", kit.Write(t, "alarms.yaml", `settle: 0s
defaults:
  starved: off
  stuck: [{after: 10m}, {reason: noWorker, after: 0s, severity: critical}, {reason: delayed, after: due + 5m}]
`))
	began := time.Now().UnixMicro()
	source, err := telemetry.Start(telemetry.Config{Conn: kit.Connect(t, natsURL), Source: "office", Log: slog.New(slog.DiscardHandler),
		Nets: []telemetry.SourceNet{{ID: "print", PNML: []byte(printing), Places: 2, Transitions: 1}},
		Rows: func(_ int, now int64, into *stats.Rows) error {
			into.Columns = stats.ColTokens | stats.ColOldest | stats.ColAges | stats.ColStuck | stats.ColGroups
			into.Places[0] = queued(began, now)
			return nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = source.Close(t.Context()) })

	const words = "running, held by worker one, no heartbeat since 2026-01-02T03:04:05Z (no worker that is alive takes it)"
	raised := sink.Wait(t, 1)[0]
	alarms := side.Alarms(t)
	if len(alarms) != 1 {
		t.Fatalf("%+v; expected one alarm", alarms)
	}
	a := alarms[0]
	if d := cmp.Diff([]string{"queue", "critical", "noWorker", "noWorker", "job 7", words}, []string{a.Place, a.Severity, a.ForReason, a.Reason, a.Instance, a.Why}); d != "" {
		t.Errorf("the alarm, -want +got:\n%s", d)
	}
	for face, shown := range map[string]string{"a trap": textOf(raised), "the alarm": a.Text, "pnagent alarms": side.AlarmsOf(t, "list").Out} {
		for _, part := range []string{"with reason noWorker: 1, the oldest since ", `instance "job 7"`, words} {
			if !strings.Contains(shown, part) {
				t.Errorf("%s lacks %q: %s", face, part, shown)
			}
		}
	}

	var place api.Place
	if err := json.Unmarshal(side.Page(t, "/api/v1/place?net=print&place=queue"), &place); err != nil {
		t.Fatal(err)
	}
	var reasons []string
	for _, r := range *place.Reasons {
		reasons = append(reasons, fmt.Sprintf("%d %s %s %s", r.Tokens, r.Reason, r.Oldest.Instance, r.Oldest.Waits[0].Text))
	}
	if d := cmp.Diff([]string{"12 delayed ahead 00 timer (waits until its time has come)", "1 noWorker job 7 " + words}, reasons); d != "" || len(*place.Stuck) != stats.MaxStuck {
		t.Errorf("the place, with %d of the oldest tokens, -want +got:\n%s", len(*place.Stuck), d)
	}
	scrape := side.Scrape(t)
	if why := scrape.All("petrinet_alarm_reason"); len(why) != 1 || why[0].Labels["for_reason"] != "noWorker" || why[0].Labels["reason"] != "noWorker" || why[0].Labels["waits_for"] != "printed" {
		t.Errorf("the metrics: %+v", why)
	}
	index := strconv.Itoa(int(a.Index))
	stationReads(t, side, "the alarm", map[string]string{"9.1.16." + index: "INTEGER: 11", "9.1.17." + index: `OCTET STRING: "job 7"`, "9.1.18." + index: `OCTET STRING: "` + words + `"`})

	kit.Matches(t, "a silence of another reason", side.AlarmsOf(t, "silence", "--for", "1h", "--for-reason", "incident"), 0, `^silenced until`)
	if a := side.Alarms(t); len(a) != 1 || a[0].SilencedUntil != 0 {
		t.Errorf("after a silence of incidents there is %+v", a)
	}
	kit.Matches(t, "a silence of the reason", side.AlarmsOf(t, "silence", "--for", "1h", "--for-reason", "noWorker"), 0, `^silenced until`)
	kit.Until(t, "the alarm is silenced", func() error {
		if a := side.Alarms(t); len(a) != 1 || a[0].SilencedUntil == 0 {
			return fmt.Errorf("%+v", a)
		}
		return nil
	})
	kit.Matches(t, "the list", side.AlarmsOf(t, "list"), 0, `for_reason=noWorker`)
	kit.Matches(t, "a reason that is none", side.AlarmsOf(t, "silence", "--for", "1h", "--for-reason", "tired"), 2, `no reason is "tired"`)
}
