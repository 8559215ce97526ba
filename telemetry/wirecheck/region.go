// SPDX-License-Identifier: Apache-2.0

package wirecheck

import (
	"maps"

	"github.com/pnagent/pnagent/telemetry"
)

type regionKey struct{ net, region string }

// owner is who said the highest fence of a region.
type owner struct {
	*heard
	name     string
	fence    uint64
	position uint64 // of the region's log
}

// continues reports whether a message goes on with the counters that the
// source said last.
func (h *heard) continues(s *telemetry.Snapshot) bool {
	return h.since != 0 && h.since == s.Since && h.region == s.Region
}

// regions judges what a message says of its region: who owns it, and that
// counters go on from owner to owner.
func (c *Checker) regions(h *heard, s *telemetry.Snapshot) {
	if s.Since > s.SentAt {
		h.wrong("since ahead", "since is %d, after sent_at %d: both are microseconds since 1970", s.Since, s.SentAt)
	}
	defer func() { h.region, h.since = s.Region, s.Since }()
	if s.Region == "" || s.Fence == 0 {
		return
	}
	k := regionKey{s.Net, s.Region}
	o := c.owners[k]
	switch {
	case o == nil && len(c.owners) >= MaxSources:
		return
	case o == nil:
		o = &owner{heard: h}
		c.owners[k] = o
	case s.Fence < o.fence:
		h.wrong("fence", "region %q has fence %d by source %q, and this one still says %d: it lost the region, and collectors take no more of it", s.Region, o.fence, o.name, s.Fence)
		return
	case s.Fence == o.fence && o.heard != h:
		h.wrong("fence twice", "region %q has fence %d by source %q already: every owner has a higher fence than all before it", s.Region, o.fence, o.name)
		return
	}
	if s.Since != 0 && o.heard != h && o.continues(s) {
		h.places, h.transitions, h.net = maps.Clone(o.places), maps.Clone(o.transitions), o.net
	}
	if s.State != nil {
		if o.continues(s) && s.State.Position < o.position {
			h.wrong("position", "the log of region %q fell from %d commits to %d: a log that begins anew has a later since", s.Region, o.position, s.State.Position)
		}
		o.position = s.State.Position
	}
	o.lost = true
	o.heard, o.name, o.fence, h.lost = h, s.Source, s.Fence, false
}
