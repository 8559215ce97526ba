// SPDX-License-Identifier: Apache-2.0

package dashboards

import (
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// ErrReceiver is wrapped by the error of an unknown kind of receiver.
var ErrReceiver = errors.New("unknown kind of receiver")

// messages are the templates of what people read, but for the address of the page.
//
//go:embed messages.tmpl
var messages string

// secrets is the folder with the secrets of receivers.
const secrets = "/etc/alertmanager/secrets/"

// texts are the templates of a receiver, which its other fields name.
const (
	title = `{{ template "pnagent.title" . }}`
	body  = `{{ template "pnagent.text" . }}`
	page  = `{{ template "pnagent.page" (index .Alerts 0) }}`
)

// fields are those of an integration of Alertmanager, by their names.
type fields map[string]any

// integrations returns how each kind of receiver is reached: the key of a receiver, and its fields.
func integrations(address string) map[string]map[string][]fields {
	return map[string]map[string][]fields{
		"webhook": {"webhook_configs": {{"url": address, "send_resolved": true}}},
		"slack": {"slack_configs": {{"api_url_file": secrets + "slack-url", "channel": "#alerts", "send_resolved": true, "title": title, "title_link": page, "text": body,
			"color": `{{ if eq .Status "firing" }}{{ if eq .CommonLabels.severity "critical" }}danger{{ else }}warning{{ end }}{{ else }}good{{ end }}`}}},
		"pagerduty": {"pagerduty_configs": {{"routing_key_file": secrets + "pagerduty-key", "send_resolved": true, "description": title, "client": "pnagent", "client_url": page,
			"severity": `{{ if eq .CommonLabels.severity "critical" }}critical{{ else }}warning{{ end }}`, "details": map[string]string{"text": body}}}},
		"opsgenie": {"opsgenie_configs": {{"api_key_file": secrets + "opsgenie-key", "send_resolved": true, "message": title, "description": body, "source": "pnagent",
			"priority": `{{ if eq .CommonLabels.severity "critical" }}P1{{ else }}P3{{ end }}`}}},
		"mail":  {"email_configs": {{"to": "oncall@example.org", "send_resolved": true, "headers": map[string]string{"Subject": title}, "text": body, "html": ""}}},
		"teams": {"msteamsv2_configs": {{"webhook_url_file": secrets + "teams-url", "send_resolved": true, "title": title, "text": body}}},
	}
}

// Receivers returns the kinds of receivers.
func Receivers() []string { return slices.Sorted(maps.Keys(integrations(""))) }

// receiverOf returns a receiver of several kinds.
func receiverOf(name, address string, kinds []string) (fields, error) {
	out := fields{"name": name}
	for _, kind := range kinds {
		of := integrations(address)[kind]
		if of == nil {
			return nil, fmt.Errorf("%w %q; expected one of %s", ErrReceiver, kind, strings.Join(Receivers(), ", "))
		}
		for key, value := range of {
			out[key] = value
		}
	}
	return out, nil
}
