// SPDX-License-Identifier: Apache-2.0

//go:build peers

package enginetest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
)

// Cached returns a directory of the user's cache directory, which is named after what it
// is made of. make makes it, once; the test is skipped if it cannot.
func Cached(t *testing.T, prefix string, of []byte, make func(dir string) error) string {
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
	return filepath.Join(Cached(t, "python-", []byte(key), func(dir string) error {
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
