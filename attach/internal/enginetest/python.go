// SPDX-License-Identifier: Apache-2.0

//go:build peers

package enginetest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/pnagent/pnagent/internal/cachetest"
)

// Python returns the Python of an environment with the packages of a file, or skips
// the test. Environments are kept in the user's cache directory; tests of several
// packages may ask for one at once.
func Python(t *testing.T, file string) string {
	t.Helper()
	base := Program(t, "python3")
	list, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const uv = "uv==0.9.9" // pip takes some minutes
	// Without the compiled files, an engine compiles all its modules each time that it starts.
	install := []string{"-m", "uv", "pip", "install", "-q", "--compile-bytecode", "--no-deps"}
	key := fmt.Sprint(base, uv, install, string(list))
	return filepath.Join(cachetest.Dir(t, "python-", []byte(key), func(dir string) error {
		python := filepath.Join(dir, "bin", "python")
		for _, args := range [][]string{
			{base, "-m", "venv", "--clear", dir},
			{python, "-m", "pip", "install", "-q", uv},
			slices.Concat([]string{python}, install, []string{"--python", python, "-r", file}),
		} {
			if out, err := exec.CommandContext(t.Context(), args[0], args[1:]...).CombinedOutput(); err != nil {
				return fmt.Errorf("%v: %w: %.500s", args, err, out)
			}
		}
		return nil
	}), "bin", "python")
}
