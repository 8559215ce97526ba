// SPDX-License-Identifier: Apache-2.0

package snmptest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/pnagent/pnagent/internal/pausetest"
)

const (
	startTimeout = time.Minute
	stopTimeout  = 5 * time.Second
	pollEvery    = 20 * time.Millisecond
)

// Config says what is special about a snmpd.
type Config struct {
	// TCP has subagents connect over TCP; without it, over a unix socket.
	TCP bool
	// Lines are put at the end of snmpd.conf, such as "trap2sink 127.0.0.1:1162".
	Lines []string
	// Stopped leaves it to the test to call Start.
	Stopped bool
}

// Snmpd is a net-snmp master agent that belongs to one test.
type Snmpd struct {
	Client        // asks it, with community "public"
	AgentX string // where subagents connect: unix:/path or tcp:127.0.0.1:port

	path string
	dir  string

	mu   sync.Mutex
	cmd  *exec.Cmd
	done chan struct{} // closed when cmd has ended
	log  logBuffer
}

// Start runs snmpd and waits until it answers. It skips the test where snmpd
// or the tools are not installed; the daemon ends with the test.
func Start(tb testing.TB, config Config) *Snmpd {
	tb.Helper()
	RequireTools(tb)
	path := findDaemon(tb, "snmpd")
	dir := shortTempDir(tb)
	s := &Snmpd{path: path, dir: dir}
	s.Addr = freeAddr(tb, "udp")
	s.AgentX = "unix:" + filepath.Join(dir, "agentx")
	if config.TCP {
		s.AgentX = "tcp:" + freeAddr(tb, "tcp")
	}
	conf := append([]string{
		"agentAddress udp:" + s.Addr,
		"rocommunity public 127.0.0.1",
		"rwcommunity private 127.0.0.1",
		"master agentx",
		"agentXSocket " + s.AgentX,
		"agentXTimeout 1",
		"agentXRetries 1",
		"dontLogTCPWrappersConnects yes", // else it logs every request
	}, config.Lines...)
	if err := os.WriteFile(s.confPath(), []byte(strings.Join(conf, "\n")+"\n"), 0o600); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		s.Kill()
		if tb.Failed() {
			tb.Logf("snmpd said:\n%s", s.log.String())
		}
	})
	if !config.Stopped {
		s.Start(tb)
	}
	return s
}

// Start runs the daemon, again where it was stopped, and waits until it answers.
func (s *Snmpd) Start(tb testing.TB) {
	tb.Helper()
	if err := s.start(); err != nil {
		tb.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	for {
		if s.ended() {
			tb.Fatalf("snmpd ended:\n%s", s.log.String())
		}
		// A request that comes before the daemon listens is lost, so that a
		// short time-out finds out sooner.
		_, err := s.upTime(ctx, "-t", "0.1", "-r", "0")
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			tb.Fatalf("snmpd does not answer: %v\n%s", err, s.log.String())
		case <-time.After(pollEvery):
		}
	}
}

// Stop ends the daemon as an operator does, with TERM.
func (s *Snmpd) Stop() { s.end(syscall.SIGTERM) }

// Kill ends the daemon at once.
func (s *Snmpd) Kill() { s.end(syscall.SIGKILL) }

// Pause stops the daemon as if it hung, until Resume.
func (s *Snmpd) Pause(tb testing.TB) {
	tb.Helper()
	pausetest.Stop(tb, s.running(tb))
}

// Resume resumes a paused daemon.
func (s *Snmpd) Resume(tb testing.TB) {
	tb.Helper()
	pausetest.Resume(tb, s.running(tb))
}

// running returns the daemon's process, and fails the test without one.
func (s *Snmpd) running(tb testing.TB) *os.Process {
	tb.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cmd == nil {
		tb.Fatal("snmpd does not run")
	}
	return s.cmd.Process
}

// Pid returns the daemon's process id, or 0 while it does not run.
func (s *Snmpd) Pid() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cmd == nil {
		return 0
	}
	return s.cmd.Process.Pid
}

func (s *Snmpd) confPath() string { return filepath.Join(s.dir, "snmpd.conf") }

func (s *Snmpd) start() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cmd != nil {
		return fmt.Errorf("snmpd already runs as %d", s.cmd.Process.Pid)
	}
	cmd := exec.CommandContext(context.Background(), s.path, "-f", "-Lo", "-C", "-c", s.confPath())
	cmd.Env = append(os.Environ(), "MIBS=", "SNMP_PERSISTENT_DIR="+filepath.Join(s.dir, "persistent"))
	cmd.Stdout, cmd.Stderr = &s.log, &s.log
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start snmpd: %w", err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = cmd.Wait() // how it ended is in the log; that it ended is all that counts
	}()
	s.cmd, s.done = cmd, done
	return nil
}

func (s *Snmpd) ended() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cmd == nil {
		return true
	}
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

// end sends signal and waits; what does not end by itself is killed.
func (s *Snmpd) end(signal os.Signal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cmd == nil {
		return
	}
	_ = s.cmd.Process.Signal(signal) // fails only where it has ended
	select {
	case <-s.done:
	case <-time.After(stopTimeout):
		_ = s.cmd.Process.Kill()
		<-s.done
	}
	s.cmd = nil
}

// findDaemon looks in PATH and in /usr/sbin, which is not in everybody's PATH.
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

// freeAddr returns a free address of 127.0.0.1. Its port is outside the range of
// ephemeral ports, so that no other process gets it before the daemon starts or while
// the daemon is restarted.
func freeAddr(tb testing.TB, network string) string {
	tb.Helper()
	var config net.ListenConfig
	for {
		addr := fmt.Sprintf("127.0.0.1:%d", 10_000+rand.IntN(20_000))
		var taken io.Closer
		var err error
		if network == "udp" {
			taken, err = config.ListenPacket(tb.Context(), "udp", addr)
		} else {
			taken, err = config.Listen(tb.Context(), "tcp", addr)
		}
		switch {
		case err == nil:
			_ = taken.Close() // nothing was sent
			return addr
		case !errors.Is(err, syscall.EADDRINUSE):
			tb.Fatal(err)
		}
	}
}

// maxLog is how much of the daemon's log is kept, from its beginning.
const maxLog = 1 << 20

// logBuffer is a bounded bytes.Buffer for two goroutines.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.buf.Write(p[:min(len(p), maxLog-l.buf.Len())])
	return len(p), nil
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}
