// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"
	"github.com/coreos/go-systemd/v22/activation"
	"github.com/nats-io/nats.go"
	"golang.org/x/sync/errgroup"

	"github.com/pnagent/pnagent/cli"
	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/collector/standby"
	"github.com/pnagent/pnagent/internal/httpserver"
	"github.com/pnagent/pnagent/internal/memlimit"
	"github.com/pnagent/pnagent/mib"
	"github.com/pnagent/pnagent/otlp"
	"github.com/pnagent/pnagent/sidecar"
	"github.com/pnagent/pnagent/snmp"
	"github.com/pnagent/pnagent/telemetry/natslink"
	"github.com/pnagent/pnagent/web"
)

type serveCmd struct {
	Config string   `type:"path" placeholder:"FILE" help:"YAML file with flags of this command as keys, such as web.listen-address. Flags override the file."`
	Print  bool     `name:"print-config" help:"Print a configuration file with all keys, their values and help, instead of serving."`
	NATS   cli.NATS `embed:"" group:"NATS"`
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

	OTLP metricFlags `embed:"" prefix:"otlp." group:"OpenTelemetry"`
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

// BeforeResolve reads the configuration file, if the command line or the environment names one.
func (c *serveCmd) BeforeResolve(k *kong.Context, from *values) error {
	for _, path := range k.Path {
		for _, flag := range path.Flags {
			if flag.Name != "config" {
				continue
			}
			name, _ := k.FlagValue(flag).(string)
			if _, variable, ok := from.lookUp(flag); ok && name == "" {
				name = kong.ExpandPath(variable)
			}
			return from.load(name)
		}
	}
	return nil
}

// Run serves until ctx ends.
func (c *serveCmd) Run(ctx context.Context, s streams, args cli.Arguments, k *kong.Context, level *slog.LevelVar, log *slog.Logger) error {
	if c.Print {
		var out bytes.Buffer
		c.Nets = append(c.Nets, c.Files...)
		printConfig(&out, k.Flags())
		return s.write("-", out.Bytes())
	}
	if c.OTLP.Endpoint != "" {
		if err := cli.NeedsFull("--otlp.endpoint", args); err != nil {
			return err
		}
	}
	cfg, closeLinks, err := c.build(s, log, false)
	if err != nil {
		return err
	}
	defer closeLinks()
	cfg.Reread, err = rereader(args, s, level, log)
	if err != nil {
		return err
	}
	if c.OIDRoot == mib.DefaultRoot {
		log.Warn("serving below net-snmp's playpen, which is for trials only: set your own with --oid-root", "root", c.OIDRoot)
	}
	side, err := sidecar.New(ctx, cfg)
	if err != nil {
		return err
	}
	log.Info("sidecar serves", "http", side.WebAddress(), "snmp", side.SNMPAddress(), "agentx", cfg.AgentX, "root", cfg.Root.String())
	cli.Notify(log, cli.Ready)
	memlimit.Trim()
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return side.Run(ctx) })
	g.Go(func() error { return reloadOnHangup(ctx, side, log) })
	if cfg.OTLP != nil {
		g.Go(func() error { return c.OTLP.send(ctx, side, cfg.OTLP, log) })
	}
	err = g.Wait()
	cli.Notify(log, cli.Stopping)
	return err
}

// build makes what the flags, the environment and the configuration file describe: a sidecar
// that sidecar.New opens, and sidecar.Check checks. Its links to NATS connect at once, or
// not at all if it is offline; closeLinks ends them.
func (c *serveCmd) build(s streams, log *slog.Logger, offline bool) (cfg sidecar.Config, closeLinks func(), err error) {
	var links []*natslink.Link
	var options []nats.Option
	linkLog := log
	if offline {
		options, linkLog = []nats.Option{natslink.Nowhere()}, slog.New(slog.DiscardHandler)
	}
	closeLinks = func() {
		for _, l := range links {
			l.Close()
		}
	}
	defer func() {
		if err != nil {
			closeLinks()
		}
	}()
	cfg, err = c.sidecar(s, log)
	if err != nil {
		return cfg, closeLinks, err
	}
	cfg.Link, cfg.Subjects, err = c.NATS.Connect("pnagent serve", linkLog, options...)
	if err != nil {
		return cfg, closeLinks, err
	}
	links = append(links, cfg.Link)
	if cfg.Up == nil {
		return cfg, closeLinks, nil
	}
	cfg.UpLink, err = c.Tree.connect(linkLog, options...)
	if err != nil {
		return cfg, closeLinks, err
	}
	cfg.Up.Conn = cfg.Link.Conn
	if cfg.UpLink != nil {
		links = append(links, cfg.UpLink)
		cfg.Up.Conn = cfg.UpLink.Conn
	}
	return cfg, closeLinks, nil
}

// sidecar reads the files that the flags name.
func (c *serveCmd) sidecar(s streams, log *slog.Logger) (sidecar.Config, error) {
	cfg, err := c.config(log)
	if err != nil {
		return cfg, err
	}
	c.NATS.URL = cmp.Or(c.NATS.URL, "nats://127.0.0.1:4222")
	cfg.Connect = document(c.NATS)
	if c.WebSocket {
		cfg.Listen = handedOver
	}
	tables, err := cli.CompileNets(append(c.Nets, c.Files...), s.in, c.Limit, log)
	if err != nil {
		return cfg, cli.OfFlag("net", err)
	}
	cfg.Nets, cfg.PNML = cli.NetsOf(tables), c.Limit.Netfile().PNML()
	cfg.AgentX, cfg.AgentXPriority, cfg.SNMP, cfg.Web = c.AgentX, c.AgentXPriority, c.SNMP, c.Web
	cfg.Responder.PacketRate, cfg.Responder.OctetRate = c.PacketRate, c.OctetRate
	if cfg.Responder.AllowFrom, err = networks(c.AllowFrom); err != nil {
		return cfg, err
	}
	if c.StandbyKeys != "" {
		if cfg.StandbyKeys, err = standby.ReadKeys(c.StandbyKeys); err != nil {
			return cfg, cli.Wrong("standby.key-file", "%w", err)
		}
	}
	if err := positive(map[string]int{"collect.max-sources": c.Sources, "collect.max-rows": c.Rows}); err != nil {
		return cfg, err
	}
	if err := c.Shown.fill(&cfg); err != nil {
		return cfg, err
	}
	memlimit.KeepSmall()
	memory := memlimit.Limit()
	if cfg.Merge.Limits = (merge.Limits{Sources: c.Sources, AllRows: c.Rows}).Within(memory); cfg.Merge.Limits.AllRows < c.Rows {
		log.Info("fewer places and transitions than --collect.max-rows, because of the limit of memory", "rows", cfg.Merge.Limits.AllRows, "memory", memory)
	}
	cfg.Contexts = c.Contexts
	if c.Contexts && (c.AgentX == "" || c.MIBDir == "") {
		return cfg, cli.Wrong("agentx.contexts", "--agentx.contexts without --agentx or with an empty --mib-dir; expected both, so that numbers are the same in every context")
	}
	if err := c.Tree.fill(&cfg, c.NATS.Subjects); err != nil {
		return cfg, err
	}
	if err := c.OTLP.Check(); err != nil {
		return cfg, cli.Usage(err)
	}
	if c.OTLP.Endpoint != "" {
		cfg.OTLP = new(otlp.Counts)
	}
	if c.MIBDir != "" {
		cfg.Lock = filepath.Join(c.MIBDir, mib.LockFile)
	}
	cfg.StateDir, cfg.FromZero = c.stateDir(), c.FromZero
	return cfg, c.Alarm.fill(&cfg, c.MIBDir)
}

// positive returns an error for the first flag, by name, whose number is not more than 0.
func positive[N ~int | ~int64](flags map[string]N) error {
	for _, flag := range slices.Sorted(maps.Keys(flags)) {
		if flags[flag] <= 0 {
			return cli.Wrong(flag, "%v; expected more than 0", flags[flag])
		}
	}
	return nil
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
		return sidecar.Config{}, cli.Wrong("oid-root", "%w", err)
	}
	err = errors.Join(positive(map[string]time.Duration{"forget-after": f.ForgetAfter}), positive(map[string]int{"metrics.series-budget": f.SeriesBudget,
		"web.history-memory": f.History, "web.viewers": f.Viewers, "web.viewers-per-address": f.ViewersPerAddress}))
	if err != nil {
		return sidecar.Config{}, err
	}
	for _, origin := range f.FrameAncestors {
		if err := httpserver.CheckAncestor(origin); err != nil {
			return sidecar.Config{}, cli.Wrong("web.frame-ancestors", "%w", err)
		}
	}
	v := cli.VersionOf()
	cfg := sidecar.Config{Root: root, Merge: merge.Rules{ForgetAfter: f.ForgetAfter, Bookkeeping: f.Objects == "all"}, SeriesBudget: f.SeriesBudget, CreatedSamples: f.CreatedSamples,
		WebConfig: f.WebConfig, Hosts: f.Hosts, FrameAncestors: f.FrameAncestors, Actions: f.Actions, Links: web.Links{Runbooks: f.Runbooks, Grafana: f.Grafana},
		History: f.History, Viewers: f.Viewers, PerAddress: f.ViewersPerAddress, Version: v.Version, Revision: v.Revision, Log: log}
	cfg.Archive, err = f.Archive.open(log)
	if err != nil {
		return cfg, err
	}
	cfg.Community, cfg.CommunitySet, err = f.community()
	if err == nil && f.Users != "" {
		cfg.Users, err = snmp.ReadUsersFile(f.Users)
		err = cli.OfFlag("snmp.users-file", cli.UsageIf(err, snmp.ErrUsers))
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
		return nil, cli.Wrong("web.systemd-socket", "%d sockets were handed over; expected one that listens for TCP, as a .socket unit opens", len(sockets))
	}
	return sockets[0], nil
}
