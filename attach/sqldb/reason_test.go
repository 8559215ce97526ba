// SPDX-License-Identifier: Apache-2.0

//go:build peers

package sqldb

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/mib"
	"github.com/pnagent/pnagent/sidecar"
	"github.com/pnagent/pnagent/snmp/snmptest"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry/natslink"
)

// newSidecar runs a sidecar with rules of alarms, which sends traps to snmptrapd. It forgets the tokens of a source that is silent
// for five seconds.
func newSidecar(t *testing.T, url, rules string, sink *snmptest.Snmptrapd) *sidecar.Sidecar {
	t.Helper()
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	link, err := natslink.Open(natslink.Config{URLs: url, Name: "sidecar", Log: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(link.Close)
	read, err := alarm.ReadRules(strings.NewReader(rules), "rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	root, err := mib.ParseRoot(mib.DefaultRoot)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	side, err := sidecar.New(ctx, sidecar.Config{Link: link, Root: root, Web: "127.0.0.1:0", Merge: merge.Rules{ForgetAfter: 5 * time.Second}, Alarms: read, TrapSinks: []string{sink.Addr}, Community: "public", Log: log})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- side.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return side
}

// TestAlarmsByReasonOfGraphileWorker has a job that is delayed until tomorrow, one that ran out of
// retries, and one whose worker was killed. Only the last two are alarms.
func TestAlarmsByReasonOfGraphileWorker(t *testing.T) {
	t.Parallel()
	s := newPostgres(t)
	e, w, sink := newNode(t, "graphile", s.address), newWatch(t), snmptest.StartTrapd(t)
	for _, add := range []string{"mail", "hold", `fail {"maxAttempts":1}`, "fails"} {
		e.Do("add " + add)
	}
	w.run(newConfig(t, s.address, "graphile-worker"))
	newSidecar(t, w.url, `
settle: 1s
defaults:
  starved: off
  stuck: [{after: 1h}, {reason: incident, after: 0s, severity: critical}, {reason: noWorker, after: 0s}, {reason: delayed, after: due + 5m, severity: warning}]
`, sink)
	e.Do("work hold fails")
	e.Do("kill")
	e.Do(`reschedule fails {"runAt":"` + time.Now().Add(24*time.Hour).UTC().Format(time.RFC3339) + `"}`)
	w.until(func() string {
		return cmp.Diff(map[string]string{"job job delayed": "failed, try 1 of 25"}, w.waits("fails", e.report().instance("fails")))
	})

	begun := time.Now()
	e.Do("work fail")
	e.Do("kill")
	checkTrap(t, sink, 0, trap{"fail", alarm.Critical, stats.ReasonIncident, e.report().instance("fail"), "failed, try 1 of 1"})
	t.Logf("out of retries: reported after %v", time.Since(begun).Round(100*time.Millisecond))
	begun = time.Now()
	change(t, s.open("pgx", s.address), "UPDATE graphile_worker._private_jobs SET locked_at = locked_at - INTERVAL '5 hours'")
	r := e.report()
	checkTrap(t, sink, 1, trap{"hold", alarm.Minor, stats.ReasonNoWorker, r.instance("hold"), r.times("hold", "lock expired, try 1 of 25, locked since {lock}")})
	t.Logf("the lock of a killed worker: reported after %v", time.Since(begun).Round(100*time.Millisecond))
	time.Sleep(3 * time.Second)
	if got := sink.Wait(t, 2); len(got) != 2 {
		t.Errorf("%d traps; expected none about the job that is delayed until tomorrow", len(got))
	}
}

// trap is what a notification has of an alarm.
type trap struct {
	net      string
	severity alarm.Severity
	reason   stats.Reason
	instance string
	why      string // how it begins
}

// checkTrap waits for a notification, and compares its variables and its text with what is wanted.
func checkTrap(t *testing.T, sink *snmptest.Snmptrapd, at int, want trap) {
	t.Helper()
	v := sink.Wait(t, at+1)[at].Variables
	why := v[13].Value.Str
	got := trap{v[3].Value.Str, alarm.Severity(v[10].Value.Num), stats.Reason(v[11].Value.Num - 1), v[12].Value.Str, why[:min(len(why), len(want.why))]}
	if got != want {
		t.Errorf("the trap has %+v; expected %+v", got, want)
	}
	if text := v[8].Value.Str; !strings.Contains(text, fmt.Sprintf("with reason %s: 1, the oldest since ", want.reason)) || !strings.Contains(text, fmt.Sprintf("; instance %q: %s", want.instance, want.why)) {
		t.Errorf("the trap has %q", text)
	}
}
