// SPDX-License-Identifier: Apache-2.0

//go:build !slim

package main

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"text/template"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"golang.org/x/sync/errgroup"

	"github.com/pnagent/pnagent/cli"
	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/engine"
	"github.com/pnagent/pnagent/engine/action"
	"github.com/pnagent/pnagent/engine/ready"
	"github.com/pnagent/pnagent/examples"
	"github.com/pnagent/pnagent/mib"
	"github.com/pnagent/pnagent/mibs"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/netfile"
	"github.com/pnagent/pnagent/petri/pnml"
	"github.com/pnagent/pnagent/sidecar"
	"github.com/pnagent/pnagent/telemetry"
	"github.com/pnagent/pnagent/telemetry/natslink"
)

// demoSources are the names of the two engines.
var demoSources = []string{"berlin", "osaka"}

// Run runs everything until ctx ends or the time is up.
func (c *demoCmd) Run(ctx context.Context, s streams, log *slog.Logger) error {
	if err := atLeast(1, "instances", c.Instances); err != nil {
		return cli.Usage(err)
	}
	if c.For > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, c.For)
		defer stop()
	}
	ns, err := startNATS(c.NATS)
	if err != nil {
		return err
	}
	defer func() { ns.Shutdown(); ns.WaitForShutdown() }()
	dir, err := os.MkdirTemp("", "pnagent-demo-")
	if err != nil {
		return fmt.Errorf("making a directory for the demo: %w", err)
	}
	defer os.RemoveAll(dir)
	nets, err := exampleNets()
	if err != nil {
		return err
	}
	cfg, err := c.sidecar(ns, dir, nets, log)
	if err != nil {
		return err
	}
	defer cfg.Link.Close()
	side, err := sidecar.New(ctx, cfg)
	if err != nil {
		return err
	}
	told := &story{tables: nets, out: s.out, nats: ns.ClientURL()}
	for _, source := range demoSources {
		b, err := newBranch(source, nets, c.Instances, uint64(time.Now().UnixNano()))
		if err != nil {
			return cli.Usage(err)
		}
		told.branches = append(told.branches, b)
	}
	modules, err := layModules(dir, cfg)
	if err != nil {
		return err
	}
	if err := c.welcome(s, cfg, side, ns, modules); err != nil {
		return err
	}
	cli.Notify(log, cli.Ready)
	defer cli.Notify(log, cli.Stopping)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return side.Run(ctx) })
	for i, b := range told.branches {
		g.Go(func() error { return b.serve(ctx, demoSources[i], ns, log) })
	}
	g.Go(func() error { return told.run(ctx) })
	return g.Wait()
}

// layModules writes the modules of the nets into a directory of the demo, which is removed with
// it, and returns the directories in which net-snmp's tools find all that they need.
func layModules(dir string, cfg sidecar.Config) (string, error) {
	dir = filepath.Join(dir, "mibs")
	base := filepath.Join(dir, "smi")
	if _, err := mib.Generate(dir, cfg.Lock, cfg.Root, cfg.Nets, mib.Options{}, time.Now()); err != nil {
		return "", err
	}
	if err := os.CopyFS(dir, mibs.Base); err != nil {
		return "", fmt.Errorf("laying out the modules of the demo: %w", err)
	}
	return dir + ":" + base, nil
}

// startNATS starts an embedded server for this process and other clients on this
// machine.
func startNATS(address string) (*server.Server, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, cli.Usage(fmt.Errorf("--nats: %w", err))
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return nil, cli.Usage(fmt.Errorf("--nats: port %q; expected a number", port))
	}
	o := &server.Options{ServerName: "pnagent-demo", Host: host, Port: int(n), NoSigs: true, NoLog: true}
	if n == 0 {
		o.Port = server.RANDOM_PORT
	}
	ns, err := server.NewServer(o)
	if err != nil {
		return nil, fmt.Errorf("starting NATS: %w", err)
	}
	go ns.Start()
	if !ns.ReadyForConnections(10 * time.Second) {
		ns.Shutdown()
		return nil, fmt.Errorf("starting NATS at %s: not ready for connections; is the address in use?", address)
	}
	return ns, nil
}

// demoAlarms have thresholds so short that something is raised while one looks, and only
// where work has stopped.
//
//go:embed demo_alarms.yaml
var demoAlarms string

// exampleNets reads the nets that are built in.
func exampleNets() ([]*petri.Tables, error) {
	var sources []netfile.Source
	for _, pattern := range []string{"*.pnml", "*.bpmn"} {
		files, err := fs.Glob(examples.Files, pattern)
		if err != nil {
			return nil, err
		}
		for _, name := range files {
			text, err := examples.Files.ReadFile(name)
			if err != nil {
				return nil, err
			}
			sources = append(sources, netfile.Source{Name: name, Reader: bytes.NewReader(text)})
		}
	}
	l := pnml.DefaultLimits()
	tables, _, err := netfile.Compile(sources, netfile.Limits{Bytes: l.Bytes, Depth: l.Depth, Nodes: l.Nodes})
	return tables, err
}

// sidecar returns the configuration of the demo's sidecar. Its numbers are those of the
// committed modules, so that mibs/ can be used with it.
func (c *demoCmd) sidecar(ns *server.Server, dir string, tables []*petri.Tables, log *slog.Logger) (sidecar.Config, error) {
	cfg, err := c.config(log)
	if err != nil {
		return cfg, err
	}
	cfg.Lock = filepath.Join(dir, mib.LockFile)
	if err := os.WriteFile(cfg.Lock, mibs.Lock, 0o600); err != nil {
		return cfg, fmt.Errorf("laying out the demo: %w", err)
	}
	cfg.Nets = cli.NetsOf(tables)
	if cfg.Alarms, err = alarm.ReadRules(strings.NewReader(demoAlarms), "alarms of the demo"); err != nil {
		return cfg, err
	}
	cfg.AlarmState = filepath.Join(dir, stateName)
	cfg.FromZero = true // its engines are its own
	cfg.Connect = document(cli.NATS{URL: ns.ClientURL(), Subjects: telemetry.DefaultPrefix})
	cfg.AgentX, cfg.AgentXPriority, cfg.SNMP, cfg.Web = c.AgentX, defaultAgentXPriority, c.SNMP, c.HTTP
	if cfg.Link, err = inProcess(ns, "pnagent demo", log); err != nil {
		err = fmt.Errorf("connecting to the embedded NATS: %w", err)
	}
	return cfg, err
}

// inProcess connects to the embedded server without a socket. The URL is the one that
// the log names.
func inProcess(ns *server.Server, name string, log *slog.Logger) (*natslink.Link, error) {
	return natslink.Open(natslink.Config{URLs: ns.ClientURL(), Name: name, Log: log, Options: []nats.Option{nats.InProcessServer(ns)}})
}

// bindExamples returns how the example nets fire.
func bindExamples(tables []*petri.Tables, o *office) ([]engine.NetConfig, error) {
	text, err := examples.Files.ReadFile("bindings.yaml")
	if err != nil {
		return nil, err
	}
	b, err := engine.ReadBindings(bytes.NewReader(text), "bindings.yaml")
	if err != nil {
		return nil, err
	}
	nets, err := bindAll(tables, b, action.Peers{})
	for i := range nets {
		err = errors.Join(err, o.bind(&nets[i]))
	}
	return nets, err
}

// newBranch returns one engine with what is around it.
func newBranch(source string, tables []*petri.Tables, instances int, seed uint64) (*branch, error) {
	o := newOffice(seed)
	nets, err := bindExamples(tables, o)
	if err != nil {
		return nil, err
	}
	e, err := engine.New(engine.Config{Source: source, Nets: nets, Instances: instances, Workers: 1, Seed: seed, ShowData: claimShown,
		Dispatch: &engine.Dispatch{Policy: ready.PolicyQuoted, Quotes: ready.Quotes{1, 2, 4, 8, 16, 32, 64, 128}}}) // each twice the one below
	return &branch{office: o, engine: e, instances: instances}, err
}

// serve plays the nets as a source until ctx ends.
func (b *branch) serve(ctx context.Context, source string, ns *server.Server, log *slog.Logger) error {
	link, err := inProcess(ns, "pnagent engine "+source, log)
	if err != nil {
		return fmt.Errorf("connecting %s to the embedded NATS: %w", source, err)
	}
	defer link.Close()
	end, err := engine.Serve(b.engine, link.Conn, telemetry.Subjects{}, 0, log)
	if err != nil {
		return err
	}
	g, playing := errgroup.WithContext(ctx)
	g.Go(func() error { return b.engine.Run(playing) })
	g.Go(func() error { return b.run(playing) })
	failed := g.Wait()
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), cli.CloseTimeout)
	defer cancel()
	return errors.Join(failed, end(last))
}

//go:embed demo_welcome.txt
var welcomeText string

func (c *demoCmd) welcome(s streams, cfg sidecar.Config, side *sidecar.Sidecar, ns *server.Server, modules string) error {
	return template.Must(template.New("welcome").Parse(welcomeText)).Execute(s.out, map[string]any{
		"Sources": demoSources, "Instances": c.Instances, "Nets": cfg.Nets, "Web": side.WebAddress(), "SNMP": side.SNMPAddress(),
		"Root": cfg.Root.String(), "Modules": modules, "NATS": ns.ClientURL(), "For": c.For, "Actions": c.Actions,
	})
}
