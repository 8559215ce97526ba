// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/pnagent/pnagent/mib"
)

// Stubs are the base modules, of the project's own making, that the generated
// ones import from.
const Stubs = "../../mibs/smi"

// Modules are what "pnagent mib" wrote into a directory.
type Modules struct {
	Dir  string
	Lock *mib.Lock
}

// netWarning is the log line of a warning of a net file.
var netWarning = regexp.MustCompile(`(?m)^time=\S+ level=WARN msg="net file.*\n`)

// Generate writes the modules of nets, into a new directory where dir is "".
func Generate(t *testing.T, dir string, nets ...string) Modules {
	t.Helper()
	if dir == "" {
		dir = t.TempDir()
	}
	r := Pnagent(t, append([]string{"mib", "--dir", dir}, nets...)...)
	if others := netWarning.ReplaceAllString(r.Err, ""); r.Code != 0 || others != "" {
		t.Fatalf("pnagent mib: got %+v; want exit code 0 and no message but warnings of the files", r)
	}
	lock, err := mib.ReadLock(filepath.Join(dir, mib.LockFile))
	if err != nil {
		t.Fatal(err)
	}
	return Modules{dir, lock}
}

// Env has net-snmp's tools read these modules, and nothing of the user's.
func (m Modules) Env() []string {
	return []string{"MIBDIRS=" + Stubs + ":" + m.Dir, "MIBS=ALL", "SNMPCONFPATH=" + os.DevNull, "SNMP_PERSISTENT_FILE=" + os.DevNull}
}

// Examples returns the nets of the examples.
func Examples(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../../examples/*.pnml")
	if err != nil || len(files) < 3 {
		t.Fatalf("got %d examples, %v; want at least 3", len(files), err)
	}
	for i := range files {
		files[i], err = filepath.Abs(files[i])
		if err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// SNMPUsers is a file of users of SNMPv3.
func SNMPUsers(t *testing.T) string {
	t.Helper()
	name := Write(t, "users", "noc SHA-256 authenticate-me AES-128 encrypt-me-too\n")
	if err := os.Chmod(name, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}
