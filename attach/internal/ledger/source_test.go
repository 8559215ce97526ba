// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pnagent/pnagent/internal/framed"
	"github.com/pnagent/pnagent/stats"
)

func configOf(t *testing.T, poll func(context.Context) error) Config {
	return Config{Poll: poll, Polling: Polling{Source: "s", Interval: 10 * time.Second, Timeout: 30 * time.Second, Log: slog.New(slog.NewTextHandler(t.Output(), nil))}}
}

func sourceOf(t *testing.T, cfg Config) *Source {
	t.Helper()
	s, err := NewSource(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestAPollThatFailsIsRepeatedLaterAndLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		var times []time.Duration
		s := sourceOf(t, configOf(t, func(context.Context) error {
			times = append(times, time.Since(begin))
			if len(times) <= 8 {
				return errors.New("no route")
			}
			return nil
		}))
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if err := s.Run(ctx); err != nil {
			t.Fatal(err)
		}
		for i := 1; i < len(times); i++ {
			least, most := 5*time.Second, lastWait
			if i > 8 {
				least, most = 10*time.Second, 10*time.Second
			}
			if wait := times[i] - times[i-1]; wait < least || wait > most {
				t.Errorf("%v between poll %d and the next; expected %v to %v", wait, i, least, most)
			}
		}
		if got := s.Status(); got.Failures != 8 || !got.Connected || got.Polls != uint64(len(times)-8) {
			t.Errorf("after %d polls: %+v", len(times), got)
		}
	})
}

func TestAPollEndsAfterItsTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var took time.Duration
		s := sourceOf(t, configOf(t, func(ctx context.Context) error {
			begin := time.Now()
			<-ctx.Done()
			took = time.Since(begin)
			return Permanent(errors.New("enough"))
		}))
		if err := s.Run(t.Context()); err == nil || err.Error() != "enough" || took != 30*time.Second {
			t.Errorf("%v after %v", err, took)
		}
	})
}

func TestASourceIsSilentAfterTwoIntervalsAndATimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, l := sourceOf(t, configOf(t, nil)), grown()
		s.ledgers = []*Ledger{l}
		if err := s.rows(l, stats.NewRows(2, 2)); !errors.Is(err, errSilent) {
			t.Errorf("before the first poll: %v", err)
		}
		if err := s.commit(); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			after  time.Duration
			silent bool
		}{{0, false}, {50 * time.Second, false}, {time.Second, true}} {
			time.Sleep(c.after)
			if err := s.rows(l, stats.NewRows(2, 2)); errors.Is(err, errSilent) != c.silent {
				t.Errorf("%v later: %v", c.after, err)
			}
		}
	})
}

func TestAClockThatJittersIsKept(t *testing.T) {
	s := sourceOf(t, configOf(t, nil))
	for _, c := range []struct {
		rule               string
		ahead, within, use int64
	}{
		{"the first value is taken", 5_000_000, 10, 5_000_000},
		{"one that differs by less than 50 ms is not", 5_049_000, 10, 5_000_000},
		{"nor one that differs by less than it may be wrong", 5_900_000, 500_000, 5_000_000},
		{"one that differs by more is", 6_000_000, 10, 6_000_000},
		{"back is, too", -1_000_000, 10, -1_000_000},
	} {
		s.SetClock(c.ahead, c.within)
		if s.ahead != c.use {
			t.Errorf("%s: %d", c.rule, s.ahead)
		}
	}
}

type kept struct{ Cursor int }

func TestTheStateIsWrittenWithTheRowsOfItsPoll(t *testing.T) {
	state := kept{Cursor: 1}
	cfg := configOf(t, nil)
	cfg.State, cfg.Program, cfg.Keep = filepath.Join(t.TempDir(), "state"), "test 1", &state
	s, l := sourceOf(t, cfg), grown()
	s.ledgers = []*Ledger{l}
	if err := s.commit(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(cfg.State); err == nil {
		t.Error("the state is written before its rows are published")
	}
	state.Cursor = 2 // the next poll reads on
	s.epoch = 77
	if err := s.rows(l, stats.NewRows(2, 2)); err != nil {
		t.Fatal(err)
	}
	var found kept
	cfg.Keep = &found
	if again := sourceOf(t, cfg); found.Cursor != 1 || again.epoch != 77 {
		t.Errorf("read back %+v and epoch %d; expected the cursor 1 and 77", found, again.epoch)
	}
	cfg.Program = "test 2"
	if _, err := NewSource(cfg); err == nil || !strings.Contains(err.Error(), `it is of "test 1"; expected "test 2"`) {
		t.Errorf("the state of another program: %v", err)
	}
	cfg.State = filepath.Join(t.TempDir(), "no", "folder")
	s = sourceOf(t, cfg)
	s.ledgers = []*Ledger{l}
	if err := errors.Join(s.commit(), s.rows(l, stats.NewRows(2, 2))); err != nil || s.Status().StateErrors != 1 {
		t.Errorf("a file that cannot be written: %v, %+v; expected rows all the same", err, s.Status())
	}
}

// A file is replaced for another state only. It is replaced again after a failure.
func TestAStateIsWrittenOnce(t *testing.T) {
	state := kept{Cursor: 1}
	cfg := configOf(t, nil)
	cfg.State, cfg.Program, cfg.Keep = filepath.Join(t.TempDir(), "dir", "state"), "test 1", &state
	s, l := sourceOf(t, cfg), grown()
	s.ledgers = []*Ledger{l}
	poll := func() os.FileInfo {
		if err := errors.Join(s.commit(), s.rows(l, stats.NewRows(2, 2))); err != nil {
			t.Fatal(err)
		}
		file, err := os.Stat(cfg.State)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		return file
	}
	poll() // there is no directory
	if err := os.Mkdir(filepath.Dir(cfg.State), 0o700); err != nil {
		t.Fatal(err)
	}
	first := poll()
	if again := poll(); !os.SameFile(first, again) {
		t.Error("the file is replaced by one with the same state")
	}
	state.Cursor = 2
	if next := poll(); os.SameFile(first, next) {
		t.Error("another state is not written")
	}
}

func TestAConfigIsChecked(t *testing.T) {
	for want, change := range map[string]func(*Config){
		"interval of 1ms; expected 100ms to 24h": func(c *Config) { c.Interval = time.Millisecond },
		"timeout of 0s; expected more":           func(c *Config) { c.Timeout = 0 },
		"source: bad_name: empty":                func(c *Config) { c.Source = "" },
	} {
		cfg := configOf(t, nil)
		change(&cfg)
		if _, err := NewSource(cfg); !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; expected %s", err, want)
		}
	}
}

func FuzzReadState(f *testing.F) {
	f.Add([]byte(`{"program":"p","epoch":3,"state":{"Cursor":4}}`))
	f.Add([]byte(`{"program":"p"}`))
	f.Add(stateContent.Text(framed.Frame{Kind: stateKind, Payload: []byte(`{"program":"p","epoch":3,"state":{"Cursor":4}}`)}))
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), "state")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		var state kept
		if _, err := readState(path, "p", &state); err != nil && !strings.Contains(err.Error(), path) {
			t.Errorf("the error does not name the file: %v", err)
		}
	})
}
