// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pnagent/pnagent/internal/plaintext"
	"github.com/pnagent/pnagent/mib"
	"github.com/pnagent/pnagent/snmp/snmptest"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// Named are the values of a metric by the net and the id of its rows.
func (s Scrape) Named(metric, id string) map[Key]uint64 {
	values := map[Key]uint64{}
	for _, one := range s.All(metric) {
		values[Key{one.Labels["pnNetName"], one.Labels[id]}] = uint64(one.Value)
	}
	return values
}

// ReadFrom reads metrics of another program.
func (w Web) ReadFrom(path string) (s Scrape, err error) {
	status, text, err := w.Get(path)
	if err != nil || status != http.StatusOK {
		return s, fmt.Errorf("%s: %d, %w: %.500s", path, status, err, text)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	s.Families, err = parser.TextToMetricFamilies(bytes.NewReader(text))
	return s, err
}

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

// Escaped are the numbers with the names that SNMP shows.
func (n Numbers) Escaped() Numbers {
	shown := NewNumbers()
	for k, v := range n.Tokens {
		shown.Tokens[Key{plaintext.Escape(k.Net), plaintext.Escape(k.ID)}] = v
	}
	for k, v := range n.Firings {
		shown.Firings[Key{plaintext.Escape(k.Net), plaintext.Escape(k.ID)}] = v
	}
	return shown
}

// Table asks snmptable for a table: its rows by index, each by column.
func (m Modules) Table(t *testing.T, noc snmptest.Client, name string) map[string]map[string]string {
	t.Helper()
	const separator = "\x1f" // in no id
	lines := m.Ask(t, "snmptable", "-v2c", "-c", "public", "-OU", "-Ci", "-Cf", separator, noc.Addr, name)
	if len(lines) < 3 || lines[0] != "SNMP table: "+name {
		t.Fatalf("got %.1000q; want table %s", lines, name)
	}
	header := strings.Split(lines[2], separator)
	rows := map[string]map[string]string{}
	for _, line := range lines[3:] {
		cells := strings.Split(line, separator)
		if len(cells) != len(header) {
			t.Fatalf("snmptable has %d columns and a row %q", len(header), line)
		}
		row := map[string]string{}
		for i := range cells {
			row[header[i]] = cells[i]
		}
		rows[row["index"]] = row
	}
	return rows
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

// Status is the STATUS clause of an object in a module.
func (m Modules) Status(t *testing.T, object string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(m.Dir, "CLAIMS-PN-MIB.mib"))
	if err != nil {
		t.Fatal(err)
	}
	found := Submatch(string(text), `(?ms)^`+object+` OBJECT-TYPE$.*?^\s*STATUS\s+(\w+)$`)
	if found == nil {
		return ""
	}
	return found[1]
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
