// SPDX-License-Identifier: Apache-2.0

//go:build peers

package model_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/internal/cachetest"
)

// check has TLC check a model, Name.tla, and returns what is violated, "" for nothing, and what
// TLC prints. files are the model, its configuration, and what it extends.
func check(t *testing.T, name string, files map[string][]byte) (violated, printed string) {
	t.Helper()
	java, err := exec.LookPath("java")
	if err != nil {
		t.Skip("java is not installed; scripts/deps peers installs it")
	}
	jars := cachetest.Jars(t, "pom.xml")
	dir := t.TempDir()
	for file, text := range files {
		if err := os.WriteFile(filepath.Join(dir, file), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), java, "-XX:+UseParallelGC", "-Xmx2g", "-Djava.io.tmpdir="+dir, "-cp", filepath.Join(jars, "*"),
		"tlc2.TLC", "-workers", "2", "-nowarning", "-deadlock", "-metadir", filepath.Join(dir, "states"), "-config", name+".cfg", name+".tla")
	cmd.Dir = dir
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err = cmd.Run()
	for _, line := range strings.Split(out.String(), "\n") {
		if found := violation.FindStringSubmatch(line); found != nil {
			return found[1] + found[2], out.String()
		}
	}
	if err != nil || !strings.Contains(out.String(), "No error has been found") {
		t.Fatalf("TLC: %v\n%s", err, out.String())
	}
	t.Log(states.FindString(out.String()))
	return "", out.String()
}

var (
	violation = regexp.MustCompile(`Error: Invariant (\w+) is violated|Error: Temporal (properties) were violated`)
	states    = regexp.MustCompile(`\d+ states generated, \d+ distinct states found`)
)

// read returns files of this folder.
func read(t *testing.T, names ...string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = text
	}
	return files
}
