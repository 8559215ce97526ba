// SPDX-License-Identifier: Apache-2.0

package snmp

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

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/internal/plaintext"
	"github.com/pnagent/pnagent/mib"
	"github.com/pnagent/pnagent/snmp/snmptest"
)

// different are the examples, the net of odd ids and, if it is here, files of
// the corpus, as many as there are nets of different ids: tools like to call
// theirs all alike.
func different(t *testing.T) []string {
	t.Helper()
	paths := append(kit.Examples(t), kit.WriteNet(t, kit.OddNet()))
	files, ids := kit.ValidNets(t)
	seen := map[string]bool{}
	for i, f := range files {
		if !slices.ContainsFunc(ids[i], func(id string) bool { return seen[id] }) {
			paths = append(paths, f.Path)
		}
		for _, id := range ids[i] {
			seen[id] = true
		}
	}
	return paths
}

func TestGeneratedModulesOfEveryExampleOneByOne(t *testing.T) {
	t.Parallel()
	for _, path := range append(kit.Examples(t), kit.WriteNet(t, kit.OddNet())) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			hold(t, kit.Generate(t, "", path))
		})
	}
}

func TestGeneratedModulesOfEveryNetOfTheCorpusOneByOne(t *testing.T) {
	t.Parallel()
	kit.CorpusFiles(t)
	files, _ := kit.ValidNets(t)
	for _, f := range files {
		t.Run(filepath.Base(f.Path), func(t *testing.T) {
			t.Parallel()
			hold(t, kit.Generate(t, "", f.Path))
		})
	}
}

func TestGeneratedModulesOfAllNetsTogether(t *testing.T) {
	t.Parallel()
	paths := different(t)
	m := kit.Generate(t, "", paths...)
	if n := len(m.Lock.Nets()); n < len(paths) {
		t.Errorf("got %d nets; want one of each of the %d files", n, len(paths))
	}
	hold(t, m)
}

// Once installed, net-snmp's tools read the modules with the option and with the line that
// --install prints, and print nothing else, though other modules are missing.
func TestInstalledModulesAreFoundByNetSNMP(t *testing.T) {
	t.Parallel()
	translate := kit.Need(t, "snmptranslate", "snmp")
	dir, installed := t.TempDir(), t.TempDir()
	stubDir, err := filepath.Abs(kit.Stubs)
	if err != nil {
		t.Fatal(err)
	}
	// MIBDIRS keeps the test out of the directories of the user and the system.
	conf := t.TempDir()
	env := []string{"MIBDIRS=" + installed + ":" + stubDir, "SNMPCONFPATH=" + conf, "SNMP_PERSISTENT_FILE=" + os.DevNull}
	r := kit.Tool(t, env, kit.Built().Pnagent, "mib", "--dir", dir, "--install", "--yes", kit.Write(t, "claims.pnml", kit.StuckNet))
	if r.Code != 0 || r.Err != "" || !strings.Contains(r.Out, "net-snmp's tools find them in "+installed) {
		t.Fatalf("pnagent mib --install: got %+v; want exit code 0 and the directory %s", r, installed)
	}
	hint := regexp.MustCompile(`read with (-m \S+), or with the line "(mibs .*)" in snmp.conf`).FindStringSubmatch(r.Out)
	if hint == nil {
		t.Fatalf("pnagent mib --install does not print how to read them: %s", r.Out)
	}
	const name = "CLAIMS-PN-MIB::claInboxTokens"
	oid := "." + kit.OIDRoot + ".2.1.1.2.1." + fmt.Sprint(kit.PlaceTokens)
	check := func(how string, options ...string) {
		t.Helper()
		for asked, want := range map[string]string{name: oid, oid: name} {
			of := append(slices.Clone(options), asked)
			if asked == name {
				of = append(of, "-On")
			}
			if r := kit.Tool(t, env, translate, of...); r.Out != want+"\n" || r.Err != "" {
				t.Errorf("%s: snmptranslate %s: got %q%q; want %q", how, asked, r.Out, r.Err, want)
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
	return kit.Write(t, "bindings.yaml", string(text))
}

// served are all nets at rest, behind a snmpd.
func served(t *testing.T, paths []string) (kit.Modules, *kit.Sidecar, snmptest.Client) {
	t.Helper()
	m := kit.Generate(t, "", paths...)
	snmpd := snmptest.Start(t, snmptest.Config{})
	url := kit.StartNATS(t)
	side := kit.Serve(t, url, "--agentx", snmpd.AgentX, "--mib-dir", m.Dir)
	kit.RunEngine(t, url, "all", append([]string{"--instances", "2", "--bindings", manual(t, m.Lock)}, paths...)...)
	kit.Until(t, "all nets are served", func() error {
		v := side.View(t).Numbers()
		if len(v.Tokens) == 0 {
			return errors.New("no place is in the view")
		}
		if err := kit.Differ(escaped(v), kit.Walk(t, snmpd.Client).Numbers()); err != nil {
			return err
		}
		for _, n := range m.Lock.Nets() {
			for _, p := range n.Places() {
				if _, ok := v.Tokens[kit.Key{Net: n.ID, ID: p.ID}]; !ok {
					return fmt.Errorf("place %q of net %q is not in the view", p.ID, n.ID)
				}
			}
		}
		return nil
	})
	return m, side, snmpd.Client
}

func TestNamedObjectsAndPlaceTableThroughSnmpdEqualTheView(t *testing.T) {
	t.Parallel()
	snmptest.RequireTools(t)
	m, side, noc := served(t, different(t))
	want := side.View(t).Numbers()

	// snmpget of every place's object by its name.
	var names []string
	var of []kit.Key
	for _, n := range m.Lock.Nets() {
		for _, p := range n.Places() {
			names, of = append(names, n.Module+"::"+n.Name(p)+"Tokens.0"), append(of, kit.Key{Net: n.ID, ID: p.ID})
		}
	}
	got := map[kit.Key]string{}
	for i := 0; i < len(names); i += 50 {
		some := names[i:min(i+50, len(names))]
		lines := ask(t, m, "snmpget", append([]string{"-v2c", "-c", "public", "-OqvU", noc.Addr}, some...)...)
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
	rows := tableOf(t, m, noc, "PETRINET-MIB::pnPlaceTable")
	if len(rows) != len(want.Tokens) {
		t.Errorf("pnPlaceTable has %d rows for %d places", len(rows), len(want.Tokens))
	}
	for _, n := range m.Lock.Nets() {
		for _, p := range n.Places() {
			row := rows[fmt.Sprintf("%d.%d", n.Number, p.Number)]
			if row["pnPlaceId"] != plaintext.Escape(p.ID) || row["pnPlaceTokens"] != fmt.Sprint(want.Tokens[kit.Key{Net: n.ID, ID: p.ID}]) {
				t.Errorf("place %q of net %q is %q", p.ID, n.ID, row)
			}
		}
	}
	side.Stop(t, syscall.SIGTERM)
}

// escaped are the numbers with the names that SNMP shows.
func escaped(n kit.Numbers) kit.Numbers {
	shown := kit.NewNumbers()
	for k, v := range n.Tokens {
		shown.Tokens[kit.Key{Net: plaintext.Escape(k.Net), ID: plaintext.Escape(k.ID)}] = v
	}
	for k, v := range n.Firings {
		shown.Firings[kit.Key{Net: plaintext.Escape(k.Net), ID: plaintext.Escape(k.ID)}] = v
	}
	return shown
}

// tableOf asks snmptable for a table: its rows by index, each by column.
func tableOf(t *testing.T, m kit.Modules, noc snmptest.Client, name string) map[string]map[string]string {
	t.Helper()
	const separator = "\x1f" // in no id
	lines := ask(t, m, "snmptable", "-v2c", "-c", "public", "-OU", "-Ci", "-Cf", separator, noc.Addr, name)
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
