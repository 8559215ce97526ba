// SPDX-License-Identifier: Apache-2.0

package wakeup_test

import (
	"math"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/pnagent/pnagent/internal/wakeup"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// each runs a test with each kind of timer, which is not yet over.
func each(t *testing.T, run func(t *testing.T, timer wakeup.Timer)) {
	for name, kind := range map[string]func() wakeup.Timer{"of Go": wakeup.New, "of a thread": wakeup.Thread} {
		t.Run(name, func(t *testing.T) {
			timer := kind()
			defer timer.Stop()
			run(t, timer)
		})
	}
}

// waited returns a channel that is closed when one Wait has returned.
func waited(timer wakeup.Timer) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		timer.Wait()
		close(done)
	}()
	return done
}

func TestWaitEndsAtTheTimeThatWasSetLast(t *testing.T) {
	each(t, func(t *testing.T, timer wakeup.Timer) {
		for _, before := range []time.Duration{time.Hour, math.MaxInt64, 0} {
			begin := time.Now()
			timer.Set(before)
			timer.Set(20 * time.Millisecond)
			timer.Wait()
			if took := time.Since(begin); took < 20*time.Millisecond {
				t.Errorf("after %v: over %v after it was set, want 20ms", before, took)
			}
		}
	})
}

func TestATimeThatHasComeEndsWaitAtOnce(t *testing.T) {
	each(t, func(_ *testing.T, timer wakeup.Timer) {
		for _, after := range []time.Duration{0, -time.Hour, time.Nanosecond} {
			timer.Set(after)
			timer.Wait()
		}
	})
}

// A timer that is set while a goroutine waits for a later time ends its wait.
func TestSetWhileAGoroutineWaits(t *testing.T) {
	each(t, func(_ *testing.T, timer wakeup.Timer) {
		timer.Set(time.Hour)
		done := waited(timer)
		time.Sleep(time.Millisecond)
		timer.Set(time.Millisecond)
		<-done
	})
}

// Wake ends the present Wait or the next one, whatever is set meanwhile, and only that one.
func TestWakeEndsOneWait(t *testing.T) {
	each(t, func(t *testing.T, timer wakeup.Timer) {
		timer.Set(time.Hour)
		done := waited(timer)
		time.Sleep(time.Millisecond)
		timer.Wake()
		<-done
		timer.Wake()
		timer.Set(time.Hour)
		timer.Wait()
		timer.Set(time.Hour)
		select {
		case <-waited(timer):
			t.Error("a wait ended that nothing woke")
		case <-time.After(20 * time.Millisecond):
		}
	})
}

// A time that was waited for is over: the next wait needs another one.
func TestATimeEndsOneWait(t *testing.T) {
	each(t, func(t *testing.T, timer wakeup.Timer) {
		timer.Set(0)
		timer.Wait()
		done := waited(timer)
		select {
		case <-done:
			t.Error("a wait ended for which no time was set")
		case <-time.After(20 * time.Millisecond):
		}
		timer.Set(0)
		<-done
	})
}

// A wait never misses a call of Wake that came after the last one returned.
func TestNoWakeIsMissed(t *testing.T) {
	each(t, func(_ *testing.T, timer wakeup.Timer) {
		var mu sync.Mutex
		asked, seen := 0, 0
		const wakes = 2000
		go func() {
			for range wakes {
				mu.Lock()
				asked++
				mu.Unlock()
				timer.Wake()
			}
		}()
		for seen < wakes {
			timer.Set(time.Hour)
			timer.Wait()
			mu.Lock()
			seen = asked
			mu.Unlock()
		}
	})
}

func TestStopEndsWaits(t *testing.T) {
	each(t, func(_ *testing.T, timer wakeup.Timer) {
		timer.Set(time.Hour)
		done := waited(timer)
		time.Sleep(time.Millisecond)
		timer.Stop()
		<-done
		timer.Stop()
		timer.Wake()
		timer.Set(time.Hour)
		timer.Wait()
	})
}
