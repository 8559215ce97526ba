// SPDX-License-Identifier: Apache-2.0

package buildtest_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/internal/buildtest"
)

// write makes a module whose program prints a text.
func write(t *testing.T, dir, text string) {
	t.Helper()
	for name, content := range map[string]string{"go.mod": "module printing\n", "main.go": "package main\n\nfunc main() { print(" + text + ") }\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// A program is of the files as they are, whether it was linked before or not.
func TestAProgramIsOfTheFilesAsTheyAre(t *testing.T) {
	module := t.TempDir()
	for _, text := range []string{"one", "two", "one", "one"} {
		write(t, module, `"`+text+`"`)
		path := filepath.Join(t.TempDir(), "a program")
		if err := buildtest.Build(t.Context(), module, path, "."); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.CommandContext(t.Context(), path).CombinedOutput(); err != nil || string(out) != text {
			t.Errorf("the program prints %q, %v; want %q", out, err, text)
		}
	}
}

func TestWhatTheCompilerRefusesIsShown(t *testing.T) {
	module, path := t.TempDir(), filepath.Join(t.TempDir(), "program")
	write(t, module, "missing")
	err := buildtest.Build(t.Context(), module, path, ".")
	if err == nil || !strings.Contains(err.Error(), "undefined: missing") {
		t.Errorf("%v; want the error of the compiler", err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("a program is there: %v", err)
	}
}
