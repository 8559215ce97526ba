// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/pnagent/pnagent/collector/alarm"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// receiver is a transport that says what it was sent.
type receiver struct {
	got   []string
	times []time.Duration // since begun
	begun time.Time
	err   func(e *Event) error // nil takes all
	away  atomic.Bool          // takes nothing
}

func away() *receiver {
	r := new(receiver)
	r.away.Store(true)
	return r
}

func (r *receiver) send(_ context.Context, _ *Site, e *Event) error {
	r.times = append(r.times, time.Since(r.begun).Round(time.Millisecond))
	if r.away.Load() {
		return errors.New("connection refused")
	}
	if r.err != nil {
		if err := r.err(e); err != nil {
			return err
		}
	}
	r.got = append(r.got, e.ID)
	return nil
}

func (*receiver) reach(context.Context) (string, error) { return "", nil }

// bench is a Sender with its receiver.
type bench struct {
	*Sender
	to      *receiver
	settled []string
	stop    func()
}

func begin(t *testing.T, path string, to *receiver, change func(*Settings)) *bench {
	t.Helper()
	cfg := &Settings{Name: "ops", Timeout: time.Second, Keep: time.Hour, Queue: 10, to: to}
	if change != nil {
		change(cfg)
	}
	to.begun = time.Now()
	b := &bench{Sender: NewSender(cfg, &Site{Source: "urn:test"}, path, slog.New(slog.DiscardHandler)), to: to}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { b.Run(ctx); close(ended) }()
	b.stop = func() { cancel(); <-ended }
	t.Cleanup(b.stop)
	return b
}

// says delivers a notification: "raise 7", "clear 7".
func (b *bench) says(what string, index uint32) {
	n := alarm.Notification{At: time.Now().UnixMicro()}
	n.Alarm = alarm.Alarm{Index: index, Kind: alarm.TokenStuck, Net: "orders", Subject: "paid", Severity: alarm.Minor, Raised: n.At, Since: n.At, Text: "stuck"}
	n.Raise = what != "clear"
	if what == "reminder" {
		n.Reminder.Due = n.At
	}
	b.Deliver(n, func(err error) { b.settled = append(b.settled, fmt.Sprintf("%s %d: %v", what, index, err)) })
	synctest.Wait()
}

func same[T comparable](t *testing.T, what string, want, got []T) {
	t.Helper()
	if !slices.Equal(want, got) {
		t.Errorf("%s: %v; want %v", what, got, want)
	}
}

func TestAReceiverThatIsAwayGetsAllInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := away()
		b := begin(t, filepath.Join(t.TempDir(), "q"), to, nil)
		b.Duty(true, false)
		b.says("raise", 1)
		b.says("raise", 2)
		b.says("clear", 1)
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		c := b.Counters()
		if c.Queued.Waiting != 3 || c.Queued.Retries < 8 || c.Queued.Retries > 20 || c.Sent != 0 {
			t.Errorf("%+v %+v; want three that wait, and retries that become rarer", c, c.Queued)
		}
		to.away.Store(false)
		time.Sleep(lastPause)
		synctest.Wait()
		same(t, "in order", []string{"1.raised", "2.raised", "1.cleared"}, to.got)
		same(t, "confirmed", []string{"raise 1: <nil>", "raise 2: <nil>", "clear 1: <nil>"}, b.settled)
		if c := b.Counters(); c.Sent != 3 || c.Queued.Waiting != 0 || c.Queued.Oldest != 0 {
			t.Errorf("%+v %+v", c, c.Queued)
		}
		for i, pause := 1, time.Second; i < 5; i++ {
			if waited := to.times[i] - to.times[i-1]; waited < pause/2 || waited > pause {
				t.Errorf("attempt %d after %v; want %v to %v", i, waited, pause/2, pause)
			}
			pause *= 2
		}
	})
}

func TestOtherSettingsAreUsedForWhatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := begin(t, filepath.Join(t.TempDir(), "q"), away(), nil)
		b.Duty(true, false)
		b.says("raise", 1)
		time.Sleep(time.Hour / 2) // the next attempt is minutes away
		to := &receiver{}
		b.Use(&Settings{Name: "ops", Timeout: time.Second, Keep: time.Hour, Queue: 10, to: to}, &Site{Source: "urn:test"})
		synctest.Wait()
		same(t, "at once", []string{"1.raised"}, to.got)
		same(t, "confirmed", []string{"raise 1: <nil>"}, b.settled)
	})
}

func TestASinkThatIsRemovedGivesUpWhatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "q")
		b := begin(t, path, away(), nil)
		b.Duty(true, false)
		b.says("raise", 1)
		b.Retire()
		b.Duty(true, false)
		synctest.Wait()
		same(t, "settled", []string{"raise 1: the sink was removed"}, b.settled)
		q, err := openQueue(path, 10)
		if err != nil || len(q.events) != 0 {
			t.Errorf("the file has %v, %v; want that nothing waits", q.events, err)
		}
	})
}

func TestAReceiverMayAskForAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var busy atomic.Bool
		busy.Store(true)
		to := &receiver{err: func(*Event) error {
			if busy.Load() {
				return &failure{err: errors.New("429"), reason: alarm.Unanswered, after: 90 * time.Second}
			}
			return nil
		}}
		b := begin(t, "", to, nil)
		b.Duty(true, false)
		b.says("raise", 1)
		busy.Store(false)
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		same(t, "attempts", []time.Duration{0, 90 * time.Second}, to.times)
	})
}

func TestWhatIsRefusedForGoodIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := &receiver{err: func(e *Event) error {
			if e.ID == "1.raised" {
				return refused(errors.New("400"))
			}
			return nil
		}}
		b := begin(t, "", to, nil)
		b.Duty(true, false)
		b.says("raise", 1)
		b.says("raise", 2)
		same(t, "the next one", []string{"2.raised"}, to.got)
		if c := b.Counters(); c.Failed[alarm.Refused] != 1 || c.Sent != 1 {
			t.Errorf("%+v", c)
		}
	})
}

func TestWhatWaitsForTooLongIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := away()
		b := begin(t, "", to, nil)
		b.Duty(true, false)
		b.says("raise", 1)
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		same(t, "given up", []string{"raise 1: the receiver was away for too long"}, b.settled)
		if c := b.Counters(); c.Failed[alarm.Expired] != 1 || c.Queued.Waiting != 0 {
			t.Errorf("%+v", c)
		}
	})
}

func TestAFullQueueKeepsClears(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := away()
		b := begin(t, filepath.Join(t.TempDir(), "q"), to, nil)
		b.Duty(true, false)
		for i := range uint32(11) {
			b.says("raise", i+1)
		}
		same(t, "no room", []string{"raise 11: too many notifications wait"}, b.settled)
		b.says("clear", 99)
		b.says("clear", 5)
		same(t, "a clear displaces the newest raise, or its own", []string{"raise 10: too many notifications wait", "raise 5: too many notifications wait", "clear 5: too many notifications wait"}, b.settled[1:])
		to.away.Store(false)
		time.Sleep(time.Minute)
		synctest.Wait()
		same(t, "the rest", []string{"1.raised", "2.raised", "3.raised", "4.raised", "6.raised", "7.raised", "8.raised", "9.raised", "99.cleared"}, to.got)
		if c := b.Counters(); c.Failed[alarm.QueueFull] != 4 {
			t.Errorf("%+v", c)
		}
	})
}

// A process ends with events that wait, also by kill -9: the file has them. The next one gets some
// of them again from the Coordinator.
func TestTheNextProcessSendsWhatWaitsOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "q")
	synctest.Test(t, func(t *testing.T) {
		to := &receiver{err: func(e *Event) error {
			if e.ID != "1.raised" {
				return errors.New("away")
			}
			return nil
		}}
		b := begin(t, path, to, nil)
		b.Duty(true, false)
		b.says("raise", 1)
		b.says("raise", 2)
		b.says("reminder", 1)
		killed, err := os.ReadFile(path) // what kill -9 leaves
		if err != nil {
			t.Fatal(err)
		}
		b.stop()
		if err := os.WriteFile(path, append(killed, "torn"...), 0o600); err != nil {
			t.Fatal(err)
		}

		next := &receiver{}
		c := begin(t, path, next, nil)
		c.says("raise", 1)
		c.says("raise", 2)
		synctest.Wait()
		same(t, "before the duty is known", nil, next.got)
		c.Duty(true, false)
		synctest.Wait()
		if len(next.got) != 2 || next.got[0] != "2.raised" || !strings.HasPrefix(next.got[1], "1.reminder.ops.") {
			t.Errorf("%v; want 2.raised and the reminder", next.got)
		}
		same(t, "confirmed", []string{"raise 1: <nil>", "raise 2: <nil>"}, c.settled)
	})
}

func TestAnotherSidecarSendsWhatWaits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "q")
	synctest.Test(t, func(t *testing.T) {
		to := away()
		b := begin(t, path, to, nil)
		b.Duty(true, false)
		b.says("raise", 1)
		to.away.Store(false)
		b.Duty(false, true)
		time.Sleep(time.Hour / 2)
		synctest.Wait()
		same(t, "sent", nil, to.got)
		same(t, "confirmed", nil, b.settled)
		if c := b.Counters(); c.HandedOver != 1 || c.Queued.Waiting != 0 {
			t.Errorf("%+v", c)
		}
	})
}

//promise:damage damage
func TestADamagedQueueIsKeptAndReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "q")
	if err := os.WriteFile(path, []byte("what is this"), 0o600); err != nil {
		t.Fatal(err)
	}
	q, err := openQueue(path, 10)
	if err == nil || len(q.events) != 0 {
		t.Errorf("%v, %v; want an error", q, err)
	}
	if text, err := os.ReadFile(path + ".damaged"); string(text) != "what is this" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := q.put(queued{Event: Event{ID: "1"}}); err != nil {
		t.Error(err)
	}
}

// The file does not grow forever, and an id is known after it was written again.
func TestTheFileIsWrittenAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "q")
	q, err := openQueue(path, 10)
	if err != nil {
		t.Fatal(err)
	}
	defer q.close()
	text := strings.Repeat("x", 100_000)
	for i := range 50 {
		id := fmt.Sprint(i)
		if _, err := q.put(queued{Event: Event{ID: id, Alarm: &Alarm{Text: text}}}); err != nil {
			t.Fatal(err)
		}
		if i > 0 {
			if err := q.remove(fmt.Sprint(i - 1)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if info, err := os.Stat(path); err != nil || info.Size() > 2*rewriteAt {
		t.Errorf("%v, %v; want a file of at most %d bytes", info.Size(), err, 2*rewriteAt)
	}
	again, err := openQueue(path, 10)
	if err != nil || len(again.events) != 1 || again.events[0].ID != "49" || !again.known["3"] {
		t.Errorf("%d events, %v", len(again.events), err)
	}
}
