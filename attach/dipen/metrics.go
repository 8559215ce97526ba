// SPDX-License-Identifier: Apache-2.0

package dipen

import (
	"github.com/pnagent/pnagent/attach/dipen/replica"
	"github.com/pnagent/pnagent/internal/selfmetrics"
)

var families = []selfmetrics.Family[Status]{
	selfmetrics.Bool("pnagent_dipen_connected", "1 while etcd is watched.", func(s Status) bool { return s.Connected }),
	selfmetrics.Number("pnagent_dipen_watches_total", "Times that a watch started.", func(s Status) uint64 { return s.Sessions }),
	selfmetrics.Number("pnagent_dipen_looks_total", "Times that the newest revision was asked for.", func(s Status) uint64 { return s.Looks }),
	selfmetrics.Number("pnagent_dipen_changes_total", "Changes of keys that were applied.", func(s Status) uint64 { return s.Changes }),
	selfmetrics.Number("pnagent_dipen_revision", "Revision up to which all changes are applied.", func(s Status) int64 { return s.Revision }),
	selfmetrics.Number("pnagent_dipen_newest_revision", "Newest revision that was seen, of all of etcd.", func(s Status) int64 { return s.Head }),
	selfmetrics.Number("pnagent_dipen_counts_since_timestamp_seconds", "Since when counts hold: the attachment, or the last time that changes were missed.", func(s Status) float64 { return float64(s.Gaps.Since) / 1e6 }),
	selfmetrics.Number("pnagent_dipen_gaps_total", "Times that changes were missed, because etcd compacted them, is another one or was set back.", func(s Status) uint64 { return s.Gaps.Count }),
	selfmetrics.Number("pnagent_dipen_missed_revisions_total", "Revisions of all of etcd in which changes were missed.", func(s Status) int64 { return s.Gaps.Revisions }),
	selfmetrics.ByLabel("pnagent_dipen_dropped_total", "reason", "Keys and changes that were skipped, by reason.", func(s Status) map[replica.Fault]uint64 { return s.Dropped }),
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
	selfmetrics.Number("pnagent_dipen_state_errors_total", "Times that the state file could not be written.", func(s Status) uint64 { return s.StateErrors }),
	selfmetrics.Number("pnagent_dipen_snapshots_total", "Snapshots published.", func(s Status) uint64 { return s.Snapshots.Messages }),
	selfmetrics.Number("pnagent_dipen_snapshots_missed_total", "Times that a snapshot was due while NATS was unreachable.", func(s Status) uint64 { return s.Snapshots.Missed }),
	selfmetrics.Number("pnagent_dipen_snapshot_errors_total", "Times that a snapshot could not be made or published.", func(s Status) uint64 { return s.Snapshots.Errors }),
}

// Metrics returns the metrics of an attachment, by its status.
func Metrics(status func() Status) *selfmetrics.Collector {
	return selfmetrics.New(families, func() (Status, bool) { return status(), true })
}
