// SPDX-License-Identifier: Apache-2.0

package dashboards

import "strings"

// Names of the alerts that only inhibit others.
const (
	alarmSilenced = "PetrinetAlarmSilenced"
	netSilent     = "PetrinetNetSilent"
)

// routing is a configuration of Alertmanager. Receivers are examples.
type routing struct {
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
	Equal   []string `yaml:"equal"`
}

type receiver struct {
	Name     string    `yaml:"name"`
	Webhooks []webhook `yaml:"webhook_configs,omitempty"`
}

type webhook struct {
	URL          string `yaml:"url"`
	SendResolved bool   `yaml:"send_resolved"`
}

// follows matches the alerts that follow if none of the sources of a net reports.
const follows = `alertname=~"PetrinetTokenStuck|PetrinetTransitionStarved|PetrinetNetDeadlocked|PetrinetTransitionFailing|PetrinetTransitionLooping|PetrinetQueueStarving|PetrinetRegionWithoutStandby"`

// alertmanagerFile returns routes and inhibit rules for the alerts.
func alertmanagerFile() routing {
	subject := strings.Split(alarmLabels, ", ")
	ours := `alertname=~"Petrinet.+"`
	return routing{
		Route: route{Receiver: "team", GroupBy: []string{"alertname", "net", "source"}, GroupWait: "30s", GroupInterval: "5m", RepeatInterval: "12h", Routes: []route{
			{Matchers: []string{`severity="none"`}, Receiver: "nobody"},
			{Matchers: []string{`severity="critical"`}, Receiver: "pager", GroupWait: "10s"},
		}},
		Receivers: []any{receiver{Name: "nobody"}, receiver{"team", []webhook{{"http://127.0.0.1:9095/team", true}}}, receiver{"pager", []webhook{{"http://127.0.0.1:9095/pager", true}}}},
		Inhibit: []inhibit{
			{[]string{`alertname="` + alarmSilenced + `"`}, []string{ours, `alertname!="` + alarmSilenced + `"`, `alarm!=""`}, subject},
			{[]string{`alertname="` + netSilent + `"`}, []string{follows}, []string{"net"}},
			{[]string{ours, `severity="critical"`}, []string{ours, `severity="warning"`}, append([]string{"alertname"}, subject...)},
		},
	}
}
