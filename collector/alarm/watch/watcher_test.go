// SPDX-License-Identifier: Apache-2.0

package watch

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/collector/alarm/alarmtest"
	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/internal/atomicfile"
	"github.com/pnagent/pnagent/internal/latest"
)

const (
	t0          = int64(1_790_000_000_000_000) // an arbitrary moment in 2026
	forgetAfter = 15 * time.Minute
)

// quickRules raise an alarm after a second, and clear it at once.
func quickRules(t *testing.T) *alarm.Rules {
	rules, err := alarm.ReadRules(strings.NewReader("settle: 6s\ndefaults:\n  stuck: {after: 1s, clear_after: 0s}\n  starved: off\n"), "rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

// world publishes a View of one net each second.
type world struct {
	view latest.Value[merge.View]
	net  *merge.NetView
	then *merge.NetView // the net from a time on; nil if it stays as it is
	from time.Time
}

func (w *world) show() {
	net := w.net
	if w.then != nil && !time.Now().Before(w.from) {
		net = w.then
	}
	w.view.Store(alarmtest.ViewOf(net))
}

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

// recorder is a sink that keeps its notifications.
type recorder struct {
	mu  sync.Mutex
	got []alarm.Notification
}

func (e *recorder) record(_ context.Context, n alarm.Notification) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.got = append(e.got, n)
	return nil
}

// count is how many were raised, cleared, and words of suppressed ones.
func (e *recorder) count() (raised, cleared, words int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, n := range e.got {
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

// outdated returns alarms as they are after a restart, before the first View.
func outdated(alarms []alarm.Alarm) []alarm.Alarm {
	alarms = slices.Clone(alarms)
	for i := range alarms {
		alarms[i].Outdated, alarms[i].Measured = true, 0
	}
	return alarms
}

func TestAThousandPlacesAreOneBurstAndRestartsRaiseNothingAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "alarms.state")
		w := &world{net: alarmtest.Wide("n", 1000, time.Now().UnixMicro())}
		first := &recorder{}
		cfg := Config{Views: w.view.Subscribe(), ForgetAfter: forgetAfter, StateFile: path, Sinks: []Sink{{Name: "recorder", Send: first.record}}}
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
			again := &recorder{}
			cfg.Sinks[0].Send = again.record
			watcher = New(cfg)
			if d := cmp.Diff(outdated(before.Active), watcher.State().Active); d != "" {
				t.Errorf("before the first View: %s", d)
			}
			w.run(t, watcher, time.Minute)
			if again.got != nil || watcher.Counters().Raised[alarm.TokenStuck] != 0 {
				t.Errorf("a restart raises %d again and sends %v", watcher.Counters().Raised[alarm.TokenStuck], again.got)
			}
			if d := cmp.Diff(before.Active, watcher.State().Active); d != "" || watcher.State().LastChange != before.LastChange {
				t.Errorf("after a restart: %s", d)
			}
		}
		last := &recorder{}
		cfg.Sinks[0].Send = last.record
		watcher = New(cfg)
		w.net = alarmtest.Moved(w.net, time.Now().UnixMicro())
		w.run(t, watcher, 3*time.Minute)
		if raised, cleared, words := last.count(); raised != 0 || cleared != 1000 || words != 0 || len(watcher.State().Active) != 0 {
			t.Errorf("%d raised, %d cleared, %d words, %d active", raised, cleared, words, len(watcher.State().Active))
		}
		if c := watcher.Counters(); c.Cleared[alarm.TokenStuck] != 1000 || c.Suppressed != 0 || c.Sinks[0] != (alarm.SinkCounters{Name: "recorder", Sent: 1000}) {
			t.Errorf("got %+v; want 1000 stuck tokens cleared and sent, as this process does not know of which of them the raise was suppressed", c)
		}
	})
}

func TestRulesAreReadAgainWhileItRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{net: alarmtest.Wide("n", 3, time.Now().UnixMicro())}
		e := &recorder{}
		watcher := New(Config{Views: w.view.Subscribe(), Sinks: []Sink{{Name: "recorder", Send: e.record}}})
		strict, err := alarm.ReadRules(strings.NewReader("defaults:\n  stuck: {after: 20s, clear_after: 5s}\n"), "rules.yaml")
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
		if c := watcher.Counters(); c.Raised[alarm.TokenStuck] != 3 || c.Cleared[alarm.TokenStuck] != 3 {
			t.Errorf("a reload forgets what was counted: %+v", c.Tally)
		}
	})
}

func TestASinkThatHangsDelaysNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{net: alarmtest.Wide("n", 20, time.Now().UnixMicro())}
		e := &recorder{}
		hang := func(ctx context.Context, _ alarm.Notification) error { <-ctx.Done(); return ctx.Err() }
		watcher := New(Config{Views: w.view.Subscribe(), Sinks: []Sink{{Name: "hangs", Send: hang, Timeout: time.Second}, {Name: "recorder", Send: e.record}}})
		w.run(t, watcher, 605*time.Second)
		if len(e.got) != 20 || len(watcher.State().Active) != 20 {
			t.Errorf("the other sink received %d, %d are active", len(e.got), len(watcher.State().Active))
		}
		hangs, recorded := watcher.Counters().Sinks[0], watcher.Counters().Sinks[1]
		if why := hangs.Failed; hangs.Sent != 0 || why[alarm.Unanswered] < 3 || why[alarm.Unanswered]+why[alarm.Stopped] != 20 { // by the end of the process
			t.Errorf("%+v", hangs)
		}
		if d := cmp.Diff(alarm.SinkCounters{Name: "recorder", Sent: 20}, recorded); d != "" {
			t.Error(d)
		}
	})
}

func TestNotificationsBeyondTheQueueOfASinkHaveFailed(t *testing.T) {
	m := newSender(Sink{Name: "s"}, slog.New(slog.DiscardHandler))
	for range queueLength + 3 {
		m.enqueue(delivery{done: func() {}})
	}
	if c := m.counters(); c.Failed != (alarm.Failures{alarm.QueueFull: 3}) {
		t.Errorf("%v failed", c.Failed)
	}
}

func TestASinkThatIsNotReadyIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{net: alarmtest.Wide("n", 2, time.Now().UnixMicro())}
		ready := make(chan struct{})
		time.AfterFunc(605*time.Second, func() { close(ready) })
		e, log := &recorder{}, &bytes.Buffer{}
		send := func(ctx context.Context, n alarm.Notification) error {
			select {
			case <-ready:
				return e.record(ctx, n)
			default:
				return &NotReadyError{Err: errors.New("connecting"), Ready: ready}
			}
		}
		never := func(context.Context, alarm.Notification) error { return &NotReadyError{Err: errors.New("off")} }
		watcher := New(Config{Views: w.view.Subscribe(), Log: slog.New(slog.NewTextHandler(log, nil)), Sinks: []Sink{{Name: "later", Send: send}, {Name: "never", Send: never, Timeout: time.Second}}})
		w.run(t, watcher, 620*time.Second)
		if d := cmp.Diff([]alarm.SinkCounters{{Name: "later", Sent: 2}, {Name: "never", Failed: alarm.Failures{alarm.NotReady: 2}}}, watcher.Counters().Sinks); d != "" {
			t.Error(d)
		}
		if n := strings.Count(log.String(), "cannot send a notification"); n != 1 {
			t.Errorf("that a sink is down is logged %d times", n)
		}
	})
}

func TestADamagedFileIsLoggedAndItsIndicesAreNotUsedAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "alarms.state")
	s := someSaved()
	if err := os.WriteFile(path, s.Text()[:30], 0o600); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	least := alarm.FirstIndex(time.Now().UnixMicro())
	watcher := New(Config{StateFile: path, Log: slog.New(slog.NewTextHandler(&log, nil))})
	if !strings.Contains(log.String(), "starting without earlier alarms") || !strings.Contains(log.String(), path) {
		t.Errorf("the log has %q", log.String())
	}
	watcher.work(alarmtest.ViewOf(alarmtest.Wide("n", 1, 1)), time.Now().UnixMicro())
	if got := watcher.State().Active; len(got) != 1 || got[0].Index <= least {
		t.Errorf("%+v; expected an index above %d", got, least)
	}
	if saved, err := readState(path); err != nil || len(saved.value.Alarms) != 1 {
		t.Errorf("then the file has %+v, %v", saved, err)
	}
}

func TestADirectoryThatCannotBeWrittenStopsNoAlarm(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	watcher := New(Config{StateFile: filepath.Join(file, "alarms.state"), Log: slog.New(slog.NewTextHandler(&log, nil))})
	for i := range int64(3) {
		watcher.work(alarmtest.ViewOf(alarmtest.Wide("n", 1, t0)), t0+700e6+i)
	}
	if len(watcher.State().Active) != 1 || watcher.Counters().SaveFailures != 3 {
		t.Errorf("got %+v and %d active alarms; want three failed writes and one alarm", watcher.Counters(), len(watcher.State().Active))
	}
	if n := strings.Count(log.String(), "cannot save the alarms"); n != 1 {
		t.Errorf("it is logged %d times: %s", n, log.String())
	}
	if err := errors.Join(os.Remove(file), os.Mkdir(file, 0o700)); err != nil {
		t.Fatal(err)
	}
	watcher.work(alarmtest.ViewOf(alarmtest.Wide("n", 1, t0)), t0+701e6)
	if saved, err := readState(filepath.Join(file, "alarms.state")); err != nil || len(saved.value.Alarms) != 1 {
		t.Errorf("when there is a directory the file has %+v, %v", saved, err)
	}
}

//promise:clears disk
func TestADiskThatHangsDelaysAlarmsOnceAndBriefly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		watcher := New(Config{StateFile: filepath.Join(t.TempDir(), "alarms.state")})
		answer, writes := make(chan error), atomic.Int32{}
		watcher.file.write = func(string, []byte) error { writes.Add(1); return <-answer }
		begun := time.Now()
		for i := range 5 {
			watcher.work(alarmtest.ViewOf(alarmtest.Wide("n", i+1, 1)), time.Now().UnixMicro())
			if n := len(watcher.State().Active); n != i+1 {
				t.Errorf("%d are active", n)
			}
		}
		if took := time.Since(begun); took != atomicfile.Patience || writes.Load() != 1 || watcher.Counters().SaveFailures != 5 {
			t.Errorf("it took %s and %d writes, %d failures", took, writes.Load(), watcher.Counters().SaveFailures)
		}
		answer <- nil
		synctest.Wait()
		var last alarm.Saved
		watcher.file.write = func(_ string, text []byte) (err error) {
			last, _, err = parseFile(text, alarmsContent, alarm.ParseSaved)
			return err
		}
		watcher.work(alarmtest.ViewOf(alarmtest.Wide("n", 5, 1)), time.Now().UnixMicro())
		if len(last.Alarms) != 5 || !watcher.file.saved {
			t.Errorf("when the disk answers %d are saved", len(last.Alarms))
		}
	})
}

// A station has 200 alarms, which came one after the other. All are over at once: each gets
// its clear, at the rate of the bucket.
//
//promise:clears load
func TestAMassRecoveryClearsWhatWasRaised(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const places = 200
		var sink recorder
		w := &world{net: alarmtest.Wide("n", places, time.Now().UnixMicro())}
		for i := range w.net.Rows.Places { // five are stuck each second
			w.net.Rows.Places[i].Oldest += int64(i) * 200e3
		}
		watcher := New(Config{Views: w.view.Subscribe(), ForgetAfter: forgetAfter, Sinks: []Sink{{Name: "recorder", Send: sink.record}}})
		w.run(t, watcher, 12*time.Minute)
		if raised, _, words := sink.count(); raised != places || words != 0 {
			t.Fatalf("%d raised, %d words", raised, words)
		}
		w.net = alarmtest.Moved(w.net, time.Now().UnixMicro())
		w.run(t, watcher, 90*time.Second) // they are over after a minute
		if _, cleared, words := sink.count(); cleared != places || words != 0 {
			t.Errorf("%d of %d raises have their clear, %d words of suppressed ones", cleared, places, words)
		}
	})
}
