// SPDX-License-Identifier: Apache-2.0

package snmptest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/pnagent/pnagent/internal/logtest"
	"github.com/pnagent/pnagent/internal/pausetest"
)

const (
	startTimeout = time.Minute
	stopTimeout  = time.Minute
	pollEvery    = 20 * time.Millisecond
)

// daemon is a daemon of net-snmp that belongs to one test.
type daemon struct {
	name string
	path string
	dir  string // for its files
	args []string

	stdout, stderr logtest.Buffer

	mu   sync.Mutex
	cmd  *exec.Cmd     // nil while it does not run
	done chan struct{} // closed when cmd has ended
}

// newDaemon prepares a daemon, which ends with the test. It skips the test if the
// daemon or the tools are not installed.
func newDaemon(tb testing.TB, name string) *daemon {
	tb.Helper()
	RequireTools(tb)
	d := &daemon{name: name, path: findDaemon(tb, name), dir: shortTempDir(tb)}
	tb.Cleanup(func() {
		d.Kill()
		if tb.Failed() {
			tb.Logf("%s said:\n%s", name, d.log())
		}
	})
	return d
}

// configure writes the configuration, and sets the arguments beyond those of every daemon.
func (d *daemon) configure(tb testing.TB, lines []string, args ...string) {
	tb.Helper()
	conf := filepath.Join(d.dir, d.name+".conf")
	if err := os.WriteFile(conf, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		tb.Fatal(err)
	}
	d.args = append([]string{"-f", "-Lo", "-C", "-c", conf}, args...)
}

func (d *daemon) log() string { return d.stdout.String() + d.stderr.String() }

// until polls until done returns nil. It fails the test if the daemon ends.
func (d *daemon) until(tb testing.TB, done func(context.Context) error) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	for {
		err := done(ctx)
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			tb.Fatalf("%s: %v", d.name, err)
		case <-d.done:
			tb.Fatalf("%s ended; %v", d.name, err)
		case <-time.After(pollEvery):
		}
	}
}

// start runs the daemon and waits until ask, which sends it a request, succeeds.
func (d *daemon) start(tb testing.TB, ask func(context.Context) error) {
	tb.Helper()
	d.run(tb)
	d.until(tb, ask)
}

func (d *daemon) run(tb testing.TB) {
	tb.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.cmd != nil {
		tb.Fatalf("%s already runs as %d", d.name, d.cmd.Process.Pid)
	}
	cmd := exec.CommandContext(context.Background(), d.path, d.args...)
	cmd.Env = append(os.Environ(), "MIBS=", "SNMP_PERSISTENT_DIR="+filepath.Join(d.dir, "persistent"))
	cmd.Stdout, cmd.Stderr = &d.stdout, &d.stderr
	if err := cmd.Start(); err != nil {
		tb.Fatalf("start %s: %v", d.name, err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = cmd.Wait() // how it ended is in the log; that it ended is all that counts
	}()
	d.cmd, d.done = cmd, done
}

// Stop ends the daemon as an operator does, with TERM.
func (d *daemon) Stop() { d.end(syscall.SIGTERM) }

// Kill ends the daemon at once.
func (d *daemon) Kill() { d.end(syscall.SIGKILL) }

// Pause stops the daemon as if it hung, until Resume.
func (d *daemon) Pause(tb testing.TB) {
	tb.Helper()
	pausetest.Stop(tb, d.running(tb))
}

// Resume resumes a paused daemon.
func (d *daemon) Resume(tb testing.TB) {
	tb.Helper()
	pausetest.Resume(tb, d.running(tb))
}

// running returns the daemon's process, and fails the test without one.
func (d *daemon) running(tb testing.TB) *os.Process {
	tb.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.cmd == nil {
		tb.Fatalf("%s does not run", d.name)
	}
	return d.cmd.Process
}

// end sends signal and waits; what does not end by itself is killed.
func (d *daemon) end(signal os.Signal) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.cmd == nil {
		return
	}
	_ = d.cmd.Process.Signal(signal) // fails only where it has ended
	select {
	case <-d.done:
	case <-time.After(stopTimeout):
		_ = d.cmd.Process.Kill()
		<-d.done
	}
	d.cmd = nil
}

// findDaemon looks in PATH and in /usr/sbin, which is not in the PATH of each user.
// It skips the test where the daemon, a Debian package of its own, is not
// installed.
func findDaemon(tb testing.TB, name string) string {
	tb.Helper()
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	debian := "/usr/sbin/" + name
	if _, err := os.Stat(debian); err != nil {
		tb.Skipf("%s is not installed (Debian package %s)", name, name)
	}
	return debian
}

// shortTempDir is a temporary directory whose path leaves room for the name of
// a socket: a unix socket's path has at most 107 bytes, and the test's name is
// part of TempDir.
func shortTempDir(tb testing.TB) string {
	tb.Helper()
	if dir := tb.TempDir(); len(dir) < 90 {
		return dir
	}
	dir, err := os.MkdirTemp("", "snmptest")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}
