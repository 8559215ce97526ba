// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pnagent/pnagent/internal/logtest"
	"github.com/pnagent/pnagent/internal/pausetest"
)

const (
	// patience is how long a condition may take to become true. It is far
	// beyond what it takes, and is waited for only where a test fails.
	patience = 3 * time.Minute
	// pollEvery is how often a condition is looked at.
	pollEvery = 20 * time.Millisecond
)

// until waits until check returns nil, and fails the test with its last error
// where patience ends.
func until(t *testing.T, what string, check func() error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		err := check()
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("waiting until %s: %v", what, err)
		case <-time.After(pollEvery):
		}
	}
}

// process is a program that runs. It ends with the test.
type process struct {
	name     string
	cmd      *exec.Cmd
	out, err logtest.Buffer // what it has said so far
	done     chan struct{}  // closed when it has ended
}

// start runs a program.
func start(t *testing.T, path string, args ...string) *process {
	t.Helper()
	return startWith(t, nil, path, args...)
}

// startWith runs a program that has files open beyond the three, from 3 on.
func startWith(t *testing.T, files []*os.File, path string, args ...string) *process {
	t.Helper()
	cmd := exec.Command(path, args...)
	cmd.Dir, cmd.ExtraFiles = t.TempDir(), files
	return startCommand(t, cmd)
}

// startCommand runs a command, whose output and environment it sets.
func startCommand(t *testing.T, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{name: filepath.Base(cmd.Path), cmd: cmd, done: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.err
	p.cmd.Env = cleanEnv()
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.done)
		_ = p.cmd.Wait() // how it ended is in ProcessState
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill() // fails only where it has ended
		<-p.done
		if crashed(p.err.String()) {
			t.Errorf("%s crashed", p.name)
		}
		if t.Failed() {
			t.Logf("%s\nstdout:\n%.4000s\nstderr:\n%.8000s", strings.Join(cmd.Args, " "), p.out.String(), p.err.String())
		}
	})
	return p
}

// cleanEnv is the environment without what would change what pnagent does. The
// race detector is not to wait a second at each exit.
func cleanEnv() []string {
	env := []string{"GORACE=atexit_sleep_ms=0"}
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "PNAGENT_") && !strings.HasPrefix(v, "NOTIFY_SOCKET=") && !strings.HasPrefix(v, "GORACE=") {
			env = append(env, v)
		}
	}
	return env
}

func (p *process) signal(t *testing.T, s os.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		t.Fatalf("%s: %v", p.name, err)
	}
}

// pause stops the program as if it hung, until resume.
func (p *process) pause(t *testing.T) {
	t.Helper()
	pausetest.Stop(t, p.cmd.Process)
}

func (p *process) resume(t *testing.T) {
	t.Helper()
	pausetest.Resume(t, p.cmd.Process)
}

// wait waits until the program has ended by itself and returns its exit code.
func (p *process) wait(t *testing.T) int {
	t.Helper()
	select {
	case <-p.done:
	case <-time.After(patience):
		t.Fatalf("%s has not ended within %s", p.name, patience)
	}
	return p.cmd.ProcessState.ExitCode()
}

// stop ends the program as an operator does, and expects it to end cleanly.
func (p *process) stop(t *testing.T, s os.Signal) {
	t.Helper()
	p.signal(t, s)
	if code := p.wait(t); code != 0 {
		t.Errorf("%s after %s: got exit code %d; want 0", p.name, s, code)
	}
}

// kill ends the program without a last word.
func (p *process) kill(t *testing.T) {
	t.Helper()
	p.signal(t, syscall.SIGKILL)
	p.wait(t)
}

// says waits until the program's stderr matches and returns the groups.
func (p *process) says(t *testing.T, pattern string) []string {
	t.Helper()
	re := regexp.MustCompile(pattern)
	var groups []string
	until(t, p.name+" says "+pattern, func() error {
		if groups = re.FindStringSubmatch(p.err.String()); groups == nil {
			select {
			case <-p.done:
				t.Fatalf("%s ended", p.name)
			default:
			}
			return errors.New("not said yet")
		}
		return nil
	})
	return groups
}

// result is how a command that ends by itself ended.
type result struct {
	out, err string
	code     int
	cpu      time.Duration // of the process, however busy the machine is
}

// pnagent runs a command to its end.
func pnagent(t *testing.T, args ...string) result {
	t.Helper()
	return pnagentWith(t, "", args...)
}

// pnagentWith runs a command with something on standard input.
func pnagentWith(t *testing.T, in string, args ...string) result {
	t.Helper()
	path := built.pnagent
	if len(args) > 0 && slices.Contains([]string{"check", "draw", "mib", "play"}, args[0]) {
		path = built.calm
	}
	return runIn(t, in, cleanEnv(), path, args...)
}

// tool runs another program to its end, with more in its environment.
func tool(t *testing.T, env []string, path string, args ...string) result {
	t.Helper()
	return runIn(t, "", append(os.Environ(), env...), path, args...)
}

func runIn(t *testing.T, in string, env []string, path string, args ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	var out, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env = strings.NewReader(in), &out, &stderr, env
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !errors.Is(err, io.ErrClosedPipe) && !errors.Is(err, syscall.EPIPE) {
		t.Fatalf("%s: %v", path, err)
	}
	state := cmd.ProcessState
	r := result{out.String(), stderr.String(), state.ExitCode(), state.UserTime() + state.SystemTime()}
	if (path == built.pnagent || path == built.calm) && (crashed(r.err) || r.code < 0 || r.code > 2) {
		t.Fatalf("pnagent %s crashed with %d:\n%.8000s", strings.Join(args, " "), r.code, r.err)
	}
	return r
}

// crashed reports whether the stderr of a Go program is a crash.
func crashed(stderr string) bool {
	return strings.Contains(stderr, "panic:") || strings.Contains(stderr, "fatal error:") ||
		strings.Contains(stderr, "goroutine ") || strings.Contains(stderr, "DATA RACE")
}

// submatch returns the groups of the first match in a text; nil without one.
func submatch(text, pattern string) []string {
	return regexp.MustCompile(pattern).FindStringSubmatch(text)
}

// wantFailure checks the exit code, and that stderr is one line that matches
// beside what is logged.
func wantFailure(t *testing.T, r result, code int, pattern string) {
	t.Helper()
	if r.code != code {
		t.Errorf("got exit code %d; want %d", r.code, code)
	}
	said := regexp.MustCompile(`(?m)^time=.*\n`).ReplaceAllString(r.err, "")
	if strings.Count(said, "\n") != 1 || submatch(said, "^pnagent: .*"+pattern) == nil {
		t.Errorf("stderr is %q, want one line that matches %q", r.err, pattern)
	}
}
