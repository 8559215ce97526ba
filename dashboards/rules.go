// SPDX-License-Identifier: Apache-2.0

package dashboards

import (
	"bytes"
	"fmt"

	"github.com/goccy/go-yaml"
)

// ruleFile is what Prometheus reads as a rule file.
type ruleFile struct {
	Groups []ruleGroup `yaml:"groups"`
}

type ruleGroup struct {
	Name  string `yaml:"name"`
	Rules []rule `yaml:"rules"`
}

// prometheusRule is a manifest for Prometheus' operator, with all rules.
type prometheusRule struct {
	APIVersion string   `yaml:"apiVersion"`
	Kind       string   `yaml:"kind"`
	Metadata   metadata `yaml:"metadata"`
	Spec       ruleFile `yaml:"spec"`
}

type metadata struct {
	Name   string            `yaml:"name"`
	Labels map[string]string `yaml:"labels"`
}

type rule struct {
	Record      string       `yaml:"record,omitempty"`
	Alert       string       `yaml:"alert,omitempty"`
	Expr        string       `yaml:"expr"`
	For         string       `yaml:"for,omitempty"`
	Keep        string       `yaml:"keep_firing_for,omitempty"`
	Labels      *labels      `yaml:"labels,omitempty"`
	Annotations *annotations `yaml:"annotations,omitempty"`
}

type labels struct {
	Alarm    string   `yaml:"alarm,omitempty"`
	Severity Severity `yaml:"severity"`
}

type annotations struct {
	Summary     string `yaml:"summary"`
	Description string `yaml:"description"`
	Runbook     string `yaml:"runbook_url"`
}

func recordingFile() ruleFile {
	g := ruleGroup{Name: "pnagent-recordings"}
	for _, r := range Recordings() {
		g.Rules = append(g.Rules, rule{Record: r.Record, Expr: r.Expr})
	}
	return ruleFile{[]ruleGroup{g}}
}

func alertFile(o Options) ruleFile {
	f := ruleFile{[]ruleGroup{{Name: "pnagent-nets"}}} // rules of one group see each other's results
	for _, r := range holds(o.Job) {
		f.Groups[0].Rules = append(f.Groups[0].Rules, rule{Record: r.Record, Expr: r.Expr})
	}
	for _, a := range Alerts(o.Job) {
		if n := len(f.Groups); n == 0 || f.Groups[n-1].Name != a.Group {
			f.Groups = append(f.Groups, ruleGroup{Name: a.Group})
		}
		g := &f.Groups[len(f.Groups)-1]
		g.Rules = append(g.Rules, rule{Alert: a.Name, Expr: a.Expr(), For: a.For, Keep: a.KeepFiringFor, Labels: a.labels(),
			Annotations: &annotations{a.Summary, a.Description, o.Runbooks + "/" + a.Runbook}})
	}
	return f
}

// write returns a file as YAML, with a line that says where it comes from.
func write(f any) ([]byte, error) {
	text, err := yaml.MarshalWithOptions(f, yaml.IndentSequence(true))
	if err != nil {
		return nil, fmt.Errorf("rules: %w", err)
	}
	return append([]byte("# Written by \"pnagent dashboards\".\n"), bytes.TrimLeft(text, "\n")...), nil
}
