// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"slices"

	"github.com/pnagent/pnagent/stats"
)

// recorderColumns are the columns that Recorders fill in.
const recorderColumns = stats.ColTokens | stats.ColArrivals | stats.ColDepartures | stats.ColOldest | stats.ColAges | stats.ColDwell |
	stats.ColFirings | stats.ColLastFiring

func (s *Source) all() []*Recorder {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.recorders)
}

// rows adds up the counts of all Recorders. It reads takes before injections. A
// token is injected before it is taken, so a take that was read has its
// injection read, too, even by a Recorder that is created during the call.
func (s *Source) rows(now int64, into *stats.Rows) error {
	s.in, s.out = s.in[:0], s.out[:0]
	for _, r := range s.all() {
		for i := range r.halves {
			s.readTaken(&r.halves[i], into)
		}
	}
	recorders := s.all()
	for _, r := range recorders {
		s.readInjected(r, into)
	}
	s.present.change(s.in, s.out)
	s.noteStrays(recorders, s.present.addTo(now, into))
	into.Columns |= recorderColumns
	if s.enabled {
		into.Columns |= stats.ColEnabled
	}
	return s.askEngine(now, into)
}

func (s *Source) readTaken(h *half, into *stats.Rows) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.fold()
	h.tally.AddTo(into)
	s.out = h.out.drain(s.out)
}

func (s *Source) readInjected(r *Recorder, into *stats.Rows) {
	latest := make([]enabledNow, r.transitions)
	for i := range r.halves {
		h := &r.halves[i]
		h.mu.Lock()
		h.fold()
		s.in = h.in.drain(s.in)
		for p := range h.in.runs {
			into.Places[p].LastInjection = max(into.Places[p].LastInjection, h.in.runs[p].last)
		}
		for t, e := range h.ready {
			if e.event > latest[t].event {
				latest[t] = e
			}
		}
		h.mu.Unlock()
	}
	for t, e := range latest {
		s.enabled = s.enabled || e.n > 0
		if e.n > 0 {
			into.Transitions[t].Merge(&stats.Transition{Enabled: uint64(e.n), EnabledSince: e.since})
		}
	}
}

func (s *Source) noteStrays(recorders []*Recorder, strays uint64) {
	for _, r := range recorders {
		strays += r.strays.Load()
	}
	s.mu.Lock()
	s.strays = strays
	s.mu.Unlock()
	if strays > 0 && !s.warned {
		s.warned = true
		s.a.Log.Warn("tokens were taken that were not injected at that time, or events are about no place or transition of the net",
			"net", s.net.ID, "source", s.a.Source, "events", strays)
	}
}

// askEngine adds what only the engine can report.
func (s *Source) askEngine(now int64, into *stats.Rows) error {
	if s.a.Oldest != nil {
		for i := range into.Places {
			if into.Places[i].Tokens == 0 {
				continue
			}
			tokens, err := s.a.Oldest(i, stats.MaxStuck)
			if err != nil {
				return err
			}
			into.Places[i].Stuck = tokens[:min(len(tokens), stats.MaxStuck)]
		}
		into.Columns |= stats.ColStuck
	}
	if s.a.Fill != nil {
		return s.a.Fill(now, into)
	}
	return nil
}
