// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// exporters are versions of snmp_exporter with the file that each one reads.
func exporters() []struct{ version, program, missing, file, auth string } {
	debians, _ := exec.LookPath("prometheus-snmp-exporter")
	return []struct{ version, program, missing, file, auth string }{
		{"0.21", debians, "Debian package prometheus-snmp-exporter", "snmp-0.22.yml", ""},
		{"0.29", os.Getenv("PNAGENT_TEST_EXPORTER"), "make check-integrations", "snmp.yml", "noc"},
	}
}

func TestTheExporterServesNamedMetricsOfAnEncryptedWalk(t *testing.T) {
	t.Parallel()
	for _, e := range exporters() {
		t.Run(e.version, func(t *testing.T) {
			t.Parallel()
			if e.program == "" {
				t.Skipf("snmp_exporter %s is not here: %s", e.version, e.missing)
			}
			snmpd := hardened(t)
			m, natsURL, dir := generate(t, "", examples(t)...), startNATS(t), t.TempDir()
			side := serve(t, natsURL, "--agentx", "unix:"+snmpd.socket, "--mib-dir", m.dir, "--alarms", write(t, "alarms.yaml", impatient))
			runEngine(t, natsURL, "north", append([]string{"--instances", "2", "--bindings", manual(t, m.lock)}, examples(t)...)...)
			if r := pnagent(t, "integrations", "snmp-exporter", "--dir", dir, "--mib-dir", m.dir); r.code != 0 {
				t.Fatalf("pnagent integrations: got %+v", r)
			}
			text, err := os.ReadFile(filepath.Join(dir, "snmp-exporter", e.file))
			if err != nil {
				t.Fatal(err)
			}
			config := write(t, "snmp.yml", strings.NewReplacer("CHANGE-THE-AUTH-PASSPHRASE", "authentication", "CHANGE-THE-PRIV-PASSPHRASE", "encryption").Replace(string(text)))
			listen := freeAddr(t, "tcp")
			start(t, e.program, "--config.file="+config, "--web.listen-address="+listen)

			query := url.Values{"target": {snmpd.addr}, "module": {"petrinet"}}
			if e.auth != "" {
				query.Set("auth", e.auth)
			}
			exporter := web{"http://" + listen}
			until(t, "every place has its tokens, by name", func() error {
				s, err := exporter.readFrom("/snmp?" + query.Encode())
				if err != nil {
					return err
				}
				if err := exportsThePlaces(s, side.view(t).numbers().Tokens); err != nil {
					return err
				}
				return exportsTheRest(s, e.file == "snmp.yml")
			})
		})
	}
}

// exportsThePlaces checks that each place is there, with its tokens.
func exportsThePlaces(s scrape, want map[key]uint64) error {
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
	return nil
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
func exportsTheRest(s scrape, rates bool) error {
	for _, c := range []struct {
		metric, label, value string
		rate                 bool
	}{
		{"pnNetFirings", "pnNetName", "backup-window", false},
		{"pnNetRate1", "pnNetName", "backup-window", true},
		{"pnPlaceOldestAge", "pnPlaceId", "queued", false},
		{"pnTransitionFirings", "pnTransitionId", "release", false},
		{"pnAlarmAge", "pnAlarmNet", "backup-window", false},
		{"pnAlarmSeverity_info", "pnAlarmSeverity", "minor", false},
		{"pnSourceState", "pnSourceNet", "backup-window", false},
		{"pnAgentRole", "pnAgentRole", "primary", false},
	} {
		found := c.rate && !rates
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
