// SPDX-License-Identifier: Apache-2.0

package dashboards

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
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
type File struct {
	Path    string // with slashes, below the directory
	Content []byte
}

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
		files = append(files, File{"grafana/" + d.File, text})
	}
	recordings, err := write(recordingFile())
	alerts, alertErr := write(alertFile(o))
	routes, routeErr := write(alertmanagerFile())
	return append(files, File{"alertmanager/alertmanager.yaml", routes}, File{"prometheus/recordings.yaml", recordings}, File{"prometheus/alerts.yaml", alerts}), errors.Join(err, alertErr, routeErr)
}

// Written is the result of writing a file.
type Written struct {
	Path    string
	Changed bool
}

// Generate writes all files below dir, which it creates if necessary. It does not touch
// files that are current.
func Generate(dir string, o Options) ([]Written, error) {
	files, err := Files(o)
	if err != nil {
		return nil, err
	}
	var all []Written
	for _, f := range files {
		path := filepath.Join(dir, filepath.FromSlash(f.Path))
		changed, err := atomicfile.Update(path, f.Content, 0o644)
		if err != nil {
			return all, fmt.Errorf("writing dashboards: %w", err)
		}
		all = append(all, Written{path, changed})
	}
	return all, nil
}
