// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"github.com/pnagent/pnagent/agentx"
	"github.com/pnagent/pnagent/cli"
	"github.com/pnagent/pnagent/collector"
	"github.com/pnagent/pnagent/collector/alarm/watch"
	"github.com/pnagent/pnagent/collector/counts"
	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/collector/standby"
	"github.com/pnagent/pnagent/collector/uplink"
	"github.com/pnagent/pnagent/internal/dirlock"
	"github.com/pnagent/pnagent/internal/httpserver"
	"github.com/pnagent/pnagent/internal/selfmetrics"
	"github.com/pnagent/pnagent/metrics"
	"github.com/pnagent/pnagent/mib"
	"github.com/pnagent/pnagent/mib/smi"
	"github.com/pnagent/pnagent/otlp"
	"github.com/pnagent/pnagent/petri/pnml"
	"github.com/pnagent/pnagent/snmp"
	"github.com/pnagent/pnagent/telemetry/natsmetrics"
	"github.com/pnagent/pnagent/web"
)

// Sidecar collects the snapshots of engines and serves the View.
type Sidecar struct {
	cfg       Config
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
	receivers receivers        // of the other sinks
	member    *standby.Member  // nil without notifications
	others    mib.Others       // of layOut
	waiting   []mib.Waiting    // of layOut: the nets that SNMP did not show last
	watcher   *watch.Watcher
	live      *web.Server
	http      *httpserver.Server
	exporter  *metrics.Exporter
	snmpAt    *net.UDPAddr // of the responder
	udp       *net.UDPConn // at snmpAt
	tcp       net.Listener // of the web server
}

// New makes a sidecar and binds its sockets, so that what is wrong with an address is known
// before anything runs. It reads the files of state. An error about the configuration is one
// of cli.IsUsage or a cli.FlagError; after any error nothing is left open. The caller calls Run.
func New(ctx context.Context, cfg Config) (s *Sidecar, err error) {
	if err := cfg.writable(); err != nil {
		return nil, err
	}
	s, err = build(cfg)
	if err == nil {
		err = s.listen(ctx)
	}
	if err != nil {
		s.close()
	}
	return s, err
}

// Check makes what New makes of a configuration, but binds no socket, holds no directory and
// keeps no state. So it may check the configuration of a sidecar that runs. The link need not
// be connected: see natslink.Nowhere.
func Check(cfg Config) error {
	if err := cfg.writable(); err != nil {
		return err
	}
	cfg.StateDir, cfg.AlarmState, cfg.Log = "", "", slog.New(slog.DiscardHandler)
	s, err := build(cfg)
	s.close()
	return err
}

// build makes all of a sidecar but its sockets.
func build(cfg Config) (s *Sidecar, err error) {
	cfg.PNML, cfg.Merge.ForgetAfter = cmp.Or(cfg.PNML, pnml.DefaultLimits()), cmp.Or(cfg.Merge.ForgetAfter, merge.DefaultForgetAfter)
	s = &Sidecar{cfg: cfg, current: make(chan struct{}), ability: make(chan struct{}, 1)}
	if err := s.openCollector(); err != nil {
		return s, err
	}
	host, _ := os.Hostname() // a name for people; without one there is none
	s.agent = mib.Agent{Version: s.cfg.Version, Name: host, Priority: cfg.priority(), Started: time.Now().UnixMicro(),
		Others: func() mib.Others { return s.others }}
	s.builder, err = mib.NewBuilder(cfg.Root, cfg.Lock, s.agent)
	if err != nil {
		return s, err
	}
	if cfg.Contexts {
		s.contexts = mib.NewContexts(cfg.Root, cfg.Lock, s.agent)
	}
	if err := errors.Join(s.openAgentX(), s.openEngine()); err != nil {
		return s, err
	}
	if err := errors.Join(s.openSNMP(host), s.openTraps()); err != nil {
		return s, err
	}
	s.joinOthers(host)
	s.openAlarms()
	return s, s.openWeb()
}

// listen binds the sockets.
func (s *Sidecar) listen(ctx context.Context) (err error) {
	if s.responder != nil {
		s.udp, err = net.ListenUDP("udp", s.snmpAt)
		if err != nil {
			return cli.OfFlag("snmp", fmt.Errorf("listening for SNMP: %w", err))
		}
	}
	if s.cfg.Listen == nil {
		s.tcp, err = new(net.ListenConfig).Listen(ctx, "tcp", s.cfg.Web)
		if err != nil {
			return cli.OfFlag("web.listen-address", fmt.Errorf("listening for HTTP: %w", err))
		}
		return nil
	}
	s.tcp, err = s.cfg.Listen()
	if err != nil {
		return err
	}
	return s.identifies(s.tcp.Addr())
}

// openCollector creates the collector with the counters of --state-dir, and its uplink
// to the sidecar above.
func (s *Sidecar) openCollector() (err error) {
	kept := counts.Config{Path: s.cfg.StateDir, Subjects: s.cfg.Subjects.Prefix(), Share: s.cfg.Share, Log: s.cfg.Log}
	up := s.cfg.Up
	if up != nil {
		kept.Up, kept.Source = up.Subjects.Prefix(), up.Source
	}
	kept.FromZero = s.cfg.FromZero || up == nil && kept.Path != "" // the first sidecar that shows these engines from here
	s.counts, err = counts.Open(kept, time.Now().UnixMicro())
	if err != nil {
		if errors.Is(err, dirlock.ErrHeld) {
			err = fmt.Errorf("%w; expected a --state-dir of its own for each sidecar", err)
		}
		return err
	}
	cfg := collector.Config{Conn: s.cfg.Link.Conn, NATS: s.cfg.Link.State, AgentX: s.master, Subjects: s.cfg.Subjects, Rules: s.cfg.Merge,
		Nets: s.cfg.Nets, Allow: s.cfg.Allow, PNML: s.cfg.PNML, Share: s.cfg.Share, Log: s.cfg.Log}
	if s.cfg.UpLink != nil {
		cfg.Up = s.cfg.UpLink.State
	}
	s.collector, err = s.counts.Collector(cfg)
	if err != nil || up == nil {
		return err
	}
	head := s.counts.Header()
	up.Since, up.Epoch, up.Fence = head.Since, head.Epoch, head.Fence
	s.uplink, err = uplink.New(*up, s.collector)
	return err
}

// close frees what New opened.
func (s *Sidecar) close() {
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

// parts are the metrics of the sidecar's parts; those that are absent have no
// series.
func (s *Sidecar) parts() []prometheus.Collector {
	return []prometheus.Collector{natsmetrics.Of(s.cfg.Link), agentx.Metrics(s.subagent), snmp.ResponderMetrics(s.responder), snmp.SenderMetrics(s.sender),
		standby.Metrics(s.member), web.Metrics(s.live), httpserver.Metrics(s.http), collector.ShareMetrics(s.collector), uplink.Metrics(s.uplink), natsmetrics.Upward(s.cfg.UpLink), counts.Metrics(s.counts), mib.Metrics(s.builder), otlp.Collector(s.cfg.OTLP)}
}

// Families describes the metrics of the sidecar's parts.
func Families() (all []selfmetrics.Description) {
	for _, part := range new(Sidecar).parts() {
		all = append(all, part.(*selfmetrics.Collector).Families()...)
	}
	return all
}

// Gatherer returns what a scrape of /metrics shows. Its families are held until they are released.
func (s *Sidecar) Gatherer() prometheus.TransactionalGatherer { return s.exporter.Gatherer() }

// WebAddress returns where the sidecar listens for HTTP.
func (s *Sidecar) WebAddress() string { return s.tcp.Addr().String() }

// SNMPAddress returns where the responder listens; "" without one.
func (s *Sidecar) SNMPAddress() string {
	if s.udp == nil {
		return ""
	}
	return s.udp.LocalAddr().String()
}

// Run serves until ctx ends or something breaks; that ctx ended is no error. The end is in
// order: the last notifications are sent, another sidecar takes the duty, and then the faces
// end. It is called once.
func (s *Sidecar) Run(ctx context.Context) error {
	defer s.counts.Close()
	g, ctx := errgroup.WithContext(ctx)
	onDuty, handOver := context.WithCancel(context.WithoutCancel(ctx))
	faces, endFaces := context.WithCancel(context.WithoutCancel(ctx))
	g.Go(func() error { return s.collector.Run(ctx) })
	g.Go(func() error { defer handOver(); return s.watcher.Run(ctx) })
	g.Go(func() error { return s.layOut(ctx) })
	g.Go(func() error { return s.live.Run(ctx) })
	if s.cfg.Archive != nil {
		g.Go(func() error { return s.cfg.Archive.Run(ctx) })
	}
	if s.uplink != nil {
		g.Go(func() error { return s.uplink.Run(ctx) })
	}
	g.Go(func() error { defer endFaces(); return s.stand(onDuty) })
	if s.sender != nil {
		g.Go(func() error { s.sender.Run(faces); return nil })
	}
	g.Go(func() error { s.receivers.run(onDuty); return nil })
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
func (s *Sidecar) answer(ctx context.Context) error {
	select {
	case <-s.current:
	case <-time.After(answerWithin):
	case <-ctx.Done():
	}
	return s.subagent.Run(ctx)
}
