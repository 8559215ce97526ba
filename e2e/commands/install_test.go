// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/e2e/kit"
)

// Debian does not ship the modules that all others import from. Where they are missing, stubs
// of them are installed too, and net-snmp's tools read the modules without anything else.
func TestInstalledModulesAreRead(t *testing.T) {
	t.Parallel()
	base, err := filepath.Abs(kit.Stubs)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		dirs  []string
		stubs bool
	}{
		"missing": {[]string{t.TempDir()}, true},
		"there":   {[]string{t.TempDir(), base}, false},
	} {
		env := []string{"MIBDIRS=" + strings.Join(c.dirs, ":"), "SNMPCONFPATH=" + t.TempDir()}
		r := kit.Tool(t, env, kit.Built().Pnagent, "mib", "--dir", t.TempDir(), "--install", "--yes")
		if r.Code != 0 || !strings.Contains(r.Out, "find them in "+c.dirs[0]) || strings.Contains(r.Out, "are stubs") != c.stubs {
			t.Errorf("%s: %+v", name, r)
		}
		if _, err := os.Stat(filepath.Join(c.dirs[0], "SNMPv2-SMI")); (err == nil) != c.stubs {
			t.Errorf("%s: SNMPv2-SMI in the directory: %v", name, err)
		}
		if r := kit.Tool(t, env, kit.Need(t, "snmptranslate", "snmp"), "-m", "ALL", "-On", "PETRINET-CAPS-MIB::petrinetAgentCapabilities"); r.Code != 0 || r.Err != "" ||
			strings.TrimSpace(r.Out) != ".1.3.6.1.4.1.8072.9999.9999.3.1" {
			t.Errorf("%s: snmptranslate: %+v", name, r)
		}
	}
}

// Without --yes nothing is written, and what was written is removed again: not what was there
// before, nor what has changed since.
func TestInstallAsksAndUninstallRemovesOnlyWhatItWrote(t *testing.T) {
	t.Parallel()
	dir, made := t.TempDir(), t.TempDir()
	env := []string{"MIBDIRS=" + dir}
	run := func(args ...string) kit.Result {
		return kit.Tool(t, env, kit.Built().Pnagent, append([]string{"mib", "--dir", made}, args...)...)
	}
	files := func() (names []string) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return names
	}
	own := []string{"OTHER-MIB", "SNMPv2-TC"}
	for _, name := range own {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("-- of another program\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := run("--install")
	kit.WantFailure(t, r, 1, "add --yes")
	if !strings.Contains(r.Out, "write      "+filepath.Join(dir, "PETRINET-MIB.mib")) || strings.Contains(r.Out, "SNMPv2-TC") {
		t.Errorf("--install lists %s", r.Out)
	}
	if diff := cmp.Diff(own, files()); diff != "" {
		t.Fatalf("--install without --yes -want +got\n%s", diff)
	}
	if r := run("--install", "--yes"); r.Code != 0 || len(files()) != 8 {
		t.Fatalf("%+v; files %q", r, files())
	}
	kit.Matches(t, "a second --install", run("--install"), 0, `(?s)unchanged  [^\n]*PETRINET-MIB.mib\n.*unchanged  [^\n]*SNMPv2-SMI\n`)
	changed := filepath.Join(dir, "SNMPv2-SMI")
	if err := os.WriteFile(changed, []byte("-- the real one\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	kit.Matches(t, "--uninstall", run("--uninstall"), 0, `(?s)removed    [^\n]*PETRINET-MIB.mib\n.*kept       `+changed)
	if diff := cmp.Diff(append(own[:1:1], "SNMPv2-SMI", "SNMPv2-TC"), files()); diff != "" {
		t.Errorf("after --uninstall -want +got\n%s", diff)
	}
	kit.Matches(t, "--uninstall again", run("--uninstall"), 0, "^nothing is installed\n$")
}
