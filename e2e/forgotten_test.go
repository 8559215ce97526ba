// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/pnagent/pnagent/snmp/snmptest"
)

// TestAKilledEngineKeepsItsAlarmsUntilAPersonClosesThem: a station gets no end of an alarm
// about an engine that was killed and forgotten. A clean stop is an end.
func TestAKilledEngineKeepsItsAlarmsUntilAPersonClosesThem(t *testing.T) {
	t.Parallel()
	snmptest.RequireTools(t)
	sink, natsURL := snmptest.StartTrapd(t), startNATS(t)
	rules := write(t, "alarms.yaml", strings.Replace(impatient, "lost: off", "lost: {clear_after: 0s}", 1))
	side := serve(t, natsURL, "--alarms", rules, "--forget-after", "5s", "--web.actions", "--snmp.trap-sink", sink.Addr)
	engine := func(source string) *engine {
		return runEngine(t, natsURL, source, "--bindings", write(t, "bindings.yaml", stuckBindings), write(t, "claims.pnml", stuckNet))
	}
	doomed := engine("berlin")
	sink.Wait(t, 1)
	doomed.kill(t)
	sink.Wait(t, 2)
	until(t, "both alarms are unknown", func() error {
		r := side.alarmsOf(t)
		if unknown := side.scrape(t).all("petrinet_alarm_unknown"); len(unknown) != 2 || strings.Count(r.out, "unknown whether alarm") != 2 || !strings.Contains(r.out, `source "berlin" is silent since `) {
			return fmt.Errorf("%d unknown alarms; the list is %s", len(unknown), r.out)
		}
		return nil
	})
	if active := side.scrape(t).all("petrinet_alarm_active"); len(active) != 2 {
		t.Errorf("active alarms are %+v; want those of before", active)
	}
	matches(t, "close by a pattern", side.alarmsOf(t, "close", "--source", "ber*", "--comment", "the machine is gone"), 0, `^closed: \d+ \d+\n$`)
	var events []string
	for _, n := range sink.Wait(t, 4) {
		events = append(events, noticeOf(n).notification)
	}
	if raises, ends := events[:2], events[2:]; raises[0] != tokenStuck || len(ends) != 2 || !strings.Contains(strings.Join(ends, " "), tokenMoving) {
		t.Errorf("the station got %v; want two raises, and two ends after the alarms were closed", events)
	}
	matches(t, "the ends name the person", side.alarmsOf(t, "--cleared"), 0, `closed by [^:\n]+: the machine is gone`)
	side.says(t, `alarms closed.*the machine is gone`)

	// A clean stop.
	other := engine("paris")
	sink.Wait(t, 5)
	other.stop(t, syscall.SIGTERM)
	end := noticeOf(sink.Wait(t, 6)[5])
	if end.notification != tokenMoving {
		t.Errorf("after a clean stop the station got %+v", end)
	}
	until(t, "no alarm is active", func() error {
		if a := side.alarms(t); len(a) > 0 {
			return fmt.Errorf("%+v", a)
		}
		return nil
	})
}
