// SPDX-License-Identifier: Apache-2.0

package region

import (
	"context"
	"time"

	"github.com/pnagent/pnagent/engine"
)

// No process can play or follow a part whose log has lost commits. Its last
// owner publishes it instead, with the reason: as this process has played it, or
// as it is in the newest snapshot. Other processes publish nothing: a sidecar
// accepts one source for each epoch.

// stop publishes and logs why the part is stopped. A session that has followed
// the part may find its log whole again.
func (r *replica) stop(ctx context.Context, err error, followed bool) {
	before := r.status().Stopped
	r.halt(err.Error())
	if followed {
		return
	}
	r.show(ctx)
	if reason := r.status().Stopped; reason != before {
		r.member.cfg.Log.Error("the part is stopped", "part", r.part.Name, "reason", reason)
	}
}

// show publishes the part until hide, if this process owned it last and no other
// process owns it.
func (r *replica) show(ctx context.Context) {
	m := r.member
	if _, owned := m.roster.owner(r.part.Name, time.Now()); owned || r.shown != nil {
		return
	}
	if r.ended != nil {
		r.at.Store(r.ended.Standing().Position)
		var err error
		r.shown, err = engine.Show(r.ended, r.led, m.cfg.Conn, m.cfg.Subjects, m.cfg.Interval, m.cfg.Log)
		if err != nil {
			m.cfg.Log.Warn("a part is stopped and not published", "part", r.part.Name, "err", err)
		}
		return
	}
	log, err := m.cfg.Open(ctx, r.part.Name, false, nil)
	if err != nil {
		return // the next session reports it
	}
	defer func() { _ = log.Close() }() // only read
	cfg, part := m.cfg.Engine, r.part.Part
	cfg.Journal, cfg.Part = log, &part
	part.State = r.state
	e, err := engine.Stranded(ctx, cfg)
	if err == nil {
		at := e.Standing()
		r.at.Store(at.Position)
		if at.Owner != cfg.Source && r.led < at.Epoch {
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
