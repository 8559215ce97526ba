// SPDX-License-Identifier: Apache-2.0

//go:build unix

package action

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/engine/coloured"
)

func sh(t *testing.T, script string, limit time.Duration) Func {
	t.Helper()
	f, err := Command{Args: []string{"sh", "-c", script, "sh", "a b", "$HOME"}, Dir: t.TempDir(), Timeout: limit}.Func(Peers{})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestCommandReadsTheRequestAndWritesTheAnswer(t *testing.T) {
	t.Setenv("PNAGENT_NATS_URL", "secret")
	for _, c := range []struct{ name, script, want string }{
		{"input", `printf '{"data":'; cat; printf '}'`, runAsJSON},
		{"arguments are not expanded", `printf '{"data":"%s|%s"}' "$1" "$2"`, `"a b|$HOME"`},
		{"environment", `printf '{"data":"'; env | grep -E '^(PNAGENT|HOME)' | sort | tr '\n' ' '; printf '"}'`,
			`"PNAGENT_ATTEMPT=2 PNAGENT_INSTANCE=42 PNAGENT_KEY=s/1/7 PNAGENT_NET=shop PNAGENT_SOURCE=s PNAGENT_TRANSITION=pay "`},
		{"input that is not read", `exec <&-; echo '{"data":1}'`, `1`},
		{"no output", `true`, ``},
		{"noise beside an answer", `echo noise >&2; echo '{"data":1}'`, `1`},
	} {
		t.Run(c.name, func(t *testing.T) {
			o, err := sh(t, c.script, 0)(t.Context(), run())
			if d := cmp.Diff(c.want, string(o.Data)); d != "" || err != nil || o.Kind != coloured.Fired {
				t.Error(d, err)
			}
		})
	}
}

func TestCommandRunsInItsFolder(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "pay"), []byte("#!/bin/sh\nprintf '{\"data\":\"%s\"}' \"$(pwd -P)\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	f, err := Command{Args: []string{"./pay"}, Dir: dir}.Func(Peers{})
	if err != nil {
		t.Fatal(err)
	}
	real, _ := filepath.EvalSymlinks(dir)
	if o, err := f(t.Context(), run()); err != nil || string(o.Data) != strconv.Quote(real) {
		t.Error(string(o.Data), err)
	}
}

func TestCommandFailures(t *testing.T) {
	for _, c := range []struct{ name, script, want string }{
		{"exit status alone", `exit 3`, "running sh: exit status 3"},
		{"exit status", `echo no funds >&2; exit 3`, "running sh: exit status 3: no funds"},
		{"signal", `kill -9 $$`, "running sh: signal: killed"},
		{"garbled", `echo fired`, "running sh: no valid answer"},
		{"endless output", `exec cat /dev/zero`, "running sh: no valid answer: more than 1048576 bytes"},
		{"endless errors", `head -c 10000000 /dev/zero | tr '\0' x >&2; exit 1`, "running sh: exit status 1: xxx"},
		{"a child that holds the output", `sleep 1000 & echo '{}'`, "running sh: it has ended, but its children hold its output open"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := sh(t, c.script, 0)(t.Context(), run())
			if err == nil || !strings.HasPrefix(err.Error(), c.want) || len(err.Error()) > 2*maxReason {
				t.Errorf("got  %.200v\nwant %s", err, c.want)
			}
		})
	}
}

func TestCommandIsKilledWithItsChildrenAtTheEndOfItsTime(t *testing.T) {
	pid := filepath.Join(t.TempDir(), "pid")
	f := sh(t, `sleep 1000 & echo $! > '`+pid+`.new'; mv '`+pid+`.new' '`+pid+`'; wait`, time.Hour)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error)
	go func() { _, err := f(ctx, run()); done <- err }()
	child := 0
	for child == 0 {
		if text, err := os.ReadFile(pid); err == nil {
			child, _ = strconv.Atoi(strings.TrimSpace(string(text)))
		}
		time.Sleep(time.Millisecond)
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "killed when its attempt ended") {
		t.Error(err)
	}
	if !gone(child) {
		t.Errorf("the child %d is still there", child)
	}
	if _, err := sh(t, `sleep 1000`, 50*time.Millisecond)(t.Context(), run()); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// gone waits until a process has ended; a zombie counts as ended.
func gone(pid int) bool {
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			return true
		}
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if err == nil && strings.Contains(string(stat), ") Z ") {
			return true
		}
	}
	return false
}

func TestCommandNeedsAProgram(t *testing.T) {
	for _, args := range [][]string{nil, {""}, {"pnagent-no-such-program"}, {"./not/here"}} {
		if _, err := (Command{Args: args}).Func(Peers{}); err == nil || !strings.Contains(err.Error(), "no program") {
			t.Errorf("%q: %v", args, err)
		}
	}
}
