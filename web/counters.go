// SPDX-License-Identifier: Apache-2.0

package web

import (
	"sync/atomic"

	"github.com/pnagent/pnagent/collector/history"
)

type counters struct {
	diffs, wholes, bytes, dropped, requests, viewers, address atomic.Uint64
}

// Counters counts what a Server did since its start, and its viewers.
type Counters struct {
	Viewers int    // now
	Diffs   uint64 // sent to viewers
	Frames  uint64 // whole ones sent to viewers
	Bytes   uint64 // sent to viewers
	Dropped uint64 // viewers that read nothing for too long, or disconnected during an event
	Refused Refused
	History history.Counters
}

// Refused counts what was refused because there was no room.
type Refused struct {
	Requests uint64 // at the limit of requests
	Viewers  uint64 // at the limit of all viewers
	Address  uint64 // viewers at the limit of their address
}

// Counters returns the current counters.
func (s *Server) Counters() Counters {
	c := Counters{Diffs: s.counters.diffs.Load(), Frames: s.counters.wholes.Load(), Bytes: s.counters.bytes.Load(),
		Dropped: s.counters.dropped.Load(),
		Refused: Refused{Requests: s.counters.requests.Load(), Viewers: s.counters.viewers.Load(), Address: s.counters.address.Load()}}
	s.mu.Lock()
	c.Viewers = s.viewers
	s.mu.Unlock()
	s.past.RLock()
	defer s.past.RUnlock()
	c.History = s.history.Counters()
	return c
}
