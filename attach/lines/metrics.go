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
	selfmetrics.Number("pnagent_lines_read_total", "Lines read from all inputs.", func(s *status) uint64 { return s.counters.Lines }),
	selfmetrics.Number("pnagent_lines_read_bytes_total", "Bytes of lines read from all inputs.", func(s *status) uint64 { return s.counters.Bytes }),
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
	selfmetrics.Number("pnagent_lines_writer_dropped", "The highest number of dropped events that a writer reports.", func(s *status) uint64 { return s.counters.Unwritten }),
	selfmetrics.Number("pnagent_lines_future_total", "Events more than a minute ahead of the clock, applied as of now.", func(s *status) uint64 { return s.counters.Future }),
	selfmetrics.Number("pnagent_lines_undated_total", "Events without a time, applied as of now.", func(s *status) uint64 { return s.counters.Undated }),
	selfmetrics.Number("pnagent_lines_window_overflows_total", "Events that left the reordering window early because it was full.", func(s *status) uint64 { return s.counters.Hurried }),
	selfmetrics.Number("pnagent_lines_window_events", "Events in the reordering window.", func(s *status) uint64 { return s.counters.Held }),
	selfmetrics.Number("pnagent_lines_files_rotated_total", "Times that a followed file was replaced or truncated.", func(s *status) uint64 { return s.counters.Rotated }),
	selfmetrics.Number("pnagent_lines_state_save_failures_total", "Times that the state file could not be written.", func(s *status) uint64 { return s.counters.SaveFailures }),
	ofPublisher("pnagent_lines_snapshots_total", "Snapshots published.", func(p *telemetry.PublisherStats) uint64 { return p.Messages }),
	ofPublisher("pnagent_lines_snapshots_missed_total", "Times that a net's snapshot was due while NATS was unreachable.", func(p *telemetry.PublisherStats) uint64 { return p.Missed }),
	ofPublisher("pnagent_lines_snapshot_errors_total", "Times that a net's snapshot could not be made or published.", func(p *telemetry.PublisherStats) uint64 { return p.Errors }),
	perNet("pnagent_replay_fitness", "Fitness of the token replay since its start: 1 if every event fits.", fitness),
	perNet("pnagent_replay_events_total", "Events replayed: firings, and tokens put or taken. Ends of instances do not count.", func(n *NetCounts) uint64 { return n.Events }),
	perNet("pnagent_replay_unfit_events_total", "Events that the marking did not allow, repaired.", func(n *NetCounts) uint64 { return n.Unfit }),
	perNet("pnagent_replay_silent_firings_total", "Firings of silent transitions that events needed.", func(n *NetCounts) uint64 { return n.Silent }),
	perNet("pnagent_replay_greedy_events_total", "Events that several transitions or silent firings could explain, and for which the search for the best explanation exceeded its bound.", func(n *NetCounts) uint64 { return n.Greedy }),
	perNet("pnagent_replay_late_events_total", "Events older than the last one of their instance, applied with its time.", func(n *NetCounts) uint64 { return n.Late }),
	perNet("pnagent_replay_refused_events_total", "Events that would overflow a place, or end an instance that is not open; not applied.", func(n *NetCounts) uint64 { return n.Refused }),
	{Name: "pnagent_replay_tokens_total", Help: "Tokens of the replay: produced, consumed, missing (added as a repair), remaining (in instances that ended).", Labels: []string{"net", "kind"},
		Read: func(s *status, emit selfmetrics.Emit) {
			for _, n := range s.nets {
				emit(float64(n.Produced), n.Net, "produced")
				emit(float64(n.Consumed), n.Net, "consumed")
				emit(float64(n.Missing), n.Net, "missing")
				emit(float64(n.Remaining), n.Net, "remaining")
			}
		}},
	perNet("pnagent_replay_open_instances", "Instances that have started and not ended.", func(n *NetCounts) int { return n.Open }),
	perNet("pnagent_replay_evicted_instances_total", "Open instances that were dropped to make room for others.", func(n *NetCounts) uint64 { return n.Evicted }),
	perNet("pnagent_replay_blurred_arrivals_total", "Arrivals that got the time of an earlier one, because their instance holds too many tokens.", func(n *NetCounts) uint64 { return n.Blurred }),
}

func perNet[N int | uint64 | float64](name, help string, read func(*NetCounts) N) selfmetrics.Family[*status] {
	return selfmetrics.ByLabel(name, "net", help, func(s *status) map[string]N {
		by := map[string]N{}
		for i := range s.nets {
			by[s.nets[i].Net] = read(&s.nets[i])
		}
		return by
	})
}

func ofPublisher(name, help string, read func(*telemetry.PublisherStats) uint64) selfmetrics.Family[*status] {
	return selfmetrics.Family[*status]{Name: name, Help: help, Read: func(s *status, emit selfmetrics.Emit) {
		if s.published != nil {
			emit(float64(read(s.published)))
		}
	}}
}

// Metrics returns the metrics of an attachment. p is nil without NATS. lost
// returns the number of lost messages of each input that reports it.
func Metrics(a *Attachment, p *telemetry.Publisher, lost map[string]func() uint64) *selfmetrics.Collector {
	return selfmetrics.New(families, func() (*status, bool) {
		s := &status{counters: a.Counters(), nets: a.Nets(), lost: lost}
		if p != nil {
			s.published = new(p.Stats())
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
