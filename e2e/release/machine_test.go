// SPDX-License-Identifier: Apache-2.0

//go:build release

package release

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// machine is a copy of this one that forgets what is written to it: an overlay of its
// files, with a systemd of its own in namespaces of its own.
type machine struct {
	t    *testing.T
	init int // the process systemd, as this machine numbers it
}

// boot makes the namespaces' file systems in the directory $1, and becomes systemd in them.
const boot = `set -e
mount -t tmpfs tmpfs "$1"
mkdir "$1/upper" "$1/work" "$1/root"
root=$1/root
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" "$root"
mount -t proc proc "$root/proc"
mount -t tmpfs tmpfs "$root/run"
mount -t tmpfs tmpfs "$root/tmp"
mount --rbind /dev "$root/dev"
mount -t sysfs -o ro sysfs "$root/sys"
mount -t tmpfs tmpfs "$root/sys/fs/cgroup"
mkdir "$root/sys/fs/cgroup/unified" "$root/sys/fs/cgroup/systemd"
mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup/unified"
mount -t cgroup -o none,name=systemd systemd "$root/sys/fs/cgroup/systemd"
mkdir "$root/run/packages"
mount --bind "$2" "$root/run/packages"
exec chroot "$root" env -i container=test PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --system --unit=basic.target`

// start starts a machine in which /run/packages is a directory of this one. It ends with the test,
// whose name must have no comma, which separates options of mount.
func start(t *testing.T, packages string) *machine {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("not root: no namespaces with a systemd of their own")
	}
	for _, need := range []string{"/lib/systemd/systemd", "/usr/bin/dpkg", "/usr/bin/unshare", "/usr/bin/nsenter"} {
		if _, err := os.Stat(need); err != nil {
			t.Skipf("no machine of its own: %v", err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "unshare", "--mount", "--pid", "--fork", "--kill-child", "--uts", "--ipc", "--net", "--cgroup",
		"sh", "-c", boot, "boot", t.TempDir(), packages)
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	cmd.Cancel = func() error { return cmd.Process.Kill() }
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGKILL)
		<-ended
	})
	m := &machine{t: t}
	m.until("systemd runs", func() error {
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("the machine ended: %v\n%s", err, said.String())
		default:
		}
		children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", cmd.Process.Pid, cmd.Process.Pid))
		if err != nil {
			return err
		}
		m.init, err = strconv.Atoi(strings.TrimSpace(string(children)))
		if err != nil {
			return err
		}
		state, err := m.try("systemctl", "is-system-running")
		if s := strings.TrimSpace(state); s != "running" && s != "degraded" {
			return fmt.Errorf("%q, %w", s, err)
		}
		return nil
	})
	m.run("ip", "link", "set", "lo", "up")
	return m
}

// try runs a program in the machine, and returns what it printed.
func (m *machine) try(args ...string) (string, error) {
	in := append([]string{"--target", strconv.Itoa(m.init), "--all", "--root", "--wdns=/", "env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin:" + filepath.Dir(natsServer()), "LC_ALL=C.UTF-8"}, args...)
	out, err := exec.CommandContext(m.t.Context(), "nsenter", in...).CombinedOutput()
	return string(out), err
}

// run is try, and fails the test where the program fails.
func (m *machine) run(args ...string) string {
	m.t.Helper()
	out, err := m.try(args...)
	if err != nil {
		journal, _ := m.try("journalctl", "--no-pager", "--lines=40")
		m.t.Fatalf("%s: %v\n%s\n%s", strings.Join(args, " "), err, out, journal)
	}
	return out
}

// until waits until check returns nil.
func (m *machine) until(what string, check func() error) {
	m.t.Helper()
	end := time.Now().Add(2 * time.Minute)
	err := check()
	for ; err != nil && time.Now().Before(end); err = check() {
		time.Sleep(200 * time.Millisecond)
	}
	if err != nil {
		m.t.Fatalf("not within two minutes: %s: %v", what, err)
	}
}

// natsServer is the message server among this machine's programs.
func natsServer() string {
	path, err := exec.LookPath("nats-server")
	if err != nil {
		return "/usr/sbin/nats-server"
	}
	return path
}
