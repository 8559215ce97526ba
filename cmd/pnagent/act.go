// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/user"
	"time"

	"github.com/pnagent/pnagent/act"
	"github.com/pnagent/pnagent/cli"
	"github.com/pnagent/pnagent/stats"
)

// actFlags are those of all commands that act on an instance.
type actFlags struct {
	NATS    cli.NATS `embed:"" group:"NATS"`
	Source  string   `placeholder:"NAME" help:"The source that has the instance. Needed only if several have one of that name."`
	Comment string   `help:"Why, for the audit log of the engine."`
	DryRun  bool     `help:"Find the instance and say what would be done, and do nothing. Exits with status 1 if the engine would refuse it."`
	Outcome string   `placeholder:"KEY" help:"Ask whether an earlier request of this command was done whose outcome is not known. Its error has the key. Changes nothing; exits with status 1 if it was not done."`
	JSON    bool     `help:"Print one JSON object instead of text."`
}

// instanceArgs name an instance.
type instanceArgs struct {
	Net      string `arg:"" help:"Id of the net, or its name."`
	Instance string `arg:"" help:"Name of the instance, such as berlin/48."`
}

// dataFlag is the data of tokens.
type dataFlag struct {
	Data string `placeholder:"JSON" help:"Data of the tokens that are put, as JSON, for nets that use it."`
}

// firing is a transition of an instance that should fire.
type firing struct {
	actFlags     `embed:""`
	dataFlag     `embed:""`
	Scope        *uint32 `placeholder:"N" help:"The run of the transition's scope in which to fire. Default: the oldest in which it is enabled."`
	instanceArgs `embed:""`
	Transition   string `arg:"" help:"Id of the transition, or its name if no other has it."`
}

type fireCmd struct {
	firing `embed:""`
}

type retryCmd struct {
	firing `embed:""`
}

type injectCmd struct {
	actFlags     `embed:""`
	dataFlag     `embed:""`
	instanceArgs `embed:""`
	Place        string `arg:"" help:"Id of the place, or its name if no other has it."`
	Tokens       uint64 `arg:"" name:"n" optional:"" default:"1" help:"Number of tokens."`
}

// Run fires a transition.
func (c *fireCmd) Run(ctx context.Context, s streams) error {
	return c.act(ctx, s, act.Request{Verb: act.Fire, Net: c.Net, Instance: c.Instance, Element: c.Transition, Scope: c.Scope, Data: c.raw()})
}

// Run fires a transition that is an incident.
func (c *retryCmd) Run(ctx context.Context, s streams) error {
	return c.act(ctx, s, act.Request{Verb: act.Retry, Net: c.Net, Instance: c.Instance, Element: c.Transition, Scope: c.Scope, Data: c.raw()})
}

// Run injects tokens.
func (c *injectCmd) Run(ctx context.Context, s streams) error {
	return c.act(ctx, s, act.Request{Verb: act.Inject, Net: c.Net, Instance: c.Instance, Element: c.Place, Tokens: c.Tokens, Data: c.raw()})
}

func (f *dataFlag) raw() json.RawMessage {
	if f.Data == "" {
		return nil
	}
	return json.RawMessage(f.Data)
}

// act sends a request, or checks it, and prints its outcome.
func (f *actFlags) act(ctx context.Context, s streams, r act.Request) error {
	if f.NATS.URL == "" {
		return cli.Usage(fmt.Errorf("%s: --nats is missing; expected the servers of the engines", r.Verb))
	}
	r.Source, r.Comment, r.DryRun, r.Outcome = f.Source, f.Comment, f.DryRun, f.Outcome
	by := author()
	if err := r.Check(); err != nil {
		return cli.Usage(fmt.Errorf("%s: %w", r.Verb, err))
	}
	link, subjects, err := f.NATS.Connect("pnagent "+string(r.Verb)+" "+by, slog.New(slog.DiscardHandler)) // errors say why
	if err != nil {
		return err
	}
	defer link.Close()
	if err := link.Conn.FlushTimeout(cli.ConnectWithin); err != nil {
		return f.NATS.Unreachable(link, err)
	}
	client := act.Client{Conn: link.Conn, Subjects: subjects, By: by}
	out, failed := client.Do(ctx, r)
	if f.JSON {
		return errors.Join(json.NewEncoder(s.out).Encode(out), failed)
	}
	if failed != nil {
		return failed
	}
	return writeOutcome(s.out, out, f.Outcome != "")
}

// author is who runs this process: USER@HOST, as far as it is known.
func author() string {
	name := "unknown"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	host, err := os.Hostname()
	if err != nil {
		return name
	}
	return name + "@" + host
}

// writeOutcome prints what was done, or would be. earlier says that an earlier request did
// it.
func writeOutcome(w io.Writer, o *act.Outcome, earlier bool) error {
	would := ""
	switch {
	case o.DryRun:
		would = "would be "
	case earlier:
		would = "was "
	}
	what := fmt.Sprintf("%sfired: transition %q", would, o.Transition)
	if o.Verb == act.Inject {
		what = fmt.Sprintf("%sinjected: tokens %d, place %q", would, o.Tokens, o.Place)
	}
	if _, err := fmt.Fprintf(w, "%s, instance %s, net %q, source %s\n", what, o.Instance, o.Net, o.Source); err != nil || !o.DryRun {
		return err
	}
	for _, h := range o.Held {
		wait := ""
		if h.Wait != nil {
			wait = ": " + stats.ReasonNamed(h.Wait.Reason).String()
			if h.Wait.What != "" {
				wait += ": " + h.Wait.What
			}
		}
		if _, err := fmt.Fprintf(w, "now in %s: tokens %d, for %v%s\n", h.Place, h.Tokens, time.Duration(h.Age*1e9).Round(time.Second), wait); err != nil {
			return err
		}
	}
	return nil
}
