// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"sync"
	"testing"
)

// proxied is a program that is no package of Debian: a command of a Go module that pnagent
// does not depend on.
type proxied struct {
	module, version string
	command         string // path of its package
	tags            string // what is compiled in; "" for all
}

// snmpExporter builds in 20 seconds of a processor, and needs no cgo: its generator does.
var snmpExporter = sync.OnceValues(proxied{module: "github.com/prometheus/snmp_exporter", version: "v0.29.0",
	command: "github.com/prometheus/snmp_exporter"}.build)

// telegraf builds in 30 seconds of a processor, with the plugins that tests use.
var telegraf = sync.OnceValues(proxied{module: "github.com/influxdata/telegraf", version: "v1.37.2",
	command: "github.com/influxdata/telegraf/cmd/telegraf", tags: "custom,inputs.snmp,inputs.snmp_trap,processors.regex,outputs.file,serializers.influx"}.build)

// build returns the path of the program. It builds the program once for all runs, in the user's
// cache. The error says why there is no program.
func (p proxied) build() (program string, err error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	name := path.Base(p.command)
	program = filepath.Join(cache, "pnagent", name+"-"+p.version, name)
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	if err := os.MkdirAll(filepath.Dir(program), 0o700); err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp(filepath.Dir(program), "building-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	module := fmt.Sprintf("module built\n\ngo 1.26\n\nrequire %s %s\n", p.module, p.version)
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(module), 0o600); err != nil {
		return "", err
	}
	cmd := exec.Command("go", "build", "-mod=mod", "-ldflags=-s -w", "-tags="+p.tags, "-o", name, p.command)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s %s cannot be built: %w: %s", p.command, p.version, err, out[max(0, len(out)-300):])
	}
	return program, os.Rename(filepath.Join(dir, name), program)
}

// needProxied returns the path of such a program, and skips the test where there is no module.
func needProxied(t *testing.T, build func() (string, error)) string {
	t.Helper()
	program, err := build()
	if err != nil {
		t.Skip(err)
	}
	return program
}
