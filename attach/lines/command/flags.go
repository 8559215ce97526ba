// SPDX-License-Identifier: Apache-2.0

// Package command is pnagent attach lines: its flags, which every program has, and what they do.
package command

import (
	"time"

	"github.com/pnagent/pnagent/cli"
)

// Command is pnagent attach lines.
type Command struct {
	Lines flags `cmd:"" help:"Follow the log lines of an engine, one event a line, and replay them on the net."`
}

type flags struct {
	cli.FullOnly
	NATS     cli.NATS      `embed:"" group:"NATS"`
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

	State string     `type:"path" placeholder:"FILE" help:"File that keeps open instances and positions over a restart, so that nothing of a followed file is lost or counted twice."`
	Web   cli.Web    `embed:""`
	Exit  bool       `name:"exit-at-end" help:"Exit when the inputs have ended, and print one JSON line with the result of the replay. Without it, the open instances are published until an interrupt."`
	Files []string   `arg:"" name:"net" help:"Net files: PNML, BPMN, Tina's .net or LoLA; - is standard input."`
	Limit cli.Limits `embed:""`
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
