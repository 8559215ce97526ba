// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// exporterFile is generator.yml, as far as it names objects.
type exporterFile struct {
	Modules map[string]struct {
		Walk    []string
		Lookups []struct {
			Indexes []string `yaml:"source_indexes"`
			Lookup  string
		}
		Overrides map[string]any
	}
}

// qualified is the name of an object as snmptranslate takes it.
func qualified(name string) string {
	if strings.Contains(name, "::") {
		return name
	}
	return "PETRINET-MIB::" + name
}

// snmp_exporter takes integers and strings for indices, and says nothing of an
// override whose object is not there.
func TestTheExporterExampleNamesWhatThereIsAndIndicesItCanRead(t *testing.T) {
	t.Parallel()
	var file exporterFile
	if err := yaml.Unmarshal([]byte(example(t, "generator.yml")), &file); err != nil {
		t.Fatal(err)
	}
	m := generate(t, "")
	module := file.Modules["petrinet"]
	var names []string
	for name := range module.Overrides {
		names = append(names, qualified(name))
	}
	indices := map[string]bool{}
	for _, l := range module.Lookups {
		names = append(names, qualified(l.Lookup))
		for _, index := range l.Indexes {
			indices[qualified(index)] = true
		}
	}
	// Indices of every table, of those that are not walked too.
	tables := regexp.MustCompile(`Index: (.*)`).FindAllStringSubmatch(strings.Join(m.ask(t, "snmptranslate", "-Tp", "PETRINET-MIB::petrinetMIB"), "\n"), -1)
	for _, table := range tables {
		for index := range strings.SplitSeq(table[1], ", ") {
			indices[qualified(strings.TrimSpace(index))] = true
		}
	}
	if len(module.Walk) < 6 || len(module.Lookups) < 5 || len(tables) < 9 || len(indices) < 8 {
		t.Fatalf("%d walks, %d lookups, %d tables, %d indices", len(module.Walk), len(module.Lookups), len(tables), len(indices))
	}
	m.translate(t, append(names, module.Walk...)) // fails on one that is not there
	for name := range indices {
		said := strings.Join(m.ask(t, "snmptranslate", "-Td", name), "\n")
		if !regexp.MustCompile(`SYNTAX\s+(Unsigned32|Integer32|INTEGER|OCTET STRING)`).MatchString(said) {
			t.Errorf("%s is no index of an integer or a string: %s", name, said)
		}
	}
}

// The programs are not Debian's: "make check-exporter" builds them.
func TestTheExporterServesNamedMetricsOfAnEncryptedWalk(t *testing.T) {
	t.Parallel()
	programs := os.Getenv("PNAGENT_TEST_EXPORTER")
	if programs == "" {
		t.Skip("snmp_exporter and its generator are not here: make check-exporter")
	}
	snmpd := hardened(t)
	m := generate(t, "", examples(t)...)
	natsURL := startNATS(t)
	side := serve(t, natsURL, "--agentx", "unix:"+snmpd.socket, "--mib-dir", m.dir, "--alarms", write(t, "alarms.yaml", impatient))
	runEngine(t, natsURL, "north", append([]string{"--instances", "2", "--bindings", manual(t, m.lock)}, examples(t)...)...)

	dir := t.TempDir()
	input := example(t, "generator.yml", "CHANGE-THE-AUTH-PASSPHRASE", "authentication", "CHANGE-THE-PRIV-PASSPHRASE", "encryption")
	if err := os.WriteFile(filepath.Join(dir, "generator.yml"), []byte(input), 0o600); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(dir, "snmp.yml")
	r := tool(t, noModules(), filepath.Join(programs, "generator"), "generate", "--fail-on-parse-errors", "-m", m.dir, "-m", stubs,
		"-g", filepath.Join(dir, "generator.yml"), "-o", config)
	if r.code != 0 || strings.Contains(r.err, "level=WARN") || strings.Contains(r.err, "level=ERROR") {
		t.Fatalf("the generator: got exit code %d, %s; want 0 and no warning", r.code, r.err)
	}
	listen := freeAddr(t, "tcp")
	start(t, filepath.Join(programs, "snmp_exporter"), "--config.file", config, "--web.listen-address", listen)

	// Prometheus asks the exporter, and that snmpd.
	exporter := web{"http://" + listen}
	path := "/snmp?" + url.Values{"target": {snmpd.addr}, "auth": {"noc"}, "module": {"petrinet"}}.Encode()
	until(t, "every place has its tokens, by name", func() error {
		s, err := exporter.readFrom(path)
		if err != nil {
			return err
		}
		want := side.view(t).numbers().Tokens
		got := map[key]uint64{}
		for _, one := range s.all("pnPlaceTokens") {
			got[key{one.labels["pnNetName"], one.labels["pnPlaceId"]}] = uint64(one.value)
		}
		for place, n := range want {
			if there, ok := got[place]; !ok || there != n {
				return fmt.Errorf("%v has %d, want %d", place, there, n)
			}
		}
		if len(want) == 0 || len(got) != len(want) {
			return fmt.Errorf("%d places, want %d", len(got), len(want))
		}
		return exportsTheRest(s)
	})
}

// readFrom reads metrics of another program.
func (w web) readFrom(path string) (s scrape, err error) {
	status, text, err := w.get(path)
	if err != nil || status != http.StatusOK {
		return s, fmt.Errorf("%s: %d, %w: %.500s", path, status, err, text)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	s.families, err = parser.TextToMetricFamilies(bytes.NewReader(text))
	return s, err
}

// exportsTheRest checks one series of each other table.
func exportsTheRest(s scrape) error {
	for _, c := range []struct {
		metric, label, value string
	}{
		{"pnNetFirings", "pnNetName", "backup-window"},
		{"pnNetRate1", "pnNetName", "backup-window"},
		{"pnTransitionFirings", "pnTransitionId", "release"},
		{"pnAlarmAge", "pnAlarmNet", "backup-window"},
		{"pnSourceState", "pnSourceNet", "backup-window"},
		{"pnAgentRole", "pnAgentRole", "primary"},
	} {
		found := false
		for _, one := range s.all(c.metric) {
			found = found || one.labels[c.label] == c.value
		}
		if !found {
			return fmt.Errorf("%s has none with %s=%q", c.metric, c.label, c.value)
		}
	}
	if faults := s.all("snmp_error"); len(faults) > 0 {
		return fmt.Errorf("snmp_exporter could not read %v", faults)
	}
	return nil
}
