// SPDX-License-Identifier: Apache-2.0

//go:build release

package release

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestGoInstallsTheLatestTag has git find the repository here, and Go all other modules in its cache.
func TestGoInstallsTheLatestTag(t *testing.T) {
	cache, err := exec.CommandContext(t.Context(), "go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	install := exec.CommandContext(t.Context(), "go", "install", "github.com/pnagent/pnagent/cmd/pnagent@latest")
	install.Dir = bin
	install.Env = append(os.Environ(), "GOBIN="+bin, "GOMODCACHE="+t.TempDir(), "GOFLAGS=-trimpath -modcacherw", "GONOSUMDB=*", "GOPRIVATE=github.com/pnagent",
		"GOPROXY=file://"+filepath.Join(strings.TrimSpace(string(cache)), "cache", "download")+",direct",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=url."+cloned(t, "v0.0.1")+".insteadOf", "GIT_CONFIG_VALUE_0=https://github.com/pnagent/pnagent", "GIT_ALLOW_PROTOCOL=file:https")
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err := exec.CommandContext(t.Context(), filepath.Join(bin, "pnagent"), "--version").CombinedOutput(); err != nil || !strings.HasPrefix(string(out), "pnagent v0.0.1 ") {
		t.Errorf("%s, %v", out, err)
	}
}
