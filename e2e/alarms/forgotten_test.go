// SPDX-License-Identifier: Apache-2.0

package alarms

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/snmp/snmptest"
)

// TestAKilledEngineKeepsItsAlarmsUntilAPersonClosesThem: a station gets no end of an alarm
// about an engine that was killed and forgotten. A clean stop is an end.
//
//promise:evidence kill
func TestAKilledEngineKeepsItsAlarmsUntilAPersonClosesThem(t *testing.T) {
	t.Parallel()
	snmptest.RequireTools(t)
	sink, natsURL := snmptest.StartTrapd(t), kit.StartNATS(t)
	rules := kit.Write(t, "alarms.yaml", strings.Replace(kit.Impatient, "lost: off", "lost: {clear_after: 0s}", 1))
	side := kit.Serve(t, natsURL, "--alarms", rules, "--forget-after", "5s", "--web.actions", "--snmp.trap-sink", sink.Addr)
	engine := func(source string) *kit.Engine {
		return kit.RunEngine(t, natsURL, source, "--bindings", kit.Write(t, "bindings.yaml", kit.StuckBindings), kit.Write(t, "claims.pnml", kit.StuckNet))
	}
	doomed := engine("berlin")
	sink.Wait(t, 1)
	doomed.Kill(t)
	sink.Wait(t, 2)
	kit.Until(t, "both alarms are unknown", func() error {
		r := side.AlarmsOf(t)
		if unknown := side.Scrape(t).All("petrinet_alarm_unknown"); len(unknown) != 2 || strings.Count(r.Out, "unknown whether alarm") != 2 || !strings.Contains(r.Out, `source "berlin" is silent since `) {
			return fmt.Errorf("%d unknown alarms; the list is %s", len(unknown), r.Out)
		}
		return nil
	})
	if active := side.Scrape(t).All("petrinet_alarm_active"); len(active) != 2 {
		t.Errorf("active alarms are %+v; want those of before", active)
	}
	kit.Matches(t, "close by a pattern", side.AlarmsOf(t, "close", "--source", "ber*", "--comment", "the machine is gone"), 0, `^closed: \d+ \d+\n$`)
	var events []string
	for _, n := range sink.Wait(t, 4) {
		events = append(events, kit.NoticeOf(n).Notification)
	}
	if raises, ends := events[:2], events[2:]; raises[0] != kit.TokenStuck || len(ends) != 2 || !strings.Contains(strings.Join(ends, " "), kit.TokenMoving) {
		t.Errorf("the station got %v; want two raises, and two ends after the alarms were closed", events)
	}
	kit.Matches(t, "the ends name the person", side.AlarmsOf(t, "--cleared"), 0, `closed by [^:\n]+: the machine is gone`)
	side.Says(t, `alarms closed.*the machine is gone`)

	// A clean stop.
	other := engine("paris")
	sink.Wait(t, 5)
	other.Stop(t, syscall.SIGTERM)
	end := kit.NoticeOf(sink.Wait(t, 6)[5])
	if end.Notification != kit.TokenMoving {
		t.Errorf("after a clean stop the station got %+v", end)
	}
	kit.Until(t, "no alarm is active", func() error {
		if a := side.Alarms(t); len(a) > 0 {
			return fmt.Errorf("%+v", a)
		}
		return nil
	})
}
