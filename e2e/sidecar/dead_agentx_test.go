// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/snmp/snmptest"
	"github.com/pnagent/pnagent/web/api"
)

// TestADeadSNMPSideIsVisible starts a sidecar while snmpd is away: each face says that SNMP
// shows nothing and how to cure it, and the log does not promise notifications. Then snmpd starts.
func TestADeadSNMPSideIsVisible(t *testing.T) {
	t.Parallel()
	snmpd := snmptest.Start(t, snmptest.Config{Stopped: true})
	rules := kit.Write(t, "alarms.yaml", "defaults: {agentx: {for: 1s}}\n")
	side := kit.Serve(t, kit.StartNATS(t), "--agentx", snmpd.AgentX, "--mib-dir", "", "--alarms", rules, kit.TheNet(t))
	const cure = `set "master agentx" and "agentXSocket `
	side.Says(t, `"level":"WARN","msg":"no session with the agentx master: .*"cure":"snmpd is not running.*master agentx`)
	side.Says(t, `"level":"WARN","msg":"on duty, but this sidecar has no session with its agentx master: notifications through it wait"`)
	kit.Until(t, "each face shows it", func() error {
		status, ready, err := side.Get("/-/ready")
		if err != nil {
			return err
		}
		if status != 200 || !strings.Contains(string(ready), "There is no session with the AgentX master at "+snmpd.AgentX) || !strings.Contains(string(ready), cure) {
			return fmt.Errorf("/-/ready: %d %s", status, ready)
		}
		var view api.View
		if err := json.Unmarshal(side.Page(t, "/api/v1/view"), &view); err != nil {
			return err
		}
		if x := view.AgentX; x == nil || x.Connected || x.Server != snmpd.AgentX || !strings.Contains(x.Reason, cure) {
			return fmt.Errorf("view: %+v", x)
		}
		if n, _ := side.Self(t).Value("pnagent_agentx_up"); n != 0 {
			return fmt.Errorf("pnagent_agentx_up %v", n)
		}
		if n := raised(t, side); n != 1 {
			return fmt.Errorf("%d alarms", n)
		}
		return nil
	})
	if said := side.Err.String(); strings.Contains(said, "on duty: this sidecar sends notifications") {
		t.Errorf("the log promises notifications without a session:\n%s", said)
	}

	snmpd.Start(t)
	side.Says(t, `"msg":"on duty: this sidecar sends notifications"`)
	kit.Until(t, "each face shows that it is over", func() error {
		_, ready, err := side.Get("/-/ready")
		if err != nil {
			return err
		}
		if strings.Contains(string(ready), "AgentX") {
			return fmt.Errorf("/-/ready: %s", ready)
		}
		if n := raised(t, side); n != 0 {
			return fmt.Errorf("%d alarms", n)
		}
		return nil
	})
}

// raised returns how many alarms about a session Prometheus sees.
func raised(t *testing.T, side *kit.Sidecar) (n int) {
	for _, s := range side.Scrape(t).All("petrinet_alarm_active") {
		if s.Labels["alarm"] == "agentxDisconnected" {
			n++
		}
	}
	return n
}
