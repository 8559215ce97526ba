// SPDX-License-Identifier: Apache-2.0

//go:build release

package release

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// cloned returns a clone of this tree that has a tag.
func cloned(t *testing.T, tag string) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir := filepath.Join(t.TempDir(), "pnagent")
	for _, args := range [][]string{
		{"clone", "--quiet", filepath.Join("..", ".."), dir},
		{"-C", dir, "-c", "user.name=test", "-c", "user.email=test@localhost", "-c", "tag.gpgsign=false", "tag", tag},
	} {
		if out, err := exec.CommandContext(t.Context(), "git", args...).CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	return dir
}

// release writes the release of a tag of this tree, for this platform, and returns the directory.
func release(t *testing.T, tag string) string {
	t.Helper()
	dir := cloned(t, tag)
	all := read(t, filepath.Join(dir, ".goreleaser.yaml"))
	here := strings.NewReplacer("goos: [linux, darwin, windows]", "goos: ["+runtime.GOOS+"]", "goarch: [amd64, arm64]", "goarch: ["+runtime.GOARCH+"]").Replace(all)
	if here == all {
		t.Fatal(".goreleaser.yaml does not list its platforms as this test expects")
	}
	config := filepath.Join(t.TempDir(), "release.yaml")
	if err := os.WriteFile(config, []byte(here), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "make", "-C", dir, "release", "RELEASE=--config "+config).CombinedOutput(); err != nil {
		t.Fatalf("make release: %v\n%s", err, out)
	}
	return filepath.Join(dir, "dist")
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestARelease(t *testing.T) {
	first, again, next := release(t, "v0.0.1"), release(t, "v0.0.1"), release(t, "v0.0.2")
	t.Run("is the same in two builds", func(t *testing.T) { checkEqual(t, first, again) })
	shared := t.TempDir()
	for name, from := range map[string]string{"0.0.1": first, "0.0.2": next} {
		for _, kind := range []string{"deb", "rpm"} {
			share(t, from, "*."+kind, filepath.Join(shared, name+"."+kind))
		}
	}
	share(t, filepath.Join("..", "..", "examples"), net, filepath.Join(shared, net))
	t.Run("installs and updates on Debian", func(t *testing.T) { checkDebian(t, start(t, shared)) })
	t.Run("installs and updates by rpm", func(t *testing.T) { checkRPM(t, start(t, shared)) })
	t.Run("is installed by the role of Ansible", func(t *testing.T) { checkRole(t, shared) })
}

// share copies the only file of a pattern in a directory.
func share(t *testing.T, from, pattern, to string) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(from, pattern))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s in %s: %q, %v", pattern, from, found, err)
	}
	if err := os.WriteFile(to, []byte(read(t, found[0])), 0o644); err != nil {
		t.Fatal(err)
	}
}

func checkEqual(t *testing.T, first, again string) {
	one, other := read(t, filepath.Join(first, "checksums.txt")), read(t, filepath.Join(again, "checksums.txt"))
	if one != other {
		t.Errorf("checksums of the first build:\n%s\nof the second:\n%s", one, other)
	}
	for _, kind := range []string{".deb", ".rpm", ".tar.gz", "pnagent-full_linux_" + runtime.GOARCH + ".cdx.json"} {
		if !strings.Contains(one, kind+"\n") {
			t.Errorf("no %s among the files of the release:\n%s", kind, one)
		}
	}
}

// net is what the engine of this test runs.
const net = "backup-window.pnml"

func checkDebian(t *testing.T, m *machine) {
	m.run("apt-get", "install", "--yes", "-qq", "/run/packages/0.0.1.deb")
	m.checkInstalled()
	m.run("pnagent", "check-config", "/etc/pnagent/serve.yaml")
	m.run("test", "-s", "/usr/share/man/man1/pnagent-attach-sql.1")
	m.run("bash", "-c", "source /usr/share/bash-completion/completions/pnagent && declare -F _pnagent")
	m.run("pnagent", "demo", "--for", "3s") // which the second program runs

	m.checkUpdate("apt-get", "install", "--yes", "-qq", "/run/packages/0.0.2.deb")

	m.run("apt-get", "remove", "--yes", "-qq", "pnagent")
	m.checkGone()
	m.run("apt-get", "purge", "--yes", "-qq", "pnagent")
	m.run("test", "!", "-e", "/var/lib/pnagent")
	m.run("test", "!", "-e", "/etc/pnagent")
}

// checkRPM installs the package without what it depends on, of which rpm on Debian knows nothing.
func checkRPM(t *testing.T, m *machine) {
	if _, err := exec.LookPath("rpm"); err != nil {
		t.Skip("rpm is not installed")
	}
	m.run("rpm", "--install", "--force-debian", "--nodeps", "/run/packages/0.0.1.rpm")
	m.checkInstalled()
	m.checkUpdate("rpm", "--upgrade", "--force-debian", "--nodeps", "/run/packages/0.0.2.rpm")
	m.run("rpm", "--erase", "--force-debian", "pnagent")
	m.checkGone()
}

// checkInstalled checks what the package of v0.0.1 has installed, of which nothing runs.
func (m *machine) checkInstalled() {
	m.t.Helper()
	if state, _ := m.try("systemctl", "is-active", "pnagent.service"); state != "inactive\n" {
		m.t.Errorf("after the installation the sidecar is %q; expected that nothing is started unasked", state)
	}
	if v := m.run("pnagent", "--version"); !strings.HasPrefix(v, "pnagent v0.0.1 (revision ") || strings.Contains(v, "unknown") {
		m.t.Errorf("version %q", v)
	}
	if is := m.run("stat", "--format=%U:%G %a", "/etc/pnagent/serve.yaml", "/var/lib/pnagent"); is != "root:pnagent 640\npnagent:pnagent 750\n" {
		m.t.Errorf("configuration and state: %q", is)
	}
}

// checkUpdate runs a sidecar and an engine, updates to v0.0.2 by a command, and checks that state and configuration stay.
func (m *machine) checkUpdate(command ...string) {
	m.t.Helper()
	m.run("systemd-run", "--unit=nats", "nats-server", "--addr=127.0.0.1")
	m.run("systemctl", "enable", "--now", "pnagent.service")
	m.run("systemd-run", "--unit=engine", "--property=Nice=15", "pnagent", "engine", "--nats=nats://127.0.0.1:4222", "--instances=20", "/run/packages/"+net)
	before := m.fired()
	lock := m.run("cat", "/var/lib/pnagent/oids.lock")
	if who := m.run("stat", "--format=%U", "/var/lib/pnagent/oids.lock"); who != "pnagent\n" {
		m.t.Errorf("the lock is of %q", who)
	}
	m.run("sh", "-c", "echo 'log.level: debug' >>/etc/pnagent/serve.yaml")
	m.run(command...)
	m.until("the new version runs", func() error {
		if page, err := m.try("curl", "-sf", "http://127.0.0.1:9797/metrics"); err != nil || !strings.Contains(page, `version="v0.0.2"`) {
			return fmt.Errorf("no v0.0.2 in /metrics: %w", err)
		}
		return nil
	})
	if after := m.fired(); after < before {
		m.t.Errorf("%v firings after the update, %v before", after, before)
	}
	if is := m.run("cat", "/var/lib/pnagent/oids.lock"); is != lock {
		m.t.Errorf("the lock was\n%s\nand after the update it is\n%s", lock, is)
	}
	m.run("grep", "-q", "^log.level: debug$", "/etc/pnagent/serve.yaml")
}

// checkGone checks that without the package nothing runs, and the state is there.
func (m *machine) checkGone() {
	m.t.Helper()
	if state, _ := m.try("systemctl", "is-active", "pnagent.service"); state == "active\n" {
		m.t.Error("the sidecar runs without its package")
	}
	m.run("test", "-s", "/var/lib/pnagent/oids.lock")
}

// fired waits until the sidecar shows firings of the net, and returns how many.
func (m *machine) fired() (n float64) {
	m.t.Helper()
	line := regexp.MustCompile(`(?m)^petrinet_transition_firings_total\{.*\} ([0-9.e+]+)$`)
	m.until("the sidecar shows firings", func() error {
		page, err := m.try("curl", "-sf", "http://127.0.0.1:9797/metrics")
		if err != nil {
			return err
		}
		n = 0
		for _, found := range line.FindAllStringSubmatch(page, -1) {
			var of float64
			if _, err := fmt.Sscan(found[1], &of); err != nil {
				return err
			}
			n += of
		}
		if n == 0 {
			return errors.New("no firings")
		}
		return nil
	})
	return n
}
