// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"github.com/pnagent/pnagent/act"
	"github.com/pnagent/pnagent/agentx"
	"github.com/pnagent/pnagent/archive"
	"github.com/pnagent/pnagent/collector"
	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/collector/alarm/watch"
	"github.com/pnagent/pnagent/collector/counts"
	"github.com/pnagent/pnagent/collector/history"
	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/collector/standby"
	"github.com/pnagent/pnagent/collector/uplink"
	"github.com/pnagent/pnagent/internal/httpserver"
	"github.com/pnagent/pnagent/metrics"
	"github.com/pnagent/pnagent/mib"
	"github.com/pnagent/pnagent/mib/smi"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/pnml"
	"github.com/pnagent/pnagent/snmp"
	"github.com/pnagent/pnagent/telemetry"
	"github.com/pnagent/pnagent/telemetry/natslink"
	"github.com/pnagent/pnagent/telemetry/natsmetrics"
	"github.com/pnagent/pnagent/web"
	"github.com/pnagent/pnagent/web/api"
)

// sidecarConfig is what a sidecar is made of.
type sidecarConfig struct {
	link       *natslink.Link
	subjects   telemetry.Subjects
	connect    *api.Connect // of engines to the same NATS
	nets       []*petri.Net
	limits     pnml.Limits
	collect    merge.Limits          // zero fields are their defaults
	allow      func(net string) bool // nil allows every net
	forgetNets time.Duration         // 0 is the default
	share      merge.Share           // the zero Share is all
	up         *uplink.Config        // nil without a sidecar above
	upLink     *natslink.Link        // to it, if it is another than link; else nil
	stateDir   string                // of the counters; "" keeps them in memory
	fromZero   bool                  // counts.Config.FromZero

	root     smi.OID
	lockPath string // "" keeps numbers in memory

	agentX         string // "" for none
	agentXPriority uint8
	contexts       bool
	standbyKeys    standby.Keys // of the pair; nil for none
	snmp           string       // "" for none
	responder      snmp.Config  // its rates and networks
	community      string
	communitySet   bool // not merely the default
	users          []snmp.User
	web            string
	webSocket      bool // systemd hands it over, instead of web

	reread func() (reloaded, error) // nil where nothing can be read again

	flags  sidecarFlags
	alarms alarmFlags   // State "" keeps alarms in memory
	rules  *alarm.Rules // nil for alarm.DefaultRules

	log *slog.Logger
}

// priority is that of the AgentX registration; 0 without one.
func (c *sidecarConfig) priority() uint8 {
	if c.agentX == "" {
		return 0
	}
	return c.agentXPriority
}

// sidecar collects the snapshots of engines and serves the View.
type sidecar struct {
	cfg       sidecarConfig
	counts    *counts.Dir
	collector *collector.Collector
	uplink    *uplink.Uplink // nil without a sidecar above
	agent     mib.Agent
	builder   *mib.Builder
	contexts  *mib.Contexts // nil without
	table     atomic.Pointer[smi.Table]
	layout    layout
	current   chan struct{}    // closed once the table has current values of the previous process' sources
	ability   chan struct{}    // has an element after the answer of up has changed
	subagent  *agentx.Subagent // nil without AgentX
	engine    *snmp.Engine     // nil without users of SNMPv3
	responder *snmp.Responder  // nil without SNMP
	sender    *snmp.Sender     // nil without trap sinks
	member    *standby.Member  // nil without notifications
	others    mib.Others       // of layOut
	waiting   []mib.Waiting    // of layOut: the nets that SNMP did not show last
	watcher   *watch.Watcher
	live      *web.Server
	archive   *archive.Archive // nil without Prometheus
	http      *httpserver.Server
	exporter  *metrics.Exporter
	udp       *net.UDPConn // of the responder
	tcp       net.Listener // of the web server
}

// newSidecar makes a sidecar and binds its sockets, so that what is wrong with
// an address is known before anything runs.
func newSidecar(ctx context.Context, cfg sidecarConfig) (s *sidecar, err error) {
	s = &sidecar{cfg: cfg, current: make(chan struct{}), ability: make(chan struct{}, 1)}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	if err := s.openCollector(); err != nil {
		return s, err
	}
	host, _ := os.Hostname() // a name for people; without one there is none
	s.agent = mib.Agent{Version: versionOf().Version, Name: host, Priority: cfg.priority(), Started: time.Now().UnixMicro(),
		Others: func() mib.Others { return s.others }}
	if s.builder, err = mib.NewBuilder(cfg.root, cfg.lockPath, s.agent); err != nil {
		return s, err
	}
	if cfg.contexts {
		s.contexts = mib.NewContexts(cfg.root, cfg.lockPath, s.agent)
	}
	if err := errors.Join(s.openAgentX(), s.openEngine()); err != nil {
		return s, err
	}
	if err := errors.Join(s.openSNMP(host), s.openTraps()); err != nil {
		return s, err
	}
	s.joinOthers(host)
	s.openAlarms()
	return s, s.openWeb(ctx)
}

func (s *sidecar) close() {
	if s.counts != nil {
		s.counts.Close()
	}
	if s.udp != nil {
		_ = s.udp.Close()
	}
	if s.tcp != nil {
		_ = s.tcp.Close()
	}
}

func (s *sidecar) openAgentX() (err error) {
	if s.cfg.agentX == "" {
		return nil
	}
	s.subagent, err = agentx.New(agentx.Config{Addr: s.cfg.agentX, Subtrees: []smi.OID{s.cfg.root}, Tables: s.freshTable,
		ID: s.cfg.root, Description: "pnagent " + versionOf().Version, Priority: s.cfg.agentXPriority, Logger: s.cfg.log,
		StateChanged: func() {
			select {
			case s.ability <- struct{}{}:
			default:
			}
		},
		Caps: []agentx.Caps{{ID: mib.CapabilitiesID(s.cfg.root), Description: mib.CapabilitiesText}}})
	if err != nil {
		return usageError{err}
	}
	return nil
}

func (s *sidecar) openWeb(ctx context.Context) (err error) {
	flags := &s.cfg.flags
	s.http = httpserver.New(httpserver.Config{WebConfig: flags.WebConfig, Hosts: flags.Hosts, Address: s.cfg.web, Frame: httpserver.Frame{Path: web.EmbedPath, Ancestors: flags.FrameAncestors},
		Streams: flags.Viewers, StreamsPerAddress: flags.ViewersPerAddress, Log: s.cfg.log})
	if err := s.openLive(); err != nil {
		return err
	}
	v := versionOf()
	var reload func() error
	if s.cfg.reread != nil {
		reload = s.reload
	}
	s.exporter, err = metrics.New(metrics.Config{View: s.collector.View, Ready: s.ready, Notes: s.notes, Reload: reload,
		Alarms: s.watcher.State, AlarmCounters: s.watcher.Counters, SeriesBudget: s.cfg.flags.SeriesBudget, CreatedSamples: s.cfg.flags.CreatedSamples,
		Version: v.Version, Revision: v.Revision, Log: s.cfg.log,
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
	if s.tcp, err = s.listen(ctx); err == nil && flags.Actions {
		if err = s.http.Identifies(s.tcp.Addr()); errors.Is(err, httpserver.ErrUnknown) {
			err = usageError{fmt.Errorf("--web.actions at %s: %w", s.tcp.Addr(), err)}
		}
	}
	return err
}

// openLive makes the live page.
func (s *sidecar) openLive() (err error) {
	var actions *web.Actions
	if s.cfg.flags.Actions {
		actions = &web.Actions{Alarms: s.watcher, Who: func(r *http.Request) (string, bool, error) { return s.http.Who(r, api.ByHeader) }}
		if proves, err := s.http.Authenticates(); err != nil {
			return usageError{err}
		} else if proves {
			actions.Act = s.actOn
		}
	}
	links := web.Links{Runbooks: s.cfg.flags.Runbooks, Grafana: s.cfg.flags.Grafana}
	if err := links.Check(); err != nil {
		return usageError{fmt.Errorf("--web.runbooks and --web.grafana-url: %w", err)}
	}
	trail, err := act.NewTrail(s.cfg.link.Conn, s.cfg.subjects)
	if err != nil {
		return err
	}
	if s.archive, err = s.cfg.flags.Archive.open(s.cfg.log); err != nil {
		return err
	}
	var older web.Archive // without Prometheus it is nil
	if s.archive != nil {
		older = s.archive
	}
	s.live, err = web.New(web.Config{Views: s.collector.Subscribe(), Alarms: s.watcher.Subscribe(), Actions: actions, Version: versionOf().Version,
		Links: links, Sidecar: s.about, Archive: older,
		History: history.New(history.Config{Budget: int64(s.cfg.flags.History) << 20}), Viewers: s.cfg.flags.Viewers, ViewersPerAddress: s.cfg.flags.ViewersPerAddress, Log: s.cfg.log,
		Audit: trail.Last, Oldest: act.NewTokens(s.cfg.link.Conn, s.cfg.subjects).Oldest,
		Ask: func(ctx context.Context, net, source, instance string) (*telemetry.Instance, error) {
			return telemetry.AskInstance(ctx, s.cfg.link.Conn, s.cfg.subjects, net, source, instance)
		}})
	return err
}

// actOn sends the request of a client of the page to an engine.
func (s *sidecar) actOn(ctx context.Context, by string, r act.Request) (*act.Outcome, error) {
	return (&act.Client{Conn: s.cfg.link.Conn, Subjects: s.cfg.subjects, By: by}).Do(ctx, r)
}

// parts are the metrics of the sidecar's parts; those that are absent have no
// series.
func (s *sidecar) parts() []prometheus.Collector {
	return []prometheus.Collector{natsmetrics.Of(s.cfg.link), agentx.Metrics(s.subagent), snmp.ResponderMetrics(s.responder), snmp.SenderMetrics(s.sender),
		standby.Metrics(s.member), web.Metrics(s.live), httpserver.Metrics(s.http), collector.ShareMetrics(s.collector), uplink.Metrics(s.uplink), natsmetrics.Upward(s.cfg.upLink), counts.Metrics(s.counts), mib.Metrics(s.builder)}
}

// listen gives the socket for HTTP.
func (s *sidecar) listen(ctx context.Context) (net.Listener, error) {
	if s.cfg.webSocket {
		return handedOver()
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", s.cfg.web)
	if err != nil {
		return nil, fmt.Errorf("listening for HTTP: %w", err)
	}
	return l, nil
}

// ready says why the sidecar cannot do its work.
func (s *sidecar) ready() error {
	if state := s.cfg.link.State(); !state.Connected {
		return fmt.Errorf("not connected to NATS: %s", state.Reason)
	}
	return nil
}

// notes says what SNMP does not show yet.
func (s *sidecar) notes() (notes []string) {
	for _, net := range s.builder.Waiting() {
		notes = append(notes, net.String())
	}
	return notes
}

// webAddress and snmpAddress are where it listens.
func (s *sidecar) webAddress() string { return s.tcp.Addr().String() }

func (s *sidecar) snmpAddress() string {
	if s.udp == nil {
		return ""
	}
	return s.udp.LocalAddr().String()
}

// run serves until ctx ends or something breaks. The end is in order: the last
// notifications are sent, another sidecar takes the duty, and then the faces end.
func (s *sidecar) run(ctx context.Context) error {
	defer s.counts.Close()
	g, ctx := errgroup.WithContext(ctx)
	onDuty, handOver := context.WithCancel(context.WithoutCancel(ctx))
	faces, endFaces := context.WithCancel(context.WithoutCancel(ctx))
	g.Go(func() error { return s.collector.Run(ctx) })
	g.Go(func() error { defer handOver(); return s.watcher.Run(ctx) })
	g.Go(func() error { return s.layOut(ctx) })
	g.Go(func() error { return s.live.Run(ctx) })
	g.Go(func() error { return s.reloadOnHangup(ctx) })
	if s.archive != nil {
		g.Go(func() error { return s.archive.Run(ctx) })
	}
	if s.uplink != nil {
		g.Go(func() error { return s.uplink.Run(ctx) })
	}
	g.Go(func() error { defer endFaces(); return s.stand(onDuty) })
	if s.sender != nil {
		g.Go(func() error { s.sender.Run(faces); return nil })
	}
	if s.subagent != nil {
		g.Go(func() error { return s.answer(faces) })
	}
	if s.responder != nil {
		g.Go(func() error { return s.responder.Serve(ctx, s.udp) })
	}
	g.Go(func() error { return s.http.Serve(ctx, s.tcp, s.exporter.Handler()) })
	return g.Wait()
}

// answerWithin is how long a sidecar that starts again waits for its sources
// before it answers the AgentX master.
const answerWithin = 3 * time.Second

// answer serves the AgentX master until ctx ends. It first waits for the sources of
// the previous process. Another sidecar that answers meanwhile has newer counters, and
// going back to older ones would make a station count that difference twice.
func (s *sidecar) answer(ctx context.Context) error {
	select {
	case <-s.current:
	case <-time.After(answerWithin):
	case <-ctx.Done():
	}
	return s.subagent.Run(ctx)
}
