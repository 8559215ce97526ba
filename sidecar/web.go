// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"

	"github.com/pnagent/pnagent/act"
	"github.com/pnagent/pnagent/cli"
	"github.com/pnagent/pnagent/collector/history"
	"github.com/pnagent/pnagent/internal/httpserver"
	"github.com/pnagent/pnagent/metrics"
	"github.com/pnagent/pnagent/telemetry"
	"github.com/pnagent/pnagent/web"
	"github.com/pnagent/pnagent/web/api"
)

// openWeb makes what HTTP serves.
func (s *Sidecar) openWeb() (err error) {
	if err := httpserver.CheckFile(s.cfg.WebConfig); err != nil {
		return cli.OfFlag("web.config.file", err)
	}
	s.http = httpserver.New(httpserver.Config{WebConfig: s.cfg.WebConfig, Hosts: s.cfg.Hosts, Address: s.cfg.Web, Frame: httpserver.Frame{Path: web.EmbedPath, Ancestors: s.cfg.FrameAncestors},
		Streams: s.cfg.Viewers, StreamsPerAddress: s.cfg.PerAddress, Log: s.cfg.Log})
	if err := s.openLive(); err != nil {
		return err
	}
	var reload func() error
	if s.cfg.Reread != nil {
		reload = s.reload
	}
	s.exporter, err = metrics.New(metrics.Config{View: s.collector.View, Ready: s.ready, Notes: s.notes, Reload: reload,
		Alarms: s.watcher.State, AlarmCounters: s.watcher.Counters, SeriesBudget: s.cfg.SeriesBudget, CreatedSamples: s.cfg.CreatedSamples,
		Version: s.cfg.Version, Revision: s.cfg.Revision, Log: s.cfg.Log,
		Collectors: s.parts(),
		Mounts: []metrics.Mount{
			{Pattern: "/", Handler: s.live.Handler(), Link: "index.html", Text: "Live", Description: "the nets as they run, and the last hour"},
			{Pattern: "GET /api/v1/view", Handler: s.live.Handler(), Link: "api/v1/view", Text: "View", Description: "everything as JSON"},
			{Pattern: "GET /api/v1/alarms", Handler: s.live.Handler(), Link: "api/v1/alarms", Text: "Alarms", Description: "those that are active, as JSON"},
			{Pattern: "GET /api/v1/alarms/cleared", Handler: s.live.Handler(), Link: "api/v1/alarms/cleared", Text: "Cleared alarms", Description: "the last ones, as JSON"},
			{Pattern: "GET /api/v1/openapi.json", Handler: s.live.Handler(), Link: "api/v1/openapi.json", Text: "API", Description: "the OpenAPI description of these documents"}}})
	if err != nil {
		return err
	}
	if s.cfg.Listen != nil {
		return nil
	}
	at, err := net.ResolveTCPAddr("tcp", s.cfg.Web)
	if err != nil {
		return cli.Wrong("web.listen-address", "%q: %w; expected HOST:PORT with a port from 0 to 65535", s.cfg.Web, err)
	}
	return s.identifies(at)
}

// identifies returns an error if changes are taken at an address whose clients are unknown.
func (s *Sidecar) identifies(at net.Addr) error {
	if !s.cfg.Actions {
		return nil
	}
	err := s.http.Identifies(at)
	if errors.Is(err, httpserver.ErrUnknown) {
		return cli.Wrong("web.actions", "--web.actions at %s: %w", at, err)
	}
	return err
}

// openLive makes the live page.
func (s *Sidecar) openLive() (err error) {
	var actions *web.Actions
	if s.cfg.Actions {
		actions = &web.Actions{Alarms: s.watcher, Who: func(r *http.Request) (string, bool, error) { return s.http.Who(r, api.ByHeader) }}
		if proves, err := s.http.Authenticates(); err != nil {
			return cli.OfFlag("web.config.file", cli.Usage(err))
		} else if proves {
			actions.Act = s.actOn
		}
	}
	if err := s.cfg.Links.Check(); err != nil {
		return cli.OfFlag("web.grafana-url", cli.Usage(fmt.Errorf("--web.runbooks and --web.grafana-url: %w", err)))
	}
	trail, err := act.NewTrail(s.cfg.Link.Conn, s.cfg.Subjects)
	if err != nil {
		return err
	}
	var older web.Archive // without Prometheus it is nil
	if s.cfg.Archive != nil {
		older = s.cfg.Archive
	}
	s.live, err = web.New(web.Config{Views: s.collector.Subscribe(), Alarms: s.watcher.Subscribe(), Actions: actions, Version: s.cfg.Version,
		Links: s.cfg.Links, Sidecar: s.about, Archive: older,
		History: history.New(history.Config{Budget: int64(s.cfg.History) << 20}), Viewers: s.cfg.Viewers, ViewersPerAddress: s.cfg.PerAddress, Log: s.cfg.Log,
		Audit: trail.Last, Oldest: act.NewTokens(s.cfg.Link.Conn, s.cfg.Subjects).Oldest,
		Ask: func(ctx context.Context, net, source, instance string) (*telemetry.Instance, error) {
			return telemetry.AskInstance(ctx, s.cfg.Link.Conn, s.cfg.Subjects, net, source, instance)
		}})
	return err
}

// actOn sends the request of a client of the page to an engine.
func (s *Sidecar) actOn(ctx context.Context, by string, r act.Request) (*act.Outcome, error) {
	return (&act.Client{Conn: s.cfg.Link.Conn, Subjects: s.cfg.Subjects, By: by}).Do(ctx, r)
}

// ready says why the sidecar cannot do its work.
func (s *Sidecar) ready() error {
	if state := s.cfg.Link.State(); !state.Connected {
		return fmt.Errorf("not connected to NATS: %s", state.Reason)
	}
	return nil
}

// notes says what SNMP does not show. Without a session with the AgentX master the sidecar stays
// ready: its clients over HTTP get current data, and a restart, or another sidecar for them, would
// not mend snmpd.
func (s *Sidecar) notes() (notes []string) {
	if master := s.master(); master != nil && !master.Connected {
		notes = append(notes, fmt.Sprintf("There is no session with the AgentX master at %s: %s", master.Server, master.Reason))
	}
	for _, net := range s.builder.Waiting() {
		notes = append(notes, net.String())
	}
	return notes
}

// about returns what the sidecar is now, for the live page.
func (s *Sidecar) about() api.Sidecar {
	d := api.Sidecar{Connect: s.cfg.Connect}
	if s.cfg.Share.Count > 0 {
		d.Share = s.cfg.Share.String()
	}
	if up := s.cfg.Up; up != nil {
		d.Above = &api.Above{Prefix: up.Subjects.Prefix(), Source: up.Source}
	}
	if s.member != nil {
		d.Duty = &api.Duty{On: s.member.OnDuty(), Others: s.member.State().Live}
	}
	return d
}
