// SPDX-License-Identifier: Apache-2.0

package enginetest

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
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
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skip("no cache directory: ", err)
	}
	sum := sha256.Sum256(list)
	dir := filepath.Join(cache, "pnagent-test", "python-"+hex.EncodeToString(sum[:8]))
	python, made := filepath.Join(dir, "bin", "python"), filepath.Join(dir, "made")
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
		return python
	}
	const uv = "uv==0.9.9" // pip takes some minutes
	for _, args := range [][]string{
		{base, "-m", "venv", "--clear", dir},
		{python, "-m", "pip", "install", "-q", uv},
		{python, "-m", "uv", "pip", "install", "-q", "--python", python, "--no-deps", "-r", file},
	} {
		if out, err := exec.CommandContext(t.Context(), args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Skipf("%v: %v: %.500s", args, err, out)
		}
	}
	if err := os.WriteFile(made, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return python
}
