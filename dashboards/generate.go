// SPDX-License-Identifier: Apache-2.0

package dashboards

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/pnagent/pnagent/internal/atomicfile"
)

// The defaults of Options.
const (
	DefaultRunbooks = "https://github.com/pnagent/pnagent/blob/main/docs/runbooks"
	DefaultJob      = "pnagent"
	DefaultPage     = "http://127.0.0.1:9797"
)

// Options are what differs between sites.
type Options struct {
	Runbooks string // the address of the pages of docs/runbooks; "" is DefaultRunbooks
	Job      string // Prometheus' job of pnagent; "" is DefaultJob
	Page     string // the address of the live page, for messages of Alertmanager; "" is DefaultPage
	// Team and Pager are the kinds of receivers that Alertmanager sends to: all alerts, and
	// the critical ones. Nil is a webhook.
	Team, Pager []string
}

// filled returns the options with the defaults of what is empty.
func (o Options) filled() Options {
	o.Runbooks = strings.TrimRight(cmp.Or(o.Runbooks, DefaultRunbooks), "/")
	o.Job = cmp.Or(o.Job, DefaultJob)
	o.Page = strings.TrimRight(cmp.Or(o.Page, DefaultPage), "/")
	for _, kinds := range []*[]string{&o.Team, &o.Pager} {
		if len(*kinds) == 0 {
			*kinds = []string{"webhook"}
		}
	}
	return o
}

// File is a generated file.
type File = atomicfile.File

// Files returns everything that Generate writes, in a fixed order.
func Files(o Options) ([]File, error) {
	o = o.filled()
	var files []File
	for _, d := range All() {
		text, err := d.JSON()
		if err != nil {
			return nil, err
		}
		files = append(files, File{Path: "grafana/" + d.File, Content: text})
	}
	rules, err := alerting(o)
	return append(files, rules...), err
}

// alerting returns the files for Prometheus and Alertmanager.
func alerting(o Options) ([]File, error) {
	routing, routingErr := alertmanagerFile(o)
	rules := ruleFile{append(recordingFile().Groups, alertFile(o).Groups...)}
	recordings, err := write(recordingFile())
	alerts, alertErr := write(alertFile(o))
	routes, routeErr := write(routing)
	manifest, manifestErr := write(prometheusRule{"monitoring.coreos.com/v1", "PrometheusRule", metadata{"pnagent", map[string]string{"app.kubernetes.io/name": "pnagent"}}, rules})
	return []File{{Path: "alertmanager/alertmanager.yaml", Content: routes}, {Path: "alertmanager/pnagent.tmpl", Content: []byte(strings.ReplaceAll(messages, "PAGE", o.Page))},
		{Path: "prometheus/recordings.yaml", Content: recordings}, {Path: "prometheus/alerts.yaml", Content: alerts}, {Path: "kubernetes/prometheusrule.yaml", Content: manifest},
	}, errors.Join(routingErr, err, alertErr, routeErr, manifestErr)
}

// GenerateAlerting writes the files for Prometheus and Alertmanager below dir, as Generate does.
func GenerateAlerting(dir string, o Options) ([]atomicfile.Written, error) {
	files, err := alerting(o.filled())
	if err != nil {
		return nil, err
	}
	return atomicfile.UpdateAll(dir, files)
}

// Generate writes all files below dir, which it creates if necessary. It does not touch
// files that are current.
func Generate(dir string, o Options) ([]atomicfile.Written, error) {
	files, err := Files(o)
	if err != nil {
		return nil, err
	}
	written, err := atomicfile.UpdateAll(dir, files)
	if err != nil {
		return written, fmt.Errorf("writing dashboards: %w", err)
	}
	return written, nil
}
