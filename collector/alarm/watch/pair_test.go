// SPDX-License-Identifier: Apache-2.0

package watch

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/collector/alarm/alarmtest"
)

//promise:clears kill
func TestUnconfirmedNotificationsAreSentAgainAfterACrash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "alarms.state")
		w := &world{net: alarmtest.Wide("n", 1, time.Now().Add(-time.Hour).UnixMicro())}
		hang := func(ctx context.Context, _ alarm.Notification) error { <-ctx.Done(); return ctx.Err() }
		cfg := Config{Views: w.view.Subscribe(), StateFile: path, Sinks: []Sink{{Name: "s", Send: hang}}, Share: func([][]byte, bool) {}}
		w.run(t, New(cfg), 3*time.Second)
		var second recorder
		cfg.Sinks[0].Send = second.record
		w.run(t, New(cfg), 5*time.Second)
		if raised, cleared, _ := second.count(); raised != 1 || cleared != 0 {
			t.Fatalf("%d raised, %d cleared", raised, cleared)
		}
		first := second.got[0].Alarm.Index
		var third recorder
		cfg.Sinks[0].Send = third.record
		if err := os.Chtimes(path, time.Time{}, time.Now()); err != nil { // by the clock of the test
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		again := New(cfg)
		w.run(t, again, 5*time.Second)
		if raised, _, _ := third.count(); raised != 0 || again.State().Active[0].Index != first {
			t.Errorf("a confirmed notification is sent again: %d, index %d after %d", raised, again.State().Active[0].Index, first)
		}
		if last := again.core.Saved().Last; last < first+3500 {
			t.Errorf("after an hour in which another one may have given indices they go on after %d, before %d", last, first)
		}
	})
}

func TestRunWaitsForUnfinishedNotificationsAndSharesThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{net: alarmtest.Wide("n", 1, time.Now().Add(-time.Hour).UnixMicro())}
		slow := func(context.Context, alarm.Notification) error { time.Sleep(endWithin / 2); return nil }
		var last atomic.Pointer[alarm.Saved]
		watcher := New(Config{Views: w.view.Subscribe(), Sinks: []Sink{{Name: "s", Send: slow}}, Share: func(pages [][]byte, _ bool) {
			for _, page := range pages {
				s, err := alarm.ParsePage(page)
				if err != nil {
					t.Error(err)
				}
				last.Store(&s)
			}
		}})
		w.run(t, watcher, 10*time.Millisecond)
		if s := last.Load(); s == nil || len(s.Alarms) != 1 || s.Alarms[0].Phase != alarm.Raised {
			t.Errorf("the last that is shared is %+v", s)
		}
	})
}

func TestInvalidPagesAreRejected(t *testing.T) {
	w := New(Config{Share: func([][]byte, bool) {}})
	if err := w.Fold([]byte("no page")); !errors.Is(err, alarm.ErrState) {
		t.Errorf("what is no page gives %v", err)
	}
	page := alarm.Saved{Last: 1}
	for range inboxLength {
		if err := w.Fold(page.Text()); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Fold(page.Text()); !errors.Is(err, ErrBusy) {
		t.Errorf("one more gives %v", err)
	}
}

func TestAStandbyNotifiesOnlyAtATakeOverAndOnlyUnsentChanges(t *testing.T) {
	for _, c := range []struct {
		rule    string
		onDuty  time.Duration // after the alarms are raised
		from    time.Duration // the same
		sent    int
		skipped uint64
	}{
		{"the other one sent it", 10 * time.Second, 5 * time.Second, 0, 3},
		{"the other one may not have sent it", 10 * time.Second, -2 * time.Second, 3, 0},
		{"the other one sent it long ago", time.Minute, -2 * time.Second, 0, 3},
	} {
		t.Run(c.rule, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &world{net: alarmtest.Wide("n", 3, time.Now().UnixMicro())}
				raised := time.Now().Add(10 * time.Minute) // by the default rules
				var sink recorder
				watcher := New(Config{Views: w.view.Subscribe(), ForgetAfter: forgetAfter, Sinks: []Sink{{Name: "recorder", Send: sink.record}},
					Duty: func() (alarm.Duty, func()) {
						return alarm.Duty{On: time.Since(raised) >= c.onDuty, From: raised.Add(c.from).UnixMicro()}, func() {}
					}})
				w.run(t, watcher, 12*time.Minute)
				if n := len(watcher.State().Active); n != 3 {
					t.Errorf("%d alarms are active", n)
				}
				if sent, _, _ := sink.count(); sent != c.sent {
					t.Errorf("%d are sent, want %d", sent, c.sent)
				}
				if k := watcher.Counters(); k.Skipped.Standby != c.skipped || k.Suppressed != 0 {
					t.Errorf("%+v skipped, %d suppressed", k.Skipped, k.Suppressed)
				}
			})
		})
	}
}
