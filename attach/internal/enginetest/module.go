// SPDX-License-Identifier: Apache-2.0

//go:build peers

package enginetest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/pnagent/pnagent/internal/cachetest"
)

// Module returns the path of a Go program of testdata, whose folder is a module with its name and one
// file. It is built once for all runs.
func Module(t *testing.T, name string) string {
	t.Helper()
	source := filepath.Join("testdata", name)
	var of []byte
	for _, file := range []string{"go.mod", "go.sum", "main.go"} {
		text, err := os.ReadFile(filepath.Join(source, file))
		if err != nil {
			t.Fatal(err)
		}
		of = append(of, text...)
	}
	return filepath.Join(cachetest.Dir(t, name+"-", of, func(dir string) error {
		cmd := exec.CommandContext(t.Context(), "go", "build", "-ldflags=-s -w", "-o", dir+"/", ".")
		cmd.Dir, cmd.Env = source, append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("building the program %s: %w: %.300s", name, err, out)
		}
		return nil
	}), name)
}
