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

	Demo         demoCmd         `cmd:"" group:"see" help:"Run everything in one process: engines with example nets, the sidecar, SNMP, metrics."`
	Serve        serveCmd        `cmd:"" group:"sidecar" help:"Run the sidecar: add up what engines publish and serve it."`
	Engine       engineCmd       `cmd:"" group:"attach" help:"Run instances of nets and publish what they do."`
	Regions      regionsCmd      `cmd:"" group:"see" help:"Show which process owns which part of a net, in which epoch, and its standbys."`
	Fire         fireCmd         `cmd:"" group:"see" help:"Fire a transition of an instance, by the names that the page, top and SNMP show."`
	Inject       injectCmd       `cmd:"" group:"see" help:"Put tokens into a place of an instance."`
	Retry        retryCmd        `cmd:"" group:"see" help:"Fire a transition of an instance that is an incident: it failed permanently, and waits for this."`
	Attach       attachCmd       `cmd:"" group:"attach" help:"Publish telemetry for an existing engine."`
	Permissions  permissionsCmd  `cmd:"" group:"sidecar" help:"Print what engines, sidecars and operators may do on NATS, as configuration of nats-server or commands of nsc."`
	Wire         wireCmd         `cmd:"" group:"attach" help:"For authors of engines: check what an engine publishes."`
	Journal      journalCmd      `cmd:"" group:"maintain" help:"Print what the journal of an engine holds, or copy it up to a commit."`
	Check        checkCmd        `cmd:"" group:"model" help:"Read nets, and print their elements and faults."`
	Play         playCmd         `cmd:"" group:"model" help:"Play the token game of one net on standard input and output."`
	Simulate     simulateCmd     `cmd:"" group:"model" help:"Play a net in simulated time, many times, and print throughput, waiting times and queues with confidence intervals."`
	Draw         drawCmd         `cmd:"" group:"model" help:"Draw a net as SVG."`
	Convert      convertCmd      `cmd:"" group:"model" help:"Write a net in another format: PNML, Tina's .net, or DOT for Graphviz."`
	Mib          mibCmd          `cmd:"" group:"sidecar" help:"Write PETRINET-MIB and a MIB module for each net."`
	Dump         dumpCmd         `cmd:"" group:"see" help:"Print the sidecar's current view as JSON."`
	Alarms       alarmsCmd       `cmd:"" group:"see" help:"List, acknowledge and silence the alarms of a sidecar."`
	Top          topCmd          `cmd:"" group:"see" help:"Show nets, places by their oldest token and transitions by rate, live in a terminal."`
	Report       reportCmd       `cmd:"" group:"see" help:"Write one HTML page with plots of the last hour or days, for the morning meeting."`
	Dashboards   dashboardsCmd   `cmd:"" group:"sidecar" help:"Write Grafana dashboards, and rules and alerts for Prometheus."`
	Integrations integrationsCmd `cmd:"" group:"sidecar" help:"Write configurations of other monitoring tools, such as Zabbix and Telegraf, that read PETRINET-MIB."`
	Doctor       doctorCmd       `cmd:"" group:"sidecar" help:"Look from outside at what a sidecar needs (SNMP, AgentX, NATS, Prometheus, sinks, directories, clocks) and print the cause of each fault and the line to add. Exit status 0: all is ok, 1: something fails, 2: something could not be looked at."`
	CheckConfig  checkConfigCmd  `cmd:"" group:"sidecar" name:"check-config" help:"Check a configuration file of serve, or a file with rules for alarms."`
	Version      versionCmd      `cmd:"" group:"maintain" help:"Print the version."`
	Completion   completionCmd   `cmd:"" group:"maintain" help:"Print a completion script for a shell."`
}

func newCommandLine() *commandLine { return &commandLine{Attach: attachCmd{adapters()}} }

// levelFlag is the flag that a reload applies to the log.
const levelFlag = "log.level"

// logFlags are the flags of every command.
type logFlags struct {
	Level  string `name:"log.level" enum:"debug,info,warn,error" default:"info" help:"Least severe log messages to write: debug, info, warn or error."`
	Format string `name:"log.format" enum:"text,json" default:"text" help:"Form of log messages: text or json."`

	Version versionFlag `name:"version" help:"Print the version."`
}

// parser returns a parser of cli.Arguments that begin with the name of a command, which has this
// command alone: to read the flags of all takes longer than most commands do. For other cli.Arguments,
// and for completion, it has all.
func (c *commandLine) parser(args []string, options ...kong.Option) (*kong.Kong, error) {
	for field, value := range reflect.ValueOf(c).Elem().Fields() {
		_, isCommand := field.Tag.Lookup("cmd")
		if isCommand && len(args) > 0 && args[0] == cmp.Or(field.Tag.Get("name"), strings.ToLower(field.Name)) && value.Type() != reflect.TypeFor[completionCmd]() {
			return kong.New(&c.Log, append(options, kong.DynamicCommand(args[0], field.Tag.Get("help"), field.Tag.Get("group"), value.Addr().Interface()))...)
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
	from := fromEnvironment()
	parser, err := c.parser(args,
		kong.Name("pnagent"),
		kong.Description("Shows where tokens of running Petri nets are stuck, for how long and why, and how fast transitions fire."),
		kong.Writers(s.out, s.err),
		kong.Exit(func(status int) { exited, code = true, status }),
		kong.UsageOnError(),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.Help(help),
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Bind(s, cli.Arguments(args)),
		kong.BindTo(s.in, (*io.Reader)(nil)),
		kong.BindTo(s.out, (*io.Writer)(nil)),
		settings(from),
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
		fmt.Fprintf(s.err, "pnagent: %s; see pnagent --help\n", from.corrected(err))
		return exitUsage
	}
	var level slog.LevelVar
	_ = level.UnmarshalText([]byte(c.Log.Level)) // the flag's enum allows only levels
	k.Bind(&level)
	log := newLogger(s.err, &level, c.Log.Format)
	from.warnOfUnknown(os.Environ(), k.Flags(), log)
	if err := k.Run(log); err != nil {
		return report(s, from.place(err))
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

// settings are those of every parser: what help texts name, and where values come from beside
// the command line.
func settings(from *values) kong.Option {
	return kong.OptionFunc(func(k *kong.Kong) error {
		for _, o := range []kong.Option{cli.Settings(), vars(), kong.ExplicitGroups(groups()), kong.PostBuild(addExamples), kong.Resolvers(from), kong.Bind(from)} {
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
func newParser(command any, from *values) (*kong.Kong, error) {
	return kong.New(command, settings(from), kong.Writers(io.Discard, io.Discard), kong.Exit(func(int) {}))
}

// exitCode is the exit code of a command that has printed what it found.
type exitCode int

// Error implements error.
func (e exitCode) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// report writes an error, one line each, and returns the exit code.
func report(s streams, err error) int {
	if errors.Is(err, errFound) {
		return exitFailed
	}
	if code := exitCode(0); errors.As(err, &code) {
		return int(code)
	}
	for line := range strings.SplitSeq(err.Error(), "\n") {
		fmt.Fprintln(s.err, "pnagent:", line)
	}
	if cli.IsUsage(err) {
		return exitUsage
	}
	return exitFailed
}

func newLogger(w io.Writer, level slog.Leveler, format string) *slog.Logger {
	opts := &slog.HandlerOptions{Level: level}
	if format == "json" {
		return slog.New(slog.NewJSONHandler(w, opts))
	}
	return slog.New(slog.NewTextHandler(w, opts))
}
