// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/internal/plaintext"
	"github.com/pnagent/pnagent/mib"
	"github.com/pnagent/pnagent/snmp/snmptest"
)

// stubs are the base modules, of the project's own making, that the generated
// ones import from.
const stubs = "../mibs/smi"

// modules are what "pnagent mib" wrote into a directory.
type modules struct {
	dir  string
	lock *mib.Lock
}

// netWarning is the log line of a warning of a net file.
var netWarning = regexp.MustCompile(`(?m)^time=\S+ level=WARN msg="net file.*\n`)

// generate writes the modules of nets, into a new directory where dir is "".
func generate(t *testing.T, dir string, nets ...string) modules {
	t.Helper()
	if dir == "" {
		dir = t.TempDir()
	}
	r := pnagent(t, append([]string{"mib", "--dir", dir}, nets...)...)
	if others := netWarning.ReplaceAllString(r.err, ""); r.code != 0 || others != "" {
		t.Fatalf("pnagent mib: got %+v; want exit code 0 and no message but warnings of the files", r)
	}
	lock, err := mib.ReadLock(filepath.Join(dir, mib.LockFile))
	if err != nil {
		t.Fatal(err)
	}
	return modules{dir, lock}
}

// lint wants smilint to be silent. Its exit code is always 0, and Debian's own
// configuration hides errors.
func (m modules) lint(t *testing.T) {
	t.Helper()
	smilint := need(t, "smilint", "smitools")
	names := []string{mib.PetrinetModule, mib.CapsModule}
	for _, n := range m.lock.Nets() {
		names = append(names, n.Module)
	}
	for _, name := range names {
		r := tool(t, []string{"SMIPATH=" + stubs + ":" + m.dir}, smilint, "-c", "/dev/null", "-s", "-m", "-l", "9", name)
		if r.out+r.err != "" {
			t.Errorf("%s: got faults of smilint; want none:\n%.2000s%.2000s", name, r.out, r.err)
		}
	}
}

// env has net-snmp's tools read these modules, and nothing of the user's.
func (m modules) env() []string {
	return []string{"MIBDIRS=" + stubs + ":" + m.dir, "MIBS=ALL", "SNMPCONFPATH=" + os.DevNull, "SNMP_PERSISTENT_FILE=" + os.DevNull}
}

// ask runs one of net-snmp's tools with these modules and returns its lines.
func (m modules) ask(t *testing.T, program string, args ...string) []string {
	t.Helper()
	r := tool(t, m.env(), need(t, program, "snmp"), args...)
	if r.code != 0 || r.err != "" {
		t.Fatalf("%s: got exit code %d: %.2000s; want 0 and no message", program, r.code, r.err)
	}
	return strings.Split(strings.TrimSuffix(r.out, "\n"), "\n")
}

// translate asks snmptranslate for OIDs, some hundred names a run.
func (m modules) translate(t *testing.T, names []string) map[string]string {
	t.Helper()
	oids := map[string]string{}
	for some := range slices.Chunk(names, 300) {
		lines := slices.DeleteFunc(m.ask(t, "snmptranslate", append([]string{"-On"}, some...)...), func(s string) bool { return s == "" })
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
func (m modules) named() map[string]string {
	want := map[string]string{}
	for _, n := range m.lock.Nets() {
		for _, p := range n.Places() {
			want[n.Module+"::"+n.Name(p)+"Tokens"] = fmt.Sprintf("%s.2.%d.1.2.%d.%d", oidRoot, n.Number, p.Number, placeTokens)
		}
		for _, tr := range n.Transitions() {
			want[n.Module+"::"+n.Name(tr)+"Firings"] = fmt.Sprintf("%s.2.%d.1.3.%d.%d", oidRoot, n.Number, tr.Number, firingsColumn)
		}
	}
	return want
}

// hold shows the modules to smilint and snmptranslate.
func (m modules) hold(t *testing.T) {
	t.Helper()
	m.lint(t)
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

func examples(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../examples/*.pnml")
	if err != nil || len(files) < 3 {
		t.Fatalf("got %d examples, %v; want at least 3", len(files), err)
	}
	for i := range files {
		if files[i], err = filepath.Abs(files[i]); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// different are the examples, the net of odd ids and, if it is here, files of
// the corpus, as many as there are nets of different ids: tools like to call
// theirs all alike.
func different(t *testing.T) []string {
	t.Helper()
	paths := append(examples(t), writeNet(t, oddNet()))
	files, ids := validNets(t)
	seen := map[string]bool{}
	for i, f := range files {
		if !slices.ContainsFunc(ids[i], func(id string) bool { return seen[id] }) {
			paths = append(paths, f.path)
		}
		for _, id := range ids[i] {
			seen[id] = true
		}
	}
	return paths
}

func TestGeneratedModulesOfEveryExampleOneByOne(t *testing.T) {
	t.Parallel()
	for _, path := range append(examples(t), writeNet(t, oddNet())) {
		t.Run(filepath.Base(path), func(t *testing.T) { generate(t, "", path).hold(t) })
	}
}

func TestGeneratedModulesOfEveryNetOfTheCorpusOneByOne(t *testing.T) {
	t.Parallel()
	corpusFiles(t)
	files, _ := validNets(t)
	for _, f := range files {
		t.Run(filepath.Base(f.path), func(t *testing.T) { generate(t, "", f.path).hold(t) })
	}
}

func TestGeneratedModulesOfAllNetsTogether(t *testing.T) {
	t.Parallel()
	paths := different(t)
	m := generate(t, "", paths...)
	if n := len(m.lock.Nets()); n < len(paths) {
		t.Errorf("got %d nets; want one of each of the %d files", n, len(paths))
	}
	m.hold(t)
}

// Once installed, net-snmp's tools read the modules with the option and with the line that
// --install prints, and print nothing else, though other modules are missing.
func TestInstalledModulesAreFoundByNetSNMP(t *testing.T) {
	t.Parallel()
	translate := need(t, "snmptranslate", "snmp")
	dir, installed := t.TempDir(), t.TempDir()
	stubDir, err := filepath.Abs(stubs)
	if err != nil {
		t.Fatal(err)
	}
	// MIBDIRS keeps the test out of the directories of the user and the system.
	conf := t.TempDir()
	env := []string{"MIBDIRS=" + installed + ":" + stubDir, "SNMPCONFPATH=" + conf, "SNMP_PERSISTENT_FILE=" + os.DevNull}
	r := tool(t, env, built.pnagent, "mib", "--dir", dir, "--install", write(t, "claims.pnml", stuckNet))
	if r.code != 0 || r.err != "" || !strings.Contains(r.out, "net-snmp's tools find them in "+installed) {
		t.Fatalf("pnagent mib --install: got %+v; want exit code 0 and the directory %s", r, installed)
	}
	hint := regexp.MustCompile(`read with (-m \S+), or with the line "(mibs .*)" in snmp.conf`).FindStringSubmatch(r.out)
	if hint == nil {
		t.Fatalf("pnagent mib --install does not print how to read them: %s", r.out)
	}
	const name = "CLAIMS-PN-MIB::claInboxTokens"
	oid := "." + oidRoot + ".2.1.1.2.1." + fmt.Sprint(placeTokens)
	check := func(how string, options ...string) {
		t.Helper()
		for asked, want := range map[string]string{name: oid, oid: name} {
			of := append(slices.Clone(options), asked)
			if asked == name {
				of = append(of, "-On")
			}
			if r := tool(t, env, translate, of...); r.out != want+"\n" || r.err != "" {
				t.Errorf("%s: snmptranslate %s: got %q%q; want %q", how, asked, r.out, r.err, want)
			}
		}
	}
	check(hint[1], strings.Fields(hint[1])...)
	if err := os.WriteFile(filepath.Join(conf, "snmp.conf"), []byte(hint[2]+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	check(hint[2])
}

// manual is bindings in which no transition of the nets fires by itself. JSON
// is YAML.
func manual(t *testing.T, lock *mib.Lock) string {
	t.Helper()
	type net struct {
		Transitions map[string]string `json:"transitions"`
	}
	nets := map[string]net{}
	for _, n := range lock.Nets() {
		of := net{map[string]string{}}
		for _, tr := range n.Transitions() {
			of.Transitions[tr.ID] = "manual"
		}
		nets[n.ID] = of
	}
	text, err := json.MarshalIndent(map[string]any{"nets": nets}, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return write(t, "bindings.yaml", string(text))
}

// served are all nets at rest, behind a snmpd.
func served(t *testing.T, paths []string) (modules, *sidecar, snmptest.Client) {
	t.Helper()
	m := generate(t, "", paths...)
	snmpd := snmptest.Start(t, snmptest.Config{})
	url := startNATS(t)
	side := serve(t, url, "--agentx", snmpd.AgentX, "--mib-dir", m.dir)
	runEngine(t, url, "all", append([]string{"--instances", "2", "--bindings", manual(t, m.lock)}, paths...)...)
	until(t, "all nets are served", func() error {
		v := side.view(t).numbers()
		if len(v.Tokens) == 0 {
			return errors.New("no place is in the view")
		}
		if err := differ(v.escaped(), walk(t, snmpd.Client).numbers()); err != nil {
			return err
		}
		for _, n := range m.lock.Nets() {
			for _, p := range n.Places() {
				if _, ok := v.Tokens[key{n.ID, p.ID}]; !ok {
					return fmt.Errorf("place %q of net %q is not in the view", p.ID, n.ID)
				}
			}
		}
		return nil
	})
	return m, side, snmpd.Client
}

// escaped are the numbers with the names that SNMP shows.
func (n numbers) escaped() numbers {
	shown := newNumbers()
	for k, v := range n.Tokens {
		shown.Tokens[key{plaintext.Escape(k.Net), plaintext.Escape(k.ID)}] = v
	}
	for k, v := range n.Firings {
		shown.Firings[key{plaintext.Escape(k.Net), plaintext.Escape(k.ID)}] = v
	}
	return shown
}

func TestNamedObjectsAndPlaceTableThroughSnmpdEqualTheView(t *testing.T) {
	t.Parallel()
	snmptest.RequireTools(t)
	m, side, noc := served(t, different(t))
	want := side.view(t).numbers()

	// snmpget of every place's object by its name.
	var names []string
	var of []key
	for _, n := range m.lock.Nets() {
		for _, p := range n.Places() {
			names, of = append(names, n.Module+"::"+n.Name(p)+"Tokens.0"), append(of, key{n.ID, p.ID})
		}
	}
	got := map[key]string{}
	for i := 0; i < len(names); i += 50 {
		some := names[i:min(i+50, len(names))]
		lines := m.ask(t, "snmpget", append([]string{"-v2c", "-c", "public", "-OqvU", noc.Addr}, some...)...)
		if len(lines) != len(some) {
			t.Fatalf("snmpget answers %d of %d names", len(lines), len(some))
		}
		for k, line := range lines {
			got[of[i+k]] = line
		}
	}
	for place, n := range want.Tokens {
		if got[place] != fmt.Sprint(n) {
			t.Errorf("snmpget gives %q tokens for %v, the view %d", got[place], place, n)
		}
	}

	// snmptable of placeTable.
	rows := m.table(t, noc, "PETRINET-MIB::pnPlaceTable")
	if len(rows) != len(want.Tokens) {
		t.Errorf("pnPlaceTable has %d rows for %d places", len(rows), len(want.Tokens))
	}
	for _, n := range m.lock.Nets() {
		for _, p := range n.Places() {
			row := rows[fmt.Sprintf("%d.%d", n.Number, p.Number)]
			if row["pnPlaceId"] != plaintext.Escape(p.ID) || row["pnPlaceTokens"] != fmt.Sprint(want.Tokens[key{n.ID, p.ID}]) {
				t.Errorf("place %q of net %q is %q", p.ID, n.ID, row)
			}
		}
	}
	side.stop(t, syscall.SIGTERM)
}

// table asks snmptable for a table: its rows by index, each by column.
func (m modules) table(t *testing.T, noc snmptest.Client, name string) map[string]map[string]string {
	t.Helper()
	const separator = "\x1f" // in no id
	lines := m.ask(t, "snmptable", "-v2c", "-c", "public", "-OU", "-Ci", "-Cf", separator, noc.Addr, name)
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
