// SPDX-License-Identifier: Apache-2.0

package wirecheck

import (
	"maps"

	"github.com/pnagent/pnagent/telemetry"
)

type regionKey struct{ net, region string }

// owner is the source with the latest claim to a region.
type owner struct {
	*sourceState
	name     string
	claim    telemetry.Claim
	position uint64 // of the region's log
}

// continues reports whether a message continues the last counters of its region.
func (h *sourceState) continues(s *telemetry.Snapshot) bool {
	return h.since != 0 && h.since == s.Since && h.region == s.Region
}

// regions checks the owner of a message's region, and that its counters
// continue from owner to owner.
func (c *Checker) regions(h *sourceState, s *telemetry.Snapshot) {
	if s.Since > s.SentAt {
		h.wrong("since ahead", "since is %d, after sent_at %d: both are microseconds since 1970", s.Since, s.SentAt)
	}
	defer func() { h.region, h.since = s.Region, s.Since }()
	if s.Region == "" || s.Fence == 0 {
		return
	}
	k := regionKey{s.Net, s.Region}
	o := c.owners[k]
	order := 1
	if o != nil {
		order = s.Claim().Compare(o.claim)
	}
	switch {
	case o == nil && len(c.owners) >= MaxSources:
		return
	case o == nil:
		o = &owner{sourceState: h}
		c.owners[k] = o
	case order < 0 && s.Fence >= o.claim.Fence:
		h.wrong("fence", "region %q has a log of %d by source %q, and this one still sends fence %d in a log of %d: its log was replaced, and collectors reject its messages",
			s.Region, o.claim.Since, o.name, s.Fence, s.Since)
		return
	case order < 0:
		h.wrong("fence", "region %q has fence %d by source %q, and this one still sends fence %d: it lost the region, and collectors reject its messages", s.Region, o.claim.Fence, o.name, s.Fence)
		return
	case order == 0 && o.sourceState != h:
		h.wrong("fence twice", "region %q has fence %d by source %q already: every owner has a higher fence than all before it", s.Region, o.claim.Fence, o.name)
		return
	}
	if s.Since != 0 && o.sourceState != h && o.continues(s) {
		h.places, h.transitions, h.net = maps.Clone(o.places), maps.Clone(o.transitions), o.net
	}
	if s.State != nil {
		if o.continues(s) && s.State.Position < o.position {
			h.wrong("position", "the log of region %q fell from %d commits to %d: a log that starts from scratch has a later since", s.Region, o.position, s.State.Position)
		}
		o.position = s.State.Position
	}
	o.lost = true
	o.sourceState, o.name, o.claim, h.lost = h, s.Source, s.Claim(), false
}
