// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/pnagent/pnagent/agentx"
	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/collector/standby"
)

// joinOthers makes the sidecar a member of the group that notifies the same sinks, if
// it has any.
func (s *Sidecar) joinOthers(host string) {
	if s.subagent == nil && s.sender == nil && len(s.cfg.Sinks) == 0 {
		return
	}
	rules := cmp.Or(s.cfg.Alarms, alarm.DefaultRules())
	s.member = standby.New(standby.Config{Conn: s.cfg.Link.Conn, Subject: s.group(&s.cfg), Name: host,
		Priority: s.cfg.AgentXPriority, Keys: s.cfg.StandbyKeys, Settle: rules.Settle, Up: s.up, Changed: s.ability,
		Connected: func() bool { return s.cfg.Link.State().Connected }, Log: s.cfg.Log,
		Sources: &standby.Sources{Silent: s.collector.Silent, Take: s.collector.TakeSilent},
		Alarms: &standby.Shared{ // the watcher is created after the member
			Digest:   func() string { return s.watcher.Digest() },
			Fold:     func(page []byte) error { return s.watcher.Fold(page) },
			ShareAll: func(ask bool) { s.watcher.ShareAll(ask) },
		},
		Notes: &standby.Shared{
			Digest:   func() string { return s.watcher.NotesDigest() },
			Fold:     func(page []byte) error { return s.watcher.FoldNotes(page) },
			ShareAll: func(bool) { s.watcher.ShareAllNotes() },
		},
		Sent: &standby.Shared{Fold: func(page []byte) error { return s.watcher.FoldSent(page) }}})
}

// group returns the subject of the group of sidecars that notify what a configuration names.
func (s *Sidecar) group(cfg *Config) string {
	to := slices.Clone(s.cfg.TrapSinks)
	for _, sink := range cfg.Sinks {
		to = append(to, sink.Name+" "+sink.Kind+" "+sink.Address)
	}
	return s.cfg.Subjects.Sidecars(standby.Group(s.cfg.Root.String(), s.subagent != nil, to))
}

// up reports whether notifications can be sent. Trap sinks do not report it.
func (s *Sidecar) up() bool {
	return s.subagent == nil || s.subagent.Stats().State == agentx.StateUp
}

// stand runs the member until ctx ends.
func (s *Sidecar) stand(ctx context.Context) error {
	if s.member != nil {
		return s.member.Run(ctx)
	}
	<-ctx.Done()
	return nil
}

// duty returns the duty of the member, which keeps it until release is called.
func (s *Sidecar) duty() (d alarm.Duty, release func()) {
	state, release := s.member.Hold()
	d = alarm.Duty{On: state.OnDuty, Shared: state.Shared, Elsewhere: !state.OnDuty && state.Live > 0, Skip: state.Skip, Unsync: state.Unsync.UnixNano()}
	if !state.From.IsZero() {
		d.From = state.From.UnixMicro()
	}
	return d, release
}

// recordOthers records what the member has of others that answer at the same master. A
// sidecar with others that no manager has asked yet begins to answer after this: its
// counters must not be compared with those of the sidecar that answered before.
func (s *Sidecar) recordOthers() {
	if s.subagent == nil {
		return
	}
	state := s.member.State()
	s.others.Lower = state.StandsIn
	if state.Known > 0 && s.subagent.Stats().Since.IsZero() {
		s.others.Answers = time.Now().UnixMicro()
	}
}
