// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"slices"

	"github.com/pnagent/pnagent/stats"
)

// recorderColumns are what Recorders know.
const recorderColumns = stats.ColTokens | stats.ColArrivals | stats.ColDepartures | stats.ColOldest | stats.ColAges | stats.ColDwell |
	stats.ColFirings | stats.ColLastFiring

func (s *Source) all() []*Recorder {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.recorders)
}

// rows adds up what all Recorders counted. Takes are read before injections: a
// token that was seen to leave was put before, by whomever, so its injection is
// seen too: also if that was by a Recorder that is newer than this call.
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
			if e.said > latest[t].said {
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
	if strays > 0 && !s.told {
		s.told = true
		s.a.Log.Warn("tokens were taken that nobody injected at that time, or events name no place or transition of the net",
			"net", s.net.ID, "source", s.a.Source, "events", strays)
	}
}

// askEngine asks for what only the engine knows.
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
