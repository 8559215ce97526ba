// SPDX-License-Identifier: Apache-2.0

package watch

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/collector/alarm/alarmtest"
)

// seen returns the notifications of a recorder as texts.
func (e *recorder) seen() (out []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, n := range e.got {
		what := "clear"
		if n.Raise {
			what = "raise"
		}
		out = append(out, what+" "+n.Alarm.Subject)
	}
	return out
}

func wants(t *testing.T, what string, want, got []string) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got): %s", what, d)
	}
}

// operated runs a Watcher and shows it a View a second, until the returned function is called.
func operated(t *testing.T, w *world, watcher *Watcher) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { _ = watcher.Run(ctx) })
	wg.Go(func() {
		for ctx.Err() == nil {
			w.show()
			select {
			case <-time.After(time.Second):
			case <-ctx.Done():
			}
		}
	})
	return func() { cancel(); wg.Wait() }
}

func TestNotesAreKeptOverARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, sink := t.TempDir(), &recorder{}
		w := &world{net: alarmtest.Wide("n", 3, time.Now().Add(-time.Hour).UnixMicro())}
		cfg := Config{Rules: quickRules(t), Views: w.view.Subscribe(), ForgetAfter: forgetAfter, StateFile: filepath.Join(dir, "alarms.state"), NotesFile: filepath.Join(dir, "alarms.notes"),
			Sinks: []Sink{{Name: "recorder", Send: sink.record}}}
		watcher := New(cfg)
		stop := operated(t, w, watcher)
		silence, err := watcher.Silence(t.Context(), alarm.Silence{By: "ada", Comment: "upgrade", Selection: alarm.Selection{Place: "p2"}}, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second)
		first := watcher.State().Active[0].Index
		if err := watcher.Acknowledge(t.Context(), []uint32{first}, "ada", "seen"); err != nil {
			t.Fatal(err)
		}
		before := watcher.State()
		if a := before.Active[0]; a.Ack == nil || a.Ack.By != "ada" || a.Ack.Comment != "seen" || a.SilencedUntil != 0 || before.Active[2].SilencedUntil != silence.Until || len(before.Silences) != 1 {
			t.Errorf("got %+v", before)
		}
		stop()
		watcher = New(cfg)
		after := watcher.State()
		if d := cmp.Diff([]any{outdated(before.Active), before.Silences}, []any{after.Active, after.Silences}); d != "" {
			t.Errorf("after a restart (-before +after): %s", d)
		}
		stop = operated(t, w, watcher)
		time.Sleep(10 * time.Second)
		if got := after.BySeverity(); got[alarm.Minor] != 2 {
			t.Errorf("%v alarms by severity; want those that are not silenced", got)
		}
		if err := watcher.Unsilence(t.Context(), silence.ID, "eve"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		wants(t, "notifications", []string{"raise p0", "raise p1", "raise p2"}, sink.seen())
		stop()
		w.net = alarmtest.Moved(w.net, 0)
		stop = operated(t, w, New(cfg))
		time.Sleep(10 * time.Second)
		stop()
		cleared := New(cfg).State().Cleared
		if len(cleared) != 3 || cleared[0].Index != first || cleared[0].Ack == nil || cleared[0].Raised == 0 || cleared[0].Cleared <= cleared[0].Raised || cleared[0].Severity != alarm.Minor || !strings.Contains(cleared[0].Text, "over after") {
			t.Errorf("cleared alarms of the previous process: %+v", cleared)
		}
	})
}

func TestOrdersForWhatIsNotThereAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{net: alarmtest.Wide("n", 1, time.Now().Add(-time.Hour).UnixMicro())}
		watcher := New(Config{Rules: quickRules(t), Views: w.view.Subscribe()})
		late, cancel := context.WithTimeout(t.Context(), time.Second)
		if err := watcher.Unsilence(late, "00c0ffee00c0ffee", "ada"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("before Run: %v", err)
		}
		cancel()
		stop := operated(t, w, watcher)
		time.Sleep(3 * time.Second)
		index := watcher.State().Active[0].Index
		for what, c := range map[string]struct {
			err, want error
		}{
			"an alarm that is not active": {watcher.Acknowledge(t.Context(), []uint32{index, index + 1}, "ada", ""), alarm.ErrNoAlarm},
			"no name":                     {watcher.Acknowledge(t.Context(), []uint32{index}, "", ""), alarm.ErrNote},
			"a long comment":              {watcher.Acknowledge(t.Context(), []uint32{index}, "ada", strings.Repeat("c", alarm.MaxComment+1)), alarm.ErrNote},
			"no UTF-8":                    {watcher.Unacknowledge(t.Context(), []uint32{index}, "ada", "\xff"), alarm.ErrNote},
			"an unknown silence":          {watcher.Unsilence(t.Context(), "00c0ffee00c0ffee", "ada"), alarm.ErrNoSilence},
		} {
			if !errors.Is(c.err, c.want) {
				t.Errorf("%s: %v; want %v", what, c.err, c.want)
			}
		}
		if _, err := watcher.Silence(t.Context(), alarm.Silence{By: "ada"}, time.Hour); !errors.Is(err, alarm.ErrNote) {
			t.Errorf("a silence of nothing: %v", err)
		}
		if a := watcher.State().Active[0]; a.Ack != nil {
			t.Errorf("an order that was refused acknowledged %+v", a)
		}
		stop()
	})
}

func TestADamagedFileOfNotesIsIgnoredAndLogged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "alarms.notes")
	if err := os.WriteFile(path, []byte("pnagent-notes 1\nack"), 0o600); err != nil {
		t.Fatal(err)
	}
	if s := New(Config{NotesFile: path}).State(); s.Silences != nil || s.Cleared != nil {
		t.Errorf("got %+v", s)
	}
}

// Two sidecars share what is noted at either, and the one that stands by does not notify.
func TestTwoSidecarsShareNotes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, other := &world{net: alarmtest.Wide("n", 2, time.Now().Add(-time.Hour).UnixMicro())}, &world{}
		other.net = w.net
		sinks := []*recorder{{}, {}}
		var pair [2]*Watcher
		var duty [2]alarm.Duty
		duty[0], duty[1] = alarm.Duty{On: true, Shared: true}, alarm.Duty{Shared: true}
		var mu sync.Mutex
		for i, views := range []*world{w, other} {
			pair[i] = New(Config{Rules: quickRules(t), Views: views.view.Subscribe(), Sinks: []Sink{{Name: "recorder", Send: sinks[i].record}},
				Duty: func() (alarm.Duty, func()) { mu.Lock(); return duty[i], mu.Unlock },
				Share: func(pages [][]byte, _ bool) {
					for _, p := range pages {
						_ = pair[1-i].Fold(p)
					}
				},
				ShareNotes: func(pages [][]byte) {
					for _, p := range pages {
						if err := pair[1-i].FoldNotes(p); err != nil {
							t.Error(err)
						}
					}
				}})
		}
		if pair[0].NotesDigest() != pair[1].NotesDigest() {
			t.Error("digests differ at the start")
		}
		stopSecond := operated(t, other, pair[1])
		if _, err := pair[1].Silence(t.Context(), alarm.Silence{By: "ada", Selection: alarm.Selection{Place: "p1"}}, time.Minute); err != nil {
			t.Fatal(err)
		}
		stopFirst := operated(t, w, pair[0])
		time.Sleep(5 * time.Second)
		index := pair[0].State().Active[0].Index
		if err := pair[1].Acknowledge(t.Context(), []uint32{index}, "ada", "at the standby"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if d := cmp.Diff(pair[1].State().Active, pair[0].State().Active); d != "" || pair[0].State().Active[0].Ack == nil || pair[0].NotesDigest() != pair[1].NotesDigest() {
			t.Errorf("the one on duty has %+v (-standby +on duty): %s", pair[0].State().Active, d)
		}
		wants(t, "notified during the silence", []string{"raise p0"}, sinks[0].seen())
		mu.Lock()
		duty[0], duty[1] = duty[1], duty[0]
		mu.Unlock()
		time.Sleep(2 * time.Minute)
		wants(t, "notified by the first", []string{"raise p0"}, sinks[0].seen())
		wants(t, "notified by the next, at the end of the silence", []string{"raise p1"}, sinks[1].seen())
		if err := pair[0].Unacknowledge(t.Context(), []uint32{index}, "eve", ""); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if a := pair[1].State().Active[0]; a.Ack != nil {
			t.Errorf("after the withdrawal there is %+v", a.Ack)
		}
		stopFirst()
		stopSecond()
	})
}
