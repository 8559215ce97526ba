// SPDX-License-Identifier: Apache-2.0

package region

import (
	"context"
	"time"

	"github.com/pnagent/pnagent/engine"
	"github.com/pnagent/pnagent/telemetry"
)

// A log can lose commits that its newest snapshot holds, because a server
// writes the two to its disk at different times. No process can play or follow
// such a part. Its last owner publishes it instead, as it is in the snapshot,
// with the reason. Other processes publish nothing: a sidecar accepts one
// source for each epoch.

// show publishes the part until hide, if this process owned it last and no other
// process owns it.
func (r *replica) show(ctx context.Context) {
	m := r.member
	if _, owned := m.roster.owner(r.part.Name, time.Now()); owned || r.shown != nil {
		return
	}
	log, err := m.cfg.Open(ctx, r.part.Name, nil)
	if err != nil {
		return // the next session reports it
	}
	defer func() { _ = log.Close() }() // only read
	cfg, part := m.cfg.Engine, r.part.Part
	cfg.Journal, cfg.Part = log, &part
	var at engine.Standing
	part.State = func(int) *telemetry.RegionState {
		r.mu.Lock()
		defer r.mu.Unlock()
		return &telemetry.RegionState{Position: at.Position, Stopped: r.stopped}
	}
	e, err := engine.Stranded(ctx, cfg)
	if err == nil {
		if at = e.Standing(); at.Owner != cfg.Source && r.led < at.Epoch {
			return
		}
		r.shown, err = engine.Show(e, r.led, m.cfg.Conn, m.cfg.Subjects, m.cfg.Interval, m.cfg.Log)
	}
	if err != nil {
		m.cfg.Log.Warn("a part is stopped and not published", "part", r.part.Name, "err", err)
	}
}

// hide ends what show has started.
func (r *replica) hide(ctx context.Context) {
	if r.shown == nil {
		return
	}
	leaving, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseWithin)
	defer cancel()
	if err := r.shown(leaving); err != nil {
		r.member.cfg.Log.Debug("the final snapshot was not published", "part", r.part.Name, "err", err)
	}
	r.shown = nil
}
