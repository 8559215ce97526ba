// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"testing"

	"github.com/pnagent/pnagent/internal/atomicfile"
)

// Proxied is a program that is no package of Debian: a command of a Go module that pnagent
// does not depend on.
type Proxied struct {
	Module, Version string
	Command         string // path of its package
	Tags            string // what is compiled in; "" for all
}

// Build returns the path of the program. It builds the program once for all runs, in the user's
// cache. The error says why there is no program.
func (p Proxied) Build() (program string, err error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	name := path.Base(p.Command)
	program = filepath.Join(cache, "pnagent", name+"-"+p.Version, name)
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
	module := fmt.Sprintf("module built\n\ngo 1.26\n\nrequire %s %s\n", p.Module, p.Version)
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(module), 0o600); err != nil {
		return "", err
	}
	cmd := exec.Command("go", "build", "-mod=mod", "-ldflags=-s -w", "-tags="+p.Tags, "-o", name, p.Command)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s %s cannot be built: %w: %s", p.Command, p.Version, err, out[max(0, len(out)-300):])
	}
	return program, atomicfile.Rename(filepath.Join(dir, name), program)
}

// NeedProxied returns the path of such a program, and skips the test where there is no module.
func NeedProxied(t *testing.T, build func() (string, error)) string {
	t.Helper()
	program, err := build()
	if err != nil {
		t.Skip(err)
	}
	return program
}
