// SPDX-License-Identifier: Apache-2.0

package snmp

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/snmp/snmptest"
)

// walkAs runs the snmpwalk of docs/snmpv3.md.
func walkAs(t *testing.T, addr string, options ...string) (string, error) {
	t.Helper()
	own := t.TempDir()
	if err := os.Mkdir(filepath.Join(own, "cert_indexes"), 0o700); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"-v3", "-l", "authPriv", "-u", "noc", "-a", "SHA-256", "-A", "authenticate-me", "-x", "AES", "-X", "encrypt-me-too", "-m", "", "-On"}, options...)
	cmd := exec.Command("snmpwalk", append(args, addr, kit.OIDRoot)...)
	cmd.Env = append(os.Environ(), "SNMPCONFPATH="+own, "SNMP_PERSISTENT_DIR="+own)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestAUserWalksWithoutSnmpd(t *testing.T) {
	t.Parallel()
	snmptest.RequireTools(t)
	nats, state := kit.StartNATS(t), t.TempDir()
	run := func() *kit.Sidecar {
		return kit.Serve(t, nats, "--snmp", "127.0.0.1:0", "--snmp.users-file", kit.SNMPUsers(t), "--mib-dir", "", "--state-dir", state, kit.Write(t, "claims.pnml", kit.StuckNet))
	}
	side := run()
	out, err := walkAs(t, side.SNMP)
	if err != nil || strings.Count(out, "\n") < 50 {
		t.Fatalf("%v: %s", err, out)
	}
	if out, err := walkAs(t, side.SNMP, "-A", "other-passphrase"); err == nil || !strings.Contains(out, "Authentication failure") {
		t.Errorf("with another passphrase: %v: %s", err, out)
	}
	if n, _ := side.Scrape(t).Value("pnagent_snmp_reports_total", "reason", "wrongDigests"); n == 0 {
		t.Error("the metrics have no wrong digest")
	}
	engine, err := os.ReadFile(filepath.Join(state, "snmp-engine"))
	if err != nil || !strings.HasSuffix(string(engine), " 1\n") {
		t.Fatalf("the engine is %q, %v", engine, err)
	}
	side.Stop(t, os.Interrupt)
	again := run()
	if _, err := walkAs(t, again.SNMP); err != nil {
		t.Error(err)
	}
	second, err := os.ReadFile(filepath.Join(state, "snmp-engine"))
	if want := strings.TrimSuffix(string(engine), " 1\n") + " 2\n"; err != nil || string(second) != want {
		t.Errorf("after a restart the engine is %q, %v; want %q", second, err, want)
	}
}

func TestTheFileOfUsersIsPrivate(t *testing.T) {
	t.Parallel()
	name := kit.SNMPUsers(t)
	if err := os.Chmod(name, 0o644); err != nil {
		t.Fatal(err)
	}
	kit.WantFailure(t, kit.Pnagent(t, "serve", "--nats", "nats://127.0.0.1:1", "--mib-dir", "", "--snmp", "127.0.0.1:0", "--snmp.users-file", name), 2,
		"users has the mode 0644; expected 0600")
}

func TestTheUserOfNotificationsIsInTheFile(t *testing.T) {
	t.Parallel()
	kit.WantFailure(t, kit.Pnagent(t, "serve", "--nats", "nats://127.0.0.1:1", "--mib-dir", "", "--snmp.trap-sink", "127.0.0.1:1", "--snmp.users-file", kit.SNMPUsers(t), "--snmp.trap-user", "nobody"), 2,
		`--snmp.trap-user "nobody" is not in the file of users; expected a user of --snmp.users-file`)
}
