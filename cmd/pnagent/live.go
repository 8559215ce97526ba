// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	"github.com/pnagent/pnagent/collector/history"
	"github.com/pnagent/pnagent/metrics"
	"github.com/pnagent/pnagent/telemetry"
	"github.com/pnagent/pnagent/web"
)

// openLive makes the live page.
func (s *sidecar) openLive() (err error) {
	s.live, err = web.New(web.Config{Views: s.collector.Subscribe(), Alarms: s.watcher.Subscribe(), Version: versionOf().Version,
		History: history.New(history.Config{Budget: int64(s.cfg.historyMemory) << 20}), Viewers: s.cfg.viewers, Log: s.cfg.log,
		Ask: func(ctx context.Context, net, source, instance string) (*telemetry.Instance, error) {
			return telemetry.AskInstance(ctx, s.cfg.link.Conn, s.cfg.subjects, net, source, instance)
		}})
	return err
}

// liveMount is the live page and its API: at / and wherever nothing else is.
func (s *sidecar) liveMount() metrics.Mount {
	return metrics.Mount{Pattern: "/", Handler: s.live.Handler(), Link: "index.html", Text: "Live", Description: "the nets as they run, and the last hour"}
}
