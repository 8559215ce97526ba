// SPDX-License-Identifier: Apache-2.0

package dipen

import (
	"github.com/pnagent/pnagent/attach/dipen/replica"
	"github.com/pnagent/pnagent/telemetry"
)

// Status is the state of the adapter; counts are cumulative since its start.
type Status struct {
	Connected   bool   // etcd is watched now
	Sessions    uint64 // watches started
	Looks       uint64 // requests for the newest revision
	Changes     uint64 // changes of keys that were applied
	StateErrors uint64 // times that the state file could not be written

	Revision  int64 // up to which all changes are applied
	Head      int64 // newest of all of etcd
	Gaps      replica.Gaps
	Dropped   map[replica.Fault]uint64
	InFlight  []replica.Held // taken tokens by transition
	Leaders   []replica.Leadership
	Snapshots telemetry.PublisherStats
}

// Status returns the present state.
func (s *source) Status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.status
	out.Revision, out.Head = s.rep.Revision(), s.head
	out.Gaps, out.Dropped = s.rep.Gaps(), s.rep.Dropped()
	out.InFlight, out.Leaders = s.rep.InFlight(), s.rep.Leaders(s.now())
	if s.publisher != nil {
		out.Snapshots = s.publisher.Stats()
	}
	return out
}
