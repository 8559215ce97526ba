// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"errors"
	"fmt"
	"time"

	"github.com/pnagent/pnagent/collector"
	"github.com/pnagent/pnagent/collector/counts"
	"github.com/pnagent/pnagent/collector/uplink"
	"github.com/pnagent/pnagent/internal/dirlock"
)

// openCollector creates the collector with the counters of --state-dir, and its uplink
// to the sidecar above.
func (s *Sidecar) openCollector() (err error) {
	kept := counts.Config{Path: s.cfg.StateDir, Subjects: s.cfg.Subjects.Prefix(), Share: s.cfg.Share, Log: s.cfg.Log}
	up := s.cfg.Up
	if up != nil {
		kept.Up, kept.Source = up.Subjects.Prefix(), up.Source
	}
	kept.FromZero = s.cfg.FromZero || up == nil && kept.Path != "" // the first sidecar that shows these engines from here
	if s.counts, err = counts.Open(kept, time.Now().UnixMicro()); err != nil {
		if errors.Is(err, dirlock.ErrHeld) {
			err = fmt.Errorf("%w; expected a --state-dir of its own for each sidecar", err)
		}
		return err
	}
	cfg := collector.Config{Conn: s.cfg.Link.Conn, NATS: s.cfg.Link.State, Subjects: s.cfg.Subjects, Rules: s.cfg.Merge,
		Nets: s.cfg.Nets, Allow: s.cfg.Allow, PNML: s.cfg.PNML, Share: s.cfg.Share, Log: s.cfg.Log}
	if s.cfg.UpLink != nil {
		cfg.Up = s.cfg.UpLink.State
	}
	if s.collector, err = s.counts.Collector(cfg); err != nil || up == nil {
		return err
	}
	head := s.counts.Header()
	up.Since, up.Epoch, up.Fence = head.Since, head.Epoch, head.Fence
	s.uplink, err = uplink.New(*up, s.collector)
	return err
}
