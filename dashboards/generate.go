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
)

// Options are what differs between sites.
type Options struct {
	Runbooks string // the address of the pages of docs/runbooks; "" is DefaultRunbooks
	Job      string // Prometheus' job of pnagent; "" is DefaultJob
}

// File is a generated file.
type File = atomicfile.File

// Files returns everything that Generate writes, in a fixed order.
func Files(o Options) ([]File, error) {
	o.Runbooks = cmp.Or(o.Runbooks, DefaultRunbooks)
	o.Job = cmp.Or(o.Job, DefaultJob)
	o.Runbooks = strings.TrimRight(o.Runbooks, "/")
	var files []File
	for _, d := range All() {
		text, err := d.JSON()
		if err != nil {
			return nil, err
		}
		files = append(files, File{Path: "grafana/" + d.File, Content: text})
	}
	recordings, err := write(recordingFile())
	alerts, alertErr := write(alertFile(o))
	routes, routeErr := write(alertmanagerFile())
	return append(files, File{Path: "alertmanager/alertmanager.yaml", Content: routes}, File{Path: "prometheus/recordings.yaml", Content: recordings},
		File{Path: "prometheus/alerts.yaml", Content: alerts}), errors.Join(err, alertErr, routeErr)
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
