// SPDX-License-Identifier: Apache-2.0

//go:build peers

package snmp

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/internal/cachetest"
	"github.com/pnagent/pnagent/mib/smi"
	"github.com/pnagent/pnagent/snmp/snmptest"
)

// The managers of other projects get 120 objects in one request, by SNMPv2c and SNMPv3, and take
// each Report for the answer to its request. SNMP4J repeats a request in the time of the engine.
func TestOtherManagersGetManyObjectsAndTakeReports(t *testing.T) {
	t.Parallel()
	snmptest.RequireTools(t)
	users, community := kit.Write(t, "users", "noc SHA-256 authenticate-me AES-128 encrypt-me-too\nplain SHA-256 authenticate-me\n"), kit.Write(t, "community", "public\n")
	for _, name := range []string{users, community} {
		if err := os.Chmod(name, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	nats, state := kit.StartNATS(t), t.TempDir()
	run := func() *kit.Sidecar {
		return kit.Serve(t, nats, "--snmp", "127.0.0.1:0", "--snmp.users-file", users, "--snmp.community-file", community, "--mib-dir", "", "--state-dir", state, kit.Write(t, "claims.pnml", kit.StuckNet))
	}
	run().Stop(t, os.Interrupt)
	side := run()
	root, err := smi.ParseOID(kit.OIDRoot)
	if err != nil {
		t.Fatal(err)
	}
	walked := snmptest.Client{Addr: side.SNMP}.BulkWalk(t, 20, root)
	var oids []string
	for i := range 120 {
		oids = append(oids, walked[i%len(walked)].Name.String())
	}
	host, port, _ := strings.Cut(side.SNMP, ":")
	t.Run("SNMP4J", func(t *testing.T) {
		t.Parallel()
		java, lib := kit.Need(t, "java", "default-jdk-headless"), cachetest.Jars(t, filepath.Join("testdata", "snmp4j", "pom.xml"))
		args := append([]string{"-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m", "-cp", lib + "/*", filepath.Join("testdata", "snmp4j", "Manager.java"), host + "/" + port}, oids...)
		wantPrinted(t, exec.CommandContext(t.Context(), java, args...), `v2c: RESPONSE Success 120 variables, request-id of the request
encrypted: RESPONSE Success 120 variables, request-id of the request
authenticated: RESPONSE Success 120 variables, request-id of the request
unknown user: REPORT Success 1 variables, request-id of the request 1.3.6.1.6.3.15.1.1.3.0
unknown context: REPORT Success 1 variables, request-id of the request 1.3.6.1.6.3.12.1.5.0
a restart, noc: RESPONSE Success 120 variables, request-id of the request
a restart, plain: RESPONSE Success 120 variables, request-id of the request
`)
	})
	t.Run("pysnmp", func(t *testing.T) {
		t.Parallel()
		python := kit.Need(t, "python3", "python3")
		lib := cachetest.Pip(t, python, "pysnmp==7.1.4", "cryptography")
		cmd := exec.CommandContext(t.Context(), python, append([]string{"-W", "ignore", filepath.Join("testdata", "pysnmp", "manager.py"), host, port}, oids...)...)
		cmd.Env = append(os.Environ(), "PYTHONPATH="+lib)
		wantPrinted(t, cmd, `v2c: answered, 0, 120 variables
encrypted: answered, 0, 120 variables
authenticated: answered, 0, 120 variables
unknown user: Unknown USM user, 0, 0 variables
unknown context: 1.3.6.1.6.3.12.1.5.0, 0, 0 variables
`)
	})
}

// wantPrinted runs a command and compares what it prints.
func wantPrinted(t *testing.T, cmd *exec.Cmd, want string) {
	t.Helper()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if diff := cmp.Diff(want, string(out)); diff != "" {
		t.Error(diff)
	}
}
