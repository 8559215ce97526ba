// SPDX-License-Identifier: Apache-2.0

package main

import "time"

// attachCmd are the ways to attach to an existing engine.
type attachCmd struct {
	Lines    attachLinesCmd    `cmd:"" help:"Follow the log lines of an engine, one event a line, and replay them on the net."`
	Scrape   attachScrapeCmd   `cmd:"" help:"Scrape the Prometheus metrics of an engine, and publish the state of its nets."`
	Dipen    attachDipenCmd    `cmd:"" help:"Read the state of DiPeN in etcd, read-only, and publish where its tokens are."`
	SQL      attachSQLCmd      `cmd:"" name:"sql" help:"Read the tables of a workflow engine, read-only, and publish where each instance waits, since when and why."`
	Temporal attachTemporalCmd `cmd:"" help:"Poll a Temporal server, read-only, and publish where each workflow waits, since when and why."`
	Camunda8 attachCamunda8Cmd `cmd:"" name:"camunda8" help:"Poll the REST API of Camunda 8, read-only, and publish where each instance waits, since when and why."`
}

// pollFlags are what all adapters have that poll an engine.
type pollFlags struct {
	NATS     natsFlags     `embed:"" group:"NATS"`
	Source   string        `help:"Name of this source, unique among all publishers; keep it over restarts. Default: the host's name and the adapter's."`
	Interval time.Duration `default:"5s" help:"Time between two polls of the engine, and two snapshots."`
	Timeout  time.Duration `default:"30s" help:"How long a poll may take."`
	State    string        `type:"path" placeholder:"FILE" help:"File that keeps what was counted, so that after a restart no firing is lost or counted twice."`
	Web      ownWebFlags   `embed:""`
}

type attachLinesCmd struct {
	FullOnly
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
	Files []string    `arg:"" name:"net" help:"Net files: PNML, BPMN, Tina's .net or LoLA; - is standard input."`
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

type attachScrapeCmd struct {
	FullOnly
	NATS natsFlags `embed:"" group:"NATS"`

	Mapping    string        `placeholder:"NAME|FILE" help:"Mapping of metrics to places and transitions: one that comes with pnagent, or a YAML file."`
	Source     string        `help:"Name of this source, unique among all publishers; with several targets, the prefix of their names. Default: the target's host and port."`
	Interval   time.Duration `default:"5s" help:"Time between two scrapes of a target."`
	Timeout    time.Duration `placeholder:"DURATION" help:"How long a scrape may take. Default: the interval, at most 10s."`
	HTTPConfig string        `name:"http.config.file" placeholder:"FILE" help:"YAML file with HTTP client settings for the targets, in promtool's format: basic_auth, authorization, tls_config, proxy_url."`
	Web        ownWebFlags   `embed:""`

	List  bool   `group:"Mappings" help:"List the mappings that come with pnagent, and exit."`
	Print string `group:"Mappings" placeholder:"NAME" help:"Print a mapping that comes with pnagent, as a template for your own, and exit."`
	Check string `group:"Mappings" placeholder:"NAME|FILE" help:"Check a mapping, print its result for the scrape of --from, and exit."`
	From  string `group:"Mappings" placeholder:"FILE|URL" help:"The scrape for --check: a URL, a file, or - for standard input."`

	Targets []string `arg:"" optional:"" name:"url" help:"URLs to scrape, such as http://127.0.0.1:15692/metrics."`
}

type attachDipenCmd struct {
	FullOnly
	NATS     natsFlags     `embed:"" group:"NATS"`
	Source   string        `help:"Name of this source, unique among all publishers; keep it over restarts. Default: the host's name and -dipen."`
	Interval time.Duration `default:"1s" help:"Time between two snapshots."`

	Endpoints []string `group:"etcd" name:"etcd" default:"http://127.0.0.1:2379" help:"Client URLs of etcd, comma-separated; one is used at a time."`
	Prefix    string   `group:"etcd" name:"etcd.prefix" placeholder:"PREFIX/" help:"Prefix of DiPeN's keys; ends in a slash."`
	CA        string   `group:"etcd" name:"etcd.tls-ca" type:"path" placeholder:"FILE" help:"File with the certificate authorities of etcd's certificate."`
	Cert      string   `group:"etcd" name:"etcd.tls-cert" type:"path" placeholder:"FILE" help:"File with the client certificate for etcd."`
	Key       string   `group:"etcd" name:"etcd.tls-key" type:"path" placeholder:"FILE" help:"File with the key of the client certificate."`
	User      string   `group:"etcd" name:"etcd.user" help:"User of etcd. It needs read access to the prefix only."`
	Password  string   `group:"etcd" name:"etcd.password-file" type:"path" placeholder:"FILE" help:"File with the user's password."`

	Name   string      `name:"net" placeholder:"NAME" help:"Name of the net. Default: the id in the net file, or the last part of the prefix."`
	State  string      `type:"path" placeholder:"FILE" help:"File that keeps the times of revisions and the published counters, so that after a restart no token looks younger and no firing is lost or counted twice."`
	Tokens int         `name:"max-tokens" default:"1000000" help:"Maximum number of tokens to keep; others are counted as left out."`
	Web    ownWebFlags `embed:""`
	File   string      `arg:"" optional:"" name:"file" help:"Net file of the net, whose places and transitions have DiPeN's names as id or name: etcd has no arcs."`
	Limit  limitFlags  `embed:""`
}

type attachSQLCmd struct {
	FullOnly
	pollFlags `embed:""`
	Overlap   time.Duration `default:"2m" help:"How late a transaction of the engine may commit; each poll reads history rows of this time again."`

	Mapping   string   `placeholder:"NAME|FILE" help:"Mapping of tables to nets: one that comes with pnagent, or a file."`
	DSN       string   `name:"dsn-file" type:"path" placeholder:"FILE" help:"File with the address of the database: postgres://USER:PASSWORD@HOST/NAME, mysql://USER:PASSWORD@HOST/NAME or sqlite:FILE. The user needs the right to read only."`
	Zone      string   `name:"time.zone" default:"UTC" help:"Time zone of times that the engine stores without one: that of the engine's process, such as Europe/Berlin or Local."`
	Nets      []string `name:"net" placeholder:"KEY" help:"Keys of the process definitions to publish, comma-separated. Default: all."`
	ByVersion bool     `help:"Make a net of each version of a process definition, KEY:VERSION, instead of one of all versions."`
	Show      []string `placeholder:"WHAT" enum:"business-key,detail" help:"Data that may be about persons, to publish: business-key, detail (assignees, ids of workers, messages of errors). Default: none."`

	List  bool   `group:"Mappings" help:"List the mappings that come with pnagent, and exit."`
	Print string `group:"Mappings" placeholder:"NAME" help:"Print a mapping that comes with pnagent, as a template for your own, and exit."`
	Check bool   `group:"Mappings" help:"Check that the database has what the mapping needs, run each of its queries, print how many rows they return, and exit."`
}

type attachTemporalCmd struct {
	FullOnly
	pollFlags `embed:""`

	Address    string   `group:"Temporal" env:"TEMPORAL_ADDRESS" default:"127.0.0.1:7233" help:"gRPC address of the server's front end, HOST:PORT."`
	Namespaces []string `group:"Temporal" name:"namespace" env:"TEMPORAL_NAMESPACE" default:"default" help:"Namespaces, comma-separated. With several, the name of a net is NAMESPACE/TYPE."`
	TLS        bool     `group:"Temporal" name:"tls" help:"Use TLS. The flags below and an API key imply it."`
	CA         string   `group:"Temporal" name:"tls-ca" type:"path" placeholder:"FILE" help:"File with the certificate authorities of the server's certificate."`
	Cert       string   `group:"Temporal" name:"tls-cert" type:"path" placeholder:"FILE" help:"File with the client certificate."`
	Key        string   `group:"Temporal" name:"tls-key" type:"path" placeholder:"FILE" help:"File with the key of the client certificate."`
	ServerName string   `group:"Temporal" name:"tls-server-name" placeholder:"NAME" help:"Name that the server's certificate must have, instead of the address's."`
	APIKey     string   `group:"Temporal" name:"api-key-file" type:"path" placeholder:"FILE" help:"File with an API key. Without it, the key is that of the environment variable TEMPORAL_API_KEY, if set."`

	Nets        []string `name:"net" placeholder:"TYPE" help:"Workflow types to publish, comma-separated. Default: all."`
	RPS         float64  `name:"rps" default:"50" help:"The largest number of calls of the server a second."`
	ListRPS     float64  `name:"list-rps" default:"5" help:"Of these, the largest number of pages of lists a second. Temporal allows all clients 10 a second for each namespace and front end by default."`
	StackTraces float64  `default:"1" help:"For how many workflows a second their worker is asked what they wait for, if nothing is pending. 0 for none."`
	Show        []string `placeholder:"WHAT" enum:"detail" help:"Data that may be about persons, to publish: detail (messages of failures, identities of workers). Default: none."`
}

type attachCamunda8Cmd struct {
	FullOnly
	pollFlags `embed:""`
	Overlap   time.Duration `default:"2m" help:"Maximum delay of the data of one partition behind another; each poll reads the element instances of this time again."`

	URL        string   `name:"url" placeholder:"URL" help:"Address of the Orchestration Cluster REST API, such as http://127.0.0.1:8080. Version 8.8 or later."`
	HTTPConfig string   `name:"http.config.file" type:"path" placeholder:"FILE" help:"YAML file with HTTP client settings, in promtool's format: basic_auth, oauth2, authorization, tls_config, proxy_url."`
	Nets       []string `name:"net" placeholder:"ID" help:"Ids of the processes to publish, comma-separated. Default: all."`
	Show       []string `placeholder:"WHAT" enum:"detail" help:"Data that may be about persons, to publish: detail (assignees, correlation keys, messages of errors, names of workers). Default: none."`
	Tokens     int      `name:"max-tokens" default:"1000000" help:"Maximum number of tokens to keep; others are counted as left out."`
	Check      bool     `help:"Check that the API answers each search, and exit."`
}
