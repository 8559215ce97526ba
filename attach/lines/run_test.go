// SPDX-License-Identifier: Apache-2.0

package lines

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// An event is held for as long as the window is wide. The state is saved
// meanwhile.
func TestTheLastEventDoesNotStayInTheWindow(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	synctest.Test(t, func(t *testing.T) {
		a := attach(t, func(c *Config) { c.Window, c.State = 10*time.Second, state })
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- a.Run(ctx, time.Second) }()
		take(t, a, opened("a"))
		time.Sleep(9500 * time.Millisecond)
		synctest.Wait()
		if n := a.Nets()[0].Events; n != 0 {
			t.Errorf("%d events after 9.5 s", n)
		}
		again := attach(t, func(c *Config) { c.Window, c.State = 10*time.Second, state })
		if c := again.Counters(); c.Held != 1 {
			t.Errorf("%d events are held after a restart", c.Held)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if n := a.Nets()[0].Events; n != 1 {
			t.Errorf("%d events after 10.5 s", n)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestASpeedIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := attach(t, func(c *Config) { c.Speed, c.AsNow = 10, true })
		begin := time.Now()
		left := []int{}
		text := `{"time":1600000000,"instance":"a","transition":"t1"}` + "\n" + `{"time":1600000020,"instance":"a","transition":"t2"}` + "\n"
		if err := a.Feed().Take(t.Context(), []byte(text), func(n int) { left = append(left, n) }); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begin); took != 2*time.Second {
			t.Errorf("20 s took %v", took)
		}
		if len(left) != 2 || left[0] != len(text)/2 || left[1] != 0 {
			t.Errorf("left: %v", left)
		}
		if p := seen(t, a, a.clock()).Places[1]; p.Dwell.Sum != 2e6 {
			t.Errorf("with AsNow: %d µs in the place", p.Dwell.Sum)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		err := a.Feed().Take(ctx, []byte(`{"time":1700000020,"instance":"a","transition":"t2"}`), nil)
		if !errors.Is(err, context.Canceled) || a.Nets()[0].Events != 2 {
			t.Errorf("%v", err)
		}
	})
}

// A few lines of each reason are logged, and the counters count all.
func TestAFewLinesOfEachReasonAreLogged(t *testing.T) {
	var log bytes.Buffer
	a := attach(t, func(c *Config) { c.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	for range 100 {
		take(t, a, "what?\n"+paid("a"))
	}
	if n := strings.Count(log.String(), "reason=not_json line=what?"); n != shownOfEach {
		t.Errorf("%d lines are shown", n)
	}
	if n := strings.Count(log.String(), "does not fit the net"); n != shownOfEach {
		t.Errorf("%d events are shown:\n%s", n, log.String())
	}
}
