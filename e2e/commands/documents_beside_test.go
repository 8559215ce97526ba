// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/snmp/snmptest"
)

// starter starts or builds what a page has beside pnagent and NATS: servers at
// ports that the page names, and programs in bin. The result is environment for
// the shell.
type starter func(t *testing.T, ports ports, bin string) (env []string)

// beside has what pages have beside pnagent and NATS.
var beside = map[string]starter{
	"docs/operators.md":     servedFor,
	"docs/scale.md":         fleetFor,
	"docs/sidecar-pairs.md": snmpdFor,
	"docs/snmpv3.md":        userFor,
	"docs/sres.md":          prometheusFor,

	"docs/runbooks/netDeadlocked.md":     stuckFor,
	"docs/runbooks/tokenStuck.md":        stuckFor,
	"docs/runbooks/transitionFailing.md": stuckFor,
	"docs/runbooks/transitionStarved.md": stuckFor,
}

// snmpdFor starts a snmpd. $HOST is its address for managers, and $AGENTX for sidecars.
func snmpdFor(t *testing.T, _ ports, _ string) []string {
	t.Helper()
	snmpd := snmptest.Start(t, snmptest.Config{})
	return []string{"HOST=" + snmpd.Addr, "AGENTX=" + snmpd.AgentX}
}

// servedFor starts a snmpd at $HOST that shows an engine by a sidecar.
func servedFor(t *testing.T, _ ports, _ string) []string {
	t.Helper()
	snmpd, url, dir := snmptest.Start(t, snmptest.Config{}), kit.StartNATS(t), t.TempDir()
	lock, err := os.ReadFile("../../mibs/oids.lock")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "oids.lock"), lock, 0o600); err != nil {
		t.Fatal(err)
	}
	kit.Serve(t, url, "--agentx", snmpd.AgentX, "--mib-dir", dir)
	examples, err := filepath.Abs("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	kit.RunEngine(t, url, "berlin", "--bindings", filepath.Join(examples, "bindings.yaml"), filepath.Join(examples, "order-fulfilment.pnml"))
	return []string{"HOST=" + snmpd.Addr}
}

// userFor starts a snmptrapd at $SINK and a snmpd at $HOST with the user of the page.
func userFor(t *testing.T, _ ports, _ string) []string {
	t.Helper()
	page, err := os.ReadFile("../../docs/snmpv3.md")
	if err != nil {
		t.Fatal(err)
	}
	user := regexp.MustCompile(`(?m)^createUser noc .*$`).FindString(string(page))
	snmpd := snmptest.Start(t, snmptest.Config{Lines: []string{user, "rouser noc priv"}})
	return []string{"SINK=" + snmptest.StartTrapd(t, user).Addr, "HOST=" + snmpd.Addr}
}

// prometheusFor starts a Prometheus at $PROMETHEUS that scrapes the sidecar.
func prometheusFor(t *testing.T, ports ports, _ string) []string {
	t.Helper()
	return []string{"PROMETHEUS=" + kit.StartPrometheus(t, kit.Web{URL: ports.there.Replace("http://127.0.0.1:9797")}).URL}
}

// stuckFor runs the engine of the runbooks, in which claims are stuck.
func stuckFor(t *testing.T, ports ports, _ string) []string {
	t.Helper()
	url := ports.there.Replace("nats://127.0.0.1:4222")
	kit.StartNATS(t, "--port", ports.there.Replace("4222"))
	kit.RunEngine(t, url, "berlin", "--instances", "50", "--bindings", kit.Write(t, "bank.yaml", strings.Replace(kit.BankIsClosed, `["false"]`, `[test, -e, bank.open]`, 1)), kit.ClaimProcess(t))
	return []string{"PNAGENT_NATS_URL=" + url}
}

// fleetFor has the simulated fleet linked by the first command that tests it, rather than by
// each. The others run what the first one linked, with their own flags.
func fleetFor(t *testing.T, _ ports, bin string) []string {
	t.Helper()
	path, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bin, "go"), fmt.Appendf(nil, fleetCommand, path, filepath.Join(bin, "fleetsim.test")), 0o755); err != nil {
		t.Fatal(err)
	}
	return nil
}

// fleetCommand is a go command that links a package's tests once.
const fleetCommand = `#!/usr/bin/env bash
set -eu
go=%q linked=%q
if [[ $* != "test -timeout 2h ./e2e/fleetsim -v -run TestScale -scale "* ]]; then exec "$go" "$@"; fi
if [[ ! -e $linked ]]; then exec "$go" test -o "$linked" "${@:2}"; fi
cd e2e/fleetsim
exec "$linked" -test.timeout 2h -test.v -test.run TestScale "${@:8}"
`
