// SPDX-License-Identifier: Apache-2.0

package dashboards

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/pnagent/pnagent/internal/atomicfile"
)

// What Options of zero stand for.
const (
	DefaultRunbooks = "https://github.com/pnagent/pnagent/blob/main/docs/runbooks"
	DefaultJob      = "pnagent"
)

// Options say what differs from site to site.
type Options struct {
	Runbooks string // where the pages of docs/runbooks are; "" is DefaultRunbooks
	Job      string // by which Prometheus scrapes pnagent; "" is DefaultJob
}

// File is one that is written.
type File struct {
	Path    string // with slashes, below the directory
	Content []byte
}

// Files returns everything that Generate writes, in a fixed order.
func Files(o Options) ([]File, error) {
	if o.Runbooks == "" {
		o.Runbooks = DefaultRunbooks
	}
	if o.Job == "" {
		o.Job = DefaultJob
	}
	o.Runbooks = strings.TrimRight(o.Runbooks, "/")
	var files []File
	for _, d := range All() {
		text, err := d.JSON()
		if err != nil {
			return nil, err
		}
		files = append(files, File{"grafana/" + d.File, text})
	}
	recordings, err := recordingFile().yaml()
	alerts, alertErr := alertFile(o).yaml()
	return append(files, File{"prometheus/recordings.yaml", recordings}, File{"prometheus/alerts.yaml", alerts}), errors.Join(err, alertErr)
}

// Written tells what became of a file.
type Written struct {
	Path    string
	Changed bool
}

// Generate writes all files below dir, which is made if need be. Files that are
// as they should be are not touched.
func Generate(dir string, o Options) ([]Written, error) {
	files, err := Files(o)
	if err != nil {
		return nil, err
	}
	var all []Written
	for _, f := range files {
		path := filepath.Join(dir, filepath.FromSlash(f.Path))
		if before, err := os.ReadFile(path); err == nil && bytes.Equal(before, f.Content) {
			all = append(all, Written{Path: path})
			continue
		}
		if err := atomicfile.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return all, fmt.Errorf("writing dashboards: %w", err)
		}
		if err := atomicfile.Replace(path, f.Content, 0o644); err != nil {
			return all, fmt.Errorf("writing dashboards: %w", err)
		}
		all = append(all, Written{Path: path, Changed: true})
	}
	return all, nil
}
