// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/attach/lines"
	"github.com/pnagent/pnagent/telemetry"
	"github.com/pnagent/pnagent/telemetry/natslink"
	"github.com/pnagent/pnagent/telemetry/natsmetrics"
)

type attachLinesCmd struct {
	NATS     natsFlags     `embed:"" group:"NATS"`
	Source   string        `help:"Name of this source, unique among all publishers; keep it over restarts. Default: the host's name and -lines."`
	Interval time.Duration `default:"1s" help:"Time between two snapshots, and between two savings of the state."`

	Stdin   bool          `group:"Inputs" help:"Read standard input. It is read if there is no other input."`
	Follow  []string      `group:"Inputs" type:"path" placeholder:"FILE" sep:"none" help:"Follow a file as it grows and rotates, or read a named pipe. May be given again."`
	From    string        `group:"Inputs" default:"beginning" enum:"beginning,end" help:"Where to begin in a followed file that has no saved position: beginning or end."`
	Poll    time.Duration `group:"Inputs" default:"250ms" help:"Time between two looks at a followed file."`
	XES     []string      `group:"Inputs" name:"xes" type:"path" placeholder:"FILE" sep:"none" help:"Replay an event log in XES (IEEE 1849), plain or gzip. May be given again."`
	OCEL    []string      `group:"Inputs" name:"ocel" type:"path" placeholder:"FILE" sep:"none" help:"Replay an object-centric event log in OCEL 2.0 JSON, plain or gzip. May be given again; needs --ocel.type."`
	Object  string        `group:"Inputs" name:"ocel.type" placeholder:"TYPE" help:"Type of the objects of an object-centric log that are the instances of the net."`
	Subject string        `group:"Inputs" name:"nats.subject" help:"NATS subject to listen to; a message holds one or more lines."`
	HTTP    string        `group:"Inputs" name:"http" placeholder:"ADDR" help:"TCP address at which POST /events accepts lines, such as 127.0.0.1:9799. There is no authentication: keep to loopback."`
	UDP     string        `group:"Inputs" name:"udp" placeholder:"ADDR" help:"UDP address that receives datagrams of one or more lines, such as 127.0.0.1:9799. Keep to loopback."`

	Pattern   string        `group:"Events" placeholder:"REGEXP" help:"Regular expression (RE2) whose named groups are the fields, for lines that are not JSON."`
	Table     string        `group:"Events" type:"path" placeholder:"FILE" help:"YAML file with the names that events use for nets, transitions and places, and with the silent transitions."`
	Net       string        `group:"Events" placeholder:"ID" help:"Net of events that have no net, or an unknown one. Default: the net, if only one is given; it then gets the events of the first unknown name."`
	Fields    lineFields    `embed:"" prefix:"field." group:"Events"`
	Layout    string        `group:"Events" name:"time.layout" help:"Layout of times in the form of Go's package time, such as 02/Jan/2006:15:04:05 -0700. Default: RFC 3339, with or without a zone, or a number since 1970."`
	Zone      string        `group:"Events" name:"time.zone" default:"UTC" help:"Time zone of times without one, such as Europe/Berlin."`
	Unit      string        `group:"Events" name:"time.unit" default:"auto" enum:"auto,s,ms,us,ns" help:"Unit of times that are numbers: auto (by their size), s, ms, us or ns."`
	Window    time.Duration `group:"Events" help:"How long to hold events back, so that events that arrive late are put in order."`
	Held      int           `group:"Events" name:"window.events" default:"100000" help:"Maximum number of events to hold back."`
	Speed     string        `group:"Events" default:"max" help:"How fast to replay: 1 for as recorded, 10 for ten times as fast, max for at once."`
	AsNow     bool          `group:"Events" name:"as-now" help:"Use the time of the replay instead of the recorded time of each event."`
	Told      bool          `group:"Events" help:"End an instance only when an event has end=true, not when it reaches its final marking. Implied by --xes and --ocel."`
	Instances int           `group:"Events" default:"1000000" help:"Maximum number of open instances of a net. Beyond it, the instance that had no event for the longest time is dropped."`
	Search    int           `group:"Events" default:"1000" help:"Maximum number of markings to visit to explain one event: the silent transitions before it, and which transition it is if several have its name."`

	State string      `type:"path" placeholder:"FILE" help:"File that keeps open instances and positions over a restart, so that nothing of a followed file is lost or counted twice."`
	Web   ownWebFlags `embed:""`
	Exit  bool        `name:"exit-at-end" help:"Exit when the inputs have ended, and print one JSON line with the result of the replay. Without it, the open instances are published until an interrupt."`
	Files []string    `arg:"" name:"net" help:"PNML or BPMN files; - is standard input."`
	Limit limitFlags  `embed:""`
}

// lineFields are what events call their fields.
type lineFields struct {
	Time       string `default:"time" help:"Member or group with the time."`
	Net        string `default:"net" help:"Member or group with the net."`
	Instance   string `default:"instance" help:"Member or group with the instance. As all members, also a path through objects, such as ticket.id."`
	Transition string `default:"transition" help:"Member or group with the transition that fired."`
	Place      string `default:"place" help:"Member or group with a place that gains or loses tokens without a transition."`
	Tokens     string `default:"tokens" help:"Member or group with the number of these tokens; negative if the place loses them."`
	End        string `default:"end" help:"Member that is true, or group that is not empty, if the instance has ended."`
	Dropped    string `default:"dropped" help:"Member or group with how many events the writer has dropped so far."`
}

// Run attaches until ctx ends, or the inputs if that is asked for.
func (c *attachLinesCmd) Run(ctx context.Context, s streams, log *slog.Logger) error {
	cfg, err := c.config(s, log)
	if err != nil {
		return err
	}
	source, err := sourceName("source", c.Source, "-lines")
	if err != nil {
		return err
	}
	a, err := lines.New(cfg)
	if err != nil {
		return err
	}
	var link *natslink.Link // nil without NATS
	var nc *nats.Conn
	var subjects telemetry.Subjects
	if c.NATS.URL != "" {
		if link, subjects, err = c.NATS.connect("pnagent attach lines "+source, log, withoutBuffer); err != nil {
			return err
		}
		defer link.Close()
		nc = link.Conn
	}
	in, err := c.inputs(a, nc, s, log)
	if err != nil {
		return err
	}
	return c.attach(ctx, a, in, link, func() (*telemetry.Publisher, error) {
		if nc == nil {
			return nil, nil
		}
		return a.Publish(telemetry.Config{Conn: nc, Subjects: subjects, Source: source, Interval: c.Interval, Log: log,
			Tool: "the program that writes the log"})
	}, s, log)
}

// attach runs the inputs and the tasks beside them.
func (c *attachLinesCmd) attach(ctx context.Context, a *lines.Attachment, in inputs, link *natslink.Link, publish func() (*telemetry.Publisher, error), s streams, log *slog.Logger) error {
	publisher, err := publish()
	if err != nil {
		return err
	}
	running, cancel := context.WithCancel(ctx)
	defer cancel()
	var beside sync.WaitGroup
	failed := make(chan error, 2)
	beside.Go(func() { failed <- a.Run(running, c.Interval) })
	if c.Web.Listen != "" {
		shown := registryOf(lines.Metrics(a, publisher, in.lost()), natsmetrics.Of(link))
		beside.Go(func() {
			if err := c.Web.serve(running, cancel, log, shown); err != nil {
				failed <- err
			}
		})
	}
	log.Info("attached", "nets", len(a.Nets()), "inputs", len(in))
	notify(log, notifyReady)
	introduced := time.Now().Add(introduction)
	err = in.run(running)
	if err == nil && ctx.Err() == nil {
		log.Info("the inputs have ended")
		if nothing := a.Replayed(); nothing != nil && !c.Exit {
			log.Error("the inputs have ended", "err", nothing)
		}
		c.stay(running, introduced, publisher != nil)
	}
	cancel()
	notify(log, notifyStopping)
	beside.Wait()
	a.Flush()
	a.Save()
	err = errors.Join(err, drain(failed))
	if publisher != nil {
		last, done := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
		defer done()
		err = errors.Join(err, publisher.Close(last))
	}
	if c.Exit {
		if err == nil {
			err = a.Replayed()
		}
		err = errors.Join(err, json.NewEncoder(s.out).Encode(a.Summary()))
	}
	return err
}

// introduction is the least time for which a source answers: a collector that receives the
// first snapshot of a net requests its definition.
const introduction = time.Second

// stay waits after the end of the inputs: until ctx ends or, with --exit, for an introduction.
func (c *attachLinesCmd) stay(ctx context.Context, introduced time.Time, published bool) {
	if !c.Exit {
		<-ctx.Done()
		return
	}
	if !published {
		return
	}
	timer := time.NewTimer(time.Until(introduced))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

func drain(failed chan error) (err error) {
	for {
		select {
		case e := <-failed:
			err = errors.Join(err, e)
		default:
			return err
		}
	}
}

func (c *attachLinesCmd) config(s streams, log *slog.Logger) (lines.Config, error) {
	cfg := lines.Config{
		Net: c.Net, Pattern: c.Pattern, Window: c.Window, Held: c.Held, EndsByEvent: c.Told || len(c.XES)+len(c.OCEL) > 0, Instances: c.Instances,
		Search: c.Search, AsNow: c.AsNow, State: c.State, Late: c.HTTP != "" || c.UDP != "" || c.Subject != "" || c.From == "end" && len(c.Follow) > 0, Log: log, Fields: lines.Fields(c.Fields),
		Times: lines.Times{Layout: c.Layout, Unit: map[string]time.Duration{"s": time.Second, "ms": time.Millisecond, "us": time.Microsecond, "ns": time.Nanosecond}[c.Unit]},
	}
	var err error
	for flag, d := range map[string]time.Duration{"interval": c.Interval, "poll": c.Poll} {
		if d < time.Millisecond {
			return cfg, usageError{fmt.Errorf("--%s: %v; expected a millisecond or more", flag, d)}
		}
	}
	if len(c.OCEL) > 0 && c.Object == "" {
		return cfg, usageError{errors.New("--ocel needs --ocel.type, the type of the objects that are instances of the net")}
	}
	if cfg.Times.Zone, err = time.LoadLocation(c.Zone); err != nil {
		return cfg, usageError{fmt.Errorf("--time.zone: %w", err)}
	}
	if c.Speed != "max" {
		if cfg.Speed, err = strconv.ParseFloat(c.Speed, 64); err != nil || !(cfg.Speed > 0 && cfg.Speed <= 1e6) {
			return cfg, usageError{fmt.Errorf("--speed: %q; expected max, or a number above 0 and up to a million", c.Speed)}
		}
	}
	if cfg.Nets, err = compileNets(c.Files, s, c.Limit, log); err != nil {
		return cfg, err
	}
	if c.Table != "" {
		cfg.Table, err = readFile(c.Table, "the table", lines.ReadTable)
	}
	return cfg, err
}
