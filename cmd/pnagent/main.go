// SPDX-License-Identifier: Apache-2.0

// Command pnagent shows where the tokens of running Petri nets are stuck, for
// how long and why, over SNMP and to Prometheus. This package reads flags and
// the configuration file and wires the rooms together; it has no logic of its
// own. See README.md.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/pnagent/pnagent/cli"
	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/internal/memlimit"
	"github.com/pnagent/pnagent/internal/plaintext"
	"github.com/pnagent/pnagent/mib"
	"github.com/pnagent/pnagent/petri"
)

// Exit codes.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
)

// streams are what a command reads and writes.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// cleaned returns streams that replace hostile characters in what a command writes.
// flush writes what is left at the end.
func (s streams) cleaned() (clean streams, flush func()) {
	out, err := &cleanWriter{clean: plaintext.NewWriter(s.out)}, &cleanWriter{clean: plaintext.NewWriter(s.err)}
	return streams{s.in, out, err}, func() { _, _ = out.clean.Flush(), err.clean.Flush() } // a reader that has gone gets nothing
}

// cleanWriter is a plaintext.Writer for several goroutines.
type cleanWriter struct {
	mu    sync.Mutex
	clean *plaintext.Writer
}

// Write implements io.Writer.
func (w *cleanWriter) Write(text []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.clean.Write(text)
}

// raw returns the writer that cleaned was given, for what draws on a terminal.
func raw(w io.Writer) io.Writer {
	if w, ok := w.(*cleanWriter); ok {
		return w.clean.To()
	}
	return w
}

// write writes a file; "-" is standard output.
func (s streams) write(path string, text []byte) error {
	if path == "-" {
		_, err := s.out.Write(text)
		return err
	}
	return os.WriteFile(path, plaintext.Lines(text), 0o644)
}

// commandLine is the command line.
type commandLine struct {
	Log logFlags `embed:""`

	Demo         demoCmd         `cmd:"" help:"Run everything in one process: engines with example nets, the sidecar, SNMP, metrics."`
	Serve        serveCmd        `cmd:"" help:"Run the sidecar: add up what engines publish and serve it."`
	Engine       engineCmd       `cmd:"" help:"Run instances of nets and publish what they do."`
	Regions      regionsCmd      `cmd:"" help:"Show which process owns which part of a net, in which epoch, and its standbys."`
	Fire         fireCmd         `cmd:"" help:"Fire a transition of an instance, by the names that the page, top and SNMP show."`
	Inject       injectCmd       `cmd:"" help:"Put tokens into a place of an instance."`
	Retry        retryCmd        `cmd:"" help:"Fire a transition of an instance that is an incident: it failed permanently, and waits for this."`
	Attach       attachCmd       `cmd:"" help:"Publish telemetry for an existing engine."`
	Permissions  permissionsCmd  `cmd:"" help:"Print what engines, sidecars and operators may do on NATS, as configuration of nats-server or commands of nsc."`
	Wire         wireCmd         `cmd:"" help:"For authors of engines: check what an engine publishes."`
	Journal      journalCmd      `cmd:"" help:"Print what the journal of an engine holds, or copy it up to a commit."`
	Check        checkCmd        `cmd:"" help:"Read nets, and print their elements and faults."`
	Play         playCmd         `cmd:"" help:"Play the token game of one net on standard input and output."`
	Simulate     simulateCmd     `cmd:"" help:"Play a net in simulated time, many times, and print throughput, waiting times and queues with confidence intervals."`
	Draw         drawCmd         `cmd:"" help:"Draw a net as SVG."`
	Convert      convertCmd      `cmd:"" help:"Write a net in another format: PNML, Tina's .net, or DOT for Graphviz."`
	Mib          mibCmd          `cmd:"" help:"Write PETRINET-MIB and a MIB module for each net."`
	Dump         dumpCmd         `cmd:"" help:"Print the sidecar's current view as JSON."`
	Alarms       alarmsCmd       `cmd:"" help:"List, acknowledge and silence the alarms of a sidecar."`
	Top          topCmd          `cmd:"" help:"Show nets, places by their oldest token and transitions by rate, live in a terminal."`
	Report       reportCmd       `cmd:"" help:"Write one HTML page with plots of the last hour or days, for the morning meeting."`
	Dashboards   dashboardsCmd   `cmd:"" help:"Write Grafana dashboards, and rules and alerts for Prometheus."`
	Integrations integrationsCmd `cmd:"" help:"Write configurations of other monitoring tools, such as Zabbix and Telegraf, that read PETRINET-MIB."`
	CheckConfig  checkConfigCmd  `cmd:"" name:"check-config" help:"Check a configuration file of serve, or a file with rules for alarms."`
	Version      versionCmd      `cmd:"" help:"Print the version."`
	Completion   completionCmd   `cmd:"" help:"Print a completion script for a shell."`
}

func newCommandLine() *commandLine { return &commandLine{Attach: attachCmd{adapters()}} }

// logFlags are the flags of every command.
type logFlags struct {
	Level  string `name:"log.level" enum:"debug,info,warn,error" default:"info" help:"Least severe log messages to write: debug, info, warn or error."`
	Format string `name:"log.format" enum:"text,json" default:"text" help:"Form of log messages: text or json."`
}

// parser returns a parser of cli.Arguments that begin with the name of a command, which has this
// command alone: to read the flags of all takes longer than most commands do. For other cli.Arguments,
// and for completion, it has all.
func (c *commandLine) parser(args []string, options ...kong.Option) (*kong.Kong, error) {
	for field, value := range reflect.ValueOf(c).Elem().Fields() {
		_, isCommand := field.Tag.Lookup("cmd")
		if isCommand && len(args) > 0 && args[0] == cmp.Or(field.Tag.Get("name"), strings.ToLower(field.Name)) && value.Type() != reflect.TypeFor[completionCmd]() {
			return kong.New(&c.Log, append(options, kong.DynamicCommand(args[0], field.Tag.Get("help"), "", value.Addr().Interface()))...)
		}
	}
	return kong.New(c, options...)
}

func main() {
	if !slices.Equal(os.Args[1:], []string{"version"}) { // which takes no longer than to read the limit
		memlimit.Set()
	}
	if err := cli.CheckCaller(); err != nil {
		fmt.Fprintln(os.Stderr, "pnagent:", err)
		os.Exit(exitFailed)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr})
	stop()
	os.Exit(code)
}

// run runs one command and returns its exit code.
func run(ctx context.Context, args []string, s streams) (code int) {
	c, exited := newCommandLine(), false
	s, flush := s.cleaned()
	defer flush()
	parser, err := c.parser(args,
		kong.Name("pnagent"),
		kong.Description("Shows where tokens of running Petri nets are stuck, for how long and why, and how fast transitions fire."),
		kong.Writers(s.out, s.err),
		kong.Exit(func(status int) { exited, code = true, status }),
		kong.UsageOnError(),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Bind(s, cli.Arguments(args)),
		kong.BindTo(s.in, (*io.Reader)(nil)),
		kong.BindTo(s.out, (*io.Writer)(nil)),
		settings(),
	)
	if err != nil {
		fmt.Fprintln(s.err, "pnagent:", err)
		return exitFailed
	}
	switch {
	case len(args) == 0:
		args = []string{"--help"}
	case args[0] == "help":
		args = append(args[1:len(args):len(args)], "--help")
	}
	k, err := parser.Parse(negatives(args))
	if exited { // help was asked for
		return code
	}
	if fault := (*petri.Fault)(nil); errors.As(err, &fault) { // in the configuration file
		return report(s, err)
	}
	if err != nil {
		fmt.Fprintf(s.err, "pnagent: %s; see pnagent --help\n", err)
		return exitUsage
	}
	if err := k.Run(newLogger(s.err, c.Log.Level, c.Log.Format)); err != nil {
		return report(s, err)
	}
	return exitDone
}

// negatives joins a flag and the negative number behind it, which the parser
// would take for a short flag: --instances -1 becomes --instances=-1.
func negatives(args []string) []string {
	var out []string
	for i, arg := range args {
		if arg == "--" { // no flags are behind it
			return append(out, args[i:]...)
		}
		last := len(out) - 1
		if _, err := strconv.ParseFloat(arg, 64); err == nil && strings.HasPrefix(arg, "-") &&
			last >= 0 && strings.HasPrefix(out[last], "--") && !strings.Contains(out[last], "=") {
			out[last] += "=" + arg
			continue
		}
		out = append(out, arg)
	}
	return out
}

// settings are those of every parser: what help texts name, and how a configuration file is read.
func settings() kong.Option {
	return kong.OptionFunc(func(k *kong.Kong) error {
		for _, o := range []kong.Option{cli.Settings(), vars(), kong.Configuration(loadConfig)} {
			if err := o.Apply(k); err != nil {
				return err
			}
		}
		return nil
	})
}

func vars() kong.Vars {
	most := merge.DefaultLimits()
	return kong.Vars{"oid_root": mib.DefaultRoot, "mib_contact": mib.Contact, "agentx_priority": strconv.Itoa(defaultAgentXPriority),
		"max_sources": strconv.Itoa(most.Sources), "max_rows": strconv.Itoa(most.AllRows),
		"runbooks": defaultRunbooks, "job": defaultJob, "tools": allTools}
}

// newParser returns a parser of one command's flags alone.
func newParser(command any) (*kong.Kong, error) {
	return kong.New(command, settings(), kong.Writers(io.Discard, io.Discard), kong.Exit(func(int) {}))
}

// report writes an error, one line each, and returns the exit code.
func report(s streams, err error) int {
	if errors.Is(err, errFound) {
		return exitFailed
	}
	for line := range strings.SplitSeq(err.Error(), "\n") {
		fmt.Fprintln(s.err, "pnagent:", line)
	}
	if cli.IsUsage(err) {
		return exitUsage
	}
	return exitFailed
}

func newLogger(w io.Writer, level, format string) *slog.Logger {
	var l slog.Level
	_ = l.UnmarshalText([]byte(level)) // the flag's enum allows only levels
	opts := &slog.HandlerOptions{Level: l}
	if format == "json" {
		return slog.New(slog.NewJSONHandler(w, opts))
	}
	return slog.New(slog.NewTextHandler(w, opts))
}
