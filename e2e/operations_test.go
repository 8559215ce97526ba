// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/pnagent/pnagent/internal/snmptest"
	"github.com/pnagent/pnagent/mib"
)

// operations is where the examples for whoever runs pnagent are.
const operations = "../examples/snmpd"

// example reads one of them with some of its text replaced.
func example(t *testing.T, name string, replace ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(operations, name))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(replace); i += 2 {
		if !strings.Contains(string(text), replace[i]) {
			t.Fatalf("%s does not have %q", name, replace[i])
		}
	}
	return strings.NewReplacer(replace...).Replace(string(text))
}

// owner is a user and a group that the socket can belong to: those of the test,
// or for root, which net-snmp does not take for a user, those of nobody.
func owner(t *testing.T) string {
	t.Helper()
	if os.Getuid() == 0 {
		return "nobody nogroup"
	}
	u, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	g, err := user.LookupGroupId(u.Gid)
	if err != nil {
		t.Fatal(err)
	}
	return u.Username + " " + g.Name
}

// hardened is a snmpd that runs with the example's snmpd.conf: its paths and
// addresses are the test's, all else is as it is. It returns where it answers
// and its AgentX socket.
func hardened(t *testing.T) (addr, socket string) {
	t.Helper()
	snmptest.RequireTools(t)
	dir, err := os.MkdirTemp("", "snmpd") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	addr, socket = freeAddr(t, "udp"), "unix:"+filepath.Join(dir, "agentx", "master")
	conf := example(t, "snmpd.conf",
		"udp:161", "udp:"+addr, "unix:/var/agentx/master", socket,
		"Debian-snmp pnagent", owner(t),
		"nms1.example.com:162", freeAddr(t, "udp"), "nms2.example.com:162", freeAddr(t, "udp"))
	// What net-snmp-create-v3-user leaves for snmpd to find.
	const user = "createUser noc SHA-256 \"authentication\" AES \"encryption\"\n"
	files := []string{filepath.Join(dir, "snmpd.conf"), filepath.Join(dir, "users.conf")}
	for i, text := range []string{conf, user} {
		if err := os.WriteFile(files[i], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	snmpd := start(t, need(t, "env", "coreutils"), "MIBS=", "SNMP_PERSISTENT_DIR="+filepath.Join(dir, "persistent"),
		need(t, "snmpd", "snmpd"), "-f", "-Le", "-I", "-smux", "-C", "-c", strings.Join(files, ","))
	snmpd.says(t, "NET-SNMP version")
	if said := snmpd.err.String(); strings.Contains(said, "rror") || strings.Contains(said, "nknown") || strings.Contains(said, "an't") {
		t.Errorf("snmpd finds fault with the example:\n%s", said)
	}
	return addr, socket
}

func TestTheExampleSnmpdConfServesAnEncryptedWalkAndNothingElse(t *testing.T) {
	t.Parallel()
	addr, socket := hardened(t)
	m := generate(t, "", examples(t)...)
	url := startNATS(t)
	side := serve(t, url, "--agentx", socket, "--mib-dir", m.dir)
	runEngine(t, url, "north", append([]string{"--instances", "2", "--bindings", manual(t, m.lock)}, examples(t)...)...)
	ask := func(program string, args ...string) result {
		return tool(t, m.env(), need(t, program, "snmp"), args...)
	}
	v3 := func(program, level, object string) result {
		return ask(program, "-v3", "-u", "noc", "-l", level, "-a", "SHA-256", "-A", "authentication", "-x", "AES", "-X", "encryption",
			"-t", "1", "-r", "2", addr, object)
	}
	until(t, "an encrypted walk shows the nets", func() error {
		r := v3("snmpwalk", "authPriv", "PETRINET-MIB::netName")
		for _, n := range m.lock.Nets() {
			if !strings.Contains(r.out, n.ID) {
				return fmt.Errorf("%q is not in %q%q", n.ID, r.out, r.err)
			}
		}
		return nil
	})
	if r := v3("snmpget", "authPriv", "SNMPv2-SMI::mib-2.1.5.0"); r.code != 0 || strings.Contains(r.out, "No Such") {
		t.Errorf("sysName is not shown: %+v", r)
	}
	if r := v3("snmpwalk", "authPriv", "SNMPv2-SMI::mib-2.1.9.1.3"); !strings.Contains(r.out, mib.CapabilitiesText) {
		t.Errorf("sysORTable does not say what is served: %+v", r)
	}
	for name, r := range map[string]result{
		"without privacy":        v3("snmpget", "authNoPriv", "PETRINET-MIB::agentVersion.0"),
		"without authentication": v3("snmpget", "noAuthNoPriv", "PETRINET-MIB::agentVersion.0"),
		"with a community":       ask("snmpget", "-v2c", "-c", "public", "-t", "0.3", "-r", "0", addr, "PETRINET-MIB::agentVersion.0"),
	} {
		if r.code == 0 {
			t.Errorf("%s: answered with %q", name, r.out)
		}
	}
	if r := v3("snmpwalk", "authPriv", ".1.3.6.1.4.1.2021"); !strings.Contains(r.out, "No Such") && !strings.Contains(r.out, "No more variables") {
		t.Errorf("what is outside of the view is shown: %.500s", r.out)
	}
	side.stop(t, syscall.SIGTERM)
}

func TestTheExampleConfigurationPassesCheckConfig(t *testing.T) {
	t.Parallel()
	if r := pnagent(t, "check-config", filepath.Join(operations, "serve.yaml")); r.code != 0 {
		t.Errorf("%+v", r)
	}
}

func TestTheExampleUnitIsOneThatSystemdTakes(t *testing.T) {
	t.Parallel()
	unit := write(t, "pnagent.service", example(t, "pnagent.service", "/usr/bin/pnagent", built.pnagent))
	r := tool(t, []string{"SYSTEMD_LOG_LEVEL=warning"}, need(t, "systemd-analyze", "systemd"), "verify", "--man=no", unit)
	var own []string
	for line := range strings.Lines(r.out + r.err) {
		if strings.Contains(line, "pnagent") { // not what is wrong with the units of this machine
			own = append(own, line)
		}
	}
	if len(own) > 0 {
		t.Errorf("systemd-analyze verify says\n%s", strings.Join(own, ""))
	}
}
