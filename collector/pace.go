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
	// paceWindow is the time over which the load is measured, or two intervals if that is longer.
	// It is longer than what the answers to the first request take.
	paceWindow = 10 * time.Second
	// A collector whose load exceeds paceHigh asks sources for rarer messages, until it does not.
	// It allows more frequent ones where they would leave it below paceLow even if each of them
	// made as much work as a message makes now. A rarer message has more rows that changed, so
	// they make less. The load is that of decoding and taking messages. To receive them, Views, the log
	// and the garbage of all that take as much again with 10,000 sources, so the process takes about a
	// fifth of a processor.
	paceHigh = 0.10
	paceLow  = 0.06
	// An interval stays for paceHold before a shorter one is tried. Each shorter one that did not
	// last for maxHold doubles that time up to maxHold: so however the load depends on the interval,
	// the interval does not alternate for long.
	paceHold = 20 * time.Second
	maxHold  = time.Hour
	// A collector decides before the window is over if this much work waits, as after many
	// sources start at once. Their first messages have all rows and say little of those that
	// follow, so they only have to leave it some of the time until a whole window is known.
	paceAhead = 500 * time.Millisecond
	paceEarly = 0.5
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
	busy      int64 // time at work until then, and of the work that waited then, nanoseconds
	changed   int64 // when step was last changed
	shorter   bool  // to a shorter interval
	hold      int64 // how long an interval stays at least, see paceHold
	announced int64
	load      float64 // of the last window; negative before the first
}

// loss is what became of messages of shown sources because of too much work.
type loss uint8

const (
	nothing loss = iota
	someReplaced
	someDropped
)

// decide returns the interval that sources are to be asked for now, and whether to ask.
// busy is the time at work since the start, and ahead that of the work that waits, in
// nanoseconds; lost is what became of messages because of too much work.
func (p *pace) decide(busy, ahead, now int64, lost loss) (interval time.Duration, announce bool) {
	if p.since == 0 || now < p.since {
		p.since = now
		p.busy = busy
		p.load = -1
		p.changed = 0
		p.hold = paceHold.Microseconds()
		return 0, false
	}
	before := p.step
	window := now - p.since
	whole := window >= max(paceWindow, 2*paceSteps[p.step]).Microseconds()
	late := lost == someReplaced || ahead > paceAhead.Nanoseconds()
	if whole || lost == someDropped || late && p.followed(now) {
		high := paceHigh
		if !whole {
			high = paceEarly
		}
		p.load = max(0, float64(busy+ahead-p.busy)) / float64(window*1000+1)
		p.since, p.busy = now, busy+ahead
		p.step = p.next(now, high)
		if late || lost == someDropped {
			p.step = max(p.step, min(before+1, len(paceSteps)-1))
		}
	}
	if p.step != before {
		p.noteChange(p.step < before, now)
	}
	announce = p.step != before || p.step > 0 && now-p.announced >= paceRepeat.Microseconds()
	if announce {
		p.announced = now
	}
	return paceSteps[p.step], announce
}

// followed reports whether the sources had the time to follow the last change. Until then, what
// waits says nothing of it.
func (p *pace) followed(now int64) bool {
	follow := 2 * max(paceSteps[p.step], telemetry.DefaultInterval)
	return now-p.since >= paceAhead.Microseconds() && now-p.changed >= follow.Microseconds()
}

// next returns the step that follows from the load of the last window, which is not to exceed high.
func (p *pace) next(now int64, high float64) int {
	last := len(paceSteps) - 1
	at := max(paceSteps[p.step], telemetry.DefaultInterval) // as most sources publish
	expected := func(step int) float64 {
		return p.load * at.Seconds() / max(paceSteps[step], telemetry.DefaultInterval).Seconds()
	}
	step := p.step
	if p.load > high {
		for step < last && expected(step) > high {
			step++
		}
		return step
	}
	for step > 0 && expected(step-1) < paceLow && now-p.changed >= p.hold {
		step--
	}
	return step
}

// noteChange notes that the step has changed.
func (p *pace) noteChange(shorter bool, now int64) {
	switch brief := now-p.changed < maxHold.Microseconds(); {
	case shorter:
	case p.shorter && brief:
		p.hold = min(2*p.hold, maxHold.Microseconds())
	case p.shorter:
		p.hold = paceHold.Microseconds()
	}
	p.changed, p.shorter = now, shorter
}

// meter measures how long a goroutine is at work: the time of a processor that its thread
// used, and not the time that passed, which on a busy machine says nothing of the work. A flood
// of messages that are refused is no work for which others publish less.
type meter struct {
	busy      atomic.Int64 // nanoseconds, for messages that were taken
	taken     atomic.Int64 // these messages
	strangers atomic.Int64 // messages of sources that were not shown
	accepted  atomic.Int64 // of these, that were taken
}

// do measures f, which processes messages of sources that are shown, or of others, and returns
// how many it took. It is for one goroutine.
func (m *meter) do(messages int, first bool, f func() (taken int)) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := threadTime()
	taken := f()
	m.busy.Add(int64(threadTime()-before) * int64(taken) / int64(messages))
	m.taken.Add(int64(taken))
	if !first {
		m.strangers.Add(int64(messages))
		m.accepted.Add(int64(taken))
	}
}

// ahead returns for how long messages that wait will make work, in nanoseconds.
func (m *meter) ahead(known, unknown int) int64 {
	each := float64(m.busy.Load()) / float64(max(m.taken.Load(), 1))
	share := float64(m.accepted.Load()) / float64(max(m.strangers.Load(), 1))
	return int64(each * (float64(known) + share*float64(unknown)))
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
func (c *Collector) paced(now int64, lost loss) time.Duration {
	was := paceSteps[c.pace.step]
	known, unknown, _ := c.inbox.waits()
	interval, announce := c.pace.decide(c.work.busy.Load(), c.work.ahead(known, unknown), now, lost)
	if nats := c.nats(); announce && (nats == nil || nats.Connected) {
		c.merger.Slow(interval, now)
		c.announce(interval, was)
	}
	return interval
}
