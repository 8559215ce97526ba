// SPDX-License-Identifier: Apache-2.0

package kit

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
	// Patience is how long a condition may take to become true. It is far
	// beyond what it takes, and is waited for only where a test fails.
	Patience = 3 * time.Minute
	// PollEvery is how often a condition is looked at when it may be true soon.
	PollEvery = 20 * time.Millisecond
	// pollAtLeast is how often it is looked at later: looking may cost a server more than
	// what is tested.
	pollAtLeast = 200 * time.Millisecond
)

// Until waits until check returns nil, and fails the test with its last error
// where patience ends. It returns at most a tenth later than that, or PollEvery.
func Until(t *testing.T, what string, check func() error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), Patience)
	defer cancel()
	begun := time.Now()
	for {
		err := check()
		if took := time.Since(begun); err == nil && took > time.Second {
			t.Logf("%v until %s", took.Round(100*time.Millisecond), what)
		}
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("waiting until %s: %v", what, err)
		case <-time.After(min(max(PollEvery, time.Since(begun)/10), pollAtLeast)):
		}
	}
}

// Process is a program that runs. It ends with the test.
type Process struct {
	Name     string
	Cmd      *exec.Cmd
	Out, Err logtest.Buffer // what it has said so far
	Done     chan struct{}  // closed when it has ended
}

// Start runs a program.
func Start(t *testing.T, path string, args ...string) *Process {
	t.Helper()
	return StartWith(t, nil, path, args...)
}

// StartWith runs a program that has files open beyond the three, from 3 on.
func StartWith(t *testing.T, files []*os.File, path string, args ...string) *Process {
	t.Helper()
	cmd := exec.Command(path, args...)
	cmd.Dir, cmd.ExtraFiles = t.TempDir(), files
	return StartCommand(t, cmd)
}

// StartCommand runs a command, whose output and environment it sets.
func StartCommand(t *testing.T, cmd *exec.Cmd) *Process {
	t.Helper()
	p := &Process{Name: filepath.Base(cmd.Path), Cmd: cmd, Done: make(chan struct{})}
	p.Cmd.Stdout, p.Cmd.Stderr = &p.Out, &p.Err
	p.Cmd.Env = CleanEnv()
	if err := p.Cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.Done)
		_ = p.Cmd.Wait() // how it ended is in ProcessState
	}()
	t.Cleanup(func() {
		_ = p.Cmd.Process.Kill() // fails only where it has ended
		<-p.Done
		if Crashed(p.Err.String()) {
			t.Errorf("%s crashed", p.Name)
		}
		if t.Failed() {
			t.Logf("%s\nstdout:\n%.4000s\nstderr:\n%.8000s", strings.Join(cmd.Args, " "), p.Out.String(), p.Err.String())
		}
	})
	return p
}

// CleanEnv is the environment without what would change what pnagent does. The
// race detector is not to wait a second at each exit.
func CleanEnv() []string {
	env := []string{"GORACE=atexit_sleep_ms=0"}
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "PNAGENT_") && !strings.HasPrefix(v, "NOTIFY_SOCKET=") && !strings.HasPrefix(v, "GORACE=") {
			env = append(env, v)
		}
	}
	return env
}

// Signal sends a signal to the program. Pnagent listens to signals before it prints
// anything; until then, they end it as if it were killed.
func (p *Process) Signal(t *testing.T, s os.Signal) {
	t.Helper()
	if s != syscall.SIGKILL && slices.Contains(p.Cmd.Args, Built().Pnagent) {
		Until(t, p.Name+" has printed something", func() error {
			if p.Out.String()+p.Err.String() == "" {
				return errors.New("it has not")
			}
			return nil
		})
	}
	if err := p.Cmd.Process.Signal(s); err != nil {
		t.Fatalf("%s: %v", p.Name, err)
	}
}

// Pause stops the program as if it hung, until resume.
func (p *Process) Pause(t *testing.T) {
	t.Helper()
	pausetest.Stop(t, p.Cmd.Process)
}

// Resume lets a paused program run again.
func (p *Process) Resume(t *testing.T) {
	t.Helper()
	pausetest.Resume(t, p.Cmd.Process)
}

// Wait waits until the program has ended by itself and returns its exit code.
func (p *Process) Wait(t *testing.T) int {
	t.Helper()
	select {
	case <-p.Done:
	case <-time.After(Patience):
		t.Fatalf("%s has not ended within %s", p.Name, Patience)
	}
	return p.Cmd.ProcessState.ExitCode()
}

// Stop ends the program as an operator does, and expects it to end cleanly.
func (p *Process) Stop(t *testing.T, s os.Signal) {
	t.Helper()
	p.Signal(t, s)
	if code := p.Wait(t); code != 0 {
		t.Errorf("%s after %s: got exit code %d; want 0", p.Name, s, code)
	}
}

// Kill ends the program without a last word.
func (p *Process) Kill(t *testing.T) {
	t.Helper()
	p.Signal(t, syscall.SIGKILL)
	p.Wait(t)
}

// Says waits until the program's stderr matches and returns the groups.
func (p *Process) Says(t *testing.T, pattern string) []string {
	t.Helper()
	re := regexp.MustCompile(pattern)
	var groups []string
	Until(t, p.Name+" says "+pattern, func() error {
		groups = re.FindStringSubmatch(p.Err.String())
		if groups == nil {
			select {
			case <-p.Done:
				t.Fatalf("%s ended", p.Name)
			default:
			}
			return errors.New("not said yet")
		}
		return nil
	})
	return groups
}

// Result is how a command that ends by itself ended.
type Result struct {
	Out, Err string
	Code     int
	CPU      time.Duration // of the process, however busy the machine is
}

// Pnagent runs a command to its end.
func Pnagent(t *testing.T, args ...string) Result {
	t.Helper()
	return PnagentWith(t, "", args...)
}

// PnagentWith runs a command with something on standard input.
func PnagentWith(t *testing.T, in string, args ...string) Result {
	t.Helper()
	return RunIn(t, in, CleanEnv(), Built().Pnagent, args...)
}

// Tool runs another program to its end, with more in its environment.
func Tool(t *testing.T, env []string, path string, args ...string) Result {
	t.Helper()
	return RunIn(t, "", append(os.Environ(), env...), path, args...)
}

// RunIn runs a program to its end, with something on standard input and an environment.
func RunIn(t *testing.T, in string, env []string, path string, args ...string) Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), Patience)
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
	r := Result{out.String(), stderr.String(), state.ExitCode(), state.UserTime() + state.SystemTime()}
	if path == Built().Pnagent && (Crashed(r.Err) || r.Code < 0 || r.Code > 2) {
		t.Fatalf("pnagent %s crashed with %d:\n%.8000s", strings.Join(args, " "), r.Code, r.Err)
	}
	return r
}

// Crashed reports whether the stderr of a Go program is a crash.
func Crashed(stderr string) bool {
	return strings.Contains(stderr, "panic:") || strings.Contains(stderr, "fatal error:") ||
		strings.Contains(stderr, "goroutine ") || strings.Contains(stderr, "DATA RACE")
}

// Submatch returns the groups of the first match in a text; nil without one.
func Submatch(text, pattern string) []string {
	return regexp.MustCompile(pattern).FindStringSubmatch(text)
}

// WantFailure checks the exit code, and that stderr is one line that matches
// beside what is logged.
func WantFailure(t *testing.T, r Result, code int, pattern string) {
	t.Helper()
	if r.Code != code {
		t.Errorf("got exit code %d; want %d", r.Code, code)
	}
	said := regexp.MustCompile(`(?m)^time=.*\n`).ReplaceAllString(r.Err, "")
	if strings.Count(said, "\n") != 1 || Submatch(said, "^pnagent: .*"+pattern) == nil {
		t.Errorf("stderr is %q, want one line that matches %q", r.Err, pattern)
	}
}
