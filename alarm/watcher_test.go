// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/collector"
	"github.com/pnagent/pnagent/internal/atomicfile"
)

// world makes Views of one net, one a second, until it ends.
type world struct {
	view atomic.Pointer[collector.View]
	net  *collector.Net
}

func (w *world) show() { w.view.Store(viewOf(w.net)) }

// run runs a Watcher with a View a second for a time and returns when it has
// ended.
func (w *world) run(t *testing.T, watcher *Watcher, during time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), during)
	defer cancel()
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := watcher.Run(ctx); err != nil {
			t.Errorf("Run returns %v", err)
		}
	})
	for ctx.Err() == nil {
		w.show()
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
		}
	}
	wg.Wait()
}

// ear is a sink that remembers.
type ear struct {
	mu    sync.Mutex
	heard []Notification
}

func (e *ear) hear(_ context.Context, n Notification) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.heard = append(e.heard, n)
	return nil
}

// count is how many were raised, cleared, and words of suppressed ones.
func (e *ear) count() (raised, cleared, words int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, n := range e.heard {
		switch {
		case n.Suppressed > 0:
			words++
		case n.Raise:
			raised++
		default:
			cleared++
		}
	}
	return raised, cleared, words
}

func TestAThousandPlacesAreToldOfInOneBurstAndRestartsRaiseNothingAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "alarms.state")
		w := &world{net: wide("n", 1000, time.Now().UnixMicro())}
		first := &ear{}
		cfg := Config{View: w.view.Load, ForgetAfter: forgetAfter, StateFile: path, Sinks: []Sink{{Name: "ear", Send: first.hear}}}
		watcher := New(cfg)
		w.run(t, watcher, 11*time.Minute)
		if raised, cleared, words := first.count(); raised != 50 || cleared != 0 || words != 1 {
			t.Errorf("%d raised, %d cleared, %d words", raised, cleared, words)
		}
		before := watcher.State()
		if len(before.Active) != 1000 || before.Suppressed != 950 {
			t.Errorf("%d active, %d suppressed", len(before.Active), before.Suppressed)
		}
		for range 3 {
			again := &ear{}
			cfg.Sinks[0].Send = again.hear
			watcher = New(cfg)
			if d := cmp.Diff(before.Active, watcher.State().Active); d != "" {
				t.Errorf("before the first View: %s", d)
			}
			w.run(t, watcher, time.Minute)
			if again.heard != nil || watcher.Counters().Raised[TokenStuck] != 0 {
				t.Errorf("a restart raises %d anew and tells %v", watcher.Counters().Raised[TokenStuck], again.heard)
			}
			if d := cmp.Diff(before.Active, watcher.State().Active); d != "" || watcher.State().LastChange != before.LastChange {
				t.Errorf("after a restart: %s", d)
			}
		}
		last := &ear{}
		cfg.Sinks[0].Send = last.hear
		watcher = New(cfg)
		w.net = moved(w.net, time.Now().UnixMicro())
		w.run(t, watcher, 3*time.Minute)
		if raised, cleared, words := last.count(); raised != 0 || cleared != 50 || words != 1 || len(watcher.State().Active) != 0 {
			t.Errorf("%d raised, %d cleared, %d words, %d active", raised, cleared, words, len(watcher.State().Active))
		}
		if c := watcher.Counters(); c.Cleared[TokenStuck] != 1000 || c.Suppressed != 950 || c.Sinks[0] != (SinkCounters{"ear", 51, 0}) {
			t.Errorf("%+v", c)
		}
	})
}

func TestRulesAreReadAgainWhileItRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{net: wide("n", 3, time.Now().UnixMicro())}
		e := &ear{}
		watcher := New(Config{View: w.view.Load, Sinks: []Sink{{Name: "ear", Send: e.hear}}})
		strict, err := ReadRules(strings.NewReader("defaults:\n  stuck: {after: 20s, clear_after: 5s}\n"), "rules.yaml")
		if err != nil {
			t.Fatal(err)
		}
		at := func(after time.Duration, do func()) { time.AfterFunc(after, do) }
		at(30*time.Second, func() { watcher.Reload(strict) })
		at(60*time.Second, func() {
			if raised, cleared, _ := e.count(); raised != 3 || cleared != 0 {
				t.Errorf("by the stricter rules %d raised, %d cleared", raised, cleared)
			}
			watcher.Reload(nil)
		})
		w.run(t, watcher, 3*time.Minute)
		if raised, cleared, _ := e.count(); raised != 3 || cleared != 3 || len(watcher.State().Active) != 0 {
			t.Errorf("by the default rules %d raised, %d cleared, %d active", raised, cleared, len(watcher.State().Active))
		}
		if c := watcher.Counters(); c.Raised[TokenStuck] != 3 || c.Cleared[TokenStuck] != 3 {
			t.Errorf("a reload forgets what was counted: %+v", c.Tally)
		}
	})
}

func TestASinkThatHangsHoldsUpNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{net: wide("n", 20, time.Now().UnixMicro())}
		e := &ear{}
		hang := func(ctx context.Context, _ Notification) error { <-ctx.Done(); return ctx.Err() }
		watcher := New(Config{View: w.view.Load, Sinks: []Sink{{Name: "hangs", Send: hang, Timeout: time.Second}, {Name: "ear", Send: e.hear}}})
		w.run(t, watcher, 605*time.Second)
		if len(e.heard) != 20 || len(watcher.State().Active) != 20 {
			t.Errorf("the other sink heard %d, %d are active", len(e.heard), len(watcher.State().Active))
		}
		want := []SinkCounters{{"hangs", 0, 20}, {"ear", 20, 0}}
		if d := cmp.Diff(want, watcher.Counters().Sinks); d != "" {
			t.Error(d)
		}
	})
}

func TestWhatDoesNotFitIntoTheQueueOfASinkHasFailed(t *testing.T) {
	m := newMouth(Sink{Name: "s"}, slog.New(slog.DiscardHandler))
	for range queueLength + 3 {
		m.take(delivery{done: func() {}})
	}
	if c := m.counters(); c.Failed != 3 {
		t.Errorf("%d failed", c.Failed)
	}
}

func TestASinkThatIsNotReadyIsAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{net: wide("n", 2, time.Now().UnixMicro())}
		ready := time.Now().Add(605 * time.Second)
		e, log := &ear{}, &bytes.Buffer{}
		send := func(ctx context.Context, n Notification) error {
			if time.Now().Before(ready) {
				return fmt.Errorf("connecting: %w", ErrNotReady)
			}
			return e.hear(ctx, n)
		}
		never := func(context.Context, Notification) error { return ErrNotReady }
		watcher := New(Config{View: w.view.Load, Log: slog.New(slog.NewTextHandler(log, nil)), Sinks: []Sink{{Name: "later", Send: send}, {Name: "never", Send: never, Timeout: time.Second}}})
		w.run(t, watcher, 620*time.Second)
		if d := cmp.Diff([]SinkCounters{{"later", 2, 0}, {"never", 0, 2}}, watcher.Counters().Sinks); d != "" {
			t.Error(d)
		}
		if n := strings.Count(log.String(), "sending a notification"); n != 1 {
			t.Errorf("that a sink is down is logged %d times", n)
		}
	})
}

func TestADamagedFileIsSaidAndItsNumbersAreNotUsedAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "alarms.state")
	s := someSaved()
	if err := os.WriteFile(path, s.Text()[:30], 0o600); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	least := FirstIndex(time.Now().UnixMicro())
	watcher := New(Config{View: func() *collector.View { return nil }, StateFile: path, Log: slog.New(slog.NewTextHandler(&log, nil))})
	if !strings.Contains(log.String(), "starting without the alarms from before") || !strings.Contains(log.String(), path) {
		t.Errorf("the log says %q", log.String())
	}
	watcher.work(viewOf(wide("n", 1, 1)), true, time.Now().UnixMicro())
	if got := watcher.State().Active; len(got) != 1 || got[0].Index <= least {
		t.Errorf("%+v; expected an index above %d", got, least)
	}
	if saved, _, err := readState(path); err != nil || len(saved.Active) != 1 {
		t.Errorf("then the file has %+v, %v", saved, err)
	}
}

func TestADirectoryThatCannotBeWrittenStopsNoAlarm(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	watcher := New(Config{View: func() *collector.View { return nil }, StateFile: filepath.Join(file, "alarms.state"), Log: slog.New(slog.NewTextHandler(&log, nil))})
	for i := range int64(3) {
		watcher.work(viewOf(wide("n", 1, t0)), true, t0+700e6+i)
	}
	if len(watcher.State().Active) != 1 || watcher.Counters().SaveFailures != 3 {
		t.Errorf("%+v", watcher.Counters())
	}
	if n := strings.Count(log.String(), "saving the alarms"); n != 1 {
		t.Errorf("it is logged %d times: %s", n, log.String())
	}
	if err := errors.Join(os.Remove(file), os.Mkdir(file, 0o700)); err != nil {
		t.Fatal(err)
	}
	watcher.work(viewOf(wide("n", 1, t0)), true, t0+701e6)
	if saved, _, err := readState(filepath.Join(file, "alarms.state")); err != nil || len(saved.Active) != 1 {
		t.Errorf("when there is a directory the file has %+v, %v", saved, err)
	}
}

func TestADiskThatHangsHoldsUpAlarmsOnceAndShortly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		watcher := New(Config{View: func() *collector.View { return nil }, StateFile: filepath.Join(t.TempDir(), "alarms.state")})
		answer, writes := make(chan error), atomic.Int32{}
		watcher.saver.write = func(*Saved) error { writes.Add(1); return <-answer }
		begun := time.Now()
		for i := range 5 {
			watcher.work(viewOf(wide("n", i+1, 1)), true, time.Now().UnixMicro())
			if n := len(watcher.State().Active); n != i+1 {
				t.Errorf("%d are active", n)
			}
		}
		if took := time.Since(begun); took != atomicfile.Patience || writes.Load() != 1 || watcher.Counters().SaveFailures != 5 {
			t.Errorf("it took %s and %d writes, %d failures", took, writes.Load(), watcher.Counters().SaveFailures)
		}
		answer <- nil
		synctest.Wait()
		var last Saved
		watcher.saver.write = func(s *Saved) error { last = *s; return nil }
		watcher.work(viewOf(wide("n", 5, 1)), true, time.Now().UnixMicro())
		if len(last.Active) != 5 || !watcher.saved {
			t.Errorf("when the disk answers %d are saved", len(last.Active))
		}
	})
}

func TestAlarmsAsJSON(t *testing.T) {
	s := &State{LastChange: t0, Suppressed: 3, Active: []Alarm{
		{Index: 1, Kind: TokenStuck, Net: "n", Subject: "p <€>", Raised: t0, Since: t0 - 1500e6, Affected: 4, Text: "stuck"},
		{Index: 2, Kind: TransitionStarved, Net: "n", Subject: "t", Raised: t0, Since: t0},
		{Index: 3, Kind: SourceLost, Subject: "s", Raised: t0, Since: t0},
		{Index: 4, Kind: NetDeadlocked, Net: "n", Raised: t0, Since: t0 + 5e6},
	}}
	var b bytes.Buffer
	if err := WriteJSON(&b, s, t0+500_000); err != nil {
		t.Fatal(err)
	}
	want := `{"last_change":"2026-09-21T14:13:20Z","notifications_suppressed":3,"active":[` +
		`{"index":1,"alarm":"tokenStuck","net":"n","place":"p <€>","raised":"2026-09-21T14:13:20Z","since":"2026-09-21T13:48:20Z","age_seconds":1500.5,"affected":4,"text":"stuck"},` +
		`{"index":2,"alarm":"transitionStarved","net":"n","transition":"t","raised":"2026-09-21T14:13:20Z","since":"2026-09-21T14:13:20Z","age_seconds":0.5,"affected":0,"text":""},` +
		`{"index":3,"alarm":"sourceLost","source":"s","raised":"2026-09-21T14:13:20Z","since":"2026-09-21T14:13:20Z","age_seconds":0.5,"affected":0,"text":""},` +
		`{"index":4,"alarm":"netDeadlocked","net":"n","raised":"2026-09-21T14:13:20Z","since":"2026-09-21T14:13:25Z","age_seconds":0,"affected":0,"text":""}]}` + "\n"
	if d := cmp.Diff(want, b.String()); d != "" {
		t.Error(d)
	}
	h := Handler(func() *State { return &State{} })
	for method, want := range map[string]int{http.MethodGet: 200, http.MethodHead: 200, http.MethodPost: 405} {
		r := httptest.NewRecorder()
		h.ServeHTTP(r, httptest.NewRequest(method, "/api/v1/alarms", nil))
		body, _ := io.ReadAll(r.Body)
		if r.Code != want || method == http.MethodGet && string(body) != `{"notifications_suppressed":0,"active":[]}`+"\n" {
			t.Errorf("%s gives %d %q", method, r.Code, body)
		}
	}
}
