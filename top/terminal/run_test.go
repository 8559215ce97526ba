// SPDX-License-Identifier: Apache-2.0

package terminal

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"
	"github.com/creack/pty"
	"go.uber.org/goleak"

	"github.com/pnagent/pnagent/top"
	"github.com/pnagent/pnagent/web/api"
)

func TestMain(m *testing.M) {
	if fault, ok := faults()[os.Getenv(faultVar)]; ok {
		if err := runFaulty(fault); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// patience is how long a condition may take, where a test fails.
const patience = time.Minute

// screen is a terminal with a simulated user.
type screen struct {
	keyboard, tty *os.File
	before        *term.State

	mu      sync.Mutex
	written strings.Builder
	changed chan struct{} // holds one where something was written
	closed  chan struct{}
}

func open(t *testing.T) *screen {
	t.Helper()
	keyboard, tty, err := pty.Open()
	if err != nil {
		t.Skipf("no pseudo-terminal: %v", err)
	}
	s := &screen{keyboard: keyboard, tty: tty, changed: make(chan struct{}, 1), closed: make(chan struct{})}
	if err := pty.Setsize(keyboard, &pty.Winsize{Rows: 24, Cols: 80}); err != nil {
		t.Fatal(err)
	}
	if s.before, err = term.GetState(tty.Fd()); err != nil {
		t.Fatal(err)
	}
	go s.watch()
	t.Cleanup(func() {
		tty.Close()
		keyboard.Close()
		<-s.closed
	})
	return s
}

func (s *screen) watch() {
	defer close(s.closed)
	buf := make([]byte, 4096)
	for {
		n, err := s.keyboard.Read(buf)
		s.mu.Lock()
		s.written.Write(buf[:n])
		s.mu.Unlock()
		select {
		case s.changed <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

func (s *screen) all() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.written.String()
}

// squeeze removes what a renderer may write as movements of the cursor.
func squeeze(text string) string { return strings.Join(strings.Fields(ansi.Strip(text)), "") }

// until waits until what was written so far is as it should be.
func (s *screen) until(t *testing.T, what string, check func(all string) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for !check(s.all()) {
		select {
		case <-s.changed:
		case <-ctx.Done():
			t.Fatalf("%s: not so: %q", what, s.all())
		}
	}
}

// shows waits until a text was drawn after what had been.
func (s *screen) shows(t *testing.T, from int, text string) {
	t.Helper()
	s.until(t, text+" is on the screen", func(all string) bool { return strings.Contains(squeeze(all[from:]), squeeze(text)) })
}

func (s *screen) press(t *testing.T, keys string) int {
	t.Helper()
	from := len(s.all())
	if _, err := s.keyboard.WriteString(keys); err != nil {
		t.Fatal(err)
	}
	return from
}

// checkRestored checks that the terminal has its modes, its main screen and its
// cursor again.
func (s *screen) checkRestored(t *testing.T) {
	t.Helper()
	after, err := term.GetState(s.tty.Fd())
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(s.before, after) {
		t.Errorf("the terminal's modes were %+v and are %+v", s.before, after)
	}
	for on, off := range map[string]string{"\x1b[?1049h": "\x1b[?1049l", "\x1b[?25l": "\x1b[?25h"} {
		s.until(t, off+" comes after "+on, func(all string) bool {
			return strings.Contains(all, on) && strings.LastIndex(all, off) > strings.LastIndex(all, on)
		})
	}
}

func (s *screen) run(ctx context.Context, ask Ask) <-chan error {
	ended := make(chan error, 1)
	o := top.Options{URL: "http://sidecar", Tab: top.Places}
	go func() {
		ended <- Run(ctx, Screen{In: s.tty, Out: s.tty, Env: []string{"TERM=xterm-256color"}}, o, ask)
	}()
	return ended
}

func wait(t *testing.T, ended <-chan error) error {
	t.Helper()
	select {
	case err := <-ended:
		return err
	case <-time.After(patience):
		t.Fatal("it does not end")
		return nil
	}
}

// view returns a View with one token, in a place.
func view(generation uint64, place string) *api.View {
	one, age := uint64(1), 7200.0
	return &api.View{At: api.Time(1e6 * generation), Generation: generation, Nets: []api.Net{{NetTotals: api.NetTotals{ID: "net"}, Places: []api.Place{
		{ID: place, PlaceNow: api.PlaceNow{Tokens: &one}, OldestAge: &age, Stuck: &[]api.Token{{Instance: "berlin/3", Age: age, Waits: []api.Wait{{Transition: "pack", Reason: "manual"}}}}}}}}}
}

func stuck(context.Context) (*api.View, *api.Alarms, error) { return view(1, "crates"), nil, nil }

func TestAUserOpensThePlaceAndQuits(t *testing.T) {
	s := open(t)
	ended := s.run(t.Context(), stuck)
	s.shows(t, 0, "›crates net 1 2h00m")
	s.shows(t, s.press(t, "\r"), "2h00m berlin/3 pack: manual")
	s.press(t, "q")
	if err := wait(t, ended); err != nil {
		t.Error(err)
	}
	s.checkRestored(t)
}

func TestTheEndOfTheContextEndsItCleanly(t *testing.T) {
	s := open(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := s.run(ctx, stuck)
	s.shows(t, 0, "›crates")
	cancel()
	if err := wait(t, ended); err != nil {
		t.Error(err)
	}
	s.checkRestored(t)
}

// Panics are in a process of their own, as bubbletea writes their stack to
// standard error, and leaves a goroutine behind.
func TestAPanicLeavesTheTerminalAsItWas(t *testing.T) {
	for fault := range faults() {
		t.Run(fault, func(t *testing.T) {
			s := open(t)
			child := exec.CommandContext(t.Context(), os.Args[0])
			child.Stdin, child.Stdout, child.Stderr = s.tty, s.tty, s.tty
			child.Env = append(os.Environ(), faultVar+"="+fault, "TERM=xterm-256color")
			if err := child.Start(); err != nil {
				t.Fatal(err)
			}
			s.shows(t, 0, "›crates")
			if err := child.Process.Signal(syscall.SIGUSR1); err != nil {
				t.Fatal(err)
			}
			if err := child.Wait(); err == nil {
				t.Error("a panic is no error")
			}
			s.checkRestored(t)
		})
	}
}

// faultVar is set where the test binary is to run with a fault.
const faultVar = "PNAGENT_TOP_TEST_FAULT"

func faults() map[string]Ask {
	return map[string]Ask{
		"while asking":  func(context.Context) (*api.View, *api.Alarms, error) { panic("on purpose, by a test") },
		"while hearing": func(context.Context) (*api.View, *api.Alarms, error) { return nil, nil, nil },
	}
}

// runFaulty shows a View, and has its fault when it gets SIGUSR1.
func runFaulty(fault Ask) error {
	now := make(chan os.Signal, 1)
	signal.Notify(now, syscall.SIGUSR1)
	asked := false
	return Run(context.Background(), Screen{In: os.Stdin, Out: os.Stdout, Env: os.Environ()}, top.Options{Tab: top.Places},
		func(ctx context.Context) (*api.View, *api.Alarms, error) {
			if !asked {
				asked = true
				return stuck(ctx)
			}
			<-now
			return fault(ctx)
		})
}

func TestItComesBackWhenTheSidecarDoes(t *testing.T) {
	s := open(t)
	var asked atomic.Uint64
	ended := s.run(t.Context(), func(context.Context) (*api.View, *api.Alarms, error) {
		switch n := asked.Add(1); n {
		case 1:
			return view(1, "before"), nil, nil
		case 2:
			return nil, nil, errors.New("connection refused")
		default:
			return view(n, "after"), nil, nil
		}
	})
	s.shows(t, 0, "›before")
	s.shows(t, 0, "connection refused")
	s.shows(t, 0, "after")
	s.press(t, "\x03")
	if err := wait(t, ended); err != nil {
		t.Error(err)
	}
	s.checkRestored(t)
}

func TestAFileIsNoTerminal(t *testing.T) {
	f, err := os.Create(t.TempDir() + "/out")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, out := range []io.Writer{f, io.Discard} {
		if err := Run(t.Context(), Screen{In: f, Out: out}, top.Options{}, stuck); !errors.Is(err, ErrNoTerminal) {
			t.Errorf("output to %T: got error %v; want ErrNoTerminal", out, err)
		}
	}
	if info, err := f.Stat(); err != nil || info.Size() != 0 {
		t.Errorf("something was written: %v, %v", info, err)
	}
}

func TestOnceShowsTheRatesOfTheView(t *testing.T) {
	ask := func(context.Context) (*api.View, *api.Alarms, error) {
		v, rate := view(1, "crates"), 7.0
		v.Nets[0].Places[0].ArrivalRate = &rate
		return v, nil, nil
	}
	var out strings.Builder
	if err := Once(t.Context(), &out, io.Discard, top.Options{Tab: top.Places}, ask); err != nil {
		t.Fatal(err)
	}
	if got := strings.Fields(strings.Split(out.String(), "\n")[1])[5]; got != "7.00" {
		t.Errorf("got rate %s in\n%swant 7.00", got, &out)
	}
}

func TestOnceSaysWhoGetsNothing(t *testing.T) {
	ask := func(context.Context) (*api.View, *api.Alarms, error) {
		v := view(1, "crates")
		v.At = 100e6
		since := v.At - 20e6
		v.AgentX = &api.Connection{Since: since, Reason: "dial unix:/var/agentx/master: no such file"}
		v.Up = &api.Connection{Since: since, Reason: "no\x1b servers"}
		return v, nil, nil
	}
	var doubts strings.Builder
	if err := Once(t.Context(), io.Discard, &doubts, top.Options{Tab: top.Places}, ask); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"pnagent top: no AgentX session for 20s, so SNMP managers get nothing: dial unix:/var/agentx/master: no such file\n",
		`pnagent top: no connection to the sidecar above for 20s, so it gets nothing: no\x1b servers` + "\n",
	} {
		if !strings.Contains(doubts.String(), want) {
			t.Errorf("no %q in\n%s", want, &doubts)
		}
	}
}

func TestOnceShowsASidecarWithoutChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		if err := Once(t.Context(), &out, io.Discard, top.Options{Tab: top.Places}, stuck); err != nil || !strings.Contains(out.String(), "crates") {
			t.Errorf("got %q, error %v; want the place crates", &out, err)
		}
	})
}

func TestOnceSaysWhyThereIsNothing(t *testing.T) {
	away := errors.New("away")
	ask := func(context.Context) (*api.View, *api.Alarms, error) { return nil, nil, away }
	if err := Once(t.Context(), io.Discard, io.Discard, top.Options{}, ask); !errors.Is(err, away) {
		t.Error(err)
	}
}

func TestOnceReportsFiguresThatAreNotCurrent(t *testing.T) {
	for name, rule := range map[string]struct {
		change func(*api.View)
		want   string
	}{
		"all up":       {func(v *api.View) { v.States = api.States{Up: 2} }, ""},
		"one stale":    {func(v *api.View) { v.States = api.States{Up: 1, Stale: 1} }, "pnagent top: 1 stale and 1 up among the sources; the rows of stale ones are those of their last snapshot\n"},
		"all are gone": {func(v *api.View) { v.States = api.States{Gone: 2} }, "pnagent top: no source is up\n"},
		"an old View":  {func(v *api.View) { v.States, v.Age = api.States{Up: 2}, 61.5 }, "pnagent top: the sidecar made its last View 1m01s ago\n"},
		"no connection": {func(v *api.View) {
			v.States = api.States{Up: 1}
			v.NATS = &api.Connection{Since: v.At, Reason: "connection refused"}
		}, "pnagent top: no connection to NATS for 0.0s: connection refused\n"},
	} {
		ask := func(context.Context) (*api.View, *api.Alarms, error) {
			v := view(1, "crates")
			rule.change(v)
			return v, nil, nil
		}
		var out, doubts strings.Builder
		if err := Once(t.Context(), &out, &doubts, top.Options{Tab: top.Places}, ask); err != nil || doubts.String() != rule.want || !strings.Contains(out.String(), "crates") {
			t.Errorf("%s: %q, want %q; %v", name, doubts.String(), rule.want, err)
		}
	}
}
