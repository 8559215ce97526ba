// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/telemetry"
)

// meter hears what the engines count.
type meter struct {
	mu      sync.Mutex
	dec     telemetry.Decoder
	sources map[string]*counted
	dropped int // snapshots that could not be read
}

// counted is what one source has said.
type counted struct {
	firings map[int]uint64 // by transition
	points  []point
}

// point is how many firings a source had counted at a time of its clock.
type point struct {
	at      int64 // microseconds since the Unix epoch
	firings uint64
}

func (w *world) meter() (*meter, error) {
	m := &meter{sources: map[string]*counted{}}
	if _, err := w.conn.Subscribe(telemetry.Subjects{}.Snapshots(), m.hear); err != nil {
		return nil, err
	}
	return m, w.conn.Flush()
}

func (m *meter) hear(msg *nats.Msg) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var s telemetry.Snapshot
	if err := m.dec.DecodeMsg(telemetry.Subjects{}, msg, &s); err != nil {
		m.dropped++
		return
	}
	c := m.sources[s.Source]
	if c == nil {
		c = &counted{firings: map[int]uint64{}}
		m.sources[s.Source] = c
	}
	for i := range s.Rows.Transitions {
		at := i
		if !s.Full {
			at = int(s.TransitionIndex[i])
		}
		c.firings[at] = s.Rows.Transitions[i].Firings
	}
	sum := uint64(0)
	for _, n := range c.firings {
		sum += n
	}
	c.points = append(c.points, point{s.SentAt, sum})
}

// between returns the firings of all sources a second between two moments, as far
// as snapshots tell, and how many there were up to the last of these.
func (m *meter) between(from, to time.Time) (rate float64, told uint64, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dropped > 0 {
		return 0, 0, fmt.Errorf("%d snapshots could not be read", m.dropped)
	}
	for source, c := range m.sources {
		var in []point
		for _, p := range c.points {
			if p.at >= from.UnixMicro() && p.at <= to.UnixMicro() {
				in = append(in, p)
			}
		}
		if len(in) < 2 {
			return 0, 0, fmt.Errorf("%w: %d of %q", errFew, len(in), source)
		}
		first, last := in[0], in[len(in)-1]
		rate += float64(last.firings-first.firings) / (float64(last.at-first.at) / 1e6)
		told += last.firings
	}
	return rate, told, nil
}

var errFew = errors.New("fewer than two snapshots")

// measure returns what between does for a window that begins now, or a longer
// one if engines say too little in it.
func (m *meter) measure(ctx context.Context, window time.Duration) (rate float64, told uint64, err error) {
	from := time.Now()
	for {
		if err := pause(ctx, window); err != nil {
			return 0, 0, err
		}
		rate, told, err = m.between(from, time.Now())
		if !errors.Is(err, errFew) || time.Since(from) > window+endWithin {
			return rate, told, err
		}
	}
}

// warmUp is how long engines play before they are measured.
const warmUp = 1500 * time.Millisecond

// rate returns the firings a second of a game of which each region is one
// process's.
func (b *bench) rate(ctx context.Context, g game, syncAlways bool) (rate float64, err error) {
	w, err := b.newWorld(ctx, g, syncAlways)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	m, err := w.meter()
	if err != nil {
		return 0, err
	}
	for _, p := range w.parts {
		if err := w.play(ctx, "engine-"+p.Name, p.Name); err != nil {
			return 0, err
		}
	}
	for _, p := range w.parts {
		if err := w.settled(ctx, p.Name, "engine-"+p.Name, ""); err != nil {
			return 0, err
		}
	}
	if err := pause(ctx, warmUp); err != nil {
		return 0, err
	}
	rate, told, err := m.measure(ctx, b.window)
	if err != nil {
		return 0, err
	}
	return rate, errors.Join(w.end(), w.conserves(ctx, told))
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
