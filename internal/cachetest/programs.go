// SPDX-License-Identifier: Apache-2.0

//go:build unix

package cachetest

import (
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"testing"
)

// Program is a command of a Go module that pnagent does not depend on, and that no package of
// Debian has.
type Program struct {
	Module, Version string
	Command         string // path of its package
	Tags            string // what is compiled in; "" for all
}

// Alertmanager returns the last version whose module has the files of its page, which are compiled in.
func Alertmanager() Program {
	return Program{Module: "github.com/prometheus/alertmanager", Version: "v0.31.0", Command: "github.com/prometheus/alertmanager/cmd/alertmanager"}
}

// Amtool returns the tool of Alertmanager.
func Amtool() Program {
	tool := Alertmanager()
	tool.Command = "github.com/prometheus/alertmanager/cmd/amtool"
	return tool
}

// SNMPExporter returns Prometheus' exporter, which needs no cgo: its generator does.
func SNMPExporter() Program {
	return Program{Module: "github.com/prometheus/snmp_exporter", Version: "v0.29.0", Command: "github.com/prometheus/snmp_exporter"}
}

// Telegraf returns Telegraf with the plugins that tests use.
func Telegraf() Program {
	return Program{Module: "github.com/influxdata/telegraf", Version: "v1.37.2", Command: "github.com/influxdata/telegraf/cmd/telegraf",
		Tags: "custom,inputs.snmp,inputs.snmp_trap,processors.regex,outputs.file,serializers.influx"}
}

// Temporal returns the newest version of Temporal's command line that builds from the module
// proxy. Its server is 1.29.1.
func Temporal() Program {
	return Program{Module: "github.com/temporalio/cli", Version: "v1.5.1", Command: "github.com/temporalio/cli/cmd/temporal"}
}

// WorkflowController returns the controller of Argo Workflows.
func WorkflowController() Program {
	return Program{Module: "github.com/argoproj/argo-workflows/v4", Version: "v4.0.5", Command: "github.com/argoproj/argo-workflows/v4/cmd/workflow-controller"}
}

// Path returns the path of the program. It builds the program once for all runs, and skips the
// test where there is no module.
func (p Program) Path(t testing.TB) string {
	t.Helper()
	name := path.Base(p.Command)
	dir := Dir(t, name+"-", fmt.Append(nil, p), func(dir string) error {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		module := fmt.Sprintf("module built\n\ngo 1.26\n\nrequire %s %s\n", p.Module, p.Version)
		if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(module), 0o600); err != nil {
			return err
		}
		cmd := exec.CommandContext(t.Context(), "go", "build", "-mod=mod", "-ldflags=-s -w", "-tags="+p.Tags, "-o", name, p.Command)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s %s cannot be built: %w: %s", p.Command, p.Version, err, out[max(0, len(out)-300):])
		}
		return nil
	})
	return filepath.Join(dir, name)
}
