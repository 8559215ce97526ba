// SPDX-License-Identifier: Apache-2.0

//go:build !slim

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/pnagent/pnagent/agentx"
	"github.com/pnagent/pnagent/cli"
	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/notify"
	"github.com/pnagent/pnagent/petri/yamlfile"
	"github.com/pnagent/pnagent/sidecar"
	"github.com/pnagent/pnagent/telemetry/natslink"
	"github.com/pnagent/pnagent/web/api"
)

// checkedConfig is what check-config found.
type checkedConfig struct {
	OK    bool    `json:"ok"`
	Found []found `json:"found"`
}

// found is one part of a configuration.
type found struct {
	What  string `json:"what"`
	Value string `json:"value"`
	State string `json:"state,omitempty"` // of its peer, with --connect
	Error string `json:"error,omitempty"` // why the peer was not reached

	try func(context.Context) (state string, err error) // asks the peer; nil without one
}

// Run builds what serve would, without serving.
func (c *checkConfigCmd) Run(ctx context.Context, s streams, log *slog.Logger) error {
	root, err := cli.ReadFile(c.File, "the configuration", yamlfile.Read)
	if err != nil {
		return err
	}
	if alarm.HoldsRules(root) {
		rules, err := alarm.RulesOf(root)
		if err != nil {
			return err
		}
		sinks, err := notify.Read(rules)
		if err != nil {
			return err
		}
		parts := append([]found{{What: "rules for alarms", Value: c.File}}, foundSinks(sinks)...)
		if c.Connect {
			connectAll(ctx, parts)
		}
		return c.print(s.out, parts)
	}
	var keys serveKeys
	from := fromEnvironment()
	parser, err := newParser(&keys, from)
	if err != nil {
		return err
	}
	if _, err := parser.Parse([]string{"--config", c.File}); err != nil {
		return from.place(err)
	}
	cfg, closeLinks, err := keys.Serve.build(s, log, true)
	if err != nil {
		return from.place(err)
	}
	defer closeLinks()
	if err := sidecar.Check(cfg); err != nil {
		return from.place(err)
	}
	parts := keys.Serve.parts(&cfg)
	if c.Connect {
		connectAll(ctx, parts)
	}
	return c.print(s.out, parts)
}

// connectAll asks the peers of all parts.
func connectAll(ctx context.Context, parts []found) {
	ctx, cancel := context.WithTimeout(ctx, cli.ConnectWithin)
	defer cancel()
	var g sync.WaitGroup
	for i := range parts {
		part := &parts[i]
		if part.try == nil {
			continue
		}
		g.Go(func() {
			state, err := part.try(ctx)
			part.State = state
			if err != nil {
				part.State, part.Error = "not reached", err.Error()
			}
		})
	}
	g.Wait()
}

// print prints the parts, and ok unless a peer was not reached.
func (c *checkConfigCmd) print(out io.Writer, parts []found) error {
	all := checkedConfig{OK: true, Found: parts}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, part := range parts {
		cells := []any{part.What, part.Value}
		if part.State != "" {
			cells = append(cells, strings.TrimSuffix(part.State+": "+part.Error, ": "))
		}
		if !c.JSON {
			row(w, cells...)
		}
		all.OK = all.OK && part.Error == ""
	}
	if c.JSON {
		if err := api.Encode(out, all); err != nil {
			return err
		}
	} else if err := w.Flush(); err != nil {
		return err
	}
	if !all.OK {
		return errFound
	}
	if !c.JSON {
		fmt.Fprintln(out, "ok")
	}
	return nil
}

// parts returns what serve would serve, and to whom.
func (c *serveCmd) parts(cfg *sidecar.Config) []found {
	quiet := slog.New(slog.DiscardHandler)
	reach := func(open func() (*natslink.Link, error)) func(context.Context) (string, error) {
		return func(context.Context) (string, error) { return reachNATS(open) }
	}
	parts := []found{
		{What: "OID root", Value: cfg.Root.String()},
		{What: "numbers", Value: orNone(cfg.Lock, "in memory")},
		{What: "counters", Value: orNone(cfg.StateDir, "in memory")},
		{What: "alarms", Value: orNone(cfg.AlarmState, "in memory")},
		{What: "nets", Value: strconv.Itoa(len(cfg.Nets))},
		{What: "NATS", Value: natslink.Redact(c.NATS.URL) + ", " + c.NATS.Subjects, try: reach(func() (*natslink.Link, error) {
			link, _, err := c.NATS.Connect("pnagent check-config", quiet)
			return link, err
		})},
	}
	if cfg.UpLink != nil {
		parts = append(parts, found{What: "NATS above", Value: natslink.Redact(c.Tree.NATS.URL) + ", " + c.Tree.Up, try: reach(func() (*natslink.Link, error) { return c.Tree.connect(quiet) })})
	}
	parts = append(parts, found{What: "HTTP", Value: cfg.Web})
	if cfg.SNMP != "" {
		parts = append(parts, found{What: "SNMP", Value: fmt.Sprintf("%s, %s", cfg.SNMP, versions(cfg))})
	}
	if cfg.AgentX != "" {
		parts = append(parts, found{What: "AgentX", Value: cfg.AgentX, try: func(ctx context.Context) (string, error) { return "reached", agentx.Probe(ctx, cfg.AgentX) }})
	}
	parts = append(parts, foundSinks(cfg.Sinks)...)
	for _, sink := range cfg.TrapSinks {
		parts = append(parts, found{What: "trap sink", Value: sink, try: func(ctx context.Context) (string, error) { return discover(ctx, sink) }})
	}
	if cfg.Archive != nil {
		parts = append(parts, found{What: "Prometheus", Value: (&apiFlags{URL: c.Archive.URL}).shown(), try: c.Archive.reach})
	}
	return parts
}

func orNone(text, none string) string {
	if text == "" {
		return none
	}
	return text
}

// versions returns which versions of SNMP a responder answers.
func versions(cfg *sidecar.Config) string {
	var all []string
	if cfg.Community != "" {
		all = append(all, "SNMPv2c")
	}
	if n := len(cfg.Users); n > 0 {
		all = append(all, fmt.Sprintf("SNMPv3 (users: %d)", n))
	}
	return strings.Join(all, ", ")
}

// reachNATS connects to NATS and closes the connection.
func reachNATS(open func() (*natslink.Link, error)) (string, error) {
	link, err := open()
	if err != nil {
		return "", err
	}
	defer link.Close()
	if err := link.Conn.FlushTimeout(cli.ConnectWithin); err != nil {
		if state := link.State(); !state.Connected && state.Reason != "" {
			return "", errors.New(state.Reason)
		}
		return "", err
	}
	return "reached", nil
}

// reach asks Prometheus for the value of a number.
func (f *archiveFlags) reach(ctx context.Context) (string, error) {
	at := apiFlags{URL: f.URL, HTTPConfig: f.HTTPConfig}
	client, err := at.clientOf("web.prometheus", "web.prometheus.config.file")
	if err != nil {
		return "", err
	}
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(at.URL, "/")+"/api/v1/query?query=1", http.NoBody)
	if err != nil {
		return "", err
	}
	r, err := client.Do(q)
	if err != nil {
		return "", errors.Unwrap(err) // without the URL
	}
	defer r.Body.Close()
	if r.StatusCode != http.StatusOK {
		return "", fmt.Errorf("it answers %s", r.Status)
	}
	return "reached", nil
}

// discovery asks an SNMPv3 engine for its id, as RFC 3414 section 4 has it: a Get with no
// variables, of no user and no engine.
const discovery = "\x30\x3a\x02\x01\x03\x30\x0f\x02\x02\x12\x34\x02\x03\x00\xff\xe3\x04\x01\x04\x02\x01\x03" +
	"\x04\x10\x30\x0e\x04\x00\x02\x01\x00\x02\x01\x00\x04\x00\x04\x00\x04\x00" +
	"\x30\x12\x04\x00\x04\x00\xa0\x0c\x02\x02\x12\x34\x02\x01\x00\x02\x01\x00\x30\x00"

// foundSinks lists webhooks, mail and syslog servers.
func foundSinks(sinks []*notify.Settings) (all []found) {
	for _, sink := range sinks {
		all = append(all, found{What: "sink " + sink.Name, Value: sink.Kind + " " + sink.Address, try: func(ctx context.Context) (string, error) {
			said, err := sink.Reach(ctx)
			if errors.Is(err, notify.ErrUnacknowledged) {
				return err.Error(), nil
			}
			return "reached, " + said, err
		}})
	}
	return all
}

// discover asks a trap sink for the id of its engine, which shows nowhere. A sink of SNMPv2c
// need not answer, so silence is no error; that the port is closed is one.
func discover(ctx context.Context, sink string) (string, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "udp", sink)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(2 * time.Second)); err != nil {
		return "", err
	}
	if _, err := io.WriteString(conn, discovery); err != nil {
		return "", err
	}
	_, err = conn.Read(make([]byte, 1500))
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		return "sent, without an answer: traps are not acknowledged", nil
	}
	return "reached", err
}
