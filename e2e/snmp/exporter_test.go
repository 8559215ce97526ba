// SPDX-License-Identifier: Apache-2.0

//go:build peers

package snmp

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
	"time"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/internal/cachetest"
	"github.com/pnagent/pnagent/internal/porttest"
	"github.com/pnagent/pnagent/mib/smi"
	"github.com/pnagent/pnagent/snmp/snmptest"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// pause is that of a manager between its walks: one that begins while another runs gets the ages of the other
// (docs/design/agentx.md).
const pause = 2 * time.Second

func TestTheExporterServesNamedMetricsOfAnEncryptedWalk(t *testing.T) {
	t.Parallel()
	for _, e := range []struct {
		version, file, auth string
		program             func(*testing.T) string
	}{
		{"0.21", "snmp-0.22.yml", "", func(t *testing.T) string { return kit.Need(t, "prometheus-snmp-exporter", "prometheus-snmp-exporter") }},
		{"0.29", "snmp.yml", "noc", func(t *testing.T) string { return cachetest.SNMPExporter().Path(t) }},
	} {
		t.Run(e.version, func(t *testing.T) {
			t.Parallel()
			program := e.program(t)
			snmpd := hardened(t)
			m, natsURL, dir := kit.Generate(t, "", kit.Examples(t)...), kit.StartNATS(t), t.TempDir()
			side := kit.Serve(t, natsURL, "--agentx", "unix:"+snmpd.socket, "--snmp", "127.0.0.1:0", "--mib-dir", m.Dir, "--alarms", kit.Write(t, "alarms.yaml", kit.Impatient))
			kit.RunEngine(t, natsURL, "north", append([]string{"--instances", "2", "--bindings", manual(t, m.Lock)}, kit.Examples(t)...)...)
			if r := kit.Pnagent(t, "integrations", "snmp-exporter", "--dir", dir, "--mib-dir", m.Dir); r.Code != 0 {
				t.Fatalf("pnagent integrations: got %+v", r)
			}
			text, err := os.ReadFile(filepath.Join(dir, "snmp-exporter", e.file))
			if err != nil {
				t.Fatal(err)
			}
			config := kit.Write(t, "snmp.yml", strings.NewReplacer("CHANGE-THE-AUTH-PASSPHRASE", "authentication", "CHANGE-THE-PRIV-PASSPHRASE", "encryption").Replace(string(text)))
			listen := porttest.Addr(t)
			kit.Start(t, program, "--config.file="+config, "--web.listen-address="+listen)

			query := url.Values{"target": {snmpd.addr}, "module": {"petrinet"}}
			if e.auth != "" {
				query.Set("auth", e.auth)
			}
			exporter, agent := kit.Web{URL: "http://" + listen}, snmptest.Client{Addr: side.SNMP}
			kit.Until(t, "every place and transition has its numbers, by name", func() error {
				time.Sleep(pause)
				from := kit.Walk(t, agent).Rows(kit.PlaceTable, kit.PlaceOldestAge)
				s, err := readFrom(exporter, "/snmp?"+query.Encode())
				if err != nil {
					return err
				}
				if err := exportsTheNumbers(s, side.View(t).Numbers()); err != nil {
					return err
				}
				if err := exportsTheAges(s, from, kit.Walk(t, agent).Rows(kit.PlaceTable, kit.PlaceOldestAge)); err != nil {
					return err
				}
				return exportsTheRest(s, e.file == "snmp.yml")
			})
		})
	}
}

// exportsTheNumbers checks that each place is there with its tokens, and each transition with its firings.
func exportsTheNumbers(s kit.Scrape, want kit.Numbers) error {
	tokens, firings := namedValues(s, "pnPlaceTokens", "pnPlaceId"), namedValues(s, "pnTransitionFirings", "pnTransitionId")
	if len(want.Tokens) == 0 || len(want.Firings) == 0 || !maps.Equal(tokens, want.Tokens) || !maps.Equal(firings, want.Firings) {
		return fmt.Errorf("tokens %v, firings %v; want %v", tokens, firings, want)
	}
	return nil
}

// exportsTheAges checks that each oldest token has an age that is not below the one before and
// not above the one after.
func exportsTheAges(s kit.Scrape, before, after map[kit.Key]smi.Value) error {
	ages := namedValues(s, "pnPlaceOldestAge", "pnPlaceId")
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

// exportsTheRest checks one series of each other table.
func exportsTheRest(s kit.Scrape, rates bool) error {
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
		for _, one := range s.All(c.metric) {
			found = found || one.Labels[c.label] == c.value
		}
		if !found {
			return fmt.Errorf("%s has none with %s=%q", c.metric, c.label, c.value)
		}
	}
	if faults := s.All("snmp_error"); len(faults) > 0 {
		return fmt.Errorf("snmp_exporter could not read %v", faults)
	}
	return nil
}

// namedValues are the values of a metric by the net and the id of its rows.
func namedValues(s kit.Scrape, metric, id string) map[kit.Key]uint64 {
	values := map[kit.Key]uint64{}
	for _, one := range s.All(metric) {
		values[kit.Key{Net: one.Labels["pnNetName"], ID: one.Labels[id]}] = uint64(one.Value)
	}
	return values
}

// readFrom reads metrics of another program.
func readFrom(w kit.Web, path string) (s kit.Scrape, err error) {
	status, text, err := w.Get(path)
	if err != nil || status != http.StatusOK {
		return s, fmt.Errorf("%s: %d, %w: %.500s", path, status, err, text)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	s.Families, err = parser.TextToMetricFamilies(bytes.NewReader(text))
	return s, err
}
