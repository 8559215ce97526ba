// SPDX-License-Identifier: Apache-2.0

package alarms

import (
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/internal/porttest"
	"github.com/pnagent/pnagent/snmp/snmptest"
)

// TestAKilledEngineOfASidecarBelowKeepsItsAlarmAtTheRoot: a station gets no end of an alarm
// about an engine that the sidecar below has forgotten, whatever starts again in between.
//
//promise:evidence kill
func TestAKilledEngineOfASidecarBelowKeepsItsAlarmAtTheRoot(t *testing.T) {
	t.Parallel()
	snmptest.RequireTools(t)
	sink, natsURL, dir := snmptest.StartTrapd(t), kit.StartNATS(t), t.TempDir()
	rules := kit.Write(t, "alarms.yaml", kit.Impatient)
	below := func() *kit.Sidecar {
		return kit.Serve(t, natsURL, "--up", kit.Upper, "--up.source", "site 1", "--forget-after", "5s", "--state-dir", filepath.Join(dir, "below"), "--mib-dir", "")
	}
	above := func() *kit.Sidecar {
		return kit.Serve(t, natsURL, "--nats.prefix", kit.Upper, "--snmp", porttest.Addr(t), "--mib-dir", "", "--state-dir", filepath.Join(dir, "root"), "--alarm-state", filepath.Join(dir, "alarms.state"),
			"--alarms", rules, "--web.actions", "--snmp.trap-sink", sink.Addr)
	}
	engine := func(source, net, instances string) *kit.Engine {
		as := strings.NewReplacer(`"claims"`, `"`+net+`"`, "claims:", net+":")
		return kit.RunEngine(t, natsURL, source, "--instances", instances, "--bindings", kit.Write(t, "bindings.yaml", as.Replace(kit.StuckBindings)), kit.Write(t, "net.pnml", as.Replace(kit.StuckNet)))
	}
	root, site := above(), below()
	engine("paris", "claims", "0") // it has no tokens, and reports that
	berlin, rome := engine("berlin", "claims", "1"), engine("rome", "returns", "1")
	sink.Wait(t, 2)
	berlin.Kill(t)
	rome.Kill(t)
	unknown := func(why string) func() error {
		return func() error {
			r := root.AlarmsOf(t)
			for _, source := range []string{"berlin", "rome"} {
				if !strings.Contains(r.Out, `source "`+source+`" of sidecar "site 1" `+why) {
					return fmt.Errorf("the root lists %s", r.Out)
				}
			}
			if active := root.Scrape(t).All("petrinet_alarm_active"); len(active) != 2 || strings.Count(r.Out, "unknown whether alarm") != 2 {
				return fmt.Errorf("active alarms are %+v; want those of before, unknown", active)
			}
			return nil
		}
	}
	kit.Until(t, "the root does not know whether the alarm holds", unknown(`is silent since `))
	root.Stop(t, syscall.SIGTERM)
	root = above()
	kit.Until(t, "nor after it started again", unknown(`is silent since `))
	site.Kill(t)
	below()
	kit.Until(t, "nor after the sidecar below did", unknown(``))

	again := engine("berlin", "claims", "1")
	kit.Until(t, "the engine reports the token again", func() error {
		if r := root.AlarmsOf(t); strings.Count(r.Out, "unknown whether alarm") != 1 || !strings.Contains(r.Out, "tokens in place") {
			return fmt.Errorf("the root lists %s", r.Out)
		}
		return nil
	})
	if got := sink.Wait(t, 2); len(got) != 2 {
		t.Errorf("the station got %d notifications; want the raises alone", len(got))
	}
	kit.Matches(t, "close what the sidecar below lost", root.AlarmsOf(t, "close", "--source", "site 1", "--comment", "the site is gone"), 0, `^closed: \d+\n$`)
	again.Stop(t, syscall.SIGTERM)
	for _, n := range sink.Wait(t, 4)[2:] {
		if end := kit.NoticeOf(n); end.Notification != kit.TokenMoving {
			t.Errorf("after it was closed, and after a clean stop, the station got %+v", end)
		}
	}
}
