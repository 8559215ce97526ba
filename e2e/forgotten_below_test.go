// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/pnagent/pnagent/internal/porttest"
	"github.com/pnagent/pnagent/snmp/snmptest"
)

// TestAKilledEngineOfASidecarBelowKeepsItsAlarmAtTheRoot: a station gets no end of an alarm
// about an engine that the sidecar below has forgotten, whatever starts again in between.
func TestAKilledEngineOfASidecarBelowKeepsItsAlarmAtTheRoot(t *testing.T) {
	t.Parallel()
	snmptest.RequireTools(t)
	sink, natsURL, dir := snmptest.StartTrapd(t), startNATS(t), t.TempDir()
	rules := write(t, "alarms.yaml", impatient)
	below := func() *sidecar {
		return serve(t, natsURL, "--up", upper, "--up.source", "site 1", "--forget-after", "5s", "--state-dir", filepath.Join(dir, "below"), "--mib-dir", "")
	}
	above := func() *sidecar {
		return serve(t, natsURL, "--nats.prefix", upper, "--snmp", porttest.Addr(t), "--mib-dir", "", "--state-dir", filepath.Join(dir, "root"), "--alarm-state", filepath.Join(dir, "alarms.state"),
			"--alarms", rules, "--web.actions", "--snmp.trap-sink", sink.Addr)
	}
	engine := func(source, net, instances string) *engine {
		as := strings.NewReplacer(`"claims"`, `"`+net+`"`, "claims:", net+":")
		return runEngine(t, natsURL, source, "--instances", instances, "--bindings", write(t, "bindings.yaml", as.Replace(stuckBindings)), write(t, "net.pnml", as.Replace(stuckNet)))
	}
	root, site := above(), below()
	engine("paris", "claims", "0") // it has no tokens, and reports that
	berlin, rome := engine("berlin", "claims", "1"), engine("rome", "returns", "1")
	sink.Wait(t, 2)
	berlin.kill(t)
	rome.kill(t)
	unknown := func(why string) func() error {
		return func() error {
			r := root.alarmsOf(t)
			for _, source := range []string{"berlin", "rome"} {
				if !strings.Contains(r.out, `source "`+source+`" of sidecar "site 1" `+why) {
					return fmt.Errorf("the root lists %s", r.out)
				}
			}
			if active := root.scrape(t).all("petrinet_alarm_active"); len(active) != 2 || strings.Count(r.out, "unknown whether alarm") != 2 {
				return fmt.Errorf("active alarms are %+v; want those of before, unknown", active)
			}
			return nil
		}
	}
	until(t, "the root does not know whether the alarm holds", unknown(`is silent since `))
	root.stop(t, syscall.SIGTERM)
	root = above()
	until(t, "nor after it started again", unknown(`is silent since `))
	site.kill(t)
	below()
	until(t, "nor after the sidecar below did", unknown(``))

	again := engine("berlin", "claims", "1")
	until(t, "the engine reports the token again", func() error {
		if r := root.alarmsOf(t); strings.Count(r.out, "unknown whether alarm") != 1 || !strings.Contains(r.out, "tokens in place") {
			return fmt.Errorf("the root lists %s", r.out)
		}
		return nil
	})
	if got := sink.Wait(t, 2); len(got) != 2 {
		t.Errorf("the station got %d notifications; want the raises alone", len(got))
	}
	matches(t, "close what the sidecar below lost", root.alarmsOf(t, "close", "--source", "site 1", "--comment", "the site is gone"), 0, `^closed: \d+\n$`)
	again.stop(t, syscall.SIGTERM)
	for _, n := range sink.Wait(t, 4)[2:] {
		if end := noticeOf(n); end.notification != tokenMoving {
			t.Errorf("after it was closed, and after a clean stop, the station got %+v", end)
		}
	}
}
