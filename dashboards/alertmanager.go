// SPDX-License-Identifier: Apache-2.0

package dashboards

import "strings"

// Names of the alerts that only inhibit others.
const (
	alarmSilenced = "PetrinetAlarmSilenced"
	alarmFollows  = "PetrinetAlarmFollows"
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

// unalarmed matches the alerts that follow if none of the sources of a net reports, and that
// no alarm of the sidecar is about. Of its alarms, the sidecar shows itself which follow.
const unalarmed = `alertname=~"PetrinetQueueStarving|PetrinetRegionWithoutStandby"`

// alertmanagerFile returns routes and inhibit rules for the alerts.
func alertmanagerFile() routing {
	subject := strings.Split(alarmLabels, ", ")
	ours := `alertname=~"Petrinet.+"`
	noted := `alertname=~"` + alarmSilenced + "|" + alarmFollows + `"`
	return routing{
		Route: route{Receiver: "team", GroupBy: []string{"alertname", "net", "source"}, GroupWait: "30s", GroupInterval: "5m", RepeatInterval: "12h", Routes: []route{
			{Matchers: []string{`severity="none"`}, Receiver: "none"},
			{Matchers: []string{`severity="critical"`}, Receiver: "pager", GroupWait: "10s"},
		}},
		Receivers: []any{receiver{Name: "none"}, receiver{"team", []webhook{{"http://127.0.0.1:9095/team", true}}}, receiver{"pager", []webhook{{"http://127.0.0.1:9095/pager", true}}}},
		Inhibit: []inhibit{
			{[]string{noted}, []string{ours, `severity!="none"`, `alarm!=""`}, subject},
			{[]string{`alertname="` + netSilent + `"`}, []string{unalarmed}, []string{"net"}},
			{[]string{ours, `severity="critical"`}, []string{ours, `severity="warning"`}, append([]string{"alertname"}, subject...)},
		},
	}
}
