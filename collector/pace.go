// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"encoding/json"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/pnagent/pnagent/telemetry"
)

const (
	// paceWindow is the time over which the load is measured. It is longer than what the answers
	// to the first request take.
	paceWindow = 10 * time.Second
	// A collector whose load exceeds paceHigh asks sources for rarer messages, so that it
	// becomes paceLow about. It allows more frequent ones once they leave it below paceLow.
	paceHigh = 0.5
	paceLow  = 0.25
	// paceRepeat is the time between two announcements of an interval, of which sources may
	// miss some.
	paceRepeat = telemetry.PaceLasts / 3
)

// paceSteps are the intervals that a collector asks for.
var paceSteps = []time.Duration{0, time.Second, 2 * time.Second, 3 * time.Second, 5 * time.Second, 10 * time.Second, 20 * time.Second, telemetry.MaxPace}

// pace decides how often a collector wants the messages of each source: so rarely that it
// is at work for a part of the time only. Messages are then late by up to that interval,
// but none is dropped.
type pace struct {
	step      int   // of paceSteps
	since     int64 // begin of the window, microseconds
	busy      int64 // time at work until then, nanoseconds
	announced int64
	load      float64 // of the last window; negative before the first
}

// decide returns the interval that sources are to be asked for now, and whether to ask.
// busy is the time at work since the start, in nanoseconds; dropped is whether messages
// were dropped because of too much work.
func (p *pace) decide(busy, now int64, dropped bool) (interval time.Duration, announce bool) {
	if p.since == 0 || now < p.since {
		p.since, p.busy, p.load = now, busy, -1
		return 0, false
	}
	before := p.step
	window := now - p.since
	if window >= paceWindow.Microseconds() || dropped {
		p.load = float64(busy-p.busy) / float64(window*1000+1)
		p.since, p.busy = now, busy
		p.step = p.next(dropped)
	}
	announce = p.step != before || p.step > 0 && now-p.announced >= paceRepeat.Microseconds()
	if announce {
		p.announced = now
	}
	return paceSteps[p.step], announce
}

// next returns the step that follows from the load of the last window.
func (p *pace) next(dropped bool) int {
	last := len(paceSteps) - 1
	if dropped {
		return min(p.step+1, last)
	}
	at := max(paceSteps[p.step], telemetry.DefaultInterval) // as most sources publish
	expected := func(step int) float64 {
		return p.load * at.Seconds() / max(paceSteps[step], telemetry.DefaultInterval).Seconds()
	}
	step := p.step
	if p.load > paceHigh {
		for step < last && expected(step) > paceLow {
			step++
		}
		return step
	}
	for step > 0 && expected(step-1) < paceLow {
		step--
	}
	return step
}

// meter measures how long a goroutine is at work: the time of a processor that its thread
// used, and not the time that passed, which on a busy machine says nothing of the work.
type meter struct{ busy atomic.Int64 } // nanoseconds

// do calls f, and measures it.
func (m *meter) do(f func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := threadTime()
	f()
	m.busy.Add(int64(threadTime() - before))
}

// announce publishes how often sources are to publish.
func (c *Collector) announce(interval time.Duration, was time.Duration) {
	if interval != was {
		c.cfg.Log.Info("asked sources to publish at another interval, because of the work that their messages make",
			"interval", interval, "before", was, "load", c.pace.load)
	}
	payload, err := json.Marshal(telemetry.Pace{Collector: c.name, Interval: interval.Microseconds()})
	if err == nil {
		err = c.cfg.Conn.Publish(c.cfg.Subjects.Hello(), payload)
	}
	if err != nil {
		c.cfg.Log.Warn("ask sources for an interval", "err", err)
	}
}

// paced decides about the interval of sources, and returns it for the View.
func (c *Collector) paced(now int64, dropped bool) time.Duration {
	was := paceSteps[c.pace.step]
	interval, announce := c.pace.decide(c.work.busy.Load(), now, dropped)
	if nats := c.nats(); announce && (nats == nil || nats.Connected) {
		c.merger.Slow(interval, now)
		c.announce(interval, was)
	}
	return interval
}
