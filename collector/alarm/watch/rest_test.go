// SPDX-License-Identifier: Apache-2.0

package watch

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/collector/alarm/alarmtest"
	"github.com/pnagent/pnagent/collector/merge"
)

// Without Views, pages and notifications there is nothing to do, for hours.
func TestAWatcherWithoutWorkDoesNotWake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turned := make(chan struct{})
		var looks int
		watcher := New(Config{Turned: turned, Duty: func() (alarm.Duty, func()) { looks++; return alarm.Duty{On: true}, func() {} }})
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { _ = watcher.Run(ctx) })
		time.Sleep(24 * time.Hour)
		synctest.Wait()
		if looks != 1 {
			t.Errorf("it looked at its duty %d times in a day; want once, at its start", looks)
		}
		turned <- struct{}{}
		synctest.Wait()
		if looks != 2 {
			t.Errorf("it looked at its duty %d times; want 2, the last when the duty changed", looks)
		}
		cancel()
		wg.Wait()
	})
}

// What waits for time and not for a View is sent when its time has come, and wakes the
// Watcher once each: the end of a silence, clears beyond the limit, and the report of
// suppressed notifications.
func TestAWatcherWakesForWhatIsDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const places = 100
		sink, looks := &recorder{}, 0
		views, net := make(chan *merge.View), alarmtest.Wide("n", places, time.Now().Add(-time.Hour).UnixMicro())
		watcher := New(Config{Rules: quickRules(t), Views: views, Sinks: []Sink{{Name: "recorder", Send: sink.record}},
			Duty: func() (alarm.Duty, func()) { looks++; return alarm.Duty{On: true}, func() {} }})
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { _ = watcher.Run(ctx) })
		if _, err := watcher.Silence(ctx, alarm.Silence{By: "ada", Selection: alarm.Selection{Place: "p1"}}, time.Minute); err != nil {
			t.Fatal(err)
		}
		wait := func(d time.Duration, raised, cleared, reports int) {
			t.Helper()
			time.Sleep(d)
			synctest.Wait()
			if r, c, n := sink.count(); r != raised || c != cleared || n != reports {
				t.Errorf("%d raised, %d cleared, %d reports; want %d, %d, %d", r, c, n, raised, cleared, reports)
			}
		}
		views <- alarmtest.ViewOf(net)
		wait(time.Millisecond, 50, 0, 0)
		wait(time.Second, 50, 0, 1) // the storm is over
		wait(55*time.Second, 50, 0, 1)
		wait(5*time.Second, 51, 0, 1) // the silence is over
		views <- alarmtest.ViewOf(alarmtest.Moved(net, 0))
		wait(time.Millisecond, 51, 25, 1) // those that leave the reserve
		wait(time.Minute, 51, 51, 2)
		before := looks
		wait(time.Hour, 51, 51, 2)
		if looks != before {
			t.Errorf("it woke %d times in an hour without anything due", looks-before)
		}
		cancel()
		wg.Wait()
	})
}
