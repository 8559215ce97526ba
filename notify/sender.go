// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/pnagent/pnagent/collector/alarm"
)

const (
	firstPause = time.Second
	lastPause  = 5 * time.Minute
	maxPause   = time.Hour // that a receiver may ask for
)

// transport sends one event. An error that is no *failure is repeated.
type transport interface {
	send(context.Context, *Site, *Event) error
	// reach does all of send but the event, and returns what the receiver said.
	reach(context.Context) (said string, err error)
}

// failure is why an event is given up, or when to repeat it.
type failure struct {
	err    error
	reason alarm.Failure
	after  time.Duration // of an attempt that is repeated: as the receiver asks; else 0
}

func (f *failure) Error() string  { return f.err.Error() }
func (f *failure) Unwrap() error  { return f.err }
func (f *failure) Reason() string { return f.reason.String() }

// refused returns the error of an event that the receiver will never take.
func refused(err error) error { return &failure{err: err, reason: alarm.Refused} }

var (
	errFull    = &failure{err: errors.New("too many notifications wait"), reason: alarm.QueueFull}
	errRetired = &failure{err: errors.New("the sink was removed"), reason: alarm.Stopped}
	errExpired = &failure{err: errors.New("the receiver was away for too long"), reason: alarm.Expired}
)

// Sender sends the events of one sink, one after the other.
type Sender struct {
	cfg  *Settings
	to   transport
	site *Site
	path string
	log  *slog.Logger
	wake chan struct{}

	mu       sync.Mutex // guards the fields below, and cfg and site
	inbox    []queued
	duty     duty
	other    *Settings // to send by from now on; nil for no change
	counters alarm.SinkCounters

	queue *queue // used by Run only, as what follows
	pause time.Duration
	next  time.Time // of the next attempt
	said  string    // the last error that was logged
}

// duty is what a process does about events.
type duty uint8

const (
	keeping duty = iota // it is not known yet which process has the duty
	sending
	dropping // another process has the duty
	retired  // the sink is no more
)

// NewSender returns the Sender of a sink. path is the file that keeps its events; "" keeps them in
// memory.
func NewSender(cfg *Settings, site *Site, path string, log *slog.Logger) *Sender {
	return &Sender{cfg: cfg, to: cfg.to, site: site, path: path, log: log.With("sink", cfg.Name), wake: make(chan struct{}, 1),
		counters: alarm.SinkCounters{Name: cfg.Name, Queued: &alarm.Queued{}}}
}

// Deliver queues a notification and returns at once. done is called once it was taken by the
// receiver, or given up. It is not called for one that another process sends.
func (s *Sender) Deliver(n alarm.Notification, done func(error)) {
	s.mu.Lock()
	e := queued{Event: EventOf(&n, s.cfg.Name, s.site), settle: done}
	full := len(s.inbox) >= s.cfg.Queue
	if !full {
		s.inbox = append(s.inbox, e)
	}
	s.mu.Unlock()
	if full { // the disk hangs
		s.settle(&e, errFull)
		return
	}
	s.rouse()
}

// Use replaces how the sink is reached, also for what waits.
func (s *Sender) Use(cfg *Settings, site *Site) {
	s.mu.Lock()
	s.other, s.site = cfg, site
	s.mu.Unlock()
	s.rouse()
}

// Retire gives up what waits, and ends Run.
func (s *Sender) Retire() {
	s.mu.Lock()
	s.duty = retired
	s.mu.Unlock()
	s.rouse()
}

// Duty says whether this process has the duty, and if not, whether another one has it.
func (s *Sender) Duty(on, elsewhere bool) {
	d := keeping
	switch {
	case on:
		d = sending
	case elsewhere:
		d = dropping
	}
	s.mu.Lock()
	if s.duty != retired {
		s.duty = d
	}
	s.mu.Unlock()
	s.rouse()
}

// Counters returns what became of events.
func (s *Sender) Counters() alarm.SinkCounters {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.counters
	c.Queued = new(*s.counters.Queued)
	return c
}

func (s *Sender) rouse() {
	select {
	case s.wake <- struct{}{}:
	default: // Run is already woken
	}
}

// Run sends until ctx ends. What waits then is sent by the next process.
func (s *Sender) Run(ctx context.Context) {
	var damage error
	s.queue, damage = openQueue(s.path, s.cfg.Queue)
	if damage != nil {
		s.log.Error("the queue of notifications is damaged: starting with an empty one", "err", damage)
	}
	defer s.queue.close()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ctx.Err() == nil {
		on, over := s.take()
		if over {
			return
		}
		s.expire(time.Now())
		if on && len(s.queue.events) > 0 && !time.Now().Before(s.next) {
			s.attempt(ctx)
			s.rouse()
		}
		s.count()
		timer.Stop()
		if on && len(s.queue.events) > 0 {
			timer.Reset(time.Until(s.next))
		}
		select {
		case <-s.wake:
		case <-timer.C:
		case <-ctx.Done():
		}
	}
}

// take moves what was delivered to the queue, and reports whether this process sends, and whether the
// sink is no more.
func (s *Sender) take() (on, over bool) {
	s.mu.Lock()
	inbox, d := s.inbox, s.duty
	s.inbox = nil
	if s.other != nil {
		s.cfg, s.to, s.other = s.other, s.other.to, nil
		s.pause, s.next, s.queue.most = 0, time.Time{}, s.cfg.Queue
	}
	s.mu.Unlock()
	for i := range inbox {
		dropped, err := s.queue.put(inbox[i])
		s.disk(err)
		for k := range dropped {
			s.settle(&dropped[k], errFull)
		}
	}
	if n := len(s.queue.events); d == dropping && n > 0 {
		for len(s.queue.events) > 0 {
			s.disk(s.queue.remove(s.queue.events[0].ID))
		}
		s.log.Info("another sidecar has the duty, and sends the notifications that wait", "notifications", n)
		s.mu.Lock()
		s.counters.HandedOver += uint64(n)
		s.mu.Unlock()
	}
	for d == retired && len(s.queue.events) > 0 {
		s.finish(errRetired)
	}
	return d == sending, d == retired
}

// expire gives up what waits for too long.
func (s *Sender) expire(now time.Time) {
	for len(s.queue.events) > 0 && now.Sub(s.queue.events[0].At) > s.cfg.Keep {
		s.finish(errExpired)
	}
}

// attempt sends the first event.
func (s *Sender) attempt(ctx context.Context) {
	e := &s.queue.events[0]
	within, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	err := s.to.send(within, s.site, &e.Event)
	cancel()
	var why *failure
	errors.As(err, &why)
	switch {
	case err == nil:
		s.said, s.pause, s.next = "", 0, time.Time{}
		s.finish(nil)
	case ctx.Err() != nil: // the next process sends it
	case why != nil && why.reason == alarm.Refused:
		s.report("the receiver refuses a notification, which is given up", err)
		s.pause, s.next = 0, time.Time{}
		s.finish(err)
	default:
		s.pause = min(max(firstPause, 2*s.pause), lastPause)
		pause := s.pause - rand.N(s.pause/2)
		if why != nil {
			pause = max(pause, min(why.after, maxPause))
		}
		s.next = time.Now().Add(pause)
		s.report("cannot send a notification; it waits", err)
		s.mu.Lock()
		s.counters.Queued.Retries++
		s.mu.Unlock()
	}
}

// finish removes the first event.
func (s *Sender) finish(err error) {
	e := s.queue.events[0]
	s.disk(s.queue.remove(e.ID))
	s.settle(&e, err)
}

// settle counts what became of an event, and says it to the sender of the notification.
func (s *Sender) settle(e *queued, err error) {
	s.mu.Lock()
	var why *failure
	switch {
	case err == nil:
		s.counters.Sent++
	case errors.As(err, &why):
		s.counters.Failed[why.reason]++
	default:
		s.counters.Failed[alarm.Network]++
	}
	s.mu.Unlock()
	e.settled(err)
}

// count notes how much waits.
func (s *Sender) count() {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.counters.Queued
	q.Waiting, q.Oldest = len(s.queue.events)+len(s.inbox), 0
	if len(s.queue.events) > 0 {
		q.Oldest = s.queue.events[0].At.UnixMicro()
	}
}

// disk logs an error of the file. The events are in memory, and the next one writes all of them.
func (s *Sender) disk(err error) {
	if err != nil {
		s.report("cannot save notifications; a restart may send them again or lose reminders", err)
		s.mu.Lock()
		s.counters.Queued.SaveFailures++
		s.mu.Unlock()
	}
}

// report logs an error that differs from the last one.
func (s *Sender) report(what string, err error) {
	if text := what + err.Error(); text != s.said {
		s.said = text
		s.log.Warn(what, "err", err, "next", s.next)
	}
}
