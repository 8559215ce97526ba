// SPDX-License-Identifier: Apache-2.0

//go:build peers

package npmtest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/pnagent/pnagent/internal/atomicfile"
)

// settings are npm's: nothing of a package is run, and no registry is named in a lock.
const settings = `audit=false
fund=false
ignore-scripts=true
legacy-peer-deps=true
omit-lockfile-registry-resolved=true
update-notifier=false
`

// away are the errors of npm without a registry.
var away = regexp.MustCompile(`E(NOTFOUND|AI_AGAIN|CONNREFUSED|CONNRESET|TIMEDOUT|NETUNREACH|HOSTUNREACH)\b`)

// Install returns a directory with the packages that package.json and
// package-lock.json of a directory ask for, below node_modules. It is kept for the
// next time, until other versions are asked for. Without npm, or a registry that it
// reaches, the test is skipped.
func Install(t testing.TB, from string) string {
	t.Helper()
	npm, err := exec.LookPath("npm")
	if err != nil {
		t.Skip("npm is not installed (Debian package npm)")
	}
	inputs := map[string][]byte{".npmrc": []byte(settings)}
	sum := sha256.New()
	for _, name := range []string{"package.json", "package-lock.json"} {
		text, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(text, []byte(`"resolved"`)) {
			t.Errorf("%s/%s names the registry that it was made with", from, name)
		}
		inputs[name] = text
		sum.Write(text)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = t.TempDir()
	}
	cache = filepath.Join(cache, "pnagent")
	root := filepath.Join(cache, fmt.Sprintf("npm-%x", sum.Sum(nil)[:8]))
	if _, err := os.Stat(root); err != nil {
		install(t, npm, cache, root, inputs)
	}
	return root
}

// install has npm install what the inputs ask for at root, all or nothing.
func install(t testing.TB, npm, cache, root string, inputs map[string][]byte) {
	t.Helper()
	if err := os.MkdirAll(cache, 0o700); err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp(cache, "installing-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for name, text := range inputs {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, npm, "ci")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		if lost := away.Find(out); lost != nil {
			t.Skipf("npm does not reach its registry (%s)", lost)
		}
		t.Fatalf("npm ci: %v\n%s", err, bytes.TrimSpace(out))
	}
	if err := atomicfile.Rename(dir, root); err != nil {
		if _, there := os.Stat(root); there != nil { // another test was as fast
			t.Fatal(err)
		}
	}
}
