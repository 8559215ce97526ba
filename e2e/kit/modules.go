// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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

// Lint wants smilint to be silent. Its exit code is always 0, and Debian's own
// configuration hides errors.
func (m Modules) Lint(t *testing.T) {
	t.Helper()
	smilint := Need(t, "smilint", "smitools")
	names := []string{mib.PetrinetModule, mib.CapsModule}
	for _, n := range m.Lock.Nets() {
		names = append(names, n.Module)
	}
	for _, name := range names {
		r := Tool(t, []string{"SMIPATH=" + Stubs + ":" + m.Dir}, smilint, "-c", "/dev/null", "-s", "-m", "-l", "9", name)
		if r.Out+r.Err != "" {
			t.Errorf("%s: got faults of smilint; want none:\n%.2000s%.2000s", name, r.Out, r.Err)
		}
	}
}

// Env has net-snmp's tools read these modules, and nothing of the user's.
func (m Modules) Env() []string {
	return []string{"MIBDIRS=" + Stubs + ":" + m.Dir, "MIBS=ALL", "SNMPCONFPATH=" + os.DevNull, "SNMP_PERSISTENT_FILE=" + os.DevNull}
}

// Ask runs one of net-snmp's tools with these modules and returns its lines.
func (m Modules) Ask(t *testing.T, program string, args ...string) []string {
	t.Helper()
	r := Tool(t, m.Env(), Need(t, program, "snmp"), args...)
	if r.Code != 0 || r.Err != "" {
		t.Fatalf("%s: got exit code %d: %.2000s; want 0 and no message", program, r.Code, r.Err)
	}
	return strings.Split(strings.TrimSuffix(r.Out, "\n"), "\n")
}

// translate asks snmptranslate for OIDs, some hundred names a run.
func (m Modules) translate(t *testing.T, names []string) map[string]string {
	t.Helper()
	oids := map[string]string{}
	for some := range slices.Chunk(names, 300) {
		lines := slices.DeleteFunc(m.Ask(t, "snmptranslate", append([]string{"-On"}, some...)...), func(s string) bool { return s == "" })
		if len(lines) != len(some) {
			t.Fatalf("snmptranslate answers %d of %d names", len(lines), len(some))
		}
		for i, name := range some {
			oids[name] = strings.TrimPrefix(lines[i], ".")
		}
	}
	return oids
}

// named are objects of the nets' own modules, with their OIDs as the layout of
// the tree has them: root.2.NET.1.2.PLACE.4 is the tokens of a place, and
// root.2.NET.1.3.TRANSITION.4 the firings of a transition.
func (m Modules) named() map[string]string {
	want := map[string]string{}
	for _, n := range m.Lock.Nets() {
		for _, p := range n.Places() {
			want[n.Module+"::"+n.Name(p)+"Tokens"] = fmt.Sprintf("%s.2.%d.1.2.%d.%d", OIDRoot, n.Number, p.Number, PlaceTokens)
		}
		for _, tr := range n.Transitions() {
			want[n.Module+"::"+n.Name(tr)+"Firings"] = fmt.Sprintf("%s.2.%d.1.3.%d.%d", OIDRoot, n.Number, tr.Number, firingsColumn)
		}
	}
	return want
}

// Hold shows the modules to smilint and snmptranslate.
func (m Modules) Hold(t *testing.T) {
	t.Helper()
	m.Lint(t)
	want := m.named()
	var names []string
	for name := range want {
		names = append(names, name)
	}
	slices.Sort(names)
	if diff := cmp.Diff(want, m.translate(t, names)); diff != "" {
		t.Errorf("-lock +snmptranslate\n%s", diff)
	}
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

// Objects are the nodes of CLAIMS-PN-MIB that stand for places and
// transitions, with their OIDs.
func (m Modules) Objects(t *testing.T, descriptors ...string) map[string]string {
	t.Helper()
	var names []string
	for _, d := range descriptors {
		names = append(names, "CLAIMS-PN-MIB::"+d)
	}
	return m.translate(t, names)
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
