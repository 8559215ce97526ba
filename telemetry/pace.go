// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"encoding/json"
	"math/rand/v2"
	"sync"
	"time"
)

const (
	// MaxPace is the longest interval that a collector may ask for. Counters are cumulative and
	// ages come from injection times, so a longer interval costs no truth, only its delay.
	MaxPace = 30 * time.Second
	// PaceLasts is how long a source follows a Pace that is not repeated.
	PaceLasts = 3 * time.Minute
	// maxPacers bounds the collectors of which a source remembers the Pace.
	maxPacers = 16
)

// Pace is how often a collector wants the messages of each source. A collector that has too
// much work publishes it as JSON on the Hello subject when it changes, and each minute.
// Sources follow the longest interval that a collector asks for, and never publish more
// often than they are configured to.
type Pace struct {
	Collector string `json:"collector"` // a name of the process
	Interval  int64  `json:"interval"`  // microseconds, MaxPace at most; 0: as each source likes
}

// paces are the wishes of the collectors that a Publisher received. It is safe for concurrent
// use.
type paces struct {
	changed func() // called after a wish came

	mu     sync.Mutex
	wishes map[string]wish
}

type wish struct {
	interval time.Duration
	until    time.Time
}

// take takes the payload of a message on the Hello subject, and reports whether it is a
// Pace.
func (p *paces) take(payload []byte, now time.Time) bool {
	var pace Pace
	if len(payload) > maxRequest || json.Unmarshal(payload, &pace) != nil || CheckName(pace.Collector) != nil || pace.Interval < 0 {
		return false
	}
	p.mu.Lock()
	p.forget(now)
	if _, known := p.wishes[pace.Collector]; known || len(p.wishes) < maxPacers {
		if p.wishes == nil {
			p.wishes = make(map[string]wish)
		}
		interval := min(time.Duration(min(pace.Interval, MaxPace.Microseconds()))*time.Microsecond, MaxPace)
		p.wishes[pace.Collector] = wish{interval, now.Add(PaceLasts)}
	}
	p.mu.Unlock()
	p.changed()
	return true
}

func (p *paces) forget(now time.Time) {
	for collector, w := range p.wishes {
		if !now.Before(w.until) {
			delete(p.wishes, collector)
		}
	}
}

// longest returns the longest interval that a collector wishes; 0 if none does.
func (p *paces) longest(now time.Time) (longest time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.forget(now)
	for _, w := range p.wishes {
		longest = max(longest, w.interval)
	}
	return longest
}

// rhythm is when a source publishes.
type rhythm struct {
	own      time.Duration // as configured
	interval time.Duration
	due      time.Time
	scatter  bool // the next interval is shorter, by chance
}

// follow sets the interval to the longest that collectors wish. The next message keeps its
// time, so that it states the interval before it passes. After it, the sources of a
// fleet spread over the interval.
func (r *rhythm) follow(longest time.Duration, now time.Time) (changed bool) {
	interval := max(r.own, longest)
	if interval == r.interval {
		return false
	}
	shorter := interval < r.interval
	r.interval, r.scatter = interval, true
	if next := now.Add(rand.N(interval)); shorter && next.Before(r.due) {
		r.due, r.scatter = next, false
	}
	return true
}

// passed sets when the next message is due, after one was.
func (r *rhythm) passed(now time.Time) {
	if r.scatter {
		r.due, r.scatter = r.due.Add(r.interval/8+rand.N(r.interval-r.interval/8)), false
	}
	for !now.Before(r.due) {
		r.due = r.due.Add(r.interval)
	}
}
