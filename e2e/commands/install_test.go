// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

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
		r := kit.Tool(t, env, kit.Built().Pnagent, "mib", "--dir", t.TempDir(), "--install")
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
