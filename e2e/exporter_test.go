// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/pnagent/pnagent/internal/porttest"
	"github.com/pnagent/pnagent/mib/smi"
	"github.com/pnagent/pnagent/snmp/snmptest"
)

func TestTheExporterServesNamedMetricsOfAnEncryptedWalk(t *testing.T) {
	t.Parallel()
	for _, e := range []struct {
		version, file, auth string
		program             func(*testing.T) string
	}{
		{"0.21", "snmp-0.22.yml", "", func(t *testing.T) string { return need(t, "prometheus-snmp-exporter", "prometheus-snmp-exporter") }},
		{"0.29", "snmp.yml", "noc", func(t *testing.T) string { return needProxied(t, snmpExporter) }},
	} {
		t.Run(e.version, func(t *testing.T) {
			t.Parallel()
			program := e.program(t)
			snmpd := hardened(t)
			m, natsURL, dir := generate(t, "", examples(t)...), startNATS(t), t.TempDir()
			side := serve(t, natsURL, "--agentx", "unix:"+snmpd.socket, "--snmp", "127.0.0.1:0", "--mib-dir", m.dir, "--alarms", write(t, "alarms.yaml", impatient))
			runEngine(t, natsURL, "north", append([]string{"--instances", "2", "--bindings", manual(t, m.lock)}, examples(t)...)...)
			if r := pnagent(t, "integrations", "snmp-exporter", "--dir", dir, "--mib-dir", m.dir); r.code != 0 {
				t.Fatalf("pnagent integrations: got %+v", r)
			}
			text, err := os.ReadFile(filepath.Join(dir, "snmp-exporter", e.file))
			if err != nil {
				t.Fatal(err)
			}
			config := write(t, "snmp.yml", strings.NewReplacer("CHANGE-THE-AUTH-PASSPHRASE", "authentication", "CHANGE-THE-PRIV-PASSPHRASE", "encryption").Replace(string(text)))
			listen := porttest.Addr(t)
			start(t, program, "--config.file="+config, "--web.listen-address="+listen)

			query := url.Values{"target": {snmpd.addr}, "module": {"petrinet"}}
			if e.auth != "" {
				query.Set("auth", e.auth)
			}
			exporter, agent := web{"http://" + listen}, snmptest.Client{Addr: side.snmp}
			until(t, "every place and transition has its numbers, by name", func() error {
				from := walk(t, agent).rows(placeTable, placeOldestAge)
				s, err := exporter.readFrom("/snmp?" + query.Encode())
				if err != nil {
					return err
				}
				if err := exportsTheNumbers(s, side.view(t).numbers()); err != nil {
					return err
				}
				if err := exportsTheAges(s, from, walk(t, agent).rows(placeTable, placeOldestAge)); err != nil {
					return err
				}
				return exportsTheRest(s, e.file == "snmp.yml")
			})
		})
	}
}

// named are the values of a metric by the net and the id of its rows.
func (s scrape) named(metric, id string) map[key]uint64 {
	values := map[key]uint64{}
	for _, one := range s.all(metric) {
		values[key{one.labels["pnNetName"], one.labels[id]}] = uint64(one.value)
	}
	return values
}

// exportsTheNumbers checks that each place is there with its tokens, and each transition with its firings.
func exportsTheNumbers(s scrape, want numbers) error {
	tokens, firings := s.named("pnPlaceTokens", "pnPlaceId"), s.named("pnTransitionFirings", "pnTransitionId")
	if len(want.Tokens) == 0 || len(want.Firings) == 0 || !maps.Equal(tokens, want.Tokens) || !maps.Equal(firings, want.Firings) {
		return fmt.Errorf("tokens %v, firings %v; want %v", tokens, firings, want)
	}
	return nil
}

// exportsTheAges checks that each oldest token has an age that is not below the one before and
// not above the one after.
func exportsTheAges(s scrape, before, after map[key]smi.Value) error {
	ages := s.named("pnPlaceOldestAge", "pnPlaceId")
	if len(before) == 0 || len(ages) != len(before) {
		return fmt.Errorf("%d ages, want %d", len(ages), len(before))
	}
	for place, age := range ages {
		if age < before[place].Num || age > after[place].Num {
			return fmt.Errorf("%v is %d s old, want %d to %d", place, age, before[place].Num, after[place].Num)
		}
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
