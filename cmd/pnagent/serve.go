// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"time"

	"github.com/alecthomas/kong"
	"github.com/coreos/go-systemd/v22/activation"
	"golang.org/x/sync/errgroup"

	"github.com/pnagent/pnagent/cli"
	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/collector/standby"
	"github.com/pnagent/pnagent/internal/httpserver"
	"github.com/pnagent/pnagent/internal/memlimit"
	"github.com/pnagent/pnagent/mib"
	"github.com/pnagent/pnagent/sidecar"
	"github.com/pnagent/pnagent/snmp"
	"github.com/pnagent/pnagent/web"
)

type serveCmd struct {
	Config kong.ConfigFlag `placeholder:"FILE" help:"YAML file with flags of this command as keys, such as web.listen-address. Flags override the file."`
	NATS   cli.NATS        `embed:"" group:"NATS"`
	sidecarFlags
	AgentX         string     `name:"agentx" placeholder:"ADDR" help:"AgentX master to serve through: unix:/path or tcp:host:port."`
	AgentXPriority uint8      `name:"agentx.priority" default:"${agentx_priority}" help:"Priority of the AgentX registration, 1 to 255; of two sidecars the one with the lower number answers and notifies: up to 100 for the primary, more for its standby."`
	Contexts       bool       `name:"agentx.contexts" help:"Also serve each net alone, in an AgentX context of the net's id: snmpwalk -n NET. Needs --agentx and --mib-dir."`
	SNMP           string     `name:"snmp" placeholder:"ADDR" help:"UDP address of the built-in SNMP responder, for hosts without an AgentX master, such as 127.0.0.1:1161."`
	StandbyKeys    string     `name:"standby.key-file" type:"path" placeholder:"FILE" help:"File with the key that the sidecars of a pair share, a line of at least 32 bytes that only its owner and group can read. Each then ignores messages of sidecars without the key. A second line is a key that is accepted too."`
	PacketRate     int        `name:"snmp.packet-rate" default:"10000" help:"Maximum number of packets a second from one address that the built-in SNMP responder answers."`
	OctetRate      int        `name:"snmp.octet-rate" default:"10000000" help:"Maximum number of bytes a second that the built-in SNMP responder sends to one address."`
	AllowFrom      []string   `name:"snmp.allow-from" placeholder:"CIDR" help:"Network that the built-in SNMP responder answers, such as 192.0.2.0/24; may be given again. Default: all."`
	Web            string     `name:"web.listen-address" default:"127.0.0.1:9797" help:"TCP address for the live page, metrics and the API."`
	WebSocket      bool       `name:"web.systemd-socket" help:"Serve HTTP at the socket that systemd passes, instead of --web.listen-address."`
	MIBDir         string     `name:"mib-dir" default:"mibs" help:"Directory with oids.lock, which keeps the numbers of nets, places and transitions; pnagent mib writes the modules to the same directory. Empty keeps the numbers in memory: after a restart objects may have other OIDs."`
	StateDir       *string    `name:"state-dir" placeholder:"DIR" help:"Directory that keeps what was counted, so that counters continue over restarts; each sidecar needs its own. Empty keeps nothing: counters begin at 0 at each start. Default: counters in --mib-dir; where --alarm-state is given, that name with .counters for its extension."`
	FromZero       bool       `name:"from-zero" help:"If no counters were kept yet, also count what engines did before their first message. That is the default if --state-dir keeps counters and there is no --up. Use it only if no sidecar has shown these counts before; otherwise rates would jump, and a sidecar above would count them twice."`
	Nets           []string   `name:"net" placeholder:"FILE" help:"Net file to show before an engine runs it; like the argument, for use in the configuration file."`
	Files          []string   `arg:"" optional:"" name:"net-file" help:"Net files (PNML, BPMN, Tina's .net or LoLA) of nets to show before an engine runs them."`
	Sources        int        `name:"collect.max-sources" default:"${max_sources}" help:"Maximum number of sources of all nets, including those that are gone; messages of others are rejected and counted. See docs/scale.md."`
	Rows           int        `name:"collect.max-rows" default:"${max_rows}" help:"Maximum number of rows (places and transitions) of all sources together, and also of all nets together. A row takes 0.25 to 1 KiB. Messages beyond it are rejected and counted."`
	Shown          netFlags   `embed:""`
	Tree           treeFlags  `embed:"" group:"Tree"`
	Limit          cli.Limits `embed:""`
	Alarm          alarmFlags `embed:""`
}

// defaultAgentXPriority is that of a primary. A standby is given a larger one,
// such as 127.
const defaultAgentXPriority = mib.PrimaryPriority

// sidecarFlags are shared by serve and demo.
type sidecarFlags struct {
	OIDRoot           string        `name:"oid-root" default:"${oid_root}" help:"OID under which everything is served: .1 is PETRINET-MIB, .2.N the module of net number N."`
	WebConfig         string        `name:"web.config.file" type:"path" placeholder:"FILE" help:"exporter-toolkit web configuration: TLS and basic authentication."`
	Users             string        `name:"snmp.users-file" type:"path" placeholder:"FILE" help:"File with users of SNMPv3, one a line: NAME SHA-256 PASSPHRASE AES-128 PASSPHRASE. With it, SNMPv2c is answered only if a community is set. See docs/snmpv3.md."`
	AllowPublic       bool          `name:"snmp.allow-public" help:"Answer the community public at an SNMP address that is not of the loopback."`
	Community         string        `name:"snmp.community-file" type:"path" placeholder:"FILE" help:"File with the SNMP community, which others must not be able to read (mode 0600 or 0640). Without it, that of the environment variable PNAGENT_SNMP_COMMUNITY, or public if there is no --snmp.users-file."`
	ForgetAfter       time.Duration `name:"forget-after" default:"15m" help:"Silence after which a source's tokens leave the sums."`
	Objects           string        `name:"objects" default:"work" enum:"work,all" help:"Places and transitions that SNMP, metrics and the API have: work, where instances wait, or all, also those by which pnagent keeps books of a BPMN process: what is armed, active around others, or counted. Sums, alarms and the lists of the page are always of work."`
	SeriesBudget      int           `name:"metrics.series-budget" default:"50000" help:"Maximum number of series of one net to expose."`
	CreatedSamples    bool          `name:"metrics.created-samples" help:"Add a _created line for each counter and histogram of a net to OpenMetrics text. Prometheus stores each as one more series, which counts in the budget. Protobuf has these times in any case."`
	History           int           `name:"web.history-memory" default:"64" help:"MiB for the last hour of the live page; if an hour of seconds needs more, fewer moments are kept."`
	Archive           archiveFlags  `embed:"" prefix:"web."`
	Hosts             []string      `name:"web.allowed-hosts" placeholder:"NAME" help:"${allowed_hosts}"`
	FrameAncestors    []string      `name:"web.frame-ancestors" placeholder:"ORIGIN" help:"Origin whose pages may have /embed in a frame, such as https://grafana.example; may be given again. Default: none. No page may have the live page itself in a frame. See docs/sres.md."`
	Actions           bool          `name:"web.actions" help:"Take changes over HTTP: acknowledge and silence alarms, and, from clients that authenticate by --web.config.file, fire, inject and retry. At an address that is not of the loopback it needs authentication."`
	Runbooks          string        `name:"web.runbooks" default:"${runbooks}" placeholder:"URL" help:"Address of the folder with the runbooks, to which the live page links each alarm; empty for no links."`
	Grafana           string        `name:"web.grafana-url" placeholder:"URL" help:"Address of a dashboard, to which the live page links places, transitions and instances. In it, {net}, {place} and {transition} are ids, and {from} and {to} the last hour in milliseconds since the Unix epoch: http://grafana:3000/d/pnagent-place?var-net={net}&var-place={place}&from={from}&to={to}"`
	Viewers           int           `name:"web.viewers" default:"1000" help:"Maximum number of viewers of the live page at once."`
	ViewersPerAddress int           `name:"web.viewers-per-address" default:"100" help:"Maximum number of viewers at one address at once; behind a proxy all have its address."`
}

// Run serves until ctx ends.
func (c *serveCmd) Run(ctx context.Context, s streams, args cli.Arguments, log *slog.Logger) error {
	cfg, err := c.sidecar(s, log)
	if err != nil {
		return err
	}
	if cfg.Reread, err = rereader(args, s, log); err != nil {
		return err
	}
	if c.OIDRoot == mib.DefaultRoot {
		log.Warn("serving below net-snmp's playpen, which is for trials only: set your own with --oid-root", "root", c.OIDRoot)
	}
	if cfg.Link, cfg.Subjects, err = c.NATS.Connect("pnagent serve", log); err != nil {
		return err
	}
	defer cfg.Link.Close()
	if cfg.Up != nil {
		if cfg.UpLink, err = c.Tree.connect(log); err != nil {
			return err
		}
		if cfg.Up.Conn = cfg.Link.Conn; cfg.UpLink != nil {
			defer cfg.UpLink.Close()
			cfg.Up.Conn = cfg.UpLink.Conn
		}
	}
	if c.WebSocket {
		cfg.Listen = handedOver
	}
	side, err := c.open(ctx, cfg)
	if err != nil {
		return err
	}
	log.Info("sidecar serves", "http", side.WebAddress(), "snmp", side.SNMPAddress(), "agentx", cfg.AgentX, "root", cfg.Root.String())
	cli.Notify(log, cli.Ready)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return side.Run(ctx) })
	g.Go(func() error { return reloadOnHangup(ctx, side, log) })
	err = g.Wait()
	cli.Notify(log, cli.Stopping)
	return err
}

// open makes the sidecar of a configuration.
func (f *sidecarFlags) open(ctx context.Context, cfg sidecar.Config) (_ *sidecar.Sidecar, err error) {
	if cfg.Archive, err = f.Archive.open(cfg.Log); err != nil {
		return nil, err
	}
	return sidecar.New(ctx, cfg)
}

// sidecar reads the files that the flags name.
func (c *serveCmd) sidecar(s streams, log *slog.Logger) (sidecar.Config, error) {
	cfg, err := c.config(log)
	if err != nil {
		return cfg, err
	}
	c.NATS.URL = cmp.Or(c.NATS.URL, "nats://127.0.0.1:4222")
	cfg.Connect = document(c.NATS)
	tables, err := cli.CompileNets(append(c.Nets, c.Files...), s.in, c.Limit, log)
	if err != nil {
		return cfg, err
	}
	cfg.Nets, cfg.PNML = cli.NetsOf(tables), c.Limit.Netfile().PNML()
	cfg.AgentX, cfg.AgentXPriority, cfg.SNMP, cfg.Web = c.AgentX, c.AgentXPriority, c.SNMP, c.Web
	cfg.Responder.PacketRate, cfg.Responder.OctetRate = c.PacketRate, c.OctetRate
	if cfg.Responder.AllowFrom, err = networks(c.AllowFrom); err != nil {
		return cfg, err
	}
	if c.StandbyKeys != "" {
		if cfg.StandbyKeys, err = standby.ReadKeys(c.StandbyKeys); err != nil {
			return cfg, cli.Usage(fmt.Errorf("--standby.key-file: %w", err))
		}
	}
	if c.Sources <= 0 || c.Rows <= 0 {
		return cfg, cli.Usage(errors.New("--collect.max-sources and --collect.max-rows: expected more than 0"))
	}
	if err := c.Shown.fill(&cfg); err != nil {
		return cfg, err
	}
	memlimit.KeepSmall()
	memory := memlimit.Limit()
	if cfg.Merge.Limits = (merge.Limits{Sources: c.Sources, AllRows: c.Rows}).Within(memory); cfg.Merge.Limits.AllRows < c.Rows {
		log.Info("fewer places and transitions than --collect.max-rows, because of the limit of memory", "rows", cfg.Merge.Limits.AllRows, "memory", memory)
	}
	if cfg.Contexts = c.Contexts; c.Contexts && (c.AgentX == "" || c.MIBDir == "") {
		return cfg, cli.Usage(errors.New("--agentx.contexts without --agentx or with an empty --mib-dir; expected both, so that numbers are the same in every context"))
	}
	if err := c.Tree.fill(&cfg, c.NATS.Subjects); err != nil {
		return cfg, err
	}
	if c.MIBDir != "" {
		cfg.Lock = filepath.Join(c.MIBDir, mib.LockFile)
	}
	cfg.StateDir, cfg.FromZero = c.stateDir(), c.FromZero
	return cfg, c.Alarm.fill(&cfg, c.MIBDir)
}

// stateDir returns where counters are kept; "" keeps nothing.
func (c *serveCmd) stateDir() string {
	switch {
	case c.StateDir != nil:
		return *c.StateDir
	case c.Alarm.State != "":
		return strings.TrimSuffix(c.Alarm.State, filepath.Ext(c.Alarm.State)) + ".counters"
	case c.MIBDir != "":
		return filepath.Join(c.MIBDir, "counters")
	}
	return ""
}

// config is what serve and demo have in common.
func (f *sidecarFlags) config(log *slog.Logger) (sidecar.Config, error) {
	root, err := mib.ParseRoot(f.OIDRoot)
	if err != nil {
		return sidecar.Config{}, cli.Usage(fmt.Errorf("--oid-root: %w", err))
	}
	if f.ForgetAfter <= 0 || f.SeriesBudget <= 0 || f.History <= 0 || f.Viewers <= 0 || f.ViewersPerAddress <= 0 {
		return sidecar.Config{}, cli.Usage(errors.New("--forget-after, --metrics.series-budget, --web.history-memory, --web.viewers and --web.viewers-per-address: expected more than 0"))
	}
	for _, origin := range f.FrameAncestors {
		if err := httpserver.CheckAncestor(origin); err != nil {
			return sidecar.Config{}, cli.Usage(fmt.Errorf("--web.frame-ancestors: %w", err))
		}
	}
	v := cli.VersionOf()
	cfg := sidecar.Config{Root: root, Merge: merge.Rules{ForgetAfter: f.ForgetAfter, Bookkeeping: f.Objects == "all"}, SeriesBudget: f.SeriesBudget, CreatedSamples: f.CreatedSamples,
		WebConfig: f.WebConfig, Hosts: f.Hosts, FrameAncestors: f.FrameAncestors, Actions: f.Actions, Links: web.Links{Runbooks: f.Runbooks, Grafana: f.Grafana},
		History: f.History, Viewers: f.Viewers, PerAddress: f.ViewersPerAddress, Version: v.Version, Revision: v.Revision, Log: log}
	if cfg.Community, cfg.CommunitySet, err = f.community(); err == nil && f.Users != "" {
		cfg.Users, err = snmp.ReadUsersFile(f.Users)
		err = cli.UsageIf(err, snmp.ErrUsers)
	}
	return cfg, err
}

// handedOver is the one socket that systemd opened for this process.
func handedOver() (net.Listener, error) {
	sockets, err := activation.Listeners()
	if err != nil {
		return nil, fmt.Errorf("taking the socket of systemd: %w", err)
	}
	if len(sockets) != 1 || sockets[0] == nil {
		return nil, cli.Usage(fmt.Errorf("--web.systemd-socket: %d sockets were handed over; expected one that listens for TCP, as a .socket unit opens", len(sockets)))
	}
	return sockets[0], nil
}
