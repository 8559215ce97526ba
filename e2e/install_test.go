// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"path/filepath"
	"strings"
	"testing"
)

// A module that is found is of no use without those that it imports from,
// which Debian does not ship.
func TestInstallReportsMissingBaseModules(t *testing.T) {
	t.Parallel()
	base, err := filepath.Abs(stubs)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		dirs []string
		says bool
	}{
		"missing": {[]string{t.TempDir()}, true},
		"there":   {[]string{t.TempDir(), base}, false},
	} {
		r := tool(t, []string{"MIBDIRS=" + strings.Join(c.dirs, ":")}, built.pnagent, "mib", "--dir", t.TempDir(), "--install")
		if r.code != 0 || !strings.Contains(r.out, "find them in "+c.dirs[0]) || strings.Contains(r.out, "snmp-mibs-downloader") != c.says {
			t.Errorf("%s: %+v", name, r)
		}
	}
}
