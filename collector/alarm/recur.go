// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/pnagent/pnagent/internal/cron"
	"github.com/pnagent/pnagent/internal/zones"
)

const (
	// MaxSeries is how long a silence may recur.
	MaxSeries = 10 * 366 * 24 * time.Hour
	// maxWindow is the longest time of a silence that recurs.
	maxWindow = 7 * 24 * time.Hour
)

// longest returns how long a silence may be.
func (s *Silence) longest() time.Duration {
	if s.Recurs != (Recurrence{}) {
		return MaxSeries
	}
	return MaxSilence
}

// fault returns what is wrong with a recurrence.
func (r *Recurrence) fault() error {
	_, err := r.schedule()
	switch {
	case err != nil:
		return err
	case r.For < time.Second || r.For > maxWindow:
		return fmt.Errorf("a silence that recurs for %s; expected 1s to %s", r.For, maxWindow)
	}
	return nil
}

func (r *Recurrence) schedule() (*cron.Schedule, error) {
	if r.Cron == "" || len(r.Cron) > maxPattern {
		return nil, errors.New("a silence that recurs without a cron expression; expected one such as 0 2 * * sat")
	}
	zone, err := zones.Load(cmp.Or(r.Zone, "UTC"))
	if err != nil {
		return nil, fmt.Errorf("no time zone is %q; expected one such as Europe/Berlin", r.Zone)
	}
	s, err := cron.Parse(r.Cron, zone)
	if err != nil {
		return nil, fmt.Errorf("cron: %w", err)
	}
	return s, nil
}

// turn finds the window of a silence that is current or next.
func (s *silenceNote) turn(now int64) {
	if s.Recurs != (Recurrence{}) && (s.holds && s.from <= now && now < s.until || !s.holds && now < s.from) {
		return // it is known
	}
	s.from, s.until = s.From, s.Until
	if s.Recurs != (Recurrence{}) {
		s.from, s.until = 0, 0
		if schedule, err := s.Recurs.schedule(); err == nil { // else its file was refused
			length := s.Recurs.For.Microseconds()
			s.from = schedule.Next(max(s.From-1, now-length))
			s.until = min(s.from+length, s.Until)
		}
		if s.from == 0 || s.from >= s.Until {
			s.from, s.until = 0, 0
		}
	}
	s.holds = s.endedBy == "" && s.from != 0 && s.from <= now && now < s.until
}

// shown returns the silence as an ActiveSet has it.
func (s *silenceNote) shown() Silence {
	shown := s.Silence
	shown.From, shown.Until, shown.Pending = s.from, s.until, !s.holds
	if s.Recurs != (Recurrence{}) {
		shown.Ends = s.Until
	}
	return shown
}

// Shown returns a silence as an ActiveSet has it.
func (s Silence) Shown(now int64) Silence {
	n := silenceNote{Silence: s}
	n.turn(now)
	return n.shown()
}
