// SPDX-License-Identifier: Apache-2.0

package dashboards

import (
	"errors"
	"slices"
	"strings"
)

// Names of the alerts that only inhibit others.
const (
	alarmSilenced = "PetrinetAlarmSilenced"
	alarmFollows  = "PetrinetAlarmFollows"
	netSilent     = "PetrinetNetSilent"
)

// routing is a configuration of Alertmanager.
type routing struct {
	Global    *global   `yaml:"global,omitempty"`
	Templates []string  `yaml:"templates"`
	Route     route     `yaml:"route"`
	Receivers []any     `yaml:"receivers"`
	Inhibit   []inhibit `yaml:"inhibit_rules"`
}

type route struct {
	Matchers       []string `yaml:"matchers,omitempty"`
	Receiver       string   `yaml:"receiver"`
	GroupBy        []string `yaml:"group_by,omitempty"`
	GroupWait      string   `yaml:"group_wait,omitempty"`
	GroupInterval  string   `yaml:"group_interval,omitempty"`
	RepeatInterval string   `yaml:"repeat_interval,omitempty"`
	Routes         []route  `yaml:"routes,omitempty"`
}

type inhibit struct {
	Sources []string `yaml:"source_matchers"`
	Targets []string `yaml:"target_matchers"`
	Equal   []string `yaml:"equal,omitempty"`
}

// global is where mail goes.
type global struct {
	SMTP string `yaml:"smtp_smarthost"`
	From string `yaml:"smtp_from"`
}

// unalarmed matches the alerts that follow if none of the sources of a net reports, and that
// no alarm of the sidecar is about. Of its alarms, the sidecar shows itself which follow.
const unalarmed = `alertname=~"PetrinetQueueStarving|PetrinetRegionWithoutStandby"`

// alertmanagerFile returns routes, receivers and inhibit rules for the alerts.
func alertmanagerFile(o Options) (routing, error) {
	subject := strings.Split(alarmLabels, ", ")
	ours := `alertname=~"Petrinet.+"`
	noted := `alertname=~"` + alarmSilenced + "|" + alarmFollows + `"`
	team, err := receiverOf("team", "http://127.0.0.1:9095/team", o.Team)
	pager, pagerErr := receiverOf("pager", "http://127.0.0.1:9095/pager", o.Pager)
	var mail *global
	if slices.Contains(slices.Concat(o.Team, o.Pager), "mail") {
		mail = &global{"localhost:25", "alerts@example.org"}
	}
	return routing{Global: mail, Templates: []string{"pnagent.tmpl"},
		Route: route{Receiver: "team", GroupBy: []string{"alertname", "net", "source"}, GroupWait: "30s", GroupInterval: "5m", RepeatInterval: "12h", Routes: []route{
			{Matchers: []string{`severity="none"`}, Receiver: "none"},
			{Matchers: []string{`severity="critical"`}, Receiver: "pager", GroupWait: "10s"},
		}},
		Receivers: []any{fields{"name": "none"}, team, pager},
		Inhibit: []inhibit{
			{[]string{noted}, []string{ours, `severity!="none"`, `alarm!=""`}, subject},
			{[]string{`alertname="` + netSilent + `"`}, []string{unalarmed}, []string{"net"}},
			{[]string{ours, `severity="critical"`}, []string{ours, `severity="warning"`}, append([]string{"alertname"}, subject...)},
			// A sidecar that is away, or has no NATS, has the other alerts about it as its consequences.
			{[]string{`alertname="PnagentAbsent"`}, []string{`alertname="PnagentDown"`}, nil},
			{[]string{`alertname=~"PnagentDown|PnagentNatsDisconnected"`}, []string{`alertname=~"Pnagent.+"`, `alertname!~"PnagentDown|PnagentNatsDisconnected"`}, []string{"instance"}},
		},
	}, errors.Join(err, pagerErr)
}
