// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"
	"github.com/creack/pty"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/internal/porttest"
)

// terminal is a program on a pseudo-terminal: Out is the screen.
type terminal struct {
	*kit.Process
	keyboard, tty *os.File
	before        *term.State
}

// onTerminal runs pnagent as a user at a terminal of 160 by 40 does.
func onTerminal(t *testing.T, args ...string) *terminal {
	t.Helper()
	keyboard, tty, err := pty.Open()
	if err != nil {
		t.Skipf("no pseudo-terminal: %v", err)
	}
	x := &terminal{Process: &kit.Process{Name: "pnagent", Cmd: exec.Command(kit.Built().Pnagent, args...), Done: make(chan struct{})}, keyboard: keyboard, tty: tty}
	if err := pty.Setsize(keyboard, &pty.Winsize{Rows: 40, Cols: 160}); err != nil {
		t.Fatal(err)
	}
	x.before, err = term.GetState(tty.Fd())
	if err != nil {
		t.Fatal(err)
	}
	x.Cmd.Stdin, x.Cmd.Stdout, x.Cmd.Stderr = tty, tty, &x.Err
	x.Cmd.Env = append(kit.CleanEnv(), "TERM=xterm-256color")
	if err := x.Cmd.Start(); err != nil {
		t.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		buf := make([]byte, 4096)
		for {
			n, err := keyboard.Read(buf)
			_, _ = x.Out.Write(buf[:n])
			if err != nil {
				return
			}
		}
	}()
	go func() {
		defer close(x.Done)
		_ = x.Cmd.Wait() // how it ended is in ProcessState
	}()
	t.Cleanup(func() {
		_ = x.Cmd.Process.Kill() // fails only where it has ended
		<-x.Done
		tty.Close()
		<-read
		keyboard.Close()
	})
	return x
}

// shows waits until a text was drawn after what had been, with whatever a
// renderer writes instead of spaces, and returns how much there is then.
func (x *terminal) shows(t *testing.T, from int, text string) int {
	t.Helper()
	squeeze := func(s string) string { return strings.Join(strings.Fields(ansi.Strip(s)), "") }
	kit.Until(t, fmt.Sprintf("%q is on the screen", text), func() error {
		if all := x.Out.String()[from:]; !strings.Contains(squeeze(all), squeeze(text)) {
			return fmt.Errorf("there is %.4000q", all)
		}
		return nil
	})
	return len(x.Out.String())
}

// press types keys and returns what had been written before.
func (x *terminal) press(t *testing.T, keys string) int {
	t.Helper()
	from := len(x.Out.String())
	if _, err := x.keyboard.WriteString(keys); err != nil {
		t.Fatal(err)
	}
	return from
}

// checkLeft checks that it ended cleanly, and left the terminal as it was.
func (x *terminal) checkLeft(t *testing.T) {
	t.Helper()
	if code := x.Wait(t); code != 0 || x.Err.String() != "" {
		t.Errorf("got exit code %d and %q; want 0 and nothing", code, x.Err.String())
	}
	after, err := term.GetState(x.tty.Fd())
	if err != nil || !reflect.DeepEqual(x.before, after) {
		t.Errorf("the terminal's modes were %+v and are %+v, %v", x.before, after, err)
	}
	kit.Until(t, "the main screen and its cursor are back", func() error {
		all := x.Out.String()
		if strings.LastIndex(all, ansi.ResetModeAltScreenSaveCursor) < strings.LastIndex(all, ansi.SetModeAltScreenSaveCursor) ||
			strings.LastIndex(all, ansi.ShowCursor) < strings.LastIndex(all, ansi.HideCursor) {
			return errors.New("they are not")
		}
		return nil
	})
}

func TestTopShowsTheStuckPlaceFirstAndOpensIt(t *testing.T) {
	t.Parallel()
	s := kit.StuckLine(t)
	x := onTerminal(t, "top", "--url", s.URL)
	x.shows(t, 0, "›boxes line 6")
	x.shows(t, 0, "close: dead, 1 missing in lids")
	opened := x.press(t, "\r")
	x.shows(t, opened, "place boxes of net line")
	x.shows(t, opened, "older than")
	x.shows(t, opened, "p50")
	x.shows(t, opened, "berlin/")
	x.shows(t, x.press(t, "\x1b"), "OLDEST▼")
	x.shows(t, x.press(t, "3"), "FIRED/S▼")
	x.press(t, "q")
	x.checkLeft(t)
}

func TestTopLeavesTheTerminalAsItWasOnSignals(t *testing.T) {
	t.Parallel()
	s := kit.StuckLine(t)
	for _, sig := range []os.Signal{syscall.SIGTERM, syscall.SIGINT} {
		x := onTerminal(t, "top", "--url", s.URL)
		x.shows(t, 0, "›boxes")
		x.Signal(t, sig)
		x.checkLeft(t)
	}
}

func TestTopWaitsForASidecarThatIsNotThere(t *testing.T) {
	t.Parallel()
	x := onTerminal(t, "top", "--url", "http://"+porttest.Addr(t))
	x.shows(t, 0, "no answer")
	x.shows(t, 0, "connection refused")
	x.press(t, "\x03")
	x.checkLeft(t)
}

func TestTopOnceIsATableForScripts(t *testing.T) {
	t.Parallel()
	s := kit.StuckLine(t)
	r := kit.Pnagent(t, "top", "--url", s.URL, "--once")
	lines := strings.Split(r.Out, "\n")
	if r.Code != 0 || r.Err != "" || !strings.HasPrefix(lines[0], "PLACE") || !strings.HasPrefix(lines[1], "boxes ") {
		t.Errorf("got exit code %d, %q, %s; want 0 and the places", r.Code, r.Err, r.Out)
	}
	if slices.ContainsFunc([]byte(r.Out), func(b byte) bool { return b < ' ' && b != '\n' }) {
		t.Errorf("there are control characters in %q", r.Out)
	}
	for show, want := range map[string]string{"nets": "line", "transitions": "close", "sources": "berlin", "alarms": "ALARM"} {
		if r := kit.Pnagent(t, "top", "--url", s.URL, "--once", "--show", show); r.Code != 0 || !strings.Contains(r.Out, want) {
			t.Errorf("%s: got exit code %d, %q, %s; want 0 and %s", show, r.Code, r.Err, r.Out, want)
		}
	}
}

func TestTopRefusesWhatIsNoTerminal(t *testing.T) {
	t.Parallel()
	kit.WantFailure(t, kit.Pnagent(t, "top"), 2, "standard output is no terminal; expected one, or --once")
	kit.WantFailure(t, kit.Pnagent(t, "top", "--once", "--url", "ftp://localhost:9797"), 2, "--url: .*expected http://HOST:PORT")
	kit.WantFailure(t, kit.Pnagent(t, "top", "--once", "--url", porttest.Addr(t)), 1, "asking the sidecar: .*connection refused")
	kit.WantFailure(t, kit.Pnagent(t, "top", "--once", "--url", "http://"+porttest.Addr(t)), 1, "asking the sidecar: .*connection refused")
	kit.WantFailure(t, kit.Pnagent(t, "top", "--once", "--http.config.file", "/nowhere"), 1, "reading /nowhere: .*no such file")
}

func TestDumpAndTopAskWithAPassword(t *testing.T) {
	t.Parallel()
	locked := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "ada" || password != "secret" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"at": "2026-01-01T00:00:00Z", "generation": 1, "nets": []any{}, "sources": []any{}})
	}))
	t.Cleanup(locked.Close)
	config := kit.Write(t, "http.yml", "basic_auth: {username: ada, password: secret}\n")
	for _, command := range [][]string{{"dump"}, {"top", "--once", "--show", "alarms"}} {
		args := append(slices.Clone(command), "--url", locked.URL)
		kit.WantFailure(t, kit.Pnagent(t, args...), 1, "401 Unauthorized")
		if r := kit.Pnagent(t, append(args, "--http.config.file", config)...); r.Code != 0 || r.Out == "" {
			t.Errorf("%v: got exit code %d, %s; want 0 and output", command, r.Code, r.Err)
		}
	}
}
