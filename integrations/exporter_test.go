// SPDX-License-Identifier: Apache-2.0

package integrations

import (
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/pnagent/pnagent/mib"
)

// exporterAuth, ExporterModule and the like have the keys that snmp_exporter knows; it
// refuses others.
type exporterAuth struct {
	Community     string
	SecurityLevel string `yaml:"security_level"`
	Username      string
	Password      string
	AuthProtocol  string `yaml:"auth_protocol"`
	PrivProtocol  string `yaml:"priv_protocol"`
	PrivPassword  string `yaml:"priv_password"`
	Version       int
}

type ExporterModule struct {
	Walk           []string
	Get            []string
	Metrics        []exporterMetric
	MaxRepetitions int `yaml:"max_repetitions"`
	Timeout        time.Duration
}

type exporterMetric struct {
	Name, Oid, Type, Help string
	Indexes               []struct{ Labelname, Type string }
	Lookups               []struct {
		Labels               []string
		Labelname, Oid, Type string
	}
	EnumValues map[int]string `yaml:"enum_values"`
	Scale      float64
}

// oldExporterModule is a module before 0.23: it has the credentials, and no scale.
type oldExporterModule struct {
	ExporterModule `yaml:",inline"`
	Version        int
	Auth           exporterAuth
}

func strictly(t *testing.T, text string, into any) {
	t.Helper()
	if err := yaml.NewDecoder(strings.NewReader(text), yaml.Strict(), yaml.DisallowUnknownField()).Decode(into); err != nil {
		t.Fatal(err)
	}
}

func TestTheExporterReadsBothForms(t *testing.T) {
	o := options(t, mib.DefaultRoot)
	var now struct {
		Auths   map[string]exporterAuth
		Modules map[string]ExporterModule
	}
	strictly(t, written(t, o, "snmp-exporter/snmp.yml"), &now)
	var old map[string]oldExporterModule
	strictly(t, written(t, o, "snmp-exporter/snmp-0.22.yml"), &old)
	if now.Auths["noc"].Version != 3 || now.Auths["public"].Community != "public" || old["petrinet"].Version != 3 || old["petrinet"].Auth.Username != "noc" {
		t.Errorf("credentials are %+v, before 0.23 %+v", now.Auths, old["petrinet"].Auth)
	}
	scaled := checkExporter(t, now.Modules["petrinet"])
	if n := checkExporter(t, old["petrinet"].ExporterModule); n != 0 || scaled != 6 {
		t.Errorf("%d metrics are scaled, before 0.23 %d; want 6 and none", scaled, n)
	}
}

// checkExporter holds a module against its own references, and returns how many metrics
// are scaled.
func checkExporter(t *testing.T, m ExporterModule) (scaled int) {
	t.Helper()
	walked := func(oid string) bool {
		for _, w := range m.Walk {
			if strings.HasPrefix(oid, w+".") {
				return true
			}
		}
		for _, g := range m.Get {
			if g == oid+".0" {
				return true
			}
		}
		return false
	}
	names := map[string]exporterMetric{}
	for _, metric := range m.Metrics {
		if names[metric.Name].Name != "" || metric.Help == "" || !walked(metric.Oid) {
			t.Errorf("metric %s is there twice, has no help, or %s is not read", metric.Name, metric.Oid)
		}
		names[metric.Name] = metric
		labels := map[string]bool{}
		for _, index := range metric.Indexes {
			labels[index.Labelname] = true
		}
		for _, l := range metric.Lookups {
			for _, label := range l.Labels {
				if !labels[label] {
					t.Errorf("metric %s looks up by %s, which is no index of it", metric.Name, label)
				}
			}
			if !walked(l.Oid) {
				t.Errorf("metric %s looks up %s, which is not read", metric.Name, l.Oid)
			}
		}
		if strings.HasPrefix(metric.Type, "Enum") != (len(metric.EnumValues) > 0) {
			t.Errorf("metric %s is %s with %d names", metric.Name, metric.Type, len(metric.EnumValues))
		}
		if metric.Scale != 0 {
			scaled++
		}
	}
	for _, name := range []string{"pnPlaceTokens", "pnTransitionFirings", "pnAlarmAge", "pnAlarmSeverity", "pnAlarmCritical", "pnSourceState", "pnAgentRole"} {
		if names[name].Name == "" {
			t.Errorf("there is no metric %s", name)
		}
	}
	if got := names["pnSourceState"].EnumValues[2]; got != "stale" {
		t.Errorf("state 2 is %q, want stale", got)
	}
	return scaled
}
