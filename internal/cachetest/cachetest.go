// SPDX-License-Identifier: Apache-2.0

//go:build unix

package cachetest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Dir returns a directory of the user's cache directory, which is named after what it
// is made of. make makes it, once, also for tests of several packages at once; the test is
// skipped if it cannot.
func Dir(t testing.TB, prefix string, of []byte, make func(dir string) error) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skip("no cache directory: ", err)
	}
	sum := sha256.Sum256(of)
	dir := filepath.Join(cache, "pnagent-test", prefix+hex.EncodeToString(sum[:8]))
	made := filepath.Join(dir, "made")
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		t.Skip(err)
	}
	lock, err := os.Create(dir + ".lock")
	if err != nil {
		t.Skip(err)
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(made); err == nil {
		return dir
	}
	if err := make(dir); err != nil {
		t.Skip(err)
	}
	if err := os.WriteFile(made, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Jars returns a directory with the libraries of a pom.xml, or skips the test. settings
// are properties of the pom.xml, as NAME=VALUE.
func Jars(t testing.TB, pom string, settings ...string) string {
	t.Helper()
	text, err := os.ReadFile(pom)
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"-q", "-B", "-f", pom, "dependency:copy-dependencies"}
	for _, s := range settings {
		args = append(args, "-D"+s)
	}
	return Dir(t, "jars-", append(text, strings.Join(settings, " ")...), func(lib string) error {
		if out, err := exec.CommandContext(t.Context(), "mvn", append(args, "-DoutputDirectory="+lib)...).CombinedOutput(); err != nil {
			return fmt.Errorf("fetching libraries with Maven (scripts/deps peers installs it): %w: %.300s", err, out)
		}
		return nil
	})
}

// Pip returns a directory with Python packages, for PYTHONPATH, or skips the test.
func Pip(t testing.TB, python string, packages ...string) string {
	t.Helper()
	return Dir(t, "pip-", []byte(strings.Join(packages, " ")), func(lib string) error {
		args := append([]string{"-m", "pip", "install", "-q", "--target", lib}, packages...)
		if out, err := exec.CommandContext(t.Context(), python, args...).CombinedOutput(); err != nil {
			return fmt.Errorf("pip cannot fetch %v: %w: %.300s", packages, err, out)
		}
		return nil
	})
}
