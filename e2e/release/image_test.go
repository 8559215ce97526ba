// SPDX-License-Identifier: Apache-2.0

//go:build release

package release

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// descriptor names a blob of a layout, as the image specification of OCI has it.
type descriptor struct{ Digest string }

type manifest struct {
	Manifests []descriptor
	Config    descriptor
	Layers    []descriptor
}

type config struct {
	Architecture string
	Config       struct {
		User, WorkingDir     string
		Entrypoint, Cmd, Env []string
		Volumes              map[string]struct{}
		Labels               map[string]string
	}
}

// layout is an image as make image writes it.
type layout struct {
	t   *testing.T
	dir string
}

// imageOf writes the image of a tag of this tree, for this platform.
func imageOf(t *testing.T, tag string) layout {
	t.Helper()
	dir := cloned(t, tag)
	if out, err := exec.CommandContext(t.Context(), "make", "-C", dir, "image", "ARCH="+runtime.GOARCH).CombinedOutput(); err != nil {
		t.Fatalf("make image: %v\n%s", err, out)
	}
	return layout{t, filepath.Join(dir, "build", "image")}
}

func (l layout) read(path string, into any) {
	l.t.Helper()
	if err := json.Unmarshal([]byte(read(l.t, filepath.Join(l.dir, path))), into); err != nil {
		l.t.Fatalf("%s: %v", path, err)
	}
}

func blob(d descriptor) string { return filepath.Join("blobs", strings.ReplaceAll(d.Digest, ":", "/")) }

func TestTheImageRunsWithAReadOnlyRoot(t *testing.T) {
	var first, second manifest
	image := imageOf(t, "v0.0.1")
	image.read("index.json", &first)
	imageOf(t, "v0.0.1").read("index.json", &second)
	if first.Manifests[0] != second.Manifests[0] {
		t.Errorf("two images of one tag have the digests %s and %s", first.Manifests[0].Digest, second.Manifests[0].Digest)
	}

	var platforms, one manifest
	var is config
	image.read(blob(first.Manifests[0]), &platforms)
	image.read(blob(platforms.Manifests[0]), &one)
	image.read(blob(one.Config), &is)
	if v := is.Config.Labels["org.opencontainers.image.version"]; v != "v0.0.1" || is.Architecture != runtime.GOARCH {
		t.Errorf("the image is of version %q for %s", v, is.Architecture)
	}

	shared := t.TempDir()
	root := filepath.Join(shared, "root")
	if err := os.Mkdir(root, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, l := range one.Layers {
		if out, err := exec.CommandContext(t.Context(), "tar", "-xpzf", filepath.Join(image.dir, blob(l)), "-C", root).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	if _, err := os.Stat(filepath.Join(root, "bin")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the image has more than the programs and their files: %v", err)
	}
	for _, file := range []string{"etc/ssl/certs/ca-certificates.crt", "usr/share/zoneinfo/Europe/Berlin", "usr/bin/pnagent-full"} {
		if is, err := os.Stat(filepath.Join(root, file)); err != nil || is.Size() == 0 {
			t.Errorf("%s: %v", file, err)
		}
	}

	// What a runtime of containers does for the image, where nothing may be written but its volumes.
	m := start(t, shared)
	m.run("systemd-run", "--unit=nats", "nats-server", "--addr=127.0.0.1")
	user, _, _ := strings.Cut(is.Config.User, ":")
	m.run("useradd", "--uid="+user, "--user-group", "image") // systemd wants a name for the number
	run := []string{"systemd-run", "--unit=image", "--property=RootDirectory=/run/packages/root", "--property=ReadOnlyPaths=+/", "--property=WorkingDirectory=" + is.Config.WorkingDir,
		"--property=User=" + user, "--property=NoNewPrivileges=yes", "--property=CapabilityBoundingSet=", "--setenv=PNAGENT_NATS_URL=nats://127.0.0.1:4222"}
	for volume := range is.Config.Volumes {
		run = append(run, "--property=ReadWritePaths=+"+volume)
	}
	for _, variable := range is.Config.Env {
		run = append(run, "--setenv="+variable)
	}
	m.run(append(append(run, is.Config.Entrypoint...), is.Config.Cmd...)...)
	m.until("the sidecar is ready", func() error {
		state, err := m.try("curl", "-sf", "http://127.0.0.1:9797/-/ready")
		if err != nil {
			log, _ := m.try("journalctl", "--no-pager", "--unit=image", "--lines=20")
			return fmt.Errorf("%w: %s\n%s", err, state, log)
		}
		return nil
	})
	if page := m.run("curl", "-sf", "http://127.0.0.1:9797/metrics"); !strings.Contains(page, `version="v0.0.1"`) {
		t.Errorf("no version in /metrics:\n%s", page)
	}
	m.run("test", "-d", "/run/packages/root/var/lib/pnagent/counters")
	pid := strings.TrimSpace(m.run("systemctl", "show", "--property=MainPID", "--value", "image"))
	if options := m.run("awk", `$5 == "/" {print $6}`, "/proc/"+pid+"/mountinfo"); !strings.HasPrefix(options, "ro,") {
		t.Errorf("its root is mounted with %q; expected that it is read-only", options)
	}
}
