// SPDX-License-Identifier: Apache-2.0

package lines

import (
	"github.com/pnagent/pnagent/internal/selfmetrics"
	"github.com/pnagent/pnagent/telemetry"
)

// status is the input of one scrape.
type status struct {
	counters  Counters
	nets      []NetCounts
	published *telemetry.PublisherStats // nil without NATS
	lost      map[string]func() uint64
}

var families = []selfmetrics.Family[*status]{
	{Name: "pnagent_lines_read_total", Help: "Lines read from all inputs.",
		Read: selfmetrics.Number(func(s *status) uint64 { return s.counters.Lines })},
	{Name: "pnagent_lines_read_bytes_total", Help: "Bytes of lines read from all inputs.",
		Read: selfmetrics.Number(func(s *status) uint64 { return s.counters.Bytes })},
	{Name: "pnagent_lines_dropped_total", Help: "Lines, or parts of lines, that are not events, by reason.", Labels: []string{"reason"},
		Read: func(s *status, emit selfmetrics.Emit) {
			for _, why := range Reasons() {
				emit(float64(s.counters.Dropped[why]), why.String())
			}
		}},
	{Name: "pnagent_lines_messages_lost_total", Help: "Messages or datagrams that were lost before they were read, if the system or the client reports it.", Labels: []string{"input"},
		Read: func(s *status, emit selfmetrics.Emit) {
			for input, lost := range s.lost {
				emit(float64(lost()), input)
			}
		}},
	{Name: "pnagent_lines_writer_dropped", Help: "The highest number of dropped events that a writer reports.",
		Read: selfmetrics.Number(func(s *status) uint64 { return s.counters.Unwritten })},
	{Name: "pnagent_lines_future_total", Help: "Events more than a minute ahead of the clock, applied as of now.",
		Read: selfmetrics.Number(func(s *status) uint64 { return s.counters.Future })},
	{Name: "pnagent_lines_undated_total", Help: "Events without a time, applied as of now.",
		Read: selfmetrics.Number(func(s *status) uint64 { return s.counters.Undated })},
	{Name: "pnagent_lines_window_overflows_total", Help: "Events that left the reordering window early because it was full.",
		Read: selfmetrics.Number(func(s *status) uint64 { return s.counters.Hurried })},
	{Name: "pnagent_lines_window_events", Help: "Events in the reordering window.",
		Read: selfmetrics.Number(func(s *status) uint64 { return s.counters.Held })},
	{Name: "pnagent_lines_files_rotated_total", Help: "Times that a followed file was replaced or truncated.",
		Read: selfmetrics.Number(func(s *status) uint64 { return s.counters.Rotated })},
	{Name: "pnagent_lines_state_save_failures_total", Help: "Times that the state file could not be written.",
		Read: selfmetrics.Number(func(s *status) uint64 { return s.counters.SaveFailures })},
	{Name: "pnagent_lines_snapshots_total", Help: "Snapshots published.",
		Read: ofPublisher(func(p *telemetry.PublisherStats) uint64 { return p.Messages })},
	{Name: "pnagent_lines_snapshots_missed_total", Help: "Times that a net's snapshot was due while NATS was unreachable.",
		Read: ofPublisher(func(p *telemetry.PublisherStats) uint64 { return p.Missed })},
	{Name: "pnagent_lines_snapshot_errors_total", Help: "Times that a net's snapshot could not be made or published.",
		Read: ofPublisher(func(p *telemetry.PublisherStats) uint64 { return p.Errors })},
	{Name: "pnagent_replay_fitness", Help: "Fitness of the token replay since its start: 1 if every event fits.", Labels: []string{"net"},
		Read: perNet(fitness)},
	{Name: "pnagent_replay_events_total", Help: "Events replayed: firings, and tokens put or taken. Ends of instances do not count.", Labels: []string{"net"},
		Read: perNet(func(n *NetCounts) uint64 { return n.Events })},
	{Name: "pnagent_replay_unfit_events_total", Help: "Events that the marking did not allow, repaired.", Labels: []string{"net"},
		Read: perNet(func(n *NetCounts) uint64 { return n.Unfit })},
	{Name: "pnagent_replay_silent_firings_total", Help: "Firings of silent transitions that events needed.", Labels: []string{"net"},
		Read: perNet(func(n *NetCounts) uint64 { return n.Silent })},
	{Name: "pnagent_replay_greedy_events_total", Help: "Events that several transitions or silent firings could explain, and for which the search for the best explanation exceeded its bound.", Labels: []string{"net"},
		Read: perNet(func(n *NetCounts) uint64 { return n.Greedy })},
	{Name: "pnagent_replay_late_events_total", Help: "Events older than the last one of their instance, applied with its time.", Labels: []string{"net"},
		Read: perNet(func(n *NetCounts) uint64 { return n.Late })},
	{Name: "pnagent_replay_refused_events_total", Help: "Events that would overflow a place, or end an instance that is not open; not applied.", Labels: []string{"net"},
		Read: perNet(func(n *NetCounts) uint64 { return n.Refused })},
	{Name: "pnagent_replay_tokens_total", Help: "Tokens of the replay: produced, consumed, missing (added as a repair), remaining (in instances that ended).", Labels: []string{"net", "kind"},
		Read: func(s *status, emit selfmetrics.Emit) {
			for _, n := range s.nets {
				emit(float64(n.Produced), n.Net, "produced")
				emit(float64(n.Consumed), n.Net, "consumed")
				emit(float64(n.Missing), n.Net, "missing")
				emit(float64(n.Remaining), n.Net, "remaining")
			}
		}},
	{Name: "pnagent_replay_open_instances", Help: "Instances that have started and not ended.", Labels: []string{"net"},
		Read: perNet(func(n *NetCounts) int { return n.Open })},
	{Name: "pnagent_replay_evicted_instances_total", Help: "Open instances that were dropped to make room for others.", Labels: []string{"net"},
		Read: perNet(func(n *NetCounts) uint64 { return n.Evicted })},
	{Name: "pnagent_replay_blurred_arrivals_total", Help: "Arrivals that got the time of an earlier one, because their instance holds too many tokens.", Labels: []string{"net"},
		Read: perNet(func(n *NetCounts) uint64 { return n.Blurred })},
}

func perNet[N int | uint64 | float64](read func(*NetCounts) N) func(*status, selfmetrics.Emit) {
	return func(s *status, emit selfmetrics.Emit) {
		for i := range s.nets {
			emit(float64(read(&s.nets[i])), s.nets[i].Net)
		}
	}
}

func ofPublisher(read func(*telemetry.PublisherStats) uint64) func(*status, selfmetrics.Emit) {
	return func(s *status, emit selfmetrics.Emit) {
		if s.published != nil {
			emit(float64(read(s.published)))
		}
	}
}

// Metrics returns the metrics of an attachment. p is nil without NATS. lost
// returns the number of lost messages of each input that reports it.
func Metrics(a *Attachment, p *telemetry.Publisher, lost map[string]func() uint64) *selfmetrics.Collector {
	return selfmetrics.New(families, func() (*status, bool) {
		s := &status{counters: a.Counters(), nets: a.Nets(), lost: lost}
		if p != nil {
			published := p.Stats()
			s.published = &published
		}
		return s, true
	})
}

// fitness returns the fitness of a net, which is 1 before the first event.
func fitness(n *NetCounts) float64 {
	if n.Fitness == nil {
		return 1
	}
	return *n.Fitness
}
