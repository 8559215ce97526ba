// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/pnagent/pnagent/agentx"
	"github.com/pnagent/pnagent/alarm"
	"github.com/pnagent/pnagent/metrics"
	"github.com/pnagent/pnagent/standby"
)

// joinOthers lets the sidecar stand by for those that notify the same, if it
// notifies anybody.
func (s *sidecar) joinOthers(host string) {
	if s.subagent == nil && s.sender == nil {
		return
	}
	rules := s.cfg.rules
	if rules == nil {
		rules = alarm.DefaultRules()
	}
	group := standby.Group(s.cfg.root.String(), s.subagent != nil, s.cfg.trapSinks)
	s.member = standby.New(standby.Config{Conn: s.cfg.link.Conn, Subject: s.cfg.subjects.Sidecars(group), Name: host,
		Priority: s.cfg.agentXPriority, Settle: rules.Settle, Up: s.up,
		Connected: func() bool { return s.cfg.link.State().Connected }, Log: s.cfg.log,
		Sources: &standby.Sources{Silent: s.collector.Silent, Take: s.collector.TakeSilent},
		Alarms: &standby.Alarms{ // of the watcher, which is made after the member
			Digest:   func() string { return s.watcher.Digest() },
			Fold:     func(page []byte) error { return s.watcher.Fold(page) },
			ShareAll: func(ask bool) { s.watcher.ShareAll(ask) },
		}})
}

// up tells whether notifications can be sent. Nobody tells of trap sinks.
func (s *sidecar) up() bool {
	return s.subagent == nil || s.subagent.Stats().State == agentx.StateUp
}

// stand is among the sidecars that stand by for each other until ctx ends.
func (s *sidecar) stand(ctx context.Context) error {
	if s.member != nil {
		return s.member.Run(ctx)
	}
	<-ctx.Done()
	return nil
}

// duty is that of the member, which keeps it until release is called.
func (s *sidecar) duty() (d alarm.Duty, release func()) {
	state, release := s.member.Hold()
	d = alarm.Duty{On: state.OnDuty, Shared: state.Shared, Skip: state.Skip, Deaf: state.Deaf.UnixNano()}
	if !state.From.IsZero() {
		d.From = state.From.UnixMicro()
	}
	return d, release
}

// knowOthers looks what is known of others that answer at the same master. One
// that others stand by for and that nobody has asked yet begins to answer when
// it is, so after this: its numbers are not to be compared with those of who was
// asked before.
func (s *sidecar) knowOthers() {
	if s.subagent == nil {
		return
	}
	state := s.member.State()
	s.others.Lower = state.StandsIn
	if state.Known > 0 && s.subagent.Stats().Since.IsZero() {
		s.others.Answers = time.Now().UnixMicro()
	}
}

// duty shows who notifies as metrics.
type duty struct{ member *standby.Member }

var (
	sidecarOnDuty    = desc(metrics.PnagentSidecarOnDuty, "Whether this sidecar sends notifications: 1, or 0 while it stands by for another one.")
	sidecarPeers     = desc(metrics.PnagentSidecarPeers, "Other sidecars that notify the same and are there.")
	sidecarTakeOvers = desc(metrics.PnagentSidecarTakeoversTotal, "Times that this sidecar went on duty.")
	sidecarHeard     = desc(metrics.PnagentSidecarMessagesTotal, "Messages from sidecars, this one's own and those that were rejected included.")
	sidecarRejected  = desc(metrics.PnagentSidecarMessagesRejectedTotal, "Messages from sidecars that were not taken, by reason.", "reason")
)

// Describe implements prometheus.Collector.
func (d *duty) Describe(out chan<- *prometheus.Desc) {
	for _, one := range []*prometheus.Desc{sidecarOnDuty, sidecarPeers, sidecarTakeOvers, sidecarHeard, sidecarRejected} {
		out <- one
	}
}

// Collect implements prometheus.Collector.
func (d *duty) Collect(out chan<- prometheus.Metric) {
	if d.member == nil {
		return
	}
	on := 0.0
	if d.member.OnDuty() {
		on = 1
	}
	c := d.member.Counters()
	out <- prometheus.MustNewConstMetric(sidecarOnDuty, prometheus.GaugeValue, on)
	out <- prometheus.MustNewConstMetric(sidecarPeers, prometheus.GaugeValue, float64(d.member.State().Live))
	out <- prometheus.MustNewConstMetric(sidecarTakeOvers, prometheus.CounterValue, float64(c.TakeOvers))
	out <- prometheus.MustNewConstMetric(sidecarHeard, prometheus.CounterValue, float64(c.Heard))
	for reason, n := range c.Rejected {
		out <- prometheus.MustNewConstMetric(sidecarRejected, prometheus.CounterValue, float64(n), string(reason))
	}
}
