// SPDX-License-Identifier: Apache-2.0

package lines

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pnagent/pnagent/attach/lines/replay"
	"github.com/pnagent/pnagent/internal/framed"
)

// followed is a file that is written and followed.
type followed struct {
	t     *testing.T
	path  string
	state string
	a     *Attachment
	end   func()
}

func newFollowed(t *testing.T) *followed {
	dir := t.TempDir()
	return &followed{t: t, path: filepath.Join(dir, "log"), state: filepath.Join(dir, "state")}
}

// begin follows the file; kill ends that as a killed process does.
func (f *followed) begin(fromEnd bool) {
	f.t.Helper()
	f.a = attach(f.t, func(c *Config) { c.State = f.state })
	ctx, cancel := context.WithCancel(f.t.Context())
	done := make(chan error, 1)
	go func() { done <- f.a.Follow(ctx, Follow{Path: f.path, End: fromEnd, Poll: time.Millisecond}) }()
	f.end = func() {
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			f.t.Errorf("following ends with %v", err)
		}
	}
	f.t.Cleanup(cancel)
}

// restart saves the state, calls meanwhile while the file is not followed, and
// follows it again.
func (f *followed) restart(meanwhile func()) {
	f.a.Save()
	f.end()
	meanwhile()
	f.begin(false)
}

func (f *followed) write(text string) {
	f.t.Helper()
	w, err := os.OpenFile(f.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = w.WriteString(text)
	}
	if err = errors.Join(err, w.Close()); err != nil {
		f.t.Fatal(err)
	}
}

func (f *followed) rename(suffix string) {
	f.t.Helper()
	if err := os.Rename(f.path, f.path+suffix); err != nil {
		f.t.Fatal(err)
	}
}

// copyTruncate rotates as logrotate does for writers that keep the file open.
func (f *followed) copyTruncate(suffix string) {
	f.t.Helper()
	text, err := os.ReadFile(f.path)
	if err == nil {
		err = os.WriteFile(f.path+suffix, text, 0o600)
	}
	if err = errors.Join(err, os.Truncate(f.path, 0)); err != nil {
		f.t.Fatal(err)
	}
}

// events waits until n events are replayed, each once.
func (f *followed) events(n uint64) {
	f.t.Helper()
	eventually(f.t, fmt.Sprintf("%d events", n), func() bool { return f.a.Nets()[0].Events >= n })
	if got := f.a.Nets()[0]; got.Events != n || got.Unfit != 0 {
		f.t.Fatalf("%d events, want %d; %d unfit", got.Events, n, got.Unfit)
	}
}

func opened(instance string) string {
	return fmt.Sprintf(`{"time":1600000000,"net":"orders","instance":%q,"transition":"t1"}`+"\n", instance)
}

func paid(instance string) string {
	return fmt.Sprintf(`{"time":1600000001,"net":"orders","instance":%q,"transition":"t2"}`+"\n", instance)
}

func TestAFileIsFollowedFromItsBeginning(t *testing.T) {
	f := newFollowed(t)
	f.begin(false)
	f.write(opened("a")) // the file is created after the follower starts
	f.events(1)
	f.write(opened("b")[:20])
	f.write(opened("b")[20:] + opened("c"))
	f.events(3)
	f.end()
}

func TestAFileIsFollowedFromItsEnd(t *testing.T) {
	f := newFollowed(t)
	f.write(opened("a") + opened("b")[:20])
	f.begin(true)
	eventually(t, "it is open", func() bool {
		f.a.mu.Lock()
		defer f.a.mu.Unlock()
		p := f.a.positions[f.path]
		return p != nil && p.offset > 0
	})
	f.write(opened("b")[20:])
	f.events(1)
	f.end()
}

func TestAFileThatIsRenamedIsReadToItsEnd(t *testing.T) {
	f := newFollowed(t)
	f.begin(false)
	f.write(opened("a"))
	f.events(1)
	f.write(opened("b") + opened("c")[:10])
	f.rename(".1")
	f.write(opened("c")[10:] + opened("d"))
	f.events(4)
	f.rename(".2")
	f.write(opened("e"))
	f.events(5)
	if d := dropped(f.a); d != "" {
		t.Errorf("dropped: %s", d)
	}
	f.end()
}

func TestAFileThatIsCopiedAndTruncatedIsReadToItsEnd(t *testing.T) {
	f := newFollowed(t)
	f.begin(false)
	f.write(opened("a"))
	f.events(1)
	f.restart(func() {
		f.write(opened("b") + opened("c")[:10])
		f.copyTruncate(".1")
		f.write(opened("c")[10:])
	})
	f.events(3)
	if d := dropped(f.a); d != "" {
		t.Errorf("dropped: %s", d)
	}
	f.end()
}

//promise:dropped kill
func TestALineThatIsCutAndNeverCompletedIsCounted(t *testing.T) {
	f := newFollowed(t)
	f.begin(false)
	f.write(opened("a") + opened("b")[:10])
	f.events(1)
	f.rename(".1")
	f.write(opened("c"))
	f.events(2)
	if d := dropped(f.a); d != "cut 1" {
		t.Errorf("dropped: %s", d)
	}
	f.end()
}

func TestATruncatedFileIsReadFromItsBeginning(t *testing.T) {
	f := newFollowed(t)
	f.write(opened("a") + opened("b"))
	f.begin(false)
	f.events(2)
	if err := os.Truncate(f.path, 0); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is noticed", func() bool { return f.a.Counters().Rotated == 1 })
	f.write(opened("c"))
	f.events(3)
	f.end()
}

// Events of the same instance continue after the restart: the state has its marking.
func TestARestartLosesAndRepeatsNothing(t *testing.T) {
	for rule, meanwhile := range map[string]func(f *followed){
		"nothing happens":         func(f *followed) { f.write(paid("a")) },
		"it is renamed":           func(f *followed) { f.rename(".1"); f.write(paid("a")) },
		"it is renamed twice":     func(f *followed) { f.rename(".2"); f.write(paid("a")); f.rename(".1"); f.write("") },
		"in the middle of a line": func(f *followed) { f.write(paid("a")[:30]); f.rename("-20260101"); f.write(paid("a")[30:]) },
		"it is copied":            func(f *followed) { f.write(paid("a")); f.copyTruncate(".1") },
	} {
		t.Run(rule, func(t *testing.T) {
			f := newFollowed(t)
			f.write(opened("a"))
			f.begin(false)
			f.events(1)
			f.restart(func() { meanwhile(f) })
			f.events(2)
			if d := dropped(f.a); d != "" {
				t.Errorf("dropped: %s", d)
			}
			f.restart(func() { f.write(opened("z")) })
			f.events(3)
			f.end()
		})
	}
}

// A file that is gone is counted, and the files after it are still read.
func TestAFileThatIsGoneIsCountedAndWhatCameAfterItIsRead(t *testing.T) {
	for name, c := range map[string]struct {
		after  func(f *followed)
		events uint64
	}{
		"one file after it": {func(f *followed) { f.write(opened("another, which is longer")) }, 2},
		"a rotated file after it": {func(f *followed) {
			f.write(opened("b, which is longer"))
			f.rename(".1")
			f.write(opened("c"))
		}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFollowed(t)
			f.write(opened("a"))
			f.begin(false)
			f.events(1)
			f.restart(func() {
				if err := os.Remove(f.path); err != nil {
					t.Fatal(err)
				}
				c.after(f)
			})
			f.events(c.events)
			if d := dropped(f.a); d != "gone 1" {
				t.Errorf("dropped: %s", d)
			}
			f.end()
		})
	}
}

// The next process publishes the counts that are not published yet, and no others.
func TestCountsArePublishedOnceOverARestart(t *testing.T) {
	f := newFollowed(t)
	f.write(opened("a"))
	f.begin(false)
	f.events(1)
	if got := firings(seen(t, f.a, someTime)); got != "1 0 0" { // these are published
		t.Fatal(got)
	}
	f.write(paid("a"))
	f.events(2)
	f.restart(func() {})
	if got := firings(seen(t, f.a, someTime)); got != "0 1 0" {
		t.Errorf("the next process publishes %s firings", got)
	}
	if got := firings(seen(t, f.a, someTime)); got != "0 1 0" {
		t.Errorf("and then %s", got)
	}
	f.end()
}

// stateText returns a state file.
func stateText(state []byte) []byte {
	return stateContent.Text(framed.Frame{Kind: stateKind, Payload: state})
}

func TestAnInvalidStateIsRejected(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	a := attach(t, nil)
	body := a.appendState(nil)
	whole := string(stateText(body))
	for text, want := range map[string]string{
		"":                                    "damaged at byte 0: expected",
		"hello":                               "damaged at byte 0: expected",
		whole[:len(whole)-3]:                  "the file is cut short",
		whole + "x":                           "the file goes on after its end",
		"pnagent lines state 1\n":             "which an earlier release wrote; expected version 2",
		"pnagent lines state 3\n":             "which a later release wrote",
		string(stateText(body[:len(body)-1])): "a state that cannot be read",
		string(stateText(append(body, 1))):    "a state that cannot be read",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := New(Config{Nets: compiled(t, orders), Fields: defaultFields(), State: path})
		var damage *framed.DamagedError
		var version *framed.VersionError
		if !errors.As(err, &damage) && !errors.As(err, &version) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%q: %v; want %s", text, err, want)
		}
	}
}

// At rest nothing is written, however often the counts are published.
func TestAStateIsWrittenForAChangeOnly(t *testing.T) {
	f := newFollowed(t)
	f.write(opened("a"))
	f.begin(false)
	f.events(1)
	published := func() os.FileInfo {
		seen(t, f.a, f.a.clock())
		file, err := os.Stat(f.state)
		if err != nil {
			t.Fatal(err)
		}
		return file
	}
	published()
	first := published() // the first had counts that were not published
	for range 3 {
		if !os.SameFile(first, published()) {
			t.Fatal("the file is replaced by one with the same state")
		}
	}
	f.write(paid("a"))
	f.events(2)
	if next := published(); os.SameFile(first, next) {
		t.Error("a change is not written")
	}
	f.end()
}

func TestAStateThatCannotBeWrittenIsCounted(t *testing.T) {
	a := attach(t, func(c *Config) { c.State = filepath.Join(t.TempDir(), "none", "state") })
	a.Save()
	if n := a.Counters().SaveFailures; n != 1 {
		t.Errorf("%d failures", n)
	}
}

func FuzzState(f *testing.F) {
	a := attach(f, func(c *Config) { c.Window = time.Hour })
	if err := a.Feed().Take(f.Context(), []byte(opened("a")), nil); err != nil {
		f.Fatal(err)
	}
	a.positions["log"] = &position{inode: 5, offset: 7, carry: []byte("x")}
	f.Add(stateText(a.appendState(nil)))
	take(f, a, named("shop a t1"))
	f.Add(stateText(a.appendState(nil)))
	f.Add(a.appendState([]byte("pnagent lines state 1\n")))
	f.Fuzz(func(t *testing.T, b []byte) {
		a := attach(t, nil)
		if a.loadState(b) == nil {
			a.Flush()
		}
		s := &replay.StateReader{Rest: b}
		_ = readPosition(s)
		a.loadWindow(s, map[int32]int32{0: 0})
	})
}

func TestAMissingFileIsLoggedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		a := attach(t, func(c *Config) { c.Log = slog.New(slog.NewTextHandler(&log, nil)) })
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		path := filepath.Join(t.TempDir(), "engine.log")
		if err := a.Follow(ctx, Follow{Path: path, Poll: time.Second}); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		if n := strings.Count(log.String(), path); n != 1 {
			t.Errorf("the log has %d lines about the missing file, want 1:\n%s", n, log.String())
		}
	})
}
