// SPDX-License-Identifier: Apache-2.0

package dipen

import "github.com/pnagent/pnagent/internal/selfmetrics"

var families = []selfmetrics.Family[Status]{
	{Name: "pnagent_dipen_connected", Help: "1 while etcd is watched.",
		Read: selfmetrics.Bool(func(s Status) bool { return s.Connected })},
	{Name: "pnagent_dipen_watches_total", Help: "Times that a watch started.",
		Read: selfmetrics.Number(func(s Status) uint64 { return s.Sessions })},
	{Name: "pnagent_dipen_looks_total", Help: "Times that the newest revision was asked for.",
		Read: selfmetrics.Number(func(s Status) uint64 { return s.Looks })},
	{Name: "pnagent_dipen_changes_total", Help: "Changes of keys that were applied.",
		Read: selfmetrics.Number(func(s Status) uint64 { return s.Changes })},
	{Name: "pnagent_dipen_revision", Help: "Revision up to which all changes are applied.",
		Read: selfmetrics.Number(func(s Status) int64 { return s.Revision })},
	{Name: "pnagent_dipen_newest_revision", Help: "Newest revision that was seen, of all of etcd.",
		Read: selfmetrics.Number(func(s Status) int64 { return s.Head })},
	{Name: "pnagent_dipen_counts_since_timestamp_seconds", Help: "Since when counts hold: the attachment, or the last time that changes were missed.",
		Read: selfmetrics.Number(func(s Status) float64 { return float64(s.Gaps.Since) / 1e6 })},
	{Name: "pnagent_dipen_gaps_total", Help: "Times that changes were missed, because etcd compacted them, is another one or was set back.",
		Read: selfmetrics.Number(func(s Status) uint64 { return s.Gaps.Count })},
	{Name: "pnagent_dipen_missed_revisions_total", Help: "Revisions of all of etcd in which changes were missed.",
		Read: selfmetrics.Number(func(s Status) int64 { return s.Gaps.Revisions })},
	{Name: "pnagent_dipen_dropped_total", Help: "Keys and changes that were skipped, by reason.", Labels: []string{"reason"},
		Read: func(s Status, emit selfmetrics.Emit) {
			for fault, n := range s.Dropped {
				emit(float64(n), string(fault))
			}
		}},
	{Name: "pnagent_dipen_tokens_in_flight", Help: "Tokens that a transition has taken.", Labels: []string{"transition"},
		Read: func(s Status, emit selfmetrics.Emit) {
			for _, f := range s.InFlight {
				emit(float64(f.N), f.Name)
			}
		}},
	{Name: "pnagent_dipen_region_leader_since_timestamp_seconds", Help: "Since when a region has its leader, at the latest.", Labels: []string{"region", "node"},
		Read: func(s Status, emit selfmetrics.Emit) {
			for _, l := range s.Leaders {
				emit(float64(l.Since)/1e6, l.Region, l.Node)
			}
		}},
	{Name: "pnagent_dipen_region_standby", Help: "Standby nodes of a region.", Labels: []string{"region"},
		Read: func(s Status, emit selfmetrics.Emit) {
			for _, l := range s.Leaders {
				emit(float64(l.Waiting), l.Region)
			}
		}},
	{Name: "pnagent_dipen_state_errors_total", Help: "Times that the state file could not be written.",
		Read: selfmetrics.Number(func(s Status) uint64 { return s.StateErrors })},
	{Name: "pnagent_dipen_snapshots_total", Help: "Snapshots published.",
		Read: selfmetrics.Number(func(s Status) uint64 { return s.Snapshots.Messages })},
	{Name: "pnagent_dipen_snapshots_missed_total", Help: "Times that a snapshot was due while NATS was unreachable.",
		Read: selfmetrics.Number(func(s Status) uint64 { return s.Snapshots.Missed })},
	{Name: "pnagent_dipen_snapshot_errors_total", Help: "Times that a snapshot could not be made or published.",
		Read: selfmetrics.Number(func(s Status) uint64 { return s.Snapshots.Errors })},
}

// Metrics returns the metrics of an attachment, by its status.
func Metrics(status func() Status) *selfmetrics.Collector {
	return selfmetrics.New(families, func() (Status, bool) { return status(), true })
}
